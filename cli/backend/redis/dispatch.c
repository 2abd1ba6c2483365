/* Commands go out to all servers at the same time, several in flight at each. Replies come back in the order of the
 * commands, server by server. */
#include "cluster.h"
#include "input/interrupt.h"
#include "output/numbers.h"
#include "output/report.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double silence = 15; /* seconds; see silence_of */

/* Milliseconds; and redirections before a pause. */
enum { SHORTEST_PAUSE = 10, LONGEST_PAUSE = 1000, MOST_HOPS = 8 };

/* Bytes. */
enum { WORTH_SENDING = 16 << 10 };

/* ---------------------------------------------------------------------------------------------- going around --- */

static void remember_why(struct dispatch *r, const struct node *node, const char *why) {
    snprintf(r->why, sizeof r->why, "%s: %s", node->shown, why);
}

static void send_home(struct dispatch *r, struct request *request) {
    struct cluster *c = r->cluster;
    queue_push(&c->nodes[c->clustered ? c->home[request->slot] : 0]->waiting, request);
}

/* What was sent to a server that is gone may be done or not. */
static int abandon(struct dispatch *r, struct node *node) {
    struct request *request;
    int status = FINE;
    node_disconnect(node);
    node->lost = true;
    while ((request = queue_pop(&node->flying))) {
        if (request->once)
            status = failure(r->cluster->url->shown,
                             "the connection broke (%s) while keys were being taken out, and nobody knows which of the "
                             "last ones were; to take one out twice would lose another, so it stops here",
                             r->why);
        request->repeated = true;
        request->asking = false;
        queue_push(&r->homeless, request);
        if (status != FINE) return status;
    }
    while ((request = queue_pop(&node->waiting))) queue_push(&r->homeless, request);
    return FINE;
}

/* Waits longer each time, until something moves again. */
static int settle(struct dispatch *r) {
    struct cluster *c = r->cluster;
    struct request *request;
    char time[NUMBER_TEXT];
    if (was_interrupted()) return failure(c->url->shown, "broken off while waiting; last, %s", r->why);
    if (clock_now() - r->progressed > c->patience)
        return failure(c->url->shown,
                       "no answer for %s; last, %s; what was done before stays done: give the command again when the "
                       "server is back, or give more --patience",
                       human_duration((uint64_t)c->patience * 1000, time), r->why);
    nanosleep(&(struct timespec){.tv_sec = r->pause / 1000, .tv_nsec = r->pause % 1000 * 1000000L}, NULL);
    r->pause = r->pause * 2 < LONGEST_PAUSE ? r->pause * 2 : LONGEST_PAUSE;
    unsigned restarts = c->restarts;
    if (c->clustered) cluster_refresh(c);
    if (restarts != c->restarts && c->careful) return STOP;
    while ((request = queue_pop(&r->homeless))) send_home(r, request);
    return FINE;
}

/* -------------------------------------------------------------------------------------------------- replies --- */

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* "MOVED 3999 127.0.0.1:6381" or "ASK ...": the number of the node named; -1 if none can be read. */
static int named_node(struct cluster *c, const struct node *node, const char *error) {
    const char *host = strrchr(error, ' '), *colon = strrchr(error, ':');
    if (!host || !colon || colon < ++host) return -1;
    int port = (int)strtol(colon + 1, NULL, 10);
    if (colon == host) return cluster_node(c, node->host, strlen(node->host), port);
    return cluster_node(c, host, (size_t)(colon - host), port);
}

static bool redirect(struct dispatch *r, struct node *node, struct request *request, const char *error) {
    struct cluster *c = r->cluster;
    bool moved = begins(error, "MOVED ");
    if (!moved && !begins(error, "ASK ")) return false;
    int named = named_node(c, node, error);
    remember_why(r, node, error);
    request->asking = !moved;
    if (moved && named >= 0) {
        c->home[request->slot] = (uint16_t)named;
        c->clustered = c->stale = true;
    }
    bool lost = named < 0 || ++request->hops > MOST_HOPS;
    if (lost) request->hops = 0;
    queue_push(lost ? &r->homeless : &c->nodes[named]->waiting, request);
    return true;
}

/* Errors that are about the server's state, not about the command. */
static bool will_pass(const char *error) {
    static const char *const passing[] = {"LOADING",    "READONLY", "CLUSTERDOWN", "TRYAGAIN",
                                          "MASTERDOWN", "BUSY ",    "NOREPLICAS"};
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
        if (begins(error, passing[i])) return true;
    return false;
}

static int take_reply(struct dispatch *r, struct node *node, const redisReply *reply) {
    struct request *request = node->flying.first;
    if (!request) return failure(r->cluster->url->shown, "%s answers what nobody asked", node->shown);
    if (request->skip) {
        request->skip = false;
        return FINE;
    }
    queue_pop(&node->flying);
    node->in_flight -= request->length;
    if (reply->type == REDIS_REPLY_ERROR) {
        if (redirect(r, node, request, reply->str)) return FINE;
        if (will_pass(reply->str)) {
            remember_why(r, node, reply->str);
            request->asking = false;
            queue_push(&r->homeless, request);
            return FINE;
        }
    }
    r->left--;
    r->progressed = node->heard;
    r->pause = SHORTEST_PAUSE;
    return r->function(r->context, request, reply);
}

static int broken(struct dispatch *r, struct node *node) {
    remember_why(r, node, node->link->errstr);
    return abandon(r, node);
}

/* ----------------------------------------------------------------------------------------------------- wires --- */

static int receive(struct dispatch *r, struct node *node) {
    int status = FINE;
    if (redisBufferRead(node->link) != REDIS_OK) return broken(r, node);
    node->heard = clock_now();
    while (status == FINE) {
        void *reply;
        if (redisGetReplyFromReader(node->link, &reply) != REDIS_OK) return broken(r, node);
        if (!reply) break;
        status = take_reply(r, node, reply);
        freeReplyObject(reply);
    }
    return status;
}

static int transmit(struct dispatch *r, struct node *node) {
    int done = 0;
    if (redisBufferWrite(node->link, &done) != REDIS_OK) return broken(r, node);
    node->unsent = !done;
    return FINE;
}

/* Connects where that is necessary. A server that is away gives its work back. */
static int prepare(struct dispatch *r, struct node *node) {
    char why[WHY_TEXT];
    bool restarted;
    if (!node->link) {
        enum connecting result = node_connect(node, r->cluster->url, &restarted, why);
        if (result == REFUSED)
            return failure(r->cluster->url->shown, "%s refuses the login: %s; check user and password", node->shown,
                           why);
        if (result == AWAY) {
            remember_why(r, node, why);
            return abandon(r, node);
        }
        r->cluster->restarts += restarted;
        if (restarted && r->cluster->careful) return STOP;
    }
    node_feed(node, &r->requests->text, clock_now());
    return FINE;
}

static short events_of(const struct node *node) {
    return (short)(POLLIN | (node->unsent ? POLLOUT : 0));
}

/* Seconds after which a server with work to do is taken for dead: a part of the patience, so that enough of it is left to find
 * who has taken its place; but all of it, if what is on its way may not be sent again. */
static double silence_of(const struct dispatch *r, const struct node *node) {
    double patience = r->cluster->patience, part = patience / 4 > silence ? patience / 4 : silence;
    return patience < part || node->flying.first->once ? patience : part;
}

static int exchange(struct dispatch *r, struct node *node, short events) {
    if (events & POLLOUT && transmit(r, node) != FINE) return TROUBLE;
    if (node->link && events & (POLLIN | POLLERR | POLLHUP) && receive(r, node) != FINE) return TROUBLE;
    if (!node->link || !node->flying.first || clock_now() - node->heard < silence_of(r, node)) return FINE;
    remember_why(r, node, "connected, but silent");
    return abandon(r, node);
}

/* Every node has its place, and the number -1 while there is nothing to wait for. */
static int make_polls(struct dispatch *r) {
    struct cluster *c = r->cluster;
    struct pollfd *polls = realloc(r->polls, c->node_count * sizeof *polls);
    if (!polls) return failure(NULL, "not enough memory to talk to %zu servers", c->node_count);
    r->polls = polls;
    r->poll_count = c->node_count;
    for (size_t i = 0; i < r->poll_count; i++) {
        struct node *node = c->nodes[i];
        int status = node_busy(node) ? prepare(r, node) : FINE;
        if (status != FINE) return status;
        bool busy = node_busy(node) && node->link;
        polls[i] = (struct pollfd){.fd = busy ? node->link->fd : -1, .events = busy ? events_of(node) : 0};
    }
    return FINE;
}

/* After a run that was not finished: nothing of this run may come back in the next one. */
static void forget_all(struct dispatch *r) {
    for (size_t i = 0; i < r->cluster->node_count; i++) {
        struct node *node = r->cluster->nodes[i];
        for (struct request *request = node->flying.first; request; request = request->next) request->repeated = true;
        node->waiting = node->flying = (struct queue){0};
        node_disconnect(node);
    }
}

/* One turn: whatever all servers together can do now, or within so many milliseconds. */
static int turn(struct dispatch *r, int wait) {
    int status = make_polls(r);
    if (status != FINE) return status;
    if (poll(r->polls, r->poll_count, r->homeless.first ? 0 : wait) < 0 && errno != EINTR)
        return failure(NULL, "waiting for servers failed: %s", strerror(errno));
    for (size_t i = 0; i < r->poll_count; i++)
        if (r->polls[i].fd >= 0 && exchange(r, r->cluster->nodes[i], r->polls[i].revents) != FINE) return TROUBLE;
    return FINE;
}

void dispatch_begin(struct dispatch *r, struct cluster *c, struct requests *requests, reply_function *function,
                    void *context) {
    *r = (struct dispatch){.cluster = c, .requests = requests, .function = function, .context = context};
    r->pause = SHORTEST_PAUSE;
    r->progressed = clock_now();
}

/* Small commands gather before they are sent. Work that waits for a server to come back can wait until the end. */
void dispatch_push(struct dispatch *r, struct request *request) {
    r->left++;
    r->gathered += request->length;
    send_home(r, request);
    if (r->gathered < WORTH_SENDING || r->status != FINE || r->homeless.first) return;
    r->gathered = 0;
    r->status = turn(r, 0);
}

int dispatch_end(struct dispatch *r) {
    struct cluster *c = r->cluster;
    if (r->requests->text.broken) r->status = failure(NULL, "not enough memory for so many keys at a time");
    while (r->left && r->status == FINE) {
        if (r->homeless.first) r->status = settle(r);
        if (r->status == FINE) r->status = turn(r, 1000);
    }
    free(r->polls);
    if (r->status != FINE) forget_all(r);
    if (r->status == FINE && c->stale) cluster_refresh(c);
    return r->status;
}

int cluster_run(struct cluster *c, struct requests *requests, reply_function *function, void *context) {
    struct dispatch r;
    dispatch_begin(&r, c, requests, function, context);
    for (size_t i = 0; i < requests->n && !requests->text.broken; i++) dispatch_push(&r, &requests->list[i]);
    return dispatch_end(&r);
}
