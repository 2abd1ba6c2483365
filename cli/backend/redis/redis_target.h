/* A set on servers, as the target of a command. */
#ifndef CLI_BACKEND_REDIS_REDIS_TARGET_H
#define CLI_BACKEND_REDIS_REDIS_TARGET_H

#include "item_batch.h"
#include "set_facts.h"

struct redis_target {
    struct target target;
    struct set set;
    struct set_facts facts;
    bool gathered;    /* the facts are */
    enum verb verb;   /* what was done to its items */
    uint64_t doubled; /* keys that may be in a cuckoo filter twice, since a connection broke */
    uint64_t doubted; /* lines that were taken for new, since a connection broke */
};

static inline struct redis_target *redis_target_of(struct target *target) {
    return (struct redis_target *)(void *)target;
}

/* Gathers the facts, unless that is done. */
int redis_gather(struct target *target);

int redis_print_info(struct target *target, bool as_json);

#endif
