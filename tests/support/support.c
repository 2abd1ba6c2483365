#include "support.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is being tested at the moment, for messages. */
static char subject[96] = "(none)";

void name_subject(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(subject, sizeof subject, format, arguments);
    va_end(arguments);
}

void check_that(bool holds, const char *what, const char *file, int line, const char *format, ...) {
    if (holds) return;
    char seen[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(seen, sizeof seen, format, arguments);
    va_end(arguments);
    print_error("%s:%d: layout %s: not true: %s: %s\n", file, line, subject, what, seen);
    _fail(file, line);
}

int64_t must_succeed(int64_t answer, const char *what, const char *file, int line) {
    check_that(answer >= 0, what, file, line, "error %d, %s", (int)answer, perhaps_why());
    return answer;
}

void must_be_refused(int error, int64_t answer, const char *what, const char *file, int line) {
    check_that(answer == error, what, file, line, "answer %lld where %d (%s) was due; last reason: %s",
               (long long)answer, error, perhaps_strerror(error), perhaps_why());
    check_that(perhaps_why()[0] != '\0', what, file, line, "refused with error %d but without a reason", error);
}

int64_t must_succeed_or_be_full(int64_t answer, const char *what, const char *file, int line) {
    check_that(answer >= 0 || answer == PERHAPS_EFULL, what, file, line, "error %d, %s", (int)answer, perhaps_why());
    check_that(answer >= 0 || perhaps_why()[0], what, file, line, "full, but without a reason");
    return answer < 0 ? 0 : answer;
}

/* ---- how much to test ---- */

static enum test_size default_size(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return TEST_SMALL;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    return TEST_SMALL;
#endif
#endif
    return TEST_NORMAL;
}

enum test_size test_size(void) {
    const char *wish = getenv("PERHAPS_TEST_SIZE");
    if (!wish || !*wish) return default_size();
    if (strcmp(wish, "small") == 0) return TEST_SMALL;
    if (strcmp(wish, "normal") == 0) return TEST_NORMAL;
    CHECK(strcmp(wish, "long") == 0, "PERHAPS_TEST_SIZE is '%s'; it may be small, normal or long", wish);
    return TEST_LONG;
}

bool time_is_short(void) {
    const char *wish = getenv("PERHAPS_TEST_SIZE");
    return wish && strcmp(wish, "small") == 0;
}

bool test_everything(void) {
    return test_size() == TEST_LONG;
}

/* ---- layouts ---- */

static const struct layout *find_name(const struct layout *layouts, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(layouts[i].name, name) == 0) return &layouts[i];
    return NULL;
}

/* Bits and lines do not say how wide the slots of some kinds are. The rate and the size do. */
static void name_by_rate(struct layout *candidate, const struct layout *namesake) {
    if (namesake->row != candidate->row || namesake->plan.bytes == candidate->plan.bytes || candidate->want.lines)
        return;
    size_t length = strlen(candidate->name);
    snprintf(candidate->name + length, sizeof candidate->name - length, "-%g", candidate->want.fpr);
}

/* Plans the want; adds it to the list if it gives a layout that is not there yet. */
static size_t try_layout(struct layout *layouts, size_t n, const struct perhaps_kind_row *row, perhaps_want want) {
    struct layout *candidate = &layouts[n];
    *candidate = (struct layout){.row = row, .want = want, .items = want.items, .remembers = UINT64_MAX};
    candidate->plan.size = sizeof candidate->plan;
    candidate->in_order = !(row->can & PERHAPS_IN_PLACE); /* a file whose keys stay can change */
    if (perhaps_plan(&want, &candidate->plan) < 0) return n;
    snprintf(candidate->name, sizeof candidate->name, "%s-%ux%u", row->name, candidate->plan.hashes,
             candidate->plan.lines);
    const struct layout *namesake = find_name(layouts, n, candidate->name);
    if (namesake) name_by_rate(candidate, namesake);
    if (find_name(layouts, n, candidate->name)) return n;
    CHECK(n + 1 < MOST_LAYOUTS, "there are more layouts than MOST_LAYOUTS");
    return n + 1;
}

/* Only exact kinds can be planned without a rate. */
static bool plans_without_rate(const struct perhaps_kind_row *row) {
    struct perhaps_plan plan = {.size = sizeof plan};
    return perhaps_plan(&PERHAPS_WANT(.kind = row->kind, .items = 1000), &plan) == PERHAPS_OK;
}

static bool takes_seeds(const struct perhaps_kind_row *row) {
    perhaps *f = NULL;
    perhaps_create(&f, &PERHAPS_WANT(.kind = row->kind, .items = 5000, .fpr = 0.1, .seed = 1));
    perhaps_free(f);
    return f != NULL;
}

static bool can_be_added_to(const struct perhaps_kind_row *row) {
    return row->can & PERHAPS_ADD;
}

/* A kind's layouts: at 1 % whatever can be requested by name, at other rates what the planner
 * takes. Four to six are for multisets (places of a cuckoo filter), four for static kinds. Their
 * further rates are for the narrowest fingerprints, for whole bytes and for the widest. */
static size_t find_layouts_of(struct layout *layouts, size_t n, const struct perhaps_kind_row *row, uint64_t items) {
    static const double rates[] = {0.01, 0.1, 1e-3, 1e-4, 1e-6, 0.5, 0.004, 1.6e-5, 2.5e-10};
    static const unsigned hashes[] = {0, 8, 16, 32, 4, 6, 5};
    size_t shapes = row->can & PERHAPS_COUNT || !can_be_added_to(row) ? 7 : 4, before = n;
    for (size_t p = 0; p < (can_be_added_to(row) ? 5 : sizeof rates / sizeof *rates); p++)
        for (size_t h = 0; h < (p == 0 ? shapes : 1); h++)
            for (unsigned lines = 0; lines <= 1; lines++) {
                perhaps_want want = PERHAPS_WANT(.kind = row->kind, .items = items, .fpr = rates[p]);
                want.hashes = hashes[h];
                want.lines = lines;
                n = try_layout(layouts, n, row, want);
            }
    bool exact = plans_without_rate(row), hashed = takes_seeds(row);
    for (size_t i = before; i < n; i++) layouts[i].exact = exact, layouts[i].hashed = hashed;
    return n;
}

static size_t find_kinds(struct layout *layouts, uint64_t items, bool added_to) {
    size_t n = 0;
    const struct perhaps_kind_row *row;
    for (size_t r = 0; (row = perhaps_kind(r)); r++) {
        size_t before = n;
        if (can_be_added_to(row) != added_to) continue;
        n = find_layouts_of(layouts, n, row, items);
        CHECK(n > before, "kind %s has no layout for %llu keys: %s", row->name, (unsigned long long)items,
              perhaps_why());
    }
    CHECK(n > 0, "the table has no such kinds");
    return n;
}

size_t find_layouts(struct layout *layouts, uint64_t items) {
    return find_kinds(layouts, items, true);
}

size_t find_static(struct layout *layouts, uint64_t items) {
    return find_kinds(layouts, items, false);
}

size_t find_files(struct layout *layouts, uint64_t items) {
    static const double rates[] = {0.01, 0.1, 1e-3};
    size_t n = 0;
    for (size_t r = 0; perhaps_file_kind(r); r++) {
        const struct perhaps_kind_row *row = perhaps_file_kind(r);
        size_t before = n;
        for (size_t p = 0; p < sizeof rates / sizeof *rates; p++)
            n = try_layout(layouts, n, row, PERHAPS_WANT(.kind = row->kind, .items = items, .fpr = rates[p]));
        CHECK(n > before, "kind %s has no layout for %llu keys: %s", row->name, (unsigned long long)items,
              perhaps_why());
    }
    return n;
}

bool is_multiset(const struct layout *layout) {
    return layout->row->can & PERHAPS_COUNT;
}

bool is_static(const struct layout *layout) {
    return !can_be_added_to(layout->row);
}

bool grows(const struct layout *layout) {
    return layout->row->can & PERHAPS_GROW;
}

bool order_matters(const struct layout *layout) {
    return layout->in_order;
}

bool is_exact(const struct layout *layout) {
    return layout->exact;
}

bool hashes_keys(const struct layout *layout) {
    return layout->hashed;
}

static void hold_against(const struct promise *promise, const struct layout *layouts, size_t n, bool one_of_each_kind) {
    for (size_t i = 0; i < n; i++) {
        if (one_of_each_kind && i > 0 && layouts[i].row == layouts[i - 1].row) continue;
        snprintf(subject, sizeof subject, "%s", layouts[i].name);
        promise->holds(&layouts[i]);
    }
    snprintf(subject, sizeof subject, "(none)");
}

static uint64_t items_of(const struct promise *promise) {
    enum { FEW = 20000 };
    return time_is_short() && promise->items > FEW ? FEW : promise->items;
}

static void hold(const struct promise *promise, bool one_of_each_kind) {
    struct layout layouts[MOST_LAYOUTS];
    hold_against(promise, layouts, find_layouts(layouts, items_of(promise)), one_of_each_kind);
}

void for_each_layout(void **promise) {
    hold(*promise, false);
}

void for_each_kind(void **promise) {
    hold(*promise, true);
}

void for_each_composite(void **promise) {
    const struct promise *held = *promise;
    struct layout layouts[MOST_LAYOUTS];
    hold_against(held, layouts, find_composites(layouts, items_of(held), false), false);
}

void for_each_filter(void **promise) {
    for_each_kind(promise);
    for_each_composite(promise);
}

void for_each_file(void **promise) {
    const struct promise *held = *promise;
    struct layout layouts[MOST_LAYOUTS];
    hold_against(held, layouts, find_files(layouts, items_of(held)), false);
}

static void hold_against_static(const struct promise *promise, bool one_of_each_kind) {
    struct layout layouts[MOST_LAYOUTS];
    hold_against(promise, layouts, find_static(layouts, items_of(promise)), one_of_each_kind);
}

void for_each_static(void **promise) {
    hold_against_static(*promise, false);
}

void for_each_static_kind(void **promise) {
    hold_against_static(*promise, true);
}

/* ---- keys ---- */

/* A bijection, and not the library's: no test may pass because both use the same one. */
static uint64_t scramble(uint64_t x) {
    x += UINT64_C(0x632BE59BD9B4E019);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

uint64_t member(uint64_t i) {
    return scramble(2 * i);
}

uint64_t non_member(uint64_t i) {
    return scramble(2 * i + 1);
}

/* The digest of an integer is the integer itself only where nothing is hashed. */
bool takes_bytes(const perhaps *f) {
    return perhaps_digest_u64(perhaps_hasher_of(f), 1) != 1 || perhaps_digest_u64(perhaps_hasher_of(f), 2) != 2;
}

uint64_t member_of(const perhaps *f, uint64_t i) {
    return takes_bytes(f) ? member(i) : i;
}

uint64_t non_member_of(const perhaps *f, uint64_t i) {
    return takes_bytes(f) ? non_member(i) : FIRST_NON_MEMBER + i;
}

uint64_t next_random(uint64_t *state) {
    return scramble((*state)++);
}

static const size_t awkward_lengths[] = {0,  1,  2,  3,   4,   7,   8,   9,   15,   16,  17,
                                         63, 64, 65, 127, 128, 129, 240, 241, 1024, 5000};

struct byte_keys make_byte_keys(size_t n, uint64_t seed) {
    enum { AWKWARD = sizeof awkward_lengths / sizeof *awkward_lengths };
    struct byte_keys made = {n, calloc(n + 1, sizeof *made.keys), calloc(n + 1, sizeof *made.lengths)};
    CHECK(made.keys && made.lengths, "no memory for %zu keys", n);
    for (size_t i = 0; i < n; i++) {
        /* The first ones are all zero bytes, so that only their length tells them apart. */
        size_t length = i < AWKWARD ? awkward_lengths[i] : 9 + (size_t)(next_random(&seed) % 40);
        uint8_t *key = calloc(1, length + 1);
        CHECK(key, "no memory for a key of %zu bytes", length);
        if (i >= AWKWARD) {
            for (size_t j = 8; j < length; j++) key[j] = (uint8_t)next_random(&seed);
            memcpy(key, &(uint64_t){i}, 8);
        }
        made.keys[i] = key;
        made.lengths[i] = length;
    }
    return made;
}

void free_byte_keys(struct byte_keys *keys) {
    for (size_t i = 0; i < keys->n; i++) free((void *)keys->keys[i]);
    free(keys->keys);
    free(keys->lengths);
}

/* ---- filters ---- */

perhaps *make(const perhaps_want *want) {
    perhaps *f = NULL;
    MUST(perhaps_create(&f, want));
    CHECK(f, "perhaps_create answered OK and gave no filter");
    return f;
}

enum { CHUNK = 4096 };

enum whose { MEMBERS = 0, NON_MEMBERS = 1 };

/* Members or non-members, as member_of and non_member_of give them; looks at the kind once. */
static size_t fill_chunk(const perhaps *f, uint64_t *keys, enum whose whose, uint64_t first, uint64_t left) {
    size_t n = left < CHUNK ? (size_t)left : CHUNK;
    bool hashed = takes_bytes(f);
    uint64_t small = first + (whose == NON_MEMBERS ? FIRST_NON_MEMBER : 0);
    for (size_t i = 0; i < n; i++) keys[i] = hashed ? scramble(2 * (first + i) + whose) : small + i;
    return n;
}

void add_members(perhaps *f, uint64_t first, uint64_t n) {
    uint64_t keys[CHUNK];
    for (uint64_t done = 0; done < n;) {
        size_t some = fill_chunk(f, keys, MEMBERS, first + done, n - done);
        MUST(perhaps_add_many(f, &PERHAPS_KEYS_U64(keys, 0, some), NULL));
        done += some;
    }
}

uint64_t add_while_room(perhaps *f, uint64_t first, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        int answer = perhaps_add_u64(f, member_of(f, first + i));
        MUST_OR_FULL(answer);
        if (answer == PERHAPS_EFULL) return i;
    }
    return n;
}

void seal(perhaps *f) {
    MUST(perhaps_seal(f, NULL));
}

perhaps *make_with_members(const struct layout *layout, uint64_t n) {
    perhaps *f = make(&layout->want);
    add_members(f, 0, n);
    seal(f);
    return f;
}

static uint64_t count_found(const perhaps *f, enum whose whose, uint64_t first, uint64_t n) {
    uint64_t keys[CHUNK], found = 0;
    for (uint64_t done = 0; done < n;) {
        size_t some = fill_chunk(f, keys, whose, first + done, n - done);
        found += (uint64_t)MUST(perhaps_contains_many(f, &PERHAPS_KEYS_U64(keys, 0, some), NULL));
        done += some;
    }
    return found;
}

void expect_members(const perhaps *f, uint64_t first, uint64_t n) {
    uint64_t found = count_found(f, MEMBERS, first, n);
    CHECK(found == n, "only %llu of %llu added keys are found", (unsigned long long)found, (unsigned long long)n);
}

uint64_t count_false_positives(const perhaps *f, uint64_t first, uint64_t n) {
    return count_found(f, NON_MEMBERS, first, n);
}

struct perhaps_info info_of(const perhaps *f) {
    struct perhaps_info info = {.size = sizeof info};
    MUST(perhaps_info(f, &info));
    return info;
}

/* ---- images ---- */

/* Many pieces, few allocations. */
static size_t room_for(size_t length) {
    size_t room = 64;
    while (room < length) room *= 2;
    return room;
}

static int append(void *context, const void *data, size_t length) {
    struct bytes *all = context;
    size_t sum = all->length + length;
    if (!all->data || room_for(sum) > room_for(all->length)) all->data = realloc(all->data, room_for(sum));
    if (!all->data) return 1;
    memcpy(all->data + all->length, data, length);
    all->length = sum;
    return 0;
}

/* Just as long as it is, so that a sanitizer sees a read past the end. */
struct bytes image_of(perhaps *f) {
    struct bytes image = {NULL, 0};
    seal(f); /* of those that still collect keys there is no image */
    MUST(perhaps_write(f, append, &image));
    image.data = realloc(image.data, image.length + 1);
    return image;
}

struct bytes copy_bytes(struct bytes bytes) {
    struct bytes copy = {malloc(bytes.length + 1), bytes.length};
    CHECK(copy.data, "no memory for %zu bytes", bytes.length);
    memcpy(copy.data, bytes.data, bytes.length);
    return copy;
}

bool same_bytes(struct bytes a, struct bytes b) {
    return a.length == b.length && memcmp(a.data, b.data, a.length) == 0;
}

void expect_unchanged(perhaps *f, struct bytes before) {
    struct bytes now = image_of(f);
    CHECK(same_bytes(before, now), "the filter's image changed (%zu bytes before, %zu now)", before.length, now.length);
    free(now.data);
}

/* ---- files ---- */

static char scratch_folder[64];

const char *scratch(const char *name) {
    static char paths[8][160];
    static unsigned turn;
    if (!*scratch_folder) {
        snprintf(scratch_folder, sizeof scratch_folder, "perhaps-test-XXXXXX");
        CHECK(mkdtemp(scratch_folder), "cannot make a folder for test files: %s", strerror(errno));
    }
    char *path = paths[turn++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", scratch_folder, name);
    return path;
}

int remove_scratch(void **state) {
    (void)state;
    DIR *folder = *scratch_folder ? opendir(scratch_folder) : NULL;
    if (!folder) return 0;
    struct dirent *entry;
    while ((entry = readdir(folder))) {
        char path[400];
        snprintf(path, sizeof path, "%s/%s", scratch_folder, entry->d_name);
        bool itself = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        if (!itself && unlink(path) != 0) rmdir(path);
    }
    closedir(folder);
    rmdir(scratch_folder);
    *scratch_folder = '\0';
    return 0;
}

struct bytes read_whole(const char *path) {
    struct bytes all = {NULL, 0};
    FILE *file = fopen(path, "rb");
    CHECK(file, "cannot open %s: %s", path, strerror(errno));
    uint8_t part[65536];
    size_t got;
    while ((got = fread(part, 1, sizeof part, file)) > 0) CHECK(append(&all, part, got) == 0, "no memory for %s", path);
    CHECK(!ferror(file), "cannot read %s", path);
    fclose(file);
    return all;
}

void write_whole(const char *path, const void *data, size_t length) {
    FILE *file = fopen(path, "wb");
    CHECK(file, "cannot create %s: %s", path, strerror(errno));
    size_t put = fwrite(data, 1, length, file);
    CHECK(fclose(file) == 0 && put == length, "cannot write %s: %s", path, strerror(errno));
}
