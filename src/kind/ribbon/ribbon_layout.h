/* Bumped ribbons: what solving and queries share. See ribbon.c. */
#ifndef PERHAPS_KIND_RIBBON_RIBBON_LAYOUT_H
#define PERHAPS_KIND_RIBBON_RIBBON_LAYOUT_H

#include "static/parts.h"

enum { RIBBON_COLUMNS = PARTS_OWN }; /* layout word: columns a row, times RIBBON_COLUMNS_ONE */
enum { RIBBON_COLUMNS_ONE = 1 << 16, RIBBON_COLUMNS_MAX = 32 }; /* 1 to RIBBON_COLUMNS_MAX */
enum {
    RIBBON_PART_LEVELS = PART_OWN,
    RIBBON_PART_SEED = PART_OWN + 2
}; /* of an entry: sizes of two levels in each of two words */
enum { RIBBON_ENTRY_WORDS = RIBBON_PART_SEED + 1 };

/* All levels but the last have buckets of rows, some of whose keys are bumped: of those with the
 * bucket's threshold t, the keys that start before row ribbon_limit(t) of the bucket. */
enum { RIBBON_LEVELS = 4, RIBBON_LAST = RIBBON_LEVELS - 1 };
enum {
    RIBBON_ROWS = 64,
    RIBBON_BUCKET_BLOCKS = 2,
    RIBBON_BUCKET_ROWS = RIBBON_BUCKET_BLOCKS * RIBBON_ROWS
}; /* rows of a block, and of a bucket */
enum { RIBBON_LIMIT_LOW = 24, RIBBON_LIMIT_HIGH = 64 };
enum { RIBBON_BUMP_NONE, RIBBON_BUMP_LOW, RIBBON_BUMP_HIGH, RIBBON_BUMP_ALL };
enum { RIBBON_THRESHOLD_BITS = 2, RIBBON_WORD_THRESHOLDS = 64 / RIBBON_THRESHOLD_BITS };
#define RIBBON_LEVEL_BLOCKS_MAX (UINT64_C(1) << 25)

extern const struct model model_ribbon;

/* Where the keys of a level are: what a query needs to know. */
struct ribbon_level {
    uint64_t data, thresholds; /* where they begin in the array, in bytes */
    uint64_t seed;             /* of the part */
    uint32_t starts;           /* rows in which keys start; 0: this level has no keys */
    uint32_t border;           /* from this block on, blocks have one column more */
};

/* A byte for each threshold. */
#define RIBBON_LIMITS ((uint32_t)RIBBON_BUCKET_ROWS << 24 | RIBBON_LIMIT_HIGH << 16 | RIBBON_LIMIT_LOW << 8)

static inline unsigned ribbon_limit(unsigned threshold) {
    return RIBBON_LIMITS >> 8 * threshold & 255;
}

/* Columns of the blocks before the border. */
static inline unsigned ribbon_columns(const uint64_t layout[LAYOUT_WORDS]) {
    return (unsigned)(layout[RIBBON_COLUMNS] / RIBBON_COLUMNS_ONE);
}

static inline unsigned ribbon_columns_max(const uint64_t layout[LAYOUT_WORDS]) {
    return (unsigned)((layout[RIBBON_COLUMNS] + RIBBON_COLUMNS_ONE - 1) / RIBBON_COLUMNS_ONE);
}

/* ---- sizes; a level's is its buckets, and of the last one its blocks in which keys start ---- */

static inline uint64_t level_start_blocks(uint64_t size, unsigned level) {
    return level == RIBBON_LAST ? size : size * RIBBON_BUCKET_BLOCKS;
}

/* The last key of a level may reach a block further. */
static inline uint64_t level_blocks(uint64_t size, unsigned level) {
    return size ? level_start_blocks(size, level) + 1 : 0;
}

/* Of the blocks in which keys start, the share that the fraction says has one column more, rounded
 * up. */
static inline uint64_t ribbon_wide_blocks(uint64_t blocks, uint64_t fraction) {
    return (blocks * fraction + RIBBON_COLUMNS_ONE - 1) / RIBBON_COLUMNS_ONE;
}

static inline uint64_t level_border(const uint64_t layout[LAYOUT_WORDS], uint64_t size, unsigned level) {
    uint64_t fraction = layout[RIBBON_COLUMNS] % RIBBON_COLUMNS_ONE, blocks = level_start_blocks(size, level);
    if (!fraction) return level_blocks(size, level);
    return blocks - ribbon_wide_blocks(blocks, fraction);
}

static inline uint64_t level_threshold_words(uint64_t size, unsigned level) {
    return level == RIBBON_LAST ? 0 : (size + RIBBON_WORD_THRESHOLDS - 1) / RIBBON_WORD_THRESHOLDS;
}

/* Thresholds come first, then the blocks. */
static inline uint64_t level_words(const uint64_t layout[LAYOUT_WORDS], uint64_t size, unsigned level) {
    uint64_t blocks = level_blocks(size, level);
    return level_threshold_words(size, level) + blocks * ribbon_columns(layout) + blocks -
           level_border(layout, size, level);
}

/* Where a block begins, in words from the beginning of the level's first. */
static inline uint64_t block_start(uint64_t block, unsigned columns, uint64_t border) {
    return block * columns + (block > border ? block - border : 0);
}

/* ---- a key ---- */

#define RIBBON_STRIDE      UINT64_C(0xBB67AE8584CAA73B)
#define RIBBON_STRIDE_BACK UINT64_C(0x072F55F3A00399F3) /* times the stride, 1 */
#define RIBBON_TAKEN       UINT64_C(0x9E6C63D0876A9A63)
#define RIBBON_PRINT       UINT64_C(0x3C6EF372FE94F82B)

/* What places a key in a level, a uniform word: in the first, it has the order of the keys; each
 * further one multiplies by the stride, which is odd, so that the key can be told from it. Only
 * there the seed of the part has a part in it. */
static inline uint64_t ribbon_place(uint64_t key, uint64_t seed, uint64_t bits, unsigned level) {
    uint64_t place = key ^ seed;
    if (!level) return place_in_part(key, bits);
    for (unsigned i = 0; i < level; i++) place *= RIBBON_STRIDE;
    return place;
}

/* Which of the 64 rows from its start on a key takes: of its product's lower half, too, every bit
 * depends on all lower bits of the key. The first row is one of them. */
static inline uint64_t ribbon_rows(uint64_t key) {
    uint64_t product = key * RIBBON_TAKEN;
    return (product ^ product >> 32) | 1;
}

/* The parities that these rows must have, a bit for each column. */
static inline uint32_t ribbon_print(uint64_t key) {
    return (uint32_t)(key * RIBBON_PRINT >> 32);
}

/* ribbon_solve.c; see struct solver. */
void ribbon_settle(uint64_t layout[LAYOUT_WORDS], uint64_t keys);
uint64_t ribbon_room(const uint64_t layout[LAYOUT_WORDS], uint64_t n);
bool ribbon_solve(const uint64_t layout[LAYOUT_WORDS], enum isa isa, uint64_t *keys, uint64_t n, uint64_t *room,
                  struct solution *solution);

/* The number of blocks in which the keys of a part start, except those that are bumped. */
uint64_t ribbon_start_blocks(uint64_t keys);

/* Words of data for `parts` parts of `keys` keys each, for plans. */
uint64_t ribbon_words_for(const uint64_t layout[LAYOUT_WORDS], uint64_t parts, uint64_t keys);

#endif
