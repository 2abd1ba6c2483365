/* Inserting keys and solving rows, a template: ribbon_solve.c includes this once for each
 * instruction set, with ISA(name), TARGET, INLINE and solve_block() defined. */

/* A step with an equation: adds the one that has its first row; where there is none, all stays as
 * it is, with that row in it, and the place is its own. False if it is done with. */
INLINE bool ISA(add_row)(const struct work *w, struct equation *e) {
    e->rows ^= w->rows[e->start];
    e->print ^= w->prints[e->start];
    if (__builtin_expect((e->rows & 1) != 0, 0) || __builtin_expect(e->rows == 0, 0)) return false;
    unsigned zeros = (unsigned)__builtin_ctzll(e->rows);
    e->rows >>= zeros;
    e->start += zeros;
    return true;
}

INLINE void ISA(take_row)(struct work *w, const struct equation *e) {
    w->rows[e->start] = e->rows;
    w->prints[e->start] = e->print;
}

/* A step of one region. False at its end. */
INLINE bool ISA(step)(struct work *w, struct stream *s, struct equation *e) {
    if (ISA(add_row)(w, e)) return true;
    if (e->rows) {
        ISA(take_row)(w, e);
        s->place[s->placed++] = e->start;
    } else if (e->print) {
        give_up_group(w, s);
    }
    return next_equation(w, s, e);
}

TARGET static void ISA(fill_one)(struct work *w, struct stream *s, struct equation e) {
    while (ISA(step)(w, s, &e)) continue;
}

/* Steps of all regions in turn, to the end of one of them: which. What they are at has names of its
 * own, which compilers keep in registers. */
TARGET static unsigned ISA(fill_all)(struct work *w, struct stream s[REGIONS], struct equation e[REGIONS]) {
    struct equation e0 = e[0], e1 = e[1], e2 = e[2], e3 = e[3];
    unsigned ended = REGIONS;
    while (ended == REGIONS) {
        if (!ISA(step)(w, &s[0], &e0))
            ended = 0;
        else if (!ISA(step)(w, &s[1], &e1))
            ended = 1;
        else if (!ISA(step)(w, &s[2], &e2))
            ended = 2;
        else if (!ISA(step)(w, &s[3], &e3))
            ended = 3;
    }
    e[0] = e0;
    e[1] = e1;
    e[2] = e2;
    e[3] = e3;
    return ended;
}

TARGET static void ISA(fill_level)(struct work *w) {
    struct stream s[REGIONS];
    struct equation e[REGIONS];
    unsigned begun = begin_regions(w, s, e), ended = begun == REGIONS ? ISA(fill_all)(w, s, e) : REGIONS;
    for (unsigned i = 0; i < begun; i++) {
        if (i != ended) ISA(fill_one)(w, &s[i], e[i]);
    }
}

TARGET static bool ISA(fill_last)(struct work *w) {
    for (uint64_t i = 0; i < w->n; i++) {
        struct equation e = equation_of(w, i);
        while (ISA(add_row)(w, &e)) continue;
        if (e.rows)
            ISA(take_row)(w, &e);
        else if (e.print)
            return false;
    }
    return true;
}

/* Each row from those behind it, in all columns. Columns that a block does not have are worked out
 * to no avail. */
TARGET static void ISA(solve_rows)(struct work *w) {
    unsigned columns = ribbon_columns(w->layout), most = ribbon_columns_max(w->layout);
    uint64_t border = level_border(w->layout, w->size, w->level), solved[RIBBON_COLUMNS_MAX] = {0};
    uint64_t *data = w->words + level_threshold_words(w->size, w->level);
    for (uint64_t block = level_blocks(w->size, w->level); block-- > 0;) {
        for (unsigned i = 0; i < most; i += SOLVED_AT_ONCE)
            ISA(solve_block)(w->rows + block * RIBBON_ROWS, w->prints + block * RIBBON_ROWS, solved + i, i);
        memcpy(data + block_start(block, columns, border), solved, (columns + (block >= border)) * sizeof *solved);
    }
}

TARGET static bool ISA(fill_and_solve)(struct work *w) {
    if (w->level == RIBBON_LAST && !ISA(fill_last)(w)) return false;
    if (w->level != RIBBON_LAST) ISA(fill_level)(w);
    if (w->too_many) return false;
    ISA(solve_rows)(w);
    return true;
}
