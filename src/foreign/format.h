/* Files of other programs: how their bytes become the facts and the array of a filter, and the
 * other way. The array is used as it stands in the file, in whatever order its bytes are; so a file
 * can be mapped. */
#ifndef PERHAPS_FOREIGN_FORMAT_H
#define PERHAPS_FOREIGN_FORMAT_H

#include "kind/kind.h"

enum { FORMAT_HEAD = 64 }; /* no format has more bytes before its array */

/* What a file says before its array. */
struct facts {
    uint64_t layout[LAYOUT_WORDS];
    uint64_t items, capacity; /* keys in it, and keys that it is for; 0 where the format does not tell */
    double fpr;               /* the rate that it was made for; 0 likewise */
    uint64_t start;           /* where the array begins */
};

struct format {
    /* Reads what `given` bytes, the first of a file of `length`, say: all of them, or FORMAT_HEAD.
     * NULL, or what is wrong with them. That the array is a possible one, and that the file has all
     * of it, is checked by others. */
    const char *(*read)(const uint8_t *bytes, uint64_t given, uint64_t length, struct facts *facts);

    /* Writes what stands before the array; how many bytes that are. */
    size_t (*write)(const struct facts *facts, uint8_t head[FORMAT_HEAD]);

    /* Whether such bytes are a file of this format and hardly of another; NULL where they do not
     * tell. */
    bool (*recognise)(const uint8_t *bytes, uint64_t given, uint64_t length);
    bool told_by_length; /* but a file that is just as long as its header makes it is surely one */

    bool counts;   /* it tells how many keys are in it */
    bool has_tail; /* other bytes may follow the array, which are kept */
};

#endif
