/*
 * The native side of the tests of bindings/wasm: which filters there are, and what they are made
 * of.
 *
 *     wasm_reference layouts ITEMS            a line of JSON for each layout for ITEMS keys
 *     wasm_reference make NAME ITEMS PATH     makes it, and writes three files
 *     wasm_reference change NAME ITEMS PATH   the same, with a quarter of the members removed
 *
 * PATH.keys has integers, the members, then as many non-members; PATH.ph is the filter's file;
 * PATH.answers has a byte for each key.
 */
#include "support.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 7 };

static struct layout layouts[3 * MOST_LAYOUTS];

static size_t find_all(uint64_t items) {
    size_t n = find_layouts(layouts, items);
    n += find_static(layouts + n, items);
    n += find_composites(layouts + n, items, true);
    for (size_t i = 0; i < n; i++) layouts[i].want.seed = layouts[i].hashed ? SEED : 0;
    return n;
}

static void print_layout(const struct layout *layout) {
    const perhaps_want *want = &layout->want;
    perhaps *f = make(want);
    const struct perhaps_kind_row *row;
    size_t r = 0;
    while ((row = perhaps_kind(r)) && row->kind != want->kind) r++;
    printf("{\"name\": \"%s\", \"static\": %s, \"takesBytes\": %s, \"removes\": %s, ", layout->name,
           is_composite(layout) || !is_static(layout) ? "false" : "true", takes_bytes(f) ? "true" : "false",
           info_of(f).can & PERHAPS_REMOVE ? "true" : "false");
    printf("\"want\": {\"kind\": \"%s\", \"items\": %" PRIu64, row->name, want->items);
    if (want->fpr > 0) printf(", \"fpr\": %.17g", want->fpr);
    if (want->hashes) printf(", \"hashes\": %u", want->hashes);
    if (want->lines) printf(", \"lines\": %u", want->lines);
    if (want->grow) printf(", \"grow\": \"%s\"", want->grow == PERHAPS_GROW_LAYERS ? "layers" : "never");
    if (want->generations) printf(", \"generations\": %u", want->generations);
    if (want->period) printf(", \"period\": %" PRIu64, want->period);
    if (want->clear_at > 0) printf(", \"clearAt\": %.17g", want->clear_at);
    if (want->shards) printf(", \"shards\": %u", want->shards);
    printf(", \"seed\": %" PRIu64 "}}\n", want->seed);
    perhaps_free(f);
}

static void write_part(const char *path, const char *ending, const void *data, size_t length) {
    char name[4096];
    snprintf(name, sizeof name, "%s.%s", path, ending);
    write_whole(name, data, length);
}

static void make_reference(const struct layout *layout, uint64_t items, bool change, const char *path) {
    perhaps *f = make(&layout->want);
    uint64_t *keys = malloc(2 * items * sizeof *keys);
    uint8_t *answers = malloc(2 * items);
    CHECK(keys && answers, "no memory for %" PRIu64 " keys", items);
    for (uint64_t i = 0; i < items; i++) {
        keys[i] = member_of(f, i);
        keys[items + i] = non_member_of(f, i);
    }
    MUST(perhaps_add_many(f, &PERHAPS_KEYS_U64(keys, 0, items), NULL));
    if (change) MUST(perhaps_remove_many(f, &PERHAPS_KEYS_U64(keys, 0, items / 4), NULL));
    seal(f);
    MUST(perhaps_contains_many(f, &PERHAPS_KEYS_U64(keys, 0, 2 * items), answers));
    struct bytes image = image_of(f);
    write_part(path, "keys", keys, 2 * items * sizeof *keys);
    write_part(path, "answers", answers, 2 * items);
    write_part(path, "ph", image.data, image.length);
    free(image.data);
    free(keys);
    free(answers);
    perhaps_free(f);
}

static int arguments;
static char **argument;

static void run(void **state) {
    (void)state;
    uint64_t items = strtoull(argument[arguments == 3 ? 2 : 3], NULL, 10);
    size_t n = find_all(items);
    for (size_t i = 0; i < n; i++) {
        if (arguments == 3)
            print_layout(&layouts[i]);
        else if (strcmp(layouts[i].name, argument[2]) == 0)
            make_reference(&layouts[i], items, strcmp(argument[1], "change") == 0, argument[4]);
    }
}

int main(int argc, char **argv) {
    if (argc != 3 && argc != 5) {
        fprintf(stderr, "usage: wasm_reference layouts ITEMS | make NAME ITEMS PATH | change NAME ITEMS PATH\n");
        return 2;
    }
    arguments = argc;
    argument = argv;
    const struct CMUnitTest all[] = {cmocka_unit_test(run)};
    return cmocka_run_group_tests(all, NULL, NULL);
}
