/* How to compile one function for an instruction set that the rest of the library does without. */
#ifndef PERHAPS_BASE_TARGET_H
#define PERHAPS_BASE_TARGET_H

#define TARGET_AVX2 __attribute__((target("avx2,bmi2,popcnt")))
#if defined(__clang__)
#define TARGET_AVX512          __attribute__((target("avx512f,avx512dq,bmi2")))
#define TARGET_AVX512_POPCOUNT __attribute__((target("avx512f,avx512dq,avx512vpopcntdq,bmi2")))
#else
/* gcc would otherwise keep to 256 bits. */
#define TARGET_AVX512          __attribute__((target("avx512f,avx512dq,bmi2,prefer-vector-width=512")))
#define TARGET_AVX512_POPCOUNT __attribute__((target("avx512f,avx512dq,avx512vpopcntdq,bmi2,prefer-vector-width=512")))
#endif

#endif
