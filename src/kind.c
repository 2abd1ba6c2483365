#include "kind.h"

/* Adding a kind: write its file, its model, and a row here. */
const struct kind *const kinds[] = {
    &kind_bloom, &kind_blocked, &kind_counting, &kind_cuckoo, &kind_table, &kind_bitmap,
};

const size_t kind_count = sizeof kinds / sizeof kinds[0];

const struct kind *kind_find(int id) {
    for (size_t i = 0; i < kind_count; i++) {
        if (kinds[i]->row.kind == id) return kinds[i];
    }
    return NULL;
}
