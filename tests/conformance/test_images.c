/* Saving and opening give the same filter, in every mode; files that change in place are safe. */
#include "support.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ITEMS = 1000, LARGE = 1000000 }; /* a LARGE filter has more than one block of checksums */

static void expect_same_filter(perhaps *f, perhaps *g) {
    struct bytes image = image_of(f);
    expect_unchanged(g, image);
    CHECK(perhaps_equal(f, g) == 1, "an opened filter is not equal to the saved one");
    struct perhaps_info a = info_of(f), b = info_of(g);
    CHECK(a.items == b.items && a.capacity == b.capacity && a.fpr_target == b.fpr_target,
          "items %llu and %llu, capacity %llu and %llu, target %g and %g", (unsigned long long)a.items,
          (unsigned long long)b.items, (unsigned long long)a.capacity, (unsigned long long)b.capacity, a.fpr_target,
          b.fpr_target);
    expect_members(g, 0, a.items); /* at least that many were added */
    free(image.data);
}

/* The calls that change a filter which is already there with others of its kind. */
static int combine(perhaps *f, int verb) {
    static int (*const verbs[])(perhaps *, const perhaps *) = {perhaps_merge, perhaps_intersect, perhaps_subtract,
                                                               perhaps_differ};
    return verbs[verb](f, f);
}

/* Refused because the filter is read-only, or because its kind cannot do that anyway. */
static int due(const perhaps *f, unsigned ability) {
    return info_of(f).can & ability ? PERHAPS_EREADONLY : PERHAPS_ECANNOT;
}

/* A static filter that is sealed would take no keys even if it could be changed. */
static int due_for_adding(const perhaps *f) {
    return info_of(f).can & PERHAPS_ADD ? PERHAPS_EREADONLY : PERHAPS_ESEALED;
}

/* Every call that would change a read-only filter is refused, and nothing happens. */
static void expect_read_only(perhaps *f) {
    static const unsigned abilities[] = {PERHAPS_MERGE, PERHAPS_INTERSECT, PERHAPS_SUBTRACT, PERHAPS_SUBTRACT};
    struct bytes before = image_of(f);
    uint64_t key = non_member_of(f, 1);
    const void *keys[] = {"a"};
    size_t lengths[] = {1};
    int adding_due = due_for_adding(f), bytes_due = takes_bytes(f) ? adding_due : PERHAPS_ECANNOT;
    CHECK(info_of(f).read_only == 1, "info does not say that the filter is read-only");
    REFUSED(bytes_due, perhaps_add(f, "a", 1));
    REFUSED(bytes_due, perhaps_add_absent(f, "a", 1));
    REFUSED(bytes_due, perhaps_add_many(f, &PERHAPS_KEYS_BYTES(keys, lengths, 1), NULL));
    REFUSED(adding_due, perhaps_add_u64(f, key));
    REFUSED(adding_due, perhaps_add_digest(f, key));
    REFUSED(adding_due, perhaps_add_absent_u64(f, key));
    REFUSED(adding_due, perhaps_add_absent_digest(f, key));
    REFUSED(adding_due, perhaps_add_many(f, &PERHAPS_KEYS_U64(&key, 0, 1), NULL));
    REFUSED(adding_due, perhaps_add_many(f, &PERHAPS_KEYS_DIGEST(&key, 1), NULL));
    key = member_of(f, 0);
    REFUSED(due(f, PERHAPS_REMOVE), perhaps_remove_u64(f, key));
    REFUSED(due(f, PERHAPS_REMOVE), perhaps_remove_digest(f, key));
    REFUSED(due(f, PERHAPS_REMOVE), perhaps_remove_many(f, &PERHAPS_KEYS_U64(&key, 0, 1), NULL));
    REFUSED(due(f, PERHAPS_REMOVE), perhaps_remove_many(f, &PERHAPS_KEYS_DIGEST(&key, 1), NULL));
    for (int i = 0; i < 4; i++) REFUSED(due(f, abilities[i]), combine(f, i));
    REFUSED(PERHAPS_EREADONLY, perhaps_clear(f));
    expect_unchanged(f, before);
    free(before.data);
}

/* A changeable copy: changing it changes neither the source nor its image. */
static void expect_own_copy(perhaps *f, struct bytes source) {
    struct bytes before = copy_bytes(source);
    CHECK(info_of(f).read_only == 0, "a copy is read-only");
    if (!(info_of(f).can & PERHAPS_ADD)) MUST(perhaps_clear(f));
    uint64_t added = add_while_room(f, 50000000, 500);
    seal(f);
    expect_members(f, 50000000, added);
    if (info_of(f).can & PERHAPS_REMOVE) MUST(perhaps_remove_u64(f, member_of(f, 0)));
    CHECK(same_bytes(before, source), "a change of the copy reached the bytes it was opened from");
    free(before.data);
}

static void memory_round_trips(const struct layout *layout) {
    perhaps *f = make_with_members(layout, layout->items), *g = NULL;
    struct bytes image = image_of(f);
    MUST(perhaps_open_memory(&g, image.data, image.length, NULL));
    expect_same_filter(f, g);
    expect_read_only(g);
    perhaps_free(g);

    MUST(perhaps_open_memory(&g, image.data, image.length, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY)));
    expect_same_filter(f, g);
    expect_own_copy(g, image);
    perhaps_free(g);

    MUST(perhaps_open_memory(&g, image.data, image.length, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_NO_VERIFY)));
    expect_same_filter(f, g);
    perhaps_free(g);
    free(image.data);
    perhaps_free(f);
}

static void any_alignment_will_do(const struct layout *layout) {
    perhaps *f = make_with_members(layout, ITEMS);
    struct bytes image = image_of(f);
    uint8_t *room = malloc(image.length + 64);
    CHECK(room, "no memory");
    for (size_t shift = 0; shift < 64; shift = shift < 9 ? shift + 1 : 2 * shift - 3) {
        perhaps *g = NULL;
        memmove(room + shift, image.data, image.length);
        MUST(perhaps_open_memory(&g, room + shift, image.length, NULL));
        expect_same_filter(f, g);
        perhaps_free(g);
    }
    free(room);
    free(image.data);
    perhaps_free(f);
}

static void the_image_in_place_is_what_is_written(const struct layout *layout) {
    perhaps *f = make_with_members(layout, ITEMS);
    /* Again after a change: checksums are brought up to date. */
    for (int round = 0; round < 2; round++) {
        struct bytes written = image_of(f);
        const void *bytes = NULL;
        uint64_t length = 0;
        MUST(perhaps_image(f, &bytes, &length));
        CHECK(same_bytes(written, (struct bytes){(uint8_t *)bytes, (size_t)length}),
              "perhaps_image and perhaps_write differ");
        perhaps *g = NULL;
        MUST(perhaps_open_memory(&g, bytes, length, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY)));
        expect_same_filter(f, g);
        perhaps_free(g);
        free(written.data);
        if (is_static(layout)) MUST(perhaps_clear(f));
        add_while_room(f, is_static(layout) ? 0 : ITEMS, 10);
    }
    perhaps_free(f);
}

static void file_round_trips(const struct layout *layout) {
    const char *path = scratch("round.ph");
    perhaps *f = make_with_members(layout, layout->items), *g = NULL;
    MUST(perhaps_save(f, path));
    struct bytes image = image_of(f), file = read_whole(path);
    CHECK(same_bytes(image, file), "the file of %zu bytes is not the image of %zu", file.length, image.length);
    CHECK(info_of(f).image_bytes == file.length, "info says %llu bytes", (unsigned long long)info_of(f).image_bytes);

    static const unsigned flags[] = {0, PERHAPS_OPEN_NO_VERIFY, PERHAPS_OPEN_RECOVER, PERHAPS_OPEN_COPY,
                                     PERHAPS_OPEN_COPY | PERHAPS_OPEN_NO_VERIFY};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        MUST(perhaps_open(&g, path, &PERHAPS_OPEN(.flags = flags[i])));
        expect_same_filter(f, g);
        if (flags[i] & PERHAPS_OPEN_COPY)
            expect_own_copy(g, image);
        else
            expect_read_only(g);
        perhaps_free(g);
        struct bytes now = read_whole(path);
        CHECK(same_bytes(now, file), "opening with flags %u changed the file", flags[i]);
        free(now.data);
    }
    free(image.data);
    free(file.data);
    perhaps_free(f);
    unlink(path);
}

static void saving_again_replaces(const struct layout *layout) {
    const char *path = scratch("again.ph");
    perhaps *f = make_with_members(layout, ITEMS / 2), *mapped = NULL, *now = NULL;
    MUST(perhaps_save(f, path));
    MUST(perhaps_open(&mapped, path, NULL));
    struct bytes before = image_of(mapped);
    if (is_static(layout)) MUST(perhaps_clear(f));
    add_members(f, is_static(layout) ? 0 : ITEMS / 2, ITEMS / 2 - 1);
    seal(f);
    MUST(perhaps_save(f, path));
    expect_unchanged(mapped, before); /* a reader keeps the file that it opened */
    MUST(perhaps_open(&now, path, NULL));
    expect_same_filter(f, now);
    free(before.data);
    perhaps_free(mapped);
    perhaps_free(now);
    perhaps_free(f);
    unlink(path);
}

/* ---- files changed in place ---- */

static perhaps *open_for_writing(const char *path) {
    perhaps *f = NULL;
    MUST(perhaps_open(&f, path, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_WRITE)));
    CHECK(info_of(f).read_only == 0, "a file opened for writing is read-only");
    return f;
}

static void changes_in_place_last(const struct layout *layout) {
    if (!(layout->row->can & PERHAPS_IN_PLACE)) return;
    const char *path = scratch("write.ph");
    uint64_t items = layout->want.items;
    perhaps *whole = make_with_members(layout, items), *f = make_with_members(layout, items / 2);
    MUST(perhaps_save(f, path));
    perhaps_free(f);
    f = open_for_writing(path);
    for (uint64_t i = items / 2; i < items / 2 + 10; i++) MUST(perhaps_add_u64(f, member_of(f, i)));
    MUST(perhaps_sync(f));
    add_members(f, items / 2 + 10, items - items / 2 - 10);
    MUST(perhaps_sync(f));
    perhaps_free(f);
    MUST(perhaps_open(&f, path, NULL));
    expect_same_filter(whole, f);
    perhaps_free(f);
    perhaps_free(whole);
    unlink(path);
}

/* Kinds that move keys, or have children, are never half-way in a file. */
static void kinds_that_move_keys_are_not_changed_in_place(const struct layout *layout) {
    if (layout->row->can & PERHAPS_IN_PLACE) return;
    const char *path = scratch("moving.ph");
    perhaps *f = make_with_members(layout, ITEMS), *g = NULL;
    MUST(perhaps_save(f, path));
    struct bytes before = read_whole(path);
    REFUSED(is_static(layout) ? PERHAPS_ESEALED : PERHAPS_ECANNOT,
            perhaps_open(&g, path, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_WRITE)));
    CHECK(g == NULL && strstr(perhaps_why(), path), "the reason does not name the file: %s", perhaps_why());
    struct bytes after = read_whole(path);
    CHECK(same_bytes(before, after), "the refusal changed the file");
    MUST(perhaps_save(f, path)); /* it is not locked any more */
    perhaps_free(f);
    free(before.data);
    free(after.data);
    unlink(path);
}

/* Removing in place: what is synced is what is there. */
static void removes_in_place_last(const struct layout *layout) {
    if (!(layout->row->can & PERHAPS_IN_PLACE) || !(layout->row->can & PERHAPS_REMOVE)) return;
    const char *path = scratch("removes.ph");
    perhaps *f = make_with_members(layout, ITEMS), *half = make(&layout->want);
    MUST(perhaps_save(f, path));
    perhaps_free(f);
    f = open_for_writing(path);
    add_members(half, ITEMS / 2, ITEMS / 2);
    for (uint64_t i = 0; i < ITEMS / 2; i++)
        CHECK(MUST(perhaps_remove_u64(f, member_of(f, i))) == 1, "a key is missed");
    MUST(perhaps_sync(f));
    perhaps_free(f);
    MUST(perhaps_open(&f, path, NULL));
    CHECK(perhaps_equal(f, half) == 1 && info_of(f).items == ITEMS / 2, "%llu items are left",
          (unsigned long long)info_of(f).items);
    perhaps_free(f);
    perhaps_free(half);
    unlink(path);
}

/* A file cannot get longer under a map. */
static void a_file_changed_in_place_does_not_grow(const struct layout *layout) {
    if (!(layout->row->can & PERHAPS_IN_PLACE) || !grows(layout)) return;
    const char *path = scratch("longer.ph");
    perhaps *f = make_with_members(layout, ITEMS / 2);
    MUST(perhaps_save(f, path));
    perhaps_free(f);
    f = open_for_writing(path);
    REFUSED(PERHAPS_EFULL, perhaps_add_u64(f, member_of(f, 100 * ITEMS)));
    add_members(f, ITEMS / 2, ITEMS / 2);
    MUST(perhaps_sync(f));
    expect_members(f, 0, ITEMS);
    perhaps_free(f);
    unlink(path);
}

static void an_unfinished_writer_leaves_a_dirty_file(const struct layout *layout) {
    if (!(layout->row->can & PERHAPS_IN_PLACE)) return;
    const char *path = scratch("dirty.ph");
    perhaps *f = make(&layout->want), *g = NULL;
    MUST(perhaps_save(f, path));
    perhaps_free(f);
    f = open_for_writing(path);
    add_members(f, 0, ITEMS);
    perhaps_free(f);
    REFUSED(PERHAPS_EDIRTY, perhaps_open(&g, path, NULL));
    CHECK(strstr(perhaps_why(), path), "the reason does not name the file: %s", perhaps_why());
    REFUSED(PERHAPS_EDIRTY, perhaps_open(&g, path, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY)));
    REFUSED(PERHAPS_EDIRTY, perhaps_open(&g, path, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_WRITE)));

    MUST(perhaps_open(&g, path, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_RECOVER)));
    expect_members(g, 0, ITEMS);
    CHECK(fabs((double)info_of(g).items / ITEMS - 1) < 0.1, "recovered %llu items of %d",
          (unsigned long long)info_of(g).items, ITEMS);
    const void *bytes;
    uint64_t length;
    REFUSED(PERHAPS_EREADONLY, perhaps_image(g, &bytes, &length));
    perhaps_free(g);

    MUST(perhaps_open(&g, path, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_RECOVER | PERHAPS_OPEN_WRITE)));
    MUST(perhaps_sync(g));
    perhaps_free(g);
    MUST(perhaps_open(&g, path, NULL)); /* clean again */
    expect_members(g, 0, ITEMS);
    perhaps_free(g);
    unlink(path);
}

static void opening_for_writing_alone_dirties_nothing(const struct layout *layout) {
    if (!(layout->row->can & PERHAPS_IN_PLACE)) return;
    const char *path = scratch("idle.ph");
    perhaps *f = make_with_members(layout, ITEMS);
    MUST(perhaps_save(f, path));
    struct bytes before = read_whole(path);
    perhaps_free(open_for_writing(path));
    struct bytes after = read_whole(path);
    CHECK(same_bytes(before, after), "a writer that changed nothing changed the file");
    perhaps_free(f);
    free(before.data);
    free(after.data);
    unlink(path);
}

/* Saving over it would leave the writer's later changes in a file that nobody sees any more. */
static void a_file_changed_in_place_is_not_replaced(const struct layout *layout) {
    if (!(layout->row->can & PERHAPS_IN_PLACE)) return;
    const char *path = scratch("both.ph");
    perhaps *f = make_with_members(layout, ITEMS / 2), *g;
    MUST(perhaps_save(f, path));
    g = open_for_writing(path);
    add_members(g, ITEMS / 2, ITEMS / 4);
    REFUSED(PERHAPS_EBUSY, perhaps_save(g, path));
    REFUSED(PERHAPS_EBUSY, perhaps_save(f, path));
    CHECK(strstr(perhaps_why(), path), "the reason does not name the file: %s", perhaps_why());
    add_members(g, ITEMS * 3 / 4, ITEMS / 4);
    MUST(perhaps_sync(g));
    perhaps_free(g);
    MUST(perhaps_open(&g, path, NULL));
    expect_members(g, 0, ITEMS);
    MUST(perhaps_save(f, path)); /* readers do not stand in the way */
    perhaps_free(f);
    perhaps_free(g);
    unlink(path);
}

/* The child holds the file open for writing until the parent has tried. */
static void hold_for_writing(const char *path, int ready, int done) {
    perhaps *f = NULL;
    char word = perhaps_open(&f, path, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_WRITE)) < 0 ? 'x' : 'o';
    if (write(ready, &word, 1) != 1 || read(done, &word, 1) < 0) _exit(1);
    perhaps_free(f);
    _exit(0);
}

static void there_is_one_writer_at_a_time(const struct layout *layout) {
    if (!(layout->row->can & PERHAPS_IN_PLACE)) return;
    const char *path = scratch("busy.ph");
    perhaps *f = make_with_members(layout, ITEMS), *g = NULL;
    MUST(perhaps_save(f, path));
    int ready[2], done[2];
    CHECK(pipe(ready) == 0 && pipe(done) == 0, "no pipes: %s", strerror(errno));
    pid_t child = fork();
    CHECK(child >= 0, "no second process: %s", strerror(errno));
    if (child == 0) hold_for_writing(path, ready[1], done[0]);
    char word = 0;
    CHECK(read(ready[0], &word, 1) == 1 && word == 'o', "the first writer could not open the file");
    int refused = perhaps_open(&g, path, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_WRITE));
    bool named = strstr(perhaps_why(), path) != NULL;
    CHECK(write(done[1], "d", 1) == 1 && waitpid(child, NULL, 0) == child, "the first writer did not end");
    CHECK(refused == PERHAPS_EBUSY && named, "a second writer got %d: %s", refused, perhaps_why());
    perhaps_free(open_for_writing(path)); /* the file is free again */
    for (int i = 0; i < 2; i++) close(ready[i]), close(done[i]);
    perhaps_free(f);
    unlink(path);
}

/* ---- what cannot be opened or written ---- */

static int stop_at_once(void *context, const void *bytes, size_t length) {
    (void)bytes;
    (void)length;
    ++*(int *)context;
    return 1;
}

static void a_sink_that_fails_stops_the_writing(const struct layout *layout) {
    perhaps *f = make_with_members(layout, ITEMS);
    int calls = 0;
    REFUSED(PERHAPS_EIO, perhaps_write(f, stop_at_once, &calls));
    CHECK(calls == 1, "a sink that failed was called %d times", calls);
    perhaps_free(f);
}

static void expect_cannot_open(int error, const char *path) {
    static const unsigned flags[] = {0, PERHAPS_OPEN_COPY, PERHAPS_OPEN_WRITE, PERHAPS_OPEN_NO_VERIFY};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        perhaps *f = (perhaps *)&flags;
        REFUSED(error, perhaps_open(&f, path, &PERHAPS_OPEN(.flags = flags[i])));
        CHECK(f == NULL, "a failed open left a pointer");
        CHECK(strstr(perhaps_why(), path), "the reason does not name %s: %s", path, perhaps_why());
    }
}

static void things_that_are_no_images_are_refused(void **state) {
    (void)state;
    expect_cannot_open(PERHAPS_EIO, scratch("missing.ph"));
    expect_cannot_open(PERHAPS_EIO, scratch("no/such/folder/f.ph"));
    const char *folder = scratch("folder");
    CHECK(mkdir(folder, 0700) == 0, "mkdir: %s", strerror(errno));
    expect_cannot_open(PERHAPS_EIO, folder);
    const char *text = scratch("text");
    write_whole(text, "", 0);
    expect_cannot_open(PERHAPS_EFOREIGN, text);
    char prose[4000];
    for (size_t i = 0; i < sizeof prose; i++) prose[i] = (char)('a' + i % 26);
    write_whole(text, prose, sizeof prose);
    expect_cannot_open(PERHAPS_EFOREIGN, text);
    write_whole(text, prose, 10);
    expect_cannot_open(PERHAPS_EFOREIGN, text);
    unlink(text);
}

static void nonsense_is_refused(const struct layout *layout) {
    perhaps *f = make(&layout->want), *g = NULL;
    struct bytes image = image_of(f);
    REFUSED(PERHAPS_EINVAL, perhaps_open_memory(&g, image.data, image.length, &(perhaps_open_options){.size = 0}));
    REFUSED(PERHAPS_EINVAL, perhaps_open_memory(&g, image.data, image.length, &PERHAPS_OPEN(.flags = 1u << 20)));
    REFUSED(PERHAPS_EINVAL, perhaps_open_memory(&g, image.data, image.length,
                                                &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY | PERHAPS_OPEN_WRITE)));
    MUST(perhaps_sync(f)); /* nothing to do for a filter in memory */
    perhaps_free(NULL);
    free(image.data);
    perhaps_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOR_EACH_LAYOUT(memory_round_trips, ITEMS),
        FOR_EACH_KIND(memory_round_trips, LARGE),
        FOR_EACH_COMPOSITE(memory_round_trips, ITEMS),
        FOR_EACH_LAYOUT(any_alignment_will_do, ITEMS),
        FOR_EACH_COMPOSITE(any_alignment_will_do, ITEMS),
        FOR_EACH_COMPOSITE(the_image_in_place_is_what_is_written, ITEMS),
        FOR_EACH_LAYOUT(the_image_in_place_is_what_is_written, ITEMS),
        FOR_EACH_LAYOUT(file_round_trips, ITEMS),
        FOR_EACH_KIND(file_round_trips, LARGE),
        FOR_EACH_COMPOSITE(file_round_trips, ITEMS),
        FOR_EACH_COMPOSITE(file_round_trips, LARGE / 20),
        FOR_EACH_FILTER(saving_again_replaces, ITEMS),
        FOR_EACH_LAYOUT(changes_in_place_last, ITEMS),
        FOR_EACH_KIND(changes_in_place_last, LARGE),
        FOR_EACH_FILTER(kinds_that_move_keys_are_not_changed_in_place, ITEMS),
        FOR_EACH_LAYOUT(removes_in_place_last, ITEMS),
        FOR_EACH_KIND(a_file_changed_in_place_does_not_grow, ITEMS),
        FOR_EACH_LAYOUT(an_unfinished_writer_leaves_a_dirty_file, ITEMS),
        FOR_EACH_KIND(opening_for_writing_alone_dirties_nothing, ITEMS),
        FOR_EACH_KIND(a_file_changed_in_place_is_not_replaced, ITEMS),
        FOR_EACH_KIND(there_is_one_writer_at_a_time, ITEMS),
        FOR_EACH_FILTER(a_sink_that_fails_stops_the_writing, ITEMS),
        cmocka_unit_test(things_that_are_no_images_are_refused),
        FOR_EACH_FILTER(nonsense_is_refused, ITEMS),
        FOR_EACH_STATIC(memory_round_trips, ITEMS),
        FOR_EACH_STATIC(any_alignment_will_do, ITEMS),
        FOR_EACH_STATIC(the_image_in_place_is_what_is_written, ITEMS),
        FOR_EACH_STATIC(file_round_trips, ITEMS),
        FOR_EACH_STATIC_KIND(file_round_trips, LARGE),
        FOR_EACH_STATIC_KIND(saving_again_replaces, ITEMS),
        FOR_EACH_STATIC_KIND(kinds_that_move_keys_are_not_changed_in_place, ITEMS),
        FOR_EACH_STATIC_KIND(a_sink_that_fails_stops_the_writing, ITEMS),
        FOR_EACH_STATIC_KIND(nonsense_is_refused, ITEMS),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
