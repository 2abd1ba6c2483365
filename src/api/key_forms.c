#include "api/key_forms.h"

#include "base/error.h"

#include <string.h>

/* ---- checks ---- */

/* Of a key. Integers may be given as bytes, with a width of 1. */
static size_t width_of(const perhaps_keys *keys) {
    return keys->form >= PERHAPS_KEYS_FORM_U64 ? sizeof(uint64_t) : keys->width;
}

static size_t stride_of(const perhaps_keys *keys) {
    return keys->stride ? keys->stride : width_of(keys);
}

static uint32_t offset32(const perhaps_keys *keys, size_t i) {
    uint32_t offset;
    memcpy(&offset, (const uint8_t *)keys->lengths + i * sizeof offset, sizeof offset);
    return offset;
}

static uint64_t offset64(const perhaps_keys *keys, size_t i) {
    uint64_t offset;
    memcpy(&offset, (const uint8_t *)keys->lengths + i * sizeof offset, sizeof offset);
    return offset;
}

static uint64_t offset_of(const perhaps_keys *keys, size_t i) {
    return keys->width == sizeof(uint32_t) ? offset32(keys, i) : offset64(keys, i);
}

/* No early exit: compilers make vector code of the loops. */
static bool offsets_rise(const perhaps_keys *keys) {
    unsigned falls = 0;
    if (keys->width == sizeof(uint32_t))
        for (size_t i = 0; i < keys->n; i++) falls |= offset32(keys, i + 1) < offset32(keys, i);
    else
        for (size_t i = 0; i < keys->n; i++) falls |= offset64(keys, i + 1) < offset64(keys, i);
    return !falls;
}

static int check_packed(const perhaps_keys *keys) {
    if (keys->width != sizeof(uint32_t) && keys->width != sizeof(uint64_t))
        return fail(PERHAPS_EINVAL, "the offsets of a packed batch have 4 or 8 bytes, not %zu", keys->width);
    if (!keys->lengths) return fail(PERHAPS_EINVAL, "the packed batch has no offsets (n = %zu)", keys->n);
    if (keys->n >= PTRDIFF_MAX / keys->width)
        return fail(PERHAPS_EINVAL, "no memory can hold the offsets of %zu keys", keys->n);
    if (!offsets_rise(keys))
        return fail(PERHAPS_EINVAL, "the offsets of a packed batch decrease: key i goes from offset i to offset i + 1");
    uint64_t end = offset_of(keys, keys->n);
    if (end > PTRDIFF_MAX) return fail(PERHAPS_EINVAL, "the last offset of a packed batch is beyond all memory");
    if (!keys->data && end > offset_of(keys, 0)) return fail(PERHAPS_EINVAL, "the packed batch has no buffer");
    return PERHAPS_OK;
}

static int check_bytes(const perhaps_keys *keys) {
    if (!keys->data || !keys->lengths)
        return fail(PERHAPS_EINVAL, "the batch has no %s (n = %zu)", keys->data ? "lengths" : "pointers", keys->n);
    if (keys->width != sizeof(size_t))
        return fail(PERHAPS_EINVAL, "the lengths of a batch are of type size_t, not of %zu bytes", keys->width);
    if (keys->n > PTRDIFF_MAX / sizeof(void *))
        return fail(PERHAPS_EINVAL, "no memory can hold the pointers of %zu keys", keys->n);
    return PERHAPS_OK;
}

static int check_spaced(const perhaps_keys *keys) {
    bool of_words = keys->form != PERHAPS_KEYS_FORM_FIXED;
    if (!keys->data) return fail(PERHAPS_EINVAL, "the batch has no data (n = %zu)", keys->n);
    bool of_bytes = keys->form == PERHAPS_KEYS_FORM_U64 && keys->width == 1; /* at any alignment */
    if (of_words && !of_bytes && keys->width != sizeof(uint64_t))
        return fail(PERHAPS_EINVAL, "integers and digests have 8 bytes, not %zu", keys->width);
    size_t width = width_of(keys), stride = stride_of(keys);
    if (width > PTRDIFF_MAX || (stride && keys->n - 1 > (PTRDIFF_MAX - width) / stride))
        return fail(PERHAPS_EINVAL, "no memory can hold %zu keys of %zu bytes, %zu bytes apart", keys->n, width,
                    stride);
    return PERHAPS_OK;
}

int keys_check(const perhaps_keys *keys) {
    if (!keys) return fail(PERHAPS_EINVAL, "there is no batch of keys");
    if (keys->form < PERHAPS_KEYS_FORM_BYTES || keys->form > PERHAPS_KEYS_FORM_DIGEST)
        return fail(PERHAPS_EINVAL, "a batch of keys has no form %d; see enum perhaps_keys_form", keys->form);
    if (keys->n == 0) return PERHAPS_OK;
    if (keys->n > PTRDIFF_MAX) return fail(PERHAPS_EINVAL, "a batch cannot have %zu keys", keys->n);
    if (keys->form == PERHAPS_KEYS_FORM_BYTES) return check_bytes(keys);
    return keys->form == PERHAPS_KEYS_FORM_PACKED ? check_packed(keys) : check_spaced(keys);
}

/* ---- slices ---- */

static const void *advance(const void *start, size_t bytes) {
    return start ? (const uint8_t *)start + bytes : NULL;
}

perhaps_keys keys_slice(const perhaps_keys *keys, size_t from, size_t n) {
    perhaps_keys slice = *keys;
    slice.n = n;
    if (keys->form <= PERHAPS_KEYS_FORM_PACKED) slice.lengths = advance(keys->lengths, from * keys->width);
    if (keys->form == PERHAPS_KEYS_FORM_BYTES) slice.data = advance(keys->data, from * sizeof(void *));
    if (keys->form > PERHAPS_KEYS_FORM_PACKED) slice.data = advance(keys->data, from * stride_of(keys));
    return slice;
}

const uint64_t *keys_words(const perhaps_keys *keys, size_t from) {
    if (keys->form < PERHAPS_KEYS_FORM_U64 || stride_of(keys) != sizeof(uint64_t)) return NULL;
    if ((uintptr_t)keys->data % _Alignof(uint64_t) != 0) return NULL;
    return advance(keys->data, from * sizeof(uint64_t));
}

/* ---- gathering ---- */

struct gathered {
    const void *keys[GATHER];
    size_t lengths[GATHER];
};

/* An empty key may begin past the buffer's end, and a buffer of empty keys only may be NULL. */
static void gather_packed(const perhaps_keys *keys, size_t from, size_t n, struct gathered *gathered) {
    const uint8_t *data = keys->data ? keys->data : (const uint8_t *)"";
    uint64_t begin = offset_of(keys, from);
    for (size_t i = 0; i < n; i++) {
        uint64_t end = offset_of(keys, from + i + 1);
        gathered->lengths[i] = (size_t)(end - begin);
        gathered->keys[i] = data + (end > begin ? (size_t)begin : 0);
        begin = end;
    }
}

static void gather_fixed(const perhaps_keys *keys, size_t from, size_t n, struct gathered *gathered) {
    size_t stride = stride_of(keys);
    const uint8_t *first = (const uint8_t *)keys->data + from * stride;
    for (size_t i = 0; i < n; i++) {
        gathered->keys[i] = first + i * stride;
        gathered->lengths[i] = keys->width;
    }
}

static void gather_words(const perhaps_keys *keys, size_t from, size_t n, uint64_t *words) {
    size_t stride = stride_of(keys);
    const uint8_t *first = (const uint8_t *)keys->data + from * stride;
    for (size_t i = 0; i < n; i++) memcpy(&words[i], first + i * stride, sizeof words[i]);
}

/* ---- digests ---- */

/* Up to GATHER keys of bytes, packed or at fixed places. */
static void hash_gathered(const struct hash *hash, bool two_words, const perhaps_keys *keys, size_t from, size_t n,
                          uint64_t *digests) {
    struct gathered gathered;
    if (keys->form == PERHAPS_KEYS_FORM_PACKED)
        gather_packed(keys, from, n, &gathered);
    else
        gather_fixed(keys, from, n, &gathered);
    hash_bytes_many(hash, two_words, gathered.keys, gathered.lengths, n, digests);
}

static void hash_gathered_words(const struct hash *hash, bool two_words, const perhaps_keys *keys, size_t from,
                                size_t n, uint64_t *digests) {
    uint64_t words[GATHER];
    gather_words(keys, from, n, words);
    hash_u64_many(hash, two_words, words, n, digests);
}

const uint64_t *keys_digests(const struct hash *hash, bool two_words, const perhaps_keys *keys, size_t from, size_t n,
                             uint64_t *room) {
    const uint64_t *words = keys_words(keys, from);
    bool integers = keys->form >= PERHAPS_KEYS_FORM_U64;
    bool unhashed = keys->form == PERHAPS_KEYS_FORM_DIGEST || (integers && hash->id == PERHAPS_IDENTITY);
    if (unhashed && words) return words;
    if (unhashed)
        gather_words(keys, from, n, room);
    else if (words)
        hash_u64_many(hash, two_words, words, n, room);
    else if (keys->form == PERHAPS_KEYS_FORM_BYTES)
        hash_bytes_many(hash, two_words, (const void *const *)keys->data + from, (const size_t *)keys->lengths + from,
                        n, room);
    else
        for (size_t done = 0; done < n; done += GATHER)
            (integers ? hash_gathered_words : hash_gathered)(hash, two_words, keys, from + done,
                                                             n - done < GATHER ? n - done : GATHER,
                                                             room + (two_words ? 2 * done : done));
    return room;
}
