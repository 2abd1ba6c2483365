#include "resp_text.h"

#include <stdlib.h>
#include <string.h>

static bool make_room(struct text *text, size_t length) {
    if (length <= text->room - text->length) return true;
    size_t room = 2 * text->room + length + 64;
    char *larger = text->broken || room < length ? NULL : realloc(text->bytes, room);
    text->broken = !larger;
    if (!larger) return false;
    text->bytes = larger;
    text->room = room;
    return true;
}

void text_put(struct text *text, const void *bytes, size_t length) {
    if (!length || !make_room(text, length)) return;
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
}

/* Writes a number so that it ends before `end`; returns where it begins. Many millions of them make a good part of the
 * work, so that printf would show. */
static char *put_digits(char *end, uint64_t number) {
    do *--end = (char)('0' + number % 10);
    while (number /= 10);
    return end;
}

/* "*3\r\n" or "$3\r\n" */
static void put_count(struct text *text, char sign, size_t n) {
    char line[24];
    char *end = line + sizeof line;
    end[-2] = '\r';
    end[-1] = '\n';
    char *at = put_digits(end - 2, n);
    *--at = sign;
    text_put(text, at, (size_t)(end - at));
}

void text_command(struct text *text, size_t n) {
    put_count(text, '*', n);
}

void text_word(struct text *text, const void *bytes, size_t length) {
    put_count(text, '$', length);
    text_put(text, bytes, length);
    text_put(text, "\r\n", 2);
}

void text_words(struct text *text, const char *word) {
    while (*word) {
        size_t length = strcspn(word, " ");
        text_word(text, word, length);
        word += length + (word[length] == ' ');
    }
}

void text_number(struct text *text, uint64_t number) {
    char digits[24];
    char *end = digits + sizeof digits, *at = put_digits(end, number);
    text_word(text, at, (size_t)(end - at));
}
