/*
 * What INFO shows of all filters together.
 *
 * Totals follow each change, so that INFO reads no key. They are atomic, because values may end in
 * a background thread. The rest is for the main thread.
 *
 *     what            where it is counted
 *     bytes           new_value, value_free (value.c), and the allocators of server_memory.h
 *     items, layers   value_of_filter, value_free; in between as commands change them:
 *                     count_change, and value_recount for windows
 */
#ifndef PERHAPS_SERVER_COUNTS_H
#define PERHAPS_SERVER_COUNTS_H

#include "modapi.h"

/* What a value adds to the totals. */
struct totals {
    int64_t items, layers;
};

void count_change(struct totals by);
void count_memory(int64_t by);

/* Answers to queries, by family (enum command_family): negative ones, positive ones. */
extern uint64_t answers_given[3][2];

static inline void count_answers(int family, uint64_t queries, uint64_t positive) {
    answers_given[family][1] += positive;
    answers_given[family][0] += queries - positive;
}

/* A layer was appended. An item or a filter found no room: the filter is full, or a limit is
 * reached. */
void count_growth(void);
void count_refusal(void);

/* The fullest filter that cannot grow, of those to which something was added. `value` is what
 * forget_fullest gets when it ends. */
void note_fullness(const void *value, const char *name, size_t length, double full);
void forget_fullest(const void *value);

/* The fields of all that. */
void counts_info(RedisModuleInfoCtx *ctx);

#endif
