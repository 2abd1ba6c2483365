#include "cluster.h"
#include "output/report.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --------------------------------------------------------------------------------------------------- nodes --- */

static struct node *node_new(const char *host, size_t length, int port) {
    struct node *node = calloc(1, sizeof *node);
    if (!node) return NULL;
    snprintf(node->host, sizeof node->host, "%.*s", (int)length, host);
    node->port = port;
    snprintf(node->shown, sizeof node->shown, "%s:%d", node->host, port);
    return node;
}

int cluster_node(struct cluster *c, const char *host, size_t length, int port) {
    for (size_t i = 0; i < c->node_count; i++) {
        const struct node *node = c->nodes[i];
        if (node->port == port && strlen(node->host) == length && memcmp(node->host, host, length) == 0) return (int)i;
    }
    struct node *made = c->node_count < MOST_NODES ? node_new(host, length, port) : NULL;
    if (!made) return -1;
    c->nodes[c->node_count] = made;
    return (int)c->node_count++;
}

/* ---------------------------------------------------------------------------------------------------- slots --- */

/* One row of CLUSTER SLOTS: first, last, [host, port, ...] of the primary, then its replicas. A server that does not
 * know its own name leaves it out: it is the one that was asked. */
static void take_row(struct cluster *c, const redisReply *row, const char *asked) {
    if (row->type != REDIS_REPLY_ARRAY || row->elements < 3) return;
    const redisReply *primary = row->element[2];
    long long first = row->element[0]->integer, last = row->element[1]->integer;
    if (primary->type != REDIS_REPLY_ARRAY || primary->elements < 2 || first < 0 || last >= SLOTS) return;
    const char *host = primary->element[0]->str ? primary->element[0]->str : "";
    if (!*host) host = asked;
    int node = cluster_node(c, host, strlen(host), (int)primary->element[1]->integer);
    bool taken_over = false;
    for (long long slot = first; node >= 0 && slot <= last; slot++) {
        taken_over |= c->home[slot] != node && c->nodes[c->home[slot]]->lost;
        c->home[slot] = (uint16_t)node;
    }
    c->restarts += taken_over;
}

/* An error says that the server is alone. */
static bool read_slots(struct cluster *c, redisContext *link, const char *asked) {
    redisReply *reply = redisCommand(link, "CLUSTER SLOTS");
    bool table = reply && reply->type == REDIS_REPLY_ARRAY;
    for (size_t i = 0; table && i < reply->elements; i++) take_row(c, reply->element[i], asked);
    if (reply) freeReplyObject(reply);
    if (table) c->stale = false;
    return table;
}

bool cluster_refresh(struct cluster *c) {
    char why[WHY_TEXT];
    for (size_t i = 0; i < c->node_count; i++) {
        redisContext *link;
        if (link_open(&link, c->nodes[i], c->url, why) != CONNECTED) continue;
        bool done = read_slots(c, link, c->nodes[i]->host);
        redisFree(link);
        if (done) return true;
    }
    return false;
}

/* -------------------------------------------------------------------------------------------------- opening --- */

/* A wrong address is told at once; only a server that reads its data yet is waited for. */
static int connect_first(struct cluster *c, redisContext **link) {
    char why[WHY_TEXT];
    double until = clock_now() + c->patience;
    const struct node *node = c->nodes[0];
    for (;;) {
        enum connecting result = link_open(link, node, c->url, why);
        if (result == CONNECTED) return FINE;
        if (result == REFUSED)
            return failure(c->url->shown, "%s refuses the login: %s; give another user and password, or none",
                           node->shown, why);
        bool loading = strncmp(why, "LOADING", 7) == 0;
        if (!loading || clock_now() > until)
            return failure(c->url->shown, "no connection to %s: %s; %s", node->shown, why,
                           loading ? "try again later, or give more --patience"
                                   : "check host and port, and whether a server is running there");
        nanosleep(&(struct timespec){.tv_nsec = 200 * 1000 * 1000}, NULL);
    }
}

int cluster_open(struct cluster *c, const struct url *url, uint64_t patience) {
    redisContext *link;
    *c = (struct cluster){.url = url, .patience = (double)patience};
    signal(SIGPIPE, SIG_IGN); /* a connection that broke is an error of write() */
    if (cluster_node(c, url->host, strlen(url->host), url->port) < 0) return failure(NULL, "not enough memory");
    if (connect_first(c, &link) != FINE) return TROUBLE;
    c->clustered = read_slots(c, link, url->host);
    redisFree(link);
    return FINE;
}

void cluster_close(struct cluster *c) {
    for (size_t i = 0; i < c->node_count; i++) {
        redisFree(c->nodes[i]->link);
        free(c->nodes[i]);
    }
    c->node_count = 0;
}
