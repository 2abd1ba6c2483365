/*
 * Every kind, alone and in every composite filter, shared or not, with batches of every size and
 * keys of every form: single calls, batches and threads give the same answers, and an exact
 * multiset of what was added and removed agrees with all of them; after saving and opening too.
 *
 * The normal run has every filter with every size of batch (the largest: a fourth of them) and form
 * of keys; PERHAPS_TEST_SIZE=long all three together, with every instruction set.
 */
#include "cells.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- keys ---- */

enum form { BYTES, U64, DIGEST, FORMS };

/* Keys first, first + 1, ... in all forms; every seventh is the one before it again. */
struct keys {
    size_t n;
    uint64_t *number, *integers, *digests;
    const void **bytes;
    size_t *lengths;
    uint8_t (*text)[16];
};

static void *room(size_t n, size_t size) {
    void *memory = calloc(n + 1, size);
    CHECK(memory, "no memory for %zu keys", n);
    return memory;
}

static struct keys make_keys(const perhaps *f, uint64_t first, size_t n, bool repeat) {
    struct keys keys = {
        n, room(n, 8), room(n, 8), room(n, 8), room(n, sizeof(void *)), room(n, sizeof(size_t)), room(n, 16)};
    for (size_t i = 0; i < n; i++) {
        keys.number[i] = first + i - (repeat && i % 7 == 6);
        keys.integers[i] = member_of(f, keys.number[i]);
        keys.digests[i] = perhaps_digest_u64(perhaps_hasher_of(f), keys.integers[i]);
        keys.lengths[i] = sizeof keys.number[i] + keys.number[i] % 5;
        memcpy(keys.text[i], &keys.number[i], sizeof keys.number[i]);
        keys.bytes[i] = keys.text[i];
    }
    return keys;
}

static void free_keys(struct keys *keys) {
    free(keys->number);
    free(keys->integers);
    free(keys->digests);
    free((void *)keys->bytes);
    free(keys->lengths);
    free(keys->text);
}

static perhaps_keys batch_of(const struct keys *keys, enum form form) {
    return form == BYTES ? PERHAPS_KEYS_BYTES(keys->bytes, keys->lengths, keys->n)
           : form == U64 ? PERHAPS_KEYS_U64(keys->integers, 0, keys->n)
                         : PERHAPS_KEYS_DIGEST(keys->digests, keys->n);
}

/* The calls of a verb, by the form of the keys. */
#define MANY(verb, form, f, keys, ...) perhaps_##verb((f), (perhaps_keys[]){batch_of((keys), (form))}, __VA_ARGS__)
#define ONE(verb, form, f, keys, i)                                                                                    \
    ((form) == BYTES ? perhaps_##verb((f), (keys)->bytes[i], (keys)->lengths[i])                                       \
     : (form) == U64 ? perhaps_##verb##_u64((f), (keys)->integers[i])                                                  \
                     : perhaps_##verb##_digest((f), (keys)->digests[i]))

/* ---- a filter beside its model ---- */

enum { THREADS = 3, MOST_WITH_TWIN = 1000, SAMPLE = 97 };

struct run {
    const struct cell *cell;
    enum form form;
    bool parallel;
    size_t n;
    /* The twin gets single calls where f gets batches; NULL where that takes too long. */
    perhaps *f, *twin;
    unsigned can;
    uint32_t *copies; /* of each key, by its number */
    uint64_t items;   /* what perhaps_info must say */
};

static uint64_t sum(const uint8_t *answers, size_t n) {
    uint64_t ones = 0;
    for (size_t i = 0; i < n; i++) {
        CHECK(answers[i] <= 1, "answer %zu is %u", i, answers[i]);
        ones += answers[i];
    }
    return ones;
}

static int64_t query(const struct run *run, const perhaps *f, const struct keys *keys, uint8_t *answers) {
    return run->parallel ? MANY(contains_parallel, run->form, f, keys, answers, THREADS)
                         : MANY(contains_many, run->form, f, keys, answers);
}

static void expect_counts(const struct run *run, const perhaps *f, const struct keys *keys, const uint8_t *found) {
    uint64_t *counts = room(keys->n, sizeof *counts), present = 0;
    CHECK(MANY(count_many, run->form, f, keys, counts) == (int64_t)sum(found, keys->n), "count and contains differ");
    for (size_t i = 0; i < keys->n; i++) {
        present += counts[i] != 0;
        CHECK(counts[i] >= run->copies[keys->number[i]], "key %llu is counted %llu times, and there are %u copies",
              (unsigned long long)keys->number[i], (unsigned long long)counts[i], run->copies[keys->number[i]]);
    }
    CHECK(present == sum(found, keys->n), "%llu keys have copies", (unsigned long long)present);
    for (size_t i = 0; i<keys->n; i += keys->n> MOST_WITH_TWIN ? SAMPLE : 1)
        CHECK(ONE(count, run->form, f, keys, i) == (int64_t)counts[i], "a single count is another one");
    free(counts);
}

/* Queries keys in every way. */
static void expect_answers(const struct run *run, const perhaps *f, const struct keys *keys) {
    uint8_t *found = room(keys->n, 1);
    int64_t all = MUST(query(run, f, keys, found));
    CHECK((uint64_t)all == sum(found, keys->n), "%lld of the answers are said to be 1", (long long)all);
    CHECK(query(run, f, keys, NULL) == all, "without answers the number is another");
    for (size_t i = 0; i < keys->n; i++) {
        bool in = run->copies[keys->number[i]];
        CHECK(found[i] || !in, "key %llu is missed", (unsigned long long)keys->number[i]);
        CHECK(!run->cell->exact || found[i] == in, "key %llu is found", (unsigned long long)keys->number[i]);
    }
    for (size_t i = 0; i<keys->n; i += keys->n> MOST_WITH_TWIN ? SAMPLE : 1)
        CHECK(ONE(contains, run->form, f, keys, i) == found[i], "a single call for key %zu does not answer %u", i,
              found[i]);
    if (run->cell->multiset)
        expect_counts(run, f, keys, found);
    else if (!run->cell->is_static)
        REFUSED(PERHAPS_ECANNOT, MANY(count_many, run->form, f, keys, NULL));
    free(found);
}

/* Members, then as many keys that were never added. */
static void expect_all(const struct run *run, const perhaps *f) {
    struct keys keys = make_keys(f, 0, 2 * run->n, true), others = make_keys(f, 3 * run->n + 10, run->n, false);
    expect_answers(run, f, &keys);
    expect_answers(run, f, &others);
    int64_t found = query(run, f, &others, NULL);
    CHECK((uint64_t)found <= run->n / 20 + 8, "%lld of %zu non-members are found", (long long)found, run->n);
    struct perhaps_info info = info_of(f);
    CHECK(run->cell->forgets || run->cell->is_static || info.items == run->items, "it says %llu items, not %llu",
          (unsigned long long)info.items, (unsigned long long)run->items);
    free_keys(&keys);
    free_keys(&others);
}

static void expect_twin(const struct run *run) {
    if (!run->twin || run->parallel || info_of(run->f).collecting) return;
    CHECK(perhaps_equal(run->f, run->twin) == 1, "single calls make another filter than batches");
}

/* ---- changes ---- */

/* A key is new to the filter exactly if it is new to the model, except for false positives. */
static void note_added(struct run *run, const struct keys *keys, const uint8_t *answers) {
    bool stores_all = run->cell->multiset || run->cell->is_static;
    for (size_t i = 0; i < keys->n; i++) {
        uint32_t *copies = &run->copies[keys->number[i]];
        /* Threads may both be told "new" of a key that comes twice. */
        bool again = *copies && !run->parallel;
        CHECK(!stores_all || answers[i] == 1, "copy %zu is not stored", i);
        CHECK(stores_all || !again || !answers[i], "key %zu is there and answered as new", i);
        CHECK(!run->cell->exact || *copies || answers[i] || run->parallel, "key %zu is not answered as new", i);
        *copies += stores_all || !*copies;
        run->items += answers[i];
    }
}

/* Threads must be refused where they could not share such a filter, and nowhere else. */
static int64_t add_in_parallel(const struct run *run, const struct keys *keys, uint8_t *answers) {
    int64_t added = MANY(add_parallel, run->form, run->f, keys, answers, THREADS);
    perhaps_want want = run->cell->want;
    struct perhaps_plan plan = {.size = sizeof plan};
    want.shared = 1;
    bool can = run->cell->is_static || perhaps_plan(&want, &plan) == PERHAPS_OK;
    CHECK((added == PERHAPS_ECANNOT) == !can, "adding with threads answers %lld: %s", (long long)added, perhaps_why());
    return can ? added : MANY(add_many, run->form, run->f, keys, answers);
}

static void add_keys(struct run *run, uint64_t first) {
    struct keys keys = make_keys(run->f, first, run->n, true);
    uint8_t *answers = room(run->n, 1);
    int64_t added =
        MUST(run->parallel ? add_in_parallel(run, &keys, answers) : MANY(add_many, run->form, run->f, &keys, answers));
    CHECK((uint64_t)added == sum(answers, run->n), "%lld are said to be new", (long long)added);
    note_added(run, &keys, answers);
    for (size_t i = 0; run->twin && i < run->n; i++) {
        int64_t alone = MUST(ONE(add, run->form, run->twin, &keys, i));
        CHECK(run->parallel || alone == answers[i], "a single add of key %zu answers %lld", i, (long long)alone);
    }
    expect_twin(run);
    free(answers);
    free_keys(&keys);
}

static void add_absent_keys(struct run *run, uint64_t first) {
    struct keys keys = make_keys(run->f, first, run->n < 100 ? run->n : 100, true);
    for (size_t i = 0; i < keys.n; i++) {
        int before = ONE(contains, run->form, run->f, &keys, i), answer = ONE(add_absent, run->form, run->f, &keys, i);
        CHECK(answer == !before, "add_absent answers %d, and contains %d", answer, before);
        run->copies[keys.number[i]] += answer == 1;
        run->items += answer == 1;
        if (run->twin) MUST(ONE(add_absent, run->form, run->twin, &keys, i));
    }
    expect_twin(run);
    free_keys(&keys);
}

/* Takes out one copy of every other key. */
static void remove_keys(struct run *run) {
    struct keys keys = make_keys(run->f, 0, run->n, false);
    uint8_t *answers = room(run->n, 1);
    size_t kept = 0;
    for (size_t i = 0; i < run->n; i += 2) {
        if (!run->copies[keys.number[i]]) continue;
        keys.number[kept] = keys.number[i];
        keys.integers[kept] = keys.integers[i];
        keys.digests[kept] = keys.digests[i];
        keys.bytes[kept] = keys.bytes[i];
        keys.lengths[kept++] = keys.lengths[i];
    }
    keys.n = kept;
    if (run->can & PERHAPS_REMOVE) {
        CHECK(MANY(remove_many, run->form, run->f, &keys, answers) == (int64_t)kept, "not all are removed");
        CHECK(sum(answers, kept) == kept, "not all are said to be removed");
        for (size_t i = 0; i < kept; i++) run->copies[keys.number[i]]--;
        run->items -= kept;
        for (size_t i = 0; run->twin && i < kept; i++)
            CHECK(ONE(remove, run->form, run->twin, &keys, i) == 1, "key %zu is not removed", i);
        expect_twin(run);
    } else {
        REFUSED(PERHAPS_ECANNOT, MANY(remove_many, run->form, run->f, &keys, answers));
        if (kept) REFUSED(PERHAPS_ECANNOT, ONE(remove, run->form, run->f, &keys, 0));
    }
    free(answers);
    free_keys(&keys);
}

/* ---- through an image and back ---- */

/* What is opened is the same filter, borrowed or as a copy, which can be changed. Files of other
 * programs do not all tell their number of items. */
static void reopen(struct run *run) {
    uint64_t items = info_of(run->f).items;
    struct bytes image = image_of(run->f);
    perhaps_open_options options = PERHAPS_OPEN(.kind = 0);
    CHECK(info_of(run->f).image_bytes == image.length, "the image is not as long as perhaps_info says");
    for (size_t r = 0; perhaps_file_kind(r); r++)
        if (perhaps_file_kind(r)->kind == run->cell->want.kind) options.kind = run->cell->want.kind;
    perhaps *borrowed = NULL, *copy = NULL;
    MUST(perhaps_open_memory(&borrowed, image.data, image.length, &options));
    CHECK(perhaps_equal(borrowed, run->f) == 1, "what is opened is another filter");
    run->items = info_of(borrowed).items;
    CHECK(run->items == items || options.kind, "the image has %llu items", (unsigned long long)run->items);
    expect_all(run, borrowed);
    perhaps_free(borrowed);
    options.flags = PERHAPS_OPEN_COPY | (run->cell->want.shared ? PERHAPS_OPEN_SHARED : 0);
    MUST(perhaps_open_memory(&copy, image.data, image.length, &options));
    CHECK(perhaps_equal(copy, run->f) == 1, "the copy is another filter");
    perhaps_free(run->f);
    run->f = copy;
    run->items = info_of(copy).items;
    free(image.data);
    if (run->n == 33) { /* once for each */
        MUST(perhaps_save(run->f, scratch("matrix.ph")));
        MUST(perhaps_open(&borrowed, scratch("matrix.ph"), &PERHAPS_OPEN(.kind = options.kind)));
        CHECK(perhaps_equal(borrowed, run->f) == 1, "what is saved is another filter");
        perhaps_free(borrowed);
    }
}

/* ---- all of it ---- */

/* Time goes on, but not so far that anything is forgotten. */
static void tell_time(const struct run *run, uint64_t now) {
    MUST(perhaps_advance(run->f, now));
    if (run->twin) MUST(perhaps_advance(run->twin, now));
}

static void seal_both(const struct run *run) {
    if (!run->cell->is_static) return;
    struct keys keys = make_keys(run->f, 0, 1, false);
    REFUSED(PERHAPS_EUNSEALED, ONE(contains, run->form, run->f, &keys, 0));
    REFUSED(PERHAPS_EUNSEALED, query(run, run->f, &keys, NULL));
    seal(run->f);
    if (run->twin) seal(run->twin);
    REFUSED(PERHAPS_ESEALED, MANY(add_many, run->form, run->f, &keys, NULL));
    expect_twin(run);
    free_keys(&keys);
}

static void change_more(struct run *run) {
    if (!run->cell->is_static) add_absent_keys(run, run->n / 4);
    add_keys(run, run->n / 2);
    tell_time(run, 105);
    seal_both(run);
    expect_all(run, run->f);
    remove_keys(run);
    expect_all(run, run->f);
}

static void play(struct run *run) {
    run->f = make_for(run->cell, run->n);
    run->twin = run->n <= MOST_WITH_TWIN ? make_for(run->cell, run->n) : NULL;
    run->can = info_of(run->f).can;
    run->copies = room(4 * run->n + 20, sizeof *run->copies);
    tell_time(run, 5);
    if (!run->cell->is_static) expect_all(run, run->f);
    add_keys(run, 0);
    if (!run->cell->is_static) expect_all(run, run->f);
    change_more(run);
    reopen(run);
    expect_all(run, run->f);
    if (!run->cell->is_static) {
        tell_time(run, 105); /* what was opened does not know it */
        add_keys(run, run->n / 2);
        expect_all(run, run->f);
        reopen(run);
    }
    free(run->copies);
    perhaps_free(run->f);
    perhaps_free(run->twin);
}

/* Kinds of integers refuse bytes, kinds with two-word digests refuse digests, in every call. */
static bool refuses_form(const struct cell *cell, enum form form) {
    if (form == BYTES ? cell->hashed : form == U64 || !cell->two_words) return false;
    perhaps *f = make_for(cell, 100);
    struct keys keys = make_keys(f, 0, 100, false);
    REFUSED(PERHAPS_ECANNOT, ONE(add, form, f, &keys, 0));
    REFUSED(PERHAPS_ECANNOT, ONE(contains, form, f, &keys, 0));
    REFUSED(PERHAPS_ECANNOT, ONE(add_absent, form, f, &keys, 0));
    REFUSED(PERHAPS_ECANNOT, ONE(remove, form, f, &keys, 0));
    REFUSED(PERHAPS_ECANNOT, ONE(count, form, f, &keys, 0));
    REFUSED(PERHAPS_ECANNOT, MANY(add_many, form, f, &keys, NULL));
    REFUSED(PERHAPS_ECANNOT, MANY(contains_many, form, f, &keys, NULL));
    REFUSED(PERHAPS_ECANNOT, MANY(remove_many, form, f, &keys, NULL));
    REFUSED(PERHAPS_ECANNOT, MANY(count_many, form, f, &keys, NULL));
    REFUSED(PERHAPS_ECANNOT, MANY(add_parallel, form, f, &keys, NULL, THREADS));
    REFUSED(PERHAPS_ECANNOT, MANY(contains_parallel, form, f, &keys, NULL, THREADS));
    free_keys(&keys);
    perhaps_free(f);
    return true;
}

/* Large batches are for a fourth of the filters. With sanitizers a fifth of all do, and under an
 * emulator none of the large. */
static bool is_too_long(unsigned cell, unsigned batch, size_t keys) {
    if (test_everything()) return false;
    if (keys > 1000 && (cell % 4 || time_is_short())) return true;
    return test_size() == TEST_SMALL && (cell / 4 + batch) % 5;
}

static void play_all(const struct cell *cell) {
    static const size_t batches[] = {0, 1, 2, 31, 32, 33, 100, 1000, 40000};
    static const char *const forms[FORMS] = {"bytes", "u64", "digests"};
    enum { BATCHES = sizeof batches / sizeof *batches, WAYS = 2 * FORMS };
    static unsigned cells;
    cells++;
    for (unsigned b = 0; b < BATCHES; b++) {
        for (unsigned way = 0; way < WAYS; way++) {
            if (!test_everything() && way != (b + cells) % WAYS) continue;
            if (is_too_long(cells, b, batches[b])) continue;
            struct run run = {.cell = cell, .form = way / 2, .parallel = way % 2, .n = batches[b]};
            name_subject("%s; %zu keys as %s%s", cell->name, run.n, forms[run.form], run.parallel ? ", threads" : "");
            if (!refuses_form(cell, run.form)) play(&run);
        }
    }
}

static void all_ways_agree_with_the_model(void **state) {
    (void)state;
    each_cell(play_all);
}

/* With PERHAPS_TEST_SIZE=long; names that this machine does not have are refused. */
static void so_they_do_with_every_instruction_set(void **state) {
    static const char *const isas[] = {"scalar", "neon", "avx2", "avx512"};
    (void)state;
    for (unsigned i = 0; test_everything() && i < sizeof isas / sizeof *isas; i++) {
        perhaps *f = NULL;
        setenv("PERHAPS_ISA", isas[i], 1);
        int rc = perhaps_create(&f, &PERHAPS_WANT(.items = 10, .fpr = 0.1));
        perhaps_free(f);
        if (rc == PERHAPS_OK) each_cell(play_all);
    }
    unsetenv("PERHAPS_ISA");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_ways_agree_with_the_model),
        cmocka_unit_test(so_they_do_with_every_instruction_set),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
