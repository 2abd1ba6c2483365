#include "encode.h"

#include <stdbool.h>

static bool parse_decimal(const char *at, const char *end, uint64_t *number) {
    uint64_t value = 0;
    if (at == end) return false;
    for (; at < end; at++) {
        unsigned digit = (unsigned)(unsigned char)*at - '0';
        if (digit > 9) return false;
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, digit, &value)) return false;
    }
    *number = value;
    return true;
}

const char *encode_u64(const char *line, size_t length, uint64_t *number) {
    return parse_decimal(line, line + length, number) ? NULL : "is not a decimal number from 0 to 2^64-1";
}

const char *encode_int(const char *line, size_t length, size_t size, uint8_t *key) {
    bool negative = length && *line == '-';
    uint64_t magnitude, limit = (UINT64_C(1) << (size * 8 - 1)) - !negative;
    if (!parse_decimal(line + negative, line + length, &magnitude) || magnitude > limit)
        return size == 4 ? "is not a decimal number from -2^31 to 2^31-1"
                         : "is not a decimal number from -2^63 to 2^63-1";
    uint64_t value = negative ? -magnitude : magnitude;
    for (size_t i = 0; i < size; i++) key[i] = (uint8_t)(value >> 8 * i);
    return NULL;
}

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

const char *encode_hex(const char *line, size_t length, uint8_t *key) {
    if (length % 2) return "has an odd number of hexadecimal digits";
    for (size_t i = 0; i < length; i += 2) {
        int high = hex_digit(line[i]), low = hex_digit(line[i + 1]);
        if (high < 0 || low < 0) return "is not hexadecimal";
        *key++ = (uint8_t)(high << 4 | low);
    }
    return NULL;
}

const char *utf8_next(const char *at, const char *end, uint32_t *code) {
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char lead = (unsigned char)*at;
    int length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
    if (length == 0 || end - at < length) return NULL;
    uint32_t value = length == 1 ? lead : lead & (0x7Fu >> length);
    for (int i = 1; i < length; i++) {
        unsigned char next = (unsigned char)at[i];
        if ((next & 0xC0) != 0x80) return NULL;
        value = value << 6 | (next & 0x3F);
    }
    bool surrogate = value >= 0xD800 && value < 0xE000;
    if (value < smallest[length] || value > 0x10FFFF || surrogate) return NULL;
    *code = value;
    return at + length;
}

char *shown_text(const char *text, size_t length, char *out) {
    const char *end = text + length;
    while (text < end) {
        uint32_t code;
        const char *next = utf8_next(text, end, &code);
        bool harmless = next && code >= ' ' && (code < 0x7F || code > 0x9F);
        if (!next) next = text + 1;
        if (!harmless) *out++ = '?';
        for (; text < next; text++)
            if (harmless) *out++ = *text;
    }
    return out;
}

const char *encode_utf16(const char *line, size_t length, uint8_t *key, size_t *key_length) {
    const char *end = line + length;
    uint8_t *out = key;
    while (line < end) {
        uint32_t code;
        line = utf8_next(line, end, &code);
        if (!line) return "is not UTF-8";
        if (code >= 0x10000) {
            uint32_t high = 0xD800 + ((code - 0x10000) >> 10);
            code = 0xDC00 + ((code - 0x10000) & 0x3FF);
            *out++ = (uint8_t)high;
            *out++ = (uint8_t)(high >> 8);
        }
        *out++ = (uint8_t)code;
        *out++ = (uint8_t)(code >> 8);
    }
    *key_length = (size_t)(out - key);
    return NULL;
}

void fold_case(const char *line, size_t length, uint8_t *key) {
    for (size_t i = 0; i < length; i++) {
        uint8_t c = (uint8_t)line[i];
        key[i] = (uint8_t)(c + ((uint8_t)(c - 'A') < 26 ? 'a' - 'A' : 0));
    }
}
