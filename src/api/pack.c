/*
 * Packed filters: a filter in hardly more bytes than its arrays, for databases that keep many small
 * ones.
 *
 *     head    what it is: numbers, most of them of variable length (7 bits a byte)
 *     bytes   the arrays of its leaves, one after another, each in one of three forms:
 *
 *     form      in `bytes`                                     after unpacking
 *     plain     the array                                      in place: changes are made there;
 *                                                              a copy, if the kind may be full
 *     sparse    of each byte that is not zero: how many        a copy, in memory of its own
 *               bytes after the one before, and the byte
 *     cut       the array without the counters at its end,     a copy, in memory of its own
 *               which are in the head
 *
 * A filter with few keys is sparse. It becomes plain when that is not much longer, and stays so.
 *
 * Packed bytes are this process's own, and are trusted. They are no format: other versions may have
 * others.
 */
#include "base/endian.h"
#include "base/error.h"
#include "core/children.h"
#include "perhaps_embed.h"
#include "plan/plan.h"

#include <string.h>

enum form { FORM_PLAIN, FORM_SPARSE, FORM_CUT };

/* Larger arrays, and those that may have more bytes that are not zero, are never sparse: the search
 * for these bytes costs time. */
enum { SPARSE_MOST = 4096, TOUCHED_MOST = 64 };

/* ---- numbers ---- */

/* Bytes beyond the room are counted, not written. */
struct writer {
    uint8_t *bytes;
    size_t at, room;
};

static inline void put_byte(struct writer *writer, unsigned byte) {
    if (writer->at < writer->room) writer->bytes[writer->at] = (uint8_t)byte;
    writer->at++;
}

static inline void put_number(struct writer *writer, uint64_t number) {
    for (; number >= 128; number >>= 7) put_byte(writer, (unsigned)(number & 127) | 128);
    put_byte(writer, (unsigned)number);
}

static void put_bytes(struct writer *writer, const void *bytes, size_t length) {
    if (writer->at + length <= writer->room) memcpy(writer->bytes + writer->at, bytes, length);
    writer->at += length;
}

static inline uint64_t get_number(const uint8_t **at) {
    uint64_t number = *(*at)++;
    if (number < 128) return number;
    number &= 127;
    for (unsigned shift = 7;; shift += 7) {
        uint64_t byte = *(*at)++;
        number |= (byte & 127) << shift;
        if (byte < 128) return number;
    }
}

static void get_bytes(const uint8_t **at, void *bytes, size_t length) {
    memcpy(bytes, *at, length);
    *at += length;
}

/* ---- packing ---- */

static bool is_leaf_packable(const perhaps *f) {
    return !f->children && !f->kind->solver && !f->kind->sparse && !f->kind->format && !f->kind->composite &&
           !f->shared && !f->guessed && !f->tail && f->header.items <= UINT32_MAX && f->file.fd < 0 &&
           !f->header.recipe.length;
}

static bool is_packable(const perhaps *f) {
    if (!f->children) return is_leaf_packable(f);
    if (!f->kind->composite->has_layers || f->header.recipe.length || f->shared || f->children->spare) return false;
    for (unsigned i = 0; i < f->children->count; i++)
        if (!is_leaf_packable(f->children->child[i].filter)) return false;
    return true;
}

/* Whether the array is where it was unpacked from. */
static bool is_in_place(const perhaps *leaf, const perhaps_packed *old) {
    const uint8_t *bytes = old ? old->bytes : NULL;
    return bytes && leaf->array.bytes >= bytes && leaf->array.bytes < bytes + old->length;
}

/* Fewer than eight, as a word. */
static uint64_t last_bytes(const struct array *array, uint64_t at) {
    uint8_t bytes[8] = {0};
    memcpy(bytes, array->bytes + at, (size_t)(array->length - at));
    return load64(bytes);
}

/* False if that is more than three quarters of the array: the writer is then as it was. */
static bool put_sparse(struct writer *writer, const struct array *array) {
    size_t start = writer->at;
    uint64_t most = array->length - array->length / 4, after = 0;
    for (uint64_t at = 0; at < array->length; at += 8) {
        uint64_t word = at + 8 <= array->length ? load64(array->bytes + at) : last_bytes(array, at);
        while (word) {
            unsigned bit = (unsigned)__builtin_ctzll(word) & ~7u;
            put_number(writer, at + bit / 8 - after);
            put_byte(writer, (unsigned)(word >> bit & 255));
            after = at + bit / 8 + 1;
            word &= ~(UINT64_C(255) << bit);
        }
    }
    if (writer->at - start <= most) return true;
    writer->at = start;
    return false;
}

/* Whether so few keys can have touched so few bytes that looking for them is worth it. A leaf in
 * place is plain, and stays so. */
static bool may_be_sparse(const perhaps *leaf, const perhaps_packed *old) {
    uint64_t touched = leaf->header.items * leaf->kind->model->hashes(leaf->header.layout);
    return leaf->array.length <= SPARSE_MOST && !is_in_place(leaf, old) && touched <= TOUCHED_MOST &&
           2 * touched < leaf->array.length;
}

static void put_array(const perhaps *leaf, const perhaps_packed *old, struct writer *head, struct writer *bytes) {
    const struct array *array = &leaf->array;
    size_t start = bytes->at;
    if (may_be_sparse(leaf, old) && put_sparse(bytes, array)) {
        put_number(head, FORM_SPARSE);
        put_number(head, bytes->at - start);
        return;
    }
    uint64_t counters = leaf->kind->counter_bytes, rest = array->length - counters;
    put_number(head, counters ? FORM_CUT : FORM_PLAIN);
    put_bytes(bytes, array->bytes, (size_t)rest);
    for (uint64_t i = rest; i < array->length; i += 8) put_number(head, load64(array->bytes + i));
}

/* Without the zeros at its end. */
static void put_layout(struct writer *head, const uint64_t layout[LAYOUT_WORDS]) {
    unsigned words = LAYOUT_WORDS;
    while (words && !layout[words - 1]) words--;
    put_byte(head, words);
    for (unsigned i = 0; i < words; i++) put_number(head, layout[i]);
}

/* What a layer does not share with its parent. Items have a fixed length: a head seldom becomes
 * longer. */
static void put_facts(const struct header *header, struct writer *head) {
    uint8_t items[4];
    put_number(head, header->flags);
    put_number(head, header->capacity);
    put_bytes(head, &header->fpr, sizeof header->fpr);
    put_layout(head, header->layout);
    store32(items, (uint32_t)header->items);
    put_bytes(head, items, sizeof items);
}

static void put_hash(const perhaps *f, struct writer *head) {
    put_number(head, (uint64_t)f->hash.id);
    if (f->hash.id == PERHAPS_SIPHASH)
        put_bytes(head, f->hash.key, sizeof f->hash.key);
    else if (!kind_of_keys(f->kind, f->header.layout)->hashing.own)
        put_bytes(head, &f->hash.seed, sizeof f->hash.seed);
}

static void put_leaf(const perhaps *leaf, const perhaps_packed *old, struct writer *head, struct writer *bytes) {
    put_facts(&leaf->header, head);
    put_array(leaf, old, head, bytes);
}

static void put_growing(const perhaps *f, const perhaps_packed *old, struct writer *head, struct writer *bytes) {
    uint64_t layout[LAYOUT_WORDS];
    put_number(head, f->header.flags);
    put_bytes(head, &f->header.fpr, sizeof f->header.fpr);
    memcpy(layout, f->header.layout, sizeof layout);
    layout[CHILDREN] = f->children->count;
    put_layout(head, layout);
    put_hash(f, head);
    for (unsigned i = 0; i < f->children->count; i++) put_leaf(f->children->child[i].filter, old, head, bytes);
}

static void put_filter(const perhaps *f, const perhaps_packed *old, struct writer *head, struct writer *bytes) {
    put_number(head, (uint64_t)f->header.kind);
    put_byte(head, f->isa);
    if (f->children) {
        put_growing(f, old, head, bytes);
    } else {
        put_hash(f, head);
        put_leaf(f, old, head, bytes);
    }
}

/* Whether all arrays are in place. */
static bool all_in_place(const perhaps *f, const perhaps_packed *old) {
    if (!f->children) return is_in_place(f, old);
    for (unsigned i = 0; i < f->children->count; i++)
        if (!is_in_place(f->children->child[i].filter, old)) return false;
    return true;
}

int perhaps_pack(const perhaps *f, const perhaps_packed *old, perhaps_packed *packed) {
    if (!is_packable(f)) return filter_cannot(f, "be packed as they are; keep them as images");
    bool in_place = all_in_place(f, old);
    struct writer head = {packed->head, 0, packed->head_length}, bytes = {packed->bytes, 0, packed->length};
    if (in_place) bytes.room = 0;
    put_filter(f, old, &head, &bytes);
    bool fits = head.at <= head.room && (in_place || bytes.at <= bytes.room);
    packed->head_length = head.at;
    packed->length = bytes.at;
    if (in_place) packed->bytes = old->bytes;
    return fits ? PERHAPS_OK : fail(PERHAPS_ERANGE, "a packed filter needs %zu and %zu bytes", head.at, bytes.at);
}

/* ---- unpacking ---- */

struct unpacker {
    const uint8_t *head;
    uint8_t *bytes;
    const perhaps_allocator *allocator;
    bool copy;
    enum isa isa;
};

static void get_sparse(const uint8_t *at, size_t length, struct array *array) {
    uint64_t place = 0;
    for (const uint8_t *end = at + length; at < end; place++) {
        place += get_number(&at);
        array->bytes[place] = *at++;
    }
}

static int get_array(struct unpacker *unpacker, perhaps *leaf) {
    enum form form = (enum form)get_number(&unpacker->head);
    struct array *array = &leaf->array;
    uint64_t rest = form == FORM_SPARSE ? get_number(&unpacker->head) : array->length - leaf->kind->counter_bytes;
    if (form == FORM_PLAIN && !unpacker->copy && !leaf->kind->growable) {
        array->bytes = unpacker->bytes;
    } else {
        int rc = filter_own_image(leaf, form == FORM_SPARSE);
        if (rc < 0) return rc;
        if (form == FORM_SPARSE)
            get_sparse(unpacker->bytes, (size_t)rest, array);
        else
            memcpy(array->bytes, unpacker->bytes, (size_t)rest);
        if (form == FORM_CUT)
            for (uint64_t i = rest; i < array->length; i += 8) store64(array->bytes + i, get_number(&unpacker->head));
    }
    unpacker->bytes += rest;
    return PERHAPS_OK;
}

static void get_layout(struct unpacker *unpacker, uint64_t layout[LAYOUT_WORDS]) {
    unsigned words = *unpacker->head++;
    for (unsigned i = 0; i < words; i++) layout[i] = get_number(&unpacker->head);
}

static struct hash get_hash(struct unpacker *unpacker, const struct kind *of_keys) {
    int id = (int)get_number(&unpacker->head);
    uint64_t words[2] = {of_keys->hashing.seed};
    uint8_t key[16];
    if (id != PERHAPS_SIPHASH) {
        if (!of_keys->hashing.own) get_bytes(&unpacker->head, words, sizeof words[0]);
        return hash_unkeyed(id, words[0]);
    }
    get_bytes(&unpacker->head, words, sizeof words);
    hash_key_bytes(words, key);
    return hash_siphash(key);
}

static void set_hash(struct header *header, const struct hash *hash) {
    header->hash = hash->id;
    header->seed = hash->seed;
    if (header->flags & HEADER_HAS_KEY) memcpy(header->key, hash->key, sizeof header->key);
}

static int get_leaf(struct unpacker *unpacker, int kind, const struct hash *hash, perhaps **made) {
    struct header header = {.kind = kind};
    uint8_t items[4];
    const char *reason;
    perhaps *leaf;
    header.flags = (unsigned)get_number(&unpacker->head);
    header.capacity = get_number(&unpacker->head);
    get_bytes(&unpacker->head, &header.fpr, sizeof header.fpr);
    get_layout(unpacker, header.layout);
    get_bytes(&unpacker->head, items, sizeof items);
    header.items = load32(items);
    header.length = kind_find(kind)->payload_bytes(header.layout, &reason);
    set_hash(&header, hash);
    int rc = filter_handle(&leaf, unpacker->allocator, &header, hash, &unpacker->isa, false);
    return rc < 0 ? rc : filter_finish(made, leaf, get_array(unpacker, leaf));
}

static int get_layers(struct unpacker *unpacker, perhaps *f, unsigned count) {
    int rc = children_start(f, count);
    for (unsigned i = 0; rc == PERHAPS_OK && i < count; i++) {
        rc = get_leaf(unpacker, (int)f->header.layout[BASE], &f->hash, &f->children->child[i].filter);
        f->children->count += rc == PERHAPS_OK;
    }
    if (rc == PERHAPS_OK) children_settle(f);
    return rc;
}

/* The layout of a growing filter stands after its hash; its length follows. */
static int get_growing(struct unpacker *unpacker, int kind, perhaps **made) {
    struct header header = {.kind = kind};
    const char *reason;
    perhaps *f;
    header.flags = (unsigned)get_number(&unpacker->head);
    get_bytes(&unpacker->head, &header.fpr, sizeof header.fpr);
    get_layout(unpacker, header.layout);
    struct hash hash = get_hash(unpacker, kind_find((int)header.layout[BASE]));
    header.length = kind_find(kind)->payload_bytes(header.layout, &reason);
    set_hash(&header, &hash);
    int rc = filter_handle(&f, unpacker->allocator, &header, &hash, &unpacker->isa, false);
    return rc < 0 ? rc : filter_finish(made, f, get_layers(unpacker, f, (unsigned)header.layout[CHILDREN]));
}

static int unpack(perhaps **f, const perhaps_packed *packed, bool copy, const perhaps_allocator *allocator) {
    struct unpacker unpacker = {packed->head, packed->bytes, allocator, copy, ISA_SCALAR};
    int kind = (int)get_number(&unpacker.head);
    unpacker.isa = (enum isa) * unpacker.head++;
    *f = NULL;
    if (kind_find(kind)->composite) return get_growing(&unpacker, kind, f);
    struct hash hash = get_hash(&unpacker, kind_find(kind));
    return get_leaf(&unpacker, kind, &hash, f);
}

int perhaps_unpack(perhaps **f, const perhaps_packed *packed, const perhaps_allocator *allocator) {
    return unpack(f, packed, false, allocator);
}

int perhaps_unpack_copy(perhaps **f, const perhaps_packed *packed, const perhaps_allocator *allocator) {
    return unpack(f, packed, true, allocator);
}
