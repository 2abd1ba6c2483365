/* Numbers as people write and read them, and bars for how full sets are. */
#ifndef CLI_OUTPUT_NUMBERS_H
#define CLI_OUTPUT_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 5000000, 5e6, 2.5e6, 10k, 1M, 2^20; with `sizes` also 64KiB, 1.5GiB. False if it is none of
 * these, not whole, or beyond 64 bits. */
bool parse_number(const char *text, bool sizes, uint64_t *value);

/* Would it be a number, were it not beyond 64 bits? */
bool number_too_large(const char *text, bool sizes);

/* 8, 9.6, 1e-3; false for anything else, infinities and NaN included. */
bool parse_real(const char *text, double *value);

/* 0.01, 1e-3, 1%. */
bool parse_rate(const char *text, double *value);

/* 30s, 10m, 12h, 7d, 1h30m, in seconds; a unit is required. */
bool parse_duration(const char *text, uint64_t *seconds);

enum { NUMBER_TEXT = 48 };

/* "5,000,000". Returns `buffer`. */
const char *group_digits(uint64_t value, char buffer[NUMBER_TEXT]);

/* "6.1 MiB". Returns `buffer`. */
const char *human_bytes(uint64_t bytes, char buffer[NUMBER_TEXT]);

/* "  size      6.1 MiB (6,400,000 bytes)", without a line end. */
void print_size(uint64_t bytes);

/* "1h30m". Returns `buffer`. */
const char *human_duration(uint64_t milliseconds, char buffer[NUMBER_TEXT]);

/* A rate both ways: "0.01 (1 in 100)". Returns `buffer`. */
const char *human_rate(double exact, char buffer[NUMBER_TEXT]);

/* The same in words: "1 in 100", "exact". Returns `buffer`. */
const char *human_odds(double rate, char buffer[NUMBER_TEXT]);

/* A standard error below 10, with two digits: "0.0031". Returns `buffer`. */
const char *human_error(double error, char buffer[NUMBER_TEXT]);

/* What stands before it, as the locale has it. */
const char *plus_minus(void);

enum { BAR_WIDTH = 40 };

/* "[####....]", `width` characters between the brackets; of blocks where the locale has them. On a
 * terminal it is red if that much is too much. */
void print_bar(double share, int width, bool alarm);

/* The line of `info` with a bar for how much of its room a set has used. */
void print_used(uint64_t items, uint64_t capacity);

#endif
