/* A line of the blocked filter in NEON: four registers of two lanes. A shift by a negative count
 * goes right. */
#include <arm_neon.h>

static inline uint64x2_t ISA(lanes)(int pair, uint64_t b, uint64_t c, int two) {
    const int64x2_t shifts = {-(16 + 12 * pair), -(22 + 12 * pair)};
    const uint64x2_t one = vdupq_n_u64(1), six_bits = vdupq_n_u64(63);
    uint64x2_t at = vandq_u64(vshlq_u64(vdupq_n_u64(b), shifts), six_bits);
    uint64x2_t bits = vshlq_u64(one, vreinterpretq_s64_u64(at));
    if (!two) return bits;
    at = vandq_u64(vshlq_u64(vdupq_n_u64(c), shifts), six_bits);
    return vorrq_u64(bits, vshlq_u64(one, vreinterpretq_s64_u64(at)));
}

static inline uint8_t ISA(any)(uint64x2_t missing) {
    return vmaxvq_u32(vreinterpretq_u32_u64(missing)) != 0;
}

/* Two of the line's words, at any alignment. */
static inline uint64x2_t ISA(words)(const uint8_t *line, int pair) {
    return vreinterpretq_u64_u8(vld1q_u8(line + 16 * pair));
}

static inline uint8_t ISA(lacks)(const uint8_t *line, uint64_t b, uint64_t c, int two) {
    uint64x2_t missing = vdupq_n_u64(0);
    for (int i = 0; i < 4; i++) missing = vorrq_u64(missing, vbicq_u64(ISA(lanes)(i, b, c, two), ISA(words)(line, i)));
    return ISA(any)(missing);
}

static inline uint8_t ISA(put)(uint8_t *line, uint64_t b, uint64_t c, int two) {
    uint64x2_t missing = vdupq_n_u64(0);
    for (int i = 0; i < 4; i++) {
        uint64x2_t words = ISA(words)(line, i), bits = ISA(lanes)(i, b, c, two);
        missing = vorrq_u64(missing, vbicq_u64(bits, words));
        vst1q_u8(line + 16 * i, vreinterpretq_u8_u64(vorrq_u64(words, bits)));
    }
    return ISA(any)(missing);
}
