/* The bytes of an RDB file, which servers save their keys in: read once from the beginning to the
 * end, in one block of memory, with their checksum. The numbers and strings in it:
 *
 *     00nnnnnn                      a number of 6 bits
 *     01nnnnnn nnnnnnnn             of 14 bits
 *     80 u32, 81 u64                of 32 or 64 bits, big-endian
 *     number, bytes                 a string
 *     C0 i8, C1 i16, C2 i32         a string of decimal digits, little-endian
 *     C3 number number, bytes       a string packed by LZF: the lengths packed and unpacked
 *
 * Example: the string "abc" is 03 61 62 63, and "12" is C0 0C.
 *
 * Whatever is read returns false once there is a fault, or the bytes cannot be read. No length in
 * the file makes memory be taken. */
#ifndef CLI_RDB_RDB_READER_H
#define CLI_RDB_RDB_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { RDB_BLOCK = 64 << 10, RDB_KEPT = 4096, RDB_FAULT_TEXT = 160 };

struct rdb_reader {
    ssize_t (*read)(void *context, void *to, size_t room); /* as read(2), without EINTR */
    void *context;
    bool failed;                /* it returned -1, with errno */
    char fault[RDB_FAULT_TEXT]; /* what is wrong with the file, as a phrase; "" = nothing yet */
    uint64_t fault_at;          /* and at which byte */

    uint64_t start, checksum;  /* of the block in the file; of all bytes before `summed` */
    size_t at, summed, filled; /* in the block */
    uint8_t block[RDB_BLOCK];
};

/* The beginning of a string. */
struct rdb_text {
    uint64_t length;
    size_t kept; /* of it, in `bytes` */
    uint8_t bytes[RDB_KEPT];
};

void rdb_reader_begin(struct rdb_reader *reader, ssize_t (*read)(void *context, void *to, size_t room), void *context);

/* Where the next byte is. */
uint64_t rdb_offset(const struct rdb_reader *reader);

/* The CRC64 of all bytes read. */
uint64_t rdb_checksum(struct rdb_reader *reader);

/* Keeps the first fault. Returns false. */
bool rdb_fault(struct rdb_reader *reader, uint64_t at, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Is there a byte more? That there is none is no fault. */
bool rdb_more(struct rdb_reader *reader);

bool rdb_take(struct rdb_reader *reader, void *to, size_t length);
bool rdb_skip(struct rdb_reader *reader, uint64_t length);
bool rdb_number(struct rdb_reader *reader, uint64_t *number);
bool rdb_string(struct rdb_reader *reader, struct rdb_text *text);
bool rdb_skip_string(struct rdb_reader *reader);

/* Skips what `layout` describes, a letter each:
 *     s  a string                      n  a number
 *     b  a byte                        w  4 bytes
 *     t  8 bytes: a time or a double   i  16 bytes: an entry of a stream
 *     d  a double as text: a byte with its length, or 253 to 255 alone
 *     [...]  a number, and that many times what stands between */
bool rdb_skip_layout(struct rdb_reader *reader, const char *layout);

#endif
