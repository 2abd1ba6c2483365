/*
 * The committed files are what this library makes on every machine, byte for byte, and it reads
 * them. The folder is in the environment variable PERHAPS_GOLDEN; PERHAPS_ISA, if set, chooses the
 * instruction set that must make them.
 */
#include "recipes.h"

#include <perhaps_embed.h>

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool ends_with(const char *name, const char *ending) {
    size_t length = strlen(name), tail = strlen(ending);
    return length >= tail && strcmp(name + length - tail, ending) == 0;
}

static unsigned made;

static size_t first_difference(struct bytes a, struct bytes b) {
    size_t at = 0;
    while (at < a.length && at < b.length && a.data[at] == b.data[at]) at++;
    return at;
}

/* Where time is short only some of the sums are made: each must be in the committed file. */
static bool has_lines(struct bytes all, struct bytes some) {
    for (size_t at = 0; at < some.length;) {
        const uint8_t *line = some.data + at;
        const uint8_t *end = memchr(line, '\n', some.length - at);
        size_t length = end ? (size_t)(end - line) + 1 : some.length - at;
        if (!memmem(all.data, all.length, line, length)) return false;
        at += length;
    }
    return some.length > 0;
}

static void expect_same_as_committed(const char *name, struct bytes bytes) {
    CHECK(access(name, R_OK) == 0, "%s is not in the golden folder; make_golden writes it", name);
    struct bytes committed = read_whole(name);
    bool same =
        same_bytes(committed, bytes) || (time_is_short() && !strcmp(name, "sums.txt") && has_lines(committed, bytes));
    CHECK(same, "%s: the committed file has %zu bytes, the one made now %zu; they differ from byte %zu on", name,
          committed.length, bytes.length, first_difference(committed, bytes));
    free(committed.data);
    made += ends_with(name, ".ph");
}

static void the_files_are_what_is_made_now(void **state) {
    (void)state;
    made = 0;
    for_each_golden(expect_same_as_committed);
}

static void expect_recipe(const char *name, const perhaps *f) {
    perhaps_recipe told = PERHAPS_RECIPE(.form = -1);
    MUST(perhaps_recipe_of(f, &told));
    const perhaps_recipe *made_with = strstr(name, "-recipe") ? &golden_recipe
                                      : strstr(name, "-csv")  ? &golden_csv
                                                              : &PERHAPS_RECIPE(.form = 0);
    CHECK(memcmp(&told, made_with, sizeof told) == 0, "%s: form %d, case %d, records %d, field %u, delimiter %d", name,
          told.form, told.ignore_case, told.records, (unsigned)told.field, told.delimiter);
}

/* Needs nothing but the file: also what an older version wrote must open and answer. */
static void expect_readable(const char *name) {
    perhaps *f = NULL;
    bool needs_key = ends_with(name, "-siphash.ph");
    if (needs_key) REFUSED(PERHAPS_EKEY, perhaps_open(&f, name, NULL));
    MUST(perhaps_open(&f, name, &PERHAPS_OPEN(.hash_key = needs_key ? golden_key : NULL)));
    uint64_t found = count_golden_keys(f, 0, GOLDEN_KEYS);
    CHECK(found == GOLDEN_KEYS, "%s: %llu of %d keys are found", name, (unsigned long long)found, GOLDEN_KEYS);
    struct perhaps_info info = info_of(f);
    bool grown = info.base || info.stashed; /* layers, or a table */
    bool made_for = grown ? info.capacity >= GOLDEN_KEYS : info.capacity == GOLDEN_KEYS;
    CHECK(made_for, "%s: capacity %llu", name, (unsigned long long)info.capacity);
    expect_recipe(name, f);
    if (info.can & PERHAPS_REMOVE)
        CHECK(info.items >= GOLDEN_KEYS, "%s: %llu items", name, (unsigned long long)info.items);
    double queries = 100000;
    double false_positives = (double)count_golden_keys(f, 1000, (uint64_t)queries) / queries;
    CHECK(false_positives < 2 * info.fpr_now + 1e-4, "%s: %g of non-members are found, info says %g", name,
          false_positives, info.fpr_now);
    perhaps_free(f);
}

static void the_files_can_be_read(void **state) {
    (void)state;
    unsigned read = 0;
    DIR *folder = opendir(".");
    CHECK(folder, "the golden folder cannot be read: %s", strerror(errno));
    struct dirent *entry;
    while ((entry = readdir(folder))) {
        if (!ends_with(entry->d_name, ".ph")) continue;
        expect_readable(entry->d_name);
        read++;
    }
    closedir(folder);
    CHECK(read > 0 && read >= made, "%u files were read, %u made", read, made);
}

int main(void) {
    const char *folder = getenv("PERHAPS_GOLDEN");
    if (!folder || chdir(folder) != 0) {
        fprintf(stderr, "PERHAPS_GOLDEN must name the folder of the golden files\n");
        return 2;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_files_are_what_is_made_now),
        cmocka_unit_test(the_files_can_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
