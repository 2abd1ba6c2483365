/*
 * What a database needs of filters: shapes that make equal ones elsewhere, plain filters that begin
 * to grow, bytes that are changed where they lie, memory that is moved while filters live in it,
 * and facts without counting.
 */
#include "support.h"

#include <perhaps_embed.h>

#include <stdlib.h>
#include <string.h>

enum { ITEMS = 600, HEADER = 120 };

/* ---- shapes ---- */

static struct bytes shape_of(const perhaps *f) {
    size_t length = (size_t)MUST(perhaps_shape(f, NULL, 0));
    struct bytes shape = {malloc(length), length};
    CHECK(shape.data, "no memory for a shape");
    CHECK(MUST(perhaps_shape(f, shape.data, length)) == (int64_t)length, "the shape has another length now");
    return shape;
}

static perhaps *make_from(struct bytes shape) {
    perhaps *f = NULL;
    MUST(perhaps_create_shape(&f, shape.data, shape.length, NULL));
    return f;
}

static bool grows_in_layers(const perhaps *f) {
    return info_of(f).kind == PERHAPS_GROWING;
}

static void expect_same(perhaps *a, perhaps *b) {
    struct bytes image = image_of(a);
    CHECK(perhaps_equal(a, b) == 1, "two filters that should be equal are not");
    expect_unchanged(b, image);
    free(image.data);
}

static void shapes_make_the_same_layout(const struct layout *layout) {
    perhaps *empty = make(&layout->want), *f = make_with_members(layout, ITEMS);
    struct bytes shape = shape_of(empty), grown = shape_of(f);
    perhaps *copy = make_from(shape), *copy_of_grown = make_from(grown);
    expect_same(empty, copy);
    struct perhaps_info info = info_of(copy_of_grown);
    CHECK(info.items == 0 && info.fill == 0, "%llu items", (unsigned long long)info.items);
    CHECK(info.children == info_of(f).children && info.capacity == info_of(f).capacity, "%u children", info.children);
    struct bytes again = shape_of(copy_of_grown);
    CHECK(same_bytes(grown, again), "the shape of what a shape made is another");
    add_members(copy, 0, ITEMS);
    expect_same(f, copy);
    perhaps_free(empty), perhaps_free(f), perhaps_free(copy), perhaps_free(copy_of_grown);
    free(shape.data), free(grown.data), free(again.data);
}

/* Some keys, and many of one: what has counters or slots for copies must grow the same way too. */
static void add_batch(perhaps *f, uint64_t first, uint64_t n) {
    add_members(f, first, n);
    for (int i = 0; grows_in_layers(f) && i < 20; i++) MUST(perhaps_add_u64(f, member_of(f, first)));
}

/* The replica gets the shape before the keys for which the original has grown. */
static void replicas_grow_alike(const struct layout *layout) {
    perhaps *f = make(&layout->want);
    uint64_t keys = is_layered(layout) ? 20 * ITEMS : ITEMS;
    struct bytes shape = shape_of(f);
    perhaps *replica = make_from(shape);
    free(shape.data);
    for (uint64_t first = 0, n = 1; first + n <= keys; first += n, n = n % 700 + 97) {
        unsigned children = info_of(f).children;
        add_batch(f, first, n);
        shape = shape_of(f);
        if (info_of(f).children != children && grows_in_layers(f)) {
            struct bytes before = image_of(replica);
            MUST(perhaps_reshape(replica, shape.data, shape.length));
            expect_unchanged(replica, before);
            free(before.data);
        }
        free(shape.data);
        add_batch(replica, first, n);
        CHECK(perhaps_equal(f, replica) == 1, "they differ after %llu keys", (unsigned long long)(first + n));
    }
    expect_same(f, replica);
    perhaps_free(f), perhaps_free(replica);
}

/* ---- facts ---- */

static void expect_facts(const struct perhaps_info *facts, const struct perhaps_info *info) {
    struct perhaps_info due = *info;
    due.distinct = due.fill = due.fpr_now = due.loss = 0;
    due.stuck = due.stashed = 0;
    CHECK(facts->items == due.items && facts->bytes == due.bytes && facts->children == due.children, "%llu items",
          (unsigned long long)facts->items);
    CHECK(memcmp(facts, &due, sizeof due) == 0, "facts say something else than info");
}

static void facts_are_info_without_counting(const struct layout *layout) {
    perhaps *f = make_with_members(layout, ITEMS);
    struct perhaps_info facts = {.size = sizeof facts}, info = facts;
    MUST(perhaps_facts(f, &facts));
    MUST(perhaps_info(f, &info));
    expect_facts(&facts, &info);
    for (unsigned i = 0; i < info.children; i++) {
        struct perhaps_info child = {.size = sizeof child};
        MUST(perhaps_child_facts(f, i, &facts));
        MUST(perhaps_child(f, i, &child));
        expect_facts(&facts, &child);
    }
    REFUSED(PERHAPS_EINVAL, perhaps_child_facts(f, info.children, &facts));
    REFUSED(PERHAPS_EINVAL, perhaps_facts(f, &(struct perhaps_info){.size = 0}));
    perhaps_free(f);
}

static double sum_of_rates(const perhaps *f) {
    double sum = 0;
    for (unsigned i = 0; i < info_of(f).children; i++) {
        struct perhaps_info child = {.size = sizeof child};
        MUST(perhaps_child_facts(f, i, &child));
        sum += child.fpr_target;
    }
    return sum;
}

static void growth_is_as_wanted(void **state) {
    (void)state;
    for (unsigned shards = 0; shards < 4; shards += 3) {
        perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = 100, .fpr = 0.01, .shards = shards,
                                        .grow = PERHAPS_GROW_LAYERS, .growth = 2.5, .max_bytes = 3000000));
        CHECK(info_of(f).growth == 2.5 && info_of(f).max_bytes == 3000000, "a growth of %g", info_of(f).growth);
        perhaps_free(f);
    }
}

/* ---- in place ---- */

static perhaps *borrow(struct bytes image, unsigned flags) {
    perhaps *f = NULL;
    MUST(perhaps_open_memory(&f, image.data, image.length, &PERHAPS_OPEN(.flags = flags)));
    return f;
}

/* At an odd address, as part of something else. */
static struct bytes place_oddly(perhaps *f, uint8_t **memory) {
    struct bytes image = image_of(f);
    *memory = malloc(image.length + 3);
    CHECK(*memory, "no memory");
    memcpy(*memory + 3, image.data, image.length);
    free(image.data);
    return (struct bytes){*memory + 3, image.length};
}

static void bytes_are_changed_where_they_lie(const struct layout *layout) {
    perhaps *f = make_limited(layout), *more = make(&layout->want), *g = NULL;
    add_members(f, 0, ITEMS / 3);
    add_members(more, ITEMS / 3, ITEMS / 3);
    uint8_t *memory;
    struct bytes image = place_oddly(f, &memory);
    if (is_composite(layout)) {
        REFUSED(PERHAPS_ECANNOT,
                perhaps_open_memory(&g, image.data, image.length, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_WRITE)));
        CHECK(g == NULL, "it gave a filter");
    } else {
        perhaps *borrowed = borrow(image, PERHAPS_OPEN_WRITE | PERHAPS_OPEN_NO_VERIFY);
        CHECK(info_of(borrowed).read_only == 0, "it is read-only");
        add_members(f, ITEMS / 3, ITEMS / 3);
        add_members(borrowed, ITEMS / 3, ITEMS / 3);
        MUST(perhaps_sync(borrowed));
        expect_unchanged(f, image);
        int rc = perhaps_merge(f, more), same = perhaps_merge(borrowed, more);
        CHECK(rc == same, "merging answers %d and %d", rc, same);
        if (layout->row->can & PERHAPS_REMOVE)
            MUST(perhaps_remove_u64(f, member_of(f, 1))), MUST(perhaps_remove_u64(borrowed, member_of(f, 1)));
        MUST(perhaps_sync(borrowed));
        expect_unchanged(f, image);
        MUST(perhaps_clear(borrowed));
        MUST(perhaps_clear(f));
        /* Which needs no sync to leave the bytes alone, only to vouch for them. */
        perhaps_free(borrowed);
        borrowed = borrow(image, PERHAPS_OPEN_WRITE | PERHAPS_OPEN_NO_VERIFY);
        MUST(perhaps_clear(borrowed));
        MUST(perhaps_sync(borrowed));
        perhaps_free(borrowed);
        borrowed = borrow(image, 0);
        expect_same(f, borrowed);
        perhaps_free(borrowed);
    }
    perhaps_free(f), perhaps_free(more);
    free(memory);
}

/* What would have to grow is full, and stays sound. */
static void bytes_in_place_do_not_grow(const struct layout *layout) {
    perhaps *f = make(&layout->want);
    struct bytes image = image_of(f);
    perhaps *borrowed = borrow(image, PERHAPS_OPEN_WRITE);
    uint64_t n = 0, most = is_exact(layout) && !layout->hashed ? 2 * ITEMS : 20 * ITEMS;
    int rc = 0;
    while (n < most && (rc = perhaps_add_u64(borrowed, member_of(borrowed, n))) >= 0) n++;
    MUST_OR_FULL(rc);
    CHECK(!(layout->row->can & PERHAPS_GROW) || !layout->hashed || rc == PERHAPS_EFULL, "%llu keys were added",
          (unsigned long long)n);
    MUST(perhaps_sync(borrowed));
    perhaps *again = borrow(image, 0);
    expect_members(again, 0, n);
    CHECK(info_of(again).items == info_of(borrowed).items, "%llu items", (unsigned long long)info_of(again).items);
    perhaps_free(again), perhaps_free(borrowed), perhaps_free(f);
    free(image.data);
}

/* ---- plain filters that begin to grow ---- */

static perhaps *make_first(const struct layout *layout, double fpr) {
    perhaps_want want = layout->want;
    want.items = ITEMS / 3;
    want.fpr = fpr;
    return make(&want);
}

static bool can_be_layer(const struct layout *layout) {
    return !is_composite(layout) && !(layout->row->can & PERHAPS_GROW);
}

static void plain_filters_begin_to_grow(const struct layout *layout) {
    perhaps *f = make_first(layout, 0.007);
    if (!can_be_layer(layout)) {
        REFUSED(PERHAPS_ECANNOT, perhaps_grow_layers(&f, 0.01, 0, 0));
        perhaps_free(f);
        return;
    }
    add_members(f, 0, ITEMS / 3);
    MUST(perhaps_grow_layers(&f, 0.01, 0, 0));
    struct perhaps_info info = info_of(f);
    CHECK(info.kind == PERHAPS_GROWING && info.base == layout->row->kind && info.children == 1, "kind %d", info.kind);
    CHECK(info.fpr_target == 0.01 && info.capacity == ITEMS / 3, "a rate of %g", info.fpr_target);
    add_members(f, ITEMS / 3, 30 * ITEMS);
    expect_members(f, 0, 30 * ITEMS + ITEMS / 3);
    CHECK(info_of(f).children > 2, "it has %u layers", info_of(f).children);
    CHECK(sum_of_rates(f) < 0.01 && info_of(f).fpr_now < 0.01, "rates sum to %g", sum_of_rates(f));
    CHECK(count_false_positives(f, 0, 100000) < 1100, "%llu non-members",
          (unsigned long long)count_false_positives(f, 0, 100000));
    REFUSED(PERHAPS_ECANNOT, perhaps_ungrow_layers(&f));
    struct bytes image = image_of(f);
    perhaps *copy = borrow(image, PERHAPS_OPEN_COPY);
    expect_same(f, copy);
    perhaps_free(f), perhaps_free(copy);
    free(image.data);
}

static void ungrowing_undoes_growing(const struct layout *layout) {
    if (!can_be_layer(layout)) return;
    perhaps *f = make_first(layout, 0.007);
    add_members(f, 0, ITEMS / 3);
    struct bytes before = image_of(f);
    REFUSED(PERHAPS_ECANNOT, perhaps_ungrow_layers(&f));
    MUST(perhaps_grow_layers(&f, 0.5, 16, 1000000));
    CHECK(info_of(f).growth == 16 && info_of(f).max_bytes == 1000000, "a growth of %g", info_of(f).growth);
    REFUSED(PERHAPS_ECANNOT, perhaps_grow_layers(&f, 0.6, 0, 0));
    MUST(perhaps_ungrow_layers(&f));
    expect_unchanged(f, before);
    add_members(f, 0, 1);
    perhaps_free(f);
    perhaps *borrowed = borrow(before, PERHAPS_OPEN_WRITE);
    REFUSED(PERHAPS_ECANNOT, perhaps_grow_layers(&borrowed, 0.5, 0, 0));
    perhaps_free(borrowed);
    free(before.data);
}

static void nonsense_does_not_grow(const struct layout *layout) {
    if (!can_be_layer(layout)) return;
    perhaps *f = make_first(layout, 0.007), *same = f;
    struct bytes before = image_of(f);
    double zero = 0, rates[] = {0, -1, 0.001, info_of(f).fpr_target, 1, 2, zero / zero};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        REFUSED(PERHAPS_EINVAL, perhaps_grow_layers(&f, rates[i], 0, 0));
    double growths[] = {-0.9, -17, 1, 1.4, 17, 1e300, zero / zero};
    for (size_t i = 0; i < sizeof growths / sizeof *growths; i++)
        REFUSED(PERHAPS_EINVAL, perhaps_grow_layers(&f, 0.01, growths[i], 0));
    CHECK(f == same, "another filter after a refusal");
    expect_unchanged(f, before);
    free(before.data);
    perhaps_free(f);
}

/* ---- moving ---- */

/* Memory that knows its size and its total. What is moved leaves nothing usable behind. */
struct estate {
    int64_t blocks;
    uint64_t moved, requests;
    bool stubborn;    /* every second piece stays */
    unsigned fail_in; /* after that many more blocks there is no memory, once; 0 = never */
};

enum { FRONT = 64 };

static void *estate_allocate(void *context, size_t size) {
    struct estate *estate = context;
    if (estate->fail_in && --estate->fail_in == 0) return NULL;
    uint8_t *block = aligned_alloc(FRONT, FRONT + (size + FRONT - 1) / FRONT * FRONT);
    if (!block) return NULL;
    memcpy(block, &size, sizeof size);
    estate->blocks++;
    return block + FRONT;
}

static void estate_release(void *context, void *memory, size_t size) {
    struct estate *estate = context;
    size_t known;
    memcpy(&known, (uint8_t *)memory - FRONT, sizeof known);
    CHECK(known == size, "a block of %zu bytes came back as %zu", known, size);
    memset(memory, 0xEE, size);
    estate->blocks--;
    free((uint8_t *)memory - FRONT);
}

static void *estate_move(void *context, void *memory, size_t size) {
    struct estate *estate = context;
    if (estate->stubborn && estate->requests++ % 2) return NULL;
    void *place = estate_allocate(estate, size);
    CHECK(place, "no memory");
    memcpy(place, memory, size);
    estate_release(estate, memory, size);
    estate->moved++;
    return place;
}

static void use_scratch_and_image(perhaps *f) {
    enum { MANY = 5000 };
    static uint64_t keys[MANY];
    const void *bytes;
    uint64_t length;
    for (size_t i = 0; i < MANY; i++) keys[i] = member_of(f, i);
    MUST(perhaps_contains_many(f, &PERHAPS_KEYS_U64(keys, 0, MANY), NULL));
    MUST(perhaps_image(f, &bytes, &length));
}

static const perhaps_recipe some_recipe = {
    .size = sizeof some_recipe, .form = PERHAPS_KEY_HEX, .field = 2, .delimiter = ','};

static void filters_move_while_they_live(const struct layout *layout) {
    struct estate estate = {0};
    perhaps_allocator allocator = {.allocate = estate_allocate, .release = estate_release, .context = &estate};
    perhaps_want want = layout->want;
    want.allocator = &allocator;
    want.recipe = &some_recipe;
    perhaps *f = make(&want);
    for (uint64_t first = 0; first < ITEMS; first += ITEMS / 3) {
        if (is_static(layout)) MUST(perhaps_clear(f));
        add_members(f, first, ITEMS / 3);
        seal(f);
        use_scratch_and_image(f);
        struct bytes before = image_of(f);
        estate.moved = estate.requests = 0;
        int64_t blocks = estate.blocks;
        f = perhaps_relocate(f, estate_move, &estate);
        CHECK(estate.blocks == blocks, "%lld blocks became %lld", (long long)blocks, (long long)estate.blocks);
        CHECK(estate.stubborn || (int64_t)estate.moved == blocks, "%llu of %lld pieces moved",
              (unsigned long long)estate.moved, (long long)blocks);
        expect_unchanged(f, before);
        estate.stubborn = !estate.stubborn;
        free(before.data);
    }
    perhaps_free(f);
    CHECK(estate.blocks == 0, "%lld blocks are left", (long long)estate.blocks);
}

/* Counters of many threads move, locks need not. */
static void shared_filters_move(void **state) {
    (void)state;
    static const int kinds[] = {PERHAPS_BLOCKED, PERHAPS_CUCKOO};
    for (size_t i = 0; i < 2; i++) {
        struct estate estate = {0};
        perhaps_allocator allocator = {.allocate = estate_allocate, .release = estate_release, .context = &estate};
        perhaps *f = make(&PERHAPS_WANT(.kind = kinds[i], .items = ITEMS, .fpr = 0.01, .shards = 4, .shared = 1,
                                        .allocator = &allocator));
        add_members(f, 0, ITEMS / 2);
        f = perhaps_relocate(f, estate_move, &estate);
        add_members(f, ITEMS / 2, ITEMS / 2);
        expect_members(f, 0, ITEMS);
        perhaps_free(f);
        CHECK(estate.blocks == 0, "%lld blocks are left", (long long)estate.blocks);
    }
}

/* ---- without memory ---- */

static int grow_layers(perhaps **f, struct bytes shape) {
    (void)shape;
    return perhaps_grow_layers(f, 0.5, 0, 0);
}

/* A copy grows a layer and ungrows; if ungrowing fails, it is as it was. */
static int grow_and_ungrow(perhaps **f, struct bytes shape) {
    perhaps *copy;
    (void)shape;
    int rc = perhaps_clone(*f, &copy);
    if (rc == PERHAPS_OK) rc = perhaps_grow_layers(&copy, 0.5, 0, 0);
    bool grown = rc == PERHAPS_OK;
    if (grown) rc = perhaps_ungrow_layers(&copy);
    if (grown) {
        CHECK((info_of(copy).kind == PERHAPS_GROWING) == (rc < 0), "kind %d after %d", info_of(copy).kind, rc);
        expect_members(copy, 0, 10);
    }
    perhaps_free(copy);
    return rc;
}

static int reshape(perhaps **f, struct bytes shape) {
    return perhaps_reshape(*f, shape.data, shape.length);
}

/* Lets the first, second, ... allocation fail until there are no more. */
static void fail_in_turn(const perhaps_want *theirs, int (*run)(perhaps **f, struct bytes shape), struct bytes shape) {
    int rc = PERHAPS_ENOMEM;
    for (unsigned fail = 1; rc < 0; fail++) {
        struct estate estate = {0};
        perhaps_allocator allocator = {.allocate = estate_allocate, .release = estate_release, .context = &estate};
        perhaps_want want = *theirs;
        want.allocator = &allocator;
        perhaps *f = make(&want), *same = f;
        add_members(f, 0, 10);
        struct bytes before = image_of(f);
        estate.fail_in = fail;
        rc = run(&f, shape);
        estate.fail_in = 0;
        CHECK(rc == PERHAPS_OK || rc == PERHAPS_ENOMEM, "%d: %s", rc, perhaps_why());
        CHECK(rc == PERHAPS_OK || f == same, "another filter after a failure");
        if (rc < 0) expect_unchanged(f, before);
        expect_members(f, 0, 10);
        add_members(f, 10, ITEMS / 3);
        free(before.data);
        perhaps_free(f);
        CHECK(estate.blocks == 0, "%lld blocks are left", (long long)estate.blocks);
        CHECK(rc < 0 || fail > 1, "nothing was allocated");
    }
}

static void without_memory_nothing_changes(const struct layout *layout) {
    perhaps_want want = layout->want;
    want.items = ITEMS;
    if (can_be_layer(layout)) fail_in_turn(&want, grow_layers, (struct bytes){0});
    want.recipe = &some_recipe;
    if (can_be_layer(layout)) fail_in_turn(&want, grow_layers, (struct bytes){0});
    if (can_be_layer(layout)) fail_in_turn(&want, grow_and_ungrow, (struct bytes){0});
    want.recipe = NULL;
    perhaps *f = make_with_members(layout, 20);
    bool layers = grows_in_layers(f);
    perhaps_free(f);
    if (!layers) return;
    want.items = 20;
    f = make(&want);
    add_members(f, 0, 30 * ITEMS);
    struct bytes shape = shape_of(f);
    fail_in_turn(&want, reshape, shape);
    free(shape.data);
    perhaps_free(f);
}

int main(void) {
    const struct CMUnitTest all[] = {
        FOR_EACH_FILTER(shapes_make_the_same_layout, ITEMS),
        FOR_EACH_COMPOSITE(replicas_grow_alike, ITEMS),
        FOR_EACH_FILTER(facts_are_info_without_counting, ITEMS),
        cmocka_unit_test(growth_is_as_wanted),
        FOR_EACH_LAYOUT(bytes_are_changed_where_they_lie, ITEMS),
        FOR_EACH_COMPOSITE(bytes_are_changed_where_they_lie, ITEMS),
        FOR_EACH_LAYOUT(bytes_in_place_do_not_grow, ITEMS),
        FOR_EACH_FILTER(plain_filters_begin_to_grow, ITEMS),
        FOR_EACH_KIND(ungrowing_undoes_growing, ITEMS),
        FOR_EACH_KIND(nonsense_does_not_grow, ITEMS),
        FOR_EACH_FILTER(filters_move_while_they_live, ITEMS),
        cmocka_unit_test(shared_filters_move),
        FOR_EACH_FILTER(without_memory_nothing_changes, ITEMS),
        FOR_EACH_STATIC_KIND(facts_are_info_without_counting, ITEMS),
        FOR_EACH_STATIC_KIND(filters_move_while_they_live, ITEMS),
    };
    return cmocka_run_group_tests(all, NULL, remove_scratch);
}
