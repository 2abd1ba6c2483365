/* Files: mapping them, reading them whole, and replacing them so that a crash leaves the old one or the new one. */
#ifndef PERHAPS_BASE_FILE_H
#define PERHAPS_BASE_FILE_H

#include "perhaps.h"

#include <limits.h>
#include <stdbool.h>

/* An open file; with `bytes`, a mapped one. */
struct file {
    const char *path;
    int fd;
    uint64_t length;
    uint8_t *bytes;
};

/* Opens a regular file; for writing, with a lock against other writers (PERHAPS_EBUSY). */
int file_open(struct file *file, const char *path, bool writable);
int file_map(struct file *file, bool writable);
/* Advice on the mapping: huge pages where they are to be had, or small ones, one at a time, so that a file with holes that
 * is changed in place fills no more of them than it must. */
void file_use_huge_pages(const struct file *file);
void file_keep_sparse(const struct file *file);
/* Gives a file that will be changed in place its disk space: a hole that cannot be filled is a SIGBUS later. */
int file_reserve(const struct file *file);
/* Reads bytes offset..offset+length-1 into memory of zeros; where the file has holes, the memory is not touched. */
int file_read(const struct file *file, uint8_t *bytes, uint64_t offset, uint64_t length);
/* The same for a few bytes, which may be any before. */
int file_read_part(const struct file *file, uint8_t *bytes, uint64_t offset, uint64_t length);
/* Whether these bytes of the mapping are a hole in the file: then they are zero, and need not be brought into memory. */
bool file_is_hole(const struct file *file, const uint8_t *bytes, uint64_t length);
/* Makes the mapping's first `length` bytes from `offset` durable. */
int file_sync(const struct file *file, uint64_t offset, uint64_t length);
/* Unmaps and closes; fine for a file that was never opened if fd is -1. */
void file_close(struct file *file);

/* A file being replaced: what is written goes to a temporary file beside it, which has no name until it is complete
 * where the system can do that, so that even kill -9 leaves nothing behind. */
struct replacement {
    const char *path;
    int fd;
    int old;    /* the file to be replaced, kept from being changed in place meanwhile; -1 if there is none */
    bool named; /* the temporary file has its name */
    char target[PATH_MAX];
    char temporary[PATH_MAX];
};

/* PERHAPS_EBUSY if a filter, of this process or another, is changing the file in place. */
int replacement_begin(struct replacement *r, const char *path);
int replacement_write(struct replacement *r, uint64_t offset, const void *bytes, uint64_t length);
/* Makes it durable, `length` bytes long, and puts it in the place of the old one. */
int replacement_commit(struct replacement *r, uint64_t length);
/* Leaves the old file as it was. */
void replacement_abandon(struct replacement *r);

#endif
