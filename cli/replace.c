#include "replace.h"
#include "filter.h"
#include "interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The new file, until it takes the place of the old one. */
struct draft {
    char target[PATH_MAX];                           /* without links */
    char name[PATH_MAX + sizeof ".tmp-" + NAME_MAX]; /* beside it */
    int fd;
};

/* The length of the folder's part of a path, slash included. */
static int folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path) + 1 : 0;
}

/* A link is followed, so that its target is replaced and not the link. */
static int find_target(struct draft *d, const char *path) {
    struct stat old;
    if (realpath(path, d->target)) return 0;
    if (errno != ENOENT || lstat(path, &old) == 0) return -1; /* a link to nothing, or worse */
    if (snprintf(d->target, sizeof d->target, "%s", path) < (int)sizeof d->target) return 0;
    errno = ENAMETOOLONG;
    return -1;
}

/* Under a name that is free, `.NAME.tmp-PID-N`. It has the permissions of the old file, if there is one, or those that the
 * umask leaves. */
static int draft_open(struct draft *d, const char *path) {
    struct stat old;
    if (find_target(d, path) < 0) return -1;
    int folder = folder_length(d->target);
    for (unsigned number = 0; d->fd < 0 && (number == 0 || errno == EEXIST); number++) {
        snprintf(d->name, sizeof d->name, "%.*s.%.200s.tmp-%ld-%u", folder, d->target, d->target + folder,
                 (long)getpid(), number);
        d->fd = open(d->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    if (d->fd < 0) return -1;
    return stat(d->target, &old) == 0 ? fchmod(d->fd, old.st_mode & 07777) : 0;
}

/* The name is safe on disk only when its folder is. */
static int sync_folder(struct draft *d) {
    int folder = folder_length(d->target);
    d->target[folder > 1 ? folder - 1 : folder] = '\0';
    int fd = open(folder ? d->target : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return errno == EACCES ? 0 : -1; /* a folder that may be written but not read */
    int rc = fsync(fd) < 0 && errno != EINVAL ? -1 : 0;
    close(fd);
    return rc;
}

static int draft_finish(struct draft *d) {
    return fsync(d->fd) < 0 ? -1 : rename(d->name, d->target);
}

static int replace_held(const char *path, write_draft *write, void *context) {
    struct draft d = {.fd = -1};
    int rc = draft_open(&d, path);
    if (rc == 0) rc = write(context, d.fd);
    if (rc == 0) rc = draft_finish(&d);
    int error = errno;
    if (d.fd >= 0) close(d.fd);
    if (rc != 0 && d.fd >= 0) unlink(d.name);
    if (rc == 0 && (rc = sync_folder(&d)) < 0) error = errno;
    if (rc > 0) return TROUBLE; /* which has been explained */
    return rc == 0 ? FINE
                   : failure(path, "cannot be written: %s; check its folder, the permissions and the room on the disk",
                             strerror(error));
}

int replace_with(const char *path, write_draft *write, void *context) {
    leave_interrupts_to_others(true);
    int status = replace_held(path, write, context);
    leave_interrupts_to_others(false);
    return status;
}

struct bytes {
    const void *bytes;
    size_t length;
};

static int write_bytes(void *context, int fd) {
    const struct bytes *all = context;
    return write_all(fd, all->bytes, all->length);
}

int replace_file(const char *path, const void *bytes, size_t length) {
    return replace_with(path, write_bytes, &(struct bytes){bytes, length});
}

static int write_device(const char *path, const void *bytes, size_t length) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return failure(path, "cannot be opened: %s; give another name with -o", strerror(errno));
    int rc = write_all(fd, bytes, length);
    int status = rc < 0 ? failure(path, "cannot be written: %s; what is there is not complete", strerror(errno)) : FINE;
    close(fd);
    return status;
}

int output_bytes(const char *path, const void *bytes, size_t length) {
    struct stat status;
    if (is_standard_output(path)) return write_all(STDOUT_FILENO, bytes, length) < 0 ? output_failure() : FINE;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) return write_device(path, bytes, length);
    return replace_file(path, bytes, length);
}
