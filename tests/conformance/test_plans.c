/* What the planner promises: sizes, rates, and a clear answer to nonsense. */
#include "support.h"

#include <perhaps_embed.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct perhaps_plan plan_of(perhaps_want want) {
    struct perhaps_plan plan = {.size = sizeof plan};
    MUST(perhaps_plan(&want, &plan));
    return plan;
}

static void expect_refusal(int error, perhaps_want want) {
    struct perhaps_plan plan = {.size = sizeof plan};
    REFUSED(error, perhaps_plan(&want, &plan));
    perhaps *f = (perhaps *)&plan;
    REFUSED(error, perhaps_create(&f, &want));
    CHECK(f == NULL, "a failed perhaps_create left a pointer");
}

/* ---- sizes ---- */

static void expect_at_most(int kind, double fpr, double bits) {
    static const uint64_t items[] = {1000000, 10000000, 100000000};
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        struct perhaps_plan plan = plan_of(PERHAPS_WANT(.kind = kind, .items = items[i], .fpr = fpr));
        CHECK(plan.bits_per_key <= bits, "%g keys at %g take %.3f bits each, more than %g", (double)items[i], fpr,
              plan.bits_per_key, bits);
    }
}

static void blocked_is_small(void **state) {
    (void)state;
    expect_at_most(PERHAPS_BLOCKED, 1e-2, 10.2);
    expect_at_most(PERHAPS_BLOCKED, 1e-3, 15.9);
    expect_at_most(PERHAPS_BLOCKED, 1e-4, 20.4);
}

static void bloom_is_as_small_as_the_formula(void **state) {
    (void)state;
    static const double rates[] = {0.1, 0.05, 0.03, 0.02, 0.01, 0.003, 1e-3, 1e-4, 1e-5, 1e-6, 1e-9};
    static const uint64_t items[] = {10000, 123457, 1000000, 100000000};
    for (size_t p = 0; p < sizeof rates / sizeof *rates; p++)
        for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
            struct perhaps_plan plan = plan_of(PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = items[i], .fpr = rates[p]));
            double formula = -log(rates[p]) / (M_LN2 * M_LN2);
            CHECK(plan.bits_per_key <= 1.007 * formula, "%g keys at %g take %.4f bits each, the formula's %.4f",
                  (double)items[i], rates[p], plan.bits_per_key, formula);
        }
}

/* Kinds that remove, at any capacity: powers of two, one more, a prime. Array and stash. */
static void kinds_that_forget_are_small(void **state) {
    (void)state;
    static const struct {
        int kind;
        double fpr, bits;
    } cases[] = {{PERHAPS_CUCKOO, 1e-2, 9.85},   {PERHAPS_CUCKOO, 1e-3, 13.15}, {PERHAPS_CUCKOO, 0x1p-16, 19.65},
                 {PERHAPS_COUNTING, 1e-2, 38.7}, {PERHAPS_TABLE, 1e-2, 72},     {PERHAPS_TABLE, 0, 72},
                 {PERHAPS_BITMAP, 0, 1.001}};
    static const uint64_t items[] = {1 << 20, (1 << 20) + 1, 1000003, 30000000};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t n = 0; n < sizeof items / sizeof *items; n++) {
            struct perhaps_plan plan =
                plan_of(PERHAPS_WANT(.kind = cases[i].kind, .items = items[n], .fpr = cases[i].fpr));
            CHECK(plan.bits_per_key <= cases[i].bits, "kind %d: %llu keys at %g take %.3f bits each, more than %g",
                  cases[i].kind, (unsigned long long)items[n], cases[i].fpr, plan.bits_per_key, cases[i].bits);
            CHECK(cases[i].fpr == 0 || plan.fpr <= cases[i].fpr, "the rate is %g", plan.fpr);
        }
}

/* A want for such a filter, with these numbers instead of its own; 0 where none is given. */
static perhaps_want want_like(const struct layout *layout, perhaps_want numbers) {
    perhaps_want want = layout->want;
    want.items = numbers.items;
    want.fpr = numbers.fpr;
    want.bits_per_key = numbers.bits_per_key;
    want.bytes = numbers.bytes;
    want.hashes = numbers.hashes;
    want.lines = numbers.lines;
    want.recipe = numbers.recipe;
    want.hash = numbers.hash;
    return want;
}
#define WANT_LIKE(layout, ...) want_like(layout, PERHAPS_WANT(__VA_ARGS__))

/* A filter takes the number of keys it was planned for without growing. */
static void planned_keys_find_room(const struct layout *layout) {
    static const uint64_t items[] = {1, 2, 3, 5, 10, 20, 50, 100, 333, 1000, 4099, 100003};
    static const double some_rates[] = {0.5, 0.06, 0.01, 1e-4};
    size_t counts = sizeof items / sizeof *items - (is_composite(layout) ? 1 : 0);
    uint64_t repeats = is_composite(layout) ? 5 : 20;
    for (size_t n = 0; n < counts; n++)
        for (size_t p = 0; p < sizeof some_rates / sizeof *some_rates; p++) {
            perhaps_want want = WANT_LIKE(layout, .items = items[n], .fpr = some_rates[p]);
            perhaps *f = make(&want);
            uint64_t bytes = info_of(f).bytes, rounds = items[n] < 1000 && layout->hashed ? repeats : 1;
            for (uint64_t round = 0; round < rounds; round++) {
                MUST(perhaps_clear(f));
                uint64_t added = add_while_room(f, round * 1000000, items[n]);
                CHECK(added == items[n], "made for %llu keys at %g, full after %llu", (unsigned long long)items[n],
                      some_rates[p], (unsigned long long)added);
                /* At such a rate keys look alike so often that their copies take room. */
                CHECK(info_of(f).bytes == bytes || some_rates[p] == 0.5, "made for %llu keys at %g, it had to grow",
                      (unsigned long long)items[n], some_rates[p]);
            }
            perhaps_free(f);
        }
}

static void bloom_has_the_classic_numbers(void **state) {
    (void)state;
    struct perhaps_plan plan = plan_of(PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = 1000000, .fpr = 0.01));
    CHECK(plan.hashes == 7, "k is %u", plan.hashes);
    CHECK(fabs((double)plan.bytes * 8 / 9585058 - 1) < 0.007, "the array has %llu bytes",
          (unsigned long long)plan.bytes);
}

static void presets_have_their_rates(void **state) {
    (void)state;
    static const struct {
        const char *name;
        unsigned bits, hashes;
        double fpr;
    } presets[] = {
        {"rough", 4, 3, .14689}, {"fair", 8, 6, .021577}, {"good", 16, 12, .00046557}, {"fine", 32, 23, 2.11673e-7}};
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
        perhaps_want want = PERHAPS_WANT(.items = 10000000);
        MUST(perhaps_want_preset(&want, presets[i].name));
        struct perhaps_plan plan = plan_of(want);
        CHECK(plan.kind == PERHAPS_BLOOM && plan.hashes == presets[i].hashes, "%s: kind %d, k = %u", presets[i].name,
              plan.kind, plan.hashes);
        CHECK(fabs(plan.bits_per_key - presets[i].bits) < 0.01, "%s: %g bits per key", presets[i].name,
              plan.bits_per_key);
        CHECK(fabs(plan.fpr / presets[i].fpr - 1) < 2e-5, "%s: rate %.8g where %.8g is due", presets[i].name, plan.fpr,
              presets[i].fpr);
    }
    perhaps_want want = PERHAPS_WANT(.items = 10);
    REFUSED(PERHAPS_EINVAL, perhaps_want_preset(&want, "splendid"));
}

static void small_filters_make_small_files(void **state) {
    (void)state;
    perhaps *f = make(&PERHAPS_WANT(.items = 100, .fpr = 0.01));
    add_members(f, 0, 100);
    struct bytes image = image_of(f);
    CHECK(image.length <= 256, "100 keys at 1 %% make an image of %zu bytes", image.length);
    CHECK(info_of(f).image_bytes == image.length, "info says %llu bytes", (unsigned long long)info_of(f).image_bytes);
    free(image.data);
    perhaps_free(f);
}

/* ---- any two of items, fpr and size give the third ---- */

static const uint64_t counts[] = {1, 2, 3, 10, 37, 100, 1000, 12345, 1000000, 100000000};
static const double rates[] = {0.9, 0.5, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-6, 1e-9};
enum { COUNTS = sizeof counts / sizeof *counts, RATES = sizeof rates / sizeof *rates };

static void expect_consistent(const struct perhaps_plan *plan, const struct layout *layout) {
    CHECK(plan->kind == layout->row->kind, "kind %d", plan->kind);
    CHECK((plan->fpr > 0 || layout->exact) && plan->fpr >= 0 && plan->fpr <= 1, "fpr %g", plan->fpr);
    CHECK(isfinite(plan->fpr) && isfinite(plan->bits_per_key) && isfinite(plan->limit_bits_per_key) &&
              isfinite(plan->loss),
          "rate %g, %g bits, limit %g, loss %g", plan->fpr, plan->bits_per_key, plan->limit_bits_per_key, plan->loss);
    CHECK(plan->loss >= 0 && plan->loss <= 1, "loss %g", plan->loss);
    CHECK(plan->bytes > 0 && plan->image_bytes > plan->bytes, "%llu bytes in an image of %llu",
          (unsigned long long)plan->bytes, (unsigned long long)plan->image_bytes);
    CHECK(fabs(plan->bits_per_key * (double)plan->items - 8.0 * (double)plan->bytes) < 1e-6 * 8.0 * (double)plan->bytes,
          "%g bits per key for %llu keys in %llu bytes", plan->bits_per_key, (unsigned long long)plan->items,
          (unsigned long long)plan->bytes);
    CHECK(plan->fpr == 0 || fabs(plan->limit_bits_per_key + log2(plan->fpr)) < 1e-9 * plan->limit_bits_per_key + 1e-9,
          "the limit at %g is given as %g", plan->fpr, plan->limit_bits_per_key);
    CHECK(plan->hashes >= 1 && plan->lines >= 1, "%u hashes in %u lines", plan->hashes, plan->lines);
}

/* There are many composite filters, and some plans are slow: every third will do. */
static size_t stride(const struct layout *layout) {
    return is_composite(layout) ? 3 : 1;
}

static void the_rate_is_kept(const struct layout *layout) {
    for (size_t n = 0; n < COUNTS; n += stride(layout))
        for (size_t p = n % stride(layout); p < RATES; p += stride(layout)) {
            perhaps_want want = WANT_LIKE(layout, .items = counts[n], .fpr = rates[p]);
            struct perhaps_plan plan = {.size = sizeof plan};
            int rc = perhaps_plan(&want, &plan);
            if (rates[p] < 1e-8 && rc == PERHAPS_ERANGE) continue;    /* not for every kind */
            if (sizeof(size_t) < 8 && rc == PERHAPS_ENOMEM) continue; /* nor for every machine */
            plan = plan_of(want);
            expect_consistent(&plan, layout);
            CHECK(plan.items == counts[n], "planned for %llu keys", (unsigned long long)plan.items);
            CHECK(plan.fpr <= rates[p], "%llu keys at %g: the plan has %g", (unsigned long long)counts[n], rates[p],
                  plan.fpr);
        }
}

static struct perhaps_info info_of_new(const struct layout *layout) {
    perhaps *f = make(&layout->want);
    struct perhaps_info info = info_of(f);
    perhaps_free(f);
    return info;
}

/* Kinds that keep whole digests need more memory for a key than others have use for. */
static double roomy_bits(const struct layout *layout) {
    return layout->exact && layout->hashed ? 100 : 12;
}

static void the_size_is_kept(const struct layout *layout) {
    if (is_layered(layout)) return;
    double bits = roomy_bits(layout);
    uint64_t parts = is_composite(layout) ? info_of_new(layout).children : 1;
    for (size_t n = 0; n < COUNTS; n++) {
        uint64_t bytes = 64 * (((uint64_t)((double)counts[n] * bits / 8) + 63) / 64);
        /* A stash and spare slots take their room. */
        if (order_matters(layout) && counts[n] < 100) bytes += 512;
        if (is_composite(layout)) bytes = 2 * parts * bytes + 512 * parts; /* in each of them */
        /* Not for every machine. */
        if (sizeof(size_t) < 8 && bytes > 1 << 30) continue;
        struct perhaps_plan plan = plan_of(WANT_LIKE(layout, .items = counts[n], .bytes = bytes));
        expect_consistent(&plan, layout);
        CHECK(plan.bytes <= bytes, "%llu bytes were wanted, %llu planned", (unsigned long long)bytes,
              (unsigned long long)plan.bytes);
        CHECK(plan.bytes + 64 * parts + bytes / 1000 > bytes, "%llu bytes were wanted, only %llu planned",
              (unsigned long long)bytes, (unsigned long long)plan.bytes);
    }
    struct perhaps_plan plan = plan_of(WANT_LIKE(layout, .items = 1000000, .bits_per_key = bits));
    CHECK(fabs(plan.bits_per_key - bits) < 0.01, "%g bits per key were wanted, %g planned", bits, plan.bits_per_key);
}

/* (bytes, fpr): as many keys as fit, not one more, nor half as many. Exact kinds need no fpr. */
static void the_number_of_keys_follows(const struct layout *layout) {
    static const uint64_t sizes[] = {64, 4096, 1 << 20, 1 << 28};
    struct perhaps_plan plan = {.size = sizeof plan};
    if (is_layered(layout)) return;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        perhaps_want want = WANT_LIKE(layout, .bytes = sizes[i], .fpr = layout->exact ? 0 : 0.01);
        int rc = perhaps_plan(&want, &plan);
        if (rc == PERHAPS_ERANGE && sizes[i] == 64) continue; /* too small for any of this kind */
        MUST(rc);
        expect_consistent(&plan, layout);
        CHECK(plan.fpr <= 0.01 && plan.bytes <= sizes[i], "rate %g in %llu bytes", plan.fpr,
              (unsigned long long)plan.bytes);
        struct perhaps_plan back = plan_of(WANT_LIKE(layout, .items = 2 * plan.items, .fpr = 0.01));
        CHECK(back.bytes > sizes[i], "%llu bytes would hold %llu keys, not only %llu", (unsigned long long)sizes[i],
              (unsigned long long)(2 * plan.items), (unsigned long long)plan.items);
    }
}

static void more_memory_lower_rate(const struct layout *layout) {
    if (layout->exact || is_layered(layout)) return;
    struct perhaps_plan plan = {.size = sizeof plan};
    double before = 1;
    bool fits = false;
    for (double bits = 2; bits <= 40; bits += 0.5 * (double)stride(layout)) {
        perhaps_want want = WANT_LIKE(layout, .items = 100000, .bits_per_key = bits);
        int rc = perhaps_plan(&want, &plan);
        /* Slots cannot be as narrow as that. */
        if (rc == PERHAPS_ERANGE && !fits && bits < 6) continue;
        MUST(rc);
        CHECK(plan.fpr <= before * 1.0001, "%g bits per key: the rate rises from %g to %g", bits, before, plan.fpr);
        before = plan.fpr;
        fits = true;
    }
}

/* Exact kinds need to know how many, and nothing else; that is no less than with a rate. */
static void exact_kinds_need_no_rate(const struct layout *layout) {
    if (!layout->exact) return;
    for (size_t n = 0; n < COUNTS; n++) {
        struct perhaps_plan plan = plan_of(WANT_LIKE(layout, .items = counts[n]));
        struct perhaps_plan rated = plan_of(WANT_LIKE(layout, .items = counts[n], .fpr = 0.01));
        expect_consistent(&plan, layout);
        CHECK(plan.bytes == rated.bytes && plan.fpr == rated.fpr && plan.fpr < 1e-10, "%llu and %llu bytes, rate %g",
              (unsigned long long)plan.bytes, (unsigned long long)rated.bytes, plan.fpr);
        CHECK(layout->hashed ? plan.fpr > 0 && (plan.loss > 0 || counts[n] < 2) : plan.fpr == 0 && plan.loss == 0,
              "rate %g, loss %g", plan.fpr, plan.loss);
    }
}

/* A plan is what create makes. */
static void create_makes_the_plan(const struct layout *layout) {
    perhaps *f = make(&layout->want);
    struct perhaps_info info = info_of(f);
    CHECK(info.bytes == layout->plan.bytes && info.image_bytes == layout->plan.image_bytes, "%llu and %llu bytes",
          (unsigned long long)info.bytes, (unsigned long long)info.image_bytes);
    CHECK(info.hashes == layout->plan.hashes && info.lines == layout->plan.lines, "%u hashes in %u lines", info.hashes,
          info.lines);
    CHECK(info.capacity == layout->plan.items, "capacity %llu", (unsigned long long)info.capacity);
    CHECK(info.fpr_target == layout->plan.fpr, "target %g, plan %g", info.fpr_target, layout->plan.fpr);
    perhaps_free(f);
}

/* ---- the kind chosen by itself ---- */

static const struct perhaps_kind_row *chosen_for(unsigned needs, double fpr) {
    struct perhaps_plan plan = plan_of(PERHAPS_WANT(.items = 100000, .fpr = fpr, .needs = needs));
    const struct perhaps_kind_row *chosen;
    size_t c = 0;
    while ((chosen = perhaps_kind(c)) && chosen->kind != plan.kind) c++;
    CHECK(chosen, "the chosen kind %d is not in the table", plan.kind);
    CHECK((chosen->can & needs) == needs, "%s cannot do what was needed", chosen->name);
    return chosen;
}

/* A kind of integers is never chosen: what it alone can do is refused in words. */
static void the_choice_can_do_what_is_needed(const struct layout *layout) {
    if (layout->hashed)
        chosen_for(layout->row->can, 0.01);
    else
        expect_refusal(PERHAPS_ERANGE, PERHAPS_WANT(.items = 100000, .fpr = 0.01, .needs = layout->row->can));
}

/* Around a kind that is chosen too. */
static void the_choice_within_can_do_what_is_needed(const struct layout *layout) {
    perhaps_want want = layout->want;
    want.kind = PERHAPS_ANY;
    want.needs = layout->row->can;
    perhaps *f = make(&want);
    CHECK((info_of(f).can & want.needs) == want.needs, "%x was needed, and it can %x", want.needs, info_of(f).can);
    CHECK(info_of(f).kind == layout->row->kind, "it became a %s", info_of(f).kind_name);
    perhaps_free(f);
}

/* Kinds that remove and count are chosen only where needed: their adds never say "there". */
static void multisets_are_chosen_only_where_needed(void **state) {
    (void)state;
    for (size_t p = 0; p < RATES; p++) {
        CHECK(!(chosen_for(0, rates[p])->can & PERHAPS_COUNT), "a multiset without need at %g", rates[p]);
        CHECK(!(chosen_for(PERHAPS_ADD | PERHAPS_MERGE, rates[p])->can & PERHAPS_COUNT), "a multiset without need");
        CHECK(chosen_for(PERHAPS_COUNT, rates[p])->can & PERHAPS_COUNT, "counts were needed");
    }
    CHECK(chosen_for(PERHAPS_REMOVE, 0.01)->kind == PERHAPS_CUCKOO, "removes at 1 %%");
    CHECK(chosen_for(PERHAPS_REMOVE, 1e-3)->kind == PERHAPS_CUCKOO, "removes at 0.1 %%");
    CHECK(chosen_for(PERHAPS_REMOVE | PERHAPS_IN_PLACE, 0.01)->kind == PERHAPS_COUNTING, "removes in place");
    CHECK(chosen_for(PERHAPS_REMOVE | PERHAPS_GROW, 0.01)->kind == PERHAPS_TABLE, "removes, and no end of keys");
    CHECK(chosen_for(PERHAPS_LIST, 0.01)->kind == PERHAPS_TABLE, "a list");
}

static void ways_to_grow_are_checked(const struct layout *layout) {
    perhaps_want want = layout->want;
    perhaps *f = NULL;
    want.grow = 3;
    REFUSED(PERHAPS_EINVAL, perhaps_create(&f, &want));
    want.grow = -1;
    REFUSED(PERHAPS_EINVAL, perhaps_create(&f, &want));
    want.grow = PERHAPS_GROW_NEVER;
    f = make(&want);
    CHECK(!grows(layout) || is_layered(layout) || info_of(f).grow == PERHAPS_GROW_NEVER, "info says that it grows");
    perhaps_free(f);
    f = make(&layout->want);
    CHECK(info_of(f).grow == layout->want.grow, "info says that it grows in way %d", info_of(f).grow);
    perhaps_free(f);
}

static void the_table_of_kinds_is_sound(void **state) {
    (void)state;
    size_t rows = 0;
    while (perhaps_kind(rows)) rows++;
    CHECK(rows >= 2 && !perhaps_kind(rows + 1) && !perhaps_kind(SIZE_MAX), "%zu rows", rows);
    for (size_t a = 0; a < rows; a++) {
        const struct perhaps_kind_row *row = perhaps_kind(a);
        CHECK(row->kind != PERHAPS_ANY && row->name[0] && row->summary[0], "row %zu is incomplete", a);
        for (size_t b = 0; b < a; b++)
            CHECK(row->kind != perhaps_kind(b)->kind && strcmp(row->name, perhaps_kind(b)->name) != 0,
                  "rows %zu and %zu are the same kind", a, b);
    }
}

/* ---- nonsense ---- */

static void nonsense_is_refused(const struct layout *layout) {
    static const double bad[] = {-1, -0.0001, 1, 1.5, INFINITY, -INFINITY, NAN};
    /* Layers begin with their own guess. */
    bool guesses = is_layered(layout), exact = is_exact(layout);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        expect_refusal(PERHAPS_EINVAL, WANT_LIKE(layout, .items = 1000, .fpr = bad[i]));
        if (bad[i] == 1 || bad[i] == 1.5) continue; /* fine as a number of bits */
        expect_refusal(PERHAPS_EINVAL, WANT_LIKE(layout, .items = 1000, .bits_per_key = bad[i]));
    }
    expect_refusal(PERHAPS_EINVAL, WANT_LIKE(layout, .items = 0));
    if (!guesses && !is_static(layout)) expect_refusal(PERHAPS_EINVAL, WANT_LIKE(layout, .fpr = 0.01));
    if (!exact) expect_refusal(PERHAPS_EINVAL, WANT_LIKE(layout, .items = 1000));
    if (!exact) expect_refusal(PERHAPS_EINVAL, WANT_LIKE(layout, .bytes = 1000));
    if (!is_static(layout)) expect_refusal(PERHAPS_EINVAL, WANT_LIKE(layout, .bits_per_key = 12));
    expect_refusal(PERHAPS_EINVAL, WANT_LIKE(layout, .items = 1000, .fpr = 0.01, .bytes = 4096));
    expect_refusal(PERHAPS_EINVAL, WANT_LIKE(layout, .items = 1000, .fpr = 0.01, .bits_per_key = 8));
    expect_refusal(PERHAPS_EINVAL, WANT_LIKE(layout, .items = 1000, .bytes = 4096, .bits_per_key = 8));
    perhaps *f = NULL;
    perhaps_want wrong[] = {WANT_LIKE(layout, .items = 10, .fpr = 0.01, .recipe = &PERHAPS_RECIPE(.form = 99)),
                            WANT_LIKE(layout, .items = 10, .fpr = 0.01, .hash = 99),
                            WANT_LIKE(layout, .items = 10, .fpr = 0.01, .hash = -1),
                            WANT_LIKE(layout, .items = 10, .fpr = 0.01, .hash = PERHAPS_SIPHASH)};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) REFUSED(PERHAPS_EINVAL, perhaps_create(&f, &wrong[i]));
}

/* More than any layout, or more than the machine has: either answer may come first. */
static void expect_too_much(perhaps_want want) {
    struct perhaps_plan plan = {.size = sizeof plan};
    int error = perhaps_plan(&want, &plan);
    CHECK(error == PERHAPS_ERANGE || error == PERHAPS_ENOMEM, "a want beyond reason got %d", error);
    expect_refusal(error, want);
}

static void the_impossible_is_refused(const struct layout *layout) {
    bool sized = !is_layered(layout); /* layers have no fixed size */
    /* Static kinds leave alone what even their finest does not need. */
    bool fills = sized && !is_static(layout);
    expect_refusal(PERHAPS_ERANGE, WANT_LIKE(layout, .items = 1000000, .fpr = 1e-14));
    expect_refusal(PERHAPS_ERANGE, WANT_LIKE(layout, .items = 1, .fpr = 1e-20));
    if (sized) expect_refusal(PERHAPS_ERANGE, WANT_LIKE(layout, .items = 1000, .fpr = 0.01, .hashes = 65));
    if (sized) expect_too_much(WANT_LIKE(layout, .items = UINT64_MAX, .bits_per_key = 10));
    expect_too_much(WANT_LIKE(layout, .items = UINT64_MAX, .fpr = 0.9));
    expect_too_much(WANT_LIKE(layout, .items = UINT64_MAX / 4, .fpr = 0.9));
    expect_too_much(WANT_LIKE(layout, .items = (uint64_t)1 << 50, .fpr = 0.01));
    if (fills) expect_too_much(WANT_LIKE(layout, .items = 1000, .bytes = (uint64_t)1 << 50));
    if (fills) expect_too_much(WANT_LIKE(layout, .items = 1000, .bytes = UINT64_MAX));
    if (sized) expect_too_much(WANT_LIKE(layout, .fpr = 0.01, .bytes = UINT64_MAX / 8));
}

static void more_than_the_machine_has_is_refused(void **state) {
    (void)state;
    uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    expect_refusal(PERHAPS_ENOMEM, PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = memory, .bytes = 2 * memory));
}

static void unknown_things_are_refused(void **state) {
    (void)state;
    expect_refusal(PERHAPS_EINVAL, PERHAPS_WANT(.kind = 9999, .items = 10, .fpr = 0.01));
    expect_refusal(PERHAPS_EINVAL, PERHAPS_WANT(.kind = -1, .items = 10, .fpr = 0.01));
    struct perhaps_plan plan = {.size = sizeof plan};
    perhaps_want want = PERHAPS_WANT(.items = 10, .fpr = 0.01, .needs = 1u << 30);
    CHECK(perhaps_plan(&want, &plan) < 0 && perhaps_why()[0], "an unknown need was accepted");
}

/* Trying kinds that will not do is no failure of the caller's. */
static void success_leaves_the_last_reason(void **state) {
    (void)state;
    perhaps_want want = PERHAPS_WANT(.items = 5, .bytes = 8); /* too small for whole cache lines */
    perhaps *f = NULL;
    struct perhaps_plan plan = {.size = sizeof plan};
    REFUSED(PERHAPS_EIO, perhaps_open(&f, "/no/such/file", NULL));
    MUST(perhaps_plan(&want, &plan));
    CHECK(strstr(perhaps_why(), "/no/such/file"), "a successful call left: %s", perhaps_why());
}

/* The largest sizes are found: blocked ends at 2^32 lines. The machine may lack the memory. */
static void the_largest_layouts_are_found(void **state) {
    (void)state;
    perhaps_want want = PERHAPS_WANT(.kind = PERHAPS_BLOCKED, .items = UINT64_C(150000000000), .fpr = 0.01);
    struct perhaps_plan plan = {.size = sizeof plan};
    int rc = perhaps_plan(&want, &plan);
    CHECK(rc == PERHAPS_ENOMEM || rc == 0, "got %d: %s", rc, perhaps_why());
    want.items *= 2;
    REFUSED(PERHAPS_ERANGE, perhaps_plan(&want, &plan));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocked_is_small),
        cmocka_unit_test(bloom_is_as_small_as_the_formula),
        cmocka_unit_test(kinds_that_forget_are_small),
        FOR_EACH_FILTER(planned_keys_find_room, 1000),
        cmocka_unit_test(bloom_has_the_classic_numbers),
        cmocka_unit_test(presets_have_their_rates),
        cmocka_unit_test(small_filters_make_small_files),
        FOR_EACH_FILTER(the_rate_is_kept, 1000),
        FOR_EACH_FILTER(the_size_is_kept, 1000),
        FOR_EACH_FILTER(the_number_of_keys_follows, 1000),
        FOR_EACH_FILTER(more_memory_lower_rate, 1000),
        FOR_EACH_LAYOUT(create_makes_the_plan, 1000),
        FOR_EACH_COMPOSITE(create_makes_the_plan, 1000),
        FOR_EACH_COMPOSITE(the_choice_within_can_do_what_is_needed, 1000),
        FOR_EACH_FILTER(exact_kinds_need_no_rate, 1000),
        FOR_EACH_KIND(the_choice_can_do_what_is_needed, 1000),
        cmocka_unit_test(multisets_are_chosen_only_where_needed),
        FOR_EACH_FILTER(ways_to_grow_are_checked, 1000),
        cmocka_unit_test(the_table_of_kinds_is_sound),
        FOR_EACH_FILTER(nonsense_is_refused, 1000),
        FOR_EACH_FILTER(the_impossible_is_refused, 1000),
        FOR_EACH_STATIC_KIND(planned_keys_find_room, 1000),
        FOR_EACH_STATIC_KIND(the_rate_is_kept, 1000),
        FOR_EACH_STATIC_KIND(the_number_of_keys_follows, 1000),
        FOR_EACH_STATIC_KIND(more_memory_lower_rate, 1000),
        FOR_EACH_STATIC(create_makes_the_plan, 1000),
        FOR_EACH_STATIC_KIND(ways_to_grow_are_checked, 1000),
        FOR_EACH_STATIC_KIND(nonsense_is_refused, 1000),
        FOR_EACH_STATIC_KIND(the_impossible_is_refused, 1000),
        cmocka_unit_test(more_than_the_machine_has_is_refused),
        cmocka_unit_test(unknown_things_are_refused),
        cmocka_unit_test(success_leaves_the_last_reason),
        cmocka_unit_test(the_largest_layouts_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
