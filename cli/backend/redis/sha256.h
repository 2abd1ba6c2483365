/* SHA-256 (FIPS 180-4), for sets in plain strings: a hash that every language has. */
#ifndef CLI_BACKEND_REDIS_SHA256_H
#define CLI_BACKEND_REDIS_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32 };

/* The digest of one text followed by another. */
void sha256(const void *first, size_t first_length, const void *second, size_t second_length,
            uint8_t digest[SHA256_BYTES]);

#endif
