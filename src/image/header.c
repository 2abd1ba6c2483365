#include "image/header.h"

#include "base/arith.h"
#include "base/endian.h"
#include "base/memory.h"
#include "base/error.h"
#include "core/hash.h"

static const uint8_t magic[8] = {0x8F, 'p', 'e', 'r', 'h', 'a', 'p', 's'};

enum { AT_VERSION = 8, AT_KIND = 10, AT_HASH = 12, AT_RECIPE = 13, AT_FLAGS = 14, AT_SUM = 16, AT_SEED = 24 };
enum { AT_KEY = 32, AT_ITEMS = 48, AT_CAPACITY = 56, AT_FPR = 64, AT_LAYOUT = 72, AT_LENGTH = 112 };

uint64_t image_blocks(uint64_t payload_length) {
    uint64_t blocks = payload_length / BLOCK_BYTES + (payload_length % BLOCK_BYTES != 0);
    return blocks ? blocks : 1;
}

uint64_t image_block_length(uint64_t payload_length, uint64_t block) {
    uint64_t rest = payload_length - block * BLOCK_BYTES;
    return rest < BLOCK_BYTES ? rest : BLOCK_BYTES;
}

/* The recipe follows the checksums of the blocks. */
static uint64_t recipe_offset(uint64_t payload_length) {
    return HEADER_BYTES + 8 * image_blocks(payload_length);
}

uint64_t image_offset(uint64_t payload_length, uint64_t recipe_length) {
    uint64_t unit = payload_length < BLOCK_BYTES ? 64 : 4096;
    return (recipe_offset(payload_length) + recipe_length + unit - 1) / unit * unit;
}

uint64_t header_offset(const struct header *header) {
    return image_offset(header->length, header->recipe.length);
}

bool image_length(uint64_t payload_length, uint64_t recipe_length, uint64_t *total) {
    return payload_length <= INT64_MAX / 2 &&
           add_fits(image_offset(payload_length, recipe_length), payload_length, total);
}

/* ---- writing ---- */

static void header_encode(const struct header *header, uint8_t head[HEADER_BYTES]) {
    memset(head, 0, HEADER_BYTES);
    memcpy(head, magic, sizeof magic);
    store16(head + AT_VERSION, FORMAT_VERSION);
    store16(head + AT_KIND, (uint16_t)header->kind);
    head[AT_HASH] = (uint8_t)header->hash;
    head[AT_RECIPE] = (uint8_t)(header->recipe.length / RECIPE_WORD);
    store16(head + AT_FLAGS, (uint16_t)(header->flags | (header->recipe.length ? HEADER_HAS_RECIPE : 0)));
    store64(head + AT_SEED, header->seed);
    store64(head + AT_KEY, header->key[0]);
    store64(head + AT_KEY + 8, header->key[1]);
    store64(head + AT_ITEMS, header->items);
    store64(head + AT_CAPACITY, header->capacity);
    store_double(head + AT_FPR, header->fpr);
    for (int i = 0; i < LAYOUT_WORDS; i++) store64(head + AT_LAYOUT + 8 * i, header->layout[i]);
    store64(head + AT_LENGTH, header->length);
}

void header_write(const struct header *header, uint8_t *head) {
    const struct recipe *recipe = &header->recipe;
    memset(head, 0, (size_t)header_offset(header));
    header_encode(header, head);
    if (recipe->length) memcpy(head + recipe_offset(header->length), recipe->bytes, recipe->length);
}

/* 0 stands for a block of zeros: holes in files and untouched memory are neither read nor
 * written. */
static uint64_t sum_block(const struct file *file, const uint8_t *block, uint64_t length) {
    if ((file && file_is_hole(file, block, length)) || memory_is_zero(block, length)) return 0;
    uint64_t sum = hash_checksum(block, (size_t)length);
    return sum ? sum : 1;
}

bool header_is_sparse(const uint8_t *head) {
    const struct kind *kind = kind_find(load16(head + AT_KIND));
    return kind && kind->sparse;
}

int header_kind(const uint8_t *head) {
    return load16(head + AT_KIND);
}

uint64_t header_checksum(const uint8_t *head) {
    return load64(head + AT_SUM);
}

uint64_t header_recipe_length(const uint8_t *head) {
    return load16(head + AT_FLAGS) & HEADER_HAS_RECIPE ? (uint64_t)head[AT_RECIPE] * RECIPE_WORD : 0;
}

uint64_t header_before_children(const uint8_t *head) {
    const struct kind *kind = kind_find(load16(head + AT_KIND));
    uint64_t total, payload = load64(head + AT_LENGTH), recipe = header_recipe_length(head);
    return kind && kind->composite && image_length(payload, recipe, &total) ? total : 0;
}

bool header_is_dirty(const uint8_t *head) {
    return head[AT_FLAGS] & HEADER_DIRTY;
}

void header_set_dirty(uint8_t *head, bool dirty) {
    head[AT_FLAGS] = (uint8_t)((head[AT_FLAGS] & ~HEADER_DIRTY) | (dirty ? HEADER_DIRTY : 0));
}

void header_set_items(uint8_t *head, uint64_t items, bool intersected) {
    store64(head + AT_ITEMS, items);
    head[AT_FLAGS] = (uint8_t)((head[AT_FLAGS] & ~HEADER_INTERSECTED) | (intersected ? HEADER_INTERSECTED : 0));
}

/* The head's checksum, with the dirty flag and the checksum field taken as zero. `rest` follows the
 * header. */
static uint64_t sum_head(const uint8_t header[HEADER_BYTES], const uint8_t *rest, uint64_t rest_length) {
    uint8_t start[HEADER_BYTES];
    memcpy(start, header, sizeof start);
    header_set_dirty(start, false);
    store64(start + AT_SUM, 0);
    return hash_checksum_of_two(start, sizeof start, rest, (size_t)rest_length);
}

void header_sum(const struct file *file, uint8_t *head, const uint8_t *payload, uint64_t payload_length,
                uint64_t recipe_length) {
    for (uint64_t i = 0; i < image_blocks(payload_length); i++) {
        uint64_t sum = sum_block(file, payload + i * BLOCK_BYTES, image_block_length(payload_length, i));
        store64(head + HEADER_BYTES + 8 * i, sum);
    }
    store64(head + AT_SUM,
            sum_head(head, head + HEADER_BYTES, image_offset(payload_length, recipe_length) - HEADER_BYTES));
}

uint64_t header_length_alone(const struct header *header) {
    return HEADER_BYTES + header->recipe.length;
}

void header_write_alone(const struct header *header, uint8_t *head) {
    const struct recipe *recipe = &header->recipe;
    header_encode(header, head);
    if (recipe->length) memcpy(head + HEADER_BYTES, recipe->bytes, recipe->length);
    store64(head + AT_SUM, sum_head(head, head + HEADER_BYTES, recipe->length));
}

bool image_block_is_empty(const uint8_t *head, uint64_t block) {
    return load64(head + HEADER_BYTES + 8 * block) == 0;
}

/* ---- reading ---- */

static void header_decode(const uint8_t *head, struct header *header) {
    header->kind = load16(head + AT_KIND);
    header->hash = head[AT_HASH];
    header->flags = load16(head + AT_FLAGS) & (unsigned)~HEADER_HAS_RECIPE;
    header->recipe = (struct recipe){NULL, (uint32_t)header_recipe_length(head)};
    header->seed = load64(head + AT_SEED);
    header->key[0] = load64(head + AT_KEY);
    header->key[1] = load64(head + AT_KEY + 8);
    header->items = load64(head + AT_ITEMS);
    header->capacity = load64(head + AT_CAPACITY);
    header->fpr = load_double(head + AT_FPR);
    for (int i = 0; i < LAYOUT_WORDS; i++) header->layout[i] = load64(head + AT_LAYOUT + 8 * i);
    header->length = load64(head + AT_LENGTH);
}

bool header_has_magic(const uint8_t *image, uint64_t length) {
    return length >= sizeof magic && memcmp(image, magic, sizeof magic) == 0;
}

static int check_magic(const char *name, const uint8_t *image, uint64_t length) {
    if (length == 0) return fail(PERHAPS_EFOREIGN, "%s: is not a filter of perhaps: it is empty", name);
    if (memcmp(image, magic, length < sizeof magic ? (size_t)length : sizeof magic) != 0)
        return fail(PERHAPS_EFOREIGN, "%s: is not a filter of perhaps", name);
    if (length < HEADER_BYTES)
        return fail(PERHAPS_EDAMAGED, "%s: truncated: %llu bytes are less than a header", name,
                    (unsigned long long)length);
    if (load16(image + AT_VERSION) > FORMAT_VERSION)
        return fail(PERHAPS_EVERSION, "%s: format version %u is newer than this library's %d; update perhaps", name,
                    load16(image + AT_VERSION), FORMAT_VERSION);
    return PERHAPS_OK;
}

/* Early images have a tag in byte 13 that says how keys are written, instead of a recipe. */
static int check_tag(const char *name, const uint8_t head[HEADER_BYTES]) {
    if (!head[AT_RECIPE] || load16(head + AT_FLAGS) & HEADER_HAS_RECIPE) return PERHAPS_OK;
    return fail(PERHAPS_EVERSION,
                "%s: has an early version of the format, which kept the form of keys in a tag; build it again from its "
                "keys with the same options",
                name);
}

int header_refuse_dirty(const char *name) {
    return fail(PERHAPS_EDIRTY,
                "%s: is being changed in place, or its writer was killed; if no writer is left, open it for recovery",
                name);
}

/* Is it as long as it says, clean, and unchanged? `rest` follows the header. */
static int check_frame(const char *name, const uint8_t head[HEADER_BYTES], const uint8_t *rest, uint64_t length,
                       bool recover) {
    uint64_t payload_length = load64(head + AT_LENGTH), recipe_length = header_recipe_length(head), total;
    if (!image_length(payload_length, recipe_length, &total))
        return fail(PERHAPS_EDAMAGED, "%s: the header's payload length is impossible", name);
    if (length < total)
        return fail(PERHAPS_EDAMAGED, "%s: truncated: %llu bytes short", name, (unsigned long long)(total - length));
    if (length > total && !header_before_children(head))
        return fail(PERHAPS_EDAMAGED, "%s: %llu bytes too long", name, (unsigned long long)(length - total));
    if (header_is_dirty(head)) return recover ? PERHAPS_OK : header_refuse_dirty(name);
    if (load64(head + AT_SUM) != sum_head(head, rest, image_offset(payload_length, recipe_length) - HEADER_BYTES))
        return fail(PERHAPS_EDAMAGED, "%s: the header's checksum differs; the file was changed or damaged", name);
    return PERHAPS_OK;
}

/* Hostile headers have correct checksums: every field is checked. */
static const char *check_sense(const uint8_t *head, const struct header *header) {
    const struct kind *kind = kind_find(header->kind);
    const char *reason = NULL;
    bool has_recipe = load16(head + AT_FLAGS) & HEADER_HAS_RECIPE;
    if (load16(head + AT_VERSION) == 0) return "format version 0";
    if (has_recipe && !header->recipe.length) return "a flag that it has a recipe, but none";
    if (!kind) return "a kind of filter that this library does not know";
    if (!hash_name(header->hash)) return "a hash that this library does not know";
    if (header->flags & ~(unsigned)HEADER_FLAGS) return "unknown flags";
    if (header->flags & HEADER_DIRTY && kind->composite)
        return "a mark that it is being changed in place, which it cannot be";
    if (header->flags & HEADER_FIXED && !kind->growable)
        return "a flag that it does not grow, which this kind never does";
    if (header->flags & HEADER_INTERSECTED && !kind_combine(kind, COMBINE_INTERSECT))
        return "a flag that it is an intersection, which this kind never is";
    bool has_key = header->flags & HEADER_HAS_KEY;
    if (has_key && header->hash != PERHAPS_SIPHASH) return "a hash key without siphash";
    if (!has_key && header->flags & HEADER_KEY_IN_FILE) return "a flag that the hash key is in it, but no key";
    if (!has_key && (header->key[0] || header->key[1])) return "a hash key that the flags do not know of";
    if (!(header->fpr >= 0 && header->fpr <= 1)) return "a planned rate that is not between 0 and 1";
    if (header->capacity == 0) return "a capacity of zero";
    if (kind->foreign && kind->foreign->check_facts)
        reason = kind->foreign->check_facts(header->capacity, header->fpr, header->length);
    if (reason) return reason;
    uint64_t length = kind->payload_bytes(header->layout, &reason);
    if (!length) return reason;
    for (int i = 0; i < LAYOUT_WORDS; i++) {
        if (!kind->words.name[i] && header->layout[i]) return "unused layout words that are not zero";
    }
    const struct kind *of_keys = kind_of_keys(kind, header->layout);
    if (!kind_takes_hash(of_keys, header->hash)) return "a hash that this kind does not use";
    if (of_keys->hashing.own && header->seed != of_keys->hashing.seed) return "a seed that is not the one of its kind";
    return length != header->length ? "a payload length that does not fit the layout" : NULL;
}

static bool rest_is_zero(const uint8_t *image, const struct header *header) {
    uint64_t end = recipe_offset(header->length) + header->recipe.length;
    return memory_is_zero(image + end, header_offset(header) - end);
}

/* Another process may change a mapped file meanwhile: header and recipe are copied once, and only
 * the copies are used. */
int header_read(const char *name, const uint8_t *image, uint64_t length, bool recover, struct header *header,
                uint8_t room[RECIPE_MAX]) {
    uint8_t head[HEADER_BYTES];
    int rc = check_magic(name, image, length);
    if (rc < 0) return rc;
    memcpy(head, image, sizeof head);
    rc = check_frame(name, head, image + HEADER_BYTES, length, recover);
    if (rc == PERHAPS_OK) rc = check_tag(name, head);
    if (rc < 0) return rc;
    header_decode(head, header);
    const char *reason = check_sense(head, header);
    if (!reason && !rest_is_zero(image, header)) reason = "padding that is not zero";
    if (reason) return fail(PERHAPS_EDAMAGED, "%s: the header has %s", name, reason);
    memcpy(room, image + recipe_offset(header->length), header->recipe.length);
    header->recipe.bytes = room;
    return recipe_check(name, header->recipe);
}

int header_read_alone(const char *name, const uint8_t *head, uint64_t length, struct header *header) {
    int rc = check_magic(name, head, length);
    if (rc < 0) return rc;
    uint64_t recipe_length = header_recipe_length(head);
    if (length - HEADER_BYTES < recipe_length) return fail(PERHAPS_EDAMAGED, "%s: truncated", name);
    if (load64(head + AT_SUM) != sum_head(head, head + HEADER_BYTES, recipe_length))
        return fail(PERHAPS_EDAMAGED, "%s: a checksum differs; it was changed or damaged", name);
    rc = check_tag(name, head);
    if (rc < 0) return rc;
    header_decode(head, header);
    const char *reason = check_sense(head, header);
    if (!reason && header->items) reason = "keys, where there can be none";
    if (!reason && header->flags & HEADER_DIRTY) reason = "a mark that it is being changed in place";
    if (reason) return fail(PERHAPS_EDAMAGED, "%s: a header has %s", name, reason);
    header->recipe.bytes = head + HEADER_BYTES;
    return recipe_check(name, header->recipe);
}

int image_verify(const char *name, const struct file *file, const uint8_t *image, const struct header *header) {
    const uint8_t *payload = image + header_offset(header);
    uint64_t payload_length = header->length;
    for (uint64_t i = 0; i < image_blocks(payload_length); i++) {
        uint64_t sum = sum_block(file, payload + i * BLOCK_BYTES, image_block_length(payload_length, i));
        if (sum != load64(image + HEADER_BYTES + 8 * i))
            return fail(PERHAPS_EDAMAGED,
                        "%s: the checksum of payload block %llu of %llu differs; restore the file from a copy", name,
                        (unsigned long long)i + 1, (unsigned long long)image_blocks(payload_length));
    }
    return PERHAPS_OK;
}
