/* The smallest C program that uses the installed library: exits 0 if it works. */
#include <perhaps.h>

int main(void) {
    perhaps_want want;
    perhaps *f;
    uint64_t numbers[3] = {1, 2, 3};
    perhaps_keys keys = PERHAPS_KEYS_U64(numbers, 0, 3);
    int good;
    perhaps_want_init(&want);
    want.items = 100;
    want.fpr = 0.001;
    if (perhaps_create(&f, &want) < 0) return 1;
    good = perhaps_add(f, "key", 3) == 1 && perhaps_contains(f, "key", 3) == 1 && perhaps_contains(f, "none", 4) == 0;
    good = good && perhaps_add_many(f, &keys, NULL) == 3 && perhaps_contains_many(f, &keys, NULL) == 3;
    perhaps_free(f);
    return good ? 0 : 1;
}
