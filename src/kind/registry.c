#include "kind/kind.h"

#include "base/bits.h"

#define COUNT_OF(table) (sizeof(table) / sizeof(table)[0])

/* To add a kind: write its folder, and add a constant in perhaps.h, a declaration in kind.h and a
 * row here. */
#ifndef PERHAPS_QUERY_ONLY
const struct kind *const kinds[] = {
    &kind_bloom, &kind_blocked, &kind_counting, &kind_cuckoo, &kind_table, &kind_bitmap, &kind_fuse, &kind_ribbon,
};

static const struct kind *const composites[] = {&kind_growing, &kind_window, &kind_sharded};

static const struct kind *const foreign[] = {&kind_redis_bloom, &kind_redis_cuckoo};

const struct kind *const file_kinds[] = {&kind_guava, &kind_dcso, &kind_parquet, &kind_spark};

const size_t file_kind_count = COUNT_OF(file_kinds);
#else /* see kind.h */
const struct kind *const kinds[] = {&kind_bloom, &kind_blocked, &kind_cuckoo, &kind_fuse, &kind_ribbon};

static const struct kind *const composites[] = {&kind_growing};

static const struct kind *const foreign[] = {NULL};

const struct kind *const file_kinds[] = {NULL};

const size_t file_kind_count = 0;
#endif

const size_t kind_count = COUNT_OF(kinds);

static const struct kind *find_in(const struct kind *const *table, size_t rows, int id) {
    for (size_t i = 0; i < rows; i++) {
        if (table[i] && table[i]->row.kind == id) return table[i];
    }
    return NULL;
}

const struct kind *kind_find_file(int id) {
    return find_in(file_kinds, file_kind_count, id);
}

const struct kind *kind_find(int id) {
    const struct kind *kind = find_in(kinds, kind_count, id);
    if (!kind) kind = find_in(composites, COUNT_OF(composites), id);
    if (!kind) kind = kind_find_file(id);
    return kind ? kind : find_in(foreign, COUNT_OF(foreign), id);
}

const struct kind *kind_of_keys(const struct kind *kind, const uint64_t layout[LAYOUT_WORDS]) {
    return kind->composite ? kind_find((int)layout[BASE]) : kind;
}

bool kind_takes_hash(const struct kind *kind, int hash) {
    if (kind->hashing.own) return hash == kind->hashing.hash;
    return hash == PERHAPS_XXH3 || hash == PERHAPS_SIPHASH;
}

static bool merge_bits(struct array *into, const struct array *from) {
    bits_or(into->bytes, from->bytes, into->length);
    return true;
}

static bool intersect_bits(struct array *into, const struct array *from) {
    bits_and(into->bytes, from->bytes, into->length);
    return true;
}

const struct combinable combinable_bits = {.combine = {merge_bits, intersect_bits}};
const struct combinable combinable_bits_merge = {.combine = {merge_bits}};
