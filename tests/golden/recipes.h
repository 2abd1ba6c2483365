/* What lies in this folder, and how it is made: each recipe gives a file's name and its bytes. */
#ifndef PERHAPS_TESTS_RECIPES_H
#define PERHAPS_TESTS_RECIPES_H

#include "support.h"

#include <perhaps_embed.h>

/* The key of the SipHash files. */
extern const uint8_t golden_key[16];

/* The recipe of keys in the files whose names end in -recipe. */
extern const perhaps_recipe golden_recipe;

/* And in that whose name ends in -csv. */
extern const perhaps_recipe golden_csv;

enum { GOLDEN_KEYS = 60 }; /* in each .ph file */

/* Adds the golden keys number first to first + n - 1: text, integers and digests in turn. */
void add_golden_keys(perhaps *f, uint64_t first, uint64_t n);

/* How many of them are found. */
uint64_t count_golden_keys(const perhaps *f, uint64_t first, uint64_t n);

/* Calls `use` with every file of the folder as this library makes it now. */
void for_each_golden(void (*use)(const char *name, struct bytes bytes));

#endif
