/* Files of other programs that gzip has compressed: read into memory, and written so again. */
#ifndef CLI_BACKEND_FILE_GZIP_FILE_H
#define CLI_BACKEND_FILE_GZIP_FILE_H

#include <perhaps.h>

#include <stdbool.h>

/* Does its name say that it is compressed? */
bool gzip_named(const char *path);

/* Opens a copy of what is in such a file. A small file that would take much memory is refused
 * before it does. */
int gzip_open(const char *path, const perhaps_open_options *how, perhaps **filter);

/* Writes the filter through gzip. 0, -1 if errno says why not, or TROUBLE if that has been said. */
int gzip_write(const perhaps *filter, int fd);

#endif
