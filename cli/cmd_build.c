/* perhaps build: a filter from lines. The number of keys comes from -n, from counting files that can be read twice, or
 * from collecting the digests of a pipe. */
#include "commands.h"
#include "filter.h"
#include "input.h"
#include "numbers.h"
#include "want.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* ------------------------------------------------------------------------------------------------------- hash --- */

static int random_key(uint8_t key[HASH_KEY_BYTES]) {
    if (getrandom(key, HASH_KEY_BYTES, 0) == HASH_KEY_BYTES) return FINE;
    return failure("--hash", "no random numbers to be had for a key: %s; give --hash-key FILE", strerror(errno));
}

/* `key` must live as long as the want. */
static int hash_from_options(perhaps_want *want, const struct options *options, uint8_t key[HASH_KEY_BYTES]) {
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
    if (want->key_in_file) return random_key(key);
    return failure(
        "--hash",
        "siphash needs a secret key that you can give again later; give --hash-key FILE, or --key-in-file to keep "
        "a random one in the filter");
}

/* ---------------------------------------------------------------------------------------------------- filling --- */

static int add_batch(void *context, const struct batch *batch) {
    perhaps *filter = context;
    int64_t rc = batch->numbers ? perhaps_add_many_u64(filter, batch->numbers, batch->n, NULL)
                                : perhaps_add_many(filter, batch->keys, batch->lengths, batch->n, NULL);
    return rc < 0 ? library_failure(batch->path, (int)rc) : FINE;
}

static int create(perhaps **filter, const perhaps_want *want) {
    int rc = perhaps_create(filter, want);
    return rc < 0 ? library_failure(NULL, rc) : FINE;
}

/* The keys of a pipe, hashed, until their number is known. */
struct collected {
    const perhaps *hasher; /* an empty filter that hashes as the real one will */
    uint64_t *digests;
    size_t n, room;
};

static int collect_batch(void *context, const struct batch *batch) {
    struct collected *c = context;
    if (c->n + batch->n > c->room) {
        size_t room = 2 * c->room + 64 * BATCH;
        uint64_t *larger = realloc(c->digests, room * sizeof *larger);
        if (!larger)
            return failure(input_name(batch->path), "too many keys to collect in memory; say how many there are: -n N");
        c->digests = larger;
        c->room = room;
    }
    for (size_t i = 0; i < batch->n; i++)
        c->digests[c->n++] = batch->numbers ? perhaps_digest_u64(c->hasher, batch->numbers[i])
                                            : perhaps_digest(c->hasher, batch->keys[i], batch->lengths[i]);
    return FINE;
}

static int fill_from_digests(perhaps **filter, perhaps_want *want, const struct collected *c) {
    want->items = c->n ? c->n : 1;
    if (create(filter, want) != FINE) return TROUBLE;
    int64_t rc = perhaps_add_many_digest(*filter, c->digests, c->n, NULL);
    return rc < 0 ? library_failure(NULL, (int)rc) : FINE;
}

static int build_from_pipe(perhaps **filter, perhaps_want *want, const struct input *input) {
    perhaps *hasher;
    perhaps_want small =
        PERHAPS_WANT(.items = 1, .fpr = 0.5, .hash = want->hash, .seed = want->seed, .hash_key = want->hash_key);
    if (create(&hasher, &small) != FINE) return TROUBLE;
    struct collected collected = {.hasher = hasher};
    int status = input_read(input, collect_batch, &collected);
    if (status == FINE) status = fill_from_digests(filter, want, &collected);
    free(collected.digests);
    perhaps_free(hasher);
    return status;
}

static int build_from_input(perhaps **filter, perhaps_want *want, const struct input *input) {
    bool number_known = want->items || (want->bytes && want->fpr > 0);
    if (!number_known) {
        bool countable;
        if (input_count(input, &countable, &want->items) != FINE) return TROUBLE;
        if (!countable) return build_from_pipe(filter, want, input);
        if (!want->items) want->items = 1;
    }
    if (create(filter, want) != FINE) return TROUBLE;
    return input_read(input, add_batch, *filter);
}

/* ---------------------------------------------------------------------------------------------------- command --- */

static int finish(const struct options *options, const perhaps *filter) {
    struct perhaps_info info;
    if (output_save(options, filter) != FINE || filter_info(filter, options->output, &info) != FINE) return TROUBLE;
    warn_if_overfull(&info, options->output, false);
    if (given(options, OPT_JSON)) print_info_json(&info, options->output);
    return FINE;
}

int cmd_build(const struct options *options) {
    perhaps_want want;
    struct input input;
    uint8_t key[HASH_KEY_BYTES];
    perhaps *filter = NULL;
    if (want_from_options(&want, options) != FINE || hash_from_options(&want, options, key) != FINE) return TROUBLE;
    if (input_from_options(&input, options, options->operands, options->operand_count) != FINE) return TROUBLE;
    if (output_check(options) != FINE) return TROUBLE;
    want.tag = input.encoding;
    int status = build_from_input(&filter, &want, &input);
    if (status == FINE) status = finish(options, filter);
    perhaps_free(filter);
    return status;
}
