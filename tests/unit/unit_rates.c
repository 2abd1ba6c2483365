/* The planner's rates against counting every case, exact arithmetic, and simulation. */
#include "support.h"

#include "kind/kind.h"
#include "plan/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double planned(const struct kind *kind, uint64_t a, uint64_t b, uint64_t c, uint64_t items) {
    uint64_t layout[LAYOUT_WORDS] = {a, b, c};
    return kind->model->fpr(layout, items);
}

/* ---- bloom ---- */

/* All m^(k·n) ways in which n keys can throw k bits each, all equally likely. */
static double rate_by_counting(unsigned m, unsigned k, unsigned n) {
    uint64_t ways = 1;
    double sum = 0;
    for (unsigned i = 0; i < k * n; i++) ways *= m;
    for (uint64_t way = 0; way < ways; way++) {
        uint64_t set = 0, rest = way;
        for (unsigned i = 0; i < k * n; i++, rest /= m) set |= (uint64_t)1 << rest % m;
        sum += pow(__builtin_popcountll(set) / (double)m, k);
    }
    return sum / (double)ways;
}

static void tiny_bloom_rates_are_exact(void **state) {
    (void)state;
    for (unsigned m = 1; m <= 6; m++)
        for (unsigned k = 1; k <= 6; k++)
            for (unsigned n = 1; k * n <= 6; n++) {
                double plan = planned(&kind_bloom, m, k, 0, n), counted = rate_by_counting(m, k, n);
                CHECK(fabs(plan / counted - 1) < 1e-12, "%u bits, k = %u, %u keys: planned %.15g, counted %.15g", m, k,
                      n, plan, counted);
            }
}

/* The mean of (X/m)^k, where X bits are set after t throws, with every probability kept. */
static double rate_by_throws(size_t m, unsigned k, uint64_t throws) {
    double *chance = calloc(m + 1, sizeof *chance), mean = 0;
    CHECK(chance, "no memory");
    chance[0] = 1;
    for (uint64_t t = 0; t < throws; t++)
        for (size_t x = (t + 1 < m ? (size_t)t + 1 : m); x > 0; x--) {
            double stays = chance[x] * (double)x / (double)m;
            chance[x] = stays + chance[x - 1] * (double)(m - x + 1) / (double)m;
            if (x == 1) chance[0] = 0;
        }
    for (size_t x = 0; x <= m; x++) mean += chance[x] * pow((double)x / (double)m, k);
    free(chance);
    return mean;
}

static void bloom_rates_are_true_at_every_size(void **state) {
    (void)state;
    static const struct {
        size_t m;
        unsigned k;
        uint64_t items;
        double error;
    } cases[] = {{64, 7, 6, 1e-9},     {512, 4, 88, 1e-9},   {1023, 13, 53, 1e-9},  {1024, 3, 213, 2e-3},
                 {1025, 7, 107, 2e-3}, {1200, 20, 41, 2e-3}, {2000, 10, 139, 2e-3}, {3000, 30, 69, 2e-3},
                 {5000, 7, 520, 1e-3}, {5000, 1, 520, 1e-3}, {2000, 7, 2000, 1e-3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double plan = planned(&kind_bloom, cases[i].m, cases[i].k, 0, cases[i].items);
        double exact = rate_by_throws(cases[i].m, cases[i].k, cases[i].k * cases[i].items);
        CHECK(fabs(plan / exact - 1) < cases[i].error, "%zu bits, k = %u, %llu keys: planned %.12g, exact %.12g",
              cases[i].m, cases[i].k, (unsigned long long)cases[i].items, plan, exact);
    }
}

/* ---- blocked ---- */

/* Random bits as the kind sets them: which line, then one or two bits in each of eight lanes. */
static void throw_keys(uint64_t (*lines)[8], uint64_t count, unsigned bits_per_lane, uint64_t items, uint64_t *random) {
    for (uint64_t i = 0; i < items; i++) {
        uint64_t *line = lines[next_random(random) % count];
        for (int lane = 0; lane < 8; lane++) {
            uint64_t word = next_random(random);
            line[lane] |= (uint64_t)1 << word % 64;
            if (bits_per_lane == 2) line[lane] |= (uint64_t)1 << word / 64 % 64;
        }
    }
}

/* The exact rate: the mean over lines of the chance that all bits of a key are set. */
static double rate_of_bits(uint64_t (*lines)[8], uint64_t count, unsigned bits_per_lane) {
    double sum = 0;
    for (uint64_t i = 0; i < count; i++) {
        double rate = 1;
        for (int lane = 0; lane < 8; lane++) rate *= pow(__builtin_popcountll(lines[i][lane]) / 64.0, bits_per_lane);
        sum += rate;
    }
    return sum / (double)count;
}

struct simulation {
    double mean, sigma;
};

static struct simulation simulate(uint64_t lines_per_part, unsigned bits_per_lane, unsigned parts, uint64_t items) {
    int filters = test_size() == TEST_SMALL ? 60 : 300;
    uint64_t(*lines)[8] = calloc((size_t)lines_per_part, sizeof *lines), random = 99;
    CHECK(lines, "no memory");
    double sum = 0, squares = 0;
    for (int i = 0; i < filters; i++) {
        double rate = 1;
        for (unsigned part = 0; part < parts; part++) {
            memset(lines, 0, (size_t)lines_per_part * sizeof *lines);
            throw_keys(lines, lines_per_part, bits_per_lane, items, &random);
            rate *= rate_of_bits(lines, lines_per_part, bits_per_lane);
        }
        sum += rate;
        squares += rate * rate;
    }
    free(lines);
    double mean = sum / filters;
    return (struct simulation){mean, sqrt((squares / filters - mean * mean) / (filters - 1))};
}

static void blocked_rates_are_those_of_simulated_filters(void **state) {
    (void)state;
    static const struct {
        uint64_t lines; /* in each part */
        unsigned bits_per_lane, parts;
        uint64_t items;
    } cases[] = {{1, 1, 1, 1},      {1, 1, 1, 50},     {1, 2, 1, 30},      {2, 1, 1, 90},  {2, 2, 1, 60},
                 {3, 1, 2, 60},     {5, 1, 1, 250},    {10, 2, 2, 250},    {20, 1, 1, 20}, {50, 1, 1, 2500},
                 {100, 2, 1, 3300}, {100, 1, 2, 5000}, {300, 1, 1, 12000}, {7, 1, 1, 2000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned bits = cases[i].bits_per_lane, parts = cases[i].parts;
        double plan = planned(&kind_blocked, cases[i].lines * parts, 8 * bits, parts, cases[i].items);
        struct simulation seen = simulate(cases[i].lines, bits, parts, cases[i].items);
        CHECK(fabs(plan - seen.mean) <= 4 * seen.sigma + 1e-9 * plan,
              "%llu lines, %u bits a lane, %u lines a key, %llu keys: planned %.8g, simulated %.8g with sigma %.2g",
              (unsigned long long)cases[i].lines, bits, parts, (unsigned long long)cases[i].items, plan, seen.mean,
              seen.sigma);
    }
}

/* Rates fall with size and grow with keys: the search for a layout relies on it. */
static void rates_are_monotonic(void **state) {
    (void)state;
    for (size_t k = 0; k < kind_count; k++) {
        const struct model *model = kinds[k]->model;
        perhaps_want want = PERHAPS_WANT(.kind = kinds[k]->row.kind, .items = 1000, .fpr = 0.01);
        for (unsigned shape = 0; model->search && shape < model->search->variants; shape++) {
            uint64_t layout[LAYOUT_WORDS] = {0};
            if (!model->search->variant(shape, &want, layout)) continue;
            double before = INFINITY;
            for (uint64_t steps = 1; steps < 3000; steps += 1 + steps / 16) {
                if (!model->search->resize(layout, steps * model->search->step(layout))) continue;
                double rate = model->fpr(layout, 1000);
                CHECK(isinf(before) || rate <= before * (1 + 1e-9),
                      "%s, shape %u: %llu steps raise the rate from %.12g to %.12g", kinds[k]->row.name, shape,
                      (unsigned long long)steps, before, rate);
                CHECK(isinf(rate) || model->fpr(layout, 1001) >= rate * (1 - 1e-9),
                      "%s, shape %u: one key more lowers the rate", kinds[k]->row.name, shape);
                before = rate;
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiny_bloom_rates_are_exact),
        cmocka_unit_test(bloom_rates_are_true_at_every_size),
        cmocka_unit_test(blocked_rates_are_those_of_simulated_filters),
        cmocka_unit_test(rates_are_monotonic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
