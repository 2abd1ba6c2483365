/* How single functions and loops are compiled. */
#ifndef PERHAPS_BASE_TARGET_H
#define PERHAPS_BASE_TARGET_H

/* Before a loop whose bounds are constants in each caller, and few: where code is to be small,
 * compilers keep such a loop, and with it arrays that would otherwise be registers. */
#define UNROLLED _Pragma("GCC unroll 8")

/* Whether the machine has an instruction to prefetch: where it has none, batches need not choose
 * how far ahead they do. */
#if defined(__wasm__)
enum { PREFETCHES = 0 };
#else
enum { PREFETCHES = 1 };
#endif

#define TARGET_AVX2 __attribute__((target("avx2,bmi2,popcnt")))
#if defined(__clang__)
#define TARGET_AVX512          __attribute__((target("avx512f,avx512dq,bmi2")))
#define TARGET_AVX512_POPCOUNT __attribute__((target("avx512f,avx512dq,avx512vpopcntdq,bmi2")))
#else
/* Without prefer-vector-width, gcc uses 256 bits. */
#define TARGET_AVX512          __attribute__((target("avx512f,avx512dq,bmi2,prefer-vector-width=512")))
#define TARGET_AVX512_POPCOUNT __attribute__((target("avx512f,avx512dq,avx512vpopcntdq,bmi2,prefer-vector-width=512")))
#endif

#endif
