#include "composite/partition.h"

#include <string.h>

struct sorted partition_in_small_room(struct partition_room *room, unsigned parts) {
    return (struct sorted){.parts = parts,
                           .digests = room->digests,
                           .answers = room->answers,
                           .first = room->first,
                           .next = room->next,
                           .part = room->part};
}

/* A multiple of a cache line: one room can follow another. */
uint64_t partition_bytes(size_t n, unsigned parts) {
    uint64_t of_keys = n * (2 * sizeof(uint64_t) + sizeof(uint16_t) + 1), of_parts = (2 * (uint64_t)parts + 1) * 4;
    return (of_keys + of_parts) / 64 * 64 + 128;
}

struct sorted partition_in_memory(uint8_t *memory, size_t n, unsigned parts) {
    struct sorted sorted = {.parts = parts, .digests = (uint64_t *)(void *)memory};
    sorted.unsorted = sorted.digests + n;
    sorted.first = (uint32_t *)(sorted.unsorted + n);
    sorted.next = sorted.first + parts + 1;
    sorted.part = (uint16_t *)(sorted.next + parts);
    sorted.answers = (uint8_t *)(sorted.part + n);
    return sorted;
}

void partition_scatter(struct sorted *sorted, const uint64_t *digests, size_t n) {
    uint32_t *first = sorted->first, *next = sorted->next, sum = 0;
    sorted->n = n;
    memset(next, 0, sorted->parts * sizeof *next);
    for (size_t i = 0; i < n; i++) next[sorted->part[i]]++;
    for (unsigned p = 0; p < sorted->parts; p++) {
        first[p] = sum;
        sum += next[p];
        next[p] = first[p];
    }
    first[sorted->parts] = sum;
    for (size_t i = 0; i < n; i++) {
        uint64_t *place = sorted->digests + next[sorted->part[i]]++;
        *place = digests[i];
        __builtin_prefetch(place + PARTITION_AHEAD, 1, 2);
    }
}

void partition_restore(struct sorted *sorted, uint8_t *answers) {
    memcpy(sorted->next, sorted->first, sorted->parts * sizeof *sorted->next);
    for (size_t i = 0; i < sorted->n; i++) answers[i] = sorted->answers[sorted->next[sorted->part[i]]++];
}
