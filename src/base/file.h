/* Files: mapping and reading them. */
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
/* Advice on the mapping: huge pages; or small pages, one at a time, so that changing a sparse file
 * in place fills few holes. */
void file_use_huge_pages(const struct file *file);
void file_keep_sparse(const struct file *file);
/* Allocates disk space for a file to be changed in place: a hole on a full disk is a SIGBUS
 * later. */
int file_reserve(const struct file *file);
/* Reads into zeroed memory, which is not touched where the file has holes. */
int file_read(const struct file *file, uint8_t *bytes, uint64_t offset, uint64_t length);
/* Reads into any memory, holes too. */
int file_read_part(const struct file *file, uint8_t *bytes, uint64_t offset, uint64_t length);
/* Whether these bytes of the mapping are a hole in the file, hence zero. */
bool file_is_hole(const struct file *file, const uint8_t *bytes, uint64_t length);
/* Makes `length` bytes of the mapping from `offset` on durable. */
int file_sync(const struct file *file, uint64_t offset, uint64_t length);
/* Unmaps and closes; takes fd -1. */
void file_close(struct file *file);

int file_refused(const char *path, const char *what); /* PERHAPS_EIO, with errno in words */
int file_is_busy(const char *path);                   /* PERHAPS_EBUSY */
/* Writes all bytes; -1 and errno on failure. */
int file_write_at(int fd, uint64_t offset, const void *bytes, uint64_t length);
/* Fails unless it is a regular file; gives its length. */
int file_must_be_regular(const char *path, int fd, uint64_t *length);
/* Whether the path still names this file. */
bool file_is_current(int fd, const char *path);

#endif
