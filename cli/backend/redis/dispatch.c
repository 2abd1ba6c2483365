/* Commands go out to all servers at the same time, several in flight at each. Replies come back
 * in the order of the commands, server by server. */
#include "dispatch.h"
#include "input/input.h"
#include "output/numbers.h"
#include "output/report.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* Milliseconds. */
enum { SHORTEST_PAUSE = 10, LONGEST_PAUSE = 1000, LONGEST_TURN = 1000 };

/* Bytes. This many in flight keep a server busy while replies travel, and are not much to repeat
 * when a connection breaks. */
enum { WORTH_SENDING = 16 << 10, MOST_IN_FLIGHT = 1 << 20 };

enum { MOST_REDIRECTIONS = 8 }; /* before a pause */

static void remember_why(struct dispatch *r, const struct node *node, const char *why) {
    snprintf(r->why, sizeof r->why, "%s: %s", node->shown, why);
}

static void send_home(struct dispatch *r, struct request *request) {
    struct cluster *c = r->cluster;
    queue_push(&c->nodes[c->clustered ? c->home[request->slot] : 0]->waiting, request);
}

/* A server that is gone gives its requests back. Those in flight may be done or not. */
static int give_up(struct dispatch *r, struct node *node, const char *why) {
    struct request *request;
    remember_why(r, node, why);
    node_disconnect(node);
    node->unreachable = true;
    while ((request = queue_pop(&node->in_flight))) {
        request->repeated = true;
        request->asking = false;
        queue_push(&r->retry, request);
        if (request->once)
            return failure(r->cluster->url->shown,
                           "the connection broke (%s), and which of the last keys were removed is unknown. It stops "
                           "here, since removing a key twice could lose another",
                           r->why);
    }
    while ((request = queue_pop(&node->waiting))) queue_push(&r->retry, request);
    return FINE;
}

/* Pauses, each time longer until the next reply comes, and sends again what a server gave back. */
static int retry_after_pause(struct dispatch *r) {
    struct cluster *c = r->cluster;
    struct request *request;
    char time[NUMBER_TEXT];
    if (was_interrupted()) return failure(c->url->shown, "interrupted while waiting; last error: %s", r->why);
    if (clock_now() - r->progressed > c->patience)
        return failure(c->url->shown,
                       "no answer for %s; last error: %s; repeat the command when the server is back, or give more "
                       "--patience. What was done so far stays",
                       human_duration((uint64_t)c->patience * 1000, time), r->why);
    poll(NULL, 0, r->pause);
    r->pause = r->pause * 2 < LONGEST_PAUSE ? r->pause * 2 : LONGEST_PAUSE;
    unsigned restarts = c->restarts;
    if (c->clustered) cluster_refresh(c);
    if (restarts != c->restarts && c->careful) return STOP;
    while ((request = queue_pop(&r->retry))) send_home(r, request);
    return FINE;
}

/* ---- replies ---- */

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* "MOVED 3999 127.0.0.1:6381" or "ASK ...": the number of the node named; -1 if none can be
 * read. Without a host it is the one that answers. */
static int named_node(struct cluster *c, const struct node *node, const char *error) {
    const char *host = strrchr(error, ' '), *colon = strrchr(error, ':');
    if (!host || !colon || colon < ++host) return -1;
    size_t length = (size_t)(colon - host);
    if (!length) host = node->host;
    return cluster_node(c, host, length ? length : strlen(host), (int)strtol(colon + 1, NULL, 10));
}

/* Is the error about the state of the servers, not about the command? Then the request is sent
 * again: at once to the node that the error names, else after a pause. */
static bool send_again(struct dispatch *r, struct node *node, struct request *request, const char *error) {
    static const char *const passing[] = {"LOADING",    "READONLY", "CLUSTERDOWN", "TRYAGAIN",
                                          "MASTERDOWN", "BUSY ",    "NOREPLICAS"};
    struct cluster *c = r->cluster;
    bool moved = begins(error, "MOVED "), asking = begins(error, "ASK "), passes = false;
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++) passes |= begins(error, passing[i]);
    if (!moved && !asking && !passes) return false;
    remember_why(r, node, error);
    int named = passes ? -1 : named_node(c, node, error);
    if (moved && named >= 0) {
        c->home[request->slot] = (uint16_t)named;
        c->clustered = c->stale = true;
    }
    request->asking = asking;
    bool at_once = named >= 0 && ++request->redirections <= MOST_REDIRECTIONS;
    if (!at_once) request->redirections = 0;
    queue_push(at_once ? &c->nodes[named]->waiting : &r->retry, request);
    return true;
}

static int take_reply(struct dispatch *r, struct node *node, const redisReply *reply) {
    struct request *request = node->in_flight.first;
    if (!request) return failure(r->cluster->url->shown, "%s sent an unexpected answer", node->shown);
    if (request->asking) {
        request->asking = false;
        return FINE;
    }
    queue_pop(&node->in_flight);
    node->in_flight_bytes -= request->length;
    if (reply->type == REDIS_REPLY_ERROR && send_again(r, node, request, reply->str)) return FINE;
    r->left--;
    r->progressed = node->last_contact;
    r->pause = SHORTEST_PAUSE;
    return r->function(r->context, request, reply);
}

/* ---- connections ---- */

/* Connects where that is necessary, and passes waiting requests to hiredis. */
static int feed(struct dispatch *r, struct node *node) {
    static const char asking[] = "*1\r\n$6\r\nASKING\r\n";
    struct cluster *c = r->cluster;
    char why[WHY_TEXT];
    unsigned restarts = c->restarts;
    enum connecting result = node->link ? CONNECTED : node_connect(c, node, why);
    if (result == REFUSED)
        return failure(c->url->shown, "%s refuses the login: %s; check user and password", node->shown, why);
    if (result != CONNECTED) return give_up(r, node, why);
    if (restarts != c->restarts && c->careful) return STOP;
    if (!node->in_flight.first) node->last_contact = clock_now();
    while (node->waiting.first && node->in_flight_bytes < MOST_IN_FLIGHT) {
        struct request *request = queue_pop(&node->waiting);
        if (request->asking) redisAppendFormattedCommand(node->link, asking, sizeof asking - 1);
        redisAppendFormattedCommand(node->link, r->requests->text.bytes + request->at, request->length);
        node->in_flight_bytes += request->length;
        node->unsent = true;
        queue_push(&node->in_flight, request);
    }
    return FINE;
}

static int receive(struct dispatch *r, struct node *node) {
    int status = FINE;
    if (redisBufferRead(node->link) != REDIS_OK) return give_up(r, node, node->link->errstr);
    node->last_contact = clock_now();
    while (status == FINE) {
        void *reply;
        if (redisGetReplyFromReader(node->link, &reply) != REDIS_OK) return give_up(r, node, node->link->errstr);
        if (!reply) break;
        status = take_reply(r, node, reply);
        freeReplyObject(reply);
    }
    return status;
}

/* Writes and reads what poll says is possible. */
static int exchange_bytes(struct dispatch *r, struct node *node, short events) {
    int all_written = 0;
    if (events & POLLOUT) {
        if (redisBufferWrite(node->link, &all_written) != REDIS_OK) return give_up(r, node, node->link->errstr);
        node->unsent = !all_written;
    }
    if (events & (POLLIN | POLLERR | POLLHUP)) return receive(r, node);
    if (!node->in_flight.first) return FINE;
    /* A silent server is given up after a part of the patience, so that enough of it is left to
     * find the one that replaced it; but after all of it, if what is in flight may not be sent
     * again. */
    double patience = r->cluster->patience;
    double silence = node->in_flight.first->once ? patience : fmin(patience, fmax(patience / 4, 15));
    return clock_now() - node->last_contact < silence ? FINE : give_up(r, node, "connected, but silent");
}

/* One turn: whatever all servers together can do now, or within `wait` milliseconds. */
static int turn(struct dispatch *r, int wait) {
    struct cluster *c = r->cluster;
    struct pollfd polls[MOST_NODES];
    size_t n = c->node_count; /* a redirection may add some */
    for (size_t i = 0; i < n; i++) {
        struct node *node = c->nodes[i];
        bool busy = node->waiting.first || node->in_flight.first;
        int status = busy ? feed(r, node) : FINE;
        if (status != FINE) return status;
        int fd = busy && node->link ? node->link->fd : -1; /* poll skips -1 */
        polls[i] = (struct pollfd){.fd = fd, .events = (short)(POLLIN | (node->unsent ? POLLOUT : 0))};
    }
    if (poll(polls, n, r->retry.first ? 0 : wait) < 0 && errno != EINTR)
        return failure(NULL, "waiting for servers failed: %s", strerror(errno));
    for (size_t i = 0; i < n; i++)
        if (polls[i].fd >= 0 && exchange_bytes(r, c->nodes[i], polls[i].revents) != FINE) return TROUBLE;
    return FINE;
}

/* ---- runs ---- */

void dispatch_begin(struct dispatch *r, struct cluster *c, struct requests *requests, reply_function *function,
                    void *context) {
    *r = (struct dispatch){.cluster = c,
                           .requests = requests,
                           .function = function,
                           .context = context,
                           .pause = SHORTEST_PAUSE,
                           .progressed = clock_now()};
}

/* Small commands gather before they are sent. Those that wait for a server to come back wait
 * until dispatch_end. */
void dispatch_push(struct dispatch *r, struct request *request) {
    r->left++;
    r->gathered += request->length;
    send_home(r, request);
    if (r->gathered < WORTH_SENDING || r->status != FINE || r->retry.first) return;
    r->gathered = 0;
    r->status = turn(r, 0);
}

int dispatch_end(struct dispatch *r) {
    struct cluster *c = r->cluster;
    if (r->requests->text.broken) r->status = failure(NULL, "not enough memory for a batch of keys");
    while (r->left && r->status == FINE) {
        if (r->retry.first) r->status = retry_after_pause(r);
        if (r->status == FINE) r->status = turn(r, LONGEST_TURN);
    }
    if (r->status == FINE && c->stale) cluster_refresh(c);
    /* No reply to an unfinished run may come during the next. */
    for (size_t i = 0; r->status != FINE && i < c->node_count; i++) {
        struct node *node = c->nodes[i];
        for (struct request *left = node->in_flight.first; left; left = left->next) left->repeated = true;
        node->waiting = node->in_flight = (struct queue){0};
        node_disconnect(node);
    }
    return r->status;
}

int cluster_run(struct cluster *c, struct requests *requests, reply_function *function, void *context) {
    struct dispatch r;
    dispatch_begin(&r, c, requests, function, context);
    for (size_t i = 0; i < requests->n && !requests->text.broken; i++) dispatch_push(&r, &requests->list[i]);
    return dispatch_end(&r);
}
