/*
 * Formatted text for messages, in the place of the C library's, which would be a fifth of a small
 * module: %s %c %d %u %x %g with width, precision, 0, and the lengths l, ll and z.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Text that is cut where its room ends; `length` goes on. */
struct cut_text {
    char *bytes;
    size_t room, length;
};

static void put(struct cut_text *to, char c) {
    if (to->length + 1 < to->room) to->bytes[to->length] = c;
    to->length++;
}

static void put_some(struct cut_text *to, const char *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) put(to, bytes[i]);
}

static void put_padded(struct cut_text *to, const char *bytes, size_t n, int width, char pad) {
    for (int i = (int)n; i < width; i++) put(to, pad);
    put_some(to, bytes, n);
}

static size_t digits_of(char digits[24], uint64_t number, unsigned base) {
    char reversed[24];
    size_t n = 0;
    do reversed[n++] = "0123456789abcdef"[number % base];
    while ((number /= base));
    for (size_t i = 0; i < n; i++) digits[i] = reversed[n - 1 - i];
    return n;
}

static void put_exponent(struct cut_text *to, int exponent) {
    char digits[24];
    put(to, 'e');
    put(to, exponent < 0 ? '-' : '+');
    put_padded(to, digits, digits_of(digits, (uint64_t)(exponent < 0 ? -exponent : exponent), 10), 2, '0');
}

/* x as one digit, a point and more digits, by an exponent of ten. */
static double scale(double x, int *exponent) {
    *exponent = 0;
    for (; x >= 10; x /= 10) (*exponent)++;
    for (; x > 0 && x < 1; x *= 10) (*exponent)--;
    return x;
}

/* Six significant digits: 0.01, 1e-09, 4.2, 5e+06. */
static void put_general(struct cut_text *to, double x) {
    enum { DIGITS = 6, TENS = 100000 };
    char digits[24];
    int exponent;
    if (x < 0) put(to, '-');
    if (x - x != 0) {
        put_some(to, x != x ? "nan" : "inf", 3);
        return;
    }
    uint64_t number = (uint64_t)(scale(x < 0 ? -x : x, &exponent) * TENS + 0.5);
    if (number >= 10 * TENS) {
        number /= 10;
        exponent++;
    }
    int n = (int)digits_of(digits, number, 10);
    while (n > 1 && digits[n - 1] == '0') n--;
    bool scientific = exponent < -4 || exponent >= DIGITS;
    int whole = scientific ? 1 : exponent + 1; /* digits before the point */
    if (whole <= 0) put(to, '0');
    for (int i = 0; i < whole; i++) put(to, i < n ? digits[i] : '0');
    if (n > whole) put(to, '.');
    for (int i = whole; i < 0; i++) put(to, '0');
    for (int i = whole > 0 ? whole : 0; i < n; i++) put(to, digits[i]);
    if (scientific) put_exponent(to, exponent);
}

/* A conversion: what stands between % and its letter. */
struct conversion {
    char pad;
    int width, precision; /* -1: none */
    bool is_wide;         /* 64 bits */
};

static const char *read_number(const char *at, int *number, va_list *arguments) {
    if (*at == '*') {
        *number = va_arg(*arguments, int);
        return at + 1;
    }
    for (*number = 0; *at >= '0' && *at <= '9'; at++) *number = *number * 10 + (*at - '0');
    return at;
}

static const char *read_conversion(const char *at, struct conversion *c, va_list *arguments) {
    *c = (struct conversion){.pad = *at == '0' ? '0' : ' ', .precision = -1};
    at = read_number(at, &c->width, arguments);
    if (*at == '.') at = read_number(at + 1, &c->precision, arguments);
    c->is_wide = at[0] == 'l' && at[1] == 'l';
    while (*at == 'l' || *at == 'z') at++;
    return at;
}

static uint64_t whole_number(const struct conversion *c, va_list *arguments) {
    return c->is_wide ? va_arg(*arguments, uint64_t) : va_arg(*arguments, unsigned);
}

static void put_conversion(struct cut_text *to, char letter, const struct conversion *c, va_list *arguments) {
    char digits[24], one;
    const char *text;
    switch (letter) {
    case 's':
        text = va_arg(*arguments, const char *);
        put_padded(to, text, c->precision < 0 ? strlen(text) : strnlen(text, (size_t)c->precision), c->width, ' ');
        break;
    case 'c':
        one = (char)va_arg(*arguments, int);
        put(to, one);
        break;
    case 'g':
        put_general(to, va_arg(*arguments, double));
        break;
    case 'd': {
        int64_t number = c->is_wide ? va_arg(*arguments, int64_t) : va_arg(*arguments, int);
        if (number < 0) put(to, '-');
        put_padded(to, digits, digits_of(digits, number < 0 ? 0 - (uint64_t)number : (uint64_t)number, 10), c->width,
                   c->pad);
        break;
    }
    case 'u':
    case 'x':
        put_padded(to, digits, digits_of(digits, whole_number(c, arguments), letter == 'x' ? 16 : 10), c->width,
                   c->pad);
        break;
    default: /* a percent sign */
        put(to, letter);
    }
}

int vsnprintf(char *restrict bytes, size_t room, const char *restrict format, va_list given) {
    struct cut_text to = {bytes, room, 0};
    va_list arguments;
    va_copy(arguments, given);
    for (; *format; format++) {
        struct conversion c;
        if (*format != '%') {
            put(&to, *format);
            continue;
        }
        format = read_conversion(format + 1, &c, &arguments);
        put_conversion(&to, *format, &c, &arguments);
    }
    va_end(arguments);
    if (room) bytes[to.length < room ? to.length : room - 1] = 0;
    return (int)to.length;
}

int snprintf(char *restrict bytes, size_t room, const char *restrict format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(bytes, room, format, arguments);
    va_end(arguments);
    return length;
}
