/* SipHash one key at a time. */
#define LANES 1
typedef uint64_t ISA(lanes);

INLINE ISA(lanes) ISA(rotate)(ISA(lanes) x, int bits) {
    return x << bits | x >> (64 - bits);
}
