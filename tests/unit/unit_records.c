/* Record formats beside a reader that goes byte by byte, in texts made of what has a meaning: every
 * way of cutting such a text into windows, blocks and chunks finds the same records, and the fast
 * way to one field finds what the slow one does. */
#include "support.h"

#include "input/records.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST = 600, TEXTS = 4000 };

/* ---- one byte after the other ---- */

/* Sets a flag for each byte that ends a record. */
static void walk(const char *text, size_t n, char delimiter, bool ends[LONGEST]) {
    enum { BEGINS, PLAIN, QUOTED, CLOSED } place = BEGINS;
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        ends[i] = c == '\n' && place != QUOTED;
        if (place == QUOTED)
            place = c == '"' ? CLOSED : QUOTED;
        else if (c == '\n' || c == delimiter)
            place = BEGINS;
        else if (c == '"' && place != PLAIN)
            place = QUOTED;
        else
            place = PLAIN;
    }
}

/* ---- texts ---- */

static uint64_t state = 42;

static unsigned below(unsigned n) {
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (unsigned)(state >> 33) % n;
}

/* Well-formed fields and any bytes; long ones so that windows have no border, or no quote. */
static size_t make_text(char *text, char delimiter) {
    static const char bytes[] = "\"\"\"\n\r,;ab";
    size_t n = 0, most = 1 + below(LONGEST - 100);
    unsigned style = below(4);
    while (n < most) {
        unsigned run = below(style == 3 ? 90 : 12);
        bool quoted = below(2);
        if (style == 0) {
            text[n++] = bytes[below(sizeof bytes - 1)];
            continue;
        }
        if (quoted) text[n++] = '"';
        for (unsigned i = 0; i < run && n < most; i++) {
            char c = bytes[quoted ? 3 + below(6) : 7 + below(2)];
            text[n++] = c;
            if (quoted && below(9) == 0) text[n++] = '"', text[n++] = '"';
        }
        if (quoted) text[n++] = '"';
        text[n++] = below(style == 1 ? 40 : 3) ? delimiter : '\n';
    }
    return n;
}

static const struct input csv = {.records = PERHAPS_CSV, .terminator = '\n', .delimiter = ','};

/* ---- ends ---- */

static void check_windows(const char *text, size_t n, const bool *wanted) {
    struct record_search search = record_search_in(&csv, NULL, NULL);
    for (size_t at = 0; at < n;) {
        size_t some = below(2) ? WINDOW : 1 + below(WINDOW - 1);
        if (some > n - at) some = n - at;
        uint64_t ends = record_ends(&search, text + at, some);
        for (size_t i = 0; i < some; i++)
            CHECK((ends >> i & 1) == wanted[at + i], "byte %zu of %zu: %.*s", at + i, n, (int)n, text);
        at += some;
    }
}

/* Blocks come in pieces; each time as many records as there are. */
static void check_blocks(const char *text, size_t n, const bool *wanted) {
    struct record_search search = record_search_in(&csv, NULL, NULL);
    size_t last = 0, told = 0;
    for (size_t at = 0, some; at < n; at += some) {
        some = 1 + below(200);
        if (some > n - at) some = n - at;
        for (size_t i = at; i < at + some; i++)
            if (wanted[i]) last = i + 1;
        const char *end = last_record_end(&search, text + at, text + at + some);
        if (end != text + at) told = (size_t)(end - text);
        CHECK(told == last, "the last record before %zu ends at %zu, not %zu: %.*s", at + some, last, told, (int)n,
              text);
    }
}

static void check_cuts(const char *text, size_t n, const bool *wanted) {
    struct record_search search = record_search_in(&csv, text, text + n);
    for (int i = 0; i < 5; i++) {
        size_t from = below((unsigned)n), end = from;
        while (end < n && !wanted[end]) end++;
        const char *cut = record_end_from(search, text, text + from, text + n);
        CHECK(cut == (end < n ? text + end + 1 : NULL), "cut from %zu of %zu: %.*s", from, n, (int)n, text);
    }
}

static void ends_are_those_of_single_bytes(void **unused) {
    static char text[LONGEST + WINDOW];
    static bool wanted[LONGEST + WINDOW];
    (void)unused;
    for (int i = 0; i < TEXTS; i++) {
        size_t n = make_text(text, ',');
        walk(text, n, ',', wanted);
        check_windows(text, n, wanted);
        check_blocks(text, n, wanted);
        check_cuts(text, n, wanted);
    }
}

/* ---- one field ---- */

static void check_field(const struct input *input, const char *at, const char *end, const char *readable) {
    char scratch[2 * LONGEST];
    for (uint32_t number = 1; number < 6; number++) {
        struct columns columns = {.n = 1, .number = {number}};
        struct key_search fast = {.input = input, .columns = &columns}, slow = fast;
        slow.scratch = scratch;
        CHECK(is_one_field(input, &columns), "not one field");
        if (!find_field(&fast, at, end, readable)) continue;
        CHECK(find_key(&slow, at, end) == KEY_FOUND, "field %u of %.*s", (unsigned)number, (int)(end - at), at);
        CHECK(fast.key.length == slow.key.length && memcmp(fast.key.bytes, slow.key.bytes, slow.key.length) == 0,
              "field %u of %.*s is %.*s, not %.*s", (unsigned)number, (int)(end - at), at, (int)fast.key.length,
              fast.key.bytes, (int)slow.key.length, slow.key.bytes);
    }
}

static void one_field_is_found_in_both_ways(void **unused) {
    static char text[LONGEST + WINDOW];
    static bool ends[LONGEST + WINDOW];
    static const int formats[] = {PERHAPS_CSV, PERHAPS_TSV, PERHAPS_LINES};
    (void)unused;
    for (int i = 0; i < TEXTS; i++) {
        struct input input = csv;
        input.records = formats[i % 3];
        input.fields.n = 1;
        size_t n = make_text(text, ','), begin = 0;
        walk(text, n, ',', ends);
        for (size_t end = 0; end < n; end++) {
            if (!(input.records == PERHAPS_CSV ? ends[end] : text[end] == '\n')) continue;
            check_field(&input, text + begin, text + end, text + n);
            begin = end + 1;
        }
    }
}

/* No more room is used than was asked for, also where a field is wanted many times. */
static void scratch_is_enough(void **unused) {
    static char text[LONGEST + WINDOW];
    struct input input = csv;
    (void)unused;
    input.fields.n = MOST_COLUMNS;
    for (int i = 0; i < TEXTS / 4; i++) {
        size_t n = make_text(text, ',');
        struct columns columns = {.n = MOST_COLUMNS};
        for (unsigned c = 0; c < MOST_COLUMNS; c++) columns.number[c] = 1 + c / 16, columns.part[c] = (uint8_t)c;
        char *scratch = malloc(scratch_for(&input, 1, n));
        struct key_search search = {.input = &input, .columns = &columns, .scratch = scratch};
        CHECK(scratch && find_key(&search, text, text + n) != KEY_INVALID, "no key");
        CHECK(search.scratch <= scratch + scratch_for(&input, 1, n), "too much is used");
        free(scratch);
    }
}

/* ---- lists of fields ---- */

static void lists_are_read(void **unused) {
    static const char *const wrong[] = {"", "0,1", "1,", ",", "1,,2", "\"a", "\"a\"b", "a\nb", "4294967295"};
    struct column_list list, other;
    struct columns columns;
    (void)unused;
    CHECK(!columns_parse("3,name,\"a,\"\"b\",\"7\",1", &list) && list.n == 5 && list.named, "not read");
    CHECK(list.columns[0].number == 3 && !list.columns[3].number && list.columns[4].number == 1, "other numbers");
    CHECK(memcmp(list.names, "namea,\"b7", 9) == 0 && list.columns[2].length == 4, "other names");
    columns_resolve(&list, (const uint32_t[MOST_COLUMNS]){0, 9, NO_COLUMN, 3, 0}, &columns);
    CHECK(columns.number[0] == 1 && columns.number[3] == 9 && columns.number[4] == NO_COLUMN, "not in order");
    CHECK(columns.part[0] == 4 && columns.part[3] == 1 && columns.part[4] == 2, "other parts");
    CHECK(!columns_parse("0", &other) && other.n == 0 && !columns_equal(&list, &other), "0 is the whole line");
    CHECK(!columns_parse("03,\"name\",\"a,\"\"b\",\"7\",1", &other) && columns_equal(&list, &other), "not the same");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(columns_parse(wrong[i], &other), "'%s' is read", wrong[i]);
    char many[COLUMNS_TEXT + 1] = "1";
    for (int i = 1; i < MOST_COLUMNS; i++) strcat(many, ",1");
    CHECK(!columns_parse(many, &other) && other.n == MOST_COLUMNS, "as many as there may be");
    CHECK(columns_parse(strcat(many, ",1"), &other), "one too many");
    memset(many, 'x', COLUMNS_TEXT - 1);
    CHECK(!columns_parse(many, &other), "as long as it may be");
    memset(many, 'x', COLUMNS_TEXT);
    CHECK(columns_parse(many, &other), "too long");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(ends_are_those_of_single_bytes),
                                       cmocka_unit_test(one_field_is_found_in_both_ways),
                                       cmocka_unit_test(scratch_is_enough), cmocka_unit_test(lists_are_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
