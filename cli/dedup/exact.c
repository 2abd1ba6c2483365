#include "exact.h"
#include "../report.h"
#include "items.h"
#include "places.h"
#include "spool.h"

#include <errno.h>
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
    MOST_FILES = 200, /* that are kept open */
    CHUNK = 64 << 10, /* of a first copy that is compared at a time */
    AHEAD = 32,       /* lines whose places, or first copies, are being fetched */
    LINES = 100000    /* at a time: so many are looked up in the order of memory */
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

struct exact {
    const struct input *input;
    bool fold; /* letters that differ in case are the same */
    struct places *places;
    struct items items;
    struct spool spool;
    size_t file;                               /* the number of the file that is being read */
    size_t files, most_files;                  /* kept open */
    size_t count;                              /* of origins, the last of which is being read */
    struct origin origins[2 * MOST_FILES + 1]; /* by place; there is a file between any two parts of the spool */
    char scratch[CHUNK];
    struct sigaction before; /* what SIGBUS did */
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
static bool has_lines(struct exact *e, int fd, const struct job *job) {
    size_t length = (size_t)(job->lines[job->n] - job->lines[0]), done = 0;
    while (done < length) {
        size_t rest = length - done;
        ssize_t got = read_at(fd, e->scratch, rest < CHUNK ? rest : CHUNK, job->offset + done);
        if (got <= 0) return got == 0 && rest == 1;
        if (memcmp(e->scratch, job->lines[0] + done, (size_t)got) != 0) return false;
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
static bool take_file(struct exact *e, const struct job *job, struct origin *origin) {
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
static int begin_file(struct exact *e, const struct job *job) {
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

static ssize_t cannot_compare(const struct origin *origin, const char *why) {
    failure(input_name(origin->path), "%s, so its lines can no longer be compared; give it through a pipe", why);
    return -1;
}

/* That a first copy is not what its digest says happens to one key of many billions, and to files that someone writes to. */
static int check_unchanged(const struct origin *origin) {
    struct stat status;
    if (fstat(origin->fd, &status) != 0) return FINE;
    bool shorter = (uint64_t)status.st_size + 1 < origin->end; /* the last line may lack its line end there */
    if (!shorter && status.st_mtim.tv_sec == origin->modified.tv_sec &&
        status.st_mtim.tv_nsec == origin->modified.tv_nsec)
        return FINE;
    cannot_compare(origin, shorter ? "has become shorter while it was read" : "has changed while it was read");
    return TROUBLE;
}

/* Sets *bytes to what a file had at this offset when it was read: its last line ended, whatever has come since. How many, or
 * -1. */
static ssize_t look_at_file(struct exact *e, const struct origin *origin, uint64_t offset, size_t size,
                            const char **bytes) {
    *bytes = &e->input->terminator;
    if (offset + 1 >= origin->end) return 1;
    if (size > origin->end - 1 - offset) size = (size_t)(origin->end - 1 - offset);
    if (offset < origin->mapped) {
        *bytes = origin->map + offset;
        return (ssize_t)(size < origin->mapped - offset ? size : origin->mapped - offset);
    }
    *bytes = e->scratch;
    ssize_t got = read_at(origin->fd, e->scratch, size, offset);
    if (got > 0) return got;
    return cannot_compare(origin, got ? strerror(errno) : "has become shorter while it was read");
}

/* The same for any origin. What is in this job need not be read. */
static ssize_t look_at(struct exact *e, const struct job *job, const struct origin *origin, uint64_t offset,
                       size_t size, const char **bytes) {
    if (origin->fd < 0) return spool_read(&e->spool, offset, size, e->scratch, bytes);
    if (origin != current(e) || offset < job->offset) return look_at_file(e, origin, offset, size, bytes);
    *bytes = job->lines[0] + (size_t)(offset - job->offset);
    return (ssize_t)size;
}

/* Prefetches a key, and what it will be compared with. */
static void fetch_both(const struct exact *e, const struct job *job, struct item item) {
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
static int compare(struct exact *e, const struct job *job, size_t i, uint64_t place, bool *same) {
    const struct origin *origin = origin_of(e, place);
    uint64_t offset = place - origin->base + origin->start;
    size_t length = job->key_lengths[i], done = 0;
    *same = true;
    while (*same && done <= length) {
        size_t rest = length + 1 - done;
        const char *bytes;
        ssize_t got = look_at(e, job, origin, offset + done, rest < CHUNK ? rest : CHUNK, &bytes);
        if (got < 0) return TROUBLE;
        size_t n = (size_t)got < rest ? (size_t)got : rest - 1;
        *same = got > 0 && same_bytes(e, bytes, job->keys[i] + done, n) &&
                (n == (size_t)got || ends_key(e->input, bytes[n]));
        done += (size_t)got;
    }
    return *same || origin->fd < 0 ? FINE : check_unchanged(origin);
}

/* --------------------------------------------------------------------------------------------------- adding --- */

/* Where a first copy is, from now on. */
static int keep(struct exact *e, const struct job *job, size_t i, uint64_t *place) {
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

static int add_new(struct exact *e, struct job *job, size_t i, const struct search *search) {
    uint64_t place;
    job->answers[i] = 1;
    if (keep(e, job, i, &place) != FINE) return TROUBLE;
    return places_add(e->places, search, place) ? FINE : failure(NULL, "not enough memory to remember so many lines");
}

static int add(struct exact *e, struct job *job, size_t i) {
    struct search search;
    uint64_t place;
    bool same = false;
    places_search(e->places, job->digests[i], &search);
    while (!same && places_next(e->places, &search, &place))
        if (compare(e, job, i, place, &same) != FINE) return TROUBLE;
    job->answers[i] = 0;
    return same ? FINE : add_new(e, job, i, &search);
}

/* Looks up the digests of all lines, in the order of the table, and adds those that are new. The others become items with the first
 * place of their digest. */
static int look_up(struct exact *e, struct job *job, size_t *repeats) {
    struct items *items = &e->items;
    for (size_t i = 0; i < job->n; i++) items->now[i] = (struct item){job->digests[i], (uint32_t)i};
    items_sort(items, job->n, UINT64_MAX);
    memset(job->answers, 0, job->n);
    *repeats = 0;
    for (size_t i = 0; i < job->n; i++) {
        struct item item = items->now[i];
        struct search search;
        if (i + AHEAD < job->n) {
            places_fetch(e->places, items->now[i + AHEAD].word);
            __builtin_prefetch(&job->keys[items->now[i + AHEAD].line]);
        }
        places_search(e->places, item.word, &search);
        if (places_next(e->places, &search, &item.word))
            items->next[(*repeats)++] = item;
        else if (add_new(e, job, item.line, &search) != FINE)
            return TROUBLE;
    }
    items_swap(items);
    return FINE;
}

/* Compares lines with what is at the places of their digests, in the order of the places. Of those that differ, the items stay. */
static int compare_all(struct exact *e, struct job *job, size_t repeats, size_t *others) {
    struct items *items = &e->items;
    const struct origin *last = current(e);
    items_sort(items, repeats, last->base + (last->end - last->start) + 1);
    *others = 0;
    for (size_t i = 0; i < repeats; i++) {
        struct item item = items->now[i];
        bool same;
        if (i + 2 * AHEAD < repeats) {
            __builtin_prefetch(&job->keys[items->now[i + 2 * AHEAD].line]);
            __builtin_prefetch(&job->key_lengths[items->now[i + 2 * AHEAD].line]);
        }
        if (i + AHEAD < repeats) fetch_both(e, job, items->now[i + AHEAD]);
        if (compare(e, job, item.line, item.word, &same) != FINE) return TROUBLE;
        if (!same) items->next[(*others)++] = item;
    }
    items_swap(items);
    return FINE;
}

/* A digest may have several keys. They are rare, and looked up one by one, in the order of the lines: the first of equal ones is the
 * new one. */
static int add_all(struct exact *e, struct job *job) {
    size_t repeats, others;
    if (look_up(e, job, &repeats) != FINE || compare_all(e, job, repeats, &others) != FINE) return TROUBLE;
    items_sort_by_line(&e->items, others);
    for (size_t i = 0; i < others; i++)
        if (add(e, job, e->items.now[i].line) != FINE) return TROUBLE;
    for (size_t i = 0; i < job->n; i++) job->added += job->answers[i];
    return FINE;
}

/* ---------------------------------------------------------------------------------- files that are cut meanwhile --- */

/* To touch what a map had, and the file has no more, is a SIGBUS in the thread that does it. */
struct landing {
    sigjmp_buf place;
    const void *volatile touched;
};
static _Thread_local struct landing *landing;

static void on_bus_error(int number, siginfo_t *info, void *context) {
    (void)context;
    if (!landing) {
        signal(number, SIG_DFL); /* it was not us: the instruction is tried again */
        return;
    }
    landing->touched = info->si_addr;
    siglongjmp(landing->place, 1);
}

static void catch_bus_errors(struct exact *e) {
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGBUS, &action, &e->before);
}

static int cut_short(const struct exact *e, const char *touched) {
    for (size_t i = 0; i < e->count; i++) {
        const struct origin *origin = &e->origins[i];
        if (!origin->map || touched < origin->map || touched >= origin->map + origin->mapped) continue;
        cannot_compare(origin, "has become shorter while it was read");
        return TROUBLE;
    }
    return failure("--exact", "its temporary file cannot be read; set TMPDIR to a folder on another disk");
}

static int add_guarded(struct exact *e, struct job *job) {
    struct landing here;
    if (sigsetjmp(here.place, 0)) {
        landing = NULL;
        return cut_short(e, (const char *)here.touched);
    }
    landing = &here;
    int status = add_all(e, job);
    landing = NULL;
    return status;
}

/* The bytes of LINES lines like these. Lists of lines take more memory than short lines do. */
static size_t block_for(const struct job *job) {
    size_t bytes = (size_t)(job->lines[job->n] - job->lines[0]) / job->n * LINES;
    return bytes < LARGE_BLOCK ? bytes : LARGE_BLOCK;
}

int exact_add(struct exact *e, struct job *job) {
    job->added = 0;
    if (job->file != e->file && begin_file(e, job) != FINE) return TROUBLE;
    if (!items_room(&e->items, job->n)) return failure(NULL, "not enough memory for so many lines at a time");
    struct origin *origin = current(e);
    if (origin->fd >= 0) {
        origin->end = job->offset + (uint64_t)(job->lines[job->n] - job->lines[0]);
        if (job->offset > origin->mapped) map_file(origin);
    }
    job->block = block_for(job);
    return add_guarded(e, job);
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
        e->places = places_create();
        catch_bus_errors(e);
    }
    if (e && e->places) return e;
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
    sigaction(SIGBUS, &e->before, NULL);
    spool_close(&e->spool);
    items_free(&e->items);
    places_free(e->places);
    free(e);
}
