/* A bucket of the table in plain C: the definition that every instruction set must agree with. */

/* Bit i is set if slot i holds this word; 0 finds the empty slots. */
static inline unsigned ISA(matches)(const uint8_t *bucket, uint64_t word) {
    unsigned mask = 0;
    for (int i = 0; i < TABLE_SLOTS; i++) mask |= (unsigned)(load64(bucket + 8 * i) == word) << i;
    return mask;
}
