#include "base/file.h"

#include "base/why.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* PERHAPS_EIO with errno in words. */
static int refused(const char *path, const char *what) {
    return fail(PERHAPS_EIO, "%s: %s: %s", path, what, strerror(errno));
}

static int not_regular(const char *path, const struct stat *status) {
    errno = S_ISDIR(status->st_mode) ? EISDIR : ESPIPE;
    return refused(path, "not a regular file");
}

/* ---- reading and mapping ---- */

static int check_regular(struct file *file) {
    struct stat status;
    if (fstat(file->fd, &status) < 0) return refused(file->path, "cannot look at it");
    if (!S_ISREG(status.st_mode)) return not_regular(file->path, &status);
    file->length = (uint64_t)status.st_size;
    if (file->length > SIZE_MAX / 2)
        return fail(PERHAPS_ENOMEM, "%s: too large for this machine's address space", file->path);
    return PERHAPS_OK;
}

static int lock(struct file *file) {
    if (flock(file->fd, LOCK_EX | LOCK_NB) == 0) return PERHAPS_OK;
    if (errno != EWOULDBLOCK) return refused(file->path, "cannot lock it");
    return fail(PERHAPS_EBUSY, "%s: another process is changing it in place; wait for it to end", file->path);
}

/* Whether the path still leads to this file, or another one has been renamed into its place. */
static bool is_current(const struct file *file) {
    struct stat here, there;
    if (fstat(file->fd, &here) < 0 || stat(file->path, &there) < 0) return false;
    return here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

static int open_once(struct file *file, const char *path, bool writable) {
    *file = (struct file){.path = path};
    file->fd = open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK);
    if (file->fd < 0) return refused(path, "cannot open it");
    int rc = check_regular(file);
    if (rc == PERHAPS_OK && writable) rc = lock(file);
    if (rc < 0) file_close(file);
    return rc;
}

int file_open(struct file *file, const char *path, bool writable) {
    int rc = open_once(file, path, writable);
    /* Between opening and locking, a save may have replaced it: then the lock is on a file that nobody sees any more. */
    while (rc == PERHAPS_OK && writable && !is_current(file)) {
        file_close(file);
        rc = open_once(file, path, writable);
    }
    return rc;
}

int file_reserve(const struct file *file) {
    errno = posix_fallocate(file->fd, 0, (off_t)file->length);
    return errno == ENOSPC ? refused(file->path, "cannot give it disk space for changes in place") : PERHAPS_OK;
}

int file_map(struct file *file, bool writable) {
    if (file->length == 0) return PERHAPS_OK;
    int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    void *bytes = mmap(NULL, (size_t)file->length, protection, MAP_SHARED, file->fd, 0);
    if (bytes == MAP_FAILED) return refused(file->path, "cannot map it");
    file->bytes = bytes;
    return PERHAPS_OK;
}

void file_use_huge_pages(const struct file *file) {
#ifdef MADV_HUGEPAGE
    if (file->bytes) madvise(file->bytes, (size_t)file->length, MADV_HUGEPAGE); /* honoured on tmpfs and some others */
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

/* Where data begins, or a hole, at or after `at`; the file's length if there is none. Systems that cannot tell see data
 * everywhere. */
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
        if (got < 0) return refused(file->path, "cannot read it");
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
        if (to <= from || to > end) to = end; /* it is changing under our hands, or goes on */
        rc = file_read_part(file, bytes + (from - offset), from, to - from);
    }
    /* A hole at the end and a missing end look the same: read one byte of it. */
    return rc == PERHAPS_OK && length ? file_read_part(file, bytes + length - 1, end - 1, 1) : rc;
}

int file_sync(const struct file *file, uint64_t offset, uint64_t length) {
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), start = offset - offset % page;
    if (msync(file->bytes + start, (size_t)(length + offset - start), MS_SYNC) < 0)
        return refused(file->path, "cannot write it to disk");
    return PERHAPS_OK;
}

/* Comes after failures too, whose errno the caller wants. */
void file_close(struct file *file) {
    int error = errno;
    if (file->bytes) munmap(file->bytes, (size_t)file->length);
    if (file->fd >= 0) close(file->fd);
    file->bytes = NULL;
    file->fd = -1;
    errno = error;
}

/* ---- replacing ---- */

/* A link is followed, so that its target is replaced and not the link. What exists must be a regular file. */
static int find_target(struct replacement *r) {
    struct stat status;
    if (!realpath(r->path, r->target)) {
        bool missing = errno == ENOENT && lstat(r->path, &status) < 0; /* and not a link to nothing */
        if (!missing) return refused(r->path, "cannot save there");
        if (snprintf(r->target, sizeof r->target, "%s", r->path) >= (int)sizeof r->target) {
            errno = ENAMETOOLONG;
            return refused(r->path, "cannot save there");
        }
        return PERHAPS_OK;
    }
    if (stat(r->target, &status) < 0) return refused(r->path, "cannot look at it");
    return S_ISREG(status.st_mode) ? PERHAPS_OK : not_regular(r->path, &status);
}

/* The length of the folder's part of a path, slash included. */
static int folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path) + 1 : 0;
}

/* What makes a temporary file appear under r->temporary; EEXIST if that name is taken. */
typedef int make_name(struct replacement *r);

static int make_new(struct replacement *r) {
    r->fd = open(r->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return r->fd < 0 ? -1 : 0;
}

static int make_link(struct replacement *r) {
    char unnamed[40];
    snprintf(unnamed, sizeof unnamed, "/proc/self/fd/%d", r->fd);
    return linkat(AT_FDCWD, unnamed, AT_FDCWD, r->temporary, AT_SYMLINK_FOLLOW);
}

/* Tries names that no other thread or process uses, `.NAME.tmp-PID-N`, until one is free. */
static int name_temporary(struct replacement *r, make_name *make) {
    static atomic_uint counter;
    int folder = folder_length(r->target), rc;
    do {
        unsigned number = atomic_fetch_add(&counter, 1);
        int length = snprintf(r->temporary, sizeof r->temporary, "%.*s.%.200s.tmp-%ld-%u", folder, r->target,
                              r->target + folder, (long)getpid(), number);
        if (length >= (int)sizeof r->temporary) {
            errno = ENAMETOOLONG;
            return -1;
        }
        rc = make(r);
    } while (rc < 0 && errno == EEXIST);
    r->named = rc == 0;
    return rc;
}

/* Opens a file without a name in the target's folder; false where the system cannot, or could not name it later. */
static bool open_unnamed(struct replacement *r) {
#ifdef O_TMPFILE
    if (access("/proc/self/fd", X_OK) < 0) return false;
    int folder = folder_length(r->target);
    snprintf(r->temporary, sizeof r->temporary, "%.*s.", folder, r->target);
    r->fd = open(r->temporary, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
#endif
    return r->fd >= 0;
}

/* Whoever changes the file in place has it locked; what they add after our rename would be lost. Those who save share
 * their lock with each other. */
static int lock_old(struct replacement *r) {
    r->old = open(r->target, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (r->old < 0 || flock(r->old, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) return PERHAPS_OK;
    return fail(PERHAPS_EBUSY, "%s: is being changed in place, here or by another process; sync and close it first",
                r->path);
}

int replacement_begin(struct replacement *r, const char *path) {
    *r = (struct replacement){.path = path, .fd = -1, .old = -1};
    int rc = find_target(r);
    if (rc == PERHAPS_OK) rc = lock_old(r);
    if (rc == PERHAPS_OK && !open_unnamed(r) && name_temporary(r, make_new) < 0)
        rc = refused(path, "cannot save there");
    struct stat old;
    if (rc == PERHAPS_OK && fstat(r->old, &old) == 0 && fchmod(r->fd, old.st_mode & 07777) < 0)
        rc = refused(path, "cannot keep its permissions");
    if (rc < 0) replacement_abandon(r);
    return rc;
}

int replacement_write(struct replacement *r, uint64_t offset, const void *bytes, uint64_t length) {
    const uint8_t *from = bytes;
    while (length) {
        ssize_t put = pwrite(r->fd, from, (size_t)length, (off_t)offset);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return refused(r->path, "cannot write the new file; the old one is as it was");
        from += put;
        offset += (uint64_t)put;
        length -= (uint64_t)put;
    }
    return PERHAPS_OK;
}

static int sync_folder(struct replacement *r) {
    int folder = folder_length(r->target);
    r->target[folder > 1 ? folder - 1 : folder] = '\0';
    int fd = open(folder ? r->target : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && errno == EACCES) return PERHAPS_OK; /* a folder that may be written but not read */
    if (fd < 0) return refused(r->path, "cannot open its folder");
    int rc = fsync(fd) < 0 && errno != EINVAL ? refused(r->path, "cannot write its folder to disk") : PERHAPS_OK;
    close(fd);
    return rc;
}

/* What fails, or NULL: length, disk, name, place. */
static const char *put_in_place(struct replacement *r, uint64_t length) {
    if (ftruncate(r->fd, (off_t)length) < 0) return "cannot set its length";
    if (fsync(r->fd) < 0) return "cannot write it to disk";
    if (!r->named && name_temporary(r, make_link) < 0) return "cannot name it";
    if (rename(r->temporary, r->target) < 0) return "cannot put it in its place";
    r->named = false;
    return NULL;
}

int replacement_commit(struct replacement *r, uint64_t length) {
    const char *failed = put_in_place(r, length);
    int rc = failed ? refused(r->path, failed) : PERHAPS_OK;
    replacement_abandon(r);
    return rc < 0 ? rc : sync_folder(r);
}

void replacement_abandon(struct replacement *r) {
    int error = errno;
    if (r->fd >= 0) close(r->fd);
    if (r->old >= 0) close(r->old);
    if (r->named) unlink(r->temporary);
    errno = error;
}
