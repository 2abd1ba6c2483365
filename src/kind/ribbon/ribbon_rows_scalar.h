/* Rows of a block in plain C, SOLVED_AT_ONCE columns at a time, which wait for each other less than
 * rows do. */

/* From the last row to the first: `solved` has the 64 rows behind, then those of this block. */
INLINE void ISA(solve_block)(const uint64_t *rows, const uint32_t *prints, uint64_t *solved, unsigned first) {
    uint64_t here[SOLVED_AT_ONCE];
    memcpy(here, solved, sizeof here);
    for (unsigned row = RIBBON_ROWS; row-- > 0;) {
        for (unsigned i = 0; i < SOLVED_AT_ONCE; i++) {
            uint64_t ahead = here[i] << 1, parity = (unsigned)__builtin_parityll(ahead & rows[row]);
            here[i] = ahead | (parity ^ (prints[row] >> (first + i) & 1));
        }
    }
    memcpy(solved, here, sizeof here);
}
