/*
 * The measured false-positive rate is the planned one.
 *
 * For few keys the rate differs from filter to filter, so a number of filters is made and the
 * spread between them counts in sigma; for many keys one filter is as good as any. Seeds are fixed.
 * A case that lies outside 3 sigma (one in 370 does by chance) is measured again with other keys
 * and four times the queries, and must then lie inside. Over all cases the mean deviation must be
 * small too: chance scatters both ways, a wrong plan does not.
 */
#include "support.h"

#include <math.h>

struct measurement {
    double rate, sigma;
};

/* Each filter has its own range of members, and of queries. */
static const uint64_t room_per_filter = (uint64_t)1 << 36;

static double measure_one(perhaps *f, uint64_t items, uint64_t queries, uint64_t place) {
    MUST(perhaps_clear(f));
    add_members(f, place * room_per_filter, items);
    seal(f);
    return (double)count_false_positives(f, place * room_per_filter, queries) / (double)queries;
}

/* The sigma of queries alone, whatever the spread between filters: a floor of the estimate. */
static double sigma_of_queries(double p, double queries) {
    return sqrt(p * (1 - p) / queries);
}

static struct measurement measure(const perhaps_want *want, double planned, uint64_t queries, uint64_t filters,
                                  uint64_t place) {
    perhaps *f = make(want);
    double sum = 0, squares = 0;
    uint64_t each = queries / filters + 1;
    for (uint64_t i = 0; i < filters; i++) {
        double rate = measure_one(f, want->items, each, place + i);
        sum += rate;
        squares += rate * rate;
    }
    perhaps_free(f);
    double n = (double)filters, mean = sum / n;
    double floor_sigma = sigma_of_queries(planned, n * (double)each);
    double spread = filters > 1 ? sqrt(fmax(squares / n - mean * mean, 0) / (n - 1)) : 0;
    return (struct measurement){mean, fmax(floor_sigma, spread)};
}

static uint64_t filters_for(uint64_t items) {
    if (items > 100000) return 1;
    if (items > 10000) return 30;
    return items > 300 ? 100 : 300;
}

/* Queries for 2,500 false positives, as far as time allows; 100 at the smallest rate. */
static uint64_t queries_for(double planned) {
    double most =
        test_size() == TEST_SMALL ? 1e6 : fmax(test_size() == TEST_LONG ? 6e6 : 3e6, fmin(1.1e8, 110 / planned));
    return (uint64_t)fmin(2500 / planned, most);
}

/* At the smallest rates each kind gets a hundred million queries with some thousands of keys. Other
 * numbers of keys have them only in long runs. */
static bool takes_long(double planned) {
    return queries_for(planned) > 40000000 && test_size() != TEST_LONG;
}

/* Deviations of all cases, in sigmas. */
struct scatter {
    double sum;
    unsigned cases;
};

static void expect_planned_rate(int kind, uint64_t items, double p, struct scatter *scatter) {
    perhaps_want want = PERHAPS_WANT(.kind = kind, .items = items, .fpr = p);
    struct perhaps_plan plan = {.size = sizeof plan};
    MUST(perhaps_plan(&want, &plan));
    uint64_t queries = queries_for(plan.fpr);
    if (items < 10 && takes_long(plan.fpr)) return;
    /* Too few false positives to tell a wrong rate from a right one. */
    if (plan.fpr * (double)queries < 50) return;
    uint64_t filters = filters_for(items);
    struct measurement first = measure(&want, plan.fpr, queries, filters, 0);
    double deviation = (first.rate - plan.fpr) / first.sigma;
    scatter->sum += deviation;
    scatter->cases++;
    if (fabs(deviation) <= 3) return;
    struct measurement again = measure(&want, plan.fpr, 4 * queries, 4 * filters, filters);
    CHECK(fabs(again.rate - plan.fpr) <= 3 * again.sigma,
          "%llu keys at %g: planned %.6g, measured %.6g and then %.6g with sigma %.2g", (unsigned long long)items, p,
          plan.fpr, first.rate, again.rate, again.sigma);
}

static uint64_t most_items(void) {
    return test_size() == TEST_SMALL ? 10000 : test_size() == TEST_NORMAL ? 300000 : 100000000;
}

static void measured_is_planned(const struct layout *layout) {
    if (layout->exact) return;
    static const double rates[] = {0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6};
    static const uint64_t counts[] = {1, 2, 10, 100, 1000, 10000, 100000, 1000000, 100000000};
    struct scatter scatter = {0, 0};
    for (size_t n = 0; n < sizeof counts / sizeof *counts && counts[n] <= most_items(); n++)
        for (size_t p = 0; p < sizeof rates / sizeof *rates; p++) {
            /* 10^8 queries each */
            bool slow = rates[p] < 1e-5 && (n % 6 || is_multiset(layout) || is_static(layout));
            if (slow && test_size() != TEST_LONG) continue;
            expect_planned_rate(layout->row->kind, counts[n], rates[p], &scatter);
        }
    double mean = scatter.sum / scatter.cases;
    CHECK(scatter.cases > 5 && fabs(mean) * sqrt(scatter.cases) <= 3.5,
          "the %u cases deviate by %.2f sigma on average: measured rates are %s than planned", scatter.cases, mean,
          mean > 0 ? "higher" : "lower");
}

/* Layouts that are requested by name keep their rates too. */
static void every_layout_has_its_rate(const struct layout *layout) {
    if (layout->exact) return;
    uint64_t queries = queries_for(layout->plan.fpr);
    if (layout->items < 1000 && takes_long(layout->plan.fpr)) return;
    if (layout->plan.fpr * (double)queries < 50) return;
    uint64_t filters = filters_for(layout->want.items);
    for (uint64_t attempt = 1; attempt <= 4; attempt *= 4) {
        struct measurement seen =
            measure(&layout->want, layout->plan.fpr, attempt * queries, attempt * filters, attempt * filters);
        if (fabs(seen.rate - layout->plan.fpr) <= 3 * seen.sigma) return;
        CHECK(attempt == 1, "planned %.6g, measured %.6g with sigma %.2g", layout->plan.fpr, seen.rate, seen.sigma);
    }
}

/* The rate that info reads off the bits of a full filter is the measured one, and near the planned
 * one. Composite filters stay below theirs: shards, generations and layers are planned for more
 * keys than they have at most times. A window with a mark is planned for the mark itself. */
static void the_live_rate_is_true(const struct layout *layout) {
    if (layout->exact) return;
    perhaps *f = make_with_members(layout, layout->items);
    struct perhaps_info info = info_of(f);
    /* At the smallest rates only gross errors show here; the plan below is sharper. */
    uint64_t queries = takes_long(layout->plan.fpr) ? 10000000 : queries_for(layout->plan.fpr);
    double sigma = sigma_of_queries(info.fpr_now, (double)queries);
    double measured = (double)count_false_positives(f, 0, queries) / (double)queries;
    CHECK(fabs(measured - info.fpr_now) <= 4 * sigma + 0.01 * info.fpr_now, "info says %.6g, measured %.6g, sigma %.2g",
          info.fpr_now, measured, sigma);
    bool below = is_composite(layout) && layout->want.clear_at == 0;
    double low = is_composite(layout) ? 0 : 0.9 * layout->plan.fpr, high = (below ? 1 : 1.1) * layout->plan.fpr;
    CHECK(info.fpr_now > low && info.fpr_now < high, "full, the rate is %.6g, the plan's %.6g", info.fpr_now,
          layout->plan.fpr);
    perhaps_free(f);
}

/* Beyond the planned keys: layers grow and generations go, and the rate stays below the wanted. */
static void the_rate_holds_forever(const struct layout *layout) {
    if (layout->exact || !(is_layered(layout) || forgets(layout))) return;
    perhaps *f = make(&layout->want);
    uint64_t queries = 200000;
    for (uint64_t part = 0; part < 10; part++) {
        add_members(f, part * layout->items / 2, layout->items / 2);
        double measured = (double)count_false_positives(f, part * queries, queries) / (double)queries;
        double wanted =
            /* It has a fill, not a rate. */
            layout->want.clear_at > 0 ? info_of(f).fpr_now : layout->want.fpr;
        CHECK(measured <= wanted + 4 * sigma_of_queries(wanted, (double)queries), "part %llu: wanted %g, measured %g",
              (unsigned long long)part, wanted, measured);
    }
    perhaps_free(f);
}

/* Integers that were never added are never found, near or far, even when the filter is full. */
static void exact_kinds_have_no_false_positives(const struct layout *layout) {
    if (!layout->exact) return;
    uint64_t n = layout->items;
    perhaps *f = make(&layout->want);
    for (uint64_t i = 0; i < n; i += 2) MUST(perhaps_add_u64(f, member_of(f, i)));
    for (uint64_t i = 0; i < n; i++)
        CHECK(perhaps_contains_u64(f, member_of(f, i)) == (i % 2 == 0), "wrong about key %llu", (unsigned long long)i);
    for (uint64_t i = 1; i < n; i += 2) MUST(perhaps_add_u64(f, member_of(f, i)));
    expect_members(f, 0, n);
    uint64_t found = count_false_positives(f, 0, queries_for(1e-4));
    CHECK(found == 0, "%llu non-members are found", (unsigned long long)found);
    struct perhaps_info info = info_of(f);
    CHECK(info.items == n && info.distinct == (double)n, "%llu items, %g distinct, of %llu",
          (unsigned long long)info.items, info.distinct, (unsigned long long)n);
    CHECK(info.fpr_now < 1e-9 && (layout->hashed || info.fpr_now == 0), "the rate is %g", info.fpr_now);
    perhaps_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOR_EACH_KIND(measured_is_planned, 1000),
        FOR_EACH_LAYOUT(every_layout_has_its_rate, 100),
        FOR_EACH_LAYOUT(every_layout_has_its_rate, 5000),
        FOR_EACH_LAYOUT(the_live_rate_is_true, 50000),
        FOR_EACH_KIND(exact_kinds_have_no_false_positives, 1),
        FOR_EACH_KIND(exact_kinds_have_no_false_positives, 100),
        FOR_EACH_KIND(exact_kinds_have_no_false_positives, 100003),
        FOR_EACH_COMPOSITE(exact_kinds_have_no_false_positives, 5000),
        FOR_EACH_COMPOSITE(the_live_rate_is_true, 5000),
        FOR_EACH_COMPOSITE(the_rate_holds_forever, 5000),
        FOR_EACH_STATIC_KIND(measured_is_planned, 1000),
        FOR_EACH_STATIC(every_layout_has_its_rate, 100),
        FOR_EACH_STATIC(every_layout_has_its_rate, 5000),
        FOR_EACH_STATIC(the_live_rate_is_true, 50000),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
