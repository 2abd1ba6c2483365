/* From --hash, --seed, --hash-key and --key-in-file to a perhaps_want: what build and dedup have in common. */
#ifndef CLI_HASHING_H
#define CLI_HASHING_H

#include "filter.h"

/* `key` must live as long as the want. */
int hash_from_options(perhaps_want *want, const struct options *options, uint8_t key[HASH_KEY_BYTES]);

#endif
