/* From --hash, --seed, --hash-key and --key-in-file to a perhaps_want, for build and dedup. */
#ifndef CLI_OPTIONS_HASHING_H
#define CLI_OPTIONS_HASHING_H

#include "backend/file/filter_file.h"

/* `key` must live as long as the want. */
int hash_from_options(perhaps_want *want, const struct options *options, uint8_t key[HASH_KEY_BYTES]);

/* The seed that --seed gives, or a random one, for which nobody can have prepared keys. */
int seed_from_options(uint64_t *seed, const struct options *options);

#endif
