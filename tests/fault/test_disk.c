/* A failed save (full disk, missing folder) says why, keeps the old file, leaves nothing else. */
#include "support.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ITEMS = 1000, LARGE = 1000000 };

static unsigned count_files(const char *folder) {
    DIR *open_folder = opendir(folder);
    CHECK(open_folder, "cannot read %s: %s", folder, strerror(errno));
    unsigned n = 0;
    struct dirent *entry;
    while ((entry = readdir(open_folder))) n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(open_folder);
    return n;
}

/* The folder has one file, `path`, the image of `old`; saving `f` there must change nothing. */
static void expect_failed_save(const perhaps *f, const perhaps *old, const char *folder, const char *path, int reason) {
    REFUSED(PERHAPS_EIO, perhaps_save(f, path));
    CHECK(errno == reason, "errno is %s, not %s", strerror(errno), strerror(reason));
    CHECK(strstr(perhaps_why(), path) && strstr(perhaps_why(), strerror(reason)), "the reason is not in: %s",
          perhaps_why());
    CHECK(count_files(folder) == 1, "%u files are in the folder", count_files(folder));
    perhaps *still = NULL;
    MUST(perhaps_open(&still, path, NULL));
    CHECK(perhaps_equal(still, old) == 1, "the old file changed");
    perhaps_free(still);
}

/* A filter, full unless there are many of its sort, whose file is longer than every limit here. */
static perhaps *make_large(const struct layout *layout) {
    perhaps_want want = layout->want;
    struct perhaps_plan plan = layout->plan;
    while (plan.bytes < (1 << 20) + (1 << 16)) {
        want.items *= 3;
        MUST(perhaps_plan(&want, &plan));
    }
    perhaps *f = make(&want);
    add_members(f, 0, is_composite(layout) ? ITEMS : want.items);
    seal(f);
    return f;
}

static perhaps *make_small(const struct layout *layout) {
    perhaps_want want = want_for(layout, ITEMS);
    perhaps *f = make(&want);
    seal(f);
    return f;
}

/* The limit on file sizes works like a disk that is full after that many bytes. */
static void a_file_that_cannot_grow_is_given_up(const struct layout *layout) {
    const char *folder = scratch("limited"), *path = scratch("limited/f.ph");
    CHECK(mkdir(folder, 0700) == 0, "mkdir: %s", strerror(errno));
    perhaps *small = make_small(layout), *large = make_large(layout);
    MUST(perhaps_save(small, path));
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit before, limit;
    getrlimit(RLIMIT_FSIZE, &before);
    static const rlim_t sizes[] = {1, 100, 4096, 65536, 1 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        limit = (struct rlimit){sizes[i], before.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
        expect_failed_save(large, small, folder, path, EFBIG);
    }
    setrlimit(RLIMIT_FSIZE, &before);
    MUST(perhaps_save(large, path));
    perhaps_free(small);
    perhaps_free(large);
    unlink(path);
    rmdir(folder);
}

/* Outside of this process's own world, user and group are what they were. */
static bool map_own_id(const char *file, unsigned id) {
    FILE *map = fopen(file, "w");
    return map && fprintf(map, "0 %u 1", id) > 0 && fclose(map) == 0;
}

static bool deny_setgroups(void) { /* without this the kernel lets no group be mapped */
    FILE *file = fopen("/proc/self/setgroups", "w");
    return file && fputs("deny", file) >= 0 && fclose(file) == 0;
}

/* A memory file system of 256 KiB, in a world of mounts that ends with this process. */
static bool mount_small_disk(const char *folder) {
    unsigned user = geteuid(), group = getegid();
    return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && deny_setgroups() && map_own_id("/proc/self/uid_map", user) &&
           map_own_id("/proc/self/gid_map", group) && mount("none", folder, "tmpfs", 0, "size=256k") == 0;
}

static int save_on_full_disk(const struct layout *layout, const char *folder) {
    if (!mount_small_disk(folder)) return 77;
    char path[200];
    snprintf(path, sizeof path, "%s/f.ph", folder);
    perhaps *small = make_small(layout), *large = make_large(layout);
    MUST(perhaps_save(small, path));
    expect_failed_save(large, small, folder, path, ENOSPC);
    perhaps_free(small);
    perhaps_free(large);
    return 0;
}

static void a_full_disk_loses_nothing(const struct layout *layout) {
    const char *folder = scratch("full");
    CHECK(mkdir(folder, 0700) == 0, "mkdir: %s", strerror(errno));
    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0, "no second process: %s", strerror(errno));
    if (child == 0) _exit(save_on_full_disk(layout, folder));
    int status = 0;
    waitpid(child, &status, 0);
    rmdir(folder);
    CHECK(WIFEXITED(status), "the child was ended by signal %d", status);
    if (WEXITSTATUS(status) == 77) skip(); /* mounts are not ours to make here */
    CHECK(WEXITSTATUS(status) == 0, "the child ended with %d", WEXITSTATUS(status));
}

static void impossible_places_are_refused(const struct layout *layout) {
    perhaps *f = make_with_members(layout, ITEMS);
    REFUSED(PERHAPS_EIO, perhaps_save(f, scratch("no/such/folder/f.ph")));
    CHECK(errno == ENOENT && strstr(perhaps_why(), "no/such/folder"), "reason: %s", perhaps_why());
    const char *folder = scratch("taken");
    CHECK(mkdir(folder, 0700) == 0, "mkdir: %s", strerror(errno));
    REFUSED(PERHAPS_EIO, perhaps_save(f, folder));
    CHECK(strstr(perhaps_why(), folder), "reason: %s", perhaps_why());
    CHECK(count_files(folder) == 0, "a failed save left a file behind");
    rmdir(folder);
    REFUSED(PERHAPS_EIO, perhaps_save(f, ""));
    perhaps_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOR_EACH_KIND(a_file_that_cannot_grow_is_given_up, LARGE),
        FOR_EACH_KIND(a_full_disk_loses_nothing, LARGE),
        FOR_EACH_COMPOSITE(a_file_that_cannot_grow_is_given_up, LARGE / 10),
        FOR_EACH_COMPOSITE(a_full_disk_loses_nothing, LARGE / 10),
        FOR_EACH_FILTER(impossible_places_are_refused, ITEMS),
        FOR_EACH_STATIC_KIND(a_file_that_cannot_grow_is_given_up, LARGE),
        FOR_EACH_STATIC_KIND(a_full_disk_loses_nothing, LARGE),
        FOR_EACH_STATIC_KIND(impossible_places_are_refused, ITEMS),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
