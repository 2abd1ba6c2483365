/* What is looked up for the lines of a job, in the order of memory rather than of lines: a word for each line, and
 * the lines. */
#ifndef CLI_DEDUP_ITEMS_H
#define CLI_DEDUP_ITEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct item {
    uint64_t word; /* a digest, or a place */
    uint32_t line;
};

/* Two arrays with room for a job: of the items there are, and to make others of them. All zeros is one without room. */
struct items {
    struct item *now, *next;
    size_t room;
};

/* Room for n; what there was is lost. False if there is not enough memory. */
bool items_room(struct items *items, size_t n);

void items_swap(struct items *items);

/* Sorts the first n items of `now`, whose words are below `end`, by the upper bits of those. Lines of equal words
 * stay in order. */
void items_sort(struct items *items, size_t n, uint64_t end);

/* Sorts them by line. */
void items_sort_by_line(struct items *items, size_t n);

void items_free(struct items *items);

#endif
