/* The portable format of Roaring bitmaps: a strict check of the bytes before libroaring, which
 * trusts what it reads. All numbers are little-endian:
 *
 *   32-bit ids   3A 30 00 00, u32 n          or 3B 30, u16 n-1, and n bits: which are lists of runs
 *                n x { u16 key, u16 ids-1 }  a container has the ids with the same upper 16 bits
 *                n x { u32 offset }          not if it has lists of runs and n < 4
 *                n containers                up to 4096 ids: u16 in rising order; else 65,536 bits;
 *                                            runs: u16 r, r x { u16 first, u16 length-1 }
 *   64-bit ids   u64 b, b x { u32 high, the ids with these upper 32 bits, as above }, in order
 *
 * Example: the set {5, 6} without runs is 3A300000 01000000 0000 0100 10000000 0500 0600. */
#ifndef CLI_BACKEND_ROARING_PORTABLE_H
#define CLI_BACKEND_ROARING_PORTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WIDE_HEADER = 8, WIDE_BUCKET = 4 };

/* Does a bitmap of 32-bit ids begin with these bytes? Nothing else that perhaps can tell apart
 * does. */
bool portable_begins(const uint8_t first[4]);

/* Checks a whole file, of 64-bit ids if `wide`. NULL, or what is wrong with it, as a phrase that
 * follows the file's name. */
const char *portable_check_file(const uint8_t *bytes, size_t length, bool wide);

/* Numbers as they stand in these files. */
uint32_t portable_u32(const uint8_t *bytes);
uint64_t portable_u64(const uint8_t *bytes);

#endif
