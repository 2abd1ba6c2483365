/* A bucket of the table in NEON: four registers of two slots. Each slot that matches keeps its own
 * bit. */
#include <arm_neon.h>

static inline unsigned ISA(matches)(const uint8_t *bucket, uint64_t word) {
    uint64x2_t wanted = vdupq_n_u64(word), mask = vdupq_n_u64(0);
    for (int i = 0; i < 4; i++) {
        const uint64x2_t bits = {UINT64_C(1) << 2 * i, UINT64_C(2) << 2 * i};
        uint64x2_t slots = vreinterpretq_u64_u8(vld1q_u8(bucket + 16 * i));
        mask = vorrq_u64(mask, vandq_u64(vceqq_u64(slots, wanted), bits));
    }
    return (unsigned)vaddvq_u64(mask);
}
