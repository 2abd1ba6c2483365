/* Loops of single calls through a view of a filter (perhaps_inline.h): as the compiler's default
 * has them, and with AVX2, on x86-64. */
#ifndef PERHAPS_BENCH_INLINE_CALLS_H
#define PERHAPS_BENCH_INLINE_CALLS_H

#include <perhaps.h>
#include <stddef.h>
#include <stdint.h>

/* Whether a query through its view is more than the call. */
int view_is_inline(perhaps *f);

void contains_inline(perhaps *f, const uint64_t *keys, size_t n, uint8_t *answers);
void contains_inline_avx2(perhaps *f, const uint64_t *keys, size_t n, uint8_t *answers);
void add_inline(perhaps *f, const uint64_t *keys, size_t n);
void add_inline_avx2(perhaps *f, const uint64_t *keys, size_t n);

#endif
