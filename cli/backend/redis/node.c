#include "node.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static const struct timeval connect_time = {5, 0}, login_time = {10, 0};

/* Enough to keep a server busy while replies travel; not so much that a broken connection repeats a lot. */
enum { MOST_IN_FLIGHT = 1 << 20 };

static enum connecting away(redisContext *link, char why[WHY_TEXT]) {
    snprintf(why, WHY_TEXT, "%s", link ? link->errstr : "not enough memory");
    redisFree(link);
    return AWAY;
}

/* A server that still reads its data says so to every command; that passes. */
static bool is_loading(const redisReply *reply) {
    return reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "LOADING", 7) == 0;
}

static enum connecting judge(redisReply *reply, char why[WHY_TEXT]) {
    enum connecting result = reply->type != REDIS_REPLY_ERROR ? CONNECTED : is_loading(reply) ? AWAY : REFUSED;
    if (result != CONNECTED) snprintf(why, WHY_TEXT, "%s", reply->str);
    freeReplyObject(reply);
    return result;
}

/* PING, too, needs a login where one is asked for. */
static enum connecting log_in(redisContext *link, const struct url *url, char why[WHY_TEXT]) {
    redisReply *reply = !*url->password ? redisCommand(link, "PING")
                        : *url->user    ? redisCommand(link, "AUTH %s %s", url->user, url->password)
                                        : redisCommand(link, "AUTH %s", url->password);
    if (!reply) {
        snprintf(why, WHY_TEXT, "%s", link->errstr);
        return AWAY;
    }
    return judge(reply, why);
}

enum connecting link_open(redisContext **link, const struct node *node, const struct url *url, char why[WHY_TEXT]) {
    redisContext *made = redisConnectWithTimeout(node->host, node->port, connect_time);
    if (!made || made->err) return away(made, why);
    redisSetTimeout(made, login_time);
    redisEnableKeepAlive(made);
    enum connecting result = log_in(made, url, why);
    if (result == CONNECTED)
        *link = made;
    else
        redisFree(made);
    return result;
}

/* Who may not ask for it goes without. */
static void read_run_id(redisContext *link, char run_id[RUN_ID_TEXT]) {
    redisReply *reply = redisCommand(link, "INFO server");
    const char *line = reply && reply->type == REDIS_REPLY_STRING ? strstr(reply->str, "run_id:") : NULL;
    *run_id = 0;
    if (line) snprintf(run_id, RUN_ID_TEXT, "%.*s", (int)strcspn(line, "\r\n"), line);
    if (reply) freeReplyObject(reply);
}

enum connecting node_connect(struct node *node, const struct url *url, bool *restarted, char why[WHY_TEXT]) {
    char run_id[RUN_ID_TEXT];
    enum connecting result = link_open(&node->link, node, url, why);
    *restarted = false;
    if (result != CONNECTED) return result;
    read_run_id(node->link, run_id);
    *restarted = node->met && (!*run_id || strcmp(run_id, node->run_id) != 0);
    node->met = true;
    node->lost = false;
    memcpy(node->run_id, run_id, sizeof run_id);
    node->link->flags &= ~REDIS_BLOCK;
    fcntl(node->link->fd, F_SETFL, fcntl(node->link->fd, F_GETFL) | O_NONBLOCK);
    return CONNECTED;
}

void node_disconnect(struct node *node) {
    redisFree(node->link);
    node->link = NULL;
    node->in_flight = 0;
    node->unsent = false;
}

void node_feed(struct node *node, const struct text *text, double now) {
    static const char asking[] = "*1\r\n$6\r\nASKING\r\n";
    if (!node->flying.first) node->heard = now;
    while (node->waiting.first && node->in_flight < MOST_IN_FLIGHT) {
        struct request *request = queue_pop(&node->waiting);
        request->skip = request->asking;
        if (request->asking) redisAppendFormattedCommand(node->link, asking, sizeof asking - 1);
        redisAppendFormattedCommand(node->link, text->bytes + request->at, request->length);
        node->in_flight += request->length;
        node->unsent = true;
        queue_push(&node->flying, request);
    }
}
