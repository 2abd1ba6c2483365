#include "request.h"
#include "slot.h"

#include <stdlib.h>
#include <string.h>

static bool make_room(struct requests *r) {
    if (r->n < r->room) return true;
    size_t room = 2 * r->room + 16;
    struct request *larger = realloc(r->list, room * sizeof *larger);
    if (!larger) return false;
    r->list = larger;
    r->room = room;
    return true;
}

struct request *request_begin(struct requests *r, const char *name, const char *key, size_t words) {
    if (!make_room(r)) {
        r->text.broken = true;
        return NULL;
    }
    struct request *request = &r->list[r->n++];
    *request = (struct request){.at = r->text.length, .slot = key_slot(key, strlen(key))};
    text_command(&r->text, words);
    text_words(&r->text, name);
    text_word(&r->text, key, strlen(key));
    return request;
}

void request_end(struct requests *r) {
    struct request *last = &r->list[r->n - 1];
    last->length = r->text.length - last->at;
}

void requests_clear(struct requests *r) {
    r->n = 0;
    r->text.length = 0;
}

void requests_free(struct requests *r) {
    free(r->list);
    free(r->text.bytes);
    *r = (struct requests){0};
}

void queue_push(struct queue *queue, struct request *request) {
    request->next = NULL;
    *(queue->first ? &queue->last->next : &queue->first) = request;
    queue->last = request;
}

struct request *queue_pop(struct queue *queue) {
    struct request *first = queue->first;
    if (first) queue->first = first->next;
    return first;
}
