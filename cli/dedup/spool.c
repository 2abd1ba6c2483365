#include "spool.h"
#include "output/report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WAITING = 1 << 20, FIRST_MAP = 64 << 20 };

static const char *folder(void) {
    const char *named = getenv("TMPDIR");
    return named && *named ? named : "/tmp";
}

/* A file system that knows no files without names gets one whose name is taken away at once. */
static int open_nameless(void) {
    char name[4096];
    int fd = open(folder(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return fd;
    if (snprintf(name, sizeof name, "%s/perhaps-XXXXXX", folder()) >= (int)sizeof name) return -1;
    fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0) unlink(name);
    return fd;
}

int spool_open(struct spool *spool) {
    *spool = (struct spool){.fd = open_nameless(), .waiting = malloc(WAITING)};
    if (spool->fd < 0)
        return failure(folder(), "cannot hold the temporary file of --exact: %s; set TMPDIR to a writable folder",
                       strerror(errno));
    return spool->waiting ? FINE : failure(NULL, "not enough memory to keep lines for --exact");
}

static void unmap(struct spool *spool) {
    if (spool->map) munmap((void *)(uintptr_t)spool->map, spool->mapped);
    spool->map = NULL;
    spool->mapped = 0;
}

/* Maps more than there is, so that it is seldom mapped again. Without a map all is read. */
static void map_written(struct spool *spool) {
    if (spool->written <= spool->mapped || spool->written > SIZE_MAX / 4) return;
    size_t size = spool->mapped ? spool->mapped : FIRST_MAP;
    while (size < spool->written) size *= 2;
    unmap(spool);
    void *map = mmap(NULL, size, PROT_READ, MAP_SHARED, spool->fd, 0);
    if (map == MAP_FAILED) return;
    spool->map = map;
    spool->mapped = size;
}

static int write_out(struct spool *spool, const char *bytes, size_t length) {
    if (write_all(spool->fd, bytes, length) != 0)
        return failure(folder(),
                       "the temporary file of --exact cannot be written: %s; set TMPDIR to a folder with more room",
                       strerror(errno));
    spool->written += length;
    map_written(spool);
    return FINE;
}

int spool_append(struct spool *spool, const char *text, size_t length, char end) {
    if (length >= WAITING - spool->waits) {
        size_t waits = spool->waits;
        spool->waits = 0;
        if (write_out(spool, spool->waiting, waits) != FINE) return TROUBLE;
    }
    if (length >= WAITING) {
        if (write_out(spool, text, length) != FINE) return TROUBLE;
        length = 0;
    }
    memcpy(spool->waiting + spool->waits, text, length);
    spool->waits += length;
    spool->waiting[spool->waits++] = end;
    return FINE;
}

uint64_t spool_end(const struct spool *spool) {
    return spool->written + spool->waits;
}

const char *spool_at(const struct spool *spool, uint64_t offset) {
    if (offset >= spool->written) return spool->waiting + (size_t)(offset - spool->written);
    return spool->map ? spool->map + (size_t)offset : NULL;
}

ssize_t spool_read(const struct spool *spool, uint64_t offset, size_t size, char *scratch, const char **bytes) {
    uint64_t end = offset < spool->written ? spool->written : spool_end(spool);
    if (size > end - offset) size = (size_t)(end - offset);
    *bytes = spool_at(spool, offset);
    if (*bytes) return (ssize_t)size;
    *bytes = scratch;
    ssize_t got = read_at(spool->fd, scratch, size, offset);
    if (got < 0) failure(folder(), "the temporary file of --exact cannot be read: %s", strerror(errno));
    return got;
}

void spool_close(struct spool *spool) {
    unmap(spool);
    if (spool->fd >= 0) close(spool->fd);
    free(spool->waiting);
}
