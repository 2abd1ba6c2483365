/*
 * A hash table in parts, each with a share of the digests, that grow one at a time: the stream
 * waits for one of them, and only that one is in memory twice. A part is an array of cache lines
 * with five slots each, in pages of 64. A digest has a home; if that is full, the next cache line
 * with a free slot has it. The pages of all parts are cut from slabs of huge pages, and those that
 * a part has left are used again: lookups take few entries of the TLB, and growing takes no system
 * calls.
 *
 *     digest:      8 bits: part | 52 bits, kept; the upper 32 pick the home | 4 bits, not kept
 *     cache line:  five words (52 bits of digest, the upper 12 of the place)
 *                  | five times the lower 32 bits of the place | slots in use
 */
#include "first_lines.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PARTS = 256, SLOTS = 5, PAGE = 64 /* cache lines */, UPPER = 12, LOWER = 32 };
enum { HUGE = 2 << 20, SLAB = 4 * HUGE };

struct cache_line {
    uint64_t words[SLOTS];
    uint32_t lower[SLOTS];
    uint32_t used; /* slots, which come first */
};

_Static_assert(sizeof(struct cache_line) == 64, "a cache line");

struct page {
    struct cache_line lines[PAGE];
};

struct lines_part {
    struct page **pages;
    size_t count; /* of cache lines: whole pages */
    size_t used;  /* slots */
};

/* A list of pages that no part has, or of slabs, whose first page is kept for this. */
struct link {
    struct link *next;
};

struct first_lines {
    struct lines_part parts[PARTS];
    struct link *unused, *slabs;
    size_t cut; /* bytes of the first slab that are in use */
};

/* ---- lines ---- */

static size_t part_number(uint64_t digest) {
    return (size_t)(digest >> 56);
}

/* What is kept of a digest, at the upper end of a word. */
static uint64_t kept(uint64_t digest) {
    return digest << 8 >> UPPER << UPPER;
}

static size_t home(const struct lines_part *part, uint64_t word) {
    return (size_t)((word >> 32) * part->count >> 32);
}

static struct cache_line *line_at(const struct lines_part *part, size_t number) {
    return &part->pages[number / PAGE]->lines[number % PAGE];
}

static uint64_t place_in(const struct cache_line *line, unsigned slot) {
    return (line->words[slot] << LOWER & PLACES_END) | line->lower[slot];
}

static void put(struct cache_line *line, uint64_t word, uint64_t place) {
    unsigned slot = line->used++;
    line->words[slot] = word | place >> LOWER;
    line->lower[slot] = (uint32_t)place;
}

/* ---- growth ---- */

static void push(struct link **list, void *at) {
    struct link *first = at;
    first->next = *list;
    *list = first;
}

/* Maps too much, so that the slab can begin with a huge page, and gives the ends back. */
static bool add_slab(struct first_lines *places) {
    char *start = mmap(NULL, SLAB + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) return false;
    size_t before = (HUGE - (uintptr_t)start % HUGE) % HUGE;
    if (before) munmap(start, before);
    munmap(start + before + SLAB, HUGE - before);
#ifdef MADV_HUGEPAGE /* not for the first slab: few lines take little memory */
    if (places->slabs) madvise(start + before, SLAB, MADV_HUGEPAGE);
#endif
    push(&places->slabs, start + before);
    places->cut = sizeof(struct page);
    return true;
}

/* A page of zeros. */
static struct page *get_page(struct first_lines *places) {
    struct link *unused = places->unused;
    if (unused) {
        places->unused = unused->next;
        return memset(unused, 0, sizeof(struct page));
    }
    if ((!places->slabs || places->cut == SLAB) && !add_slab(places)) return NULL;
    void *page = (char *)places->slabs + places->cut;
    places->cut += sizeof(struct page);
    return page;
}

static void return_pages(struct first_lines *places, struct page **pages, size_t count) {
    for (size_t i = 0; i < count; i++) push(&places->unused, pages[i]);
    free(pages);
}

/* NULL if there is not enough memory. */
static struct page **get_pages(struct first_lines *places, size_t count) {
    struct page **pages = calloc(count, sizeof(void *));
    for (size_t i = 0; pages && i < count; i++) {
        pages[i] = get_page(places);
        if (pages[i]) continue;
        return_pages(places, pages, i);
        return NULL;
    }
    return pages;
}

/* By about a quarter, in whole pages. The digest makes it a little more or less, so that the parts,
 * which have equal shares, do not all grow at the same time. */
static bool grow(struct first_lines *places, struct lines_part *part, uint64_t digest) {
    size_t chance = digest * UINT64_C(0x9E3779B97F4A7C15) >> 32 & 0xff, pages = part->count / PAGE;
    size_t more = pages * (176 + chance * 5 / 8) / 1024 + 1;
    struct lines_part larger = {.count = (pages + more) * PAGE, .used = part->used};
    larger.pages = get_pages(places, pages + more);
    if (!larger.pages) return false;
    for (size_t i = 0; i < part->count; i++) {
        const struct cache_line *line = line_at(part, i);
        for (unsigned slot = 0; slot < line->used; slot++) {
            uint64_t word = line->words[slot] >> UPPER << UPPER;
            size_t to = home(&larger, word);
            while (line_at(&larger, to)->used == SLOTS) to = to + 1 == larger.count ? 0 : to + 1;
            put(line_at(&larger, to), word, place_in(line, slot));
        }
    }
    return_pages(places, part->pages, pages);
    *part = larger;
    return true;
}

/* ---- places ---- */

struct first_lines *first_lines_create(void) {
    struct first_lines *places = calloc(1, sizeof *places);
    for (size_t i = 0; places && i < PARTS; i++) {
        places->parts[i] = (struct lines_part){.pages = get_pages(places, 1), .count = PAGE};
        if (places->parts[i].pages) continue;
        first_lines_free(places);
        return NULL;
    }
    return places;
}

void first_lines_prefetch(const struct first_lines *places, uint64_t digest) {
    const struct lines_part *part = &places->parts[part_number(digest)];
    const struct cache_line *line = line_at(part, home(part, kept(digest)));
    __builtin_prefetch(line);
    __builtin_prefetch(line + 1); /* where many searches go on */
}

void first_lines_search(const struct first_lines *places, uint64_t digest, struct place_search *search) {
    const struct lines_part *part = &places->parts[part_number(digest)];
    *search = (struct place_search){.digest = digest, .line = home(part, kept(digest))};
}

/* Which slots have these bits of a digest: without branches, which would be hard to guess. */
static unsigned matches(const struct cache_line *line, uint64_t word) {
    unsigned equal = 0;
    for (unsigned slot = 0; slot < SLOTS; slot++) equal |= (unsigned)((line->words[slot] ^ word) >> UPPER == 0) << slot;
    return equal & ((1u << line->used) - 1);
}

bool first_lines_next(const struct first_lines *places, struct place_search *search, uint64_t *place) {
    const struct lines_part *part = &places->parts[part_number(search->digest)];
    uint64_t word = kept(search->digest);
    for (;;) {
        const struct cache_line *line = line_at(part, search->line);
        unsigned equal = matches(line, word) >> search->slot << search->slot;
        if (equal) {
            unsigned slot = (unsigned)__builtin_ctz(equal);
            *place = place_in(line, slot);
            search->slot = slot + 1;
            return true;
        }
        if (line->used < SLOTS) return false;
        search->slot = 0;
        if (++search->line == part->count) search->line = 0;
    }
}

bool first_lines_add(struct first_lines *places, const struct place_search *search, uint64_t place) {
    struct lines_part *part = &places->parts[part_number(search->digest)];
    put(line_at(part, search->line), kept(search->digest), place);
    part->used++;
    bool full = part->used >= part->count / 4 * 17; /* 85 % of the slots */
    return !full || grow(places, part, search->digest);
}

void first_lines_free(struct first_lines *places) {
    if (!places) return;
    for (size_t i = 0; i < PARTS; i++) free(places->parts[i].pages);
    for (struct link *slab = places->slabs, *next; slab; slab = next) {
        next = slab->next;
        munmap(slab, SLAB);
    }
    free(places);
}
