/* Merge, intersect, clear, clone, equal, and what info says. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 3000, HALF = ITEMS / 2 };

/* Both have the same keys, each as often. Where arrays may differ, their answers must agree. */
static void expect_same_keys(const perhaps *a, const perhaps *b, const struct layout *layout, uint64_t n) {
    expect_members(a, 0, n);
    expect_members(b, 0, n);
    if (!order_matters(layout)) {
        CHECK(perhaps_equal(a, b) == 1, "the same keys, but not the same array");
        return;
    }
    for (uint64_t i = 0; is_multiset(layout) && i < n; i++) {
        int64_t in_a = MUST(perhaps_count_u64(a, member_of(a, i))), in_b = MUST(perhaps_count_u64(b, member_of(b, i)));
        CHECK(in_a == in_b, "key %llu: %lld copies and %lld", (unsigned long long)i, (long long)in_a, (long long)in_b);
    }
    CHECK(!is_exact(layout) || count_false_positives(a, 0, 10000) == 0, "a non-member came in");
    if (is_layered(layout)) return; /* keys of two layers count in both */
    CHECK(fabs(info_of(a).distinct - info_of(b).distinct) <= 0.01 * info_of(b).distinct, "%g keys and %g",
          info_of(a).distinct, info_of(b).distinct);
}

static void merge_is_adding_both(const struct layout *layout) {
    if (!(layout->row->can & PERHAPS_MERGE)) return;
    perhaps *a = make(&layout->want), *b = make(&layout->want), *both = make(&layout->want);
    add_members(a, 0, 2 * HALF / 3);
    add_members(b, HALF / 3, HALF);
    add_members(both, 0, 2 * HALF / 3);
    add_members(both, HALF / 3, HALF);
    struct bytes before = image_of(b);
    MUST(perhaps_merge(a, b));
    expect_unchanged(b, before);
    expect_same_keys(a, both, layout, HALF + HALF / 3);
    double items = (double)info_of(a).items, due = HALF + HALF / 3;
    if (is_multiset(layout)) due += HALF / 3;
    double error = is_exact(layout) || is_multiset(layout) ? 0 : is_layered(layout) ? 0.3 : 0.05;
    CHECK(fabs(items / due - 1) <= error, "items became %g of %g", items, due);
    free(before.data);
    perhaps_free(a);
    perhaps_free(b);
    perhaps_free(both);
}

static void merge_with_itself_or_nothing_adds_no_key(const struct layout *layout) {
    if (!(layout->row->can & PERHAPS_MERGE)) return;
    perhaps *a = make_with_members(layout, HALF), *twin = make_with_members(layout, HALF), *empty = make(&layout->want);
    MUST(perhaps_merge(a, empty));
    CHECK(perhaps_equal(a, twin) == 1, "merging an empty filter changed the array");
    MUST(perhaps_merge(empty, a));
    expect_same_keys(empty, twin, layout, HALF);
    MUST(perhaps_merge(a, a));
    if (is_multiset(layout)) add_members(twin, 0, HALF);
    expect_same_keys(a, twin, layout, HALF);
    CHECK(is_multiset(layout) || perhaps_equal(a, twin) == 1, "merging a filter with itself changed the array");
    perhaps_free(a);
    perhaps_free(twin);
    perhaps_free(empty);
}

/* Kinds that grow take in one of another size, whichever of the two is larger. */
static void merge_takes_other_sizes_where_it_grows(const struct layout *layout) {
    if (!grows(layout) || !(layout->row->can & PERHAPS_MERGE)) return;
    perhaps_want small = layout->want, large = layout->want;
    small.items = ITEMS / 30;
    large.items = ITEMS * 5;
    for (int turn = 0; turn < 2; turn++) {
        perhaps *into = make(turn ? &large : &small), *from = make(turn ? &small : &large);
        add_members(into, 0, turn ? ITEMS : ITEMS / 30);
        add_members(from, ITEMS / 30, ITEMS / 30);
        if (!turn) add_members(from, ITEMS / 15, ITEMS);
        struct bytes before = image_of(from);
        MUST(perhaps_merge(into, from));
        expect_unchanged(from, before);
        expect_members(into, 0, turn ? ITEMS : ITEMS + ITEMS / 15);
        CHECK(!is_exact(layout) || count_false_positives(into, 0, 10000) == 0, "a non-member came in");
        CHECK(!is_exact(layout) || info_of(into).items == (uint64_t)(turn ? ITEMS : ITEMS + ITEMS / 15),
              "%llu items are in it", (unsigned long long)info_of(into).items);
        free(before.data);
        perhaps_free(into);
        perhaps_free(from);
    }
}

/* Where growing was forbidden, or is not possible, a merge that does not fit changes nothing. */
static void a_merge_without_room_changes_nothing(const struct layout *layout) {
    if (!(layout->row->can & PERHAPS_MERGE) || is_layered(layout)) return;
    perhaps_want want = layout->want;
    want.grow = PERHAPS_GROW_NEVER;
    perhaps *into = make(&want);
    if (grows(layout)) want.items *= 10;
    perhaps *from = make(&want);
    add_members(into, 0, ITEMS);
    add_members(from, grows(layout) ? 9 * ITEMS : ITEMS, ITEMS);
    struct bytes before = image_of(into);
    int rc = perhaps_merge(into, from);
    CHECK(!grows(layout) || rc == PERHAPS_EFULL, "a filter that must not grow took in another: %d", rc);
    if (rc == PERHAPS_OK)
        expect_members(into, 0, 2 * ITEMS);
    else
        MUST_OR_FULL(rc), expect_unchanged(into, before);
    free(before.data);
    perhaps_free(into);
    perhaps_free(from);
}

static void intersect_keeps_common_keys(const struct layout *layout) {
    if (!(layout->row->can & PERHAPS_INTERSECT)) return;
    perhaps *a = make(&layout->want), *b = make(&layout->want), *empty = make(&layout->want);
    add_members(a, 0, 2 * HALF);
    add_members(b, HALF, 2 * HALF);
    uint64_t before = count_false_positives(a, 0, 100000);
    MUST(perhaps_intersect(a, b));
    expect_members(a, HALF, HALF);
    CHECK(count_false_positives(a, 0, 100000) <= before,
          "an intersection has more false positives than one of its parts");
    MUST(perhaps_intersect(a, empty));
    CHECK(perhaps_equal(a, empty) == 1, "the intersection with nothing is not empty");
    perhaps_free(a);
    perhaps_free(b);
    perhaps_free(empty);
}

static void expect_about(const perhaps *f, uint64_t keys, const char *when) {
    struct perhaps_info info = info_of(f);
    double off = ITEMS * 0.03 + 10;
    CHECK(fabs((double)info.items - (double)keys) <= off, "%s: %llu items where %llu keys are common", when,
          (unsigned long long)info.items, (unsigned long long)keys);
    CHECK(fabs(info.distinct - (double)keys) <= off, "%s: %g distinct keys where %llu are common", when, info.distinct,
          (unsigned long long)keys);
}

/* Bits that both have are partly those of distinct keys; they must not be counted. */
static void intersections_know_how_many_keys_they_have(const struct layout *layout) {
    static const uint64_t shares[] = {0, 1, 10, 50, 100}; /* of a hundred */
    for (size_t i = 0; layout->row->can & PERHAPS_INTERSECT && i < sizeof shares / sizeof *shares; i++) {
        uint64_t common = HALF * shares[i] / 100;
        perhaps *a = make_with_members(layout, HALF), *b = make(&layout->want), *again = NULL;
        add_members(b, HALF - common, HALF);
        MUST(perhaps_intersect(a, b));
        expect_about(a, common, "intersected");
        struct bytes image = image_of(a);
        MUST(perhaps_open_memory(&again, image.data, image.length, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY)));
        if (info_of(a).kind < PERHAPS_GUAVA) /* foreign formats have no place for it */
            expect_about(again, common, "opened again");
        perhaps_free(again);
        free(image.data);
        add_members(a, ITEMS, HALF / 2);
        expect_about(a, common + HALF / 2, "and keys added");
        MUST(perhaps_clear(a));
        add_members(a, 0, HALF);
        expect_about(a, HALF, "filled anew");
        perhaps_free(a);
        perhaps_free(b);
    }
}

/* What is in both, in one but not in the other: exact for those that can, whatever the sizes. */
static void differences_are_exact(const struct layout *layout) {
    if (!(layout->row->can & PERHAPS_SUBTRACT)) return;
    for (int turn = 0; turn < 8; turn++) {
        perhaps_want other = layout->want;
        if (turn & 1) other.items = 2 * ITEMS;
        if (turn & 2) other.items = ITEMS / 2;
        perhaps *a = make(&layout->want), *b = make(&other);
        for (uint64_t i = 0; i < ITEMS; i += 3) MUST(perhaps_add_u64(a, member_of(a, i)));
        for (uint64_t i = 0; i < other.items; i += 5) MUST(perhaps_add_u64(b, member_of(b, i)));
        bool differ = turn & 4;
        MUST(differ ? perhaps_differ(a, b) : perhaps_subtract(a, b));
        uint64_t most = other.items > ITEMS ? other.items : ITEMS, items = 0;
        for (uint64_t i = 0; i < most; i++) {
            bool in_a = i < ITEMS && i % 3 == 0, in_b = i < other.items && i % 5 == 0;
            bool due = differ ? in_a != in_b : in_a && !in_b;
            CHECK(perhaps_contains_u64(a, member_of(a, i)) == due, "%llu, after turn %d", (unsigned long long)i, turn);
            items += due;
        }
        CHECK(info_of(a).items == items, "%llu items where %llu are due", (unsigned long long)info_of(a).items,
              (unsigned long long)items);
        MUST(perhaps_subtract(a, a));
        CHECK(info_of(a).items == 0, "a filter less itself is not empty");
        perhaps_free(a);
        perhaps_free(b);
    }
}

/* ---- what a kind cannot do ---- */

struct verb {
    const char *name;
    unsigned ability;
    int (*run)(perhaps *into, const perhaps *from);
};

static const struct verb verbs[] = {
    {"merge", PERHAPS_MERGE, perhaps_merge},
    {"intersect", PERHAPS_INTERSECT, perhaps_intersect},
    {"subtract", PERHAPS_SUBTRACT, perhaps_subtract},
    {"differ", PERHAPS_SUBTRACT, perhaps_differ},
};
enum { VERBS = sizeof verbs / sizeof *verbs };

/* Each verb that is no ability of the kind is refused in words, and the filter stays as it was. */
static void what_a_kind_cannot_do_is_refused(const struct layout *layout) {
    perhaps *f = make_with_members(layout, HALF), *other = make_with_members(layout, HALF);
    struct bytes before = image_of(f);
    uint64_t key = member_of(f, 1), counts[1], at = 0, digest;
    uint8_t answer;
    unsigned can = layout->row->can;
    for (size_t i = 0; i < VERBS; i++)
        if (!(can & verbs[i].ability)) REFUSED(PERHAPS_ECANNOT, verbs[i].run(f, other));
    if (!(can & PERHAPS_REMOVE)) {
        REFUSED(PERHAPS_ECANNOT, perhaps_remove_u64(f, key));
        REFUSED(PERHAPS_ECANNOT, perhaps_remove_digest(f, key));
        REFUSED(PERHAPS_ECANNOT, perhaps_remove(f, "a", 1));
        REFUSED(PERHAPS_ECANNOT, perhaps_remove_many(f, &PERHAPS_KEYS_U64(&key, 0, 1), &answer));
        REFUSED(PERHAPS_ECANNOT, perhaps_remove_many(f, &PERHAPS_KEYS_DIGEST(&key, 1), NULL));
    }
    if (!(can & PERHAPS_COUNT)) {
        REFUSED(PERHAPS_ECANNOT, perhaps_count_u64(f, key));
        REFUSED(PERHAPS_ECANNOT, perhaps_count_digest(f, key));
        REFUSED(PERHAPS_ECANNOT, perhaps_count(f, "a", 1));
        REFUSED(PERHAPS_ECANNOT, perhaps_count_many(f, &PERHAPS_KEYS_U64(&key, 0, 1), counts));
        REFUSED(PERHAPS_ECANNOT, perhaps_count_many(f, &PERHAPS_KEYS_DIGEST(&key, 1), counts));
    }
    if (!(can & PERHAPS_LIST)) REFUSED(PERHAPS_ECANNOT, perhaps_next(f, &at, &digest));
    expect_unchanged(f, before);
    free(before.data);
    perhaps_free(f);
    perhaps_free(other);
}

/* Every key comes out once, as its digest, and a second filter can be made of what comes out. */
static void what_is_in_it_can_be_listed(const struct layout *layout) {
    if (!(layout->row->can & PERHAPS_LIST)) return;
    perhaps *f = make(&layout->want), *again = make(&layout->want);
    uint64_t at = 0, digest, listed = 0;
    CHECK(perhaps_next(f, &at, &digest) == 0, "an empty filter lists something");
    for (uint64_t i = 0; i < ITEMS; i += 7) MUST(perhaps_add_u64(f, member_of(f, i)));
    MUST(perhaps_add_digest(f, 0));
    for (at = 0; MUST(perhaps_next(f, &at, &digest)) == 1; listed++) {
        CHECK(perhaps_contains_digest(f, digest) == 1, "a listed digest is not in the filter");
        CHECK(perhaps_add_digest(again, digest) == 1, "a digest is listed twice");
    }
    CHECK(MUST(perhaps_next(f, &at, &digest)) == 0, "the list goes on after its end");
    CHECK(listed == info_of(f).items, "%llu of %llu keys are listed", (unsigned long long)listed,
          (unsigned long long)info_of(f).items);
    for (uint64_t i = 0; i < ITEMS; i += 7)
        CHECK(perhaps_contains_u64(again, member_of(f, i)) == 1, "key %llu was not listed", (unsigned long long)i);
    perhaps_free(f);
    perhaps_free(again);
}

/* Integers come in rising order, and one may begin anywhere. */
static void integers_are_listed_in_order(const struct layout *layout) {
    if (!(layout->row->can & PERHAPS_LIST) || hashes_keys(layout)) return;
    static const uint64_t ids[] = {0, 1, 63, 64, 65, 700, 2047, 2048, ITEMS - 1};
    enum { IDS = sizeof ids / sizeof *ids };
    perhaps *f = make(&layout->want);
    for (size_t i = 0; i < IDS; i++) MUST(perhaps_add_u64(f, ids[i]));
    for (uint64_t start = 0, i = 0; start < ITEMS + 200; start++) {
        uint64_t at = start, id = 0;
        while (i < IDS && ids[i] < start) i++;
        int more = (int)MUST(perhaps_next(f, &at, &id));
        CHECK(more == (i < IDS) && (!more || id == ids[i]), "from %llu on the next is %llu", (unsigned long long)start,
              (unsigned long long)id);
    }
    uint64_t at = UINT64_MAX, id;
    CHECK(perhaps_next(f, &at, &id) == 0, "there is something at the end of all integers");
    perhaps_free(f);
}

/* ---- filters that do not fit ---- */

static void expect_mismatch(const struct layout *layout, const perhaps_want *other_want, const char *field) {
    perhaps *a = make_with_members(layout, HALF), *b = make(other_want);
    add_members(b, 0, HALF);
    seal(b);
    struct bytes before = image_of(a);
    for (size_t i = 0; i < VERBS; i++) {
        if (!(layout->row->can & verbs[i].ability)) continue;
        REFUSED(PERHAPS_EMISMATCH, verbs[i].run(a, b));
        CHECK(strstr(perhaps_why(), field), "the reason does not name the %s: %s", field, perhaps_why());
    }
    CHECK(perhaps_equal(a, b) == 0, "filters of different %s are called equal", field);
    expect_unchanged(a, before);
    free(before.data);
    perhaps_free(a);
    perhaps_free(b);
}

static void what_differs_is_named(const struct layout *layout) {
    static const uint8_t key[16] = "0123456789abcde";
    perhaps_want want = layout->want;
    if (hashes_keys(layout)) {
        want.seed = 5;
        expect_mismatch(layout, &want, "seed");
        want = layout->want;
        want.hash = PERHAPS_SIPHASH;
        want.hash_key = key;
        expect_mismatch(layout, &want, "hash");
        want = layout->want;
    }
    want = want_for(layout, 10 * ITEMS);
    if (!grows(layout) && !is_static(layout))
        expect_mismatch(layout, &want, ""); /* the layout's words have the kind's own names */
    const struct perhaps_kind_row *other;
    for (size_t r = 0; (other = perhaps_kind(r)); r++) {
        if (other == layout->row) continue;
        want = PERHAPS_WANT(.kind = other->kind, .items = ITEMS, .fpr = 0.01);
        expect_mismatch(layout, &want, "kind");
    }
}

/* ---- clear, clone, equal ---- */

static void clear_forgets_everything(const struct layout *layout) {
    perhaps *f = make_with_members(layout, ITEMS), *fresh = make_with_members(layout, 0);
    MUST(perhaps_clear(f));
    seal(f);
    CHECK(perhaps_equal(f, fresh) == 1, "a cleared filter is not an empty one");
    CHECK(info_of(f).items == 0 && info_of(f).fill == 0, "a cleared filter has %llu items",
          (unsigned long long)info_of(f).items);
    MUST(perhaps_clear(f));
    add_members(f, 0, 10);
    seal(f);
    expect_members(f, 0, 10);
    perhaps_free(f);
    perhaps_free(fresh);
}

static void clones_go_their_own_way(const struct layout *layout) {
    perhaps *f = make_with_members(layout, HALF), *copy = NULL;
    struct bytes before = image_of(f);
    MUST(perhaps_clone(f, &copy));
    expect_unchanged(copy, before);
    CHECK(perhaps_equal(f, copy) == 1, "a clone is not equal");
    add_members(copy, HALF, HALF);
    CHECK(perhaps_equal(f, copy) == 0, "a changed clone is still called equal");
    expect_unchanged(f, before);
    perhaps_free(f);
    expect_members(copy, 0, ITEMS);
    perhaps_free(copy);
    free(before.data);
}

static void a_clone_of_a_borrowed_filter_can_change(const struct layout *layout) {
    perhaps *f = make_with_members(layout, HALF), *borrowed = NULL, *copy = NULL;
    struct bytes image = image_of(f);
    MUST(perhaps_open_memory(&borrowed, image.data, image.length, NULL));
    MUST(perhaps_clone(borrowed, &copy));
    perhaps_free(borrowed);
    memset(image.data, 0xFF, image.length);
    free(image.data);
    CHECK(info_of(copy).read_only == 0, "a clone is read-only");
    CHECK(perhaps_equal(f, copy) == 1, "a clone depends on the memory of its original");
    add_members(copy, HALF, HALF);
    expect_members(copy, 0, ITEMS);
    perhaps_free(copy);
    perhaps_free(f);
}

/* ---- info ---- */

static void info_tells_the_truth(const struct layout *layout) {
    perhaps_want want = layout->want;
    bool hashed = hashes_keys(layout);
    want.seed = hashed ? 99 : 0;
    perhaps *f = make(&want);
    struct perhaps_info info = info_of(f);
    CHECK(info.items == 0 && info.distinct == 0 && info.fill == 0, "an empty filter has %g keys, fill %g",
          info.distinct, info.fill);
    for (int part = 1; part <= 4; part++) {
        uint64_t n = layout->items * (uint64_t)part / 4;
        add_members(f, n - layout->items / 4, layout->items / 4);
        info = info_of(f);
        CHECK(fabs(info.distinct / (double)n - 1) < 0.05, "%llu keys are estimated as %g", (unsigned long long)n,
              info.distinct);
        double least = is_multiset(layout) ? (double)n : (double)n * (1 - 2 * info.fpr_target) - 1;
        CHECK(info.items <= n && (double)info.items >= least, "items is %llu of %llu", (unsigned long long)info.items,
              (unsigned long long)n);
        CHECK(info.fill > 0 && info.fill <= (is_exact(layout) ? 1 : 0.999), "fill is %g", info.fill);
    }
    CHECK(info.kind == layout->row->kind && strcmp(info.kind_name, layout->row->name) == 0, "kind %d %s", info.kind,
          info.kind_name);
    CHECK(info.can == layout->row->can, "can %x", info.can);
    CHECK(info.hash == (hashed ? PERHAPS_XXH3 : PERHAPS_IDENTITY), "hash %d", info.hash);
    CHECK(strcmp(info.hash_name, hashed ? "xxh3" : "identity") == 0, "hash %s", info.hash_name);
    CHECK(info.seed == want.seed && info.read_only == 0, "seed %llu", (unsigned long long)info.seed);
    CHECK(info.format_version >= 1 && info.isa[0], "version %u, isa %s", info.format_version, info.isa);
    CHECK(is_layered(layout) || fabs(info.bits_per_key - layout->plan.bits_per_key) < 1e-9, "bits per key %g",
          info.bits_per_key);
    perhaps_free(f);
}

/* Past its capacity a filter says that it is: it is full, or has grown, or its live rate rises
 * above the target. One that forgets is never past it. */
static void overfull_filters_say_so(const struct layout *layout) {
    perhaps *f = make(&layout->want);
    uint64_t many = 2 * layout->items, added = add_while_room(f, 0, many);
    struct perhaps_info info = info_of(f);
    if (grows(layout))
        CHECK(added == many && info.capacity >= many && info.bytes > layout->plan.bytes, "it is for %llu keys",
              (unsigned long long)info.capacity);
    else if (added == many && !forgets(layout))
        CHECK(info.fpr_now > 1.3 * info.fpr_target || info.fpr_now > 0.5, "twice too full, the rate is %g of %g",
              info.fpr_now, info.fpr_target);
    CHECK(added >= layout->items, "full after %llu of %llu keys", (unsigned long long)added,
          (unsigned long long)layout->items);
    perhaps_free(f);
}

/* Keys that look alike (numbers in a row, by the 2^32, one bit each) are as good as random ones. */
static void regular_keys_do_no_harm(const struct layout *layout) {
    static const int shifts[] = {0, 12, 32, 44};
    if (!hashes_keys(layout)) return;
    for (size_t s = 0; s < sizeof shifts / sizeof *shifts; s++) {
        perhaps *f = make(&layout->want);
        for (uint64_t i = 0; i < layout->items; i++) MUST(perhaps_add_u64(f, i << shifts[s]));
        seal(f);
        struct perhaps_info info = info_of(f);
        CHECK(fabs(info.distinct / (double)layout->items - 1) < 0.05, "numbers times 2^%d: %g keys seen", shifts[s],
              info.distinct);
        uint64_t found = 0, queries = is_composite(layout) ? 50000 : 200000;
        for (uint64_t i = 0; i < queries; i++)
            found += (uint64_t)perhaps_contains_u64(f, (layout->items + i) << shifts[s]);
        double expected = info.fpr_now * (double)queries;
        double error = is_exact(layout) ? 0.5 : 6 * sqrt(expected) + 6;
        CHECK(fabs((double)found - expected) <= error, "numbers times 2^%d: %llu false positives, %g expected",
              shifts[s], (unsigned long long)found, expected);
        perhaps_free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOR_EACH_LAYOUT(merge_is_adding_both, ITEMS),
        FOR_EACH_LAYOUT(merge_with_itself_or_nothing_adds_no_key, ITEMS),
        FOR_EACH_KIND(merge_takes_other_sizes_where_it_grows, ITEMS),
        FOR_EACH_LAYOUT(a_merge_without_room_changes_nothing, ITEMS),
        FOR_EACH_LAYOUT(intersect_keeps_common_keys, ITEMS),
        FOR_EACH_LAYOUT(intersections_know_how_many_keys_they_have, ITEMS),
        FOR_EACH_COMPOSITE(intersections_know_how_many_keys_they_have, ITEMS),
        FOR_EACH_FILE(intersections_know_how_many_keys_they_have, ITEMS),
        FOR_EACH_KIND(differences_are_exact, ITEMS),
        FOR_EACH_KIND(what_a_kind_cannot_do_is_refused, ITEMS),
        FOR_EACH_KIND(what_is_in_it_can_be_listed, ITEMS),
        FOR_EACH_KIND(integers_are_listed_in_order, ITEMS),
        FOR_EACH_KIND(what_differs_is_named, ITEMS),
        FOR_EACH_LAYOUT(clear_forgets_everything, ITEMS),
        FOR_EACH_LAYOUT(clones_go_their_own_way, ITEMS),
        FOR_EACH_LAYOUT(a_clone_of_a_borrowed_filter_can_change, ITEMS),
        FOR_EACH_LAYOUT(info_tells_the_truth, 40000),
        FOR_EACH_LAYOUT(overfull_filters_say_so, ITEMS),
        FOR_EACH_KIND(regular_keys_do_no_harm, 20000),
        FOR_EACH_COMPOSITE(merge_is_adding_both, ITEMS),
        FOR_EACH_COMPOSITE(merge_with_itself_or_nothing_adds_no_key, ITEMS),
        FOR_EACH_COMPOSITE(merge_takes_other_sizes_where_it_grows, ITEMS),
        FOR_EACH_COMPOSITE(a_merge_without_room_changes_nothing, ITEMS),
        FOR_EACH_COMPOSITE(intersect_keeps_common_keys, ITEMS),
        FOR_EACH_COMPOSITE(what_a_kind_cannot_do_is_refused, ITEMS),
        FOR_EACH_COMPOSITE(what_is_in_it_can_be_listed, ITEMS),
        FOR_EACH_COMPOSITE(what_differs_is_named, ITEMS),
        FOR_EACH_COMPOSITE(clear_forgets_everything, ITEMS),
        FOR_EACH_COMPOSITE(clones_go_their_own_way, ITEMS),
        FOR_EACH_COMPOSITE(a_clone_of_a_borrowed_filter_can_change, ITEMS),
        FOR_EACH_COMPOSITE(overfull_filters_say_so, ITEMS),
        FOR_EACH_COMPOSITE(info_tells_the_truth, 5000),
        FOR_EACH_COMPOSITE(regular_keys_do_no_harm, 5000),
        FOR_EACH_STATIC_KIND(what_a_kind_cannot_do_is_refused, ITEMS),
        FOR_EACH_STATIC_KIND(what_differs_is_named, ITEMS),
        FOR_EACH_STATIC(clear_forgets_everything, ITEMS),
        FOR_EACH_STATIC_KIND(regular_keys_do_no_harm, 20000),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
