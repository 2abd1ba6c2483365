/* Digests without a filter. A perhaps_hasher has the bytes of a struct hash. */
#include "api/key_forms.h"
#include "base/error.h"
#include "core/filter.h"

#include <string.h>

_Static_assert(sizeof(struct hash) == sizeof(perhaps_hasher), "a hasher is as large as a hash");

static struct hash hash_in(const perhaps_hasher *h) {
    struct hash hash;
    memcpy(&hash, h, sizeof hash);
    return hash;
}

int perhaps_hasher_init(perhaps_hasher *h, int hash, uint64_t seed, const uint8_t *hash_key) {
    int id = hash == PERHAPS_HASH_DEFAULT ? PERHAPS_XXH3 : hash;
    enum isa isa;
    if (!hash_name(id)) return fail(PERHAPS_EINVAL, "there is no hash %d; see enum perhaps_hash", hash);
    if (id == PERHAPS_SIPHASH && !hash_key) return fail(PERHAPS_EINVAL, "siphash needs a hash_key of 16 bytes");
    if (id == PERHAPS_SIPHASH && seed) return fail(PERHAPS_EINVAL, "siphash takes a hash_key, not a seed");
    if (id != PERHAPS_SIPHASH && hash_key)
        return fail(PERHAPS_EINVAL, "a hash key goes with siphash only, not with %s", hash_name(id));
    int rc = isa_choose(&isa);
    if (rc < 0) return rc;
    struct hash made = hash_key ? hash_siphash(hash_key) : hash_unkeyed(id, seed);
    made.isa = isa;
    memcpy(h, &made, sizeof made);
    return PERHAPS_OK;
}

const perhaps_hasher *perhaps_hasher_of(const perhaps *f) {
    return (const perhaps_hasher *)(const void *)&f->hash;
}

uint64_t perhaps_digest(const perhaps_hasher *h, const void *key, size_t length) {
    struct hash hash = hash_in(h);
    return hash_bytes(&hash, key, length);
}

uint64_t perhaps_digest_u64(const perhaps_hasher *h, uint64_t key) {
    struct hash hash = hash_in(h);
    return hash_u64(&hash, key);
}

int perhaps_digest_many(const perhaps_hasher *h, const perhaps_keys *keys, uint64_t *digests) {
    struct hash hash = hash_in(h);
    int rc = keys_check(keys);
    if (rc < 0 || keys->n == 0) return rc;
    if (hash.id == PERHAPS_IDENTITY && keys->form < PERHAPS_KEYS_FORM_U64)
        return fail(PERHAPS_ECANNOT, "the hash 'identity' takes integers only, not keys of bytes");
    const uint64_t *made = keys_digests(&hash, false, keys, 0, keys->n, digests);
    if (made != digests) memcpy(digests, made, keys->n * sizeof *digests);
    return PERHAPS_OK;
}
