// The smallest C++ program that uses the installed library: exits 0 if it works.
#include <perhaps_embed.h>

#include <cstddef>
#include <memory>

int main() {
    perhaps_want want;
    perhaps_want_init(&want);
    want.items = 100;
    want.fpr = 0.001;
    perhaps *f = nullptr;
    if (perhaps_create(&f, &want) < 0) return 1;
    std::unique_ptr<perhaps, decltype(&perhaps_free)> owner(f, perhaps_free);
    bool good = perhaps_add_u64(f, 7) == 1 && perhaps_contains_u64(f, 7) == 1 && perhaps_contains_u64(f, 8) == 0;
    const uint64_t numbers[] = {7, 8, 9};
    const uint32_t offsets[] = {0, 1, 3};
    const char *words[] = {"one", "three"};
    const std::size_t lengths[] = {3, 5};
    int n = 2;
    perhaps_keys batches[] = {PERHAPS_KEYS_U64(numbers, 0, n), PERHAPS_KEYS_PACKED("abc", offsets, n),
                              PERHAPS_KEYS_BYTES(words, lengths, n), PERHAPS_KEYS_FIXED("abcdef", 2, 3, n)};
    for (const perhaps_keys &keys : batches)
        good = good && perhaps_add_many(f, &keys, nullptr) >= 0 && perhaps_contains_many(f, &keys, nullptr) == n;
    good = good && perhaps_shape(f, nullptr, 0) > 0;
    return good ? 0 : 1;
}
