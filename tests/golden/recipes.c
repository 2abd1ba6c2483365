#include "recipes.h"
#include "chosen.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const uint8_t golden_key[16] = {0x67, 0x6F, 0x6C, 0x64, 0x65, 0x6E, 0x20, 0x6B,
                                0x65, 0x79, 0x20, 0x6F, 0x66, 0x20, 0x31, 0x36};

/* MORE keys need more than one block of checksums, and TWO_PARTS of a static filter two parts. */
enum { SEED = 7, SOME = 20000, MANY = 100000, MORE = 1000000, TWO_PARTS = 1500000 };

const perhaps_recipe golden_recipe = {.size = sizeof golden_recipe,
                                      .ignore_case = 1,
                                      .records = PERHAPS_ZERO_TERMINATED,
                                      .field = 70000,
                                      .delimiter = ','};

const perhaps_recipe golden_csv = {.size = sizeof golden_csv,
                                   .records = PERHAPS_CSV,
                                   .delimiter = ';',
                                   .where = "id,\"last, first\",3",
                                   .header = 1,
                                   .trim = 1};

/* ---- keys ---- */

static size_t text_of(uint64_t i, char *text) {
    return (size_t)sprintf(text, "golden key %" PRIu64, i);
}

/* Kinds of integers take the numbers themselves. */
void add_golden_keys(perhaps *f, uint64_t first, uint64_t n) {
    char text[40];
    bool hashed = takes_bytes(f);
    for (uint64_t i = first; i < first + n; i++) {
        if (!hashed)
            MUST(perhaps_add_u64(f, i));
        else if (i % 3 == 0)
            MUST(perhaps_add(f, text, text_of(i, text)));
        else if (i % 3 == 1)
            MUST(perhaps_add_u64(f, i * i));
        else
            MUST(perhaps_add_digest(f, member(i)));
    }
}

static void remove_golden_keys(perhaps *f, uint64_t first, uint64_t n) {
    char text[40];
    bool hashed = takes_bytes(f);
    for (uint64_t i = first; i < first + n; i++) {
        if (!hashed)
            MUST(perhaps_remove_u64(f, i));
        else if (i % 3 == 0)
            MUST(perhaps_remove(f, text, text_of(i, text)));
        else if (i % 3 == 1)
            MUST(perhaps_remove_u64(f, i * i));
        else
            MUST(perhaps_remove_digest(f, member(i)));
    }
}

uint64_t count_golden_keys(const perhaps *f, uint64_t first, uint64_t n) {
    char text[40];
    bool hashed = takes_bytes(f);
    uint64_t found = 0;
    for (uint64_t i = first; i < first + n; i++) {
        if (!hashed)
            found += (uint64_t)perhaps_contains_u64(f, i);
        else if (i % 3 == 0)
            found += (uint64_t)perhaps_contains(f, text, text_of(i, text));
        else if (i % 3 == 1)
            found += (uint64_t)perhaps_contains_u64(f, i * i);
        else
            found += (uint64_t)perhaps_contains_digest(f, member(i));
    }
    return found;
}

/* ---- small images, kept whole ---- */

static struct bytes take_image(perhaps *f) {
    struct bytes image = image_of(f);
    perhaps_free(f);
    return image;
}

static struct bytes make_image(perhaps_want want, uint64_t items) {
    perhaps *f = make(&want);
    add_golden_keys(f, 0, items);
    return take_image(f);
}

/* The same keys are in it at the end, but some went and came back; of a multiset one is in twice,
 * and one so often that no slots can have all its copies. */
static struct bytes make_changed_image(perhaps_want want, uint64_t items) {
    perhaps *f = make(&want);
    add_golden_keys(f, 0, items);
    remove_golden_keys(f, 0, items / 2);
    add_golden_keys(f, items / 4, items / 4);
    add_golden_keys(f, 0, items / 4);
    remove_golden_keys(f, 11, 1);
    for (int i = 0; i < 10; i++) add_golden_keys(f, 11, 1);
    return take_image(f);
}

static void use_image(const char *name, const char *ending, struct bytes image,
                      void (*use)(const char *, struct bytes)) {
    char file[96];
    snprintf(file, sizeof file, "%s%s.ph", name, ending);
    use(file, image);
    free(image.data);
}

/* A tenth of a period passes between tenths of the keys, so all of them are remembered. */
static struct bytes make_timed_image(perhaps_want want, uint64_t items) {
    perhaps *f = make(&want);
    for (uint64_t tenth = 0; tenth < 10; tenth++) {
        MUST(perhaps_advance(f, 1000000 + tenth * want.period / 10));
        add_golden_keys(f, tenth * items / 10, items / 10);
    }
    return take_image(f);
}

/* Whatever a file can say beside its layout: a secret key, that it does not grow. */
static void make_variants(const struct layout *layout, void (*use)(const char *name, struct bytes bytes)) {
    perhaps_want want = layout->want;
    if (layout->hashed) {
        want.hash = PERHAPS_SIPHASH;
        want.hash_key = golden_key;
        use_image(layout->row->name, "-siphash", make_image(want, layout->items), use);
        want.key_in_file = 1;
        use_image(layout->row->name, "-siphash-with-key", make_image(want, layout->items), use);
    }
    want = layout->want;
    want.recipe = &golden_recipe;
    use_image(layout->row->name, "-recipe", make_image(want, layout->items), use);
    want.recipe = &golden_csv;
    if (want.kind == PERHAPS_BLOOM) use_image(layout->row->name, "-csv", make_image(want, layout->items), use);
    want = layout->want;
    want.grow = PERHAPS_GROW_NEVER;
    if (grows(layout)) use_image(layout->row->name, "-fixed", make_image(want, layout->items), use);
}

/* A table with a stash: digests that share buckets precede the golden keys; some are removed. */
static void make_stash_image(void (*use)(const char *name, struct bytes bytes)) {
    enum { CHOSEN = 60 };
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = GOLDEN_KEYS, .seed = SEED));
    for (uint64_t i = 0; i < CHOSEN; i++) MUST(perhaps_add_digest(f, chosen_shared(i * 7 % CHOSEN)));
    add_golden_keys(f, 0, GOLDEN_KEYS);
    for (uint64_t i = 0; i < CHOSEN; i += 5) MUST(perhaps_remove_digest(f, chosen_shared(i)));
    use_image("table", "-stash", take_image(f), use);
}

/* Kinds to which keys can be added, and static ones. */
static void make_small_images(size_t (*find)(struct layout *, uint64_t),
                              void (*use)(const char *name, struct bytes bytes)) {
    struct layout layouts[MOST_LAYOUTS];
    size_t n = find(layouts, GOLDEN_KEYS);
    for (size_t i = 0; i < n; i++) {
        perhaps_want want = layouts[i].want;
        want.seed = layouts[i].hashed ? SEED : 0;
        use_image(layouts[i].name, "", make_image(want, GOLDEN_KEYS), use);
        if (layouts[i].row->can & PERHAPS_REMOVE)
            use_image(layouts[i].name, "-changed", make_changed_image(want, GOLDEN_KEYS), use);
        if (i == 0 || layouts[i].row != layouts[i - 1].row) make_variants(&layouts[i], use);
    }
}

/* Composite filters; the first of each also with a secret key, which its children must not hold. */
static void make_combined_images(void (*use)(const char *name, struct bytes bytes)) {
    struct layout layouts[MOST_LAYOUTS];
    size_t n = find_composites(layouts, GOLDEN_KEYS, true);
    for (size_t i = 0; i < n; i++) {
        perhaps_want want = layouts[i].want;
        want.seed = SEED;
        use_image(layouts[i].name, "", make_timed_image(want, GOLDEN_KEYS), use);
        if (layouts[i].row->can & PERHAPS_REMOVE)
            use_image(layouts[i].name, "-changed", make_changed_image(want, GOLDEN_KEYS), use);
        if (i > 0 && layouts[i].row->kind == layouts[i - 1].row->kind) continue;
        want.seed = 0;
        want.hash = PERHAPS_SIPHASH;
        want.hash_key = golden_key;
        use_image(layouts[i].name, "-siphash", make_image(want, GOLDEN_KEYS), use);
        want = layouts[i].want;
        want.recipe = &golden_recipe;
        use_image(layouts[i].name, "-recipe", make_image(want, GOLDEN_KEYS), use);
    }
}

/* ---- large images, of which only a sum is kept ---- */

static uint64_t fnv1a(struct bytes bytes) {
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < bytes.length; i++) hash = (hash ^ bytes.data[i]) * UINT64_C(0x100000001B3);
    return hash;
}

static int print_sum(char *text, size_t room, const struct layout *layout) {
    struct bytes image = make_image(layout->want, layout->items);
    int length = snprintf(text, room, "%s %" PRIu64 " keys %zu bytes fnv1a %016" PRIx64 "\n", layout->name,
                          layout->items, image.length, fnv1a(image));
    free(image.data);
    return length;
}

static bool is_first(const struct layout *layouts, size_t i) {
    return i == 0 || layouts[i].row != layouts[i - 1].row;
}

/* MORE keys: the first layout of each kind. Where time is short, only one of them. */
static bool is_summed(const struct layout *layouts, size_t i) {
    bool first = is_first(layouts, i);
    if (time_is_short()) return first && (i == 0 || layouts[i].items < MORE);
    return first || layouts[i].items < MORE;
}

static void make_sums(void (*use)(const char *name, struct bytes bytes)) {
    static char text[32768];
    struct layout layouts[MOST_LAYOUTS];
    int length = 0;
    for (uint64_t items = MANY; items <= MORE; items *= MORE / MANY) {
        size_t n = find_layouts(layouts, items);
        for (size_t i = 0; i < n; i++)
            if (is_summed(layouts, i)) length += print_sum(text + length, sizeof text - (size_t)length, &layouts[i]);
    }
    size_t n = find_composites(layouts, SOME, true);
    for (size_t i = 0; i < n; i++) length += print_sum(text + length, sizeof text - (size_t)length, &layouts[i]);
    n = find_static(layouts, MANY);
    for (size_t i = 0; i < n; i++)
        if (is_summed(layouts, i)) length += print_sum(text + length, sizeof text - (size_t)length, &layouts[i]);
    n = find_static(layouts, TWO_PARTS);
    for (size_t i = 0; i < n; i++)
        if (is_first(layouts, i) && !time_is_short())
            length += print_sum(text + length, sizeof text - (size_t)length, &layouts[i]);
    use("sums.txt", (struct bytes){(uint8_t *)text, (size_t)length});
}

/* ---- digests ---- */

static int print_digests(char *text, size_t room, const char *title, const perhaps_want *want) {
    perhaps *f = make(want);
    char key[40];
    int length = 0;
    for (uint64_t i = 0; i < 20; i++) {
        uint64_t number = i < 10 ? i : member(i);
        size_t key_length = text_of(i * i * i, key);
        length +=
            snprintf(text + length, room - (size_t)length, "%s \"%s\" %016" PRIx64 " %" PRIu64 " %016" PRIx64 "\n",
                     title, key, perhaps_digest(perhaps_hasher_of(f), key, key_length), number,
                     perhaps_digest_u64(perhaps_hasher_of(f), number));
    }
    perhaps_free(f);
    return length;
}

static void make_digests(void (*use)(const char *name, struct bytes bytes)) {
    static char text[8192];
    perhaps_want want = PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = 10, .fpr = 0.1);
    int length = print_digests(text, sizeof text, "xxh3 seed 0", &want);
    want.seed = SEED;
    length += print_digests(text + length, sizeof text - (size_t)length, "xxh3 seed 7", &want);
    want.seed = 0;
    want.hash = PERHAPS_SIPHASH;
    want.hash_key = golden_key;
    length += print_digests(text + length, sizeof text - (size_t)length, "siphash", &want);
    use("digests.txt", (struct bytes){(uint8_t *)text, (size_t)length});
}

void for_each_golden(void (*use)(const char *name, struct bytes bytes)) {
    make_small_images(find_layouts, use);
    make_small_images(find_static, use);
    make_combined_images(use);
    make_stash_image(use);
    make_sums(use);
    make_digests(use);
}
