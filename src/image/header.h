/*
 * The image: the bytes of a filter in memory, in a file, on a wire. All numbers are little-endian.
 *
 *     offset  bytes  what
 *          0      8  magic: 8F 70 65 72 68 61 70 73 ("\x8Fperhaps")
 *          8      2  format version, now 1
 *         10      2  kind (enum perhaps_kind)
 *         12      1  hash (enum perhaps_hash)
 *         13      1  the recipe's length in words of 8 bytes, R; 0 = there is none
 *         14      2  flags (enum header_flag)
 *         16      8  checksum of every byte before the payload, this field and the dirty flag taken as zero
 *         24      8  seed: of xxh3; for siphash a check of the key
 *         32     16  siphash key, or zero
 *         48      8  items
 *         56      8  capacity
 *         64      8  fpr planned, an IEEE double
 *         72     40  layout: five words, see the kind
 *        112      8  payload length L
 *        120    8·B  a checksum for each of the B = max(1, ceil(L / 1 MiB)) blocks of payload; 0 = all bytes are zero
 *          ·    8·R  recipe (recipe.h)
 *          ·      ·  zeros up to the payload's offset, a multiple of 64 (of 4096 when L is 1 MiB or more)
 *          ·      L  payload
 *
 * Checksums are XXH3-64; for a block whose XXH3-64 is 0, 1 is written. docs/FORMAT.md tells the rest.
 */
#ifndef PERHAPS_IMAGE_HEADER_H
#define PERHAPS_IMAGE_HEADER_H

#include "base/file.h"
#include "image/recipe.h"
#include "kind/kind.h"

#include <stdbool.h>

enum { HEADER_BYTES = 120, FORMAT_VERSION = 1, BLOCK_BYTES = 1 << 20 };

enum header_flag {
    HEADER_DIRTY = 1 << 0,       /* a map is being changed: payload checksums and items are out of date */
    HEADER_HAS_KEY = 1 << 1,     /* the siphash key is in the image */
    HEADER_KEY_IN_FILE = 1 << 2, /* and shall be in files too */
    HEADER_FIXED = 1 << 3,       /* it does not grow */
    HEADER_HAS_RECIPE = 1 << 4,  /* byte 13 is its length */
    HEADER_INTERSECTED = 1 << 5, /* bits of no key in it are left: items tell of its keys, the bits do not */
    HEADER_FLAGS = 63
};

struct header {
    int kind, hash;
    unsigned flags;       /* all but HEADER_HAS_RECIPE, which follows from the recipe */
    struct recipe recipe; /* of a filter, its bytes are memory of the filter's allocator */
    uint64_t seed, key[2];
    uint64_t items, capacity;
    double fpr;
    uint64_t layout[LAYOUT_WORDS];
    uint64_t length; /* of the payload */
};

/* Where the payload begins. The length has passed image_length. */
uint64_t image_offset(uint64_t payload_length, uint64_t recipe_length);
uint64_t header_offset(const struct header *header);

/* The whole image's length; false if it does not fit 63 bits. */
bool image_length(uint64_t payload_length, uint64_t recipe_length, uint64_t *total);

/* Writes everything before the payload but checksums; `head` has header_offset bytes. */
void header_write(const struct header *header, uint8_t *head);

/* Computes the payload's checksums into the head, then the head's own. The lengths are those that were checked: the
 * bytes of a mapped file may have changed since. */
void header_sum(uint8_t *head, const uint8_t *payload, uint64_t payload_length, uint64_t recipe_length);

/* The same for an image that is a mapped file, whose holes stay out of memory. */
void header_sum_file(const struct file *file, uint64_t payload_length, uint64_t recipe_length);

/* For a mapped file. A writer may be killed between any two of these stores, so: the flag is one byte and not part of
 * the checksum, and what changes else changes only while it is set. */
void header_set_dirty(uint8_t *head, bool dirty);
bool header_is_dirty(const uint8_t *head);
void header_set_items(uint8_t *head, uint64_t items, bool intersected);

/* Whether this is the beginning of an image, whole or damaged. */
bool header_has_magic(const uint8_t *image, uint64_t length);

/* Reads and checks an image of `length` bytes, all but its payload. `name` is for messages. A dirty one is refused, unless
 * `recover`: then its checksum, which its writer may have left half-way, is passed over. The header's recipe is in
 * `room`. */
int header_read(const char *name, const uint8_t *image, uint64_t length, bool recover, struct header *header,
                uint8_t room[RECIPE_MAX]);

/* A header without an image, of a filter without keys: HEADER_BYTES and the recipe, with a checksum over them alone.
 * What is read has its recipe in `head`. */
uint64_t header_length_alone(const struct header *header);
void header_write_alone(const struct header *header, uint8_t *head);
int header_read_alone(const char *name, const uint8_t *head, uint64_t length, struct header *header);

/* PERHAPS_EDIRTY, with its sentence. */
int header_refuse_dirty(const char *name);

/* Checks the payload's checksums. If the image is a mapped file, its holes stay out of memory; else `file` is NULL. */
int image_verify(const char *name, const struct file *file, const uint8_t *image, const struct header *header);

/* The kind, and the checksum of everything before the payload, as they stand in these first bytes of an image. */
int header_kind(const uint8_t *head);
uint64_t header_checksum(const uint8_t *head);

/* The length of the recipe, from these first bytes, HEADER_BYTES of them, not checked yet. */
uint64_t header_recipe_length(const uint8_t *head);

/* How long the header and the directory of a filter of filters are, from its first bytes, HEADER_BYTES of them, not checked yet;
 * 0 for other kinds. */
uint64_t header_before_children(const uint8_t *head);

/* Whether these first bytes of an image, HEADER_BYTES of them, not checked yet, are those of a kind that stays sparse. */
bool header_is_sparse(const uint8_t *head);

/* Whether the payload's checksum says that block i is all zero. */
bool image_block_is_empty(const uint8_t *head, uint64_t block);

/* Block i of a payload is at i * BLOCK_BYTES and this long. */
uint64_t image_block_length(uint64_t payload_length, uint64_t block);
uint64_t image_blocks(uint64_t payload_length);

#endif
