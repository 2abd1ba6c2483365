#include "rdb_reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- checksum ---- */

/* CRC-64 with the reflected polynomial 0xad93d23594c935a9, eight bytes at a time: table[n][b] is
 * the checksum of the byte b with n zeros after it. */
static uint64_t table[8][256];

static void make_table(void) {
    for (unsigned byte = 0; byte < 256; byte++) {
        uint64_t crc = byte;
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? UINT64_C(0x95ac9329ac4bc9b5) : 0);
        table[0][byte] = crc;
    }
    for (unsigned byte = 0; byte < 256; byte++)
        for (int n = 1; n < 8; n++) table[n][byte] = table[n - 1][byte] >> 8 ^ table[0][table[n - 1][byte] & 255];
}

static uint64_t little_endian(const uint8_t *bytes) {
    uint64_t word = 0;
    for (int i = 7; i >= 0; i--) word = word << 8 | bytes[i];
    return word;
}

static uint64_t sum(uint64_t crc, const uint8_t *bytes, size_t length) {
    for (; length >= 8; length -= 8, bytes += 8) {
        crc ^= little_endian(bytes);
        crc = table[7][crc & 255] ^ table[6][crc >> 8 & 255] ^ table[5][crc >> 16 & 255] ^ table[4][crc >> 24 & 255] ^
              table[3][crc >> 32 & 255] ^ table[2][crc >> 40 & 255] ^ table[1][crc >> 48 & 255] ^ table[0][crc >> 56];
    }
    for (; length; length--, bytes++) crc = table[0][(crc ^ *bytes) & 255] ^ crc >> 8;
    return crc;
}

uint64_t rdb_checksum(struct rdb_reader *reader) {
    reader->checksum = sum(reader->checksum, reader->block + reader->summed, reader->at - reader->summed);
    reader->summed = reader->at;
    return reader->checksum;
}

/* ---- bytes ---- */

void rdb_reader_begin(struct rdb_reader *reader, ssize_t (*read)(void *context, void *to, size_t room), void *context) {
    if (!table[0][1]) make_table();
    memset(reader, 0, offsetof(struct rdb_reader, block));
    reader->read = read;
    reader->context = context;
}

uint64_t rdb_offset(const struct rdb_reader *reader) {
    return reader->start + reader->at;
}

bool rdb_fault(struct rdb_reader *reader, uint64_t at, const char *format, ...) {
    va_list arguments;
    if (*reader->fault) return false;
    va_start(arguments, format);
    vsnprintf(reader->fault, sizeof reader->fault, format, arguments);
    va_end(arguments);
    reader->fault_at = at;
    return false;
}

bool rdb_more(struct rdb_reader *reader) {
    if (reader->at < reader->filled) return true;
    rdb_checksum(reader);
    reader->start += reader->filled;
    reader->at = reader->summed = reader->filled = 0;
    ssize_t some = reader->read(reader->context, reader->block, sizeof reader->block);
    if (some < 0) reader->failed = true;
    if (some > 0) reader->filled = (size_t)some;
    return some > 0;
}

/* At least one byte, and how many there are. */
static bool fill(struct rdb_reader *reader, uint64_t wanted, size_t *some) {
    *some = 0;
    if (!rdb_more(reader)) return reader->failed ? false : rdb_fault(reader, rdb_offset(reader), "it ends there");
    size_t have = reader->filled - reader->at;
    *some = have < wanted ? have : (size_t)wanted;
    return true;
}

bool rdb_take(struct rdb_reader *reader, void *to, size_t length) {
    uint8_t *end = to;
    for (size_t some; length; length -= some, end += some) {
        if (!fill(reader, length, &some)) return false;
        memcpy(end, reader->block + reader->at, some);
        reader->at += some;
    }
    return true;
}

bool rdb_skip(struct rdb_reader *reader, uint64_t length) {
    for (size_t some; length; length -= some) {
        if (!fill(reader, length, &some)) return false;
        reader->at += some;
    }
    return true;
}

/* ---- numbers and strings ---- */

enum { ENCODED_INT8, ENCODED_INT16, ENCODED_INT32, ENCODED_LZF };

/* A number, or with *encoded one of the above. */
static bool number_or_code(struct rdb_reader *reader, uint64_t *number, bool *encoded) {
    uint8_t first, rest[8];
    uint64_t at = rdb_offset(reader);
    if (!rdb_take(reader, &first, 1)) return false;
    *encoded = first >> 6 == 3;
    *number = first & 63;
    size_t more = first >> 6 == 1 ? 1 : first == 0x80 ? 4 : first == 0x81 ? 8 : 0;
    if (first >> 6 == 2) {
        if (!more) return rdb_fault(reader, at, "no number begins with 0x%02x", first);
        *number = 0;
    }
    if (!rdb_take(reader, rest, more)) return false;
    for (size_t i = 0; i < more; i++) *number = *number << 8 | rest[i];
    return true;
}

bool rdb_number(struct rdb_reader *reader, uint64_t *number) {
    bool encoded;
    uint64_t at = rdb_offset(reader);
    if (!number_or_code(reader, number, &encoded)) return false;
    return encoded ? rdb_fault(reader, at, "a string stands there instead of a number") : true;
}

static bool keep_integer(struct rdb_reader *reader, size_t width, struct rdb_text *text) {
    uint8_t bytes[8] = {0};
    if (!rdb_take(reader, bytes, width)) return false;
    uint32_t bits = (uint32_t)little_endian(bytes);
    int32_t number = width == 1 ? (int8_t)bits : width == 2 ? (int16_t)bits : (int32_t)bits;
    text->kept = (size_t)snprintf((char *)text->bytes, sizeof text->bytes, "%d", (int)number);
    text->length = text->kept;
    return true;
}

static bool keep_plain(struct rdb_reader *reader, uint64_t length, struct rdb_text *text) {
    text->length = length;
    text->kept = length < sizeof text->bytes ? (size_t)length : sizeof text->bytes;
    return rdb_take(reader, text->bytes, text->kept) && rdb_skip(reader, length - text->kept);
}

/* What LZF unpacks. It repeats bytes from at most as far back as `last` reaches. */
struct lzf_output {
    struct rdb_text *text;
    uint64_t length;
    uint8_t last[8192];
};

static void append(struct lzf_output *to, uint8_t byte) {
    if (to->length < sizeof to->text->bytes) to->text->bytes[to->length] = byte;
    to->last[to->length++ % sizeof to->last] = byte;
}

/* The next of `packed` bytes. */
static bool next_packed(struct rdb_reader *reader, uint64_t *packed, uint8_t *byte) {
    if (!*packed) return false;
    --*packed;
    return rdb_take(reader, byte, 1);
}

/* A byte c below 32, and c+1 bytes as they are; or 3 bits of a length and 13 of a distance, each
 * less than it is, with a byte more of the length if its bits are all set. */
static bool unpack_piece(struct rdb_reader *reader, uint64_t *packed, struct lzf_output *to) {
    uint8_t first, byte;
    if (!next_packed(reader, packed, &first)) return false;
    size_t length = first >> 5, distance = (size_t)(first & 31) << 8;
    if (!length) {
        for (length = (size_t)first + 1; length; length--) {
            if (!next_packed(reader, packed, &byte)) return false;
            append(to, byte);
        }
        return true;
    }
    if (length == 7) {
        if (!next_packed(reader, packed, &byte)) return false;
        length += byte;
    }
    if (!next_packed(reader, packed, &byte)) return false;
    distance += (size_t)byte + 1;
    if (distance > to->length) return false;
    for (length += 2; length; length--) append(to, to->last[(to->length - distance) % sizeof to->last]);
    return true;
}

static bool keep_packed(struct rdb_reader *reader, uint64_t packed, uint64_t length, struct rdb_text *text) {
    struct lzf_output to = {.text = text};
    uint64_t at = rdb_offset(reader);
    while (packed && to.length <= length)
        if (!unpack_piece(reader, &packed, &to))
            return reader->failed ? false : rdb_fault(reader, at, "a packed string cannot be unpacked");
    if (packed || to.length != length) return rdb_fault(reader, at, "a packed string has another length than it says");
    text->length = length;
    text->kept = length < sizeof text->bytes ? (size_t)length : sizeof text->bytes;
    return true;
}

/* NULL = skips it. */
static bool read_string(struct rdb_reader *reader, struct rdb_text *text) {
    bool encoded;
    uint64_t code, packed, at = rdb_offset(reader);
    if (!number_or_code(reader, &code, &encoded)) return false;
    if (!encoded) return text ? keep_plain(reader, code, text) : rdb_skip(reader, code);
    if (code <= ENCODED_INT32) {
        size_t width = (size_t)1 << code;
        return text ? keep_integer(reader, width, text) : rdb_skip(reader, width);
    }
    if (code != ENCODED_LZF) return rdb_fault(reader, at, "no string begins with 0x%02x", (unsigned)(0xC0 | code));
    uint64_t length;
    if (!rdb_number(reader, &packed) || !rdb_number(reader, &length)) return false;
    return text ? keep_packed(reader, packed, length, text) : rdb_skip(reader, packed);
}

bool rdb_string(struct rdb_reader *reader, struct rdb_text *text) {
    return read_string(reader, text);
}

bool rdb_skip_string(struct rdb_reader *reader) {
    return read_string(reader, NULL);
}

/* ---- layouts ---- */

static bool skip_text_double(struct rdb_reader *reader) {
    enum { NOT_A_NUMBER = 253 }; /* and the two infinities */
    uint8_t length;
    return rdb_take(reader, &length, 1) && (length >= NOT_A_NUMBER || rdb_skip(reader, length));
}

static bool skip_element(struct rdb_reader *reader, char element) {
    uint64_t number;
    switch (element) {
    case 's':
        return rdb_skip_string(reader);
    case 'n':
        return rdb_number(reader, &number);
    case 'b':
        return rdb_skip(reader, 1);
    case 'w':
        return rdb_skip(reader, 4);
    case 't':
        return rdb_skip(reader, 8);
    case 'i':
        return rdb_skip(reader, 16);
    default:
        return skip_text_double(reader);
    }
}

/* The ']' that belongs to the '[' at `layout`. */
static const char *end_of_group(const char *layout) {
    for (int depth = 0;; layout++) {
        depth += (*layout == '[') - (*layout == ']');
        if (!depth) return layout;
    }
}

/* Up to the end of the text, or of the group that it is in. Every pass through a group reads a
 * byte, so none goes on for longer than the file. */
bool rdb_skip_layout(struct rdb_reader *reader, const char *layout) {
    for (; *layout && *layout != ']'; layout++) {
        uint64_t times;
        if (*layout != '[') {
            if (!skip_element(reader, *layout)) return false;
            continue;
        }
        if (!rdb_number(reader, &times)) return false;
        for (; times; times--)
            if (!rdb_skip_layout(reader, layout + 1)) return false;
        layout = end_of_group(layout);
    }
    return true;
}
