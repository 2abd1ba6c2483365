/* The columns of a key in plain C: the definition that every instruction set must agree with. */

/* Not 0 if in some column the parity of the rows is not the print; there are at most `most`. */
INLINE uint32_t ISA(differs)(const uint8_t *words, uint64_t here, uint64_t next, unsigned columns, uint32_t print,
                             unsigned most) {
    uint32_t differs = 0;
    (void)most;
    for (unsigned i = 0; i < columns; i++) {
        uint64_t taken = (load64(words + 8 * i) & here) ^ (load64(words + 8 * (columns + i)) & next);
        differs |= (unsigned)__builtin_parityll(taken) ^ (print >> i & 1);
    }
    return differs;
}
