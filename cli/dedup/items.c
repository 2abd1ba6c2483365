#include "items.h"

#include <stdlib.h>

enum { BUCKET_BITS = 10, BUCKETS = 1 << BUCKET_BITS };

bool items_room(struct items *items, size_t n) {
    if (n <= items->room) return true;
    items_free(items);
    if (n > SIZE_MAX / 2 / sizeof *items->now) return false;
    items->now = malloc(n * sizeof *items->now);
    items->next = malloc(n * sizeof *items->next);
    if (items->now && items->next) items->room = n;
    return items->room;
}

void items_swap(struct items *items) {
    struct item *now = items->now;
    items->now = items->next;
    items->next = now;
}

/* Of words below `end`, what makes bucket numbers of them. */
static unsigned shift_of(uint64_t end) {
    unsigned shift = 0;
    while (shift < 63 && (end - 1) >> shift >= BUCKETS) shift++;
    return shift;
}

void items_sort(struct items *items, size_t n, uint64_t end) {
    size_t at[BUCKETS] = {0}, sum = 0;
    unsigned shift = shift_of(end);
    for (size_t i = 0; i < n; i++) at[items->now[i].word >> shift]++;
    for (size_t bucket = 0; bucket < BUCKETS; bucket++) {
        size_t count = at[bucket];
        at[bucket] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++) items->next[at[items->now[i].word >> shift]++] = items->now[i];
    items_swap(items);
}

static int compare_lines(const void *a, const void *b) {
    uint32_t x = ((const struct item *)a)->line, y = ((const struct item *)b)->line;
    return x < y ? -1 : x > y;
}

void items_sort_by_line(struct items *items, size_t n) {
    if (n > 1) qsort(items->now, n, sizeof *items->now, compare_lines);
}

void items_free(struct items *items) {
    free(items->now);
    free(items->next);
    *items = (struct items){NULL, NULL, 0};
}
