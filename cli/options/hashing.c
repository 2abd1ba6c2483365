#include "hashing.h"
#include "abilities.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

/* False, and errno, if there are none. */
static bool random_bytes(void *bytes, size_t size) {
    ssize_t got;
    do got = getrandom(bytes, size, 0);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)size;
}

int seed_from_options(uint64_t *seed, const struct options *options) {
    *seed = options->seed;
    if (given(options, OPT_SEED) || random_bytes(seed, sizeof *seed)) return FINE;
    return failure("--seed", "the system gave no random numbers for a seed: %s; give --seed N", strerror(errno));
}

static int refuse_hash(const struct options *options, const char *why) {
    static const enum option_id about_hashes[] = {OPT_HASH, OPT_SEED, OPT_HASH_KEY, OPT_KEY_IN_FILE};
    char name[OPTION_TEXT];
    enum option_id id = first_given(options, about_hashes, sizeof about_hashes / sizeof *about_hashes);
    return id == OPTIONS ? FINE : failure(option_shown(id, name), "%s; leave it out", why);
}

int hash_from_options(perhaps_want *want, const struct options *options, uint8_t key[HASH_KEY_BYTES]) {
    if (want->kind == PERHAPS_BITMAP) return refuse_hash(options, "a bitmap takes integers as they are");
    if (is_file_kind(want->kind)) return refuse_hash(options, "files of other programs have a hash of their own");
    bool siphash = given(options, OPT_HASH) ? options->hash + 1 == PERHAPS_SIPHASH : given(options, OPT_HASH_KEY);
    want->hash = siphash ? PERHAPS_SIPHASH : PERHAPS_XXH3;
    want->seed = options->seed;
    want->key_in_file = given(options, OPT_KEY_IN_FILE);
    if (!siphash) {
        if (given(options, OPT_HASH_KEY))
            return failure("--hash-key", "xxh3 takes no key; give --hash siphash, or a --seed");
        if (want->key_in_file) return failure("--key-in-file", "xxh3 takes no key; give --hash siphash");
        return FINE;
    }
    if (given(options, OPT_SEED)) return failure("--seed", "is for xxh3; siphash takes --hash-key FILE");
    want->hash_key = key;
    if (given(options, OPT_HASH_KEY)) return hash_key_read(options->hash_key, key);
    if (!want->key_in_file)
        return failure("--hash", "siphash needs a secret key that you can give again later; give --hash-key FILE, or "
                                 "--key-in-file to keep a random one in the filter");
    if (random_bytes(key, HASH_KEY_BYTES)) return FINE;
    return failure("--hash", "the system gave no random numbers for a key: %s; give --hash-key FILE", strerror(errno));
}
