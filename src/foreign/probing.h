/*
 * The operations of other programs' classic Bloom filters, a template: each includes this once, with probe() defined, which gives the
 * place of a key's next bit, and with
 *
 *     struct probe          where a key's probing stands
 *     struct probe begin(struct digest digest)
 *     uint64_t probe(const struct array *array, struct probe *p, uint64_t i)    place number i, counted from 0, in this order
 *     PROBE_HASHES          the word of the layout that has the number of places of a key
 *     PROBE_WORDS           words of a digest, 1 or 2
 *
 * In a batch, the places of some keys are worked out and fetched while those of the keys before them, which have arrived, are
 * looked at.
 */

enum { PROBE_BLOCK = 16, PROBES_MAX = 32 }; /* keys at a time; with more places than that, keys go one by one */

static int add(struct array *array, struct digest digest) {
    struct probe p = begin(digest);
    int is_new = 0;
    for (uint64_t i = 0; i < array->layout[PROBE_HASHES]; i++) {
        uint64_t at = probe(array, &p, i);
        is_new |= !bit_get(array->bytes, at);
        bit_set(array->bytes, at);
    }
    return is_new;
}

static int contains(const struct array *array, struct digest digest) {
    struct probe p = begin(digest);
    for (uint64_t i = 0; i < array->layout[PROBE_HASHES]; i++)
        if (!bit_get(array->bytes, probe(array, &p, i))) return 0;
    return 1;
}

static void fetch(const struct array *array, struct digest digest) {
    struct probe p = begin(digest);
    for (uint64_t i = 0; i < array->layout[PROBE_HASHES]; i++)
        __builtin_prefetch(array->bytes + probe(array, &p, i) / 8);
}

static inline struct digest digest_at(const uint64_t *digests, size_t i) {
    return (struct digest){digests[PROBE_WORDS * i], PROBE_WORDS == 2 ? digests[PROBE_WORDS * i + 1] : 0};
}

/* The places of some keys, k for each, on their way. */
static void fetch_block(const struct array *array, const uint64_t *digests, size_t n, uint64_t *places) {
    uint64_t k = array->layout[PROBE_HASHES];
    for (size_t key = 0; key < n; key++) {
        struct probe p = begin(digest_at(digests, key));
        for (uint64_t i = 0; i < k; i++) {
            places[key * k + i] = probe(array, &p, i);
            __builtin_prefetch(array->bytes + places[key * k + i] / 8);
        }
    }
}

static void ask_block(const struct array *array, size_t n, const uint64_t *places, uint8_t *answers) {
    uint64_t k = array->layout[PROBE_HASHES];
    for (size_t key = 0; key < n; key++) {
        unsigned all = 1;
        for (uint64_t i = 0; i < k; i++) all &= bit_get(array->bytes, places[key * k + i]);
        answers[key] = (uint8_t)all;
    }
}

static void add_block(struct array *array, size_t n, const uint64_t *places, uint8_t *answers) {
    uint64_t k = array->layout[PROBE_HASHES];
    for (size_t key = 0; key < n; key++) {
        unsigned all = 1;
        for (uint64_t i = 0; i < k; i++) {
            all &= bit_get(array->bytes, places[key * k + i]);
            bit_set(array->bytes, places[key * k + i]);
        }
        answers[key] = (uint8_t)!all;
    }
}

static inline size_t block_of(size_t n, size_t from) {
    return from >= n ? 0 : n - from < PROBE_BLOCK ? n - from : PROBE_BLOCK;
}

static void one_by_one(struct array *array, const uint64_t *digests, size_t n, uint8_t *answers, bool adding) {
    for (size_t i = 0; i < n; i++)
        answers[i] = (uint8_t)(adding ? add(array, digest_at(digests, i)) : contains(array, digest_at(digests, i)));
}

static void in_blocks(struct array *array, const uint64_t *digests, size_t n, uint8_t *answers, bool adding) {
    uint64_t places[2][PROBE_BLOCK * PROBES_MAX];
    fetch_block(array, digests, block_of(n, 0), places[0]);
    for (size_t from = 0, turn = 0; from < n; from += PROBE_BLOCK, turn ^= 1) {
        size_t next = from + PROBE_BLOCK;
        fetch_block(array, digests + PROBE_WORDS * next, block_of(n, next), places[turn ^ 1]);
        if (adding)
            add_block(array, block_of(n, from), places[turn], answers + from);
        else
            ask_block(array, block_of(n, from), places[turn], answers + from);
    }
}

static size_t add_many(struct array *array, const uint64_t *digests, size_t n, uint8_t *answers, const char *ahead) {
    (void)ahead;
    (array->layout[PROBE_HASHES] > PROBES_MAX ? one_by_one : in_blocks)(array, digests, n, answers, true);
    return n;
}

/* Asking changes nothing, though the code that it shares with adding could. */
static void contains_many(const struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,
                          const char *ahead) {
    struct array same = *array;
    (void)ahead;
    (array->layout[PROBE_HASHES] > PROBES_MAX ? one_by_one : in_blocks)(&same, digests, n, answers, false);
}

static const struct kind_ops *ops(const uint64_t layout[LAYOUT_WORDS], enum isa isa, bool shared) {
    static const struct kind_ops all = {
        .add = add, .contains = contains, .add_many = add_many, .contains_many = contains_many, .fetch = fetch};
    (void)layout, (void)isa, (void)shared;
    return &all;
}

static bool merge(struct array *into, const struct array *from) {
    bits_or(into->bytes, from->bytes, into->length);
    return true;
}

static bool intersect(struct array *into, const struct array *from) {
    bits_and(into->bytes, from->bytes, into->length);
    return true;
}
