/* Writing files that are no filters of ours. */
#ifndef CLI_REPLACE_H
#define CLI_REPLACE_H

#include <stddef.h>

/* Puts a file with these bytes in the place of `path`, complete or not at all, undisturbed by Ctrl-C. A link stays one, and
 * permissions stay as they are. FINE, or TROUBLE after having said why not. */
int replace_file(const char *path, const void *bytes, size_t length);

/* The same with what `write` writes to the descriptor: 0, -1 if errno says why not, or TROUBLE if that has been said. */
typedef int write_draft(void *context, int fd);
int replace_with(const char *path, write_draft *write, void *context);

/* Writes the bytes to what -o names: a file as above, standard output, a device. */
int output_bytes(const char *path, const void *bytes, size_t length);

#endif
