#include "request.h"
#include "slot.h"

#include <stdlib.h>
#include <string.h>

void requests_reserve(struct requests *r, size_t n) {
    if (n <= r->room) return;
    struct request *larger = realloc(r->list, n * sizeof *larger);
    r->text.broken |= !larger;
    if (!larger) return;
    r->list = larger;
    r->room = n;
}

struct request *request_begin(struct requests *r, const char *name, const char *key, size_t words) {
    if (r->n == r->room) requests_reserve(r, 2 * r->room + 16);
    if (r->text.broken) return NULL;
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
