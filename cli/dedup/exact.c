#include "seen.h"
#include "output/report.h"
#include "first_lines.h"
#include "input/blocks.h"
#include "spool.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MOST_FILES = 200,    /* that are kept open */
    CHUNK = 64 << 10,    /* of a first copy that is compared at a time */
    AHEAD = 32,          /* lines whose places, or first copies, are being prefetched */
    MANY_KEYS = 1 << 18, /* fewer are in the cache, and so are their lines, if blocks stay small */
    LINES = 200000,      /* that are looked up at a time, in the order of memory */
    LANES = 2,           /* each with half of the digests, and a thread if that pays */
    FEW_LINES = 4096     /* for which it does not */
};

/* Places from `base` on belong to one input file, or to the spool. */
struct origin {
    uint64_t base;
    uint64_t start, end; /* offsets: what place `base` is, and how far it has come */
    int fd;              /* -1 = the spool */
    const char *path;
    struct timespec modified;
    const char *map; /* of the first `mapped` bytes of the file */
    size_t mapped;
};

/* What is looked up for a line of the job: its digest, then the first place of that digest. */
struct item {
    uint64_t word;
    uint32_t line;
};

/* What a thread has to itself. */
struct lane {
    struct exact *exact;
    struct line_block *job;
    struct first_lines *places;
    struct item *items, *sorted; /* the first n items; as much room again, to sort them into */
    size_t n, room;
    int status;
    const struct origin *volatile compared; /* the last one, also after a SIGBUS */
    const struct origin *broken;            /* the file that cannot be compared; NULL = none */
    const char *why;                        /* of TROUBLE; NULL = that was told */
    char scratch[CHUNK];
};

struct exact {
    const struct input *input;
    unsigned threads;
    bool fold; /* letters that differ in case are the same */
    bool made; /* keys do not stand in the input as they are, so all of them go to the spool */
    struct lane lanes[LANES];
    uint64_t keys; /* different ones so far */
    struct spool spool;
    size_t file;                               /* the number of the file that is being read */
    size_t files_left;                         /* that may be kept open, too */
    size_t count;                              /* of origins, the last of which is being read */
    struct origin origins[2 * MOST_FILES + 1]; /* by place; between parts of the spool are files */
};

/* ---- origins ---- */

static struct origin *current(struct exact *e) {
    return &e->origins[e->count - 1];
}

/* The first place after those of an origin. */
static uint64_t places_end(const struct origin *origin) {
    return origin->base + (origin->end - origin->start);
}

static const struct origin *origin_of(const struct exact *e, uint64_t place) {
    size_t low = 0, high = e->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (e->origins[middle].base <= place)
            low = middle;
        else
            high = middle;
    }
    return &e->origins[low];
}

static void unmap(struct origin *origin) {
    if (origin->map) munmap((void *)(uintptr_t)origin->map, origin->mapped);
    origin->map = NULL;
    origin->mapped = 0;
}

/* Maps a file as far as it goes by now. */
static bool map_file(struct origin *origin) {
    struct stat status;
    unmap(origin);
    if (fstat(origin->fd, &status) != 0 || status.st_size <= 0 || (uint64_t)status.st_size > SIZE_MAX / 4) return false;
    void *map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, origin->fd, 0);
    if (map == MAP_FAILED) return false;
    madvise(map, (size_t)status.st_size, MADV_RANDOM);
    origin->map = map;
    origin->mapped = (size_t)status.st_size;
    return true;
}

/* Does the file have the lines of a job at its offset? The last may lack its line end there. */
static bool has_lines(struct exact *e, int fd, const struct line_block *job) {
    char *scratch = e->lanes[0].scratch;
    size_t length = (size_t)(job->lines[job->n] - job->lines[0]);
    for (size_t done = 0; done < length; done += CHUNK) {
        size_t rest = length - done, some = rest < CHUNK ? rest : CHUNK;
        ssize_t got = read_at(fd, scratch, some, job->offset + done);
        if (got < 0 || memcmp(scratch, job->lines[0] + done, (size_t)got) != 0) return false;
        if ((size_t)got < some) return (size_t)got + 1 == rest;
    }
    return true;
}

/* The file that a job is from, if it can be read again: not a pipe, not compressed, not another one
 * by now. With a file descriptor of our own, it does not matter what happens to the name. */
static bool take_file(struct exact *e, const struct line_block *job, struct origin *origin) {
    struct stat status;
    const char *path = e->input->paths[job->file];
    bool standard = strcmp(path, "-") == 0;
    if (!e->files_left || e->made) return false;
    if ((standard ? fstat(STDIN_FILENO, &status) : stat(path, &status)) != 0 || !S_ISREG(status.st_mode)) return false;
    origin->fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (origin->fd < 0) return false;
    if (!has_lines(e, origin->fd, job) || !map_file(origin)) {
        close(origin->fd);
        return false;
    }
    origin->path = path;
    origin->start = origin->end = job->offset;
    origin->modified = status.st_mtim;
    e->files_left--;
    return true;
}

/* Called for the first job of every file. What cannot be read again goes to the spool. */
static int begin_file(struct exact *e, const struct line_block *job) {
    const struct origin *last = e->count ? current(e) : NULL;
    struct origin next = {.base = last ? places_end(last) : 0};
    e->file = job->file;
    if (!take_file(e, job, &next)) {
        if (last && last->fd < 0) return FINE;
        if (e->spool.fd < 0 && spool_open(&e->spool) != FINE) return TROUBLE;
        next.start = next.end = spool_end(&e->spool);
        next.fd = -1;
    }
    e->origins[e->count++] = next;
    return FINE;
}

/* ---- first copies ---- */

/* Told when all lanes have ended, and only once. */
static int cannot_compare(struct lane *lane, const char *why) {
    lane->broken = lane->compared;
    lane->why = why;
    return TROUBLE;
}

/* A first copy differs from what its digest says once in many billions of keys, and in files that
 * someone writes to. */
static int check_unchanged(struct lane *lane, const struct origin *origin) {
    struct stat status;
    if (origin->fd < 0 || fstat(origin->fd, &status) != 0) return FINE;
    if ((uint64_t)status.st_size + 1 < origin->end) /* the last line may lack its line end there */
        return cannot_compare(lane, "has become shorter while it was read");
    if (status.st_mtim.tv_sec != origin->modified.tv_sec || status.st_mtim.tv_nsec != origin->modified.tv_nsec)
        return cannot_compare(lane, "has changed while it was read");
    return FINE;
}

/* Sets *bytes to what an origin had at this offset when it was read: its last line ended, whatever
 * has come since. How many, up to `size`, or -1. */
static ssize_t look_at(struct lane *lane, const struct origin *origin, uint64_t offset, size_t size,
                       const char **bytes) {
    const struct line_block *job = lane->job;
    if (origin->fd < 0) return spool_read(&lane->exact->spool, offset, size, lane->scratch, bytes);
    if (origin == current(lane->exact) && offset >= job->offset) { /* the map may not have that */
        *bytes = job->lines[0] + (size_t)(offset - job->offset);
        return (ssize_t)size;
    }
    *bytes = &lane->exact->input->terminator;
    if (offset + 1 >= origin->end) return 1;
    uint64_t end = origin->end - 1 < origin->mapped ? origin->end - 1 : origin->mapped;
    if (offset >= end) {
        cannot_compare(lane, origin->map ? "has become shorter while it was read" : "cannot be read again");
        return -1;
    }
    *bytes = origin->map + offset;
    return (ssize_t)(size < end - offset ? size : end - offset);
}

/* Prefetches a key, and what it will be compared with. */
static void prefetch_both(const struct exact *e, const struct line_block *job, struct item item) {
    const struct origin *origin = origin_of(e, item.word);
    uint64_t offset = item.word - origin->base + origin->start;
    const char *bytes = origin->fd < 0            ? spool_at(&e->spool, offset)
                        : offset < origin->mapped ? origin->map + offset
                                                  : NULL;
    __builtin_prefetch(job->keys[item.line]);
    if (!bytes) return;
    __builtin_prefetch(bytes);
    __builtin_prefetch(bytes + job->key_lengths[item.line] % 4096);
}

/* May a key end before this byte? None has it, except keys that are made, which begin with their
 * length. */
static bool ends_key(const struct input *input, char byte) {
    return byte == input->terminator || (input->fields.n && byte == input->delimiter);
}

static char small(char byte) {
    return byte >= 'A' && byte <= 'Z' ? (char)(byte - 'A' + 'a') : byte;
}

/* A delimiter may be a letter, too. */
static bool same_bytes(const struct exact *e, const char *first, const char *key, size_t n) {
    if (!e->fold) return memcmp(first, key, n) == 0;
    for (size_t i = 0; i < n; i++)
        if (small(first[i]) != small(key[i]) || (!e->made && ends_key(e->input, first[i]))) return false;
    return true;
}

/* Is the key at this place the same as key i of the job, and ends as soon? */
static int compare(struct lane *lane, size_t i, uint64_t place, bool *same) {
    const struct exact *e = lane->exact;
    const struct line_block *job = lane->job;
    const struct origin *origin = lane->compared = origin_of(e, place);
    uint64_t offset = place - origin->base + origin->start;
    size_t length = job->key_lengths[i], done = 0;
    *same = true;
    while (*same && done <= length) {
        size_t rest = length + 1 - done;
        const char *bytes;
        ssize_t got = look_at(lane, origin, offset + done, rest < CHUNK ? rest : CHUNK, &bytes);
        if (got < 0) return TROUBLE;
        size_t n = (size_t)got < rest ? (size_t)got : rest - 1;
        *same = got > 0 && same_bytes(e, bytes, job->keys[i] + done, n) &&
                (n == (size_t)got || ends_key(e->input, bytes[n]));
        done += (size_t)got;
    }
    return *same ? FINE : check_unchanged(lane, origin);
}

/* ---- adding ---- */

/* Sorts the items by the upper bits of their words, which are below `end`. Lines of equal words
 * stay in order. */
static void sort_items(struct lane *lane, uint64_t end) {
    enum { BUCKETS = 1024 };
    struct item *items = lane->items, *sorted = lane->sorted;
    size_t at[BUCKETS] = {0}, sum = 0;
    unsigned shift = 0;
    while ((end - 1) >> shift >= BUCKETS) shift++;
    for (size_t i = 0; i < lane->n; i++) at[items[i].word >> shift]++;
    for (size_t bucket = 0; bucket < BUCKETS; bucket++) {
        size_t count = at[bucket];
        at[bucket] = sum;
        sum += count;
    }
    for (size_t i = 0; i < lane->n; i++) sorted[at[items[i].word >> shift]++] = items[i];
    lane->items = sorted;
    lane->sorted = items;
}

static int compare_lines(const void *a, const void *b) {
    uint32_t x = ((const struct item *)a)->line, y = ((const struct item *)b)->line;
    return x < y ? -1 : x > y;
}

/* Line i is a first copy. It is where it was read, if that is a file. */
static int add_new(struct lane *lane, size_t i, const struct place_search *search) {
    struct exact *e = lane->exact;
    const struct line_block *job = lane->job;
    struct origin *origin = current(e);
    uint64_t offset = origin->end;
    job->answers[i] = 1;
    if (origin->fd >= 0) {
        offset = job->offset + (uint64_t)(job->keys[i] - job->lines[0]);
    } else {
        if (spool_append(&e->spool, job->keys[i], job->key_lengths[i], e->input->terminator) != FINE) return TROUBLE;
        origin->end = spool_end(&e->spool);
    }
    uint64_t place = origin->base + (offset - origin->start);
    if (place >= PLACES_END) return failure("--exact", "takes no more than 16 TiB of input; leave it out");
    if (first_lines_add(lane->places, search, place)) return FINE;
    lane->why = "not enough memory to remember all lines";
    return TROUBLE;
}

/* Looks up the digests of all items, in the order of the table, and adds those that are new. The
 * other items stay, with the first place of their digest. */
static int look_up(struct lane *lane) {
    size_t repeats = 0;
    sort_items(lane, UINT64_MAX);
    for (size_t i = 0; i < lane->n; i++) {
        struct item item = lane->items[i];
        struct place_search search;
        if (i + AHEAD < lane->n) {
            first_lines_prefetch(lane->places, lane->items[i + AHEAD].word);
            __builtin_prefetch(&lane->job->keys[lane->items[i + AHEAD].line]);
        }
        first_lines_search(lane->places, item.word, &search);
        if (first_lines_next(lane->places, &search, &item.word))
            lane->items[repeats++] = item;
        else if (add_new(lane, item.line, &search) != FINE)
            return TROUBLE;
    }
    lane->n = repeats;
    return FINE;
}

/* Compares lines with the first copies at their places, in the order of places. The items of those
 * that differ stay. */
static int compare_all(struct lane *lane) {
    const struct line_block *job = lane->job;
    size_t others = 0;
    sort_items(lane, places_end(current(lane->exact)) + 1);
    for (size_t i = 0; i < lane->n; i++) {
        struct item item = lane->items[i];
        bool same;
        if (i + 2 * AHEAD < lane->n) {
            __builtin_prefetch(&job->keys[lane->items[i + 2 * AHEAD].line]);
            __builtin_prefetch(&job->key_lengths[lane->items[i + 2 * AHEAD].line]);
        }
        if (i + AHEAD < lane->n) prefetch_both(lane->exact, job, lane->items[i + AHEAD]);
        if (compare(lane, item.line, item.word, &same) != FINE) return TROUBLE;
        if (!same) lane->items[others++] = item;
    }
    lane->n = others;
    return FINE;
}

/* A digest may have several keys. They are rare, and looked up one by one, in the order of the
 * lines: the first of equal ones is the new one. */
static int add_others(struct lane *lane) {
    qsort(lane->items, lane->n, sizeof *lane->items, compare_lines);
    for (size_t i = 0; i < lane->n; i++) {
        size_t line = lane->items[i].line;
        struct place_search search;
        uint64_t place;
        bool same = false;
        first_lines_search(lane->places, lane->job->digests[line], &search);
        while (!same && first_lines_next(lane->places, &search, &place))
            if (compare(lane, line, place, &same) != FINE) return TROUBLE;
        if (!same && add_new(lane, line, &search) != FINE) return TROUBLE;
    }
    return FINE;
}

/* ---- lanes ---- */

/* Where a thread goes on after a SIGBUS, which comes to the thread that caused it. */
static _Thread_local sigjmp_buf *landing;

static void on_bus_error(int number) {
    if (landing) siglongjmp(*landing, 1);
    signal(number, SIG_DFL); /* the instruction is tried again, and ends the program */
}

/* Compiled alone: beside a sigsetjmp, variables are kept in memory. */
__attribute__((noinline)) static void add_all(struct lane *lane) {
    lane->status = look_up(lane);
    if (lane->status == FINE) lane->status = compare_all(lane);
    if (lane->status == FINE) lane->status = add_others(lane);
}

/* A SIGBUS means that a map was touched where its file has no bytes any more. */
static void run_lane(void *context, unsigned i) {
    struct lane *lane = &((struct exact *)context)->lanes[i];
    sigjmp_buf here;
    if (sigsetjmp(here, 0) == 0) {
        landing = &here;
        add_all(lane);
        landing = NULL;
        return;
    }
    landing = NULL;
    lane->status = cannot_compare(lane, "has become shorter while it was read");
    if (lane->broken->fd >= 0) return;
    lane->broken = NULL;
    lane->why = "the temporary file of --exact cannot be read; set TMPDIR to a folder on another disk";
}

static void free_items(struct lane *lane) {
    free(lane->items);
    free(lane->sorted);
    lane->items = lane->sorted = NULL;
    lane->room = 0;
}

/* Deals out the lines of a job. Pages of memory that a lane does not fill are never touched. */
static bool fill_lanes(struct exact *e, struct line_block *job) {
    for (struct lane *lane = e->lanes; lane < e->lanes + LANES; lane++) {
        lane->job = job;
        lane->n = 0;
        lane->broken = NULL;
        lane->why = NULL;
        if (lane->room >= job->n) continue;
        free_items(lane);
        lane->items = calloc(job->n, sizeof *lane->items);
        lane->sorted = calloc(job->n, sizeof *lane->sorted);
        if (!lane->items || !lane->sorted) return false;
        lane->room = job->n;
    }
    for (size_t i = 0; i < job->n; i++) {
        struct lane *lane = &e->lanes[job->digests[i] >> 63];
        lane->items[lane->n++] = (struct item){job->digests[i], (uint32_t)i};
    }
    return true;
}

int exact_add(struct exact *e, struct line_block *job) {
    size_t bytes = (size_t)(job->lines[job->n] - job->lines[0]);
    job->added = 0;
    if (job->file != e->file && begin_file(e, job) != FINE) return TROUBLE;
    if (!fill_lanes(e, job)) return failure(NULL, "not enough memory for a block of lines");
    struct origin *origin = current(e);
    if (origin->fd >= 0) {
        origin->end = job->offset + bytes;
        if (job->offset > origin->mapped) map_file(origin);
    }
    memset(job->answers, 0, job->n);
    if (job->n >= FEW_LINES && origin->fd >= 0 && e->threads > 1)
        call_in_threads(LANES, run_lane, e);
    else /* what goes to the spool goes there from one thread */
        for (unsigned i = 0; i < LANES; i++) run_lane(e, i);
    for (size_t i = 0; i < job->n; i++) job->added += job->answers[i];
    e->keys += job->added;
    if (e->keys >= MANY_KEYS) { /* lists of lines take more memory than short lines do */
        bytes = bytes / job->n * LINES;
        job->next_size = bytes < LARGE_BLOCK ? bytes : LARGE_BLOCK;
    }
    for (const struct lane *lane = e->lanes; lane < e->lanes + LANES; lane++) {
        if (lane->status == FINE) continue;
        if (!lane->why) return TROUBLE;
        if (!lane->broken) return failure(NULL, "%s", lane->why);
        return failure(input_name(lane->broken->path),
                       "%s, so its lines can no longer be compared; give it through a pipe", lane->why);
    }
    return FINE;
}

struct exact *exact_create(const struct input *input, unsigned threads) {
    struct rlimit limit;
    struct exact *e = calloc(1, sizeof *e);
    bool fine = e;
    if (e) {
        e->input = input;
        e->threads = threads;
        e->made = makes_keys(input);
        e->fold = input->ignore_case || input->encoding == ENCODING_HEX;
        e->file = SIZE_MAX;
        e->files_left = MOST_FILES; /* or a quarter of what is allowed: the reader needs some */
        if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 4 < MOST_FILES)
            e->files_left = (size_t)limit.rlim_cur / 4;
        e->spool.fd = -1;
        sigaction(SIGBUS, &(struct sigaction){.sa_handler = on_bus_error, .sa_flags = SA_NODEFER}, NULL);
    }
    for (size_t l = 0; fine && l < LANES; l++) {
        e->lanes[l].exact = e;
        e->lanes[l].places = first_lines_create();
        fine = e->lanes[l].places;
    }
    if (fine) return e;
    exact_free(e);
    failure(NULL, "not enough memory for --exact");
    return NULL;
}

void exact_free(struct exact *e) {
    if (!e) return;
    for (size_t i = 0; i < e->count; i++) {
        unmap(&e->origins[i]);
        if (e->origins[i].fd >= 0) close(e->origins[i].fd);
    }
    spool_close(&e->spool);
    for (size_t l = 0; l < LANES; l++) {
        free_items(&e->lanes[l]);
        first_lines_free(e->lanes[l].places);
    }
    free(e);
}
