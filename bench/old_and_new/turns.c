/*
 * Two builds take turns on the same work; for bench/old_and_new/run.
 *
 *     turns OLD NEW FOLDER ROUNDS ITEMS
 *
 * OLD and NEW are folders with libperhaps.so and the program perhaps; FOLDER has `lines` and
 * `keys`, files of lines. In each round both builds do an operation twice, old, new and, later,
 * new, old. A round has one ratio, in which cancels out what slows both down and what being the
 * first costs; of all rounds the median counts.
 */
#include <perhaps_embed.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OLD, NEW, SIDES };
enum { BATCH = 4096, MOST_ROUNDS = 1000, WIDTH = 16, PATH = 4096 };

/* Slower or faster is what differs by more than this, with both quartiles on one side of 1. */
static const double tolerance = 0.03;

__attribute__((noreturn, format(printf, 1, 2))) static void stop(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("bench/old_and_new: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(2);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- the two libraries ---- */

/* The calls that are measured or needed for it: NAME and its type. */
#define CALLS(X)                                                                                                       \
    X(create, int, (perhaps * *f, const perhaps_want *want))                                                           \
    X(free, void, (perhaps * f))                                                                                       \
    X(why, const char *, (void))                                                                                       \
    X(seal, int, (perhaps * f, const perhaps_seal_options *options))                                                   \
    X(add, int, (perhaps * f, const void *key, size_t length))                                                         \
    X(add_u64, int, (perhaps * f, uint64_t key))                                                                       \
    X(contains, int, (const perhaps *f, const void *key, size_t length))                                               \
    X(contains_u64, int, (const perhaps *f, uint64_t key))                                                             \
    X(remove_u64, int, (perhaps * f, uint64_t key))                                                                    \
    X(add_many, int64_t, (perhaps * f, const perhaps_keys *keys, uint8_t *answers))                                    \
    X(contains_many, int64_t, (const perhaps *f, const perhaps_keys *keys, uint8_t *answers))                          \
    X(save, int, (const perhaps *f, const char *path))                                                                 \
    X(open, int, (perhaps * *f, const char *path, const perhaps_open_options *options))

struct library {
#define POINTER(name, result, arguments) result(*name) arguments;
    CALLS(POINTER)
};

static void load(const char *folder, struct library *library) {
    char path[PATH];
    snprintf(path, sizeof path, "%s/libperhaps.so", folder);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) stop("%s", dlerror());
#define LOOK_UP(name, result, arguments)                                                                               \
    *(void **)(void *)&library->name = dlsym(handle, "perhaps_" #name);                                                \
    if (!library->name) stop("%s has no perhaps_%s", path, #name);
    CALLS(LOOK_UP)
}

/* ---- operations of the library ---- */

struct turn {
    size_t items;
    uint64_t *members, *queries; /* half of the queries are members */
    char path[PATH];
};

/* One build's filter in one round. */
struct side {
    const struct library *library;
    const struct turn *work;
    bool bytes; /* keys are the WIDTH bytes that begin with a number, not the number */
    perhaps *f;
    uint64_t answers; /* equal on both sides, unless layouts have changed */
};

static void check(const struct side *side, int64_t rc, const char *what) {
    if (rc < 0) stop("%s: %s", what, side->library->why());
}

static const void *key_bytes(uint64_t number, char key[WIDTH]) {
    memset(key, 'x', WIDTH);
    return memcpy(key, &number, sizeof number);
}

static void add_singly(struct side *side) {
    char key[WIDTH];
    const struct library *l = side->library;
    for (size_t i = 0; i < side->work->items / 2; i++) {
        uint64_t number = side->work->members[i];
        check(side, side->bytes ? l->add(side->f, key_bytes(number, key), WIDTH) : l->add_u64(side->f, number), "add");
    }
}

/* The second half of the members; then they are complete. */
static void add_batches(struct side *side) {
    static char bytes[BATCH][WIDTH];
    const uint64_t *members = side->work->members;
    for (size_t i = side->work->items / 2; i < side->work->items; i += BATCH) {
        size_t n = side->work->items - i < BATCH ? side->work->items - i : BATCH;
        for (size_t j = 0; side->bytes && j < n; j++) key_bytes(members[i + j], bytes[j]);
        perhaps_keys keys = side->bytes ? PERHAPS_KEYS_FIXED(bytes, WIDTH, 0, n) : PERHAPS_KEYS_U64(members + i, 0, n);
        check(side, side->library->add_many(side->f, &keys, NULL), "add_many");
    }
    check(side, side->library->seal(side->f, NULL), "seal");
}

static void query_singly(struct side *side) {
    char key[WIDTH];
    const struct library *l = side->library;
    for (size_t i = 0; i < side->work->items; i++) {
        uint64_t number = side->work->queries[i];
        side->answers += (uint64_t)(side->bytes ? l->contains(side->f, key_bytes(number, key), WIDTH)
                                                : l->contains_u64(side->f, number));
    }
}

static void query_batches(struct side *side) {
    static char bytes[BATCH][WIDTH];
    static uint8_t answers[BATCH];
    const uint64_t *queries = side->work->queries;
    for (size_t i = 0; i < side->work->items; i += BATCH) {
        size_t n = side->work->items - i < BATCH ? side->work->items - i : BATCH;
        for (size_t j = 0; side->bytes && j < n; j++) key_bytes(queries[i + j], bytes[j]);
        perhaps_keys keys = side->bytes ? PERHAPS_KEYS_FIXED(bytes, WIDTH, 0, n) : PERHAPS_KEYS_U64(queries + i, 0, n);
        side->answers += (uint64_t)side->library->contains_many(side->f, &keys, answers);
    }
}

static void save(struct side *side) {
    check(side, side->library->save(side->f, side->work->path), "save");
}

static void open_saved(struct side *side) {
    perhaps *opened;
    check(side, side->library->open(&opened, side->work->path, NULL), "open");
    side->library->free(opened);
}

static void remove_singly(struct side *side) {
    for (size_t i = 0; i < side->work->items / 2; i++)
        check(side, side->library->remove_u64(side->f, side->work->members[i]), "remove");
}

struct operation {
    const char *name;
    void (*run)(struct side *side);
    double share; /* of the keys, that it takes; 0: the time is that of the whole filter */
    bool removes;
};

/* In the order in which a filter meets them. */
static const struct operation operations[] = {
    {"add", add_singly, 0.5, false},
    {"add_many, seal", add_batches, 0.5, false},
    {"contains", query_singly, 1, false},
    {"contains_many", query_batches, 1, false},
    {"save", save, 0, false},
    {"open", open_saved, 0, false},
    {"remove", remove_singly, 0.5, true},
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

/* ---- times ---- */

struct times {
    size_t rounds;
    double seconds[SIDES][MOST_ROUNDS];
};

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t n, double share) {
    return sorted[(size_t)(share * (double)(n - 1) + 0.5)];
}

static double median_time(const struct times *times, int side) {
    double sorted[MOST_ROUNDS];
    memcpy(sorted, times->seconds[side], times->rounds * sizeof *sorted);
    qsort(sorted, times->rounds, sizeof *sorted, by_value);
    return quantile(sorted, times->rounds, 0.5);
}

/* Prints a line: nanoseconds for each of `keys` keys; milliseconds in all if that is 0. */
static void print_times(const char *what, const char *name, const struct times *times, double keys) {
    double ratios[MOST_ROUNDS] = {0};
    for (size_t i = 0; i < times->rounds; i++) ratios[i] = times->seconds[NEW][i] / times->seconds[OLD][i];
    qsort(ratios, times->rounds, sizeof *ratios, by_value);
    double low = quantile(ratios, times->rounds, 0.25), middle = quantile(ratios, times->rounds, 0.5),
           high = quantile(ratios, times->rounds, 0.75), scale = keys > 0 ? 1e9 / keys : 1e3;
    bool slower = middle > 1 + tolerance && low > 1, faster = middle < 1 - tolerance && high < 1;
    printf("%-22s %-15s %9.4g %9.4g %s  %6.3f  %.3f to %.3f%s\n", what, name, median_time(times, OLD) * scale,
           median_time(times, NEW) * scale, keys > 0 ? "ns" : "ms", middle, low, high,
           slower ? "  slower" : (faster ? "  faster" : ""));
    fflush(stdout);
}

/* ---- filters ---- */

struct scene {
    const char *name;
    perhaps_want want;
    bool bytes, removes;
};

static double time_of(const struct operation *operation, struct side *side) {
    double start = now();
    operation->run(side);
    return now() - start;
}

/* `turn` is twice the round, and one more where the new build begins. */
static void play_turn(const struct scene *scene, struct side sides[SIDES], size_t turn, struct times *times) {
    for (int i = 0; i < SIDES; i++) {
        struct side *side = &sides[(turn + (size_t)i) % SIDES];
        check(side, side->library->create(&side->f, &scene->want), scene->name);
    }
    for (size_t o = 0; o < OPERATIONS; o++) {
        if (operations[o].removes && !scene->removes) continue;
        for (int i = 0; i < SIDES; i++) {
            size_t which = (turn + (size_t)i) % SIDES;
            times[o].seconds[which][turn / 2] += time_of(&operations[o], &sides[which]) / 2;
        }
    }
    for (int i = 0; i < SIDES; i++) sides[i].library->free(sides[i].f);
}

static void play(const struct scene *scene, const struct library libraries[SIDES], const struct turn *work,
                 size_t rounds) {
    static struct times times[OPERATIONS];
    memset(times, 0, sizeof times);
    struct side sides[SIDES];
    char what[64];
    for (int i = 0; i < SIDES; i++) sides[i] = (struct side){&libraries[i], work, scene->bytes, NULL, 0};
    for (size_t turn = 0; turn < 2 * rounds; turn++) play_turn(scene, sides, turn, times);
    snprintf(what, sizeof what, "%s %zu", scene->name, work->items);
    for (size_t o = 0; o < OPERATIONS; o++) {
        if (operations[o].removes && !scene->removes) continue;
        times[o].rounds = rounds;
        print_times(what, operations[o].name, &times[o], operations[o].share * (double)work->items);
    }
    if (sides[OLD].answers != sides[NEW].answers)
        printf("%-22s the answers differ: %llu and %llu keys found\n", what, (unsigned long long)sides[OLD].answers,
               (unsigned long long)sides[NEW].answers);
}

/* A permutation: different numbers give different keys. */
static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}

static void make_work(struct turn *work, size_t items, const char *folder) {
    work->items = items;
    work->members = malloc(items * sizeof *work->members);
    work->queries = malloc(items * sizeof *work->queries);
    if (!work->members || !work->queries) stop("no memory for %zu keys", items);
    for (size_t i = 0; i < items; i++) {
        work->members[i] = mix(i);
        work->queries[i] = mix(mix(i + ((uint64_t)1 << 40)) % (2 * items));
    }
    snprintf(work->path, sizeof work->path, "%s/saved.ph", folder);
}

static void play_filters(const struct library libraries[SIDES], size_t items, const char *folder, size_t rounds) {
    struct turn work;
    make_work(&work, items, folder);
    const struct scene scenes[] = {
        {"bloom", PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = items, .fpr = 0.01), false, false},
        {"blocked", PERHAPS_WANT(.kind = PERHAPS_BLOCKED, .items = items, .fpr = 0.01), false, false},
        {"blocked, bytes", PERHAPS_WANT(.kind = PERHAPS_BLOCKED, .items = items, .fpr = 0.01), true, false},
        {"blocked 1e-4", PERHAPS_WANT(.kind = PERHAPS_BLOCKED, .items = items, .fpr = 1e-4), false, false},
        {"counting", PERHAPS_WANT(.kind = PERHAPS_COUNTING, .items = items, .fpr = 0.01), false, true},
        {"cuckoo", PERHAPS_WANT(.kind = PERHAPS_CUCKOO, .items = items, .fpr = 0.01), false, true},
        {"table", PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = items), false, true},
        {"fuse", PERHAPS_WANT(.kind = PERHAPS_FUSE, .items = items, .fpr = 0.01), false, false},
        {"ribbon", PERHAPS_WANT(.kind = PERHAPS_RIBBON, .items = items, .fpr = 0.01), false, false},
        {"growing", PERHAPS_WANT(.kind = PERHAPS_BLOCKED, .fpr = 0.01, .grow = PERHAPS_GROW_LAYERS), false, false},
        {"window", PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = items, .fpr = 0.01, .generations = 4), false, false},
        {"sharded", PERHAPS_WANT(.kind = PERHAPS_CUCKOO, .items = items, .fpr = 0.01, .shards = 16), false, true},
    };
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) play(&scenes[i], libraries, &work, rounds);
    unlink(work.path);
    free(work.members);
    free(work.queries);
}

/* ---- the command line ---- */

/* How long a command takes, from its start to its end. */
static double time_command(const char *const folders[SIDES], int side, const char *line, const char *folder) {
    char command[3 * PATH];
    snprintf(command, sizeof command, "cd '%s' && P='%s/perhaps' S=%d && exec %s", folder, folders[side], side, line);
    double start = now();
    pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) < 0) stop("no process can be started");
    if (!WIFEXITED(status) || WEXITSTATUS(status) > 1) stop("this failed: %s", command);
    return now() - start;
}

static void play_command(const char *const folders[SIDES], const char *name, const char *line, const char *folder,
                         size_t rounds) {
    static struct times times;
    times = (struct times){.rounds = rounds};
    for (int side = 0; side < SIDES; side++) time_command(folders, side, line, folder);
    for (size_t turn = 0; turn < 2 * rounds; turn++)
        for (size_t i = 0; i < SIDES; i++) {
            int side = (int)((turn + i) % SIDES);
            times.seconds[side][turn / 2] += time_command(folders, side, line, folder) / 2;
        }
    print_times("perhaps", name, &times, 0);
}

static void play_commands(const char *const folders[SIDES], const char *folder, size_t rounds) {
    static const char *const lines[][2] = {
        {"build", "\"$P\" build -f -o $S.ph keys"},
        {"build -k cuckoo", "\"$P\" build -k cuckoo -f -o $S.cuckoo.ph keys"},
        {"build --static", "\"$P\" build --static -f -o $S.static.ph keys"},
        {"build -j 2", "\"$P\" build -j 2 -f -o $S.ph keys"},
        {"check", "\"$P\" check $S.ph lines >/dev/null"},
        {"check -c", "\"$P\" check -c $S.ph lines >/dev/null"},
        {"check -j 2", "\"$P\" check -j 2 $S.ph lines >/dev/null"},
        {"dedup", "\"$P\" dedup lines >/dev/null"},
        {"dedup --exact", "\"$P\" dedup --exact lines >/dev/null"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        play_command(folders, lines[i][0], lines[i][1], folder, rounds);
}

int main(int count, char **arguments) {
    struct library libraries[SIDES];
    size_t rounds = count == 6 ? strtoull(arguments[4], NULL, 10) : 0;
    size_t items = count == 6 ? strtoull(arguments[5], NULL, 10) : 0;
    if (rounds < 1 || rounds > MOST_ROUNDS || items < 1000) stop("see bench/old_and_new/run --help");
    const char *const folders[SIDES] = {arguments[1], arguments[2]};
    for (int side = 0; side < SIDES; side++) load(folders[side], &libraries[side]);
    printf("%-22s %-15s %9s %9s     %6s  quartiles\n", "", "", "old", "new", "ratio");
    play_filters(libraries, items / 50, arguments[3], rounds);
    play_filters(libraries, items, arguments[3], rounds);
    play_commands(folders, arguments[3], rounds);
    return 0;
}
