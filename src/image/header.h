/*
 * The image: the bytes of a filter in memory and in files. All numbers are little-endian.
 *
 *     offset  bytes  what
 *          0      8  magic: 8F 70 65 72 68 61 70 73 ("\x8Fperhaps")
 *          8      2  format version, now 1
 *         10      2  kind (enum perhaps_kind)
 *         12      1  hash (enum perhaps_hash)
 *         13      1  the recipe's length in words of 8 bytes, R; 0 = none
 *         14      2  flags (enum header_flag)
 *         16      8  checksum of all before the payload, this field and the dirty flag taken as 0
 *         24      8  seed: of xxh3; for siphash a check of the key
 *         32     16  siphash key, or zero
 *         48      8  items
 *         56      8  capacity
 *         64      8  fpr planned, an IEEE double
 *         72     40  layout: five words, see the kind
 *        112      8  payload length L
 *        120    8·B  a checksum for each of B = max(1, ceil(L / 1 MiB)) blocks; 0 = all zero
 *          ·    8·R  recipe (recipe.h)
 *          ·      ·  zeros up to a multiple of 64 (of 4096 when L is 1 MiB or more)
 *          ·      L  payload
 *
 * Checksums are XXH3-64, with 1 for a block whose XXH3-64 is 0. docs/FORMAT.md has the rest.
 */
#ifndef PERHAPS_IMAGE_HEADER_H
#define PERHAPS_IMAGE_HEADER_H

#include "base/file.h"
#include "image/recipe.h"
#include "kind/kind.h"

#include <stdbool.h>

enum { HEADER_BYTES = 120, FORMAT_VERSION = 1, BLOCK_BYTES = 1 << 20 };

enum header_flag {
    HEADER_DIRTY = 1 << 0,       /* changed in place: payload checksums and items are out of date */
    HEADER_HAS_KEY = 1 << 1,     /* the secret key is in the image */
    HEADER_KEY_IN_FILE = 1 << 2, /* and is to be in files too */
    HEADER_FIXED = 1 << 3,       /* it does not grow */
    HEADER_HAS_RECIPE = 1 << 4,  /* byte 13 is its length */
    HEADER_INTERSECTED = 1 << 5, /* has bits of keys not in it: an estimate would be wrong */
    HEADER_FLAGS = 63
};

struct header {
    int kind, hash;
    unsigned flags;       /* without HEADER_HAS_RECIPE, which follows from the recipe */
    struct recipe recipe; /* a filter's is memory of its allocator */
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

/* Writes everything before the payload except checksums; `head` has header_offset bytes. */
void header_write(const struct header *header, uint8_t *head);

/* Writes the payload's checksums into the head, then the head's. The lengths are the checked ones:
 * the bytes of a mapped file may have changed since. `file` as in image_verify. */
void header_sum(const struct file *file, uint8_t *head, const uint8_t *payload, uint64_t payload_length,
                uint64_t recipe_length);

/* For a mapped file. A writer may be killed between any two stores: so the flag is one byte, is not
 * part of the checksum, and is set while anything else changes. */
void header_set_dirty(uint8_t *head, bool dirty);
bool header_is_dirty(const uint8_t *head);
void header_set_items(uint8_t *head, uint64_t items, bool intersected);

bool header_has_magic(const uint8_t *image, uint64_t length);

/* Reads and checks an image of `length` bytes, except its payload. `name` is for messages. A dirty
 * image is refused; with `recover` it is accepted, and its checksum, which may be half-written, is
 * not checked. The recipe is copied to `room`. */
int header_read(const char *name, const uint8_t *image, uint64_t length, bool recover, struct header *header,
                uint8_t room[RECIPE_MAX]);

/* A header without an image, of a filter without keys: HEADER_BYTES and the recipe, and a checksum
 * over these. The recipe that is read points into `head`. */
uint64_t header_length_alone(const struct header *header);
void header_write_alone(const struct header *header, uint8_t *head);
int header_read_alone(const char *name, const uint8_t *head, uint64_t length, struct header *header);

int header_refuse_dirty(const char *name); /* PERHAPS_EDIRTY */

/* Checks the payload's checksums. `file` is the mapped file, whose holes are not read, or NULL. */
int image_verify(const char *name, const struct file *file, const uint8_t *image, const struct header *header);

/* Fields of an unchecked head of HEADER_BYTES. */
int header_kind(const uint8_t *head);
uint64_t header_checksum(const uint8_t *head);
uint64_t header_recipe_length(const uint8_t *head);

/* Bytes before the children of a composite filter, from an unchecked head; 0 for other kinds. */
uint64_t header_before_children(const uint8_t *head);

/* Whether an unchecked head is that of a sparse kind. */
bool header_is_sparse(const uint8_t *head);

/* Whether the checksum of a block says that it is all zero. */
bool image_block_is_empty(const uint8_t *head, uint64_t block);

/* Block i of a payload is at i * BLOCK_BYTES. */
uint64_t image_block_length(uint64_t payload_length, uint64_t block);
uint64_t image_blocks(uint64_t payload_length);

#endif
