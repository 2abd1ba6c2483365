/* Files: mapping them and reading them whole. */
#ifndef PERHAPS_BASE_FILE_H
#define PERHAPS_BASE_FILE_H

#include "perhaps.h"

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

/* PERHAPS_EIO with errno in words. */
int file_refused(const char *path, const char *what);
/* PERHAPS_EBUSY in words. */
int file_is_busy(const char *path);
/* Refuses what is no regular file; else its length. */
int file_must_be_regular(const char *path, int fd, uint64_t *length);
/* Whether the path still leads to this file, and no other one has been renamed into its place. */
bool file_is_current(int fd, const char *path);

#endif
