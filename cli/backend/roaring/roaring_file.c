#include "roaring_file.h"
#include "portable.h"
#include "verbs.h"
#include "backend/file/filter_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *roaring_name(const struct ids *ids) {
    return ids->wide ? "roaring64" : "roaring";
}

/* ------------------------------------------------------------------------------------------------- reading --- */

/* Room for as much as the file really has, and no more. */
static int allocate(const char *path, FILE *file, uint8_t **bytes, size_t *length) {
    struct stat status;
    if (!file || fstat(fileno(file), &status) != 0)
        return failure(path, "cannot be read: %s; check the name and its permissions", strerror(errno));
    if (!S_ISREG(status.st_mode)) return failure(path, "is no plain file; give a file of a Roaring bitmap");
    *length = (size_t)status.st_size;
    *bytes = (uintmax_t)status.st_size < SIZE_MAX ? malloc(*length + 1) : NULL;
    return *bytes ? FINE : failure(path, "is larger than the memory there is; use a machine with more");
}

/* A pipe without a writer is not waited for: it is no file anyway. */
static int read_whole(const char *path, uint8_t **bytes, size_t *length) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "rb");
    int status = allocate(path, file, bytes, length);
    if (status == FINE && fread(*bytes, 1, *length, file) != *length) {
        status =
            failure(path, "cannot be read to its end: %s; try again", ferror(file) ? strerror(errno) : "it shrank");
        free(*bytes);
    }
    if (file) fclose(file);
    return status;
}

/* Who has the other layout should know. */
static int wrong_bytes(const char *path, const uint8_t *bytes, size_t length, bool wide, const char *why) {
    if (!portable_check_file(bytes, length, !wide))
        return failure(path, "is a Roaring bitmap of %d-bit ids; give -k %s", wide ? 32 : 64,
                       wide ? "roaring" : "roaring64");
    return failure(path,
                   "is no Roaring bitmap of %d-bit ids, or damaged: it %s; restore it from a copy, or build it "
                   "again",
                   wide ? 64 : 32, why);
}

int roaring_open(struct roaring *roaring, const struct options *options, const char *path) {
    uint8_t *bytes;
    size_t length = 0;
    bool wide = options->kind == KIND_ROARING64;
    if (strcmp(path, "-") == 0) return failure(path, "a Roaring bitmap must be in a file; give its name");
    if (read_whole(path, &bytes, &length) != FINE) return TROUBLE;
    *roaring = (struct roaring){.path = path, .bytes = length};
    const char *why = ids_read(&roaring->ids, bytes, length, wide);
    int status = why ? wrong_bytes(path, bytes, length, wide, why) : FINE;
    free(bytes);
    return status;
}

/* -------------------------------------------------------------------------------------------------- saving --- */

/* In the place of a file that is locked, or to what -o names. */
static int save(struct roaring *roaring, perhaps_lock *lock, struct output *output) {
    size_t length;
    char *bytes = ids_write(&roaring->ids, &length);
    if (!bytes) return failure(roaring->path, "takes more memory to write than there is; use a machine with more");
    int status = output ? output_bytes(output, bytes, length) : replace_bytes(lock, roaring->path, bytes, length);
    roaring->bytes = length;
    free(bytes);
    return status;
}

int roaring_replace(struct roaring *roaring, perhaps_lock *lock) {
    return save(roaring, lock, NULL);
}

int roaring_output(struct roaring *roaring, struct output *output) {
    return save(roaring, NULL, output);
}

/* --------------------------------------------------------------------------------------------------- keys --- */

int roaring_input(struct input *input, const struct options *options, char *const *paths, size_t path_count) {
    if (input_from_options(input, options, paths, path_count) != FINE) return TROUBLE;
    return input_for_integers(input, options);
}

int roaring_ask(const void *ids, const struct batch *batch, uint8_t *answers, uint64_t *present) {
    *present = ids_contain(ids, batch->numbers, batch->n, answers);
    return FINE;
}
