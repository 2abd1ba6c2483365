/* A line of the blocked filter in plain C: the definition that every instruction set must agree
 * with. `b` says which bit of each lane (see lanes_of); with `two`, `c` says a second one. */

static inline uint64_t ISA(lane)(int i, uint64_t b, uint64_t c, int two) {
    uint64_t bits = UINT64_C(1) << (b >> (16 + 6 * i) & 63);
    return two ? bits | UINT64_C(1) << (c >> (16 + 6 * i) & 63) : bits;
}

/* Not 0 if a bit of the key is missing in the line. A shift down to bit 0 takes fewer instructions
 * than a mask. */
static inline uint8_t ISA(lacks)(const uint8_t *line, uint64_t b, uint64_t c, int two) {
    uint64_t all = 1;
    for (int i = 0; i < 8; i++) {
        uint64_t word = load64(line + 8 * i);
        all &= word >> (b >> (16 + 6 * i) & 63);
        if (two) all &= word >> (c >> (16 + 6 * i) & 63);
    }
    return !all;
}

/* Sets them all; not 0 if one was missing. */
static inline uint8_t ISA(put)(uint8_t *line, uint64_t b, uint64_t c, int two) {
    uint64_t missing = 0;
    for (int i = 0; i < 8; i++) {
        uint64_t word = load64(line + 8 * i), bits = ISA(lane)(i, b, c, two);
        missing |= bits & ~word;
        store64(line + 8 * i, word | bits);
    }
    return missing != 0;
}
