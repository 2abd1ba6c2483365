/* Texts of input that cannot be read again, in a nameless temporary file in TMPDIR or /tmp. */
#ifndef CLI_DEDUP_SPOOL_H
#define CLI_DEDUP_SPOOL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What was appended last still waits in memory; the rest is mapped. */
struct spool {
    int fd;
    char *waiting;
    size_t waits;
    uint64_t written;
    const char *map; /* of `mapped` bytes, the first `written` of which may be read; NULL = none */
    size_t mapped;
};

/* FINE, or TROUBLE after having said why not. */
int spool_open(struct spool *spool);

/* Adds a text and a byte that ends it. FINE or TROUBLE. */
int spool_append(struct spool *spool, const char *text, size_t length, char end);

/* The offset that the next text will have. */
uint64_t spool_end(const struct spool *spool);

/* Sets *bytes to up to `size` bytes from this offset on, in `scratch` if they are in memory nowhere
 * else. How many, 0 at the end, or -1 after having said why not. */
ssize_t spool_read(const struct spool *spool, uint64_t offset, size_t size, char *scratch, const char **bytes);

/* Where in memory that is, or NULL. */
const char *spool_at(const struct spool *spool, uint64_t offset);

void spool_close(struct spool *spool);

#endif
