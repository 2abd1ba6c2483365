/* Compiled with AVX2 on x86-64. */
#include "inline_calls.h"

#include <perhaps_inline.h>

void contains_inline_avx2(perhaps *f, const uint64_t *keys, size_t n, uint8_t *answers) {
    perhaps_view view;
    perhaps_view_of(f, &view);
    for (size_t i = 0; i < n; i++) answers[i] = (uint8_t)perhaps_view_contains_u64(&view, keys[i]);
}

void add_inline_avx2(perhaps *f, const uint64_t *keys, size_t n) {
    perhaps_view view;
    perhaps_view_of(f, &view);
    for (size_t i = 0; i < n; i++) (void)perhaps_view_add_u64(&view, keys[i]);
}
