/* Files of Roaring bitmaps, and what the commands have in common about them. */
#ifndef CLI_BACKEND_ROARING_ROARING_FILE_H
#define CLI_BACKEND_ROARING_ROARING_FILE_H

#include "ids.h"
#include "input/input.h"
#include "output/output_file.h"

/* A set, the file that it is of, and how long that is. */
struct roaring {
    const char *path;
    uint64_t bytes;
    struct ids ids;
};

/* Reads a file as -k says, strictly. FINE, or TROUBLE after having said what is wrong; then there is nothing to free. */
int roaring_open(struct roaring *roaring, const struct options *options, const char *path);

/* Replaces its file, which is locked; or writes to what -o names. */
int roaring_replace(struct roaring *roaring, perhaps_lock *lock);
int roaring_output(struct roaring *roaring, struct output *output);

/* Input whose keys are integers, for a set that has any. `paths` as for input_from_options. */
int roaring_input(struct input *input, const struct options *options, char *const *paths, size_t path_count);

/* Which numbers of a batch are in `ids`? As struct asked wants it. */
int roaring_ask(const void *ids, const struct batch *batch, uint8_t *answers, uint64_t *present);

/* "roaring" or "roaring64". */
const char *roaring_name(const struct ids *ids);

/* The object that 'perhaps info --json' prints. */
void roaring_print_json(const struct roaring *roaring);

/* One function per command; each returns the exit status. */
int roaring_build(const struct options *options);
int roaring_add(const struct options *options);
int roaring_remove(const struct options *options);
int roaring_check(const struct options *options);
int roaring_list(const struct options *options);
int roaring_info(const struct options *options);
int roaring_merge(const struct options *options);
int roaring_intersect(const struct options *options);
int roaring_subtract(const struct options *options);
int roaring_differ(const struct options *options);
int roaring_verify(const struct options *options);

#endif
