#include "base/temp_file.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Without O_TMPFILE: a file that is unlinked at once. */
static int open_and_unlink(const char *folder) {
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/.perhaps-XXXXXX", folder) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = mkstemp(path);
    if (fd < 0) return -1;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    unlink(path);
    return fd;
}

int scratch_open(const char *folder, int *fd) {
    *fd = -1;
#ifdef O_TMPFILE
    *fd = open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
#endif
    if (*fd < 0) *fd = open_and_unlink(folder);
    return *fd < 0 ? file_refused(folder, "cannot make a temporary file there") : PERHAPS_OK;
}

int scratch_write(int fd, const char *folder, uint64_t offset, const void *bytes, uint64_t length) {
    if (file_write_at(fd, offset, bytes, length) == 0) return PERHAPS_OK;
    return file_refused(folder, "cannot write the temporary file for keys that wait there");
}

int scratch_read(int fd, const char *folder, uint64_t offset, void *bytes, uint64_t length) {
    uint8_t *to = bytes;
    while (length) {
        ssize_t got = pread(fd, to, (size_t)length, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got == 0) errno = EIO; /* it cannot have been truncated */
        if (got <= 0) return file_refused(folder, "cannot read the temporary file for keys that wait there");
        to += got;
        offset += (uint64_t)got;
        length -= (uint64_t)got;
    }
    return PERHAPS_OK;
}

void scratch_empty(int fd) {
    if (ftruncate(fd, 0) < 0) return; /* closing it frees the space */
}

void scratch_close(int fd) {
    int error = errno;
    if (fd >= 0) close(fd);
    errno = error;
}
