/*
 * Includes the file TEMPLATE once for each instruction set, with ISA(name), TARGET and INLINE
 * defined, and before it the file FOR_SCALAR, FOR_AVX2, FOR_AVX512, FOR_NEON or FOR_WASM, if
 * defined. Without FOR_NEON or FOR_WASM, machines with these use the scalar code. TARGET_512 may
 * replace TARGET_AVX512.
 */
#include "base/target.h"

#define INLINE TARGET static inline __attribute__((always_inline))

#define ISA(name) name##_scalar
#define TARGET
#ifdef FOR_SCALAR
#include FOR_SCALAR
#endif
#include TEMPLATE
#undef ISA
#undef TARGET

#if defined(__x86_64__)
#define ISA(name) name##_avx2
#define TARGET    TARGET_AVX2
#ifdef FOR_AVX2
#include FOR_AVX2
#endif
#include TEMPLATE
#undef ISA
#undef TARGET

#ifndef TARGET_512
#define TARGET_512 TARGET_AVX512
#endif
#define ISA(name) name##_avx512
#define TARGET    TARGET_512
#ifdef FOR_AVX512
#include FOR_AVX512
#endif
#include TEMPLATE
#undef ISA
#undef TARGET
#endif

#if defined(FOR_NEON) && defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ISA(name) name##_neon
#define TARGET
#include FOR_NEON
#include TEMPLATE
#undef ISA
#undef TARGET
#endif

#if defined(FOR_WASM) && defined(__wasm_simd128__)
#define ISA(name) name##_wasm
#define TARGET
#include FOR_WASM
#include TEMPLATE
#undef ISA
#undef TARGET
#endif
