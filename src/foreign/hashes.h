/* The hash functions of other programs. */
#ifndef PERHAPS_FOREIGN_HASHES_H
#define PERHAPS_FOREIGN_HASHES_H

#include <stddef.h>
#include <stdint.h>

/* FNV-1 of 64 bits (Fowler, Noll, Vo): multiply, then xor. */
uint64_t fnv1(const void *bytes, size_t length);

#endif
