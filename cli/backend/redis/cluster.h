/* The servers that hold a set: one alone, or those of a cluster, with the table of who has which slots. */
#ifndef CLI_BACKEND_REDIS_CLUSTER_H
#define CLI_BACKEND_REDIS_CLUSTER_H

#include "node.h"
#include "slot.h"

enum { MOST_NODES = 4096 };

struct cluster {
    const struct url *url;
    double patience;   /* seconds to wait for servers that are away or busy */
    bool clustered;    /* else all is at the first node */
    bool stale;        /* a server named another than the table does */
    bool careful;      /* a server that came back is not to be sent what was meant for the one before */
    unsigned restarts; /* how often a server came back, or another took its place, perhaps without all that it held */
    size_t node_count;
    struct node *nodes[MOST_NODES]; /* the first is the one that the URL names */
    uint16_t home[SLOTS];           /* the node of each slot */
};

/* Connects to what the URL names. FINE, or TROUBLE after having said why not. */
int cluster_open(struct cluster *cluster, const struct url *url, uint64_t patience);
void cluster_close(struct cluster *cluster);

/* The number of the node at this address, which is new if it is not known yet; -1 if there is no room for it. */
int cluster_node(struct cluster *cluster, const char *host, size_t host_length, int port);

/* Reads the table of slots again, from the first node that has one. False if none has. */
bool cluster_refresh(struct cluster *cluster);

/* For each reply: FINE, or TROUBLE having said why. An error that will not pass is a reply, too. */
typedef int reply_function(void *context, const struct request *request, const redisReply *reply);

/* Sends all requests, follows redirections, waits for servers that are busy, connects again to those that went away, and
 * hands each reply to `function`, in no order. FINE; TROUBLE after having said what is wrong; or, if the cluster is
 * `careful`, STOP when a server came back anew: some of it is done then, and some is not. */
int cluster_run(struct cluster *cluster, struct requests *requests, reply_function *function, void *context);

/* Requests on their way. */
struct dispatch {
    struct cluster *cluster;
    struct requests *requests;
    reply_function *function;
    void *context;
    int status;
    size_t left;           /* requests without a reply */
    struct queue homeless; /* to be sent again, after a pause */
    size_t gathered;       /* bytes of requests since something was sent */
    int pause;             /* how long, in milliseconds */
    double progressed;     /* when the last reply came */
    char why[WHY_TEXT + HOST_TEXT + 16];
    struct pollfd *polls; /* one for each node */
    size_t poll_count;
};

/* The same as cluster_run, for those who are still making requests while servers work on the first. They must stay where
 * they are: see requests_reserve. */
void dispatch_begin(struct dispatch *run, struct cluster *cluster, struct requests *requests, reply_function *function,
                    void *context);
void dispatch_push(struct dispatch *run, struct request *request);
int dispatch_end(struct dispatch *run);

#endif
