#include "composite/partition.h"

#include "base/scatter.h"

struct sorted partition_in_small_room(struct partition_room *room, unsigned parts) {
    return (struct sorted){
        .parts = parts, .digests = room->digests, .answers = room->answers, .first = room->first, .part = room->part};
}

/* A multiple of a cache line: one room can follow another. */
uint64_t partition_bytes(size_t n, unsigned parts) {
    uint64_t of_keys = n * (2 * sizeof(uint64_t) + sizeof(uint16_t) + 1), of_parts = ((uint64_t)parts + 2) * 4;
    return (of_keys + of_parts) / 64 * 64 + 128;
}

struct sorted partition_in_memory(uint8_t *memory, size_t n, unsigned parts) {
    struct sorted sorted = {.parts = parts, .digests = (uint64_t *)(void *)memory};
    sorted.unsorted = sorted.digests + n;
    sorted.first = (uint32_t *)(sorted.unsorted + n);
    sorted.part = (uint16_t *)(sorted.first + parts + 2);
    sorted.answers = (uint8_t *)(sorted.part + n);
    return sorted;
}

static inline size_t part_of_key(const void *part, size_t i) {
    return ((const uint16_t *)part)[i];
}

void partition_scatter(struct sorted *sorted, const uint64_t *digests, size_t n) {
    sorted->n = n;
    scatter(digests, n, sorted->digests, false, sorted->first, sorted->parts, part_of_key, sorted->part);
}

void partition_restore(struct sorted *sorted, uint8_t *answers) {
    for (size_t i = 0; i < sorted->n; i++) answers[i] = sorted->answers[sorted->first[sorted->part[i]]++];
}
