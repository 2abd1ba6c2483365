/*
 * Batches of keys in every form: the same answers and the same image as single calls, for every
 * kind and composite filter. Batches that make no sense are refused, and nothing changes. Hashers
 * give the digests of the filter.
 *
 * Small batches have every form. Large ones have one form for each filter in turn;
 * PERHAPS_TEST_SIZE=long has all.
 */
#include "cells.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

enum form { BYTES, PACKED32, PACKED64, FIXED, U64, U64_ODD, DIGEST, FORMS };
static const char *const form_names[FORMS] = {"bytes", "packed, 32 bits", "packed, 64 bits", "fixed",
                                              "u64",   "u64, odd stride", "digest"};

enum { WIDTH = 11, STRIDE = 13, ODD_STRIDE = 11, LONGEST = 24, BEFORE = 3, THREADS = 3 };

/* The same keys in all forms, each at an odd address where that is allowed. */
struct keys {
    size_t n;
    uint64_t *integers, *digests, *offsets64;
    uint32_t *offsets32;
    const void **pointers;
    size_t *lengths;
    uint8_t *packed, *fixed, *spread;
};

static void *room(size_t n, size_t size) {
    void *memory = calloc(n + 2, size);
    CHECK(memory, "no memory for %zu keys", n);
    return memory;
}

/* Every seventh key repeats the one before; one is empty, others are up to 16 bytes long. */
static void make_text(struct keys *keys, size_t i, uint64_t number) {
    keys->lengths[i] = number == 1 ? 0 : 8 + number % 9;
    memcpy(keys->packed + keys->offsets64[i], &number, keys->lengths[i] ? sizeof number : 0);
    keys->pointers[i] = keys->packed + keys->offsets64[i];
    keys->offsets64[i + 1] = keys->offsets64[i] + keys->lengths[i];
    keys->offsets32[i + 1] = (uint32_t)keys->offsets64[i + 1];
    memcpy(keys->fixed + 1 + i * STRIDE, &number, sizeof number);
}

static struct keys make_keys(const perhaps *f, uint64_t first, size_t n) {
    struct keys keys = {.n = n,
                        .integers = room(n, 8),
                        .digests = room(n, 8),
                        .offsets64 = room(n, 8),
                        .offsets32 = room(n, 4),
                        .pointers = room(n, sizeof(void *)),
                        .lengths = room(n, sizeof(size_t)),
                        .packed = room(n, LONGEST),
                        .fixed = room(n, STRIDE),
                        .spread = room(n, ODD_STRIDE)};
    keys.offsets64[0] = keys.offsets32[0] = BEFORE;
    for (size_t i = 0; i < n; i++) {
        uint64_t number = first + i - (i % 7 == 6);
        keys.integers[i] = member_of(f, number);
        keys.digests[i] = perhaps_digest_u64(perhaps_hasher_of(f), keys.integers[i]);
        memcpy(keys.spread + 1 + i * ODD_STRIDE, &keys.integers[i], sizeof keys.integers[i]);
        make_text(&keys, i, number);
    }
    return keys;
}

static void free_keys(struct keys *keys) {
    free(keys->integers);
    free(keys->digests);
    free(keys->offsets64);
    free(keys->offsets32);
    free((void *)keys->pointers);
    free(keys->lengths);
    free(keys->packed);
    free(keys->fixed);
    free(keys->spread);
}

static perhaps_keys batch_of(const struct keys *keys, enum form form) {
    switch (form) {
    case BYTES:
        return PERHAPS_KEYS_BYTES(keys->pointers, keys->lengths, keys->n);
    case PACKED32:
        return PERHAPS_KEYS_PACKED(keys->packed, keys->offsets32, keys->n);
    case PACKED64:
        return PERHAPS_KEYS_PACKED(keys->packed, keys->offsets64, keys->n);
    case FIXED:
        return PERHAPS_KEYS_FIXED(keys->fixed + 1, WIDTH, STRIDE, keys->n);
    case U64:
        return PERHAPS_KEYS_U64(keys->integers, 0, keys->n);
    case U64_ODD:
        return PERHAPS_KEYS_U64(keys->spread + 1, ODD_STRIDE, keys->n);
    default:
        return PERHAPS_KEYS_DIGEST(keys->digests, keys->n);
    }
}

/* A single call for key i, by the form of the keys. */
#define ONE(verb, form, f, keys, i)                                                                                    \
    ((form) < FIXED     ? perhaps_##verb((f), (keys)->pointers[i], (keys)->lengths[i])                                 \
     : (form) == FIXED  ? perhaps_##verb((f), (keys)->fixed + 1 + (i)*STRIDE, WIDTH)                                   \
     : (form) == DIGEST ? perhaps_##verb##_digest((f), (keys)->digests[i])                                             \
                        : perhaps_##verb##_u64((f), (keys)->integers[i]))

/* ---- batches against single calls ---- */

struct run {
    const struct cell *cell;
    enum form form;
    perhaps *many, *single;
    uint8_t *answers;
};

static void expect_adds(const struct run *run, const struct keys *keys) {
    perhaps_keys batch = batch_of(keys, run->form);
    int64_t sum = 0, added = MUST(perhaps_add_many(run->many, &batch, run->answers));
    for (size_t i = 0; i < keys->n; i++) {
        int64_t alone = MUST(ONE(add, run->form, run->single, keys, i));
        CHECK(alone == run->answers[i], "key %zu is added with answer %u, alone %d", i, run->answers[i], (int)alone);
        sum += alone;
    }
    CHECK(sum == added, "%lld of %lld are said to be new", (long long)added, (long long)sum);
}

static void expect_queries(const struct run *run, const struct keys *keys) {
    perhaps_keys batch = batch_of(keys, run->form);
    int64_t sum = 0, found = MUST(perhaps_contains_many(run->many, &batch, run->answers));
    for (size_t i = 0; i < keys->n; i++) {
        int64_t alone = MUST(ONE(contains, run->form, run->single, keys, i));
        CHECK(alone == run->answers[i], "key %zu is found %u times, alone %d", i, run->answers[i], (int)alone);
        sum += alone;
    }
    CHECK(sum == found && perhaps_contains_many(run->many, &batch, NULL) == sum, "%lld of %lld are said to be there",
          (long long)found, (long long)sum);
    uint8_t *threads = room(keys->n, 1);
    CHECK(perhaps_contains_parallel(run->many, &batch, threads, THREADS) == sum, "with threads it is another number");
    CHECK(memcmp(threads, run->answers, keys->n) == 0, "threads answer otherwise");
    free(threads);
}

static void expect_counts(const struct run *run, const struct keys *keys) {
    perhaps_keys batch = batch_of(keys, run->form);
    uint64_t *counts = room(keys->n, sizeof *counts);
    int64_t present = MUST(perhaps_count_many(run->many, &batch, counts));
    for (size_t i = 0; i < keys->n; i++) {
        int64_t alone = MUST(ONE(count, run->form, run->single, keys, i));
        CHECK((uint64_t)alone == counts[i], "key %zu is counted otherwise alone", i);
        present -= alone != 0;
    }
    CHECK(present == 0, "the number of keys that are there is wrong by %lld", (long long)present);
    free(counts);
}

/* The first half, in which no key is removed more often than it was added. */
static void expect_removes(const struct run *run, const struct keys *keys) {
    struct keys half = *keys;
    half.n = keys->n / 2;
    perhaps_keys batch = batch_of(&half, run->form);
    int64_t removed = MUST(perhaps_remove_many(run->many, &batch, run->answers));
    for (size_t i = 0; i < half.n; i++) {
        int64_t alone = MUST(ONE(remove, run->form, run->single, &half, i));
        CHECK(alone == run->answers[i], "key %zu is removed with answer %u, alone %d", i, run->answers[i], (int)alone);
        removed -= alone;
    }
    CHECK(removed == 0, "the number of keys removed is wrong by %lld", (long long)removed);
}

static void expect_same_image(const struct run *run) {
    struct bytes many = image_of(run->many), single = image_of(run->single);
    CHECK(same_bytes(many, single), "the image of batches is another than that of single calls");
    free(many.data);
    free(single.data);
}

/* Threads may add in any order: all keys are there afterwards. */
static void expect_parallel_adds(const struct run *run, const struct keys *keys) {
    perhaps *f = make_for(run->cell, keys->n);
    perhaps_keys batch = batch_of(keys, run->form);
    bool can = info_of(f).traits & PERHAPS_PARALLEL;
    int64_t added = perhaps_add_parallel(f, &batch, run->answers, THREADS);
    CHECK(can ? added >= 0 : added == PERHAPS_ECANNOT, "adding with threads answers %lld", (long long)added);
    seal(f);
    CHECK(!can || run->cell->forgets || perhaps_contains_many(f, &batch, NULL) == (int64_t)keys->n, "a key is missed");
    perhaps_free(f);
}

static void play(const struct cell *cell, enum form form, size_t n) {
    struct run run = {cell, form, make_for(cell, n), make_for(cell, n), room(2 * n, 1)};
    unsigned can = info_of(run.many).can;
    struct keys keys = make_keys(run.many, 0, n), later = make_keys(run.many, n / 2, n);
    if (!cell->is_static) expect_adds(&run, &keys);
    expect_adds(&run, &later);
    seal(run.many);
    seal(run.single);
    expect_queries(&run, &keys);
    expect_same_image(&run);
    if (can & PERHAPS_COUNT) expect_counts(&run, &keys);
    if (can & PERHAPS_REMOVE) expect_removes(&run, &keys);
    expect_queries(&run, &later);
    expect_same_image(&run);
    expect_parallel_adds(&run, &keys);
    free_keys(&keys);
    free_keys(&later);
    free(run.answers);
    perhaps_free(run.many);
    perhaps_free(run.single);
}

static bool takes(const struct cell *cell, enum form form) {
    return form < U64 ? cell->hashed : form != DIGEST || !cell->two_words;
}

static void expect_refused(const struct cell *cell, enum form form) {
    perhaps *f = make_for(cell, 10);
    struct keys keys = make_keys(f, 0, 10);
    perhaps_keys batch = batch_of(&keys, form);
    uint64_t counts[10];
    REFUSED(PERHAPS_ECANNOT, perhaps_add_many(f, &batch, NULL));
    REFUSED(PERHAPS_ECANNOT, perhaps_contains_many(f, &batch, NULL));
    REFUSED(PERHAPS_ECANNOT, perhaps_remove_many(f, &batch, NULL));
    REFUSED(PERHAPS_ECANNOT, perhaps_count_many(f, &batch, counts));
    REFUSED(PERHAPS_ECANNOT, perhaps_add_parallel(f, &batch, NULL, THREADS));
    REFUSED(PERHAPS_ECANNOT, perhaps_contains_parallel(f, &batch, NULL, THREADS));
    free_keys(&keys);
    perhaps_free(f);
}

/* Small filters have all forms and sizes up to 2; others a selection, unless all is wanted. */
static bool is_left_out(unsigned cell, unsigned size, enum form form, size_t n) {
    if (test_everything() || n <= 2) return false;
    if (test_size() == TEST_SMALL && (n > 10000 || cell % 5)) return true;
    return (cell + size) % FORMS != (unsigned)form || (n > 10000 && cell % 4);
}

static void play_all(const struct cell *cell) {
    static const size_t sizes[] = {0, 1, 2, 2047, 2048, 2049, 40000};
    static unsigned cells;
    cells++;
    for (enum form form = 0; form < FORMS; form++) {
        for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            if (is_left_out(cells, i, form, sizes[i])) continue;
            name_subject("%s; %zu keys as %s", cell->name, sizes[i], form_names[form]);
            takes(cell, form) ? play(cell, form, sizes[i]) : expect_refused(cell, form);
        }
    }
}

static void batches_of_every_form_are_like_single_calls(void **state) {
    (void)state;
    each_cell(play_all);
}

/* ---- batches that make no sense ---- */

static const uint32_t falling32[] = {0, 5, 4, 8}, rising32[] = {0, 1, 2, 3};
static const uint64_t falling64[] = {0, 1, 2, 1}, beyond[] = {0, 1, 2, UINT64_MAX}, words[4];
static const void *const pointers[] = {"a", "b", "c"};
static const size_t lengths[] = {1, 1, 1};
static const uint16_t offsets16[] = {0, 1, 2, 3};

static const perhaps_keys bad[] = {
    {-1, 3, words, NULL, 8, 0},
    {PERHAPS_KEYS_FORM_DIGEST + 1, 3, words, NULL, 8, 0},
    {99, 0, NULL, NULL, 0, 0},
    {PERHAPS_KEYS_FORM_BYTES, 3, NULL, lengths, sizeof(size_t), 0},
    {PERHAPS_KEYS_FORM_BYTES, 3, pointers, NULL, sizeof(size_t), 0},
    {PERHAPS_KEYS_FORM_BYTES, 3, pointers, lengths, 2, 0},
    {PERHAPS_KEYS_FORM_BYTES, SIZE_MAX, pointers, lengths, sizeof(size_t), 0},
    {PERHAPS_KEYS_FORM_PACKED, 3, "abcdefgh", falling32, 4, 0},
    {PERHAPS_KEYS_FORM_PACKED, 3, "abcdefgh", falling64, 8, 0},
    {PERHAPS_KEYS_FORM_PACKED, 3, "abcdefgh", beyond, 8, 0},
    {PERHAPS_KEYS_FORM_PACKED, 3, "abcdefgh", offsets16, 2, 0},
    {PERHAPS_KEYS_FORM_PACKED, 3, "abcdefgh", NULL, 4, 0},
    {PERHAPS_KEYS_FORM_PACKED, 3, NULL, rising32, 4, 0},
    {PERHAPS_KEYS_FORM_PACKED, SIZE_MAX, "abcdefgh", rising32, 4, 0},
    {PERHAPS_KEYS_FORM_FIXED, 3, NULL, NULL, 4, 0},
    {PERHAPS_KEYS_FORM_FIXED, 3, "abcdefgh", NULL, SIZE_MAX, 0},
    {PERHAPS_KEYS_FORM_FIXED, SIZE_MAX, "abcdefgh", NULL, 0, 0},
    {PERHAPS_KEYS_FORM_FIXED, 3, "abcdefgh", NULL, 4, SIZE_MAX / 2},
    {PERHAPS_KEYS_FORM_U64, 3, NULL, NULL, 8, 0},
    {PERHAPS_KEYS_FORM_U64, 3, words, NULL, 4, 0},
    {PERHAPS_KEYS_FORM_U64, 3, words, NULL, 8, SIZE_MAX / 2},
    {PERHAPS_KEYS_FORM_U64, 2, words, NULL, 1, PTRDIFF_MAX - 7}, /* as bytes: 1 too many */
    {PERHAPS_KEYS_FORM_U64, SIZE_MAX, words, NULL, 8, 0},
    {PERHAPS_KEYS_FORM_DIGEST, 3, NULL, NULL, 8, 0},
    {PERHAPS_KEYS_FORM_DIGEST, 3, words, NULL, 4, 0},
};

static void refuse_all(perhaps *f, const perhaps_keys *keys) {
    uint8_t answers[3];
    uint64_t out[3];
    REFUSED(PERHAPS_EINVAL, perhaps_add_many(f, keys, answers));
    REFUSED(PERHAPS_EINVAL, perhaps_contains_many(f, keys, answers));
    REFUSED(PERHAPS_EINVAL, perhaps_remove_many(f, keys, answers));
    REFUSED(PERHAPS_EINVAL, perhaps_count_many(f, keys, out));
    REFUSED(PERHAPS_EINVAL, perhaps_add_parallel(f, keys, answers, THREADS));
    REFUSED(PERHAPS_EINVAL, perhaps_contains_parallel(f, keys, answers, THREADS));
    REFUSED(PERHAPS_EINVAL, perhaps_digest_many(perhaps_hasher_of(f), keys, out));
}

static void bad_batches_change_nothing(const struct layout *layout) {
    perhaps *f = make(&layout->want);
    add_members(f, 0, 10);
    struct bytes before = image_of(f);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) refuse_all(f, &bad[i]);
    refuse_all(f, NULL);
    expect_unchanged(f, before);
    free(before.data);
    perhaps_free(f);
}

/* An Arrow array of empty strings may have no buffer; keys may overlap, or be one key repeated. */
static void odd_batches_are_fine(void **state) {
    static const uint32_t empty[] = {7, 7, 7};
    perhaps *f = make(&PERHAPS_WANT(.items = 100, .fpr = 1e-6));
    (void)state;
    CHECK(perhaps_add_many(f, &PERHAPS_KEYS_PACKED((const char *)NULL, empty, 2), NULL) == 1, "empty keys");
    CHECK(perhaps_contains(f, "", 0) == 1, "the empty key is missed");
    CHECK(perhaps_add_many(f, &PERHAPS_KEYS_FIXED("abcde", 3, 1, 3), NULL) == 3, "overlapping keys");
    CHECK(perhaps_contains(f, "bcd", 3) == 1 && perhaps_contains(f, "cde", 3) == 1, "one of them is missed");
    CHECK(perhaps_add_many(f, &PERHAPS_KEYS_FIXED("abc", 0, 0, 3), NULL) == 0, "keys of no bytes");
    for (int form = 0; form <= PERHAPS_KEYS_FORM_DIGEST; form++)
        CHECK(perhaps_add_many(f, &(perhaps_keys){.form = form}, NULL) == 0, "no keys of form %d", form);
    perhaps_free(f);
}

/* Integers of another width are refused, and not read beyond their end. */
static void narrow_integers_are_refused(void **state) {
    static const uint32_t narrow[3] = {1, 2, 3};
    perhaps *f = make(&PERHAPS_WANT(.items = 100, .fpr = 0.01));
    (void)state;
    refuse_all(f, &PERHAPS_KEYS_U64(narrow, 0, 3));
    perhaps_free(f);
}

/* ---- hashers ---- */

static void hashers_have_the_published_digests(void **state) {
    uint8_t key[16];
    perhaps_hasher xxh3, siphash, fnv;
    (void)state;
    for (uint8_t i = 0; i < 16; i++) key[i] = i;
    MUST(perhaps_hasher_init(&xxh3, PERHAPS_HASH_DEFAULT, 0, NULL));
    MUST(perhaps_hasher_init(&siphash, PERHAPS_SIPHASH, 0, key));
    MUST(perhaps_hasher_init(&fnv, PERHAPS_FNV, 0, NULL));
    CHECK(perhaps_digest(&xxh3, "", 0) == UINT64_C(0x2d06800538d394c2), "XXH3-64 of nothing");
    CHECK(perhaps_digest(&siphash, "", 0) == UINT64_C(0xabac0158050fc4dc), "SipHash-1-3 of nothing");
    CHECK(perhaps_digest(&siphash, key, 8) == UINT64_C(0x369095118d299a8e), "SipHash-1-3 of eight bytes");
    CHECK(perhaps_digest_u64(&siphash, UINT64_C(0x0706050403020100)) == UINT64_C(0x369095118d299a8e), "an integer");
    CHECK(perhaps_digest(&fnv, "a", 1) == UINT64_C(0xaf63bd4c8601b7be), "FNV-1 of a letter");
}

static void bad_hashers_are_refused(void **state) {
    static const uint8_t key[16];
    perhaps_hasher h;
    uint64_t digest;
    (void)state;
    REFUSED(PERHAPS_EINVAL, perhaps_hasher_init(&h, 99, 0, NULL));
    REFUSED(PERHAPS_EINVAL, perhaps_hasher_init(&h, -1, 0, NULL));
    REFUSED(PERHAPS_EINVAL, perhaps_hasher_init(&h, PERHAPS_SIPHASH, 0, NULL));
    REFUSED(PERHAPS_EINVAL, perhaps_hasher_init(&h, PERHAPS_SIPHASH, 7, key));
    REFUSED(PERHAPS_EINVAL, perhaps_hasher_init(&h, PERHAPS_XXH3, 0, key));
    MUST(perhaps_hasher_init(&h, PERHAPS_IDENTITY, 0, NULL));
    CHECK(perhaps_digest_u64(&h, 42) == 42, "an integer as it is");
    REFUSED(PERHAPS_ECANNOT, perhaps_digest_many(&h, &PERHAPS_KEYS_FIXED("abc", 1, 0, 1), &digest));
}

/* The filter's hasher, its copy, and an equal one give the digests that the filter adds. */
static void hashers_agree(const struct cell *cell) {
    enum { N = 700 };
    perhaps *f = make_for(cell, N);
    struct perhaps_info info = info_of(f);
    struct keys keys = make_keys(f, 0, N);
    perhaps_hasher copy = *perhaps_hasher_of(f), made;
    uint64_t digests[N], again[N];
    name_subject("%s", cell->name);
    MUST(perhaps_hasher_init(&made, info.hash, info.seed, NULL));
    for (enum form form = 0; form < FORMS; form++) {
        perhaps_keys batch = batch_of(&keys, form);
        if (form < U64 && !cell->hashed) continue;
        MUST(perhaps_digest_many(perhaps_hasher_of(f), &batch, digests));
        MUST(perhaps_digest_many(form % 2 ? &copy : &made, &batch, again));
        CHECK(memcmp(digests, again, sizeof digests) == 0, "%s: hashers differ", form_names[form]);
        for (size_t i = 0; i < N; i++) {
            uint64_t alone = form < FIXED    ? perhaps_digest(&copy, keys.pointers[i], keys.lengths[i])
                             : form == FIXED ? perhaps_digest(&copy, keys.fixed + 1 + i * STRIDE, WIDTH)
                                             : keys.digests[i];
            CHECK(digests[i] == alone, "%s: digest %zu is another one alone", form_names[form], i);
        }
        bool is_new = form == BYTES || form == FIXED || form == U64;
        if (is_new && !cell->two_words) MUST(perhaps_add_many(f, &PERHAPS_KEYS_DIGEST(digests, N), NULL));
    }
    seal(f);
    for (enum form form = 0; form < FORMS && !cell->two_words && !cell->forgets; form++) {
        perhaps_keys batch = batch_of(&keys, form);
        if (form < U64 && !cell->hashed) continue;
        CHECK(perhaps_contains_many(f, &batch, NULL) == N, "%s: a key is missed", form_names[form]);
    }
    free_keys(&keys);
    perhaps_free(f);
}

static void filters_have_the_digests_of_hashers(void **state) {
    (void)state;
    each_cell(hashers_agree);
}

/* ---- traits ---- */

static void traits_are_true(const struct cell *cell) {
    perhaps *f = make_for(cell, 10);
    struct perhaps_info info = info_of(f);
    unsigned traits = info.traits;
    name_subject("%s", cell->name);
    CHECK(!!(traits & PERHAPS_TAKES_BYTES) == (perhaps_add(f, "a", 1) != PERHAPS_ECANNOT), "bytes");
    CHECK(!!(traits & PERHAPS_TAKES_DIGESTS) == (perhaps_add_digest(f, 1) != PERHAPS_ECANNOT), "digests");
    CHECK(!!(traits & PERHAPS_MULTISET) == (perhaps_count_u64(f, 1) != PERHAPS_ECANNOT), "multiset");
    CHECK(!!(traits & PERHAPS_STATIC) == (perhaps_contains_u64(f, 1) == PERHAPS_EUNSEALED), "static");
    CHECK(!!(traits & PERHAPS_EXACT) == cell->exact, "exact");
    if (!info.base)
        CHECK(perhaps_kind_traits(info.kind) == traits, "the kind has other traits than the filter");
    else
        CHECK(perhaps_kind_traits(info.kind) == 0, "a composite kind has traits of its own");
    perhaps_free(f);
}

static void all_traits_are_true(void **state) {
    (void)state;
    each_cell(traits_are_true);
    CHECK(perhaps_kind_traits(PERHAPS_ANY) == 0 && perhaps_kind_traits(-1) == 0, "no kind has traits");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_of_every_form_are_like_single_calls),
        FOR_EACH_KIND(bad_batches_change_nothing, 1000),
        FOR_EACH_COMPOSITE(bad_batches_change_nothing, 1000),
        cmocka_unit_test(odd_batches_are_fine),
        cmocka_unit_test(narrow_integers_are_refused),
        cmocka_unit_test(hashers_have_the_published_digests),
        cmocka_unit_test(bad_hashers_are_refused),
        cmocka_unit_test(filters_have_the_digests_of_hashers),
        cmocka_unit_test(all_traits_are_true),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
