#include "request.h"

#include <stdlib.h>
#include <string.h>

/* ---- text ---- */

void text_put(struct text *text, const void *bytes, size_t length) {
    if (!length) return;
    if (length > text->room - text->length) {
        size_t room = 2 * text->room + length + 64;
        char *larger = text->broken || room < length ? NULL : realloc(text->bytes, room);
        text->broken = !larger;
        if (!larger) return;
        text->bytes = larger;
        text->room = room;
    }
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
}

/* Writes a number so that it ends before `end`; returns where it begins. printf would take a good
 * part of the time of a batch. */
static char *put_digits(char *end, uint64_t number) {
    do *--end = (char)('0' + number % 10);
    while (number /= 10);
    return end;
}

/* "*3\r\n" begins a command of 3 words, "$3\r\n" a word of 3 bytes. */
static void put_count(struct text *text, char sign, size_t n) {
    char line[24];
    char *end = line + sizeof line;
    end[-2] = '\r';
    end[-1] = '\n';
    char *at = put_digits(end - 2, n);
    *--at = sign;
    text_put(text, at, (size_t)(end - at));
}

void text_word(struct text *text, const void *bytes, size_t length) {
    put_count(text, '$', length);
    text_put(text, bytes, length);
    text_put(text, "\r\n", 2);
}

void text_words(struct text *text, const char *words) {
    while (*words) {
        size_t length = strcspn(words, " ");
        text_word(text, words, length);
        words += length + (words[length] == ' ');
    }
}

void text_number(struct text *text, uint64_t number) {
    char digits[24];
    char *end = digits + sizeof digits, *at = put_digits(end, number);
    text_word(text, at, (size_t)(end - at));
}

/* ---- slots ---- */

uint16_t crc16(const void *bytes, size_t length) {
    static uint16_t table[256]; /* filled by the first call */
    for (unsigned byte = 0; byte < 256 && !table[255]; byte++) {
        unsigned crc = byte << 8;
        for (int bit = 0; bit < 8; bit++) crc = crc << 1 ^ (crc & 0x8000 ? 0x1021 : 0);
        table[byte] = (uint16_t)crc;
    }
    const uint8_t *at = bytes;
    uint16_t crc = 0;
    for (size_t i = 0; i < length; i++) crc = (uint16_t)(crc << 8 ^ table[crc >> 8 ^ at[i]]);
    return crc;
}

/* The slot of a key: of what stands between the first '{' and the next '}', if that is not
 * empty; else of all of it. */
static uint16_t key_slot(const char *key, size_t length) {
    const char *open = memchr(key, '{', length);
    if (open) {
        const char *inside = open + 1, *close = memchr(inside, '}', (size_t)(key + length - inside));
        if (close && close > inside) return crc16(inside, (size_t)(close - inside)) % SLOTS;
    }
    return crc16(key, length) % SLOTS;
}

/* ---- requests ---- */

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
    put_count(&r->text, '*', words);
    text_words(&r->text, name);
    text_word(&r->text, key, strlen(key));
    return request;
}

void request_end(struct requests *r) {
    struct request *last = &r->list[r->n - 1];
    last->length = r->text.length - last->at;
}

void requests_clear(struct requests *r) {
    r->n = r->text.length = 0;
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
