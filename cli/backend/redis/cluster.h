/* The servers that hold a set: one alone, or those of a cluster, with the table of who has which
 * slots. */
#ifndef CLI_BACKEND_REDIS_CLUSTER_H
#define CLI_BACKEND_REDIS_CLUSTER_H

#include "request.h"
#include "url.h"

#include <hiredis/hiredis.h>

enum { MOST_NODES = 4096, HOST_TEXT = 256, NODE_TEXT = HOST_TEXT + 12, RUN_ID_TEXT = 48, WHY_TEXT = 400 };

/* One server. */
struct node {
    char host[HOST_TEXT];
    int port;
    char shown[NODE_TEXT];           /* host:port */
    bool unreachable;                /* the connection broke, or there was none */
    bool was_connected;              /* once or more */
    char run_id[RUN_ID_TEXT];        /* of the process that answered last; "" = unknown */
    redisContext *link;              /* NULL = not connected */
    struct queue waiting, in_flight; /* to be sent; sent, without a reply */
    size_t in_flight_bytes;
    bool unsent;         /* hiredis has not written all of them yet */
    double last_contact; /* when it last sent something, or was sent something while it was idle */
};

struct cluster {
    const struct url *url;
    double patience;   /* seconds to wait for servers that are away or busy */
    bool clustered;    /* else all is at the first node */
    bool stale;        /* a server named another than the table does */
    bool careful;      /* if a server was restarted, a run ends with STOP */
    unsigned restarts; /* servers that were restarted or replaced, perhaps with loss of data */
    size_t node_count;
    struct node *nodes[MOST_NODES]; /* the first is the one that the URL names */
    uint16_t home[SLOTS];           /* the node of each slot */
};

/* Connects to the server of the URL and reads the table of slots. FINE, or TROUBLE after having
 * said why not. */
int cluster_open(struct cluster *cluster, const struct url *url, uint64_t patience);
void cluster_close(struct cluster *cluster);

/* The number of the node at this address, which is added if it is new; -1 if there is no room
 * for it. */
int cluster_node(struct cluster *cluster, const char *host, size_t host_length, int port);

/* Reads the table of slots again, from the first node that has one. */
void cluster_refresh(struct cluster *cluster);

/* AWAY = no connection; LOADING = it still reads its data; REFUSED = it does not accept the
 * login. `why` tells more. */
enum connecting { CONNECTED, AWAY, LOADING, REFUSED };

/* Connects a node for sending and receiving without blocking. If another process answers than
 * last time, or may, that is one of the `restarts`. */
enum connecting node_connect(struct cluster *cluster, struct node *node, char why[WHY_TEXT]);
void node_disconnect(struct node *node);

#endif
