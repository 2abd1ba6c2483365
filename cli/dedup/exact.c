#include "exact.h"
#include "output/report.h"
#include "input/threads.h"
#include "bus.h"
#include "items.h"
#include "first_lines.h"
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MOST_FILES = 200,    /* that are kept open */
    CHUNK = 64 << 10,    /* of a first copy that is compared at a time */
    AHEAD = 32,          /* lines whose places, or first copies, are being fetched */
    MANY_KEYS = 1 << 18, /* fewer are in the cache, and so is what is compared, if blocks stay small */
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
    const char *map; /* of the first `mapped` bytes of the file, NULL = none: then it is read */
    size_t mapped;
};

/* What a thread has to itself. */
struct lane {
    struct exact *exact;
    struct line_block *job;
    struct first_lines *places;
    struct items items;
    size_t n; /* items */
    int status;
    const struct origin *broken; /* what cannot be compared any more, and why; NULL = nothing, or it was told */
    const char *why;
    char scratch[CHUNK];
};

struct exact {
    const struct input *input;
    bool fold; /* letters that differ in case are the same */
    struct lane lanes[LANES];
    uint64_t keys; /* different ones so far */
    struct spool spool;
    size_t file;                               /* the number of the file that is being read */
    size_t files, most_files;                  /* kept open */
    size_t count;                              /* of origins, the last of which is being read */
    struct origin origins[2 * MOST_FILES + 1]; /* by place; there is a file between any two parts of the spool */
};

/* -------------------------------------------------------------------------------------------------- origins --- */

static struct origin *current(struct exact *e) {
    return &e->origins[e->count - 1];
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

static ssize_t read_at(int fd, char *bytes, size_t size, uint64_t offset) {
    ssize_t got;
    do got = pread(fd, bytes, size, (off_t)offset);
    while (got < 0 && errno == EINTR);
    return got;
}

/* Does the file have, where they are said to be, the lines of a job? The last may lack its line end there. */
static bool has_lines(struct exact *e, int fd, const struct line_block *job) {
    size_t length = (size_t)(job->lines[job->n] - job->lines[0]), done = 0;
    while (done < length) {
        size_t rest = length - done;
        ssize_t got = read_at(fd, e->lanes[0].scratch, rest < CHUNK ? rest : CHUNK, job->offset + done);
        if (got <= 0) return got == 0 && rest == 1;
        if (memcmp(e->lanes[0].scratch, job->lines[0] + done, (size_t)got) != 0) return false;
        done += (size_t)got;
    }
    return true;
}

/* A file descriptor of our own, so that it does not matter what happens to the name; -1 if there is none. */
static int open_again(const char *path, struct stat *status) {
    bool standard = strcmp(path, "-") == 0;
    if ((standard ? fstat(STDIN_FILENO, status) : stat(path, status)) != 0 || !S_ISREG(status->st_mode)) return -1;
    return standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* The file that a job is from, if it can be read again: not a pipe, not compressed, not another one by now. */
static bool take_file(struct exact *e, const struct line_block *job, struct origin *origin) {
    struct stat status;
    if (e->files == e->most_files) return false;
    origin->path = e->input->paths[job->file];
    origin->fd = open_again(origin->path, &status);
    if (origin->fd < 0) return false;
    if (fstat(origin->fd, &status) != 0 || !S_ISREG(status.st_mode) || !has_lines(e, origin->fd, job)) {
        close(origin->fd);
        return false;
    }
    origin->start = origin->end = job->offset;
    origin->modified = status.st_mtim;
    e->files++;
    return true;
}

static int take_spool(struct exact *e, struct origin *origin) {
    if (e->spool.fd < 0 && spool_open(&e->spool) != FINE) return TROUBLE;
    origin->start = origin->end = spool_end(&e->spool);
    origin->fd = -1;
    return FINE;
}

static void unmap(struct origin *origin) {
    if (origin->map) munmap((void *)(uintptr_t)origin->map, origin->mapped);
    origin->map = NULL;
    origin->mapped = 0;
}

/* Maps a file as far as it goes by now. Whatever cannot be mapped is read. */
static void map_file(struct origin *origin) {
    struct stat status;
    unmap(origin);
    if (fstat(origin->fd, &status) != 0 || status.st_size <= 0 || (uint64_t)status.st_size > SIZE_MAX / 4) return;
    void *map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, origin->fd, 0);
    if (map == MAP_FAILED) return;
    madvise(map, (size_t)status.st_size, MADV_RANDOM);
    origin->map = map;
    origin->mapped = (size_t)status.st_size;
}

/* Called for the first job of every file. */
static int begin_file(struct exact *e, const struct line_block *job) {
    const struct origin *last = e->count ? current(e) : NULL;
    struct origin next = {.base = last ? last->base + (last->end - last->start) : 0};
    e->file = job->file;
    if (!take_file(e, job, &next)) {
        if (last && last->fd < 0) return FINE;
        if (take_spool(e, &next) != FINE) return TROUBLE;
    }
    e->origins[e->count++] = next;
    return FINE;
}

/* ---------------------------------------------------------------------------------------------- first copies --- */

/* Told when all lanes have ended, and only once. */
static ssize_t cannot_compare(struct lane *lane, const struct origin *origin, const char *why) {
    lane->broken = origin;
    lane->why = why;
    return -1;
}

/* That a first copy is not what its digest says happens to one key of many billions, and to files that someone writes to. */
static int check_unchanged(struct lane *lane, const struct origin *origin) {
    struct stat status;
    if (fstat(origin->fd, &status) != 0) return FINE;
    bool shorter = (uint64_t)status.st_size + 1 < origin->end; /* the last line may lack its line end there */
    if (!shorter && status.st_mtim.tv_sec == origin->modified.tv_sec &&
        status.st_mtim.tv_nsec == origin->modified.tv_nsec)
        return FINE;
    cannot_compare(lane, origin, shorter ? "has become shorter while it was read" : "has changed while it was read");
    return TROUBLE;
}

/* Sets *bytes to what a file had at this offset when it was read: its last line ended, whatever has come since. How many, or
 * -1. */
static ssize_t look_at_file(struct lane *lane, const struct origin *origin, uint64_t offset, size_t size,
                            const char **bytes) {
    *bytes = &lane->exact->input->terminator;
    if (offset + 1 >= origin->end) return 1;
    if (size > origin->end - 1 - offset) size = (size_t)(origin->end - 1 - offset);
    if (offset < origin->mapped) {
        *bytes = origin->map + offset;
        return (ssize_t)(size < origin->mapped - offset ? size : origin->mapped - offset);
    }
    *bytes = lane->scratch;
    ssize_t got = read_at(origin->fd, lane->scratch, size, offset);
    if (got > 0) return got;
    return cannot_compare(lane, origin, got ? "cannot be read again" : "has become shorter while it was read");
}

/* The same for any origin. What is in this job need not be read. */
static ssize_t look_at(struct lane *lane, const struct origin *origin, uint64_t offset, size_t size,
                       const char **bytes) {
    const struct line_block *job = lane->job;
    if (origin->fd < 0) return spool_read(&lane->exact->spool, offset, size, lane->scratch, bytes);
    if (origin != current(lane->exact) || offset < job->offset) return look_at_file(lane, origin, offset, size, bytes);
    *bytes = job->lines[0] + (size_t)(offset - job->offset);
    return (ssize_t)size;
}

/* Prefetches a key, and what it will be compared with. */
static void fetch_both(const struct exact *e, const struct line_block *job, struct item item) {
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

/* May a key end before this byte? None has it. */
static bool ends_key(const struct input *input, char byte) {
    return byte == input->terminator || (input->field && byte == input->delimiter);
}

static char small(char byte) {
    return byte >= 'A' && byte <= 'Z' ? (char)(byte - 'A' + 'a') : byte;
}

/* A delimiter may be a letter, too. */
static bool same_bytes(const struct exact *e, const char *first, const char *key, size_t n) {
    if (!e->fold) return memcmp(first, key, n) == 0;
    for (size_t i = 0; i < n; i++)
        if (small(first[i]) != small(key[i]) || ends_key(e->input, first[i])) return false;
    return true;
}

/* Is the key at this place the same as key i of the job, and ends as soon? */
static int compare(struct lane *lane, size_t i, uint64_t place, bool *same) {
    const struct exact *e = lane->exact;
    const struct line_block *job = lane->job;
    const struct origin *origin = origin_of(e, place);
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
    return *same || origin->fd < 0 ? FINE : check_unchanged(lane, origin);
}

/* --------------------------------------------------------------------------------------------------- adding --- */

/* Where a first copy is, from now on. */
static int keep(struct exact *e, const struct line_block *job, size_t i, uint64_t *place) {
    struct origin *origin = current(e);
    uint64_t offset = origin->end;
    if (origin->fd >= 0) {
        offset = job->offset + (uint64_t)(job->keys[i] - job->lines[0]);
    } else {
        if (spool_append(&e->spool, job->keys[i], job->key_lengths[i], e->input->terminator) != FINE) return TROUBLE;
        origin->end = spool_end(&e->spool);
    }
    *place = origin->base + (offset - origin->start);
    return *place < PLACES_END ? FINE : failure("--exact", "takes no more than 16 TiB of input; leave it out");
}

static int add_new(struct lane *lane, size_t i, const struct place_search *search) {
    uint64_t place;
    lane->job->answers[i] = 1;
    if (keep(lane->exact, lane->job, i, &place) != FINE) return TROUBLE;
    if (first_lines_add(lane->places, search, place)) return FINE;
    lane->why = "not enough memory to remember all lines";
    return TROUBLE;
}

static int add(struct lane *lane, size_t i) {
    struct place_search search;
    uint64_t place;
    bool same = false;
    first_lines_search(lane->places, lane->job->digests[i], &search);
    while (!same && first_lines_next(lane->places, &search, &place))
        if (compare(lane, i, place, &same) != FINE) return TROUBLE;
    return same ? FINE : add_new(lane, i, &search);
}

/* Looks up the digests of all items, in the order of the table, and adds those that are new. The others become items
 * with the first place of their digest. */
static int look_up(struct lane *lane) {
    struct items *items = &lane->items;
    size_t repeats = 0;
    items_sort(items, lane->n, UINT64_MAX);
    for (size_t i = 0; i < lane->n; i++) {
        struct item item = items->now[i];
        struct place_search search;
        if (i + AHEAD < lane->n) {
            first_lines_prefetch(lane->places, items->now[i + AHEAD].word);
            __builtin_prefetch(&lane->job->keys[items->now[i + AHEAD].line]);
        }
        first_lines_search(lane->places, item.word, &search);
        if (first_lines_next(lane->places, &search, &item.word))
            items->next[repeats++] = item;
        else if (add_new(lane, item.line, &search) != FINE)
            return TROUBLE;
    }
    items_swap(items);
    lane->n = repeats;
    return FINE;
}

/* Compares lines with what is at the places of their digests, in the order of the places. Of those that differ, the
 * items stay. */
static int compare_all(struct lane *lane) {
    struct items *items = &lane->items;
    const struct line_block *job = lane->job;
    const struct origin *last = current(lane->exact);
    size_t others = 0;
    items_sort(items, lane->n, last->base + (last->end - last->start) + 1);
    for (size_t i = 0; i < lane->n; i++) {
        struct item item = items->now[i];
        bool same;
        if (i + 2 * AHEAD < lane->n) {
            __builtin_prefetch(&job->keys[items->now[i + 2 * AHEAD].line]);
            __builtin_prefetch(&job->key_lengths[items->now[i + 2 * AHEAD].line]);
        }
        if (i + AHEAD < lane->n) fetch_both(lane->exact, job, items->now[i + AHEAD]);
        if (compare(lane, item.line, item.word, &same) != FINE) return TROUBLE;
        if (!same) items->next[others++] = item;
    }
    items_swap(items);
    lane->n = others;
    return FINE;
}

/* A digest may have several keys. They are rare, and looked up one by one, in the order of the lines: the first of
 * equal ones is the new one. */
static int add_all(struct lane *lane) {
    if (look_up(lane) != FINE || compare_all(lane) != FINE) return TROUBLE;
    items_sort_by_line(&lane->items, lane->n);
    for (size_t i = 0; i < lane->n; i++)
        if (add(lane, lane->items.now[i].line) != FINE) return TROUBLE;
    return FINE;
}

/* ---------------------------------------------------------------------------------------------------- lanes --- */

/* A map was touched where its file has no bytes any more. */
static int cut_short(struct lane *lane, const char *touched) {
    const struct exact *e = lane->exact;
    lane->why = "the temporary file of --exact cannot be read; set TMPDIR to a folder on another disk";
    for (size_t i = 0; i < e->count; i++) {
        const struct origin *origin = &e->origins[i];
        if (origin->map && touched >= origin->map && touched < origin->map + origin->mapped)
            cannot_compare(lane, origin, "has become shorter while it was read");
    }
    return TROUBLE;
}

static void add_guarded(void *context) {
    struct lane *lane = context;
    lane->status = add_all(lane);
}

static void run_lane(void *context, unsigned i) {
    struct lane *lane = &((struct exact *)context)->lanes[i];
    const void *touched;
    if (!bus_errors_guard(add_guarded, lane, &touched)) lane->status = cut_short(lane, touched);
}

static size_t lane_of(uint64_t digest) {
    return (size_t)(digest >> 63);
}

/* Deals out the lines of a job. */
static bool fill_lanes(struct exact *e, struct line_block *job) {
    size_t upper = 0;
    for (size_t i = 0; i < job->n; i++) upper += lane_of(job->digests[i]);
    for (size_t l = 0; l < LANES; l++) {
        struct lane *lane = &e->lanes[l];
        lane->job = job;
        lane->n = 0;
        lane->broken = NULL;
        lane->why = NULL;
        if (!items_room(&lane->items, l ? upper : job->n - upper)) return false;
    }
    for (size_t i = 0; i < job->n; i++) {
        struct lane *lane = &e->lanes[lane_of(job->digests[i])];
        lane->items.now[lane->n++] = (struct item){job->digests[i], (uint32_t)i};
    }
    return true;
}

/* What goes to the spool goes there from one thread. */
static void run_lanes(struct exact *e, const struct line_block *job) {
    if (job->n >= FEW_LINES && current(e)->fd >= 0 && processor_count() > 1)
        call_in_threads(LANES, run_lane, e);
    else
        for (unsigned i = 0; i < LANES; i++) run_lane(e, i);
}

static int tell_trouble(const struct exact *e) {
    for (size_t l = 0; l < LANES; l++) {
        const struct lane *lane = &e->lanes[l];
        if (lane->status == FINE) continue;
        if (lane->broken)
            return failure(input_name(lane->broken->path),
                           "%s, so its lines can no longer be compared; give it through a pipe", lane->why);
        return lane->why ? failure(NULL, "%s", lane->why) : TROUBLE;
    }
    return FINE;
}

/* The bytes of LINES lines like these. Lists of lines take more memory than short lines do. */
static size_t block_for(const struct line_block *job) {
    size_t bytes = (size_t)(job->lines[job->n] - job->lines[0]) / job->n * LINES;
    return bytes < LARGE_BLOCK ? bytes : LARGE_BLOCK;
}

int exact_add(struct exact *e, struct line_block *job) {
    job->added = 0;
    if (job->file != e->file && begin_file(e, job) != FINE) return TROUBLE;
    if (!fill_lanes(e, job)) return failure(NULL, "not enough memory for a block of lines");
    struct origin *origin = current(e);
    if (origin->fd >= 0) {
        origin->end = job->offset + (uint64_t)(job->lines[job->n] - job->lines[0]);
        if (job->offset > origin->mapped) map_file(origin);
    }
    memset(job->answers, 0, job->n);
    run_lanes(e, job);
    for (size_t i = 0; i < job->n; i++) job->added += job->answers[i];
    e->keys += job->added;
    if (e->keys >= MANY_KEYS) job->block = block_for(job);
    return tell_trouble(e);
}

/* The reader needs file descriptors, too. */
static size_t files_to_keep(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur / 4 > MOST_FILES) return MOST_FILES;
    return (size_t)limit.rlim_cur / 4;
}

struct exact *exact_create(const struct input *input) {
    struct exact *e = calloc(1, sizeof *e);
    if (e) {
        e->input = input;
        e->fold = input->ignore_case || input->encoding == ENCODING_HEX;
        e->file = SIZE_MAX;
        e->most_files = files_to_keep();
        e->spool.fd = -1;
        bus_errors_catch();
    }
    bool fine = e;
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
    bus_errors_leave();
    spool_close(&e->spool);
    for (size_t l = 0; l < LANES; l++) {
        items_free(&e->lanes[l].items);
        first_lines_free(e->lanes[l].places);
    }
    free(e);
}
