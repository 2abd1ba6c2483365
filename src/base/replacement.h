/* Replacing files, so that a crash leaves the old one or the new one, and locks, so that no change is lost. */
#ifndef PERHAPS_BASE_REPLACEMENT_H
#define PERHAPS_BASE_REPLACEMENT_H

#include "base/file.h"

#include <limits.h>

/* Those who save what does not depend on the old file share its lock; who has read it and will replace it is alone. */
enum file_sharing { FILE_SHARED, FILE_ALONE };

/* A name, and the lock on the file that it leads to. */
struct file_lock {
    char path[PATH_MAX];   /* as the caller wrote it, for messages */
    char target[PATH_MAX]; /* without links */
    enum file_sharing sharing;
    int fd; /* -1 = there is no such file yet */
};

/* PERHAPS_EBUSY if another has it locked, or is changing it in place. Never waits. */
int file_lock(struct file_lock *lock, const char *path, enum file_sharing sharing);
void file_unlock(struct file_lock *lock);

/* A file being replaced: what is written goes to a temporary file beside it, which has no name until it is complete
 * where the system can do that, so that even kill -9 leaves nothing behind. Elsewhere the next replacement removes
 * what was left. */
struct replacement {
    struct file_lock *lock;
    int fd;
    bool named; /* the temporary file has its name */
    char temporary[PATH_MAX];
};

/* The new file gets the owner, the group and the permissions of the old one, as far as the system allows it. */
int replacement_begin(struct replacement *r, struct file_lock *lock);
int replacement_write(struct replacement *r, uint64_t offset, const void *bytes, uint64_t length);
int replacement_set_length(struct replacement *r, uint64_t length);
/* Makes it durable and puts it in the place of the old one; a lock that is FILE_ALONE goes over to it. PERHAPS_EBUSY if
 * that was locked and another file, or none, has the name now. */
int replacement_commit(struct replacement *r);
/* Leaves the old file as it was. */
void replacement_abandon(struct replacement *r);

#endif
