/*
 * The recipe: how an input record becomes the bytes of a key. A list of steps, each
 *
 *     bytes  what
 *         1  number: 1 to 127 transformation, 128 to 255 extraction
 *         1  length of the value, n
 *         n  value
 *
 * in rising order of their numbers, each at most once, padded with zeros to whole words. A
 * transformation changes the bytes of a key: a filter with an unknown one cannot be used.
 * Extraction says where the key is in a record: only readers of records need it. docs/FORMAT.md has
 * the steps.
 */
#ifndef PERHAPS_IMAGE_RECIPE_H
#define PERHAPS_IMAGE_RECIPE_H

#include <perhaps.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RECIPE_WORD = 8, RECIPE_MAX = 255 * RECIPE_WORD };

/* The bytes of a recipe in an image, padding included. Length 0: none. */
struct recipe {
    const uint8_t *bytes;
    uint32_t length;
};

/* The steps of a caller's recipe, written to `room`; none for NULL. Fails with PERHAPS_EINVAL. */
int recipe_encode(const perhaps_recipe *wanted, uint8_t room[RECIPE_MAX], struct recipe *recipe);

void recipe_decode(struct recipe recipe, perhaps_recipe *told);

/* Checks steps from an image: PERHAPS_EDAMAGED, or PERHAPS_EVERSION for an unknown
 * transformation. */
int recipe_check(const char *name, struct recipe recipe);

/* A copy in memory of this allocator; empty if that fails. */
int recipe_copy(const perhaps_allocator *allocator, struct recipe recipe, struct recipe *copy);

/* Whether both make the same key of the same text. */
bool recipe_same_keys(struct recipe a, struct recipe b);

/* Whether there is a transformation. */
bool recipe_transforms(struct recipe recipe);

#endif
