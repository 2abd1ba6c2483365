/*
 * Every operation that callers use without looking is there: in the tables of every kind, for every
 * layout, instruction set and way of sharing, and in every filter that can be made of them. And
 * small batches, which go ways of their own, answer what single calls do. A new kind, or a new
 * composite filter, is looked at without an edit.
 */
#include "support.h"

#include "core/children.h"
#include "plan/plan.h"

#include <stdio.h>

/* What is missing in a table for something that can do this; NULL if nothing is. Batches of digests
 * of two words, and of composite filters, go other ways. Static filters do not add. */
static const char *missing(const struct kind_ops *ops, unsigned can, bool one_word, bool composite) {
    if (!ops) return "everything";
    if (!ops->contains) return "contains";
    if (!ops->prefetch) return "prefetch";
    if (one_word && !ops->contains_many) return "contains_many";
    if (can & PERHAPS_ADD && !ops->add) return "add";
    if (can & PERHAPS_ADD && one_word && !composite && !ops->add_many) return "add_many";
    if (can & PERHAPS_REMOVE && !ops->remove) return "remove";
    if (can & PERHAPS_COUNT && !ops->count) return "count";
    return NULL;
}

/* ---- tables ---- */

static void expect_tables(const struct kind *kind, const uint64_t layout[LAYOUT_WORDS], unsigned can) {
    bool one_word = kind_of_keys(kind, layout)->hashing.words == 1;
    for (enum isa isa = ISA_SCALAR; isa < ISA_COUNT; isa++) {
        for (int shared = 0; shared <= (kind_takes_threads(kind)); shared++) {
            const char *lacks = missing(kind->ops(layout, isa, shared), can, one_word, kind->composite != NULL);
            CHECK(!lacks, "%s has no %s with %s%s", kind->row.name, lacks, isa_name(isa), shared ? ", shared" : "");
        }
    }
}

static void each_layout_of(const struct kind *kind) {
    static const double rates[] = {0.3, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6};
    static const unsigned hashes[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 32};
    unsigned layouts = 0;
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        for (size_t j = 0; j < sizeof hashes / sizeof *hashes; j++) {
            struct plan plan;
            perhaps_want want =
                PERHAPS_WANT(.kind = kind->row.kind, .items = 1000, .fpr = rates[i], .hashes = hashes[j]);
            if (plan_make(&want, &plan) < 0) want.fpr = 0; /* those whose rate cannot be chosen */
            if (plan_make(&want, &plan) < 0) continue;
            expect_tables(kind, plan.level[0].layout, kind->row.can);
            layouts++;
        }
    }
    CHECK(layouts, "%s has no layout", kind->row.name);
}

/* A growing filter may be the base of a sharded one. */
static void each_base_of(const struct kind *composite) {
    unsigned bases = 0;
    for (int number = 0; number < 100; number++) {
        const struct kind *base = kind_find(number);
        uint64_t layout[LAYOUT_WORDS] = {(uint64_t)number, 1};
        if (!base || composite->composite->refuses(base)) continue;
        if (!base->composite) expect_tables(composite, layout, composite->composite->can(base));
        bases++;
    }
    CHECK(bases, "%s has no base", composite->row.name);
}

static void tables_have_every_operation(void **state) {
    unsigned seen = 0;
    (void)state;
    for (int number = 0; number < 100; number++) {
        const struct kind *kind = kind_find(number);
        if (!kind) continue;
        name_subject("%s", kind->row.name);
        if (kind->composite)
            each_base_of(kind);
        else
            each_layout_of(kind);
        seen++;
    }
    CHECK(seen >= 17, "only %u kinds are found", seen);
}

/* ---- filters ---- */

enum { KEYS = 40 }; /* 0 to 39 are added */

static void expect_filter(const perhaps *f) {
    const char *lacks = missing(&f->ops, filter_can(f), !f->two_words, f->children != NULL);
    CHECK(!lacks, "a filter of kind %s has no %s", f->kind->row.name, lacks);
    CHECK(!f->ops.remove == !(filter_can(f) & PERHAPS_REMOVE), "remove is there, and no ability");
    CHECK(!f->ops.count == !(filter_can(f) & PERHAPS_COUNT), "count is there, and no ability");
    CHECK(!f->children || f->kind->composite->ops->add_many, "a composite filter without add_many");
    for (unsigned i = 0; f->children && i < f->children->count; i++) expect_filter(f->children->child[i].filter);
}

/* As if no array were in the cache, so that small batches prefetch. */
static void put_far(perhaps *f) {
    f->array.near_bytes = 0;
    for (unsigned i = 0; f->children && i < f->children->count; i++) put_far(f->children->child[i].filter);
}

/* Batches of up to 70 integers, some of which are in the filter, against single calls. */
static void expect_small_batches(const perhaps *f, const char *where) {
    enum { LONGEST = 70 };
    uint64_t keys[LONGEST];
    for (uint64_t i = 0; i < LONGEST; i++) keys[i] = 2 * i;
    for (size_t n = 0; n <= LONGEST; n++) {
        uint8_t answers[LONGEST + 1] = {0};
        int64_t ones = perhaps_contains_many(f, &PERHAPS_KEYS_U64(keys, 0, n), answers), wanted = 0;
        for (size_t i = 0; i < n; i++) {
            int one = perhaps_contains_u64(f, keys[i]);
            CHECK(answers[i] == one, "key %zu of %zu, %s: %d in a batch, %d alone", i, n, where, answers[i], one);
            CHECK(one || keys[i] >= KEYS, "key %zu is not in", i);
            wanted += one;
        }
        CHECK(ones == wanted, "%lld of %zu keys, %s, are in", (long long)ones, n, where);
    }
}

static void filters_have_every_operation(void **state) {
    static const perhaps_want ways[] = {
        {.size = 0},       {.grow = PERHAPS_GROW_LAYERS},
        {.shards = 2},     {.grow = PERHAPS_GROW_LAYERS, .shards = 2},
        {.period = 100},   {.generations = 3},
        {.clear_at = 0.5},
    };
    unsigned made = 0;
    (void)state;
    for (int number = 1; number < 100; number++) {
        for (size_t way = 0; kind_find(number) && way < 2 * sizeof ways / sizeof *ways; way++) {
            perhaps *f = NULL;
            perhaps_want want = ways[way / 2];
            want.size = sizeof want;
            want.kind = number;
            want.items = 100;
            want.fpr = number == PERHAPS_REDIS_CUCKOO ? 0 : 0.01;
            want.shared = way % 2;
            name_subject("%s, way %zu", kind_find(number)->row.name, way);
            if (perhaps_create(&f, &want) < 0) continue;
            for (uint64_t key = 0; key < KEYS; key++) CHECK(perhaps_add_u64(f, key) >= 0, "no room");
            seal(f);
            expect_filter(f);
            expect_small_batches(f, "near");
            put_far(f);
            expect_small_batches(f, "far");
            made++;
            perhaps_free(f);
        }
    }
    CHECK(made >= 50, "only %u filters were made", made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_have_every_operation),
        cmocka_unit_test(filters_have_every_operation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
