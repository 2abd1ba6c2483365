/* Requests to servers and their replies. */
#ifndef CLI_BACKEND_REDIS_DISPATCH_H
#define CLI_BACKEND_REDIS_DISPATCH_H

#include "cluster.h"

/* For each reply: FINE, or TROUBLE having said why. An error that will not pass is a reply, too. */
typedef int reply_function(void *context, const struct request *request, const redisReply *reply);

/* Sends all requests, follows redirections, waits for servers that are busy, connects again to
 * those that went away, and hands each reply to `function`, in no order. FINE; TROUBLE after
 * having said what is wrong; or, if the cluster is `careful`, STOP when a server was restarted:
 * some requests are done then, and some are not. */
int cluster_run(struct cluster *cluster, struct requests *requests, reply_function *function, void *context);

/* One run of requests. */
struct dispatch {
    struct cluster *cluster;
    struct requests *requests;
    reply_function *function;
    void *context;
    int status;
    size_t left;                        /* requests without a reply */
    struct queue retry;                 /* to be sent again, after a pause */
    size_t gathered;                    /* bytes of requests since something was sent */
    int pause;                          /* how long, in milliseconds */
    double progressed;                  /* when the last reply came */
    char why[NODE_TEXT + 2 + WHY_TEXT]; /* the last obstacle, for messages */
};

/* The same as cluster_run, for callers that still make requests while servers work on the first.
 * Requests must stay where they are: see requests_reserve. */
void dispatch_begin(struct dispatch *run, struct cluster *cluster, struct requests *requests, reply_function *function,
                    void *context);
void dispatch_push(struct dispatch *run, struct request *request);
int dispatch_end(struct dispatch *run);

#endif
