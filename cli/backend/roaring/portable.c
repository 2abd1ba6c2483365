#include "portable.h"

#include <string.h>

enum { COOKIE = 12346, COOKIE_WITH_RUNS = 12347 };
enum { MOST_CONTAINERS = 65536, MOST_IN_ARRAY = 4096, BITSET_BYTES = 8192, LEAST_WITH_OFFSETS = 4 };

static const char ends_early[] = "ends too early";

static uint32_t u16(const uint8_t *bytes) {
    return bytes[0] | (uint32_t)bytes[1] << 8;
}

uint32_t portable_u32(const uint8_t *bytes) {
    return u16(bytes) | u16(bytes + 2) << 16;
}

uint64_t portable_u64(const uint8_t *bytes) {
    return portable_u32(bytes) | (uint64_t)portable_u32(bytes + 4) << 32;
}

bool portable_begins(const uint8_t first[4]) {
    return portable_u32(first) == COOKIE || u16(first) == COOKIE_WITH_RUNS;
}

struct cursor {
    const uint8_t *bytes;
    size_t length, at;
};

/* The next n bytes, or NULL if there are fewer. */
static const uint8_t *take(struct cursor *c, size_t n) {
    if (n > c->length - c->at) return NULL;
    c->at += n;
    return c->bytes + c->at - n;
}

/* What stands before the containers. */
struct portable_header {
    size_t containers;
    const uint8_t *runs;    /* a bit for each container; NULL if none is a list of runs */
    const uint8_t *keys;    /* and how many ids */
    const uint8_t *offsets; /* NULL if it has none */
};

static const char *read_header(struct cursor *c, struct portable_header *h) {
    const uint8_t *first = take(c, 4);
    *h = (struct portable_header){0};
    if (!first) return ends_early;
    if (!portable_begins(first)) return "does not begin like a Roaring bitmap";
    bool with_runs = u16(first) == COOKIE_WITH_RUNS;
    const uint8_t *count = with_runs ? first + 2 : take(c, 4);
    if (!count) return ends_early;
    h->containers = with_runs ? u16(count) + 1 : portable_u32(count);
    if (h->containers > MOST_CONTAINERS) return "has more containers than there can be";
    if (with_runs && !(h->runs = take(c, (h->containers + 7) / 8))) return ends_early;
    if (!(h->keys = take(c, 4 * h->containers))) return ends_early;
    bool with_offsets = !with_runs || h->containers >= LEAST_WITH_OFFSETS;
    if (with_offsets && !(h->offsets = take(c, 4 * h->containers))) return ends_early;
    return NULL;
}

static const char *check_array(struct cursor *c, size_t ids) {
    const uint8_t *values = take(c, 2 * ids);
    if (!values) return ends_early;
    for (size_t i = 1; i < ids; i++)
        if (u16(values + 2 * i) <= u16(values + 2 * i - 2)) return "has ids that are not in rising order";
    return NULL;
}

static const char *check_bitset(struct cursor *c, size_t ids) {
    const uint8_t *bits = take(c, BITSET_BYTES);
    size_t found = 0;
    if (!bits) return ends_early;
    for (size_t i = 0; i < BITSET_BYTES; i += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, bits + i, sizeof word);
        found += (size_t)__builtin_popcountll(word);
    }
    return found == ids ? NULL : "has more or fewer ids than it says";
}

/* Between two runs there is a gap: else they would be one. */
static const char *check_runs(struct cursor *c, size_t ids) {
    const uint8_t *count = take(c, 2), *runs = count ? take(c, 4 * (size_t)u16(count)) : NULL;
    size_t found = 0, next = 0;
    if (!runs) return ends_early;
    for (size_t i = 0; i < u16(count); i++) {
        size_t first = u16(runs + 4 * i), length = (size_t)u16(runs + 4 * i + 2) + 1;
        if (first < next) return "has runs that are not in rising order";
        if (first + length > 65536) return "has a run beyond the end of its container";
        next = first + length + 1;
        found += length;
    }
    return found == ids ? NULL : "has more or fewer ids than it says";
}

/* Checks one bitmap of 32-bit ids; more may follow. */
static const char *check_narrow(struct cursor *c) {
    struct portable_header h;
    size_t start = c->at;
    const char *why = read_header(c, &h);
    for (size_t i = 0; i < h.containers && !why; i++) {
        const uint8_t *key = h.keys + 4 * i;
        size_t ids = (size_t)u16(key + 2) + 1;
        if (i && u16(key) <= u16(key - 4)) return "has containers that are not in rising order";
        if (h.offsets && portable_u32(h.offsets + 4 * i) != c->at - start)
            return "has a container elsewhere than it says";
        bool runs = h.runs && h.runs[i / 8] >> i % 8 & 1;
        why = runs ? check_runs(c, ids) : ids <= MOST_IN_ARRAY ? check_array(c, ids) : check_bitset(c, ids);
    }
    return why;
}

static const char *check_wide(struct cursor *c) {
    const uint8_t *count = take(c, WIDE_HEADER), *before = NULL;
    const char *why = count ? NULL : ends_early;
    for (uint64_t left = count ? portable_u64(count) : 0; left && !why; left--) {
        const uint8_t *high = take(c, WIDE_BUCKET);
        if (!high) return ends_early;
        if (before && portable_u32(high) <= portable_u32(before))
            return "has upper halves that are not in rising order";
        why = check_narrow(c);
        before = high;
    }
    return why;
}

const char *portable_check_file(const uint8_t *bytes, size_t length, bool wide) {
    struct cursor c = {bytes, length, 0};
    const char *why = wide ? check_wide(&c) : check_narrow(&c);
    return why || c.at == length ? why : "has more bytes than it should";
}
