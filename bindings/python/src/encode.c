/* The transformations of recipes: how a text, or a number, becomes a key. docs/FORMAT.md has the
 * rules. */
#include "binding.h"

#include <string.h>

Py_ssize_t encoded_room(const struct py_filter *f, Py_ssize_t length) {
    switch (f->form) {
    case PERHAPS_KEY_INT32:
        return 4;
    case PERHAPS_KEY_INT64:
        return 8;
    case PERHAPS_KEY_HEX:
        return length / 2;
    case PERHAPS_KEY_UTF16:
        return length > PY_SSIZE_T_MAX / 2 ? -1 : length * 2;
    default:
        return length;
    }
}

size_t number_width(int form) {
    return form == PERHAPS_KEY_INT32 ? 4 : 8;
}

/* Digits only: a number below 2^64. */
static bool decimal(const char *text, Py_ssize_t length, uint64_t *number) {
    uint64_t value = 0;
    for (Py_ssize_t i = 0; i < length; i++) {
        unsigned digit = (unsigned)(unsigned char)text[i] - '0';
        if (digit > 9 || __builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *number = value;
    return length > 0;
}

bool encode_number(int form, uint64_t number, bool negative, uint8_t *out) {
    size_t width = number_width(form);
    uint64_t largest = (UINT64_C(1) << (width * 8 - 1)) - 1;
    if (negative ? ~number > largest : number > largest) return false;
    for (size_t i = 0; i < width; i++) out[i] = (uint8_t)(number >> 8 * i);
    return true;
}

static const char *encode_decimal(int form, const char *text, Py_ssize_t length, uint8_t *out) {
    bool negative = length && *text == '-';
    uint64_t magnitude;
    bool whole = decimal(text + negative, length - negative, &magnitude);
    /* Of minus zero: zero. */
    if (whole && magnitude <= (UINT64_C(1) << 63) &&
        encode_number(form, negative ? -magnitude : magnitude, negative && magnitude, out))
        return NULL;
    return form == PERHAPS_KEY_INT32 ? "is not a decimal number from -2^31 to 2^31-1"
                                     : "is not a decimal number from -2^63 to 2^63-1";
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

static const char *encode_hex(const char *text, Py_ssize_t length, uint8_t *out) {
    if (length % 2) return "has an odd number of hexadecimal digits";
    for (Py_ssize_t i = 0; i < length; i += 2) {
        int high = hex_digit(text[i]), low = hex_digit(text[i + 1]);
        if (high < 0 || low < 0) return "is not hexadecimal";
        *out++ = (uint8_t)(high << 4 | low);
    }
    return NULL;
}

/* The character at *at, which moves behind it; UINT32_MAX for what is not UTF-8. */
static uint32_t utf8_next(const unsigned char **at, const unsigned char *end) {
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned lead = **at;
    int length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
    if (length == 0 || end - *at < length) return UINT32_MAX;
    uint32_t value = length == 1 ? lead : lead & (0x7Fu >> length);
    for (int i = 1; i < length; i++) {
        if (((*at)[i] & 0xC0) != 0x80) return UINT32_MAX;
        value = value << 6 | ((*at)[i] & 0x3F);
    }
    bool surrogate = value >= 0xD800 && value < 0xE000;
    *at += length;
    return value < smallest[length] || value > 0x10FFFF || surrogate ? UINT32_MAX : value;
}

static const char *encode_utf16(const char *text, Py_ssize_t length, uint8_t *out, Py_ssize_t *written) {
    const unsigned char *at = (const unsigned char *)text, *end = at + length;
    uint8_t *start = out;
    while (at < end) {
        uint32_t code = utf8_next(&at, end);
        if (code == UINT32_MAX) return "is not UTF-8";
        if (code >= 0x10000) {
            uint32_t high = 0xD800 + ((code - 0x10000) >> 10);
            code = 0xDC00 + ((code - 0x10000) & 0x3FF);
            *out++ = (uint8_t)high;
            *out++ = (uint8_t)(high >> 8);
        }
        *out++ = (uint8_t)code;
        *out++ = (uint8_t)(code >> 8);
    }
    *written = out - start;
    return NULL;
}

static void fold_case(const char *text, Py_ssize_t length, uint8_t *out) {
    for (Py_ssize_t i = 0; i < length; i++) {
        uint8_t c = (uint8_t)text[i];
        out[i] = (uint8_t)(c + ((uint8_t)(c - 'A') < 26 ? 'a' - 'A' : 0));
    }
}

const char *encode_text(const struct py_filter *f, const char *text, Py_ssize_t length, uint8_t *out,
                        Py_ssize_t *written, uint64_t *number) {
    *written = encoded_room(f, length);
    switch (f->form) {
    case PERHAPS_KEY_U64:
        return decimal(text, length, number) ? NULL : "is not a decimal number from 0 to 2^64-1";
    case PERHAPS_KEY_INT32:
    case PERHAPS_KEY_INT64:
        return encode_decimal(f->form, text, length, out);
    case PERHAPS_KEY_HEX:
        return encode_hex(text, length, out);
    case PERHAPS_KEY_UTF16:
        return encode_utf16(text, length, out, written);
    default:
        break;
    }
    if (f->ignore_case)
        fold_case(text, length, out);
    else if (length)
        memcpy(out, text, (size_t)length);
    return NULL;
}
