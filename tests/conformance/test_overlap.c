/* perhaps_overlap: estimates within their standard errors, exact kinds exactly, and what cannot be
 * compared is refused. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 600, TRIALS = 32, NUMBERS = 5 };

/* a, b, both, either, jaccard. */
struct numbers {
    double value[NUMBERS], error[NUMBERS];
};

static const char *const names[NUMBERS] = {"a", "b", "both", "either", "jaccard"};

static struct perhaps_overlap overlap_of(const perhaps *a, const perhaps *b) {
    struct perhaps_overlap overlap = {.size = sizeof overlap};
    MUST(perhaps_overlap(a, b, &overlap));
    return overlap;
}

static struct numbers numbers_of(const struct perhaps_overlap *o) {
    return (struct numbers){{o->a, o->b, o->both, o->either, o->jaccard},
                            {o->a_error, o->b_error, o->both_error, o->either_error, o->jaccard_error}};
}

static struct numbers truth_of(uint64_t in_a, uint64_t in_b, uint64_t both) {
    double either = (double)(in_a + in_b - both);
    return (struct numbers){
        .value = {(double)in_a, (double)in_b, (double)both, either, either > 0 ? (double)both / either : 1}};
}

/* A key of a filter with several layers or generations may be in any of them. */
static bool comparable(const perhaps *f) {
    struct perhaps_info info = info_of(f), child = {.size = sizeof child};
    if (info.kind != PERHAPS_SHARDED) return info.children <= 1;
    bool all = true;
    for (unsigned i = 0; i < info.children; i++) {
        MUST(perhaps_child(f, i, &child));
        all &= child.children <= 1;
    }
    return all;
}

/* ---- estimates ---- */

/* Of each number: sums of z, of its square, and of the standard error. */
struct scores {
    int trials;
    double z[NUMBERS], squares[NUMBERS], errors[NUMBERS];
};

static void score(struct scores *scores, const struct perhaps_overlap *overlap, const struct numbers *truth) {
    struct numbers found = numbers_of(overlap);
    scores->trials++;
    for (int i = 0; i < NUMBERS; i++) {
        double off = found.value[i] - truth->value[i], error = found.error[i];
        CHECK(isfinite(found.value[i]) && isfinite(error) && error >= 0, "%s %g +- %g", names[i], found.value[i],
              error);
        CHECK(!overlap->exact || (off == 0 && error == 0), "%s is %g, not %g, and exact", names[i], found.value[i],
              truth->value[i]);
        CHECK(error > 0 || fabs(off) < 1e-9, "%s is %g +- 0, not %g", names[i], found.value[i], truth->value[i]);
        double z = error > 0 ? off / error : 0;
        scores->z[i] += z;
        scores->squares[i] += z * z;
        scores->errors[i] += error;
    }
}

/* The mean of z is 0 and that of its square 1, within 5 sigma (thousands of
 * numbers are judged). Errors come from
 * collisions, about error² of them in a trial: few are no normal distribution, so that squares vary
 * more, and far fewer than one cannot be judged. Of disjoint sets half of the estimates for `both`
 * are cut off at 0. */
static void judge(const struct scores *scores, const char *situation, bool disjoint) {
    double trials = scores->trials;
    for (int i = 0; i < NUMBERS; i++) {
        double error = scores->errors[i == 4 ? 2 : i] / trials, mean = scores->z[i] / trials;
        double square = scores->squares[i] / trials, sigma = sqrt((2 + 1 / (error * error)) / trials);
        bool one_sided = disjoint && (i == 2 || i == 4);
        if (error < 0.3) continue;
        CHECK(fabs(mean - 0.4 * one_sided) <= 5 / sqrt(trials), "%s: %s is off by %.2f standard errors", situation,
              names[i], mean);
        CHECK(square <= 1 + 5 * sigma && (one_sided || square >= 1 - 4 * sqrt(2 / trials)),
              "%s: %s has %.2f times the variance it says", situation, names[i], square);
    }
}

/* Keys with numbers that no other trial has: as good as another seed, and every kind takes them.
 * False if they do not fit, or if the filters cannot tell. */
static bool compare_once(const struct layout *layout, perhaps *a, perhaps *b, uint64_t first, uint64_t n, uint64_t both,
                         struct scores *scores) {
    uint64_t in_b = n / 2 + 1;
    struct perhaps_overlap overlap = {.size = sizeof overlap};
    struct numbers truth = truth_of(n, in_b, both);
    MUST(perhaps_clear(a));
    MUST(perhaps_clear(b));
    if (add_while_room(a, first, n) < n || add_while_room(b, first + n - both, in_b) < in_b) return false;
    if (!comparable(a) || !comparable(b)) {
        REFUSED(PERHAPS_ECANNOT, perhaps_overlap(a, b, &overlap));
        return false;
    }
    overlap = overlap_of(a, b);
    CHECK(overlap.exact == is_exact(layout), "exact is %d", overlap.exact);
    if (isinf(overlap.either_error)) return false; /* too full */
    score(scores, &overlap, &truth);
    return true;
}

static void errors_are_honest(const struct layout *layout) {
    static const double loads[] = {0.1, 1, 2.5}, shares[] = {0, 0.3, 1};
    static const int trials[] = {5 * TRIALS, TRIALS, TRIALS};
    perhaps *a = make(&layout->want), *b = make(&layout->want);
    uint64_t first = 0;
    for (size_t i = 0; i < (forgets(layout) ? 2 : 3); i++)
        for (size_t k = 0; k < 3; k++) {
            struct scores scores = {0};
            uint64_t n = (uint64_t)((double)layout->items * loads[i]), both = (uint64_t)((double)(n / 2) * shares[k]);
            char situation[60];
            snprintf(situation, sizeof situation, "load %g, share %g", loads[i], shares[k]);
            while (scores.trials < trials[i] && compare_once(layout, a, b, first, n, both, &scores)) first += 2 * n;
            if (scores.trials == trials[i] && !is_exact(layout)) judge(&scores, situation, both == 0);
        }
    perhaps_free(a), perhaps_free(b);
}

/* ---- handles ---- */

static void expect_same_numbers(const struct perhaps_overlap *a, const struct perhaps_overlap *b) {
    CHECK(memcmp(a, b, sizeof *a) == 0, "%g of %g and %g of %g", a->both, a->either, b->both, b->either);
}

static int file_kind_of(const struct layout *layout) {
    for (size_t row = 0; perhaps_file_kind(row); row++)
        if (perhaps_file_kind(row)->kind == layout->row->kind) return layout->row->kind;
    return PERHAPS_ANY;
}

/* Whatever the memory: mapped files, borrowed bytes at an odd address, a clone. Neither is
 * changed. */
static void handles_are_alike(const struct layout *layout) {
    perhaps *a = make_with_members(layout, layout->items / 2), *b = make(&layout->want), *mapped, *borrowed;
    add_members(b, layout->items / 4, layout->items / 2);
    struct perhaps_overlap overlap = {.size = sizeof overlap};
    const perhaps_open_options *how = &PERHAPS_OPEN(.kind = file_kind_of(layout));
    if (perhaps_overlap(a, b, &overlap) == PERHAPS_OK) {
        struct bytes before = image_of(a), other = image_of(b);
        uint8_t *odd = malloc(other.length + 1);
        memcpy(odd + 1, other.data, other.length);
        MUST(perhaps_save(a, scratch("a")));
        MUST(perhaps_open(&mapped, scratch("a"), how));
        MUST(perhaps_open_memory(&borrowed, odd + 1, other.length, how));
        struct perhaps_overlap again = overlap_of(mapped, borrowed), back = overlap_of(borrowed, mapped);
        expect_same_numbers(&overlap, &again);
        CHECK(back.a == overlap.b && back.both == overlap.both && back.either_error == overlap.either_error,
              "the order matters");
        expect_unchanged(a, before);
        expect_unchanged(b, other);
        perhaps_free(mapped), perhaps_free(borrowed);
        free(before.data), free(other.data), free(odd);
    }
    perhaps_free(a), perhaps_free(b);
}

static void a_filter_is_like_itself(const struct layout *layout) {
    perhaps *f = make_with_members(layout, layout->items / 2), *empty = make(&layout->want), *copy;
    MUST(perhaps_clone(f, &copy));
    if (comparable(f)) {
        struct perhaps_overlap own = overlap_of(f, f), other = overlap_of(f, copy), none = overlap_of(empty, empty);
        expect_same_numbers(&own, &other);
        CHECK(own.jaccard == 1 && own.jaccard_error == 0 && own.both == own.a && own.either == own.b, "%g, %g of %g",
              own.jaccard, own.both, own.either);
        CHECK(none.jaccard == 1 && none.jaccard_error == 0 && none.either == 0 && none.either_error == 0,
              "nothing is %g +- %g like nothing", none.jaccard, none.jaccard_error);
        struct perhaps_overlap with_none = overlap_of(f, empty);
        CHECK(with_none.both == 0 && with_none.both_error == 0 && with_none.either == own.a && with_none.jaccard == 0,
              "%g keys in common with nothing", with_none.both);
    }
    perhaps_free(f), perhaps_free(empty), perhaps_free(copy);
}

/* ---- what there is no number for ---- */

static void expect_difference(const perhaps_want *first, const perhaps_want *second, const char *field) {
    perhaps *a = make(first), *b = make(second);
    struct perhaps_overlap overlap = {.size = sizeof overlap};
    REFUSED(PERHAPS_EMISMATCH, perhaps_overlap(a, b, &overlap));
    CHECK(strstr(perhaps_why(), field), "no word of %s: %s", field, perhaps_why());
    perhaps_free(a), perhaps_free(b);
}

static void differences_are_named(void **state) {
    const uint8_t one[16] = {1}, two[16] = {2};
    const perhaps_recipe lower = PERHAPS_RECIPE(.ignore_case = 1);
    const perhaps_want want = PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = ITEMS, .fpr = 0.01);
    perhaps_want kind = want, bits = want, hashes = want, seed = want, hash = want, key = want, recipe = want,
                 shards = want, more = want;
    (void)state;
    kind.kind = PERHAPS_BLOCKED;
    bits.items *= 2;
    hashes.hashes = 3;
    seed.seed = 9;
    hash.hash = PERHAPS_SIPHASH, hash.hash_key = one;
    key.hash = PERHAPS_SIPHASH, key.hash_key = two;
    recipe.recipe = &lower;
    shards.shards = 4;
    more.shards = 5;
    expect_difference(&want, &kind, "kind");
    expect_difference(&want, &bits, "bits");
    hashes.fpr = 0, hashes.bytes = 2000;
    perhaps_want sized = hashes;
    sized.hashes = 4;
    expect_difference(&sized, &hashes, "hashes");
    expect_difference(&want, &seed, "seed");
    expect_difference(&want, &hash, "hash");
    expect_difference(&hash, &key, "hash key");
    expect_difference(&want, &recipe, "transformation of keys");
    expect_difference(&want, &shards, "kind");
    expect_difference(&more, &shards, "number of shards");
}

static void static_filters_tell_nothing(const struct layout *layout) {
    struct perhaps_overlap overlap = {.size = sizeof overlap};
    perhaps *collecting = make(&layout->want), *sealed = make_with_members(layout, ITEMS);
    REFUSED(PERHAPS_ECANNOT, perhaps_overlap(collecting, collecting, &overlap));
    REFUSED(PERHAPS_ECANNOT, perhaps_overlap(sealed, sealed, &overlap));
    perhaps_free(collecting), perhaps_free(sealed);
}

static void intersections_tell_nothing(const struct layout *layout) {
    if (!(layout->row->can & PERHAPS_INTERSECT) || is_exact(layout)) return;
    struct perhaps_overlap overlap = {.size = sizeof overlap};
    perhaps *a = make_with_members(layout, ITEMS), *b = make_with_members(layout, ITEMS / 2);
    MUST(perhaps_intersect(a, b));
    REFUSED(PERHAPS_ECANNOT, perhaps_overlap(a, b, &overlap));
    REFUSED(PERHAPS_ECANNOT, perhaps_overlap(b, a, &overlap));
    perhaps_clear(a);
    MUST(perhaps_overlap(a, b, &overlap));
    perhaps_free(a), perhaps_free(b);
}

/* A full filter has any number of keys. What the other one has is still known. */
static void full_filters_say_so(void **state) {
    static const int kinds[] = {PERHAPS_BLOOM, PERHAPS_BLOCKED, PERHAPS_COUNTING, PERHAPS_GUAVA, PERHAPS_PARQUET};
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const perhaps_want want = PERHAPS_WANT(.kind = kinds[i], .items = 20, .fpr = 0.1);
        perhaps *full = make(&want), *other = make(&want);
        name_subject("kind %d", kinds[i]);
        add_members(full, 0, 5000);
        add_members(other, 0, 10);
        struct perhaps_overlap o = overlap_of(other, full);
        CHECK(fabs(o.a - 10) < 6 && o.a_error > 0 && o.a_error < 6, "%g +- %g of 10 keys", o.a, o.a_error);
        CHECK(isnan(o.b) && isinf(o.b_error) && isnan(o.both) && isinf(o.both_error), "%g +- %g", o.both, o.both_error);
        CHECK(isnan(o.either) && isinf(o.either_error) && isnan(o.jaccard) && isinf(o.jaccard_error), "%g +- %g",
              o.either, o.either_error);
        perhaps_free(full), perhaps_free(other);
    }
}

static void older_programs_get_what_they_know(void **state) {
    struct perhaps_overlap overlap;
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = ITEMS));
    (void)state;
    memset(&overlap, 0xAA, sizeof overlap);
    overlap.size = offsetof(struct perhaps_overlap, exact);
    MUST(perhaps_overlap(f, f, &overlap));
    CHECK(overlap.jaccard == 1 && (unsigned)overlap.exact == 0xAAAAAAAA, "exact became %d", overlap.exact);
    overlap.size = 0;
    REFUSED(PERHAPS_EINVAL, perhaps_overlap(f, f, &overlap));
    perhaps_free(f);
}

/* Copies of a multiset are one key, also those in the stash; a removed key is none. */
static void copies_count_once(void **state) {
    static const int kinds[] = {PERHAPS_COUNTING, PERHAPS_CUCKOO};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const perhaps_want want = PERHAPS_WANT(.kind = kinds[i], .items = 100 * ITEMS, .fpr = 1e-6);
        perhaps *a = make(&want), *b = make(&want);
        name_subject("kind %d", kinds[i]);
        add_members(a, 0, 100);
        add_members(b, 50, 100);
        for (int copies = 0; copies < 11; copies++) MUST(perhaps_add_u64(a, member(70)));
        MUST(perhaps_remove_u64(b, member(60)));
        struct perhaps_overlap o = overlap_of(a, b);
        CHECK(fabs(o.a - 100) < 1 && fabs(o.b - 99) < 1 && fabs(o.both - 49) < 1 && fabs(o.either - 150) < 1,
              "%g and %g, %g of %g", o.a, o.b, o.both, o.either);
        perhaps_free(a), perhaps_free(b);
    }
}

/* What servers keep: Bloom filters as all others, cuckoo filters not. */
static void formats_of_servers(void **state) {
    const perhaps_want bloom = PERHAPS_WANT(.kind = PERHAPS_REDIS_BLOOM, .items = ITEMS, .fpr = 0.01);
    const perhaps_want cuckoo = PERHAPS_WANT(.kind = PERHAPS_REDIS_CUCKOO, .items = ITEMS);
    perhaps *a = make(&bloom), *b = make(&bloom), *other = make(&cuckoo);
    (void)state;
    add_members(a, 0, ITEMS / 2);
    add_members(b, ITEMS / 4, ITEMS / 2);
    struct perhaps_overlap o = overlap_of(a, b);
    CHECK(fabs(o.both - ITEMS / 4.0) < 5 * o.both_error && o.both_error < 10, "%g +- %g", o.both, o.both_error);
    REFUSED(PERHAPS_ECANNOT, perhaps_overlap(other, other, &o));
    perhaps_free(a), perhaps_free(b), perhaps_free(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOR_EACH_LAYOUT(errors_are_honest, ITEMS),
        FOR_EACH_COMPOSITE(errors_are_honest, ITEMS),
        FOR_EACH_FILE(errors_are_honest, ITEMS),
        FOR_EACH_LAYOUT(handles_are_alike, ITEMS),
        FOR_EACH_COMPOSITE(handles_are_alike, ITEMS),
        FOR_EACH_FILE(handles_are_alike, ITEMS),
        FOR_EACH_LAYOUT(a_filter_is_like_itself, ITEMS),
        FOR_EACH_COMPOSITE(a_filter_is_like_itself, ITEMS),
        FOR_EACH_FILE(a_filter_is_like_itself, ITEMS),
        FOR_EACH_LAYOUT(intersections_tell_nothing, ITEMS),
        FOR_EACH_STATIC_KIND(static_filters_tell_nothing, ITEMS),
        cmocka_unit_test(differences_are_named),
        cmocka_unit_test(full_filters_say_so),
        cmocka_unit_test(older_programs_get_what_they_know),
        cmocka_unit_test(copies_count_once),
        cmocka_unit_test(formats_of_servers),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
