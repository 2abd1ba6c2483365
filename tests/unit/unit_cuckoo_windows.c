/* Where a batch of a cuckoo filter looks: vectors find the same windows as single keys, whatever
 * the layout, also in filters that are larger than any machine's memory. */
#include "support.h"

#define kind_cuckoo kind_cuckoo_alone /* the library has the other one */
#include "kind/cuckoo/cuckoo.c"

enum { KEYS = 64 };

static const uint64_t homes[] = {
    CUCKOO_HOMES_MIN, 9, 1000, 100000, UINT32_MAX, UINT64_C(1) << 32, (UINT64_C(1) << 33) + 7, CUCKOO_HOMES_MAX};

/* `places` is a constant in each caller, as in the library. */
INLINE void check_layout(uint64_t n, unsigned width, uint64_t places, enum isa isa) {
    static struct windows alone, together;
    struct array a = {.layout = {n, width, places, 6}};
    uint64_t digests[KEYS];
    if (!slots_fit(width, 0, places)) return;
    cuckoo_derive(&a);
    for (uint64_t i = 0; i < KEYS; i++) digests[i] = i < 4 ? UINT64_MAX - 7 * i : i < 8 ? i - 4 : mix64(i + width);
    for (size_t i = 0; i < KEYS; i++) find_one(&a, digests[i], i, &alone, places);
    find(&a, digests, KEYS, &together, places, isa);
    for (size_t i = 0; i < KEYS; i++) {
        CHECK(alone.code[i] == together.code[i], "another fingerprint");
        for (uint64_t choice = 0; choice < choices_of(places); choice++)
            CHECK(alone.at[choice][i] == together.at[choice][i], "%llu homes, width %u, %d places: another window",
                  (unsigned long long)n, width, (int)places);
    }
}

INLINE void check_layouts(enum isa isa) {
    for (size_t n = 0; n < sizeof homes / sizeof *homes; n++) {
        for (unsigned width = 4; width <= CUCKOO_SLOT_WIDTH_MAX; width++) {
            check_layout(homes[n], width, 4, isa);
            check_layout(homes[n], width, 5, isa);
            check_layout(homes[n], width, 6, isa);
            check_layout(homes[n], width, 8, isa);
        }
    }
}

static void plain_c(void **state) {
    (void)state;
    check_layouts(ISA_SCALAR);
}

#if defined(__x86_64__)
TARGET_AVX2 static void four_at_a_time(void **state) {
    (void)state;
    if (!__builtin_cpu_supports("avx2")) skip();
    check_layouts(ISA_AVX2);
}

TARGET_AVX512 static void eight_at_a_time(void **state) {
    (void)state;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512dq")) skip();
    check_layouts(ISA_AVX512);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_c),
#if defined(__x86_64__)
        cmocka_unit_test(four_at_a_time),
        cmocka_unit_test(eight_at_a_time),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
