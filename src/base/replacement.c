/*
 * Locks are flock() on the file itself: they end with the process that holds them. A replaced file
 * keeps its lock, so whoever gets a lock checks that the name still leads to that file, and starts
 * over if not. The new file is locked before it gets the name, so the name is never unlocked.
 */
#include "base/replacement.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int flock_now(int fd, enum file_sharing sharing) {
    return flock(fd, (sharing == FILE_ALONE ? LOCK_EX : LOCK_SH) | LOCK_NB);
}

/* ---- locks ---- */

/* Symbolic links are followed: the target is replaced, not the link. */
static int find_target(struct file_lock *lock) {
    struct stat status;
    if (!*lock->path) {
        errno = ENOENT;
        return fail(PERHAPS_EIO, "the file's name is empty");
    }
    if (realpath(lock->path, lock->target)) return PERHAPS_OK;
    int error = errno;
    bool link = lstat(lock->path, &status) == 0 && S_ISLNK(status.st_mode); /* dangling */
    errno = error;
    if (link || error != ENOENT) return file_refused(lock->path, "cannot be saved");
    strcpy(lock->target, lock->path);
    return PERHAPS_OK;
}

/* Some network file systems lock only files open for writing. A read-only file may be replaced
 * too. */
static int open_to_lock(const char *path) {
    enum { FLAGS = O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW };
    int fd = open(path, O_RDWR | FLAGS);
    bool read_only = fd < 0 && errno != ENOENT;
    return read_only ? open(path, O_RDONLY | FLAGS) : fd;
}

/* Where there are no locks, FILE_SHARED goes on without one. */
static int lock_old(struct file_lock *lock) {
    uint64_t length;
    lock->fd = open_to_lock(lock->target);
    if (lock->fd < 0) return errno == ENOENT ? PERHAPS_OK : file_refused(lock->path, "cannot be opened");
    int rc = file_must_be_regular(lock->path, lock->fd, &length);
    if (rc < 0 || flock_now(lock->fd, lock->sharing) == 0) return rc;
    if (errno == EWOULDBLOCK) return file_is_busy(lock->path);
    return lock->sharing == FILE_ALONE ? file_refused(lock->path, "cannot lock it") : PERHAPS_OK;
}

static int lock_current(struct file_lock *lock) {
    int rc;
    do {
        file_unlock(lock);
        rc = find_target(lock);
        if (rc == PERHAPS_OK) rc = lock_old(lock);
    } while (rc == PERHAPS_OK && lock->fd >= 0 && !file_is_current(lock->fd, lock->target));
    if (rc < 0) file_unlock(lock);
    return rc;
}

int file_lock(struct file_lock *lock, const char *path, enum file_sharing sharing) {
    lock->sharing = sharing;
    lock->fd = -1;
    if (snprintf(lock->path, sizeof lock->path, "%s", path) < (int)sizeof lock->path) return lock_current(lock);
    errno = ENAMETOOLONG;
    return fail(PERHAPS_EIO, "%.200s...: cannot be saved: %s", path, strerror(errno));
}

/* Keeps errno: it is called after failures too. */
void file_unlock(struct file_lock *lock) {
    int error = errno;
    if (lock->fd >= 0) close(lock->fd);
    lock->fd = -1;
    errno = error;
}

/* ---- temporary files ---- */

/* The length of the folder in a path, slash included. */
static int folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path) + 1 : 0;
}

/* Makes a temporary file appear as r->temporary; EEXIST if that name is taken. */
typedef int make_name(struct replacement *r);

/* Marks a temporary file as one whose process is alive, until it is closed. Not an flock: a process
 * that tests the mark may have opened the file that has just taken the name, and must not disturb
 * its lock. Fails with EAGAIN if another process has it. */
static int mark_as_living(int fd) {
#ifdef F_OFD_SETLK
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_OFD_SETLK, &all);
#else
    (void)fd;
    errno = ENOSYS;
    return -1;
#endif
}

/* No one else may read it before it has the permissions of the old file. */
static mode_t first_mode(const struct replacement *r) {
    return r->lock->fd >= 0 ? 0600 : 0666;
}

/* Until it is marked, another process may take it for a leftover and remove it. */
static int make_new(struct replacement *r) {
    r->fd = open(r->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, first_mode(r));
    if (r->fd < 0) return -1;
    bool taken = mark_as_living(r->fd) < 0 && (errno == EAGAIN || errno == EACCES);
    flock_now(r->fd, r->lock->sharing);
    if (!taken && file_is_current(r->fd, r->temporary)) return 0;
    close(r->fd);
    r->fd = -1;
    errno = EEXIST;
    return -1;
}

static int link_unnamed(const struct replacement *r, const char *name) {
    char unnamed[40];
    snprintf(unnamed, sizeof unnamed, "/proc/self/fd/%d", r->fd);
    return linkat(AT_FDCWD, unnamed, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

static int make_link(struct replacement *r) {
    return link_unnamed(r, r->temporary);
}

/* A temporary file without a mark is left over from a killed process. True if the name is free
 * now. */
static bool remove_leftover(const char *name) {
    struct stat status;
    int fd = open_to_lock(name);
    if (fd < 0) return errno == ENOENT;
    bool left = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && mark_as_living(fd) == 0;
    if (left && file_is_current(fd, name)) left = unlink(name) == 0;
    close(fd);
    return left;
}

/* Tries `.NAME.tmp-0`, `.NAME.tmp-1`, ... until one is free, or was a leftover. */
static int name_temporary(struct replacement *r, make_name *make) {
    enum { MOST = 10000 };
    const char *target = r->lock->target;
    int folder = folder_length(target);
    for (int number = 0, tries = 0; tries < MOST; tries++) {
        int length =
            snprintf(r->temporary, sizeof r->temporary, "%.*s.%.200s.tmp-%d", folder, target, target + folder, number);
        if (length >= (int)sizeof r->temporary) {
            errno = ENAMETOOLONG;
            return -1;
        }
        r->named = make(r) == 0;
        if (r->named) return 0;
        if (errno != EEXIST) return -1;
        if (!remove_leftover(r->temporary)) number++;
    }
    errno = EEXIST;
    return -1;
}

/* Opens a file without a name in the target's folder; false where the system cannot open or later
 * name it. */
static bool open_unnamed(struct replacement *r) {
#ifdef O_TMPFILE
    if (access("/proc/self/fd", X_OK) < 0) return false;
    int folder = folder_length(r->lock->target);
    snprintf(r->temporary, sizeof r->temporary, "%.*s.", folder, r->lock->target);
    r->fd = open(r->temporary, O_RDWR | O_TMPFILE | O_CLOEXEC, first_mode(r));
    if (r->fd >= 0) mark_as_living(r->fd);
    if (r->fd >= 0) flock_now(r->fd, r->lock->sharing);
#endif
    return r->fd >= 0;
}

/* Root can keep any owner, others a group that they are in. If the group cannot be kept, the new
 * group gets only the rights of all others. */
static int keep_owner(const struct replacement *r) {
    struct stat old, new;
    if (r->lock->fd < 0) return PERHAPS_OK;
    if (fstat(r->lock->fd, &old) < 0 || fstat(r->fd, &new) < 0) return file_refused(r->lock->path, "cannot look at it");
    mode_t mode = old.st_mode & 07777;
    bool owner = old.st_uid == new.st_uid || fchown(r->fd, old.st_uid, (gid_t)-1) == 0;
    bool group = old.st_gid == new.st_gid || fchown(r->fd, (uid_t)-1, old.st_gid) == 0;
    if (!owner || !group) mode &= ~(mode_t)(S_ISUID | S_ISGID);
    if (!group) mode = (mode & ~(mode_t)S_IRWXG) | (mode & S_IRWXO) << 3;
    if (mode == (new.st_mode & 07777) || fchmod(r->fd, mode) == 0) return PERHAPS_OK;
    return file_refused(r->lock->path, "cannot keep its permissions");
}

/* ---- replacing ---- */

int replacement_begin(struct replacement *r, struct file_lock *lock) {
    r->lock = lock;
    r->fd = -1;
    r->named = false;
    int rc = PERHAPS_OK;
    if (!open_unnamed(r) && name_temporary(r, make_new) < 0) rc = file_refused(lock->path, "cannot be saved");
    if (rc < 0) replacement_abandon(r);
    return rc;
}

int replacement_write(struct replacement *r, uint64_t offset, const void *bytes, uint64_t length) {
    if (file_write_at(r->fd, offset, bytes, length) == 0) return PERHAPS_OK;
    return file_refused(r->lock->path, "cannot write the new file; the old one is as it was");
}

int replacement_set_length(struct replacement *r, uint64_t length) {
    return ftruncate(r->fd, (off_t)length) < 0 ? file_refused(r->lock->path, "cannot set its length") : PERHAPS_OK;
}

static int sync_folder(const struct file_lock *lock) {
    char name[PATH_MAX];
    int folder = folder_length(lock->target);
    snprintf(name, sizeof name, "%.*s", folder > 1 ? folder - 1 : folder, lock->target);
    int fd = open(folder ? name : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && errno == EACCES) return PERHAPS_OK; /* writable but not readable */
    if (fd < 0) return file_refused(lock->path, "its folder cannot be opened");
    int rc =
        fsync(fd) < 0 && errno != EINVAL ? file_refused(lock->path, "cannot write its folder to disk") : PERHAPS_OK;
    close(fd);
    return rc;
}

static int put_over_old(struct replacement *r) {
    if (!r->named && name_temporary(r, make_link) < 0) return file_refused(r->lock->path, "cannot name it");
    if (rename(r->temporary, r->lock->target) < 0) return file_refused(r->lock->path, "cannot put it in its place");
    r->named = false;
    return PERHAPS_OK;
}

/* Another file has appeared. Fails if the caller depends on what is there; else replaces it. */
static int meet_another(struct replacement *r) {
    if (r->lock->sharing == FILE_ALONE)
        return fail(PERHAPS_EBUSY, "%s: another process has made it meanwhile; look at that one, and try again",
                    r->lock->path);
    int rc = lock_current(r->lock);
    return rc < 0 ? rc : put_over_old(r);
}

/* Programs without locks, and others that share the lock, may have replaced or removed the file.
 * Before the new file takes the name, the lock must be on what the name leads to. */
static int keep_lock(struct file_lock *lock) {
    if (lock->fd < 0 || file_is_current(lock->fd, lock->target)) return PERHAPS_OK;
    if (lock->sharing == FILE_SHARED) return lock_current(lock);
    return fail(PERHAPS_EBUSY,
                "%s: another process has replaced or removed it meanwhile; look at what is there, and try again",
                lock->path);
}

/* A hard link never replaces a file. File systems without hard links get a rename. */
static int put_new(struct replacement *r) {
    int linked = r->named ? link(r->temporary, r->lock->target) : link_unnamed(r, r->lock->target);
    if (linked == 0) return PERHAPS_OK;
    return errno == EEXIST ? meet_another(r) : put_over_old(r);
}

int replacement_commit(struct replacement *r) {
    struct file_lock *lock = r->lock;
    int rc = keep_lock(lock);
    if (rc == PERHAPS_OK) rc = keep_owner(r);
    if (rc == PERHAPS_OK && fsync(r->fd) < 0) rc = file_refused(lock->path, "cannot write it to disk");
    if (rc == PERHAPS_OK) rc = keep_lock(lock);
    if (rc == PERHAPS_OK) rc = lock->fd < 0 ? put_new(r) : put_over_old(r);
    if (rc == PERHAPS_OK && lock->sharing == FILE_ALONE) {
        file_unlock(lock);
        lock->fd = r->fd;
        r->fd = -1;
    }
    replacement_abandon(r);
    return rc < 0 ? rc : sync_folder(lock);
}

void replacement_abandon(struct replacement *r) {
    int error = errno;
    if (r->named) unlink(r->temporary);
    r->named = false;
    if (r->fd >= 0) close(r->fd);
    r->fd = -1;
    errno = error;
}
