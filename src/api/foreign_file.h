/* Files of other programs (foreign/format.h): finding out whose they are, opening them, writing them. */
#ifndef PERHAPS_API_FOREIGN_FILE_H
#define PERHAPS_API_FOREIGN_FILE_H

#include "core/filter.h"
#include "image/write.h"

/* Whose file this is, of which the first `given` bytes are there: as the options say, or as it looks. *kind is NULL if it is one
 * of this library's, or if nobody knows. */
int format_find(const uint8_t *bytes, uint64_t given, uint64_t length, const perhaps_open_options *options,
                const struct kind **kind);
int format_find_file(const struct file *file, const perhaps_open_options *options, const struct kind **kind);

/* How long a file is at least, of which these bytes are the first, and where its array begins; as perhaps_foreign_length. */
int64_t format_length(int kind, const uint8_t *bytes, uint64_t given, uint64_t *start);

int format_open_memory(perhaps **f, const struct kind *kind, const uint8_t *bytes, uint64_t length,
                       const perhaps_open_options *options);

/* Takes over a file that it maps; one that is to be copied is read. */
int format_open_file(perhaps **f, const struct kind *kind, struct file *file, const perhaps_open_options *options);

/* Head, array and tail of such a file. The head is written to room of the caller's; there are three pieces. */
enum { FORMAT_PIECES = 3 };
void format_gather(const perhaps *f, uint8_t *head, struct pieces *pieces);

/* How long its file would be. */
uint64_t format_bytes(const perhaps *f);

#endif
