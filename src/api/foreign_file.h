/* Foreign files (foreign/format.h): recognising, opening and writing them; and the options of calls
 * that open. */
#ifndef PERHAPS_API_FOREIGN_FILE_H
#define PERHAPS_API_FOREIGN_FILE_H

#include "core/filter.h"
#include "image/write.h"

/* Takes the options of a call that knows the flags `allowed`; `theirs` may be NULL. In open.c. */
int take_open_options(perhaps_open_options *options, const perhaps_open_options *theirs, unsigned allowed);

/* The kind of a file of which `bytes` are the first `given`: from the options, or recognised. *kind
 * is NULL for an image of this library, and for unknown bytes. */
int format_find(const uint8_t *bytes, uint64_t given, uint64_t length, const perhaps_open_options *options,
                const struct kind **kind);
int format_find_file(const struct file *file, const perhaps_open_options *options, const struct kind **kind);

/* The least length of a file that begins with these bytes, and where its array begins; see
 * perhaps_foreign_length. */
int64_t format_length(int kind, const uint8_t *bytes, uint64_t given, uint64_t *start);

int format_open_memory(perhaps **f, const struct kind *kind, const uint8_t *bytes, uint64_t length,
                       const perhaps_open_options *options);

/* Takes the file over if it maps it; reads it for a copy. */
int format_open_file(perhaps **f, const struct kind *kind, struct file *file, const perhaps_open_options *options);

/* Head, array and tail of such a file: at most FORMAT_PIECES. The head is written to `head`. */
enum { FORMAT_PIECES = 3 };
void format_gather(const perhaps *f, uint8_t *head, struct pieces *pieces);

/* The length of its file. */
uint64_t format_bytes(const perhaps *f);

#endif
