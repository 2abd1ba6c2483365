/* `perhaps bench --static`: filters of complete sets, from the first key to the last query. */
#include "static.h"

#include <math.h>
#include <string.h>

const uint64_t usual_keys = 10000000;

/* A fuse filter has whole bits in a fingerprint, so at 1 % it has a rate of 1 in 128. */
static const struct shape shapes[] = {
    {PERHAPS_FUSE, 3, "fuse, 3 places, 8 bits", 1. / 256, 1. / 256, 1.14, 3, 1.4},
    {PERHAPS_FUSE, 4, "fuse, 4 places, 8 bits", 1. / 256, 1. / 256, 1.09, 4, 0},
    {PERHAPS_FUSE, 3, "fuse, 3 places, 1 %", 0.01, 1. / 128, 1.14, 3, 1.4},
    {PERHAPS_RIBBON, 0, "ribbon, 1 %", 0.01, 0.01, 1.025, 2, 1.8},
    {PERHAPS_RIBBON, 0, "ribbon, 0.1 %", 0.001, 0.001, 1.012, 2, 0},
    {PERHAPS_RIBBON, 0, "ribbon, 1 in 2^16", 0x1p-16, 0x1p-16, 1.012, 2, 0},
};

const struct shape *const plain_shape = &shapes[0];

const struct shape *static_shape(size_t number) {
    return number < sizeof shapes / sizeof *shapes ? &shapes[number] : NULL;
}

const char *static_kind_name(const struct shape *shape) {
    const struct perhaps_kind_row *row;
    for (size_t i = 0; (row = perhaps_kind(i)); i++)
        if (row->kind == shape->kind) return row->name;
    return NULL;
}

int static_is_taken(const struct statics *statics, const struct shape *shape) {
    const char *name = static_kind_name(shape);
    return name && (!statics->kind || strcmp(name, statics->kind) == 0);
}

perhaps_want static_want(const struct shape *shape, uint64_t keys) {
    return PERHAPS_WANT(.kind = shape->kind, .hashes = shape->places, .items = keys, .fpr = shape->fpr);
}

struct cell *static_cell(struct statics *statics, const struct shape *shape, const struct perhaps_info *info) {
    struct figures *figures = statics->all.figures;
    struct cell *cell = &figures->cells[figures->cell_count];
    if (figures->cell_count + 1 < MOST_CELLS) figures->cell_count++;
    *cell = (struct cell){.kind = info->kind_name, .shape = shape->name, .items = info->items, .bytes = info->bytes};
    cell->bits_per_key = 8 * (double)info->bytes / (double)info->items;
    return cell;
}

void static_open(struct statics *statics, struct run *run, struct cell *cell, const struct shape *shape,
                 uint64_t keys) {
    *cell = (struct cell){.kind = shape->name, .bytes = (uint64_t)(-log2(shape->rate) / 8 * (double)keys)};
    *run = (struct run){.cell = cell, .pass = statics->all.pass, .space = key_space_all(keys)};
    run->pass_keys =
        /* Small runs, which are for trying it out, query less. */
        keys < PASS_KEYS ? PASS_KEYS / 16 : PASS_KEYS;
}

int static_run(struct figures *figures, struct pass *pass, uint64_t keys, const char *kind) {
    struct statics statics = {{figures, pass, keys}, kind};
    int error = static_build(&statics);
    return error ? error : static_query(&statics);
}
