/* Where bytes come from: standard input, files, and compressed files, which the system's own
 * programs decompress. */
#ifndef CLI_INPUT_SOURCE_H
#define CLI_INPUT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct input_source {
    const char *path;               /* "-" = standard input */
    int fd;                         /* to be read */
    pid_t child;                    /* the program that writes to it; 0 = none */
    const struct decompressor *how; /* what that program is; NULL = none */
    int compressed;                 /* the plain file that the program reads; or -1 */
};

/* The program that the end of a name, such as ".gz", asks for; NULL = none. */
const struct decompressor *decompressor_of(const char *path);

/* FINE, TROUBLE after having said why not, or STOP if a signal said so while it waited. */
int source_open(struct input_source *source, const char *path, const struct decompressor *how);

/* Where a plain file is, since standard input need not be at its beginning; 0 of a pipe. */
off_t source_position(const struct input_source *source);

/* How much of a compressed plain file its program has read so far; 0 of others. */
uint64_t source_compressed_bytes(const struct input_source *source);

/* These are the first bytes of a file that is not decompressed. FINE, or TROUBLE after having said
 * that they are those of a compressed one. */
int source_refuse_compressed(const struct input_source *source, const char *bytes, size_t length);

/* Makes one read give as much as a pipe can hold, for those who want much at a time. */
void source_widen(const struct input_source *source);

/* After the last byte: was that all of it? FINE; TROUBLE after having said that the program failed;
 * or STOP if it was ended by a signal that ends us, too. */
int source_ended(struct input_source *source);

/* At its end or before. A program that has more to say is ended. */
void source_close(struct input_source *source);

/* Starts a program that is used like gzip, with flags such as "-dc", between two descriptors. 0, or
 * an error of posix_spawnp. While signals that end us are kept from us (`shielded`), they are kept
 * from it, too. */
int program_start(const char *name, const char *flags, bool shielded, int from, int to, pid_t *child);

/* Waits for its end; how that was, as waitpid says. */
int program_await(pid_t *child);

#endif
