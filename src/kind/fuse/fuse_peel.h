/*
 * Peeling, as a template: fuse_solve.c includes this once for each instruction set, with ISA(name),
 * TARGET and INLINE. The arithmetic of a block of keys is laid out so that compilers make vector
 * instructions of it; all else is the same everywhere.
 */

/* Works out the places of n keys. */
INLINE void ISA(find_places)(const struct peeling *p, const uint64_t *keys, size_t n, unsigned arity,
                             struct fuse_cells *out) {
    for (size_t i = 0; i < n; i++) {
        uint64_t key = keys[i], first = fuse_first(key, p->bits, p->range);
        uint64_t spread = key * p->factor;
        for (unsigned j = 0; j < arity; j++) out->place[j][i] = (uint32_t)fuse_place(first, spread, j, p->segment);
        out->fingerprint[i] = (uint32_t)fuse_fingerprint(key, p->width);
    }
}

/* Tells every slot of its keys; false if some slot has very many. */
INLINE bool ISA(count_keys)(const struct peeling *p, unsigned arity) {
    struct fuse_cells places;
    uint32_t seen = 0;
    memset(p->slot, 0, (size_t)p->slots * sizeof *p->slot);
    for (uint64_t from = 0; from < p->n; from += BLOCK) {
        size_t some = p->n - from < BLOCK ? (size_t)(p->n - from) : BLOCK;
        ISA(find_places)(p, p->keys + from, some, arity, &places);
        for (size_t i = 0; i < some; i++) {
            for (unsigned j = 0; j < arity; j++) {
                uint32_t *slot = &p->slot[places.place[j][i]];
                *slot = (*slot ^ (uint32_t)(from + i)) + ONE_KEY;
                seen |= *slot;
            }
        }
    }
    return !(seen & CROWDED);
}

/* Takes a key away from its slots. */
INLINE size_t ISA(take_away)(const struct peeling *p, const struct fuse_cells *places, size_t i, unsigned arity,
                             uint32_t key, size_t queued) {
    for (unsigned j = 0; j < arity; j++) {
        uint32_t place = places->place[j][i], left = (p->slot[place] ^ key) - ONE_KEY;
        p->slot[place] = left;
        p->queue[queued] = place;
        queued += left >> INDEX_BITS == 1;
    }
    return queued;
}

/* A queue of slots: those before `taken` are the list of the slots that keys have as their own,
 * those from `next` to `queued` wait. */
struct ISA(queue) {
    size_t taken, next, queued;
    uint64_t fetched; /* slots up to here, and their keys, are prefetched */
};

/* Peeling moves to the right, as a front over some segments: the cache lines that it reaches next
 * are prefetched. */
INLINE void ISA(fetch_ahead)(const struct peeling *p, unsigned arity, uint64_t front, struct ISA(queue) * queue) {
    uint64_t end = front + ((uint64_t)arity << p->segment) + STRETCH, line = 16;
    if (end > p->slots) end = p->slots;
    for (; queue->fetched < end; queue->fetched += line) {
        uint64_t key = queue->fetched / 9 * 8; /* about eight keys for nine slots */
        __builtin_prefetch(p->slot + queue->fetched, 1, 2);
        __builtin_prefetch(p->keys + key, 0, 2);
        __builtin_prefetch(p->keys + key + line / 2, 0, 2);
    }
}

/* Until none waits. Those that wait lose their only key, or stay as they are, so the places of a
 * whole block of them can be worked out ahead. */
INLINE void ISA(empty)(const struct peeling *p, unsigned arity, struct ISA(queue) * queue) {
    struct fuse_cells places;
    uint32_t own[BLOCK], index[BLOCK];
    uint64_t keys[BLOCK];
    while (queue->next < queue->queued) {
        size_t waiting = queue->queued - queue->next, some = waiting < BLOCK ? waiting : BLOCK;
        ISA(fetch_ahead)(p, arity, p->queue[queue->next], queue);
        for (size_t i = 0; i < some; i++) {
            own[i] = p->queue[queue->next + i];
            index[i] = p->slot[own[i]] & INDEX_MASK;
            keys[i] = p->keys[index[i]];
        }
        ISA(find_places)(p, keys, some, arity, &places);
        for (size_t i = 0; i < some; i++) {
            if (p->slot[own[i]] >> INDEX_BITS != 1) continue;
            queue->queued = ISA(take_away)(p, &places, i, arity, index[i], queue->queued);
            p->taken[queue->taken] = keys[i];
            p->queue[queue->taken++] = own[i];
        }
        queue->next += some;
    }
}

/* From left to right: all that follows from some slots is done, near by and in the cache, before
 * the next ones are looked at. How many keys were taken away. */
INLINE size_t ISA(peel)(const struct peeling *p, unsigned arity) {
    struct ISA(queue) queue = {0, 0, 0, 0};
    for (uint64_t from = 0; from < p->slots; from += STRETCH) {
        uint64_t end = p->slots - from < STRETCH ? p->slots : from + STRETCH;
        for (uint64_t i = from; i < end; i++) {
            p->queue[queue.queued] = (uint32_t)i;
            queue.queued += p->slot[i] >> INDEX_BITS == 1;
        }
        ISA(empty)(p, arity, &queue);
    }
    return queue.taken;
}

/* From the last key taken away to the first: its own slot, still 0, makes its places add up to its
 * fingerprint. */
INLINE void ISA(set_values)(const struct peeling *p, unsigned arity, unsigned bytes) {
    struct fuse_cells places;
    memset(p->value, 0, (size_t)p->slots * bytes);
    for (uint64_t left = p->n; left;) {
        size_t some = left < BLOCK ? (size_t)left : BLOCK;
        left -= some;
        ISA(find_places)(p, p->taken + left, some, arity, &places);
        for (size_t i = some; i-- > 0;) {
            uint32_t value = places.fingerprint[i];
            for (unsigned j = 0; j < arity; j++) value ^= get_value(p, places.place[j][i], bytes);
            put_value(p, p->queue[left + i], bytes, value);
        }
    }
}

INLINE bool ISA(assign)(const struct peeling *p, unsigned arity) {
    if (!ISA(count_keys)(p, arity) || ISA(peel)(p, arity) != p->n) return false;
    if (p->width <= 8)
        ISA(set_values)(p, arity, 1);
    else if (p->width <= 16)
        ISA(set_values)(p, arity, 2);
    else
        ISA(set_values)(p, arity, 4);
    return true;
}

TARGET static bool ISA(assign_3)(const struct peeling *p) {
    return ISA(assign)(p, 3);
}

TARGET static bool ISA(assign_4)(const struct peeling *p) {
    return ISA(assign)(p, 4);
}
