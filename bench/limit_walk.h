/*
 * The walk of limit.c, included once for each instruction set with these defined:
 *
 *     WALK_TARGET       the attribute that selects the instruction set
 *     WALK_NAME(name)   the name with the set's ending
 *     WALK_INDEX        works out word indices: a function (keys, cache lines of the working set,
 *                       cache lines per key, out)
 */

static inline __attribute__((always_inline)) WALK_TARGET uint64_t WALK_NAME(walk)(const struct walk *w, unsigned lines,
                                                                                  int rmw) {
    _Alignas(64) uint64_t ring[RING][MOST_LIMIT_LINES][GROUP];
    const size_t groups = w->key_count / GROUP, ahead = w->variant.depth / GROUP;
    uint64_t sum = 0;
    for (size_t g = 0; g < ahead; g++) WALK_INDEX(w->keys + g * GROUP, w->line_count, lines, ring[g % RING]);
    for (size_t g = 0; g < groups; g++) {
        const uint64_t *coming_keys = w->keys + (g + ahead) * GROUP;
        uint64_t(*coming)[GROUP] = ring[(g + ahead) % RING], (*due)[GROUP] = ring[g % RING];
        if (w->variant.key_prefetch == KEY_PREFETCH_PAST_CACHES) __builtin_prefetch(coming_keys + NEAR_KEYS, 0, 0);
        if (w->variant.key_prefetch == KEY_PREFETCH_L2) __builtin_prefetch(coming_keys + FAR_KEYS, 0, 2);
        WALK_INDEX(coming_keys, w->line_count, lines, coming);
        if (w->variant.line_prefetch == LINE_PREFETCH_L1)
            for (unsigned l = 0; l < lines; l++)
                for (unsigned i = 0; i < GROUP; i++) __builtin_prefetch(w->memory + coming[l][i], 0, 3);
        if (w->variant.line_prefetch == LINE_PREFETCH_L2)
            for (unsigned l = 0; l < lines; l++)
                for (unsigned i = 0; i < GROUP; i++) __builtin_prefetch(w->memory + coming[l][i], 0, 2);
        for (unsigned l = 0; l < lines; l++)
            for (unsigned i = 0; i < GROUP; i++) {
                if (rmw)
                    w->memory[due[l][i]] |= g;
                else
                    sum += w->memory[due[l][i]];
            }
    }
    return sum;
}

/* Constants for `lines` and `rmw` make eight loops of one text. */
static __attribute__((noinline)) WALK_TARGET uint64_t WALK_NAME(walk_lines)(const struct walk *w, unsigned lines,
                                                                            enum limit_op op) {
    const int rmw = op == LIMIT_RMW;
    switch (lines) {
    case 1:
        return rmw ? WALK_NAME(walk)(w, 1, 1) : WALK_NAME(walk)(w, 1, 0);
    case 2:
        return rmw ? WALK_NAME(walk)(w, 2, 1) : WALK_NAME(walk)(w, 2, 0);
    case 3:
        return rmw ? WALK_NAME(walk)(w, 3, 1) : WALK_NAME(walk)(w, 3, 0);
    default:
        return rmw ? WALK_NAME(walk)(w, 4, 1) : WALK_NAME(walk)(w, 4, 0);
    }
}

#undef WALK_TARGET
#undef WALK_NAME
#undef WALK_INDEX
