/* A temporary file without a name: it is gone when the process ends, however it ends. */
#ifndef PERHAPS_BASE_TEMP_FILE_H
#define PERHAPS_BASE_TEMP_FILE_H

#include <stdint.h>

int scratch_open(const char *folder, int *fd);

/* Fail with PERHAPS_EIO; `folder` is for the message. */
int scratch_write(int fd, const char *folder, uint64_t offset, const void *bytes, uint64_t length);
int scratch_read(int fd, const char *folder, uint64_t offset, void *bytes, uint64_t length);

/* Frees the disk space, and keeps the file. */
void scratch_empty(int fd);

/* Takes -1. */
void scratch_close(int fd);

#endif
