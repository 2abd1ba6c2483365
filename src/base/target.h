/* Compiles single functions for an instruction set. */
#ifndef PERHAPS_BASE_TARGET_H
#define PERHAPS_BASE_TARGET_H

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
