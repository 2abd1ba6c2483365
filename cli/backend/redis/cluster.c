#include "cluster.h"
#include "output/report.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* ---- servers ---- */

static const struct timeval connect_time = {5, 0}, login_time = {10, 0};

/* A blocking connection, logged in. */
static enum connecting link_open(redisContext **link, const struct node *node, const struct url *url,
                                 char why[WHY_TEXT]) {
    redisContext *made = redisConnectWithTimeout(node->host, node->port, connect_time);
    redisReply *reply = NULL;
    if (made && !made->err) {
        redisSetTimeout(made, login_time);
        redisEnableKeepAlive(made);
        /* Servers that want a login refuse PING without one. */
        reply = !*url->password ? redisCommand(made, "PING")
                : *url->user    ? redisCommand(made, "AUTH %s %s", url->user, url->password)
                                : redisCommand(made, "AUTH %s", url->password);
    }
    enum connecting result = CONNECTED;
    if (!reply || reply->type == REDIS_REPLY_ERROR) {
        snprintf(why, WHY_TEXT, "%s", reply ? reply->str : made ? made->errstr : "not enough memory");
        result = !reply ? AWAY : strncmp(why, "LOADING", 7) == 0 ? LOADING : REFUSED;
    }
    if (reply) freeReplyObject(reply);
    if (result == CONNECTED)
        *link = made;
    else
        redisFree(made);
    return result;
}

enum connecting node_connect(struct cluster *c, struct node *node, char why[WHY_TEXT]) {
    enum connecting result = link_open(&node->link, node, c->url, why);
    if (result != CONNECTED) return result;
    char run_id[RUN_ID_TEXT] = ""; /* as it stays where this user may not read it */
    redisReply *reply = redisCommand(node->link, "INFO server");
    const char *line = reply && reply->type == REDIS_REPLY_STRING ? strstr(reply->str, "run_id:") : NULL;
    if (line) snprintf(run_id, sizeof run_id, "%.*s", (int)strcspn(line, "\r\n"), line);
    if (reply) freeReplyObject(reply);
    c->restarts += node->was_connected && (!*run_id || strcmp(run_id, node->run_id) != 0);
    node->was_connected = true;
    node->unreachable = false;
    memcpy(node->run_id, run_id, sizeof run_id);
    node->link->flags &= ~REDIS_BLOCK;
    fcntl(node->link->fd, F_SETFL, fcntl(node->link->fd, F_GETFL) | O_NONBLOCK);
    return CONNECTED;
}

void node_disconnect(struct node *node) {
    redisFree(node->link);
    node->link = NULL;
    node->in_flight_bytes = 0;
    node->unsent = false;
}

int cluster_node(struct cluster *c, const char *host, size_t length, int port) {
    for (size_t i = 0; i < c->node_count; i++) {
        const struct node *node = c->nodes[i];
        if (node->port == port && strlen(node->host) == length && memcmp(node->host, host, length) == 0) return (int)i;
    }
    struct node *made = c->node_count < MOST_NODES ? calloc(1, sizeof *made) : NULL;
    if (!made) return -1;
    snprintf(made->host, sizeof made->host, "%.*s", (int)length, host);
    made->port = port;
    snprintf(made->shown, sizeof made->shown, "%s:%d", made->host, port);
    c->nodes[c->node_count] = made;
    return (int)c->node_count++;
}

/* ---- slots ---- */

/* One row of CLUSTER SLOTS: first, last, [host, port, ...] of the primary, then its replicas. A
 * server that does not know its own name leaves it out: it is the one that was asked. */
static void take_row(struct cluster *c, const redisReply *row, const char *asked) {
    if (row->type != REDIS_REPLY_ARRAY || row->elements < 3) return;
    const redisReply *primary = row->element[2];
    long long first = row->element[0]->integer, last = row->element[1]->integer;
    if (primary->type != REDIS_REPLY_ARRAY || primary->elements < 2 || first < 0 || last >= SLOTS) return;
    const char *host = primary->element[0]->str;
    if (!host || !*host) host = asked;
    int node = cluster_node(c, host, strlen(host), (int)primary->element[1]->integer);
    bool replaced = false;
    for (long long slot = first; node >= 0 && slot <= last; slot++) {
        replaced |= c->home[slot] != node && c->nodes[c->home[slot]]->unreachable;
        c->home[slot] = (uint16_t)node;
    }
    c->restarts += replaced;
}

/* False if the server belongs to no cluster: then it answers with an error. */
static bool read_slots(struct cluster *c, redisContext *link, const char *asked) {
    redisReply *reply = redisCommand(link, "CLUSTER SLOTS");
    bool table = reply && reply->type == REDIS_REPLY_ARRAY;
    for (size_t i = 0; table && i < reply->elements; i++) take_row(c, reply->element[i], asked);
    if (reply) freeReplyObject(reply);
    if (table) c->stale = false;
    return table;
}

void cluster_refresh(struct cluster *c) {
    char why[WHY_TEXT];
    bool done = false;
    for (size_t i = 0; i < c->node_count && !done; i++) {
        redisContext *link;
        if (link_open(&link, c->nodes[i], c->url, why) != CONNECTED) continue;
        done = read_slots(c, link, c->nodes[i]->host);
        redisFree(link);
    }
}

int cluster_open(struct cluster *c, const struct url *url, uint64_t patience) {
    redisContext *link;
    char why[WHY_TEXT];
    double until = clock_now() + (double)patience;
    *c = (struct cluster){.url = url, .patience = (double)patience};
    signal(SIGPIPE, SIG_IGN); /* a connection that broke is an error of write() */
    if (cluster_node(c, url->host, strlen(url->host), url->port) < 0) return failure(NULL, "not enough memory");
    const struct node *node = c->nodes[0];
    for (enum connecting result; (result = link_open(&link, node, url, why)) != CONNECTED; poll(NULL, 0, 200)) {
        if (result == REFUSED)
            return failure(url->shown, "%s refuses the login: %s; give another user and password, or none", node->shown,
                           why);
        /* A server that loads its data is worth waiting for; a wrong address is not. */
        if (result != LOADING || clock_now() > until)
            return failure(url->shown, "no connection to %s: %s; %s", node->shown, why,
                           result == LOADING ? "try again later, or give more --patience"
                                             : "check host and port, and whether a server is running there");
    }
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
