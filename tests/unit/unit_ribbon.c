/* The ribbon filter: parts of all sizes, equal keys, every instruction set, hostile directories. */
#include "isas.h"
#include "support.h"

#include "base/arith.h"
#include "base/endian.h"
#include "kind/ribbon/ribbon_layout.h"
#include "static/key_sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- making filters of few parts, as the builder does ---- */

struct made {
    struct array array;
    uint64_t items;
};

/* Digest i of a set, of which `different` are not equal. */
static uint64_t digest_of(uint64_t i, uint64_t different) {
    return mix64(i % different + 1);
}

static uint64_t keys_of_part(uint64_t n, uint64_t different, uint64_t bits, uint64_t part, uint64_t *keys) {
    uint64_t found = 0;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t key = digest_of(i, different);
        if (part_of(key, bits) == part) keys[found++] = key;
    }
    return found;
}

/* Solves a part, and puts it behind those that the array has. The keys are in no order. */
static void append_part(struct made *made, enum isa isa, uint64_t part, uint64_t *keys, uint64_t n) {
    uint64_t *layout = made->array.layout, words = kind_ribbon.solver->room(layout, n);
    uint64_t *room = malloc((size_t)words * 8 + 8), entries = parts_data_start(layout, RIBBON_ENTRY_WORDS);
    struct solution solution;
    CHECK(kind_ribbon.solver->solve(layout, isa, keys, n, room, &solution), "%llu keys", (unsigned long long)n);
    solution.entry[PART_START] = layout[DATA_WORDS];
    uint64_t length = entries + 8 * (layout[DATA_WORDS] + solution.words) + PARTS_PADDING;
    made->array.bytes = realloc(made->array.bytes, (size_t)length);
    if (!part) memset(made->array.bytes, 0, (size_t)entries);
    uint8_t *entry = made->array.bytes + part * RIBBON_ENTRY_WORDS * 8;
    uint8_t *data = made->array.bytes + entries + 8 * layout[DATA_WORDS];
    for (unsigned i = 0; i < RIBBON_ENTRY_WORDS; i++) store64(entry + 8 * i, solution.entry[i]);
    for (uint64_t i = 0; i < solution.words; i++) store64(data + 8 * i, room[i]);
    memset(data + 8 * solution.words, 0, PARTS_PADDING);
    layout[DATA_WORDS] += solution.words;
    made->items += solution.keys;
    free(room);
}

static const char *guide(struct made *made) {
    const char *reason;
    struct array *array = &made->array;
    array->length = kind_ribbon.payload_bytes(array->layout, &reason);
    CHECK(array->length != 0, "%s", reason);
    void *memory = malloc((size_t)kind_ribbon.solver->guide_bytes(array->layout));
    reason = kind_ribbon.solver->guide(array, made->items, memory);
    array->guide = memory;
    return reason;
}

static struct made make_parts(uint64_t n, uint64_t different, uint64_t bits, uint64_t columns, enum isa isa) {
    struct made made = {.array = {.layout = {bits, 0, columns}, .isa = isa}};
    uint64_t *keys = malloc((size_t)n * 8 + 8);
    for (uint64_t part = 0; part < UINT64_C(1) << bits; part++)
        append_part(&made, isa, part, keys, keys_of_part(n, different, bits, part, keys));
    free(keys);
    const char *wrong = guide(&made);
    CHECK(!wrong, "%s", wrong);
    return made;
}

static void unmake(struct made *made) {
    free((void *)(uintptr_t)made->array.guide);
    free(made->array.bytes);
}

/* Queries n digests, in a batch and some alone; how many are found. */
static uint64_t count_there(const struct made *made, enum isa isa, uint64_t n, uint64_t first, uint64_t different) {
    const struct kind_ops *ops = kind_ribbon.ops(made->array.layout, isa, false);
    uint64_t *digests = malloc((size_t)n * 8 + 64), there = 0;
    uint8_t *answers = malloc((size_t)n + 1);
    for (uint64_t i = 0; i < n; i++) digests[i] = digest_of(first + i, different);
    ops->contains_many(&made->array, digests, (size_t)n, answers, (const char *)digests);
    for (uint64_t i = 0; i < n; i++) {
        there += answers[i];
        if (i % 5) continue;
        int alone = ops->contains(&made->array, (struct digest){digests[i], 0});
        CHECK(alone == answers[i], "%s: key %d, alone %d", isa_name(isa), (int)i, alone);
    }
    free(digests);
    free(answers);
    return there;
}

/* ---- promises ---- */

static double rate_of(uint64_t columns) {
    return ldexp(1 - (double)(columns % RIBBON_COLUMNS_ONE) / RIBBON_COLUMNS_ONE / 2,
                 -(int)(columns / RIBBON_COLUMNS_ONE));
}

/* Every key is found, and of others as many as the columns say; few blocks may be better. */
static void check_filter(const struct made *made, enum isa isa, uint64_t n, uint64_t different, uint64_t columns) {
    const uint64_t queries = test_size() == TEST_SMALL ? 8000 : 40000;
    CHECK(count_there(made, isa, n, 0, different) == n, "%s: a key of %llu is lost", isa_name(isa),
          (unsigned long long)n);
    double there = (double)count_there(made, isa, queries, n, UINT64_MAX);
    double expected = (double)queries * rate_of(columns);
    CHECK(there <= expected + 5 * sqrt(expected) + 2, "%s: %g non-members of %llu keys, not %g", isa_name(isa), there,
          (unsigned long long)n, expected);
    CHECK(made->items < 1000 || there >= expected - 5 * sqrt(expected) - 2, "%s: only %g non-members, not %g",
          isa_name(isa), there, expected);
    CHECK(n || !there, "somebody is in an empty filter");
}

/* A filter made and queried with every instruction set: the same bytes, and the same answers. */
static void try_all(uint64_t n, uint64_t different, uint64_t bits, uint64_t columns) {
    struct made plain = make_parts(n, different, bits, columns, ISA_SCALAR);
    CHECK(plain.items == (n < different ? n : different), "%llu distinct keys of %llu", (unsigned long long)plain.items,
          (unsigned long long)n);
    check_filter(&plain, ISA_SCALAR, n, different, columns);
    for (int isa = ISA_SCALAR + 1; isa < ISA_COUNT; isa++) {
        if (!has_isa((enum isa)isa)) continue;
        struct made other = make_parts(n, different, bits, columns, (enum isa)isa);
        bool same = plain.array.length == other.array.length &&
                    memcmp(plain.array.bytes, other.array.bytes, (size_t)plain.array.length) == 0;
        CHECK(same, "%s makes another filter of %llu keys", isa_name((enum isa)isa), (unsigned long long)n);
        check_filter(&other, (enum isa)isa, n, different, columns);
        unmake(&other);
    }
    unmake(&plain);
}

static const uint64_t columns_tried[] = {RIBBON_COLUMNS_ONE, 6 * RIBBON_COLUMNS_ONE + 47185,
                                         9 * RIBBON_COLUMNS_ONE + 64000, 20 * RIBBON_COLUMNS_ONE + 1,
                                         32 * RIBBON_COLUMNS_ONE};

static void all_sizes(void **state) {
    (void)state;
    static const uint64_t sizes[] = {0, 1, 2, 3, 10, 100, 1000, 4095, 4096, 50000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        try_all(sizes[i], UINT64_MAX, 0, columns_tried[1]);
        if (sizes[i] > 10000) continue;
        for (size_t j = 0; j < sizeof columns_tried / sizeof *columns_tried; j++)
            try_all(sizes[i], UINT64_MAX, 0, columns_tried[j]);
    }
}

/* As many as are worked on in several regions. */
static void a_large_part(void **state) {
    (void)state;
    try_all(140000, UINT64_MAX, 0, columns_tried[2]);
}

static void several_parts(void **state) {
    (void)state;
    try_all(5, UINT64_MAX, 3, columns_tried[1]);
    try_all(30000, UINT64_MAX, 2, columns_tried[1]);
}

static void equal_keys(void **state) {
    (void)state;
    try_all(1000, 1, 0, columns_tried[1]);
    try_all(20000, 1, 1, columns_tried[1]);
    try_all(5000, 4000, 0, columns_tried[4]);
    try_all(50000, 25000, 0, columns_tried[1]);
}

/* What the plan counts on: the size for a number of keys, to a hundredth. */
static void the_planned_size(void **state) {
    (void)state;
    for (uint64_t n = 1; n < 100000; n = 3 * n + 1) {
        struct made made = make_parts(n, UINT64_MAX, 0, columns_tried[1], ISA_SCALAR);
        uint64_t planned = ribbon_words_for(made.array.layout, 1, n), words = made.array.layout[DATA_WORDS];
        double most = (double)planned * 1.01 + 2 * RIBBON_COLUMNS_MAX,
               least = (double)planned * 0.99 - 2 * RIBBON_COLUMNS_MAX;
        CHECK((double)words <= most && (double)words >= least, "%llu keys: %llu words, planned %llu",
              (unsigned long long)n, (unsigned long long)words, (unsigned long long)planned);
        unmake(&made);
    }
}

/* ---- lies ---- */

/* An entry's word changed: refused, or, as with seeds, of no harm. Sanitizers look on. */
static void lying_directories(void **state) {
    (void)state;
    struct made made = make_parts(30000, UINT64_MAX, 1, columns_tried[1], ISA_SCALAR);
    for (unsigned word = 0; word < 2 * RIBBON_ENTRY_WORDS; word++) {
        for (unsigned bit = 0; bit < 64; bit++) {
            uint8_t *at = made.array.bytes + 8 * word;
            uint64_t honest = load64(at);
            store64(at, honest ^ UINT64_C(1) << bit);
            free((void *)(uintptr_t)made.array.guide);
            const char *wrong = guide(&made);
            bool harmless = word % RIBBON_ENTRY_WORDS == RIBBON_PART_SEED;
            CHECK(harmless == !wrong, "word %u, bit %u: %s", word, bit, wrong ? wrong : "accepted");
            if (!wrong && bit % 16 == 0) (void)count_there(&made, ISA_SCALAR, 2000, 0, UINT64_MAX);
            store64(at, honest);
        }
    }
    unmake(&made);
}

/* Data of any bytes: answers of no worth, but none from outside of the array. */
static void lying_data(void **state) {
    (void)state;
    struct made made = make_parts(30000, UINT64_MAX, 0, columns_tried[1], ISA_SCALAR);
    uint64_t start = parts_data_start(made.array.layout, RIBBON_ENTRY_WORDS);
    for (int turn = 0; turn < 3; turn++) {
        for (uint64_t i = start; i < made.array.length; i++)
            made.array.bytes[i] = turn == 0 ? 0 : turn == 1 ? 255 : (uint8_t)mix64(i);
        for (int isa = ISA_SCALAR; isa < ISA_COUNT; isa++) {
            if (has_isa((enum isa)isa)) (void)count_there(&made, (enum isa)isa, 10000, 0, UINT64_MAX);
        }
    }
    unmake(&made);
}

static void columns_out_of_range(void **state) {
    (void)state;
    static const uint64_t wrong[] = {0, RIBBON_COLUMNS_ONE - 1, (uint64_t)RIBBON_COLUMNS_MAX * RIBBON_COLUMNS_ONE + 1,
                                     UINT64_MAX};
    const char *reason;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint64_t layout[LAYOUT_WORDS] = {0, 0, wrong[i]};
        CHECK(!kind_ribbon.payload_bytes(layout, &reason), "columns of %llu are accepted",
              (unsigned long long)wrong[i]);
    }
}

/* ---- keys that somebody chose ---- */

/* In the first three levels, with the first seed, it starts in the first eighth of the rows. */
static bool is_crowding(uint64_t digest) {
    uint64_t places = 0;
    for (unsigned level = 0; level < RIBBON_LAST; level++) places |= ribbon_place(digest, mix64(0), 0, level);
    return places >> 61 == 0;
}

/* Nearly half of the keys crowd into a few buckets and are bumped down levels: none is lost. */
static void crowding_keys(void **state) {
    enum { KEYS = 16384 };
    static uint64_t digests[KEYS];
    uint64_t n = 0, next = 0;
    perhaps *f;
    (void)state;
    for (; n < KEYS * 49 / 100; next++) {
        if (is_crowding(mix64(next))) digests[n++] = mix64(next);
    }
    for (; n < KEYS; next++) {
        if (mix64(next) >> 61) digests[n++] = mix64(next);
    }
    MUST(perhaps_create(&f, &PERHAPS_WANT(.kind = PERHAPS_RIBBON, .fpr = 1e-9)));
    MUST(perhaps_add_many(f, &PERHAPS_KEYS_DIGEST(digests, (size_t)n), NULL));
    MUST(perhaps_seal(f, NULL));
    int64_t found = perhaps_contains_many(f, &PERHAPS_KEYS_DIGEST(digests, (size_t)n), NULL);
    CHECK(found == (int64_t)n, "%lld of %llu keys are found", (long long)found, (unsigned long long)n);
    perhaps_free(f);
}

/* ---- order ---- */

static void in_order(void **state) {
    (void)state;
    enum { MOST = 70000 };
    static uint64_t words[MOST], spare[MOST];
    for (uint64_t n = 0; n < MOST; n = 3 * n + 1) {
        /* Uniform, few different ones, in order, all within a narrow range. */
        for (int sort = 0; sort < 4; sort++) {
            for (uint64_t i = 0; i < n; i++) {
                uint64_t hash = mix64(i + n);
                words[i] = sort == 0 ? hash : sort == 1 ? mix64(hash % 5) : sort == 2 ? i : hash >> 40;
            }
            sort_keys(words, n, spare);
            for (uint64_t i = 1; i < n; i++) CHECK(words[i - 1] <= words[i], "sort %d, word %d", sort, (int)i);
            uint64_t left = unique_keys(words, n, spare);
            for (uint64_t i = 1; i < left; i++) CHECK(words[i - 1] < words[i], "sort %d, word %d", sort, (int)i);
            CHECK(sort != 1 || left == (n < 5 ? left : 5), "%d different ones of 5", (int)left);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crowding_keys),        cmocka_unit_test(all_sizes),  cmocka_unit_test(a_large_part),
        cmocka_unit_test(several_parts),        cmocka_unit_test(equal_keys), cmocka_unit_test(the_planned_size),
        cmocka_unit_test(lying_directories),    cmocka_unit_test(lying_data), cmocka_unit_test(in_order),
        cmocka_unit_test(columns_out_of_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
