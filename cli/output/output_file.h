/* Files that commands write: locked while they are changed, and replaced in one step by
 * perhaps_save_locked and perhaps_replace_locked, undisturbed by Ctrl-C. */
#ifndef CLI_OUTPUT_OUTPUT_FILE_H
#define CLI_OUTPUT_OUTPUT_FILE_H

#include "options/options.h"

#include <perhaps_embed.h>

/* Locks a file before it is read, so that nobody else changes it until it is replaced; waits for
 * those who do. A lock is ended with perhaps_unlock. What is no regular file is not locked. */
int lock_file(const struct options *options, const char *path, perhaps_lock **lock);

/* Puts a filter, or bytes, in the place of `path`, which is locked. `compressed` with gzip. */
int replace_filter(perhaps_lock *lock, const char *path, const perhaps *filter, bool compressed);
int replace_bytes(perhaps_lock *lock, const char *path, const void *bytes, size_t length);

/* What -o names. */
struct output {
    const struct options *options;
    const char *path;
    perhaps_lock *lock; /* NULL = it is locked only to be saved */
};

/* May it be written? Asked before any work is done. What already exists needs -f, and is locked
 * from now on if the command reads filters, since it may be one of these; what does not exist yet
 * must not appear meanwhile. */
int output_open(struct output *output, const struct options *options);

/* Writes a filter, or bytes, to it: a file, standard output or a device. A file of another program
 * is compressed if its name ends in .gz. */
int output_save(struct output *output, const perhaps *filter);
int output_bytes(struct output *output, const void *bytes, size_t length);

void output_close(struct output *output);

/* Does -o name standard output? */
bool is_standard_output(const char *path);

/* Or a device or pipe? These are written to; to replace one by a file is not what anyone means. */
bool is_device(const char *path);

#endif
