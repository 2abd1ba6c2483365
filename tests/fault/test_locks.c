/* Files that several processes change: the holder of a lock loses nothing, others are told. */
#include "support.h"

#include <perhaps_embed.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ITEMS = 4000, PROCESSES = 8, SHARE = ITEMS / PROCESSES };

static perhaps *open_copy(const char *path) {
    perhaps *f = NULL;
    MUST(perhaps_open(&f, path, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY)));
    return f;
}

static void save_new(const struct layout *layout, const char *path, uint64_t members) {
    perhaps *f = make(&layout->want);
    add_members(f, 0, members);
    MUST(perhaps_save(f, path));
    perhaps_free(f);
}

/* ---- who is kept out ---- */

/* All who would replace or change the file; readers are none of them. */
static void expect_busy(const struct layout *layout, const perhaps *f, const char *path) {
    perhaps_lock *lock = NULL;
    perhaps *g = NULL;
    REFUSED(PERHAPS_EBUSY, perhaps_lock_file(&lock, path));
    CHECK(!lock && strstr(perhaps_why(), path), "a lock, or no reason: %s", perhaps_why());
    REFUSED(PERHAPS_EBUSY, perhaps_save(f, path));
    if (layout->row->can & PERHAPS_IN_PLACE)
        REFUSED(PERHAPS_EBUSY, perhaps_open(&g, path, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_WRITE)));
    MUST(perhaps_open(&g, path, NULL));
    perhaps_free(g);
}

static void a_lock_keeps_others_out(const struct layout *layout) {
    const char *path = scratch("locked.ph"), *link = scratch("link.ph");
    perhaps_lock *lock = NULL;
    save_new(layout, path, 10);
    CHECK(symlink("locked.ph", link) == 0, "symlink: %s", strerror(errno));
    perhaps *f = open_copy(path);
    for (int through_link = 0; through_link < 2; through_link++) {
        MUST(perhaps_lock_file(&lock, through_link ? link : path));
        expect_busy(layout, f, path);
        expect_busy(layout, f, link);
        for (int i = 0; i < 3; i++) { /* it goes over to the new file, each time */
            MUST(perhaps_save_locked(f, lock));
            expect_busy(layout, f, path);
        }
        perhaps_unlock(lock);
        MUST(perhaps_save(f, path));
    }
    perhaps_unlock(NULL);
    perhaps_free(f);
    unlink(path);
    unlink(link);
}

static void a_file_changed_in_place_cannot_be_locked(const struct layout *layout) {
    if (!(layout->row->can & PERHAPS_IN_PLACE)) return;
    const char *path = scratch("in_place.ph");
    perhaps_lock *lock = NULL;
    perhaps *f = NULL;
    save_new(layout, path, 10);
    MUST(perhaps_open(&f, path, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_WRITE)));
    REFUSED(PERHAPS_EBUSY, perhaps_lock_file(&lock, path));
    perhaps_free(f);
    MUST(perhaps_lock_file(&lock, path));
    perhaps_unlock(lock);
    unlink(path);
}

/* ---- names of files that are not there yet ---- */

static void a_name_can_be_locked(const struct layout *layout) {
    const char *path = scratch("new.ph");
    perhaps_lock *lock = NULL, *second = NULL;
    perhaps *f = make_with_members(layout, 10), *other = make_with_members(layout, 20), *found = NULL;
    MUST(perhaps_lock_file(&lock, path));
    CHECK(access(path, F_OK) < 0, "a lock has made a file");
    MUST(perhaps_save_locked(f, lock));
    REFUSED(PERHAPS_EBUSY, perhaps_lock_file(&second, path)); /* it is on the file from now on */
    MUST(perhaps_save_locked(f, lock));
    perhaps_unlock(lock);
    unlink(path);

    MUST(perhaps_lock_file(&lock, path)); /* two who make it: the first one has */
    MUST(perhaps_lock_file(&second, path));
    MUST(perhaps_save_locked(other, second));
    REFUSED(PERHAPS_EBUSY, perhaps_save_locked(f, lock));
    CHECK(strstr(perhaps_why(), path), "the reason does not name the file: %s", perhaps_why());
    perhaps_unlock(lock);
    perhaps_unlock(second);
    MUST(perhaps_open(&found, path, NULL));
    CHECK(perhaps_equal(found, other) == 1, "the other's file was replaced");
    perhaps_free(found);
    perhaps_free(other);
    perhaps_free(f);
    unlink(path);
}

/* A process that takes no lock can move or remove a file; what is there then is not overwritten by
 * those who have read another. */
static void a_lock_on_a_file_that_is_gone(const struct layout *layout) {
    const char *path = scratch("gone.ph"), *other = scratch("other.ph");
    for (int removed = 0; removed < 2; removed++) {
        perhaps_lock *first = NULL, *second = NULL;
        save_new(layout, path, 10);
        save_new(layout, other, 20);
        MUST(perhaps_lock_file(&first, path));
        CHECK((removed ? unlink(path) : rename(other, path)) == 0, "%s", strerror(errno));
        perhaps *f = make_with_members(layout, 5);
        if (!removed) MUST(perhaps_lock_file(&second, path));
        REFUSED(PERHAPS_EBUSY, perhaps_save_locked(f, first));
        CHECK(strstr(perhaps_why(), path), "reason: %s", perhaps_why());
        if (!removed) MUST(perhaps_save_locked(f, second));
        perhaps_unlock(second);
        perhaps_unlock(first);
        MUST(perhaps_save(f, path));
        perhaps_free(f);
        unlink(path);
        unlink(other);
    }
}

static void what_is_no_file_cannot_be_locked(const struct layout *layout) {
    (void)layout;
    perhaps_lock *lock = NULL;
    const char *folder = scratch("folder"), *pipe_name = scratch("pipe"), *nowhere = scratch("nowhere");
    CHECK(mkdir(folder, 0700) == 0 && mkfifo(pipe_name, 0600) == 0, "%s", strerror(errno));
    CHECK(symlink("/no/such/file", nowhere) == 0, "%s", strerror(errno));
    REFUSED(PERHAPS_EIO, perhaps_lock_file(&lock, folder));
    REFUSED(PERHAPS_EIO, perhaps_lock_file(&lock, pipe_name));
    REFUSED(PERHAPS_EIO, perhaps_lock_file(&lock, nowhere));
    REFUSED(PERHAPS_EIO, perhaps_lock_file(&lock, ""));
    CHECK(strstr(perhaps_why(), "empty"), "reason: %s", perhaps_why());
    rmdir(folder);
    unlink(pipe_name);
    unlink(nowhere);
}

/* ---- any bytes ---- */

static int write_text(void *context, int fd) {
    const char *text = context;
    return write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -1;
}

static int write_half(void *context, int fd) {
    write_text(context, fd);
    errno = ENOTTY;
    return -1;
}

static void expect_text(const char *path, const char *text) {
    struct bytes bytes = read_whole(path);
    CHECK(bytes.length == strlen(text) && memcmp(bytes.data, text, strlen(text)) == 0, "%s is not %s", path, text);
    free(bytes.data);
}

static void any_file_can_be_replaced(const struct layout *layout) {
    (void)layout;
    const char *path = scratch("any.txt");
    char first[] = "first", second[] = "second, and longer", third[] = "3";
    perhaps_lock *lock = NULL;
    MUST(perhaps_lock_file(&lock, path));
    MUST(perhaps_replace_locked(lock, write_text, first));
    CHECK(chmod(path, 0640) == 0, "chmod: %s", strerror(errno));
    MUST(perhaps_replace_locked(lock, write_text, second));
    REFUSED(PERHAPS_EIO, perhaps_replace_locked(lock, write_half, first));
    CHECK(errno == ENOTTY, "errno is %s", strerror(errno));
    expect_text(path, second);
    MUST(perhaps_replace_locked(lock, write_text, third));
    expect_text(path, third);
    struct stat status;
    CHECK(stat(path, &status) == 0 && (status.st_mode & 07777) == 0640, "permissions are %o", status.st_mode);
    perhaps_unlock(lock);
    unlink(path);
}

/* ---- processes ---- */

/* Runs `work` in PROCESSES processes at once; all must end well. */
static void in_processes(void (*work)(const char *path, unsigned number), const char *path) {
    pid_t children[PROCESSES];
    fflush(NULL);
    for (unsigned i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        CHECK(children[i] >= 0, "no more processes: %s", strerror(errno));
        if (children[i]) continue;
        work(path, i);
        _exit(0);
    }
    for (unsigned i = 0; i < PROCESSES; i++) {
        int status = 0;
        CHECK(waitpid(children[i], &status, 0) == children[i], "waitpid: %s", strerror(errno));
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "process %u ended with %d", i, status);
    }
}

static perhaps_lock *wait_for_lock(const char *path) {
    perhaps_lock *lock = NULL;
    int rc;
    while ((rc = perhaps_lock_file(&lock, path)) == PERHAPS_EBUSY) usleep(500);
    if (rc < 0) _exit(1);
    return lock;
}

/* Its keys one part after another, each time from the file and back to it. */
static void add_share(const char *path, unsigned number) {
    enum { STEPS = 4 };
    for (unsigned step = 0; step < STEPS; step++) {
        perhaps_lock *lock = wait_for_lock(path);
        perhaps *f = NULL;
        if (perhaps_open(&f, path, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY)) < 0) _exit(2);
        add_members(f, number * SHARE + step * (SHARE / STEPS), SHARE / STEPS);
        if (perhaps_save_locked(f, lock) < 0) _exit(3);
        perhaps_unlock(lock);
        perhaps_free(f);
    }
}

static void no_change_is_lost(const struct layout *layout) {
    const char *path = scratch("shared.ph");
    save_new(layout, path, 0);
    in_processes(add_share, path);
    perhaps *f = open_copy(path);
    expect_members(f, 0, ITEMS);
    if (info_of(f).can & PERHAPS_COUNT)
        CHECK(info_of(f).items == ITEMS, "%llu items", (unsigned long long)info_of(f).items);
    perhaps_free(f);
    unlink(path);
}

static const perhaps *to_save;

static void save_often(const char *path, unsigned number) {
    (void)number;
    for (int i = 0; i < 20; i++) {
        if (perhaps_save(to_save, path) == PERHAPS_OK) continue;
        fprintf(stderr, "a save: %s\n", perhaps_why());
        _exit(1);
    }
}

/* Without locks, the last one stays; nobody is refused. */
static void several_may_save(const struct layout *layout) {
    const char *path = scratch("saved.ph");
    perhaps *f = make_with_members(layout, ITEMS), *found = NULL;
    to_save = f;
    in_processes(save_often, path);
    MUST(perhaps_open(&found, path, NULL));
    CHECK(perhaps_equal(f, found) == 1, "not what was saved");
    perhaps_free(found);
    perhaps_free(f);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOR_EACH_KIND(a_lock_keeps_others_out, ITEMS),
        FOR_EACH_COMPOSITE(a_lock_keeps_others_out, ITEMS),
        FOR_EACH_KIND(a_file_changed_in_place_cannot_be_locked, ITEMS),
        FOR_EACH_KIND(a_name_can_be_locked, ITEMS),
        FOR_EACH_KIND(a_lock_on_a_file_that_is_gone, ITEMS),
        FOR_EACH_KIND(what_is_no_file_cannot_be_locked, ITEMS),
        FOR_EACH_KIND(any_file_can_be_replaced, ITEMS),
        FOR_EACH_KIND(no_change_is_lost, ITEMS),
        FOR_EACH_COMPOSITE(no_change_is_lost, ITEMS),
        FOR_EACH_KIND(several_may_save, ITEMS),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
