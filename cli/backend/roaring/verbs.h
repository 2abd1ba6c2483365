/* Files of Roaring bitmaps: exact sets of integers, which Java, Go, Python and others read and write. They are no filters, so
 * the library knows nothing of them; libroaring does. Without it, all commands say that it is missing. */
#ifndef CLI_BACKEND_ROARING_VERBS_H
#define CLI_BACKEND_ROARING_VERBS_H

#include "options/options.h"

/* For -k, beside the library's enum perhaps_kind: ids of 32 bits, and of 64 bits. */
enum { KIND_ROARING = 1000, KIND_ROARING64 = 1001 };

/* The kind of that name, or -1. */
int roaring_kind(const char *name);

/* Does -k say so, or, where it says nothing, the beginning of the file? */
bool is_roaring(const struct options *options);

/* The command, for such files. Returns the exit status. */
int roaring_run(const struct options *options);

#endif
