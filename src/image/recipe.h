/*
 * The recipe: how an input record becomes the bytes of a key. A list of steps, each
 *
 *     bytes  what
 *         1  number: 1 to 127 transformation, 128 to 255 extraction
 *         1  length of the value, n
 *         n  value
 *
 * in rising order of their numbers, each at most once, padded with zeros to whole words. A transformation changes the
 * bytes of a key, so whoever does not know it cannot use the filter. Extraction says where the key stands in a
 * record, which matters only to those who read records. docs/FORMAT.md has the steps.
 */
#ifndef PERHAPS_IMAGE_RECIPE_H
#define PERHAPS_IMAGE_RECIPE_H

#include <perhaps.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RECIPE_WORD = 8, RECIPE_MAX = 255 * RECIPE_WORD };

/* The bytes of a recipe in an image, padding included. None is length 0. */
struct recipe {
    const uint8_t *bytes;
    uint32_t length;
};

/* The steps for a caller's recipe, in `room`; NULL, and one that says nothing, has none. PERHAPS_EINVAL, with a
 * reason. */
int recipe_encode(const perhaps_recipe *wanted, uint8_t room[RECIPE_MAX], struct recipe *recipe);

/* What the steps say. */
void recipe_decode(struct recipe recipe, perhaps_recipe *told);

/* Checks steps from an image: PERHAPS_EDAMAGED, or PERHAPS_EVERSION for a transformation that this library does not
 * know. */
int recipe_check(const char *name, struct recipe recipe);

/* A copy in memory of this allocator; none if that fails. */
int recipe_copy(const perhaps_allocator *allocator, struct recipe recipe, struct recipe *copy);

/* Do both make the same key of the same text? */
bool recipe_same_keys(struct recipe a, struct recipe b);

/* Is there a transformation? */
bool recipe_transforms(struct recipe recipe);

#endif
