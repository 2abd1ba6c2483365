#include "numbers.h"
#include "report.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct suffix {
    const char *text;
    double factor;
    bool sizes; /* only where bytes are meant */
} suffixes[] = {
    {"", 1, false},         {"k", 1e3, false},         {"M", 1e6, false},
    {"G", 1e9, false},      {"T", 1e12, false},        {"KiB", 1024, true},
    {"MiB", 1048576, true}, {"GiB", 1073741824, true}, {"TiB", 1099511627776, true},
};

/* Digits alone, so that all 64 bits of a seed arrive. */
static bool parse_digits(const char *text, uint64_t *value, char **end) {
    errno = 0;
    *value = strtoull(text, end, 10);
    return isdigit((unsigned char)*text) && errno == 0;
}

/* strtod without its hexadecimals, infinities, NaN and leading blanks. */
static bool parse_decimal(const char *text, double *value, char **end) {
    if ((!isdigit((unsigned char)*text) && *text != '.') || strncmp(text, "0x", 2) == 0 || strncmp(text, "0X", 2) == 0)
        return false;
    *value = strtod(text, end);
    return *end != text && isfinite(*value);
}

/* A decimal with one of the suffixes, or a power of two. */
static bool parse_scaled(const char *text, bool sizes, double *value) {
    char *end;
    if (strncmp(text, "2^", 2) == 0 && isdigit((unsigned char)text[2])) {
        unsigned long power = strtoul(text + 2, &end, 10);
        *value = ldexp(1, power < 1000 ? (int)power : 1000);
        return !*end;
    }
    if (!parse_decimal(text, value, &end)) return false;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        if (strcmp(end, suffixes[i].text) != 0 || (suffixes[i].sizes && !sizes)) continue;
        *value *= suffixes[i].factor;
        return true;
    }
    return false;
}

static const double beyond_64_bits = 18446744073709551616.0;

bool parse_number(const char *text, bool sizes, uint64_t *value) {
    double real;
    uint64_t whole;
    char *end;
    if (!parse_digits(text, &whole, &end) || *end) {
        if (!parse_scaled(text, sizes, &real) || real != floor(real) || real >= beyond_64_bits) return false;
        whole = (uint64_t)real;
    }
    *value = whole;
    return true;
}

bool number_too_large(const char *text, bool sizes) {
    double real;
    return parse_scaled(text, sizes, &real) && real >= beyond_64_bits;
}

bool parse_real(const char *text, double *value) {
    char *end;
    return parse_decimal(text, value, &end) && !*end;
}

bool parse_rate(const char *text, double *value) {
    char *end;
    if (!parse_decimal(text, value, &end)) return false;
    if (strcmp(end, "%") == 0) *value /= 100;
    return !*end || strcmp(end, "%") == 0;
}

static const struct unit {
    char letter;
    unsigned seconds;
} units_of_time[] = {{'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}};

enum { UNITS = sizeof units_of_time / sizeof *units_of_time };

bool parse_duration(const char *text, uint64_t *seconds) {
    *seconds = 0;
    do {
        size_t unit = 0;
        uint64_t number;
        char *end;
        if (!parse_digits(text, &number, &end)) return false;
        while (unit < UNITS && units_of_time[unit].letter != *end) unit++;
        if (unit == UNITS) return false;
        if (__builtin_mul_overflow(number, units_of_time[unit].seconds, &number)) return false;
        if (__builtin_add_overflow(*seconds, number, seconds)) return false;
        text = end + 1;
    } while (*text);
    return true;
}

const char *human_duration(uint64_t milliseconds, char buffer[NUMBER_TEXT]) {
    unsigned long long left = milliseconds / 1000;
    *buffer = 0;
    if (milliseconds % 1000) append_text(buffer, NUMBER_TEXT, "%llu ms", (unsigned long long)milliseconds);
    for (size_t i = 0; i < UNITS && milliseconds % 1000 == 0; i++) {
        unsigned seconds = units_of_time[i].seconds;
        if (left >= seconds) append_text(buffer, NUMBER_TEXT, "%llu%c", left / seconds, units_of_time[i].letter);
        left %= seconds;
    }
    return *buffer ? buffer : strcpy(buffer, "0s");
}

const char *group_digits(uint64_t value, char buffer[NUMBER_TEXT]) {
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    char *out = buffer;
    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0) *out++ = ',';
        *out++ = digits[i];
    }
    *out = 0;
    return buffer;
}

const char *human_bytes(uint64_t bytes, char buffer[NUMBER_TEXT]) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++) value /= 1024;
    snprintf(buffer, NUMBER_TEXT, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return buffer;
}

void print_size(uint64_t bytes) {
    char human[NUMBER_TEXT], exact[NUMBER_TEXT];
    printf("  size      %s", human_bytes(bytes, human));
    if (bytes >= 1024) printf(" (%s bytes)", group_digits(bytes, exact));
}

const char *human_rate(double exact, char buffer[NUMBER_TEXT]) {
    char grouped[NUMBER_TEXT];
    double rate = exact * (1 + 1e-12); /* 1/128, half-way between two of four digits, goes up */
    if (rate > 0 && rate < 0.1 && rate > 1e-18)
        snprintf(buffer, NUMBER_TEXT, "%.4g (1 in %.26s)", rate, group_digits((uint64_t)(1 / rate + 0.5), grouped));
    else
        snprintf(buffer, NUMBER_TEXT, "%.4g", rate);
    return buffer;
}

const char *human_odds(double rate, char buffer[NUMBER_TEXT]) {
    char grouped[NUMBER_TEXT];
    if (rate <= 0)
        snprintf(buffer, NUMBER_TEXT, "exact");
    else if (rate < 1e-18)
        snprintf(buffer, NUMBER_TEXT, "less than 1 in 10^18");
    else if (rate < 0.1)
        snprintf(buffer, NUMBER_TEXT, "1 in %.26s", group_digits((uint64_t)(1 / rate + 0.5), grouped));
    else
        snprintf(buffer, NUMBER_TEXT, "%.3g %% false positives", rate * 100);
    return buffer;
}

/* ---- bars ---- */

/* The first of these that is set says what characters there are. */
static bool locale_is_utf8(void) {
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && *value) return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

const char *plus_minus(void) {
    return locale_is_utf8() ? "±" : "+-";
}

const char *human_error(double error, char buffer[NUMBER_TEXT]) {
    snprintf(buffer, NUMBER_TEXT, "%.2g", error);
    return buffer;
}

void print_bar(double share, int width, bool alarm) {
    bool blocks = locale_is_utf8(), coloured = alarm && colour_for(stdout);
    int filled = share > 0 ? (int)fmin(share * width + 0.5, width) : 0;
    /* neither empty nor full if it is not */
    if (share > 0 && filled < 1) filled = 1;
    if (share < 1 && filled == width) filled--;
    fputs(coloured ? "[\033[1;31m" : "[", stdout);
    for (int i = 0; i < width; i++) fputs(i < filled ? (blocks ? "█" : "#") : (blocks ? "░" : "."), stdout);
    fputs(coloured ? "\033[0m]" : "]", stdout);
}

void print_used(uint64_t items, uint64_t capacity) {
    double share = (double)items / (double)capacity;
    if (!capacity) return;
    printf("  used      ");
    print_bar(share, BAR_WIDTH, items > capacity);
    printf(" %.1f %% of the keys it was made for%s\n", share * 100, items > capacity ? ": overfull" : "");
}
