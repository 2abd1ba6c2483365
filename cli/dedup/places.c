/*
 * A hash table in parts, each with a share of the digests, that grow by themselves: the stream waits for one of them at a time,
 * and only one is in memory twice. A part is an array of cache lines with five slots each. A digest has a line; if that is full,
 * the next one with a free slot has it.
 *
 *     digest:  8 bits: part | 52 bits, kept; the upper 32 of them pick the line | 4 bits, not kept
 *
 *     line:    five words (52 bits of digest, the upper 12 of the place) | five times the lower 32 bits of the place | 4 bytes
 *
 * Places are kept one higher than they are, so that zeros mean a free slot. Slots in use come first in their line.
 */
#include "places.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { PARTS = 256, SLOTS = 5, PAGE = 64 /* lines */, UPPER = 12, LOWER = 32 };

struct line {
    uint64_t words[SLOTS];
    uint32_t lower[SLOTS];
    uint32_t nothing;
};

_Static_assert(sizeof(struct line) == 64, "a line of the cache");

struct part {
    struct line *lines;
    size_t count; /* of lines: whole pages */
    size_t used;  /* slots */
};

struct places {
    struct part parts[PARTS];
};

/* ---------------------------------------------------------------------------------------------------- lines --- */

static size_t part_number(uint64_t digest) {
    return (size_t)(digest >> 56);
}

/* What is kept of a digest, at the upper end of a word. */
static uint64_t kept(uint64_t digest) {
    return digest << 8 >> UPPER << UPPER;
}

static size_t line_number(const struct part *part, uint64_t word) {
    return (size_t)((word >> 32) * part->count >> 32);
}

/* 0 = the slot is free. */
static uint64_t place_in(const struct line *line, unsigned slot) {
    return (line->words[slot] << LOWER & PLACES_END) | line->lower[slot];
}

static void put(struct line *line, unsigned slot, uint64_t word, uint64_t place) {
    line->words[slot] = word | place >> LOWER;
    line->lower[slot] = (uint32_t)place;
}

/* To the next slot; after the last line comes the first. */
static void step(const struct part *part, struct search *search) {
    if (++search->slot < SLOTS) return;
    search->slot = 0;
    if (++search->line == part->count) search->line = 0;
}

/* --------------------------------------------------------------------------------------------------- growth --- */

/* Straight from the system, to which all of it goes back. */
static struct line *get_lines(size_t count) {
    if (count > SIZE_MAX / sizeof(struct line)) return NULL;
    void *lines = mmap(NULL, count * sizeof(struct line), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return lines == MAP_FAILED ? NULL : lines;
}

static void return_lines(const struct part *part) {
    if (part->lines) munmap(part->lines, part->count * sizeof *part->lines);
}

/* Puts a word into a part with room for it. */
static void move(struct part *part, uint64_t word, uint64_t place) {
    struct search search = {.line = line_number(part, word)};
    while (place_in(&part->lines[search.line], search.slot)) step(part, &search);
    put(&part->lines[search.line], search.slot, word, place);
}

/* About a quarter more lines, in whole pages. The digest makes it a little more or less, so that the parts, which have equal
 * shares, do not all grow in the same moment. */
static size_t more_lines(size_t count, uint64_t digest) {
    size_t chance = digest & 0xff, pages = count / PAGE; /* a chance of 256 */
    return (pages + pages * (176 + chance * 5 / 8) / 1024 + 1) * PAGE;
}

static bool grow(struct part *part, uint64_t digest) {
    struct part larger = {.count = more_lines(part->count, digest), .used = part->used};
    larger.lines = get_lines(larger.count);
    if (!larger.lines) return false;
    for (size_t i = 0; i < part->count; i++) {
        const struct line *line = &part->lines[i];
        for (unsigned slot = 0; slot < SLOTS && place_in(line, slot); slot++)
            move(&larger, line->words[slot] >> UPPER << UPPER, place_in(line, slot));
    }
    return_lines(part);
    *part = larger;
    return true;
}

/* 85 % of the slots are in use. */
static bool is_full(const struct part *part) {
    return part->used >= part->count / 4 * 17;
}

/* --------------------------------------------------------------------------------------------------- places --- */

struct places *places_create(void) {
    struct places *places = calloc(1, sizeof *places);
    for (size_t i = 0; places && i < PARTS; i++) {
        places->parts[i] = (struct part){.lines = get_lines(PAGE), .count = PAGE};
        if (places->parts[i].lines) continue;
        places_free(places);
        return NULL;
    }
    return places;
}

void places_fetch(const struct places *places, uint64_t digest) {
    const struct part *part = &places->parts[part_number(digest)];
    __builtin_prefetch(&part->lines[line_number(part, kept(digest))]);
}

void places_search(const struct places *places, uint64_t digest, struct search *search) {
    const struct part *part = &places->parts[part_number(digest)];
    *search = (struct search){.digest = digest, .line = line_number(part, kept(digest))};
}

bool places_next(const struct places *places, struct search *search, uint64_t *place) {
    const struct part *part = &places->parts[part_number(search->digest)];
    uint64_t word = kept(search->digest);
    for (;;) {
        const struct line *line = &part->lines[search->line];
        uint64_t found = place_in(line, search->slot);
        if (!found) return false;
        bool same = (line->words[search->slot] ^ word) >> UPPER == 0;
        step(part, search);
        if (!same) continue;
        *place = found - 1;
        return true;
    }
}

bool places_add(struct places *places, const struct search *search, uint64_t place) {
    struct part *part = &places->parts[part_number(search->digest)];
    put(&part->lines[search->line], search->slot, kept(search->digest), place + 1);
    part->used++;
    return !is_full(part) || grow(part, search->digest * UINT64_C(0x9E3779B97F4A7C15) >> 32);
}

void places_free(struct places *places) {
    if (!places) return;
    for (size_t i = 0; i < PARTS; i++) return_lines(&places->parts[i]);
    free(places);
}
