/* The exact memory of dedup with digests chosen to be equal: only the lines differ. */
#include "support.h"

#include "dedup/first_lines.h"
#include "dedup/seen.h"
#include "output/report.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what the command line has for its parts ---- */

static char said[400];

int failure(const char *subject, const char *format, ...) {
    va_list arguments;
    int length = snprintf(said, sizeof said, "%s: ", subject ? subject : "");
    va_start(arguments, format);
    vsnprintf(said + length, sizeof said - (size_t)length, format, arguments);
    va_end(arguments);
    return TROUBLE;
}

const char *input_name(const char *path) {
    return path;
}

int write_all(int fd, const void *bytes, size_t length) {
    return write(fd, bytes, length) == (ssize_t)length ? 0 : -1;
}

ssize_t read_at(int fd, void *to, size_t length, uint64_t offset) {
    return pread(fd, to, length, (off_t)offset);
}

/* ---- places ---- */

static bool is_there(const struct first_lines *places, uint64_t digest, uint64_t place, struct place_search *search) {
    uint64_t found;
    first_lines_search(places, digest, search);
    while (first_lines_next(places, search, &found))
        if (found == place) return true;
    return false;
}

/* Place i of digest(i) is found if it is below `n`, and after it was added. */
static void check_places(uint64_t n, uint64_t (*digest)(uint64_t i)) {
    struct first_lines *places = first_lines_create();
    struct place_search search;
    CHECK(places, "no memory");
    for (uint64_t i = 0; i < n; i++) {
        CHECK(!is_there(places, digest(i), PLACES_END - 1 - i, &search), "place %llu before it was added",
              (unsigned long long)i);
        CHECK(first_lines_add(places, &search, PLACES_END - 1 - i), "no memory");
    }
    for (uint64_t i = 0; i < 2 * n; i++)
        CHECK(is_there(places, digest(i), PLACES_END - 1 - i, &search) == (i < n), "place %llu of %llu",
              (unsigned long long)i, (unsigned long long)n);
    first_lines_free(places);
}

static uint64_t random_digest(uint64_t i) {
    uint64_t state = i;
    return next_random(&state);
}

static uint64_t zero_digest(uint64_t i) {
    (void)i;
    return 0;
}

/* All in the last line of the last part, so that the first ones take the rest. */
static uint64_t high_digest(uint64_t i) {
    return UINT64_MAX - i;
}

/* All in one part, most lines of which are empty. */
static uint64_t crowded_digest(uint64_t i) {
    return i % 7 << 50 | i << 4;
}

static void test_places(void **state) {
    (void)state;
    check_places(test_size() == TEST_SMALL ? 100000 : 400000, random_digest);
    check_places(1500, zero_digest);
    check_places(1500, high_digest);
    check_places(1500, crowded_digest);
}

/* ---- lines ---- */

enum { MOST_LINES = 6000 };

/* A job of the lines of a text, and the answers that are right. */
struct lines {
    struct line_block job;
    char *text;
    const char *starts[MOST_LINES + 1], *keys[MOST_LINES];
    size_t lengths[MOST_LINES];
    uint64_t digests[MOST_LINES];
    uint8_t answers[MOST_LINES];
};

/* Keys are whole lines, or what stands before the first delimiter. There are two digests: keys of
 * even length have one, others the other. */
static void cut_lines(struct lines *lines, const struct input *input, const char *text, size_t length) {
    lines->text = malloc(length + 1);
    CHECK(lines->text, "no memory");
    memcpy(lines->text, text, length);
    if (!length || text[length - 1] != input->terminator) lines->text[length++] = input->terminator;
    lines->job = (struct line_block){.lines = lines->starts,
                                     .keys = lines->keys,
                                     .key_lengths = lines->lengths,
                                     .digests = lines->digests,
                                     .answers = lines->answers};
    for (char *at = lines->text; at < lines->text + length;) {
        size_t i = lines->job.n++;
        char *end = memchr(at, input->terminator, (size_t)(lines->text + length - at));
        char *stop = input->fields.n ? memchr(at, input->delimiter, (size_t)(end - at)) : NULL;
        lines->starts[i] = lines->keys[i] = at;
        lines->lengths[i] = (size_t)((stop ? stop : end) - at);
        lines->digests[i] = lines->lengths[i] % 2 ? UINT64_MAX - 42 : 42;
        at = end + 1;
        lines->starts[i + 1] = at;
    }
}

static bool same_keys_at(const struct lines *a, size_t i, const struct lines *b, size_t j, bool fold) {
    if (a->lengths[i] != b->lengths[j]) return false;
    return fold ? strncasecmp(a->keys[i], b->keys[j], a->lengths[i]) == 0
                : memcmp(a->keys[i], b->keys[j], a->lengths[i]) == 0;
}

/* ---- inputs ---- */

enum { MOST_TEXTS = 8 };

struct story {
    struct input input;
    size_t count;
    struct lines *lines[MOST_TEXTS];
    char *paths[MOST_TEXTS];
};

static char *write_file(const char *text, size_t length) {
    char name[] = "unit-exact-XXXXXX";
    int fd = mkstemp(name);
    CHECK(fd >= 0 && write(fd, text, length) == (ssize_t)length, "no temporary file");
    close(fd);
    return strdup(name);
}

/* A text that is a file, or else comes through a pipe, whose name there is no more. */
static void tell(struct story *story, const char *text, size_t length, bool file) {
    struct lines *lines = calloc(1, sizeof *lines);
    CHECK(lines, "no memory");
    cut_lines(lines, &story->input, text, length);
    lines->job.file = story->count;
    story->paths[story->count] = file ? write_file(text, length) : strdup("unit-exact-pipe");
    story->lines[story->count++] = lines;
    story->input.paths = story->paths;
    story->input.path_count = story->count;
}

static void tell_text(struct story *story, const char *text, bool file) {
    tell(story, text, strlen(text), file);
}

/* Lines [from, to) of a job as a job of their own. */
static struct line_block part_of(const struct line_block *job, size_t from, size_t to) {
    struct line_block part = *job;
    part.n = to - from;
    part.offset = (uint64_t)(job->lines[from] - job->lines[0]);
    part.lines += from;
    part.keys += from;
    part.key_lengths += from;
    part.digests += from;
    part.answers += from;
    return part;
}

static bool came_before(const struct story *story, size_t text, size_t line) {
    bool fold = story->input.ignore_case || story->input.encoding == ENCODING_HEX;
    for (size_t t = 0; t <= text; t++)
        for (size_t i = 0; i < (t == text ? line : story->lines[t]->job.n); i++)
            if (same_keys_at(story->lines[t], i, story->lines[text], line, fold)) return true;
    return false;
}

static void check_answers(const struct story *story, size_t text) {
    const struct lines *lines = story->lines[text];
    for (size_t i = 0; i < lines->job.n; i++)
        CHECK(lines->answers[i] == !came_before(story, text, i), "text %zu, line %zu: answer %d", text, i,
              lines->answers[i]);
}

/* All texts, in jobs of that many lines. */
static void check_story(const struct story *story, size_t at_a_time) {
    struct exact *exact = exact_create(&story->input, 2);
    CHECK(exact, "%s", said);
    for (size_t t = 0; t < story->count; t++) {
        size_t n = story->lines[t]->job.n;
        for (size_t i = 0; i < n; i += at_a_time) {
            struct line_block part = part_of(&story->lines[t]->job, i, i + at_a_time < n ? i + at_a_time : n);
            CHECK(exact_add(exact, &part) == FINE, "text %zu, line %zu: %s", t, i, said);
        }
        check_answers(story, t);
    }
    exact_free(exact);
}

static void forget(struct story *story) {
    for (size_t i = 0; i < story->count; i++) {
        unlink(story->paths[i]);
        free(story->paths[i]);
        free(story->lines[i]->text);
        free(story->lines[i]);
    }
    story->count = 0;
}

/* Every text as a file and as a pipe, in small and in large jobs. */
static void check_texts(struct input input, const char *const *texts, size_t count) {
    for (unsigned files = 0; files < 1u << count; files++) {
        struct story story = {.input = input};
        for (size_t i = 0; i < count; i++) tell_text(&story, texts[i], files >> i & 1);
        for (size_t at_a_time = 1; at_a_time <= 64; at_a_time *= 4) check_story(&story, at_a_time);
        forget(&story);
    }
}

static const struct input plain = {.terminator = '\n'};

static void test_same_digests(void **state) {
    (void)state;
    static const char *const texts[] = {"a\nb\n\nab\na\nb\nabc\n\nab\nx", "x\nxy\n\nabc\nabcd\nxyz",
                                        "xyz\nxy\nnew\n\nx\nnew"};
    check_texts(plain, texts, 3);
}

static void test_fields(void **state) {
    (void)state;
    static const char *const texts[] = {"a,1\nab,1\na,2\n,3\n,4\nabc\nab\nb,", "b\nabc,abc\nabcd,x\na\n\nlast,1",
                                        "last\nlas,t\n"};
    struct input input = plain;
    input.fields.n = 1;
    input.delimiter = ',';
    check_texts(input, texts, 3);
}

/* A capital letter between fields is none of the key's, though small it would be. */
static void test_letters_between_fields(void **state) {
    (void)state;
    static const char *const texts[] = {"xXa\nxx\nXX\nyX\nyxX\nYxX\nyx\n", "Yx\nxx\nzX", "z\nzx"};
    struct input input = plain;
    input.fields.n = 1;
    input.delimiter = 'X';
    input.ignore_case = true;
    check_texts(input, texts, 3);
}

static void test_folded(void **state) {
    (void)state;
    static const char *const texts[] = {"ab\nAB\naB\ncd\n@[`{\n", "CD\nCd\n`[`{\n@[`{\nEF", "ef\nEf\ne"};
    struct input input = plain;
    input.ignore_case = true;
    check_texts(input, texts, 3);
    input.ignore_case = false;
    input.encoding = ENCODING_HEX;
    check_texts(input, texts, 3);
}

/* Longer than what is compared at a time and kept in memory; only the last byte differs. */
static void test_long_lines(void **state) {
    (void)state;
    enum { LONG = 1500000, LINES = 5 };
    char *text = malloc(LINES * (LONG + 1));
    CHECK(text, "no memory");
    memset(text, 'x', LINES * (LONG + 1));
    for (size_t i = 0; i < LINES; i++) text[i * (LONG + 1) + LONG] = '\n';
    text[LONG + LONG] = 'y';
    text[3 * (LONG + 1) + LONG / 2] = 'y';
    for (int file = 0; file < 2; file++) {
        struct story story = {.input = plain};
        tell(&story, text, LINES * (LONG + 1) - 1, file);
        tell(&story, text, LINES * (LONG + 1), !file);
        check_story(&story, 1);
        check_story(&story, LINES);
        forget(&story);
    }
    free(text);
}

/* Many keys of which each is compared to all others that there are. */
static void test_random_lines(void **state) {
    (void)state;
    uint64_t random = 1;
    char text[6000];
    for (int file = 0; file < 2; file++) {
        struct story story = {.input = {.terminator = 0}};
        for (int t = 0; t < 3; t++) {
            for (size_t i = 0; i < sizeof text; i++) text[i] = (char)(next_random(&random) % 3);
            tell(&story, text, sizeof text, file ^ (t & 1));
        }
        check_story(&story, 1000);
        forget(&story);
    }
}

/* Enough at a time that threads share them: most digests have one key, some have several. */
static void test_many_lines(void **state) {
    (void)state;
    enum { LINES = 5000, KEYS = 3000 };
    char *text = malloc(LINES * 8);
    uint64_t random = 2;
    CHECK(text, "no memory");
    for (int file = 0; file < 4; file++) {
        struct story story = {.input = plain};
        for (int t = 0; t < 2; t++) {
            size_t length = 0;
            for (size_t i = 0; i < LINES; i++)
                length += (size_t)sprintf(text + length, "%u\n", (unsigned)(next_random(&random) % KEYS));
            tell(&story, text, length, file >> t & 1);
            struct lines *lines = story.lines[t];
            for (size_t i = 0; i < LINES; i++)
                lines->digests[i] = random_digest((uint64_t)atoi(lines->keys[i]) % (KEYS * 9 / 10));
        }
        check_story(&story, LINES);
        forget(&story);
    }
    free(text);
}

/* ---- files that change ---- */

/* The first text is read, then something happens to its file, then the second one is read. */
static int after(void (*event)(const char *path), const char *first, const char *second, struct story *story) {
    *story = (struct story){.input = plain};
    tell_text(story, first, true);
    tell_text(story, second, true);
    struct exact *exact = exact_create(&story->input, 2);
    CHECK(exact && exact_add(exact, &story->lines[0]->job) == FINE, "%s", said);
    event(story->paths[0]);
    int status = exact_add(exact, &story->lines[1]->job);
    exact_free(exact);
    return status;
}

static void remove_it(const char *path) {
    CHECK(unlink(path) == 0, "no file %s", path);
}

static void cut_it(const char *path) {
    CHECK(truncate(path, 2) == 0, "no file %s", path);
}

static void lengthen_it(const char *path) {
    int fd = open(path, O_WRONLY | O_APPEND);
    CHECK(write(fd, "more\n", 5) == 5, "no file %s", path);
    close(fd);
}

static void overwrite_it(const char *path) {
    int fd = open(path, O_WRONLY);
    usleep(20000); /* so that the clock of the file system goes on */
    CHECK(write(fd, "12345", 5) == 5, "no file %s", path);
    close(fd);
}

static void test_files_that_change(void **state) {
    (void)state;
    struct story story;
    CHECK(after(remove_it, "one\ntwo\nthree", "two\nthree\n", &story) == FINE, "%s", said);
    check_answers(&story, 1);
    forget(&story);
    CHECK(after(lengthen_it, "one\n", "one\n", &story) == FINE, "%s", said);
    check_answers(&story, 1);
    forget(&story);
    CHECK(after(cut_it, "two\nthree\n", "two\n", &story) == TROUBLE && strstr(said, "has become shorter"), "%s", said);
    forget(&story);
    CHECK(after(overwrite_it, "one\ntwo\n", "one\n", &story) == TROUBLE && strstr(said, "has changed"), "%s", said);
    forget(&story);
}

/* A file that has other lines when it is opened again; and the same, compressed. */
static void test_other_contents(void **state) {
    (void)state;
    struct story story = {.input = plain};
    tell_text(&story, "one\ntwo\none\n", true);
    tell_text(&story, "two\nthree\nthree", true);
    tell_text(&story, "\none\n\n", true);
    for (size_t i = 0; i < 3; i++) overwrite_it(story.paths[i]);
    check_story(&story, 64);
    check_story(&story, 1);
    forget(&story);
}

static void test_no_folder(void **state) {
    (void)state;
    struct story story = {.input = plain};
    tell_text(&story, "one\n", false);
    setenv("TMPDIR", "/nowhere", 1);
    struct exact *exact = exact_create(&story.input, 2);
    CHECK(exact && exact_add(exact, &story.lines[0]->job) == TROUBLE, "a file in no folder");
    CHECK(strstr(said, "/nowhere: ") && strstr(said, "TMPDIR"), "%s", said);
    unsetenv("TMPDIR");
    exact_free(exact);
    forget(&story);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),       cmocka_unit_test(test_same_digests),
        cmocka_unit_test(test_fields),       cmocka_unit_test(test_letters_between_fields),
        cmocka_unit_test(test_folded),       cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_random_lines), cmocka_unit_test(test_files_that_change),
        cmocka_unit_test(test_many_lines),   cmocka_unit_test(test_other_contents),
        cmocka_unit_test(test_no_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
