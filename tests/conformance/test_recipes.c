/*
 * The recipe of keys: whatever is done with a filter, it keeps the one that it was made with, or is
 * refused; and a filter without one has the bytes it always had.
 */
#include "support.h"

#include <perhaps_embed.h>

#include <stdlib.h>
#include <string.h>

enum { ITEMS = 1000 };

static const perhaps_recipe some_recipes[] = {
    {.size = sizeof(perhaps_recipe), .form = PERHAPS_KEY_HEX},
    {.size = sizeof(perhaps_recipe), .form = PERHAPS_KEY_INT32, .field = 1, .delimiter = ';'},
    {.size = sizeof(perhaps_recipe), .form = PERHAPS_KEY_INT64, .records = PERHAPS_ZERO_TERMINATED},
    {.size = sizeof(perhaps_recipe), .form = PERHAPS_KEY_UTF16, .field = UINT32_MAX, .delimiter = 255},
    {.size = sizeof(perhaps_recipe), .form = PERHAPS_KEY_U64, .records = PERHAPS_RAW},
    {.size = sizeof(perhaps_recipe),
     .ignore_case = 1,
     .records = PERHAPS_ZERO_TERMINATED,
     .field = 2,
     .delimiter = '\t'},
    {.size = sizeof(perhaps_recipe), .field = 2, .delimiter = ','},
    {.size = sizeof(perhaps_recipe),
     .records = PERHAPS_CSV,
     .delimiter = ';',
     .header = 1,
     .trim = 1,
     .where = "name,2"},
    {.size = sizeof(perhaps_recipe), .records = PERHAPS_JSON_LINES, .where = ".user.id"},
    {.size = sizeof(perhaps_recipe), .ignore_case = 1, .field = 1, .delimiter = '\t', .ngram = 13},
    {.size = sizeof(perhaps_recipe), .ngram = UINT32_MAX},
};
enum { RECIPES = sizeof some_recipes / sizeof *some_recipes };

static bool is_same(const perhaps_recipe *a, const perhaps_recipe *b) {
    return a->size == b->size && a->form == b->form && a->ignore_case == b->ignore_case && a->records == b->records &&
           a->field == b->field && a->delimiter == b->delimiter && a->unknown == b->unknown && a->header == b->header &&
           a->trim == b->trim && strcmp(a->where, b->where) == 0 && a->ngram == b->ngram;
}

static void expect_recipe(const perhaps *f, const perhaps_recipe *recipe, const char *after) {
    perhaps_recipe told = PERHAPS_RECIPE(.form = -1, .unknown = -1);
    MUST(perhaps_recipe_of(f, &told));
    CHECK(is_same(&told, recipe), "after %s: form %d, case %d, records %d, field %u, delimiter %d", after, told.form,
          told.ignore_case, told.records, (unsigned)told.field, told.delimiter);
}

static perhaps *make_with(const struct layout *layout, const perhaps_recipe *recipe, uint64_t n) {
    perhaps_want want = layout->want;
    want.recipe = recipe;
    perhaps *f = make(&want);
    add_members(f, 0, n);
    seal(f);
    return f;
}

/* What it takes in an image is what plan and info say, and nothing without one. */
static void sizes_are_as_told(const struct layout *layout) {
    perhaps *plain = make_with(layout, NULL, 0), *zero = make_with(layout, &PERHAPS_RECIPE(.form = 0), 0);
    struct bytes image = image_of(plain);
    expect_unchanged(zero, image);
    for (size_t i = 0; i < RECIPES; i++) {
        perhaps_want want = layout->want;
        struct perhaps_plan plan = {.size = sizeof plan};
        want.recipe = &some_recipes[i];
        MUST(perhaps_plan(&want, &plan));
        perhaps *f = make_with(layout, &some_recipes[i], 0);
        struct bytes with = image_of(f);
        CHECK(is_static(layout) || with.length == plan.image_bytes, "%zu bytes, planned were %llu", with.length,
              (unsigned long long)plan.image_bytes);
        CHECK(with.length == info_of(f).image_bytes, "%zu bytes, info says %llu", with.length,
              (unsigned long long)info_of(f).image_bytes);
        CHECK(with.length >= image.length && with.length - image.length <= 4096, "%zu bytes more",
              with.length - image.length);
        free(with.data);
        perhaps_free(f);
    }
    free(image.data);
    perhaps_free(plain);
    perhaps_free(zero);
}

/* Opens what is in the file or in memory, with these flags, and looks. */
static void expect_opened(struct bytes image, const char *path, unsigned flags, const perhaps_recipe *recipe,
                          uint64_t n) {
    perhaps *f = NULL;
    int rc = path ? perhaps_open(&f, path, &PERHAPS_OPEN(.flags = flags))
                  : perhaps_open_memory(&f, image.data, image.length, &PERHAPS_OPEN(.flags = flags));
    bool may_fail = flags & PERHAPS_OPEN_WRITE && (rc == PERHAPS_ECANNOT || rc == PERHAPS_ESEALED);
    if (may_fail) return;
    MUST(rc);
    expect_recipe(f, recipe, "opening");
    expect_members(f, 0, n);
    if (flags & PERHAPS_OPEN_WRITE && info_of(f).can & PERHAPS_ADD) {
        MUST(perhaps_add_u64(f, member_of(f, 0)));
        MUST(perhaps_sync(f));
        expect_recipe(f, recipe, "a change in place");
    }
    perhaps_free(f);
}

static void images_keep_it(const struct layout *layout) {
    static const unsigned flags[] = {0, PERHAPS_OPEN_COPY, PERHAPS_OPEN_NO_VERIFY, PERHAPS_OPEN_WRITE, 0};
    for (size_t i = 0; i < RECIPES; i++) {
        perhaps *f = make_with(layout, &some_recipes[i], ITEMS), *copy;
        struct bytes image = image_of(f);
        const char *path = scratch("recipe.ph");
        const void *bytes;
        uint64_t length;
        MUST(perhaps_save(f, path));
        MUST(perhaps_image(f, &bytes, &length));
        expect_recipe(f, &some_recipes[i], "an image in place");
        CHECK(length == image.length, "%llu bytes in place, %zu written", (unsigned long long)length, image.length);
        for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) {
            expect_opened(image, NULL, flags[k], &some_recipes[i], remembered(layout, ITEMS));
            expect_opened(image, path, flags[k], &some_recipes[i], remembered(layout, ITEMS));
        }
        MUST(perhaps_clone(f, &copy));
        expect_recipe(copy, &some_recipes[i], "cloning");
        CHECK(perhaps_equal(f, copy) == 1, "a clone is another");
        perhaps_free(copy);
        perhaps_free(f);
        free(image.data);
    }
}

static void changes_keep_it(const struct layout *layout) {
    for (size_t i = 0; i < RECIPES; i++) {
        perhaps *f = make_with(layout, &some_recipes[i], ITEMS);
        if (info_of(f).can & PERHAPS_GROW) add_members(f, ITEMS, 4 * ITEMS);
        expect_recipe(f, &some_recipes[i], "growing");
        perhaps_compact(f);
        expect_recipe(f, &some_recipes[i], "compacting");
        int64_t length = perhaps_shape(f, NULL, 0);
        if (length > 0) {
            uint8_t *shape = malloc((size_t)length);
            perhaps *made;
            CHECK(shape, "no memory");
            perhaps_shape(f, shape, (size_t)length);
            MUST(perhaps_create_shape(&made, shape, (size_t)length, NULL));
            expect_recipe(made, &some_recipes[i], "making from a shape");
            CHECK(info_of(made).bytes == info_of(f).bytes || is_layered(layout) || grows(layout), "another shape");
            if (info_of(f).kind == PERHAPS_GROWING) MUST(perhaps_reshape(made, shape, (size_t)length));
            expect_recipe(made, &some_recipes[i], "reshaping");
            perhaps_free(made);
            free(shape);
        }
        MUST(perhaps_clear(f));
        expect_recipe(f, &some_recipes[i], "clearing");
        perhaps_free(f);
    }
}

/* A layer has none: it goes to the whole, and comes back. */
static void layers_give_it_to_the_whole(const struct layout *layout) {
    perhaps_want want = layout->want;
    want.fpr = 0.001;
    want.hashes = layout->row->kind == PERHAPS_CUCKOO ? 4 : 0;
    for (size_t i = 0; i < RECIPES; i++) {
        want.recipe = &some_recipes[i];
        perhaps *f = make(&want);
        add_members(f, 0, 100);
        struct bytes before = image_of(f);
        if (perhaps_grow_layers(&f, 0.01, 0, 0) == PERHAPS_OK) {
            expect_recipe(f, &some_recipes[i], "growing");
            expect_members(f, 0, 100);
            struct bytes whole = image_of(f);
            expect_opened(whole, NULL, PERHAPS_OPEN_COPY, &some_recipes[i], 100);
            free(whole.data);
            MUST(perhaps_ungrow_layers(&f));
            expect_recipe(f, &some_recipes[i], "peeling");
            expect_unchanged(f, before);
        }
        free(before.data);
        perhaps_free(f);
    }
}

static int (*const verbs[])(perhaps *, const perhaps *) = {perhaps_merge, perhaps_intersect, perhaps_subtract,
                                                           perhaps_differ};

static bool same_keys(const perhaps_recipe *a, const perhaps_recipe *b) {
    return a->form == b->form && a->ignore_case == b->ignore_case;
}

/* Different transformations do not combine, but in kinds of integers; different extraction does,
 * and the first one's stays. */
static void only_the_same_keys_combine(const struct layout *layout) {
    for (size_t i = 0; i < RECIPES; i++)
        for (size_t k = 0; k < RECIPES; k++)
            for (size_t verb = 0; verb < sizeof verbs / sizeof *verbs; verb++) {
                perhaps *into = make_with(layout, &some_recipes[i], 10),
                        *from = make_with(layout, &some_recipes[k], 20);
                bool fit = same_keys(&some_recipes[i], &some_recipes[k]) || !hashes_keys(layout);
                struct bytes before = image_of(into);
                int rc = verbs[verb](into, from);
                if (rc != PERHAPS_ECANNOT && rc != PERHAPS_ESEALED)
                    CHECK((rc == 0) == fit, "%zu and %zu: %d", i, k, rc);
                if (rc < 0) expect_unchanged(into, before);
                if (!fit) CHECK(perhaps_equal(into, from) == 0, "equal, with other keys");
                expect_recipe(into, &some_recipes[i], "combining");
                free(before.data);
                perhaps_free(into), perhaps_free(from);
            }
}

static void nonsense_is_refused(void **state) {
    (void)state;
    const perhaps_recipe wrong[] = {
        PERHAPS_RECIPE(.form = -1),
        PERHAPS_RECIPE(.form = PERHAPS_KEY_UTF16 + 1),
        PERHAPS_RECIPE(.records = -1),
        PERHAPS_RECIPE(.records = PERHAPS_JSON_LINES + 1, .where = "."),
        PERHAPS_RECIPE(.records = PERHAPS_JSON_LINES),
        PERHAPS_RECIPE(.records = PERHAPS_JSON_LINES, .where = ".a", .header = 1),
        PERHAPS_RECIPE(.records = PERHAPS_JSON_LINES, .where = ".a", .field = 1),
        PERHAPS_RECIPE(.records = PERHAPS_CSV, .where = "a", .field = 1),
        PERHAPS_RECIPE(.records = PERHAPS_TSV, .field = 1, .delimiter = ','),
        PERHAPS_RECIPE(.records = PERHAPS_WHITESPACE, .delimiter = ' '),
        PERHAPS_RECIPE(.records = PERHAPS_RAW, .form = PERHAPS_KEY_U64, .trim = 1),
        PERHAPS_RECIPE(.records = PERHAPS_RAW, .form = PERHAPS_KEY_U64, .where = "1,2"),
        PERHAPS_RECIPE(.records = PERHAPS_CSV, .delimiter = '\n'),
        PERHAPS_RECIPE(.records = PERHAPS_TSV, .where = "a\nb"),
        PERHAPS_RECIPE(.header = 2),
        PERHAPS_RECIPE(.trim = -1),
        PERHAPS_RECIPE(.records = PERHAPS_RAW),
        PERHAPS_RECIPE(.records = PERHAPS_RAW, .form = PERHAPS_KEY_U64, .field = 1),
        PERHAPS_RECIPE(.ignore_case = 1, .form = PERHAPS_KEY_HEX),
        PERHAPS_RECIPE(.delimiter = ','),
        PERHAPS_RECIPE(.field = 1, .delimiter = 256),
        PERHAPS_RECIPE(.field = 1, .delimiter = -1),
        PERHAPS_RECIPE(.unknown = 200),
        PERHAPS_RECIPE(.ngram = 5, .form = PERHAPS_KEY_U64),
        {.form = PERHAPS_KEY_HEX},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        perhaps *f;
        struct perhaps_plan plan = {.size = sizeof plan};
        perhaps_want want = PERHAPS_WANT(.items = 10, .fpr = 0.1, .recipe = &wrong[i]);
        REFUSED(PERHAPS_EINVAL, perhaps_create(&f, &want));
        REFUSED(PERHAPS_EINVAL, perhaps_plan(&want, &plan));
    }
}

/* All bytes of a text but the last may be used. */
static void long_texts_are_kept(void **state) {
    perhaps_recipe recipe = PERHAPS_RECIPE(.records = PERHAPS_TSV);
    perhaps *f;
    (void)state;
    memset(recipe.where, 'x', sizeof recipe.where);
    REFUSED(PERHAPS_EINVAL, perhaps_create(&f, &PERHAPS_WANT(.items = 10, .fpr = 0.1, .recipe = &recipe)));
    recipe.where[sizeof recipe.where - 1] = 0;
    f = make(&PERHAPS_WANT(.items = 10, .fpr = 0.1, .recipe = &recipe));
    struct bytes image = image_of(f);
    expect_opened(image, NULL, PERHAPS_OPEN_COPY, &recipe, 0);
    free(image.data);
    perhaps_free(f);
}

/* A tab is the usual delimiter, and told as such. */
static void a_tab_is_the_delimiter(void **state) {
    (void)state;
    perhaps *f = make(&PERHAPS_WANT(.items = 10, .fpr = 0.1, .recipe = &PERHAPS_RECIPE(.field = 3)));
    expect_recipe(f, &PERHAPS_RECIPE(.field = 3, .delimiter = '\t'), "making");
    perhaps_free(f);
    f = make(&PERHAPS_WANT(.items = 10, .fpr = 0.1, .recipe = &PERHAPS_RECIPE(.records = PERHAPS_CSV)));
    expect_recipe(f, &PERHAPS_RECIPE(.records = PERHAPS_CSV, .delimiter = ','), "making one of CSV");
    perhaps_free(f);
}

static void files_of_others_have_none(const struct layout *layout) {
    perhaps_want want = layout->want;
    perhaps *f;
    want.recipe = &some_recipes[0];
    REFUSED(PERHAPS_EINVAL, perhaps_create(&f, &want));
    f = make(&layout->want);
    expect_recipe(f, &PERHAPS_RECIPE(.form = 0), "making a file of another program");
    perhaps_free(f);
}

static int drop(void *context, const void *bytes, size_t length) {
    (void)context, (void)bytes, (void)length;
    return 0;
}

/* RedisBloom's bytes cannot tell of a transformation; our images of such filters can. */
static void bytes_of_others_have_none(void **state) {
    static const int kinds[] = {PERHAPS_REDIS_BLOOM, PERHAPS_REDIS_CUCKOO};
    (void)state;
    for (size_t i = 0; i < RECIPES * 2; i++) {
        const perhaps_recipe *recipe = &some_recipes[i / 2];
        perhaps *f = make(&PERHAPS_WANT(.kind = kinds[i % 2], .items = 100, .fpr = i % 2 ? 0 : 0.01, .recipe = recipe));
        int rc = perhaps_write_foreign(f, drop, NULL);
        CHECK(rc == (same_keys(recipe, &PERHAPS_RECIPE(.form = 0)) ? PERHAPS_OK : PERHAPS_ECANNOT), "%d", rc);
        struct bytes image = image_of(f);
        expect_opened(image, NULL, PERHAPS_OPEN_COPY, recipe, 0);
        free(image.data);
        perhaps_free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOR_EACH_FILTER(sizes_are_as_told, ITEMS),
        FOR_EACH_STATIC_KIND(sizes_are_as_told, ITEMS),
        FOR_EACH_FILTER(images_keep_it, ITEMS),
        FOR_EACH_STATIC_KIND(images_keep_it, ITEMS),
        FOR_EACH_FILTER(changes_keep_it, ITEMS),
        FOR_EACH_STATIC_KIND(changes_keep_it, ITEMS),
        FOR_EACH_KIND(layers_give_it_to_the_whole, ITEMS),
        FOR_EACH_FILTER(only_the_same_keys_combine, ITEMS),
        FOR_EACH_FILE(files_of_others_have_none, ITEMS),
        cmocka_unit_test(bytes_of_others_have_none),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(long_texts_are_kept),
        cmocka_unit_test(a_tab_is_the_delimiter),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
