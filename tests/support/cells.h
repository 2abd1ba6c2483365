/* Every sort of filter: each kind, alone and in every composite filter, shared or not. */
#ifndef PERHAPS_TESTS_CELLS_H
#define PERHAPS_TESTS_CELLS_H

#include <perhaps.h>

#include <stdbool.h>

/* One sort of filter. */
struct cell {
    perhaps_want want; /* without a number of keys */
    bool multiset, exact, hashed, is_static, forgets, two_words, grows_in_layers;
    char name[64];
};

typedef void use_of_cell(const struct cell *cell);

/* Calls `use` for all of them. */
void each_cell(use_of_cell *use);

/* A filter of that sort with room for n keys and as many non-members. Layers begin with a tenth. */
perhaps *make_for(const struct cell *cell, size_t n);

#endif
