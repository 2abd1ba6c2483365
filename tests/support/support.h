/*
 * What every test here shares: checks that say what they saw, keys, and the loop over the table of
 * kinds.
 *
 * A test states a promise about one layout (a kind with its number of bits and cache lines) and
 * FOR_EACH_LAYOUT holds it against every layout of every kind in the table to which keys can be
 * added at any time. A kind that is added later is tested without an edit. Composite filters are
 * layouts too, and so are static filters; FOR_EACH_COMPOSITE and FOR_EACH_STATIC hold a promise
 * against them.
 */
#ifndef PERHAPS_TESTS_SUPPORT_H
#define PERHAPS_TESTS_SUPPORT_H

#include <perhaps_embed.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* ---- checks ---- */

/* Fails the test unless `condition` holds; the rest is a printf sentence with the numbers. */
#define CHECK(condition, ...) check_that(!!(condition), #condition, __FILE__, __LINE__, __VA_ARGS__)

/* The call must not fail; its answer is passed on. */
#define MUST(call) must_succeed((call), #call, __FILE__, __LINE__)

/* The call must fail with this error number and give a reason in words. */
#define REFUSED(error, call) must_be_refused((error), (call), #call, __FILE__, __LINE__)

__attribute__((format(printf, 5, 6))) void check_that(bool holds, const char *what, const char *file, int line,
                                                      const char *format, ...);

/* What is being tested, for messages of the checks. */
__attribute__((format(printf, 1, 2))) void name_subject(const char *format, ...);
int64_t must_succeed(int64_t answer, const char *what, const char *file, int line);
void must_be_refused(int error, int64_t answer, const char *what, const char *file, int line);

/* ---- how much to test ---- */

/* PERHAPS_TEST_SIZE=small|normal|long. The default is small under a sanitizer or an emulator. */
enum test_size { TEST_SMALL, TEST_NORMAL, TEST_LONG };
enum test_size test_size(void);

/* Small by name: under an emulator, which takes some ten times as long for everything. What it
 * shows is what the machine makes of the code, for which a few filters of some thousand keys do. */
bool time_is_short(void);

/* With PERHAPS_TEST_SIZE=long: every combination, where the normal run takes a selection. */
bool test_everything(void);

/* ---- layouts ---- */

struct layout {
    const struct perhaps_kind_row *row;
    perhaps_want want; /* makes this layout for `items` keys */
    struct perhaps_plan plan;
    /* Keys that tests put in; layers that grow begin with fewer, see first_guess. */
    uint64_t items;
    uint64_t remembers;           /* that many of the last keys are surely found; UINT64_MAX: all */
    bool exact, hashed, in_order; /* see is_exact, hashes_keys and order_matters */
    /* "blocked-8x1": the kind, bits per key, cache lines; the rate, where that does not tell it */
    char name[48];
};

enum { MOST_LAYOUTS = 64 };

/* Every layout of every kind to which keys can be added, for filters of `items` keys. The first of
 * each kind is the one it has at 1 %. */
size_t find_layouts(struct layout *layouts, uint64_t items);

/* Static filters: every layout of every kind whose keys are collected first and then sealed. */
size_t find_static(struct layout *layouts, uint64_t items);

/* Composite filters: each composite kind over every kind that it takes, at 1 %. Each has a row of
 * its own, which says what it can. Nobody tells windows with a period the time. With
 * PERHAPS_TEST_SIZE=small, as under emulators, only some of them, unless all are wanted. */
size_t find_composites(struct layout *layouts, uint64_t items, bool all);

/* Foreign files: each of the formats at some rates. */
size_t find_files(struct layout *layouts, uint64_t items);

/* What makes such a filter for another number of keys. */
perhaps_want want_for(const struct layout *layout, uint64_t items);

/* What the table of kinds and the planner say of a kind, in the words of the tests. */
/* A copy of the key every time: add answers 1, merge is the sum. */
bool is_multiset(const struct layout *layout);
/* Without false positives: the number of items is all that it needs. */
bool is_exact(const struct layout *layout);
bool grows(const struct layout *layout);         /* never full, as long as memory lasts */
bool hashes_keys(const struct layout *layout);   /* not a kind of integers as they are */
bool order_matters(const struct layout *layout); /* other orders of adding give other arrays */
bool is_composite(const struct layout *layout);  /* a composite filter */
/* With layers somewhere in it: another one when the newest is full. */
bool is_layered(const struct layout *layout);
bool forgets(const struct layout *layout); /* old keys, by itself: it never has too many */
/* Must be sealed before queries; is never too full. */
bool is_static(const struct layout *layout);

/* Of n keys added one after the other: how many of the last ones must still be found. */
uint64_t remembered(const struct layout *layout, uint64_t added);

/* A promise becomes a test of cmocka. It is held against every layout of every kind to which keys
 * can be added, against the first of each kind, against composite filters, against the first of
 * each kind and composite filters, against foreign files, against every layout of every
 * static kind, or against the first of each. */
struct promise {
    void (*holds)(const struct layout *layout);
    uint64_t items;
};
#define PROMISE(function, count)              (&(struct promise){.holds = (function), .items = (count)})
#define FOR_EACH_LAYOUT(function, count)      cmocka_promise(function, for_each_layout, count)
#define FOR_EACH_KIND(function, count)        cmocka_promise(function, for_each_kind, count)
#define FOR_EACH_COMPOSITE(function, count)   cmocka_promise(function, for_each_composite, count)
#define FOR_EACH_FILTER(function, count)      cmocka_promise(function, for_each_filter, count)
#define FOR_EACH_FILE(function, count)        cmocka_promise(function, for_each_file, count)
#define FOR_EACH_STATIC(function, count)      cmocka_promise(function, for_each_static, count)
#define FOR_EACH_STATIC_KIND(function, count) cmocka_promise(function, for_each_static_kind, count)
/* clang-format off */
#define cmocka_promise(function, loop, count) {#function, (loop), NULL, NULL, PROMISE(function, count)}
/* clang-format on */
void for_each_layout(void **promise);
void for_each_kind(void **promise);
void for_each_composite(void **promise);
void for_each_filter(void **promise);
void for_each_file(void **promise);
void for_each_static(void **promise);
void for_each_static_kind(void **promise);

/* ---- keys ---- */

/* Integer keys that never repeat: member(i) is no non_member(j) for all i and j below 2^62. */
uint64_t member(uint64_t i);
uint64_t non_member(uint64_t i);

/* Key number i for this filter: member(i) and non_member(i), or, for a kind that takes integers of
 * a range, small numbers: i itself, and FIRST_NON_MEMBER + i. Members are below the capacity if i
 * is. */
enum { FIRST_NON_MEMBER = 1 << 27 };
uint64_t member_of(const perhaps *f, uint64_t i);
uint64_t non_member_of(const perhaps *f, uint64_t i);

/* Kinds of integers refuse keys of bytes. */
bool takes_bytes(const perhaps *f);

/* Pseudo-random words, the same in every run. */
uint64_t next_random(uint64_t *state);

/* Byte keys of every awkward sort: empty, NUL bytes, one that is another's beginning, long ones. */
struct byte_keys {
    size_t n;
    const void **keys;
    size_t *lengths;
};
struct byte_keys make_byte_keys(size_t n, uint64_t seed);
void free_byte_keys(struct byte_keys *keys);

/* ---- filters ---- */

perhaps *make(const perhaps_want *want);

/* Adds members first .. first + n - 1; there must be room for them. */
void add_members(perhaps *f, uint64_t first, uint64_t n);

/* The same, one by one, as long as there is room: how many were added before PERHAPS_EFULL. */
uint64_t add_while_room(perhaps *f, uint64_t first, uint64_t n);

/* An answer, or a clear "full", which counts as 0. */
#define MUST_OR_FULL(call) must_succeed_or_be_full((call), #call, __FILE__, __LINE__)
int64_t must_succeed_or_be_full(int64_t answer, const char *what, const char *file, int line);

/* Prepares for queries: static kinds build their filter, others have nothing to do. */
void seal(perhaps *f);

/* A new filter of this layout with members 0..n-1 in it, ready for queries. */
perhaps *make_with_members(const struct layout *layout, uint64_t n);

/* A filter that must not grow, or whose layers have a limit, so that it can be full if any can. */
perhaps *make_limited(const struct layout *layout);

/* All members first..first+n-1 must be found. */
void expect_members(const perhaps *f, uint64_t first, uint64_t n);

/* How many of the non-members first..first+n-1 are found. */
uint64_t count_false_positives(const perhaps *f, uint64_t first, uint64_t n);

struct perhaps_info info_of(const perhaps *f);

/* ---- images ---- */

struct bytes {
    uint8_t *data;
    size_t length;
};

/* What a file of this filter would hold, made with perhaps_write. Free data with free(). */
struct bytes image_of(perhaps *f);
struct bytes copy_bytes(struct bytes bytes);
bool same_bytes(struct bytes a, struct bytes b);

/* Fails unless f's image is still `before`. */
void expect_unchanged(perhaps *f, struct bytes before);

/* A name in a folder that is made for this run; the same name gives the same path. */
const char *scratch(const char *name);
int remove_scratch(void **state);

struct bytes read_whole(const char *path);
void write_whole(const char *path, const void *data, size_t length);

#endif
