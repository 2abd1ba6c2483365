/* Composite filters as layouts: growing, window and sharded over every kind that they take. The
 * table below chooses among the kinds it names; every other kind is tested in all three. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHARDS = 5, GENERATIONS = 4, PERIOD = 3000 };

#define GROWING .grow = PERHAPS_GROW_LAYERS
#define WINDOW  .generations = GENERATIONS
#define SHARDED .shards = SHARDS

enum { MOST_COMBINATIONS = 32 };
static struct {
    char name[40];
    perhaps_want want;
    bool everywhere; /* also where time is short */
} combinations[MOST_COMBINATIONS] = {
    {"growing-bloom", {.kind = PERHAPS_BLOOM, GROWING}, false},
    {"growing-blocked", {.kind = PERHAPS_BLOCKED, GROWING}, true},
    {"growing-counting", {.kind = PERHAPS_COUNTING, GROWING}, false},
    {"growing-cuckoo", {.kind = PERHAPS_CUCKOO, GROWING}, true},
    {"window-bloom", {.kind = PERHAPS_BLOOM, WINDOW}, false},
    {"window-blocked", {.kind = PERHAPS_BLOCKED, WINDOW}, false},
    {"window-table", {.kind = PERHAPS_TABLE, WINDOW}, true},
    {"window-blocked-period", {.kind = PERHAPS_BLOCKED, WINDOW, .period = PERIOD}, true},
    {"window-bloom-clear-at", {.kind = PERHAPS_BLOOM, .clear_at = 0.8}, false},
    {"sharded-bloom", {.kind = PERHAPS_BLOOM, SHARDED}, false},
    {"sharded-blocked", {.kind = PERHAPS_BLOCKED, SHARDED}, false},
    {"sharded-counting", {.kind = PERHAPS_COUNTING, SHARDED}, true},
    {"sharded-cuckoo", {.kind = PERHAPS_CUCKOO, SHARDED}, false},
    {"sharded-table", {.kind = PERHAPS_TABLE, SHARDED}, false},
    {"sharded-growing-blocked", {.kind = PERHAPS_BLOCKED, SHARDED, GROWING}, false},
    {"sharded-growing-cuckoo", {.kind = PERHAPS_CUCKOO, SHARDED, GROWING}, true},
};

static bool is_named(int kind) {
    for (size_t i = 0; combinations[i].want.kind; i++)
        if (combinations[i].want.kind == kind) return true;
    return false;
}

/* Appends the composites over a kind that are not refused. */
static size_t append_kind(size_t n, const struct perhaps_kind_row *row) {
    perhaps_want wants[] = {{GROWING}, {WINDOW}, {SHARDED}};
    static const char *const names[] = {"growing", "window", "sharded"};
    for (size_t i = 0; i < 3; i++) {
        perhaps_want want = wants[i];
        want.size = sizeof want, want.kind = row->kind, want.items = 1000, want.fpr = 0.01;
        perhaps *f;
        if (perhaps_create(&f, &want) < 0) continue;
        bool composite = info_of(f).base;
        perhaps_free(f);
        if (!composite) continue;
        CHECK(n + 1 < MOST_COMBINATIONS, "too many combinations");
        wants[i].kind = row->kind;
        combinations[n].want = wants[i];
        snprintf(combinations[n++].name, sizeof combinations->name, "%s-%s", names[i], row->name);
    }
    return n;
}

static size_t count_combinations(void) {
    static size_t count;
    if (count) return count;
    const struct perhaps_kind_row *added[MOST_COMBINATIONS];
    size_t kinds = 0, n = 0;
    for (size_t r = 0; perhaps_kind(r); r++)
        if (!is_named(perhaps_kind(r)->kind)) added[kinds++] = perhaps_kind(r);
    while (combinations[n].want.kind) n++;
    for (size_t i = 0; i < kinds; i++) n = append_kind(n, added[i]);
    return count = n;
}

static bool is_window(const perhaps_want *want) {
    return want->generations || want->period || want->clear_at > 0;
}

/* Layers begin with a tenth of the keys, so that there are several of them. */
static uint64_t first_guess(const perhaps_want *want, uint64_t items) {
    return want->grow == PERHAPS_GROW_LAYERS ? items / 10 + 1 : items;
}

perhaps_want want_for(const struct layout *layout, uint64_t items) {
    perhaps_want want = layout->want;
    want.items = first_guess(&want, items);
    return want;
}

static perhaps_want want_of(size_t i, uint64_t items) {
    perhaps_want want = combinations[i].want;
    want.size = sizeof want;
    want.items = first_guess(&want, items);
    want.fpr = 0.01;
    return want;
}

/* What a composite filter can is not in the table of kinds, but in perhaps_info. */
static const struct perhaps_kind_row *row_of(size_t i) {
    static struct perhaps_kind_row rows[MOST_COMBINATIONS];
    if (rows[i].kind) return &rows[i];
    perhaps_want want = want_of(i, 10000);
    perhaps *f = make(&want);
    struct perhaps_info info = info_of(f);
    rows[i] = (struct perhaps_kind_row){info.kind, info.can, info.kind_name, combinations[i].name};
    perhaps_free(f);
    return &rows[i];
}

static const struct perhaps_kind_row *base_of(const perhaps_want *want) {
    const struct perhaps_kind_row *row;
    size_t r = 0;
    while ((row = perhaps_kind(r)) && row->kind != want->kind) r++;
    CHECK(row, "kind %d is not in the table", want->kind);
    return row;
}

/* Children that have an order make the order of adding matter, even if their kind does not. */
static bool is_in_order(const perhaps_want *want) {
    return is_window(want) || want->grow == PERHAPS_GROW_LAYERS || !(base_of(want)->can & PERHAPS_IN_PLACE);
}

static bool plans_without_rate(perhaps_want want) {
    struct perhaps_plan plan = {.size = sizeof plan};
    want.fpr = 0;
    return perhaps_plan(&want, &plan) == PERHAPS_OK;
}

static uint64_t remembers(const perhaps_want *want) {
    if (!is_window(want) || want->period) return UINT64_MAX;
    /* When it clears itself, only the key that comes then stays. */
    return want->clear_at > 0 ? 1 : want->items;
}

static void fill_in(struct layout *layout, size_t i, uint64_t items) {
    perhaps_want want = want_of(i, items);
    *layout = (struct layout){.row = row_of(i), .want = want, .items = items, .hashed = true};
    layout->plan.size = sizeof layout->plan;
    MUST(perhaps_plan(&want, &layout->plan));
    layout->remembers = remembers(&want);
    layout->exact = plans_without_rate(want);
    layout->in_order = is_in_order(&want);
    snprintf(layout->name, sizeof layout->name, "%.39s", combinations[i].name);
}

/* Promises with the same number of keys follow each other, and planning takes its time. */
size_t find_composites(struct layout *layouts, uint64_t items, bool all) {
    static struct layout known[MOST_COMBINATIONS];
    size_t n = 0;
    for (size_t i = 0; i < count_combinations(); i++) {
        if (!all && time_is_short() && !combinations[i].everywhere) continue;
        if (known[i].items != items) fill_in(&known[i], i, items);
        layouts[n++] = known[i];
    }
    return n;
}

bool is_composite(const struct layout *layout) {
    for (size_t r = 0; perhaps_kind(r); r++)
        if (perhaps_kind(r) == layout->row) return false;
    return true;
}

bool is_layered(const struct layout *layout) {
    return layout->want.grow == PERHAPS_GROW_LAYERS;
}

bool forgets(const struct layout *layout) {
    return layout->remembers != UINT64_MAX;
}

uint64_t remembered(const struct layout *layout, uint64_t added) {
    return added < layout->remembers ? added : layout->remembers;
}

perhaps *make_limited(const struct layout *layout) {
    perhaps_want want = layout->want;
    if (is_layered(layout))
        want.max_bytes = 16 * layout->plan.bytes;
    else
        want.grow = PERHAPS_GROW_NEVER;
    return make(&want);
}
