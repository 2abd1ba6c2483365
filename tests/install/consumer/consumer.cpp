// The smallest C++ program that uses the installed library: exits 0 if it works.
#include <perhaps.h>

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
    return good ? 0 : 1;
}
