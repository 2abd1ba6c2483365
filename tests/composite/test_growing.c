/*
 * Filters that grow in layers: the rate holds forever, nothing is lost, and the memory stays within
 * what was promised, however wrong the first guess was.
 */
#include "support.h"

#include <perhaps_embed.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int bases[] = {PERHAPS_BLOOM, PERHAPS_BLOCKED, PERHAPS_COUNTING, PERHAPS_CUCKOO};
enum { BASES = sizeof bases / sizeof *bases };

static bool is_set(int kind) {
    return kind == PERHAPS_BLOOM || kind == PERHAPS_BLOCKED;
}

static perhaps *make_growing(int kind, uint64_t items, double fpr) {
    return make(&PERHAPS_WANT(.kind = kind, .items = items, .fpr = fpr, .grow = PERHAPS_GROW_LAYERS));
}

static struct perhaps_info child_of(const perhaps *f, unsigned i) {
    struct perhaps_info info = {.size = sizeof info};
    MUST(perhaps_child(f, i, &info));
    return info;
}

/* ---- rates ---- */

/* At most the wanted rate, and the one that perhaps_info works out from the bits. */
static void expect_rate(const perhaps *f, double fpr) {
    uint64_t queries = test_size() == TEST_SMALL ? 100000 : test_size() == TEST_NORMAL ? 400000 : 4000000;
    double seen = (double)count_false_positives(f, 0, queries), most = fpr * (double)queries;
    struct perhaps_info info = info_of(f);
    double now = info.fpr_now * (double)queries;
    CHECK(info.fpr_target == fpr, "the target is %g, not %g", info.fpr_target, fpr);
    CHECK(seen <= most + 4 * sqrt(most), "%g of %g non-members are found, with %llu keys in %u layers; the rate is %g",
          seen, (double)queries, (unsigned long long)info.items, info.children, fpr);
    CHECK(fabs(seen - now) <= 4 * sqrt(now) + 0.03 * now + 4, "%g non-members are found, but fpr_now says %g", seen,
          now);
}

/* A key is stored unless an older layer says "perhaps" to it, by chance at most the rate. */
static void expect_items(const perhaps *f, int kind, double fpr, uint64_t n) {
    double lost = (double)n - (double)info_of(f).items, most = fpr * (double)n;
    CHECK(lost >= 0 && lost <= (is_set(kind) ? most + 4 * sqrt(most) : 0), "%g of %llu keys were not stored", lost,
          (unsigned long long)n);
}

/* ---- memory ---- */

static double planned_bits(int kind, uint64_t items, double fpr) {
    struct perhaps_plan plan = {.size = sizeof plan};
    MUST(perhaps_plan(&PERHAPS_WANT(.kind = kind, .items = items, .fpr = fpr), &plan));
    return 8 * (double)plan.bytes;
}

/* All layers but the newest are full, so they tell how large the filter was with how many keys when
 * each of them began and ended. The promise is for a million keys and more. */
static void expect_modest(const perhaps *f, int kind, double fpr) {
    double bits = 0;
    uint64_t keys = 0;
    unsigned judged = 0;
    for (unsigned i = 0; i < info_of(f).children; i++) {
        struct perhaps_info layer = child_of(f, i);
        double before = bits;
        bits += 8 * (double)layer.bytes;
        if (keys >= 1000000) {
            double planned = planned_bits(kind, keys, fpr);
            judged++;
            CHECK(before <= 1.75 * planned, "with %llu keys, full, it takes %.3f times the memory",
                  (unsigned long long)keys, before / planned);
            CHECK(bits <= 3.5 * planned, "with %llu keys and one more it takes %.3f times the memory",
                  (unsigned long long)keys, bits / planned);
        }
        keys += layer.items;
        if (keys >= 1000000 && keys - layer.items < 1000000)
            CHECK(bits <= 3.5 * planned_bits(kind, 1000000, fpr), "a million keys take %.3f times the memory",
                  bits / planned_bits(kind, 1000000, fpr));
    }
    CHECK(judged || test_size() == TEST_SMALL, "no layer began with a million keys: this tests nothing");
}

/* ---- from a thousand to a million, or a hundred ---- */

static uint64_t most_keys(int kind) {
    if (test_size() == TEST_SMALL) return 100000;
    return test_size() == TEST_NORMAL ? 1000000 : is_set(kind) || kind == PERHAPS_CUCKOO ? 100000000 : 10000000;
}

static void grow_to_powers_of_ten(int kind, double fpr) {
    perhaps *f = make_growing(kind, 1000, fpr);
    uint64_t in = 0;
    for (uint64_t n = 100; n <= most_keys(kind); n *= 10) {
        add_members(f, in, n - in);
        in = n;
        expect_members(f, 0, n);
        expect_items(f, kind, fpr, n);
        expect_rate(f, fpr);
    }
    if (kind == PERHAPS_BLOCKED || kind == PERHAPS_CUCKOO) {
        add_members(f, in, in * 5 / 4); /* so that a layer begins with more than a million */
        expect_modest(f, kind, fpr);
    }
    perhaps_free(f);
}

static void the_rate_and_the_memory_hold_while_it_grows(void **state) {
    (void)state;
    for (size_t i = 0; i < BASES; i++) {
        grow_to_powers_of_ten(bases[i], 0.01);
        grow_to_powers_of_ten(bases[i], 0.001);
    }
}

static void any_first_guess_will_do(void **state) {
    static const uint64_t guesses[] = {1, 2, 7};
    (void)state;
    for (size_t i = 0; i < BASES; i++)
        for (size_t g = 0; g < 3; g++) {
            perhaps *f = make_growing(bases[i], guesses[g], 0.01);
            for (uint64_t n = 0; n < 3000; n += 100) {
                add_members(f, n, 100);
                expect_members(f, 0, n + 100);
            }
            expect_items(f, bases[i], 0.01, 3000);
            expect_rate(f, 0.01);
            perhaps_free(f);
        }
}

/* The capacity is multiplied by `growth` with each layer. Layers that nest are whole multiples of
 * the one below, and come as near to it as that allows. */
static void growth_is_honoured(void **state) {
    static const double growths[] = {1.5, 2, 3, 4, 16};
    (void)state;
    for (size_t i = 0; i < BASES; i++)
        for (size_t g = 0; g < sizeof growths / sizeof *growths; g++) {
            perhaps *f = make(&PERHAPS_WANT(.kind = bases[i], .items = 200, .fpr = 0.01, .grow = PERHAPS_GROW_LAYERS,
                                            .growth = growths[g]));
            add_members(f, 0, 30000);
            expect_members(f, 0, 30000);
            expect_rate(f, 0.01);
            double total = (double)child_of(f, 0).capacity;
            for (unsigned layer = 1; layer < info_of(f).children; layer++) {
                double next = (double)child_of(f, layer).capacity, wanted = (growths[g] - 1) * total;
                double least = bases[i] == PERHAPS_CUCKOO ? wanted / 2 : wanted;
                double most = bases[i] == PERHAPS_CUCKOO ? fmax(wanted * 1.1, total) + 100 : wanted + 1;
                CHECK(next >= least && next <= most, "kind %d, layer %u is for %g keys over %g, with a growth of %g",
                      bases[i], layer, next, total, growths[g]);
                total += next;
            }
            CHECK(total == (double)info_of(f).capacity, "the capacity is not the sum of the layers'");
            perhaps_free(f);
        }
}

/* ---- keys that come again ---- */

static void known_keys_are_not_stored_again(void **state) {
    (void)state;
    for (size_t i = 0; i < BASES; i++) {
        perhaps *f = make_growing(bases[i], 100, 0.01);
        if (is_set(bases[i])) {
            add_members(f, 0, 20000);
            struct bytes before = image_of(f);
            add_members(f, 0, 20000);
            for (uint64_t k = 0; k < 20000; k += 7)
                CHECK(MUST(perhaps_add_u64(f, member(k))) == 0, "key %llu is new again", (unsigned long long)k);
            expect_unchanged(f, before);
            free(before.data);
        } else {
            for (int copy = 1; copy <= 3; copy++) {
                add_members(f, 0, 5000);
                CHECK(info_of(f).items == 5000 * (uint64_t)copy, "%llu items", (unsigned long long)info_of(f).items);
                CHECK(MUST(perhaps_count_u64(f, member(0))) >= copy, "a copy is missing");
            }
        }
        perhaps_free(f);
    }
}

/* ---- a limit ---- */

enum { LIMIT = 100000 };

/* Members stay, a refused batch does not: bit for bit in sets, key for key where keys move. */
static void expect_batch_refused(perhaps *f, int kind, uint64_t in) {
    enum { BATCH = 150000 };
    uint64_t *batch = calloc(BATCH, sizeof *batch);
    uint8_t *before = calloc(BATCH, 1), *after = calloc(BATCH, 1);
    struct bytes image = image_of(f);
    CHECK(batch && before && after, "no memory");
    for (uint64_t i = 0; i < BATCH; i++) batch[i] = member(in / 2 + i);
    MUST(perhaps_contains_many(f, &PERHAPS_KEYS_U64(batch, 0, BATCH), before));
    uint64_t items = info_of(f).items;
    REFUSED(PERHAPS_EFULL, perhaps_add_many(f, &PERHAPS_KEYS_U64(batch, 0, BATCH), NULL));
    if (is_set(kind)) expect_unchanged(f, image);
    REFUSED(PERHAPS_EFULL, perhaps_add_many(f, &PERHAPS_KEYS_U64(batch, 0, BATCH), after));
    if (is_set(kind)) expect_unchanged(f, image);
    MUST(perhaps_contains_many(f, &PERHAPS_KEYS_U64(batch, 0, BATCH), after));
    CHECK(kind == PERHAPS_COUNTING || memcmp(before, after, BATCH) == 0, "the batch left traces");
    CHECK(info_of(f).items == items, "%llu items, not %llu", (unsigned long long)info_of(f).items,
          (unsigned long long)items);
    expect_members(f, 0, in);
    free(batch);
    free(before);
    free(after);
    free(image.data);
}

static void max_bytes_is_a_limit(int kind) {
    perhaps *f =
        make(&PERHAPS_WANT(.kind = kind, .items = 100, .fpr = 0.01, .grow = PERHAPS_GROW_LAYERS, .max_bytes = LIMIT));
    add_members(f, 0, 5000);
    expect_batch_refused(f, kind, 5000);
    uint64_t in = 5000 + add_while_room(f, 5000, 1000000);
    CHECK(in < 1000000, "a filter with a limit took a million keys");
    CHECK(info_of(f).bytes <= LIMIT && info_of(f).bytes > LIMIT / 6, "%llu bytes",
          (unsigned long long)info_of(f).bytes);
    CHECK(info_of(f).max_bytes == LIMIT, "the limit is not shown");
    expect_members(f, 0, in);
    expect_batch_refused(f, kind, in);
    REFUSED(PERHAPS_EFULL, perhaps_add_u64(f, member(in)));
    if (is_set(kind)) CHECK(MUST(perhaps_add_u64(f, member(0))) == 0, "a known key is refused");
    expect_members(f, 0, in);
    expect_rate(f, 0.01);
    perhaps_free(f);
}

/* A batch of nothing but copies of one new key fits where that key does. */
static void copies_in_a_batch_are_one_key(void **state) {
    (void)state;
    enum { COPIES = 100000 };
    uint64_t *batch = malloc(COPIES * sizeof *batch);
    CHECK(batch, "no memory");
    for (int i = 0; i < COPIES; i++) batch[i] = member(7);
    for (unsigned shards = 0; shards <= 8; shards += 8) {
        perhaps_want want = PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = 100, .fpr = 0.01, .shards = shards);
        want.grow = PERHAPS_GROW_LAYERS;
        want.max_bytes = 4000;
        perhaps *f = make(&want);
        uint64_t bytes = info_of(f).bytes;
        CHECK(MUST(perhaps_add_many(f, &PERHAPS_KEYS_U64(batch, 0, COPIES), NULL)) == 1, "it is not one new key");
        CHECK(info_of(f).items == 1 && info_of(f).bytes == bytes, "%llu items", (unsigned long long)info_of(f).items);
        perhaps_free(f);
        want.max_bytes = 10;
        REFUSED(PERHAPS_ERANGE, perhaps_create(&f, &want));
    }
    free(batch);
}

static void a_limit_is_kept_and_nothing_is_lost(void **state) {
    (void)state;
    for (size_t i = 0; i < BASES; i++)
        if (bases[i] != PERHAPS_COUNTING) max_bytes_is_a_limit(bases[i]);
}

/* Layers of counters cannot remove, so only the limit is tested here, not a refused batch. */
static void a_limit_of_counters_is_kept(void **state) {
    (void)state;
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_COUNTING, .items = 100, .fpr = 0.01, .grow = PERHAPS_GROW_LAYERS,
                                    .max_bytes = LIMIT));
    uint64_t in = add_while_room(f, 0, 1000000);
    CHECK(in < 1000000 && info_of(f).bytes <= LIMIT, "%llu keys", (unsigned long long)in);
    expect_members(f, 0, in);
    expect_batch_refused(f, PERHAPS_COUNTING, in);
    perhaps_free(f);
}

/* ---- the same bytes ---- */

static void expect_same_image(perhaps *a, perhaps *b) {
    struct bytes image = image_of(a);
    expect_unchanged(b, image);
    free(image.data);
}

/* Keys 0..most-1 at random, so that many come again. */
static void add_both_ways(perhaps *batches, perhaps *singles, size_t n, uint64_t most, uint64_t *random) {
    static uint64_t keys[5000];
    static uint8_t answers[5000];
    for (size_t i = 0; i < n; i++) keys[i] = member(next_random(random) % most);
    int64_t sum = MUST(perhaps_add_many(batches, &PERHAPS_KEYS_U64(keys, 0, n), answers));
    for (size_t i = 0; i < n; i++) {
        int answer = (int)MUST(perhaps_add_u64(singles, keys[i]));
        CHECK(answers[i] == answer, "key %zu of a batch of %zu was answered %d, and %d alone", i, n, answers[i],
              answer);
        sum -= answer;
    }
    CHECK(sum == 0, "the batch was counted wrongly");
}

static void batches_are_single_calls(void **state) {
    (void)state;
    for (size_t i = 0; i < BASES; i++) {
        perhaps *batches = make_growing(bases[i], 10, 0.02), *singles = make_growing(bases[i], 10, 0.02);
        uint64_t random = i;
        for (int round = 0; round < 30; round++) {
            size_t n = (size_t)(next_random(&random) % (round % 3 ? 300 : 5000));
            add_both_ways(batches, singles, n, 30000, &random);
        }
        expect_same_image(batches, singles);
        perhaps_free(batches);
        perhaps_free(singles);
    }
}

/* Through a file, through memory, and as a clone: each goes on as the original does. */
static void copies_go_on_with_the_same_bytes(void **state) {
    (void)state;
    for (size_t i = 0; i < BASES; i++) {
        perhaps *f = make_growing(bases[i], 50, 0.005), *copies[3] = {NULL};
        add_members(f, 0, 7000);
        struct bytes image = image_of(f);
        MUST(perhaps_save(f, scratch("growing.ph")));
        MUST(perhaps_open(&copies[0], scratch("growing.ph"), &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY)));
        MUST(perhaps_open_memory(&copies[1], image.data, image.length, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY)));
        MUST(perhaps_clone(f, &copies[2]));
        add_members(f, 7000, 20000);
        for (int c = 0; c < 3; c++) {
            expect_unchanged(copies[c], image);
            add_members(copies[c], 7000, 20000);
            expect_same_image(f, copies[c]);
            CHECK(perhaps_equal(f, copies[c]) == 1, "two with the same image are not equal");
            perhaps_free(copies[c]);
        }
        free(image.data);
        perhaps_free(f);
    }
}

static void clearing_goes_back_to_the_first_layer(void **state) {
    (void)state;
    for (size_t i = 0; i < BASES; i++) {
        perhaps *f = make_growing(bases[i], 50, 0.005);
        struct bytes empty = image_of(f);
        for (int round = 0; round < 2; round++) {
            add_members(f, 0, 4000);
            CHECK(info_of(f).children > 2, "it did not grow");
            MUST(perhaps_clear(f));
            CHECK(info_of(f).children == 1 && info_of(f).items == 0, "it has %u layers", info_of(f).children);
            expect_unchanged(f, empty);
        }
        free(empty.data);
        perhaps_free(f);
    }
}

static void abilities_are_those_of_the_layers(void **state) {
    (void)state;
    for (size_t i = 0; i < BASES; i++) {
        perhaps *f = make_growing(bases[i], 50, 0.01);
        struct perhaps_info info = info_of(f);
        bool removes = bases[i] == PERHAPS_CUCKOO, counts = !is_set(bases[i]);
        add_members(f, 0, 500);
        CHECK(info.kind == PERHAPS_GROWING && info.base == bases[i] && info.grow == PERHAPS_GROW_LAYERS,
              "kind %d over %d", info.kind, info.base);
        CHECK(!!(info.can & PERHAPS_REMOVE) == removes && !!(info.can & PERHAPS_COUNT) == counts, "it can %x",
              info.can);
        CHECK(info.can & PERHAPS_GROW && info.can & PERHAPS_ADD, "it can %x", info.can);
        if (!removes) REFUSED(PERHAPS_ECANNOT, perhaps_remove_u64(f, member(1)));
        if (!counts) REFUSED(PERHAPS_ECANNOT, perhaps_count_u64(f, member(1)));
        perhaps_free(f);
    }
}

/* ---- an exact multiset beside layers of very short fingerprints ---- */

/*
 * With fingerprints of three to six bits many keys look the same, in every layer. A remove takes
 * the copy in the newest layer that has one, which may be that of a key that looks the same there;
 * if it did not look the same in the older layer where the removed key's own copy stays, that other
 * key would be lost. So this fails if `nest` in src/kind/cuckoo/cuckoo_fpr.c stacks layers on each
 * other that do not nest (with one home more than a multiple, or with longer fingerprints without
 * telling LONGER), and if growing.c removes from the oldest layer first.
 */
enum { UNIVERSE = 6000, MOST_COPIES = 3 };

struct model {
    perhaps *f;
    uint64_t random;
    uint16_t copies[UNIVERSE];
    uint64_t in;
};

static void expect_model(const struct model *model) {
    for (uint64_t k = 0; k < UNIVERSE; k++) {
        if (!model->copies[k]) continue;
        CHECK(perhaps_contains_u64(model->f, member(k)) == 1, "key %llu is missed", (unsigned long long)k);
        int64_t count = MUST(perhaps_count_u64(model->f, member(k)));
        CHECK(count >= model->copies[k], "%d copies of key %llu are counted as %lld", model->copies[k],
              (unsigned long long)k, (long long)count);
    }
    CHECK(info_of(model->f).items == model->in, "%llu items, not %llu", (unsigned long long)info_of(model->f).items,
          (unsigned long long)model->in);
}

static void add_to_model(struct model *model) {
    uint64_t k = next_random(&model->random) % UNIVERSE;
    if (model->copies[k] == MOST_COPIES) return;
    CHECK(MUST(perhaps_add_u64(model->f, member(k))) == 1, "key %llu was not added", (unsigned long long)k);
    model->copies[k]++;
    model->in++;
}

/* One that is in; how many were removed, 0 or 1. */
static unsigned remove_from_model(struct model *model) {
    if (!model->in) return 0;
    uint64_t k = next_random(&model->random) % UNIVERSE;
    while (!model->copies[k]) k = (k + 1) % UNIVERSE;
    CHECK(MUST(perhaps_remove_u64(model->f, member(k))) == 1, "key %llu, which is in, cannot be removed",
          (unsigned long long)k);
    model->copies[k]--;
    model->in--;
    return 1;
}

static void run_model(uint64_t items, double growth, uint64_t seed, unsigned removes) {
    struct model model = {.random = seed << 32};
    model.f = make(&PERHAPS_WANT(.kind = PERHAPS_CUCKOO, .items = items, .fpr = 0.99, .growth = growth,
                                 .grow = PERHAPS_GROW_LAYERS));
    uint64_t target = UNIVERSE;
    while (model.in < UNIVERSE / 2) add_to_model(&model);
    for (unsigned done = 0, steps = 0; done < removes; steps++) {
        if (steps % 4096 == 4095) target = next_random(&model.random) % (3 * UNIVERSE / 2);
        unsigned tilt = model.in < target ? 3 : 1;
        if (next_random(&model.random) % 4 < tilt)
            add_to_model(&model);
        else
            done += remove_from_model(&model);
        if (steps % 2048 == 0) expect_model(&model);
    }
    expect_model(&model);
    CHECK(info_of(model.f).children >= 2, "only %u layers", info_of(model.f).children);
    while (remove_from_model(&model)) continue;
    for (unsigned i = 0; i < info_of(model.f).children; i++)
        CHECK(child_of(model.f, i).fill == 0 && child_of(model.f, i).items == 0, "layer %u is not empty", i);
    perhaps_free(model.f);
}

static void no_legal_remove_loses_another_key(void **state) {
    static const double growths[] = {16, 4, 0, 2};
    static const uint64_t items[] = {1, 20, 400, 1000};
    unsigned removes = test_size() == TEST_SMALL ? 500 : test_size() == TEST_NORMAL ? 4000 : 100000;
    (void)state;
    for (uint64_t seed = 0; seed < 32; seed++) run_model(items[seed / 4 % 4], growths[seed % 4], seed, removes);
}

/* Whatever the rate, a filter can grow by layers, whether it was created to or is told to later. */
static void layers_go_on_at_every_rate(void **state) {
    enum { FIRST = 300, ALL = 3000 };
    double step = test_size() == TEST_SMALL ? 1.5 : 1.03;
    (void)state;
    for (double rate = 1e-5; rate < 0.05; rate *= step) {
        perhaps *made = make(&PERHAPS_WANT(.kind = PERHAPS_CUCKOO, .items = FIRST, .fpr = rate, .growth = 2,
                                           .grow = PERHAPS_GROW_LAYERS));
        perhaps *grown = make(&PERHAPS_WANT(.kind = PERHAPS_CUCKOO, .items = FIRST, .fpr = 0.88 * rate, .hashes = 4));
        MUST(perhaps_grow_layers(&grown, rate, 2, 0));
        for (uint64_t i = 0; i < ALL; i++) {
            CHECK(perhaps_add_u64(made, member(i)) == 1, "rate %g, key %d: %s", rate, (int)i, perhaps_why());
            CHECK(perhaps_add_u64(grown, member(i)) == 1, "rate %g, key %d: %s", rate, (int)i, perhaps_why());
        }
        perhaps_free(made);
        perhaps_free(grown);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rate_and_the_memory_hold_while_it_grows),
        cmocka_unit_test(any_first_guess_will_do),
        cmocka_unit_test(growth_is_honoured),
        cmocka_unit_test(layers_go_on_at_every_rate),
        cmocka_unit_test(known_keys_are_not_stored_again),
        cmocka_unit_test(copies_in_a_batch_are_one_key),
        cmocka_unit_test(a_limit_is_kept_and_nothing_is_lost),
        cmocka_unit_test(a_limit_of_counters_is_kept),
        cmocka_unit_test(batches_are_single_calls),
        cmocka_unit_test(copies_go_on_with_the_same_bytes),
        cmocka_unit_test(clearing_goes_back_to_the_first_layer),
        cmocka_unit_test(abilities_are_those_of_the_layers),
        cmocka_unit_test(no_legal_remove_loses_another_key),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
