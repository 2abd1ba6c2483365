/* The names of what filters can do: add, remove, count, merge, intersect. */
#ifndef CLI_ABILITIES_H
#define CLI_ABILITIES_H

#include <stdbool.h>
#include <stddef.h>

/* The name of ability number `i` (of the bit 1 << i), or NULL past the end. */
const char *ability_name(size_t i);

/* A set as text: "add, merge" with ", " between. Returns `buffer`. */
const char *abilities_text(unsigned abilities, const char *between, char *buffer, size_t size);

/* "add,merge" to a set. */
bool abilities_parse(const char *text, unsigned *abilities);

/* All kinds and what they can do, as a sentence. Returns `buffer`. */
const char *kinds_sentence(char *buffer, size_t size);

#endif
