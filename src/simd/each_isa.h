/* Includes the file that TEMPLATE names once for each instruction set for which compilers make other code of the same text, with
 * ISA(name), TARGET and INLINE defined. */
#include "simd/target.h"

#define INLINE TARGET static inline __attribute__((always_inline))

#define ISA(name) name##_scalar
#define TARGET
#include TEMPLATE
#undef ISA
#undef TARGET

#if defined(__x86_64__)
#define ISA(name) name##_avx2
#define TARGET    TARGET_AVX2
#include TEMPLATE
#undef ISA
#undef TARGET

#define ISA(name) name##_avx512
#define TARGET    TARGET_AVX512
#include TEMPLATE
#undef ISA
#undef TARGET
#endif

#undef TEMPLATE
