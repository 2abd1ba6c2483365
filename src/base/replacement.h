/* Replacing files atomically: a crash leaves the old file or the new one. Locks: no change is
 * lost. */
#ifndef PERHAPS_BASE_REPLACEMENT_H
#define PERHAPS_BASE_REPLACEMENT_H

#include "base/file.h"

#include <limits.h>

/* Saving what does not depend on the old file shares its lock; a change of what was read does
 * not. */
enum file_sharing { FILE_SHARED, FILE_ALONE };

/* A name, and the lock on the file that it leads to. */
struct file_lock {
    char path[PATH_MAX];   /* as the caller wrote it, for messages */
    char target[PATH_MAX]; /* without links */
    enum file_sharing sharing;
    int fd; /* -1: there is no such file yet */
};

/* PERHAPS_EBUSY if another has it locked, or is changing it in place. Never waits. */
int file_lock(struct file_lock *lock, const char *path, enum file_sharing sharing);
void file_unlock(struct file_lock *lock);

/* A file being replaced. Writes go to a temporary file in the same folder. Where the system can, it
 * has no name until it is complete, so even kill -9 leaves nothing behind. Elsewhere the next
 * replacement removes what was left. */
struct replacement {
    struct file_lock *lock;
    int fd;
    bool named; /* the temporary file has its name */
    char temporary[PATH_MAX];
};

/* The new file gets owner, group and permissions of the old one, as far as the system allows. */
int replacement_begin(struct replacement *r, struct file_lock *lock);
int replacement_write(struct replacement *r, uint64_t offset, const void *bytes, uint64_t length);
int replacement_set_length(struct replacement *r, uint64_t length);
/* Makes it durable and replaces the old file; a FILE_ALONE lock passes to it. PERHAPS_EBUSY if the
 * locked file no longer has the name. */
int replacement_commit(struct replacement *r);
/* Leaves the old file as it was. */
void replacement_abandon(struct replacement *r);

#endif
