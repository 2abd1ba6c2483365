/*
 * kill -9 at random moments of save: afterwards the path holds the old filter or the new one,
 * whole.
 *
 * A child saves two filters over one path in turn, as fast as it can. The parent kills it after a
 * random while, opens the file with full verification, and compares.
 */
#include "support.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ITEMS = 1500000, ROUNDS = 25 }; /* some 2 MB: long enough to be hit in the middle */

static void save_in_turn(const perhaps *a, const perhaps *b, const char *path, int ready) {
    for (;;) {
        if (perhaps_save(a, path) < 0 || perhaps_save(b, path) < 0) _exit(1);
        if (ready >= 0 && write(ready, "r", 1) != 1) _exit(1);
        ready = -1;
    }
}

static void sleep_random(uint64_t *random) {
    nanosleep(&(struct timespec){.tv_nsec = (long)(next_random(random) % 12000000)}, NULL);
}

static void kill_while_saving(const perhaps *a, const perhaps *b, const char *path, uint64_t *random) {
    int ready[2];
    char word;
    CHECK(pipe(ready) == 0, "no pipe: %s", strerror(errno));
    pid_t child = fork();
    CHECK(child >= 0, "no second process: %s", strerror(errno));
    if (child == 0) save_in_turn(a, b, path, ready[1]);
    close(ready[1]);
    ssize_t started = read(ready[0], &word, 1);
    sleep_random(random);
    int status = 0;
    kill(child, SIGKILL);
    CHECK(waitpid(child, &status, 0) == child, "waitpid: %s", strerror(errno));
    close(ready[0]);
    CHECK(started == 1 && WIFSIGNALED(status), "the saving process ended by itself with status %d", status);
}

static void a_killed_save_leaves_the_old_or_the_new(const struct layout *layout) {
    const char *path = scratch("killed.ph");
    perhaps *a = make_with_members(layout, layout->items / 2), *b = make_with_members(layout, layout->items);
    uint64_t random = 4242;
    int rounds = test_size() == TEST_SMALL ? ROUNDS / 3 : ROUNDS;
    if (is_composite(layout)) rounds = ROUNDS / 5;
    for (int round = 0; round < rounds; round++) {
        kill_while_saving(a, b, path, &random);
        perhaps *now = NULL;
        MUST(perhaps_open(&now, path, NULL));
        CHECK(perhaps_equal(now, a) == 1 || perhaps_equal(now, b) == 1, "after a kill the file is neither filter");
        perhaps_free(now);
    }
    MUST(perhaps_save(a, path)); /* what the killed ones left behind is in nobody's way */
    perhaps_free(a);
    perhaps_free(b);
    unlink(path);
}

/* ---- killed while changing a file in place ---- */

/* The first thousand keys are synced once; after that it adds and syncs without end. */
static void change_in_place(const char *path, int ready) {
    perhaps *f = NULL;
    if (perhaps_open(&f, path, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_WRITE)) < 0) _exit(1);
    for (uint64_t i = 0; i < 1000; i++) perhaps_add_u64(f, member_of(f, i));
    if (perhaps_sync(f) < 0 || write(ready, "r", 1) != 1) _exit(1);
    bool removes = info_of(f).can & PERHAPS_REMOVE;
    for (uint64_t i = 1000;; i++) {
        perhaps_add_u64(f, member_of(f, i));
        if (removes && i % 2) perhaps_remove_u64(f, member_of(f, i));
        if (perhaps_sync(f) < 0) _exit(1);
    }
}

static void kill_while_changing(const char *path, uint64_t *random) {
    int ready[2], status = 0;
    char word;
    CHECK(pipe(ready) == 0, "no pipe: %s", strerror(errno));
    pid_t child = fork();
    CHECK(child >= 0, "no second process: %s", strerror(errno));
    if (child == 0) change_in_place(path, ready[1]);
    close(ready[1]);
    ssize_t started = read(ready[0], &word, 1);
    sleep_random(random);
    kill(child, SIGKILL);
    CHECK(waitpid(child, &status, 0) == child, "waitpid: %s", strerror(errno));
    close(ready[0]);
    CHECK(started == 1 && WIFSIGNALED(status), "the writer ended by itself with status %d", status);
}

/* Killed while adding or syncing: the file is clean, or says it is dirty and can be recovered. */
static void a_killed_writer_leaves_a_recoverable_file(const struct layout *layout) {
    if (!(layout->row->can & PERHAPS_IN_PLACE)) return;
    const char *path = scratch("writer.ph");
    uint64_t random = 77;
    int rounds = test_size() == TEST_SMALL ? ROUNDS / 3 : ROUNDS;
    for (int round = 0; round < rounds; round++) {
        perhaps *f = make(&layout->want), *found = NULL;
        MUST(perhaps_save(f, path));
        perhaps_free(f);
        kill_while_changing(path, &random);
        int rc = perhaps_open(&found, path, NULL);
        CHECK(rc == PERHAPS_OK || rc == PERHAPS_EDIRTY, "round %d: neither clean nor dirty but %d: %s", round, rc,
              perhaps_why());
        perhaps_free(found);
        MUST(perhaps_open(&found, path, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_RECOVER | PERHAPS_OPEN_WRITE)));
        expect_members(found, 0, 1000);
        MUST(perhaps_sync(found));
        perhaps_free(found);
        MUST(perhaps_open(&found, path, NULL)); /* clean again */
        expect_members(found, 0, 1000);
        perhaps_free(found);
    }
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOR_EACH_KIND(a_killed_save_leaves_the_old_or_the_new, ITEMS),
        FOR_EACH_COMPOSITE(a_killed_save_leaves_the_old_or_the_new, ITEMS / 10),
        FOR_EACH_KIND(a_killed_writer_leaves_a_recoverable_file, ITEMS),
        FOR_EACH_STATIC_KIND(a_killed_save_leaves_the_old_or_the_new, ITEMS / 4),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
