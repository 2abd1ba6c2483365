/* From a line to a key: the encodings of --key. Each answers NULL, or why the line is none, as a
 * phrase that follows "line 7 ". */
#ifndef CLI_INPUT_ENCODE_H
#define CLI_INPUT_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decimal, 0 .. 2^64-1. */
const char *encode_u64(const char *line, size_t length, uint64_t *number);

/* Decimal with an optional '-', to `size` (4 or 8) little-endian bytes in two's complement. */
const char *encode_int(const char *line, size_t length, size_t size, uint8_t *key);

/* Pairs of hexadecimal digits; length/2 bytes come out. */
const char *encode_hex(const char *line, size_t length, uint8_t *key);

/* UTF-8 to UTF-16LE; *key_length bytes come out, at most 2 x length. */
const char *encode_utf16(const char *line, size_t length, uint8_t *key, size_t *key_length);

/* The same bytes, with the capital letters of ASCII made small. */
void fold_case(const char *line, size_t length, uint8_t *key);

/* Reads one character of well-formed UTF-8 at `at` (before `end`); returns where the next begins,
 * or NULL. */
const char *utf8_next(const char *at, const char *end, uint32_t *code);

/* Writes `length` bytes to `out` as a message may show them, and returns where they end: control
 * characters, which a terminal would obey, and what is no UTF-8 become '?'. */
char *shown_text(const char *text, size_t length, char *out);

/* White space of ASCII. */
static inline bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The value of a hexadecimal digit, or -1. */
int hex_digit(char c);

#endif
