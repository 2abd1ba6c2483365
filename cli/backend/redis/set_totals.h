/* What all shards of a set together hold, and where. */
#ifndef CLI_BACKEND_REDIS_SET_TOTALS_H
#define CLI_BACKEND_REDIS_SET_TOTALS_H

#include "server_set.h"

struct set_totals {
    uint64_t items, capacity, bytes;
    uint64_t least_items, most_items; /* of a shard */
    uint64_t most_bytes;              /* of a shard */
    double fpr_now, fpr_target;       /* the mean of the shards', which are queried equally often */
    double fill;                      /* likewise; NAN if the server does not tell */
    struct share {
        unsigned shards;
        uint64_t bytes;
    } * shares; /* of each server, in the order of the cluster's */
};

/* Its `shares` are for free(). */
int set_totals_gather(struct set_totals *totals, struct set *set);

#endif
