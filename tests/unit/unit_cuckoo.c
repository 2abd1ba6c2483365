/* The parts of the cuckoo filter: packed slots, places, the stash; and very full filters. */
#include "support.h"

#include "kind/cuckoo/cuckoo_layout.h"

#include <stdlib.h>
#include <string.h>

/* ---- slots ---- */

/* Every width at every place of a line: what is written is read, and neighbours are unchanged. */
static void slots_of_every_width(void **state) {
    (void)state;
    enum { SLOTS = 1500 };
    static uint8_t bytes[SLOTS * CUCKOO_SLOT_WIDTH_MAX / 8 + 64] __attribute__((aligned(64)));
    for (unsigned width = 1; width <= CUCKOO_SLOT_WIDTH_MAX; width++) {
        uint64_t expected[SLOTS] = {0}, mask = slot_mask(width);
        memset(bytes, 0, sizeof bytes);
        for (uint64_t turn = 0; turn < 4 * SLOTS; turn++) {
            uint64_t i = mix64(turn) % SLOTS, value = mix64(turn + width) & mask;
            bool filled = turn % 2 && slot_fill(bytes, i, width, value);
            CHECK(!(turn % 2) || filled == (expected[i] == 0), "width %u: slot_fill was wrong about slot %d", width,
                  (int)i);
            if (turn % 2 == 0) slot_set(bytes, i, width, value);
            if (turn % 2 == 0 || filled) expected[i] = value;
        }
        unsigned most = width <= CUCKOO_SLOT_WIDTH_THREE ? 3 : 2;
        for (uint64_t i = 0; i + most <= SLOTS; i++) {
            CHECK(slot_get(bytes, i, width) == expected[i], "width %u: slot %d changed", width, (int)i);
            for (unsigned count = 1; count <= most; count++)
                for (unsigned j = 0; j < count; j++)
                    CHECK((slots_at(bytes, i, width, slot_word_back(width, count)) >> j * width & mask) ==
                              expected[i + j],
                          "width %u: slot %d of the %u from slot %d on", width, (int)j, count, (int)i);
        }
    }
}

/* ---- places ---- */

static const uint64_t place_numbers[] = {4, 5, 6, 8};
enum { PLACE_NUMBERS = sizeof place_numbers / sizeof *place_numbers };

static void check_places(const struct array *a, uint64_t digest, uint64_t places) {
    uint64_t homes = a->layout[CUCKOO_HOMES];
    struct places all = places_of(a, key_of(a, digest), places);
    uint64_t most = (code_of(all.fingerprint, places) + places - 1) >> width_of(a);
    CHECK(all.fingerprint && most == 0, "fingerprint %llu has no room", (unsigned long long)all.fingerprint);
    for (uint64_t place = 0; place < places; place++) {
        uint64_t home = all.home[choice_of(place, places)], code = code_of(all.fingerprint, places) + place;
        CHECK(home < homes, "home %llu of %llu", (unsigned long long)home, (unsigned long long)homes);
        CHECK(slot_at(&all, place, places) < slots_of(a->layout), "a place behind the last slot");
        CHECK(fingerprint_in(code, places) == all.fingerprint && place_in(code, places) == place, "a code is misread");
        struct places back = places_at(a, slot_at(&all, place, places), code, places);
        CHECK(back.fingerprint == all.fingerprint, "another fingerprint came back");
        for (uint64_t c = 0; c < choices_of(places); c++) CHECK(back.home[c] == all.home[c], "another home came back");
    }
    for (uint64_t place = 0; choices_of(places) == 2 && place < places; place++)
        for (uint64_t other = 0; other < place; other++)
            CHECK(slot_at(&all, place, places) != slot_at(&all, other, places), "the windows of a key overlap");
}

/* From a digest to a key's places, and from each of them back to the same key. */
static void a_slot_knows_its_key(void **state) {
    (void)state;
    static const uint64_t sizes[] = {CUCKOO_HOMES_MIN, 9, 1000, 100000, (UINT64_C(1) << 33) + 7, CUCKOO_HOMES_MAX};
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
        for (size_t p = 0; p < PLACE_NUMBERS; p++) {
            struct array a = {.layout = {sizes[n], 9, place_numbers[p], 6}};
            cuckoo_derive(&a);
            for (uint64_t i = 0; i < 2000; i++) check_places(&a, mix64(i), place_numbers[p]);
        }
    }
}

/* Keys that look the same with longer fingerprints look the same in the layer below. */
static void longer_fingerprints_nest(void **state) {
    (void)state;
    for (size_t p = 0; p < PLACE_NUMBERS; p++) {
        uint64_t places = place_numbers[p];
        struct array below = {.layout = {1000, 9, places, 6}}, above = {.layout = {3000, 12, places, 6, 3}};
        cuckoo_derive(&below);
        cuckoo_derive(&above);
        for (uint64_t i = 0; i < 20000; i++) {
            struct key first = key_of(&below, mix64(i)), second = key_of(&above, mix64(i));
            CHECK((second.fingerprint - 1) >> 3 == first.fingerprint - 1, "the fingerprint is no continuation");
            CHECK(second.home / 3 == first.home, "the home is no part of the one below");
        }
    }
}

/* ---- the stash ---- */

static void the_stash_against_an_array(void **state) {
    (void)state;
    enum { CELLS = 40, KEYS = 60 };
    uint8_t bytes[STASH_HEAD + CELLS * STASH_CELL] = {0};
    struct stash stash = {bytes, CELLS};
    uint64_t copies[KEYS] = {0}, entries = 0;
    for (uint64_t turn = 0; turn < 20000; turn++) {
        uint64_t i = mix64(turn) % KEYS, who = mix64(i + 7), cell = stash_find(stash, who);
        CHECK((cell != STASH_NOWHERE) == (copies[i] != 0), "key %d is where it should not be", (int)i);
        if (copies[i]) {
            CHECK((stash_copies(stash, cell) & ~STASH_PLACELESS) == copies[i], "key %d has another number of copies",
                  (int)i);
            stash_take(stash, cell);
            copies[i]--;
            entries -= copies[i] == 0;
        } else {
            uint64_t some = 1 + turn % 3;
            bool put = stash_put(stash, who, some | (i % 2 ? STASH_PLACELESS : 0));
            CHECK(put == (entries < CELLS - CELLS / 8), "an eighth is to stay empty");
            if (put) copies[i] = some, entries++;
        }
        CHECK(stash_entries(stash) == entries, "the entries are miscounted");
    }
    for (uint64_t i = 0; i < KEYS; i++) {
        for (; copies[i]; copies[i]--) stash_take(stash, stash_find(stash, mix64(i + 7)));
    }
    for (size_t i = 0; i < sizeof bytes; i++) CHECK(bytes[i] == 0, "a trace of removed entries stays");
}

/* ---- whole filters ---- */

static perhaps *cuckoo(uint64_t items, double fpr, unsigned places, int growth) {
    return make(&PERHAPS_WANT(.kind = PERHAPS_CUCKOO, .items = items, .fpr = fpr, .hashes = places, .grow = growth));
}

/* What is planned fits, without growing, at every size and for every number of places. */
static void the_plan_fits(void **state) {
    (void)state;
    for (size_t p = 0; p < PLACE_NUMBERS; p++) {
        unsigned places = (unsigned)place_numbers[p];
        for (uint64_t items = 1; items < 50000; items += 1 + items / 7) {
            perhaps *f = cuckoo(items, 0.01, places, PERHAPS_GROW_NEVER);
            for (uint64_t i = 0; i < items; i++)
                CHECK(perhaps_add_u64(f, member(i + items)) == 1, "%u places, key %d of %d: %s", places, (int)i,
                      (int)items, perhaps_why());
            for (uint64_t i = 0; i < items; i++) CHECK(perhaps_contains_u64(f, member(i + items)) == 1, "lost");
            perhaps_free(f);
        }
    }
}

/* Full, with keys in the stash that have no slot; then emptied: they return to the slots. */
static void placeless_keys_come_back(void **state) {
    (void)state;
    perhaps *f = cuckoo(400000, 0.0001, 0, PERHAPS_GROW_NEVER), *empty = cuckoo(400000, 0.0001, 0, PERHAPS_GROW_NEVER);
    uint64_t in = 0;
    while (perhaps_add_u64(f, member(in)) == 1) in++;
    struct perhaps_info info = info_of(f);
    CHECK(info.stashed > 0 && info.fill > 0.93, "fill %g, stashed %d", info.fill, (int)info.stashed);
    CHECK(info.items == in, "items");
    for (uint64_t i = 0; i < in; i++) CHECK(perhaps_contains_u64(f, member(i)) == 1, "key %d is lost", (int)i);
    for (uint64_t i = 0; i < in / 2; i++) CHECK(perhaps_remove_u64(f, member(i)) == 1, "key %d is lost", (int)i);
    /* What may stay is a copy of a pair of home and fingerprint that a slot has too. */
    CHECK(info_of(f).stashed < info.stashed / 2, "%d are still in the stash", (int)info_of(f).stashed);
    for (uint64_t i = in / 2; i < in; i++) CHECK(perhaps_remove_u64(f, member(i)) == 1, "key %d is lost", (int)i);
    CHECK(perhaps_equal(f, empty), "not empty again");
    perhaps_free(f);
    perhaps_free(empty);
}

/* Copies of keys never keep others out: a planned number fits, however often each is added. */
static void copies_leave_room(void **state) {
    (void)state;
    for (uint64_t each = 2; each <= 9; each++) {
        perhaps *f = cuckoo(30000, 0.01, 0, PERHAPS_GROW_DEFAULT);
        for (uint64_t i = 0; i < 30000; i++)
            CHECK(perhaps_add_u64(f, member(i / each)) == 1, "%d copies each, add %d", (int)each, (int)i);
        for (uint64_t i = 0; i < 30000 / each; i++)
            CHECK(perhaps_count_u64(f, member(i)) >= (int64_t)each, "key %d has too few copies", (int)i);
        double distinct = info_of(f).distinct, expected = 30000.0 / (double)each;
        CHECK(distinct > 0.97 * expected && distinct < 1.03 * expected, "%g distinct keys of %g", distinct, expected);
        perhaps_free(f);
    }
}

static void one_key_four_billion_times(void **state) {
    (void)state;
    perhaps *f = cuckoo(1000, 0.01, 0, PERHAPS_GROW_NEVER), *sum = cuckoo(1000, 0.01, 0, PERHAPS_GROW_NEVER);
    CHECK(perhaps_add_u64(f, 7) == 1, "%s", perhaps_why());
    for (int i = 0; i < 33; i++) {
        CHECK(perhaps_merge(sum, f) == 0, "%s", perhaps_why());
        CHECK(perhaps_merge(f, f) == 0, "%s", perhaps_why());
    }
    CHECK(perhaps_count_u64(f, 7) == INT64_C(1) << 33, "doubled 33 times");
    CHECK(perhaps_count_u64(sum, 7) == (INT64_C(1) << 33) - 1, "the sum of 33 powers of two");
    CHECK(info_of(f).items == INT64_C(1) << 33, "doubled 33 times");
    perhaps_free(f);
    perhaps_free(sum);
}

/* At the upper end, what is planned is what the kind would open: or it is refused. */
static void the_largest_plan_is_sound(void **state) {
    (void)state;
    for (uint64_t bytes = UINT64_C(69256347000); bytes < UINT64_C(69256349000); bytes += 8) {
        perhaps_want want = PERHAPS_WANT(.kind = PERHAPS_CUCKOO, .items = 126305223400, .bytes = bytes);
        struct perhaps_plan plan = {.size = sizeof plan};
        CHECK(perhaps_plan(&want, &plan) < 0 || plan.bytes > bytes / 2, "a plan of %llu bytes for %llu",
              (unsigned long long)plan.bytes, (unsigned long long)bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_of_every_width),
        cmocka_unit_test(a_slot_knows_its_key),
        cmocka_unit_test(longer_fingerprints_nest),
        cmocka_unit_test(the_stash_against_an_array),
        cmocka_unit_test(the_plan_fits),
        cmocka_unit_test(placeless_keys_come_back),
        cmocka_unit_test(copies_leave_room),
        cmocka_unit_test(one_key_four_billion_times),
        cmocka_unit_test(the_largest_plan_is_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
