#include "base/file.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int file_refused(const char *path, const char *what) {
    return fail(PERHAPS_EIO, "%s: %s: %s", path, what, strerror(errno));
}

int file_must_be_regular(const char *path, int fd, uint64_t *length) {
    struct stat status;
    if (fstat(fd, &status) < 0) return file_refused(path, "cannot look at it");
    *length = (uint64_t)status.st_size;
    if (S_ISREG(status.st_mode)) return PERHAPS_OK;
    errno = S_ISDIR(status.st_mode) ? EISDIR : ESPIPE;
    return file_refused(path, "not a regular file");
}

int file_is_busy(const char *path) {
    return fail(PERHAPS_EBUSY, "%s: another process, or another filter of this one, is changing it; wait for it to end",
                path);
}

bool file_is_current(int fd, const char *path) {
    struct stat here, there;
    if (fstat(fd, &here) < 0 || stat(path, &there) < 0) return false;
    return here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

int file_write_at(int fd, uint64_t offset, const void *bytes, uint64_t length) {
    const uint8_t *from = bytes;
    while (length) {
        ssize_t put = pwrite(fd, from, (size_t)length, (off_t)offset);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return -1;
        from += put;
        offset += (uint64_t)put;
        length -= (uint64_t)put;
    }
    return 0;
}

/* ---- reading and mapping ---- */

static int check_length(struct file *file) {
    int rc = file_must_be_regular(file->path, file->fd, &file->length);
    if (rc == PERHAPS_OK && file->length > SIZE_MAX / 2)
        return fail(PERHAPS_ENOMEM, "%s: too large for this machine's address space", file->path);
    return rc;
}

static int lock(struct file *file) {
    if (flock(file->fd, LOCK_EX | LOCK_NB) == 0) return PERHAPS_OK;
    if (errno != EWOULDBLOCK) return file_refused(file->path, "cannot lock it");
    return file_is_busy(file->path);
}

static int open_once(struct file *file, const char *path, bool writable) {
    *file = (struct file){.path = path};
    file->fd = open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK);
    if (file->fd < 0) return file_refused(path, "cannot be opened");
    int rc = check_length(file);
    if (rc == PERHAPS_OK && writable) rc = lock(file);
    if (rc < 0) file_close(file);
    return rc;
}

int file_open(struct file *file, const char *path, bool writable) {
    int rc = open_once(file, path, writable);
    /* A save may have replaced it before the lock: then the lock is on a file without a name. */
    while (rc == PERHAPS_OK && writable && !file_is_current(file->fd, path)) {
        file_close(file);
        rc = open_once(file, path, writable);
    }
    return rc;
}

int file_reserve(const struct file *file) {
    errno = posix_fallocate(file->fd, 0, (off_t)file->length);
    return errno == ENOSPC ? file_refused(file->path, "cannot give it disk space for changes in place") : PERHAPS_OK;
}

int file_map(struct file *file, bool writable) {
    if (file->length == 0) return PERHAPS_OK;
    int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    void *bytes = mmap(NULL, (size_t)file->length, protection, MAP_SHARED, file->fd, 0);
    if (bytes == MAP_FAILED) return file_refused(file->path, "cannot map it");
    file->bytes = bytes;
    return PERHAPS_OK;
}

void file_use_huge_pages(const struct file *file) {
#ifdef MADV_HUGEPAGE
    if (file->bytes) madvise(file->bytes, (size_t)file->length, MADV_HUGEPAGE);
#else
    (void)file;
#endif
}

void file_keep_sparse(const struct file *file) {
#ifdef MADV_RANDOM
    if (file->bytes) madvise(file->bytes, (size_t)file->length, MADV_RANDOM);
#else
    (void)file;
#endif
}

/* The next data, or the next hole, at or after `at`; the file's length if there is none. Without
 * SEEK_HOLE everything is data. */
static uint64_t next_part(const struct file *file, uint64_t at, bool hole) {
#if defined(SEEK_DATA) && defined(SEEK_HOLE)
    int error = errno;
    off_t found = lseek(file->fd, (off_t)at, hole ? SEEK_HOLE : SEEK_DATA);
    bool none = found < 0 && errno == ENXIO;
    errno = error;
    if (none) return file->length;
    if (found >= 0) return (uint64_t)found < file->length ? (uint64_t)found : file->length;
#endif
    return hole ? file->length : at;
}

bool file_is_hole(const struct file *file, const uint8_t *bytes, uint64_t length) {
    uint64_t at = (uint64_t)(bytes - file->bytes);
    return next_part(file, at, false) >= at + length;
}

int file_read_part(const struct file *file, uint8_t *bytes, uint64_t offset, uint64_t length) {
    while (length) {
        ssize_t got = pread(file->fd, bytes, (size_t)length, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return file_refused(file->path, "cannot read it");
        if (got == 0) return fail(PERHAPS_EDAMAGED, "%s: became shorter while it was read", file->path);
        bytes += got;
        offset += (uint64_t)got;
        length -= (uint64_t)got;
    }
    return PERHAPS_OK;
}

int file_read(const struct file *file, uint8_t *bytes, uint64_t offset, uint64_t length) {
    uint64_t end = offset + length;
    int rc = PERHAPS_OK;
    for (uint64_t from = offset, to; rc == PERHAPS_OK && from < end; from = to) {
        from = next_part(file, from, false);
        if (from >= end) break;
        to = next_part(file, from, true);
        if (to <= from || to > end) to = end; /* the file is changing, or goes on */
        rc = file_read_part(file, bytes + (from - offset), from, to - from);
    }
    /* A hole at the end looks like a truncated file: reading its last byte tells them apart. */
    return rc == PERHAPS_OK && length ? file_read_part(file, bytes + length - 1, end - 1, 1) : rc;
}

int file_sync(const struct file *file, uint64_t offset, uint64_t length) {
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), start = offset - offset % page;
    if (msync(file->bytes + start, (size_t)(length + offset - start), MS_SYNC) < 0)
        return file_refused(file->path, "cannot write it to disk");
    return PERHAPS_OK;
}

/* Keeps errno: it is called after failures too. */
void file_close(struct file *file) {
    int error = errno;
    if (file->bytes) munmap(file->bytes, (size_t)file->length);
    if (file->fd >= 0) close(file->fd);
    file->bytes = NULL;
    file->fd = -1;
    errno = error;
}
