/* A temporary file without a name: gone with the process, however that ends. */
#ifndef PERHAPS_BASE_TEMP_FILE_H
#define PERHAPS_BASE_TEMP_FILE_H

#include <stdint.h>

/* Opens one in this folder. */
int scratch_open(const char *folder, int *fd);

/* PERHAPS_EIO, with the folder in its sentence. */
int scratch_write(int fd, const char *folder, uint64_t offset, const void *bytes, uint64_t length);
int scratch_read(int fd, const char *folder, uint64_t offset, void *bytes, uint64_t length);

/* Gives the disk space back, and keeps the file. */
void scratch_empty(int fd);

/* -1 is fine. */
void scratch_close(int fd);

#endif
