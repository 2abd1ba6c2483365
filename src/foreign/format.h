/* Foreign files: how their bytes become the facts and the array of a filter, and back. The array is
 * used as it is in the file, whatever its byte order: so a file can be mapped. */
#ifndef PERHAPS_FOREIGN_FORMAT_H
#define PERHAPS_FOREIGN_FORMAT_H

#include "kind/kind.h"

enum { FORMAT_HEAD = 64 }; /* no format has more bytes before its array */

/* What a file says before its array. */
struct facts {
    uint64_t layout[LAYOUT_WORDS];
    uint64_t items, capacity; /* keys in it, and keys that it is for; 0 if the format has neither */
    double fpr;               /* the false-positive rate it was made for; likewise */
    uint64_t start;           /* where the array begins */
};

struct format {
    /* Reads the facts from the first `given` bytes of a file of `length`: all of them, or
     * FORMAT_HEAD. NULL, or the reason why they are invalid. The caller checks the layout, and that
     * the file has the whole array. */
    const char *(*read)(const uint8_t *bytes, uint64_t given, uint64_t length, struct facts *facts);

    /* Writes what precedes the array; gives the number of bytes. */
    size_t (*write)(const struct facts *facts, uint8_t head[FORMAT_HEAD]);

    /* Whether such bytes are surely a file of this format; NULL if they do not tell. */
    bool (*recognise)(const uint8_t *bytes, uint64_t given, uint64_t length);
    bool told_by_length; /* a file is of this format if its length is what its header says */

    bool counts;   /* it stores the number of keys in it */
    bool has_tail; /* other bytes may follow the array; they are kept */
};

#endif
