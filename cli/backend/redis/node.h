/* One server: its address, the connection to it, and what is on its way. */
#ifndef CLI_BACKEND_REDIS_NODE_H
#define CLI_BACKEND_REDIS_NODE_H

#include "request.h"
#include "url.h"

#include <hiredis/hiredis.h>

enum { HOST_TEXT = 256, RUN_ID_TEXT = 48, WHY_TEXT = 400 };

struct node {
    char host[HOST_TEXT];
    int port;
    char shown[HOST_TEXT + 12];   /* host:port */
    bool lost;                    /* the connection broke, or none was to be had */
    bool met;                     /* was connected before */
    char run_id[RUN_ID_TEXT];     /* of the process that answered last; "" = unknown */
    redisContext *link;           /* NULL = not connected */
    struct queue waiting, flying; /* to be sent; sent and not answered yet */
    size_t in_flight;             /* bytes of the latter */
    bool unsent;                  /* some of them are not written yet */
    double heard;                 /* when it last gave a sign of life, or was sent something after a silence */
};

/* AWAY = no connection, which may pass: `why` tells. REFUSED = connected, but it will have nothing to do with us. */
enum connecting { CONNECTED, AWAY, REFUSED };

/* A blocking connection, logged in. */
enum connecting link_open(redisContext **link, const struct node *node, const struct url *url, char why[WHY_TEXT]);

/* Connects a node for sending and receiving without blocking. *restarted = another process answers than last time, or may. */
enum connecting node_connect(struct node *node, const struct url *url, bool *restarted, char why[WHY_TEXT]);
void node_disconnect(struct node *node);

/* Passes waiting commands on, a few in flight at a time. */
void node_feed(struct node *node, const struct text *text, double now);

/* Has it anything to send or to receive? */
static inline bool node_busy(const struct node *node) {
    return node->waiting.first || node->flying.first;
}

#endif
