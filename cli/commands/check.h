/* Checking keys, whatever they are looked for in. */
#ifndef CLI_COMMANDS_CHECK_H
#define CLI_COMMANDS_CHECK_H

#include "input/input.h"

/* What is asked: a set, and the function that asks it for a batch of keys, from several threads at the same time. It sets
 * answers[i] to 1 or 0 and *present to how many are there, and returns FINE or TROUBLE. */
struct asked {
    const void *set;
    int (*ask)(const void *set, const struct batch *batch, uint8_t *answers, uint64_t *present);
};

/* 'perhaps check' for all keys of the input. Returns the exit status. With --confirm the set must be a filter. */
int check_keys(const struct options *options, struct input *input, struct asked asked);

#endif
