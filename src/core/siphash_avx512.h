/* SipHash of eight keys in AVX-512. Compilers make one instruction of a rotation. */
#define LANES 8
#define EACH_LANE(WORD)                                                                                                \
    { WORD(0), WORD(1), WORD(2), WORD(3), WORD(4), WORD(5), WORD(6), WORD(7) }
typedef uint64_t ISA(lanes) __attribute__((vector_size(8 * LANES)));

INLINE ISA(lanes) ISA(rotate)(ISA(lanes) x, int bits) {
    return x << bits | x >> (64 - bits);
}
