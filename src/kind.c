#include "kind.h"

/* Adding a kind: write its file, its model, and a row here. */
const struct kind *const kinds[] = {
    &kind_bloom, &kind_blocked, &kind_counting, &kind_cuckoo, &kind_table, &kind_bitmap,
};

const size_t kind_count = sizeof kinds / sizeof kinds[0];

static const struct kind *const combinations[] = {&kind_growing, &kind_window, &kind_sharded};

static const struct kind *find_in(const struct kind *const *table, size_t rows, int id) {
    for (size_t i = 0; i < rows; i++) {
        if (table[i]->row.kind == id) return table[i];
    }
    return NULL;
}

const struct kind *kind_find(int id) {
    const struct kind *kind = find_in(kinds, kind_count, id);
    return kind ? kind : find_in(combinations, sizeof combinations / sizeof combinations[0], id);
}
