#include "cells.h"
#include "support.h"

#include <stdio.h>

static const unsigned shard_counts[] = {1, 2, 3, 16, 64, 256};
enum { SHARD_COUNTS = sizeof shard_counts / sizeof *shard_counts, PERIOD = 3000 };

static const struct {
    const char *name;
    perhaps_want want;
} composites[] = {
    {"plain", {.size = 0}},
    {"growing", {.grow = PERHAPS_GROW_LAYERS}},
    {"growing slowly", {.grow = PERHAPS_GROW_LAYERS, .growth = 1.5}},
    {"window", {.generations = 4}},
    {"window of a period", {.generations = 4, .period = PERIOD}},
    {"window with a mark", {.clear_at = 0.8}},
};
enum { COMPOSITES = sizeof composites / sizeof *composites };

/* Exact kinds need no rate, and some foreign ones refuse it. */
static bool plans(perhaps_want *want) {
    struct perhaps_plan plan = {.size = sizeof plan};
    want->fpr = 0.01;
    if (perhaps_plan(want, &plan) == PERHAPS_OK) return true;
    want->fpr = 0;
    return perhaps_plan(want, &plan) == PERHAPS_OK;
}

static bool is_window(const perhaps_want *want) {
    return want->generations || want->period || want->clear_at > 0;
}

/* False if there is no such filter; then it cannot be made either. */
static bool find_cell(struct cell *cell, const char *kind_name, perhaps_want want) {
    perhaps *f = NULL;
    want.size = sizeof want;
    want.items = 1000;
    if (!plans(&want)) {
        want.fpr = 0.01;
        CHECK(perhaps_create(&f, &want) < 0, "%s: what cannot be planned is made", kind_name);
        return false;
    }
    f = make(&want);
    struct perhaps_info info = info_of(f);
    *cell = (struct cell){.want = want,
                          .multiset = info.can & PERHAPS_COUNT,
                          .hashed = info.hash != PERHAPS_IDENTITY,
                          .is_static = info.collecting,
                          .forgets = is_window(&want),
                          .two_words = perhaps_contains_digest(f, 1) == PERHAPS_ECANNOT,
                          .grows_in_layers = info.grow == PERHAPS_GROW_LAYERS};
    perhaps_free(f);
    want.fpr = 0;
    struct perhaps_plan plan = {.size = sizeof plan};
    /* All those that need no rate. */
    cell->exact = !cell->multiset && perhaps_plan(&want, &plan) == PERHAPS_OK;
    return true;
}

static void try_cell(const char *kind, const char *composite, perhaps_want want, use_of_cell *use) {
    struct cell cell;
    for (int shared = 0; shared < 2; shared++) {
        want.shared = shared;
        name_subject("%s, %s", kind, composite);
        if (!find_cell(&cell, kind, want)) continue;
        char shards[24] = "";
        if (want.shards) snprintf(shards, sizeof shards, ", %u shards", want.shards);
        snprintf(cell.name, sizeof cell.name, "%s, %s%s%s", kind, composite, shards, shared ? ", shared" : "");
        use(&cell);
    }
}

static void each_composite(const char *kind, int number, use_of_cell *use) {
    for (size_t i = 0; i < COMPOSITES; i++) {
        perhaps_want want = composites[i].want;
        want.kind = number;
        try_cell(kind, composites[i].name, want, use);
        for (size_t j = 0; j < SHARD_COUNTS && (want.growth == 0 || test_everything()); j++) {
            want.shards = shard_counts[j];
            if (time_is_short() && want.shards != 3 && want.shards != 64) continue;
            try_cell(kind, composites[i].name, want, use);
        }
    }
}

void each_cell(use_of_cell *use) {
    for (size_t r = 0; perhaps_kind(r); r++) each_composite(perhaps_kind(r)->name, perhaps_kind(r)->kind, use);
    for (size_t r = 0; perhaps_file_kind(r); r++)
        each_composite(perhaps_file_kind(r)->name, perhaps_file_kind(r)->kind, use);
    each_composite("redis_bloom", PERHAPS_REDIS_BLOOM, use);
    each_composite("redis_cuckoo", PERHAPS_REDIS_CUCKOO, use);
}

perhaps *make_for(const struct cell *cell, size_t n) {
    perhaps_want want = cell->want;
    /* A bitmap has non-members in its range too. */
    want.items = cell->grows_in_layers ? n / 10 + 1 : 4 * n + 100;
    return make(&want);
}
