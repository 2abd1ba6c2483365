#include "exact.h"
#include "../report.h"
#include "places.h"
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MOST_FILES = 200, /* that are kept open */
    CHUNK = 64 << 10, /* of a first copy that is compared at a time */
    AHEAD = 24,       /* lines whose places are being fetched */
    RECENT_BITS = 14  /* of the number of first copies that stay in memory: 2 MiB of them */
};

/* Places from `base` on belong to one input file, or to the spool. */
struct origin {
    uint64_t base;
    uint64_t start, end; /* offsets: what place `base` is, and how far it has come */
    int fd;              /* -1 = the spool */
    const char *path;
    struct timespec modified;
};

/* What a file has at a place. */
struct recent {
    uint64_t place; /* one more than it is; 0 = nothing yet */
    uint32_t length;
    char bytes[116];
};

struct exact {
    const struct input *input;
    bool fold; /* letters that differ in case are the same */
    struct places *places;
    struct spool spool;
    size_t file;                               /* the number of the file that is being read */
    size_t files, most_files;                  /* kept open */
    size_t count;                              /* of origins, the last of which is being read */
    struct origin origins[2 * MOST_FILES + 1]; /* by place; there is a file between any two parts of the spool */
    char scratch[CHUNK];
    struct recent recent[1 << RECENT_BITS];
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
    if (status.st_mtim.tv_sec == origin->modified.tv_sec && status.st_mtim.tv_nsec == origin->modified.tv_nsec)
        return FINE;
    cannot_compare(origin, "has changed while it was read");
    return TROUBLE;
}

/* The same keys come again and again, and the system takes longer to give a few bytes than all the rest takes. */
static ssize_t read_recent(struct exact *e, const struct origin *origin, uint64_t offset, size_t size,
                           const char **bytes) {
    uint64_t place = origin->base + (offset - origin->start);
    struct recent *recent = &e->recent[place * UINT64_C(0x9E3779B97F4A7C15) >> (64 - RECENT_BITS)];
    *bytes = recent->bytes;
    if (recent->place != place + 1 || recent->length < size) {
        ssize_t got = read_at(origin->fd, recent->bytes, sizeof recent->bytes, offset);
        recent->place = got > 0 ? place + 1 : 0;
        recent->length = got > 0 ? (uint32_t)got : 0;
        if (got <= 0) return got;
    }
    return (ssize_t)(recent->length < size ? recent->length : size);
}

/* Sets *bytes to what a file had at this offset when it was read: its last line ended, whatever has come since. How many, or
 * -1. */
static ssize_t read_file(struct exact *e, const struct origin *origin, uint64_t offset, size_t size,
                         const char **bytes) {
    *bytes = &e->input->terminator;
    if (offset + 1 >= origin->end) return 1;
    if (size > origin->end - 1 - offset) size = (size_t)(origin->end - 1 - offset);
    *bytes = e->scratch;
    ssize_t got = size <= sizeof e->recent->bytes ? read_recent(e, origin, offset, size, bytes)
                                                  : read_at(origin->fd, e->scratch, size, offset);
    if (got > 0) return got;
    return cannot_compare(origin, got ? strerror(errno) : "has become shorter while it was read");
}

/* The same for any origin. What is in this job need not be read. */
static ssize_t look_at(struct exact *e, const struct job *job, const struct origin *origin, uint64_t offset,
                       size_t size, const char **bytes) {
    if (origin->fd < 0) return spool_read(&e->spool, offset, size, e->scratch, bytes);
    if (origin != current(e) || offset < job->offset) return read_file(e, origin, offset, size, bytes);
    *bytes = job->lines[0] + (size_t)(offset - job->offset);
    return (ssize_t)size;
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

static int add(struct exact *e, struct job *job, size_t i) {
    struct search search;
    uint64_t place;
    bool same = false;
    places_search(e->places, job->digests[i], &search);
    while (!same && places_next(e->places, &search, &place))
        if (compare(e, job, i, place, &same) != FINE) return TROUBLE;
    job->answers[i] = !same;
    if (same) return FINE;
    if (keep(e, job, i, &place) != FINE) return TROUBLE;
    return places_add(e->places, &search, place) ? FINE : failure(NULL, "not enough memory to remember so many lines");
}

int exact_add(struct exact *e, struct job *job) {
    job->added = 0;
    if (job->file != e->file && begin_file(e, job) != FINE) return TROUBLE;
    if (current(e)->fd >= 0) current(e)->end = job->offset + (uint64_t)(job->lines[job->n] - job->lines[0]);
    for (size_t i = 0; i < AHEAD && i < job->n; i++) places_fetch(e->places, job->digests[i]);
    for (size_t i = 0; i < job->n; i++) {
        if (i + AHEAD < job->n) places_fetch(e->places, job->digests[i + AHEAD]);
        if (add(e, job, i) != FINE) return TROUBLE;
        job->added += job->answers[i];
    }
    return FINE;
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
    }
    if (e && e->places) return e;
    exact_free(e);
    failure(NULL, "not enough memory for --exact");
    return NULL;
}

void exact_free(struct exact *e) {
    if (!e) return;
    for (size_t i = 0; i < e->count; i++)
        if (e->origins[i].fd >= 0) close(e->origins[i].fd);
    spool_close(&e->spool);
    places_free(e->places);
    free(e);
}
