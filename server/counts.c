#include "counts.h"

#include "server_commands.h"

#include <string.h>

static int64_t total_bytes, total_items, total_layers;
static uint64_t growths, refusals;
uint64_t answers_given[3][2];

enum { NAME_MOST = 127 };
static const void *fullest;
static double fullness;
static char fullest_name[NAME_MOST + 1];

static void add(int64_t *total, int64_t by) {
    __atomic_fetch_add(total, by, __ATOMIC_RELAXED);
}

static uint64_t read_total(const int64_t *total) {
    return (uint64_t)__atomic_load_n(total, __ATOMIC_RELAXED);
}

void count_change(struct totals by) {
    if (by.items) add(&total_items, by.items);
    if (by.layers) add(&total_layers, by.layers);
}

void count_memory(int64_t by) {
    add(&total_bytes, by);
}

void count_growth(void) {
    growths++;
}

void count_refusal(void) {
    refusals++;
}

/* ---- the fullest ---- */

static const void *fullest_now(void) {
    return __atomic_load_n(&fullest, __ATOMIC_ACQUIRE);
}

void note_fullness(const void *value, const char *name, size_t length, double full) {
    const void *before = fullest_now();
    if (before && before != value && full <= fullness) return;
    if (before != value) {
        size_t some = length < NAME_MOST ? length : NAME_MOST;
        memcpy(fullest_name, name, some);
        fullest_name[some] = 0;
    }
    fullness = full;
    __atomic_store_n(&fullest, value, __ATOMIC_RELEASE);
}

void forget_fullest(const void *value) {
    const void *expected = value;
    __atomic_compare_exchange_n(&fullest, &expected, NULL, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* ---- INFO ---- */

void counts_info(RedisModuleInfoCtx *ctx) {
    bool known = fullest_now();
    const struct {
        const char *name;
        uint64_t number;
    } rows[] = {{"bytes", read_total(&total_bytes)},
                {"items", read_total(&total_items)},
                {"layers", read_total(&total_layers)},
                {"growths", growths},
                {"refusals", refusals},
                {"bf_answers_positive", answers_given[FAMILY_BLOOM][1]},
                {"bf_answers_negative", answers_given[FAMILY_BLOOM][0]},
                {"cf_answers_positive", answers_given[FAMILY_CUCKOO][1]},
                {"cf_answers_negative", answers_given[FAMILY_CUCKOO][0]}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        RedisModule_InfoAddFieldULongLong(ctx, rows[i].name, rows[i].number);
    RedisModule_InfoAddFieldCString(ctx, "fullest_filter", known ? fullest_name : "");
    RedisModule_InfoAddFieldULongLong(ctx, "fullest_filter_percent", known ? (uint64_t)(fullness * 100) : 0);
}
