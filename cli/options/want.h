/* From options to a perhaps_want: -n, -p, -k and their like for plan and build; --hash, --seed,
 * --hash-key and --key-in-file for build and dedup. */
#ifndef CLI_OPTIONS_WANT_H
#define CLI_OPTIONS_WANT_H

#include "backend/file/filter_file.h"

/* Sizes, kind and needs. The rate is 0.01 if neither a rate nor a size is given. */
int want_from_options(perhaps_want *want, const struct options *options);

/* How many keys a filter of unknown size begins with. */
enum { FIRST_GUESS = 1000 };

/* `key` must live as long as the want. */
int hash_from_options(perhaps_want *want, const struct options *options, uint8_t key[HASH_KEY_BYTES]);

/* The seed that --seed gives, or a random one, for which nobody can have prepared keys. */
int seed_from_options(uint64_t *seed, const struct options *options);

#endif
