/*
 * Import and export of foreign formats.
 *
 * RedisBloom's dumps are a header and the arrays, one after the other, little-endian, not padded:
 *
 *     BF   items u64, layers u32, options u32, growth u32; for each layer: bytes u64, bits u64,
 *          items u64, error f64, bits per entry f64, hashes u32, entries u64, n2 u8
 *     CF   items u64, buckets u64, deletions u64, sub-filters u64, bucket size u16, steps u16,
 *          expansion u16
 *
 * Importing turns them into headers of this library first. The kinds check the layouts as in every
 * image; this file checks the rest. Memory is allocated only after that, and never more than there
 * are bytes.
 */
#include "base/arith.h"
#include "base/endian.h"
#include "base/memory.h"
#include "base/error.h"
#include "core/children.h"
#include "foreign/redis_bloom/redis_bloom_layout.h"
#include "foreign/redis_cuckoo/redis_cuckoo_layout.h"
#include "api/foreign_file.h"
#include "perhaps_embed.h"

#include <string.h>

/* Offsets of the fields; those of a layer from its beginning. */
enum { CHAIN_ITEMS = 0, CHAIN_LAYERS = 8, CHAIN_OPTIONS = 12, CHAIN_GROWTH = 16, CHAIN_BYTES = 20 };
enum { LAYER_BYTES = 0, LAYER_BITS = 8, LAYER_ITEMS = 16, LAYER_ERROR = 24, LAYER_BPE = 32, LAYER_HASHES = 40 };
enum { LAYER_ENTRIES = 44, LAYER_N2 = 52, LAYER_HEADER_BYTES = 53 };
enum { CUCKOO_ITEMS_AT = 0, CUCKOO_BUCKETS_AT = 8, CUCKOO_DELETIONS_AT = 16, CUCKOO_FILTERS_AT = 24 };
enum { CUCKOO_SIZE_AT = 32, CUCKOO_STEPS_AT = 34, CUCKOO_EXPANSION_AT = 36, CUCKOO_HEADER_BYTES = 38 };

static int damaged(const char *reason) {
    return fail(PERHAPS_EDAMAGED, "the bytes have %s", reason);
}

/* ==== reading headers ==== */

/* ---- Bloom ---- */

/* The header of a chain of layers; `layer` is where those of the layers begin. */
struct chain {
    uint64_t items;
    uint32_t layers, options, growth;
    const uint8_t *layer;
};

static bool scales(const struct chain *chain) {
    return !(chain->options & REDIS_OPTION_NO_SCALING);
}

static const char *read_chain(const uint8_t *bytes, uint64_t length, struct chain *chain) {
    if (length < CHAIN_BYTES) return "an incomplete header";
    *chain = (struct chain){load64(bytes + CHAIN_ITEMS), load32(bytes + CHAIN_LAYERS), load32(bytes + CHAIN_OPTIONS),
                            load32(bytes + CHAIN_GROWTH), bytes + CHAIN_BYTES};
    if (chain->layers < 1 || chain->layers > LAYERS_MAX || (!scales(chain) && chain->layers > 1))
        return "an impossible number of layers";
    if (chain->growth > REDIS_BLOOM_GROWTH_MAX || (scales(chain) && chain->growth == 0)) return "a growth out of range";
    if (length - CHAIN_BYTES < (uint64_t)chain->layers * LAYER_HEADER_BYTES) return "an incomplete header";
    return NULL;
}

/* Layer i as a filter of this library. */
static const char *read_layer(const struct chain *chain, unsigned i, struct header *header) {
    const uint8_t *at = chain->layer + (size_t)i * LAYER_HEADER_BYTES;
    const char *reason;
    *header = (struct header){.kind = PERHAPS_REDIS_BLOOM,
                              .hash = PERHAPS_MURMUR,
                              .seed = kind_redis_bloom.hashing.seed,
                              .items = load64(at + LAYER_ITEMS),
                              .capacity = load64(at + LAYER_ENTRIES),
                              .fpr = load_double(at + LAYER_ERROR),
                              .length = load64(at + LAYER_BYTES)};
    header->layout[REDIS_BLOOM_BITS] = load64(at + LAYER_BITS);
    header->layout[REDIS_BLOOM_HASHES] = load32(at + LAYER_HASHES);
    header->layout[REDIS_BLOOM_N2] = at[LAYER_N2];
    header->layout[REDIS_BLOOM_BPE] = load64(at + LAYER_BPE);
    header->layout[REDIS_BLOOM_OPTIONS] = chain->options | (scales(chain) ? 0 : (uint64_t)chain->growth << 32);
    uint64_t length = kind_redis_bloom.payload_bytes(header->layout, &reason);
    if (!length) return reason;
    if (length != header->length) return "numbers of bits and of bytes that disagree";
    return kind_redis_bloom.foreign->check_facts(header->capacity, header->fpr, header->length);
}

/* Checks all layers; *total becomes the length of the dump. The limit is that of layers_fit. */
static const char *check_chain(const struct chain *chain, uint64_t *total) {
    uint64_t items = 0, keys = 0;
    *total = CHAIN_BYTES + (uint64_t)chain->layers * LAYER_HEADER_BYTES;
    for (unsigned i = 0; i < chain->layers; i++) {
        struct header header;
        const char *reason = read_layer(chain, i, &header);
        if (reason) return reason;
        uint64_t more = header.items > header.capacity ? header.items : header.capacity;
        if (!add_fits(*total, header.length, total) || !add_fits(keys, more, &keys) || (*total | keys) > INT64_MAX)
            return "layers that are too large together";
        items += header.items;
    }
    return items == chain->items ? NULL : "another number of items than its layers";
}

/* ---- cuckoo ---- */

static const char *read_cuckoo(const uint8_t *bytes, uint64_t length, struct header *header) {
    const char *reason;
    if (length < CUCKOO_HEADER_BYTES) return "an incomplete header";
    uint64_t filters = load64(bytes + CUCKOO_FILTERS_AT),
             most = filters > REDIS_CUCKOO_FILTERS_USUAL ? filters : REDIS_CUCKOO_FILTERS_USUAL;
    if (filters > REDIS_CUCKOO_FILTERS_MAX) return "an impossible number of sub-filters";
    *header =
        (struct header){.kind = PERHAPS_REDIS_CUCKOO, .hash = PERHAPS_MURMUR, .items = load64(bytes + CUCKOO_ITEMS_AT)};
    header->layout[REDIS_CUCKOO_BUCKETS] = load64(bytes + CUCKOO_BUCKETS_AT);
    header->layout[REDIS_CUCKOO_BUCKET_SIZE] = load16(bytes + CUCKOO_SIZE_AT);
    header->layout[REDIS_CUCKOO_EXPANSION] = load16(bytes + CUCKOO_EXPANSION_AT);
    header->layout[REDIS_CUCKOO_FILTERS] = filters;
    header->layout[REDIS_CUCKOO_LIMITS] = load16(bytes + CUCKOO_STEPS_AT) | most << 16;
    header->length = kind_redis_cuckoo.payload_bytes(header->layout, &reason);
    if (!header->length) return reason;
    header->capacity = header->length - REDIS_CUCKOO_TAIL_BYTES;
    header->fpr = redis_cuckoo_fpr(header->layout);
    if (header->layout[REDIS_CUCKOO_EXPANSION] == 0) header->flags = HEADER_FIXED;
    return header->items <= header->capacity ? NULL : "more items than slots";
}

static const char *bloom_length(const uint8_t *bytes, uint64_t length, uint64_t *header_length, uint64_t *total) {
    struct chain chain;
    const char *reason = read_chain(bytes, length, &chain);
    if (reason) return reason;
    *header_length = CHAIN_BYTES + (uint64_t)chain.layers * LAYER_HEADER_BYTES;
    return check_chain(&chain, total);
}

static const char *cuckoo_length(const uint8_t *bytes, uint64_t length, uint64_t *header_length, uint64_t *total) {
    struct header header;
    const char *reason = read_cuckoo(bytes, length, &header);
    *header_length = CUCKOO_HEADER_BYTES;
    *total = reason ? 0 : CUCKOO_HEADER_BYTES + header.length - REDIS_CUCKOO_TAIL_BYTES;
    return reason;
}

/* ---- opening ---- */

/* A filter whose array begins with these bytes. */
static int make_from(perhaps **made, const struct header *header, const uint8_t *bytes, uint64_t length,
                     const perhaps_allocator *allocator) {
    struct hash hash = hash_unkeyed(PERHAPS_MURMUR, header->seed);
    int rc = filter_make(made, allocator, header, &hash, NULL, false);
    if (rc == PERHAPS_OK) memcpy((*made)->array.bytes, bytes, (size_t)length);
    return rc;
}

static int open_layers(perhaps *f, const struct chain *chain, const uint8_t *bits, const perhaps_allocator *allocator) {
    int rc = PERHAPS_OK;
    for (unsigned i = 0; rc == PERHAPS_OK && i < chain->layers; i++) {
        struct header header;
        read_layer(chain, i, &header);
        rc = make_from(&f->children->child[i].filter, &header, bits, header.length, allocator);
        f->children->count += rc == PERHAPS_OK;
        bits += header.length;
    }
    if (rc == PERHAPS_OK) children_settle(f);
    return rc;
}

/* The header of the growing filter around these layers. */
static struct header header_of_chain(const struct chain *chain, const struct header *first) {
    struct header header = {.kind = PERHAPS_GROWING,
                            .hash = PERHAPS_MURMUR,
                            .seed = first->seed,
                            .capacity = first->capacity,
                            .fpr = redis_error_of_chain(first->fpr)};
    header.layout[BASE] = PERHAPS_REDIS_BLOOM;
    header.layout[CHILDREN] = chain->layers;
    header.layout[GROWTH] = (uint64_t)chain->growth * 256;
    return header;
}

static int open_bloom(perhaps **f, const uint8_t *bytes, uint64_t length, const perhaps_allocator *allocator) {
    struct chain chain;
    struct header first;
    const char *reason = read_chain(bytes, length, &chain);
    if (!reason) reason = read_layer(&chain, 0, &first);
    if (reason) return damaged(reason);
    const uint8_t *bits = chain.layer + (size_t)chain.layers * LAYER_HEADER_BYTES;
    if (!scales(&chain)) return make_from(f, &first, bits, first.length, allocator);
    struct header header = header_of_chain(&chain, &first);
    struct hash hash = hash_unkeyed(PERHAPS_MURMUR, header.seed);
    perhaps *made;
    int rc = filter_make(&made, allocator, &header, &hash, NULL, false);
    if (rc < 0) return rc;
    return filter_finish(f, made, open_layers(made, &chain, bits, allocator));
}

/* The items are counted from the slots: the header's number is not relied on. */
static int open_cuckoo(perhaps **f, const uint8_t *bytes, uint64_t length, const perhaps_allocator *allocator) {
    struct header header;
    const char *reason = read_cuckoo(bytes, length, &header);
    if (reason) return damaged(reason);
    int rc = make_from(f, &header, bytes + CUCKOO_HEADER_BYTES, header.capacity, allocator);
    if (rc < 0) return rc;
    (*f)->header.items = redis_cuckoo_used((*f)->array.bytes, header.capacity);
    store64(redis_cuckoo_tail(&(*f)->array, REDIS_CUCKOO_ITEMS), (*f)->header.items);
    store64(redis_cuckoo_tail(&(*f)->array, REDIS_CUCKOO_DELETIONS), load64(bytes + CUCKOO_DELETIONS_AT));
    return PERHAPS_OK;
}

/* ==== writing ==== */

struct outlet {
    int (*sink)(void *context, const void *bytes, size_t length);
    void *context;
};

static int send(const struct outlet *out, const uint8_t *bytes, uint64_t length) {
    if (out->sink(out->context, bytes, (size_t)length)) return fail(PERHAPS_EIO, "the sink stopped the writing");
    return PERHAPS_OK;
}

/* ---- Bloom ---- */

/* A filter that does not scale is written as a chain of one layer. */
static unsigned layers_of(const perhaps *f) {
    return f->children ? f->children->count : 1;
}

static const perhaps *layer_of(const perhaps *f, unsigned i) {
    return f->children ? f->children->child[i].filter : f;
}

/* A single filter takes keys without limit; the format's numbers have 63 bits. */
static uint64_t items_of(const perhaps *f) {
    uint64_t items = filter_items(f);
    return items < INT64_MAX ? items : INT64_MAX;
}

static void write_layer_header(const perhaps *layer, uint8_t *at) {
    const uint64_t *layout = layer->header.layout;
    store64(at + LAYER_BYTES, layer->array.length);
    store64(at + LAYER_BITS, layout[REDIS_BLOOM_BITS]);
    store64(at + LAYER_ITEMS, items_of(layer));
    store_double(at + LAYER_ERROR, layer->header.fpr);
    store64(at + LAYER_BPE, layout[REDIS_BLOOM_BPE]);
    store32(at + LAYER_HASHES, (uint32_t)layout[REDIS_BLOOM_HASHES]);
    store64(at + LAYER_ENTRIES, layer->header.capacity);
    at[LAYER_N2] = (uint8_t)layout[REDIS_BLOOM_N2];
}

/* A layer that could scale but stands alone does not know the growth of its chain: it gets 2. */
static uint32_t growth_of(const perhaps *f, uint64_t options) {
    if (f->children) return (uint32_t)(f->header.layout[GROWTH] / 256);
    return options & REDIS_OPTION_NO_SCALING ? (uint32_t)(options >> 32) : 2;
}

static void write_chain_header(const perhaps *f, uint8_t *at) {
    uint64_t options = layer_of(f, 0)->header.layout[REDIS_BLOOM_OPTIONS];
    store64(at + CHAIN_ITEMS, items_of(f));
    store32(at + CHAIN_LAYERS, layers_of(f));
    store32(at + CHAIN_OPTIONS, (uint32_t)options);
    store32(at + CHAIN_GROWTH, growth_of(f, options));
    for (unsigned i = 0; i < layers_of(f); i++)
        write_layer_header(layer_of(f, i), at + CHAIN_BYTES + (size_t)i * LAYER_HEADER_BYTES);
}

static int write_bloom(const perhaps *f, const struct outlet *out) {
    uint64_t length = CHAIN_BYTES + (uint64_t)layers_of(f) * LAYER_HEADER_BYTES;
    uint8_t *header = memory_get(&f->allocator, length);
    if (!header) return fail(PERHAPS_ENOMEM, "no memory for a header of %llu bytes", (unsigned long long)length);
    write_chain_header(f, header);
    int rc = send(out, header, length);
    memory_release(&f->allocator, header, length);
    for (unsigned i = 0; rc == PERHAPS_OK && i < layers_of(f); i++)
        rc = send(out, layer_of(f, i)->array.bytes, layer_of(f, i)->array.length);
    return rc;
}

/* ---- cuckoo ---- */

static void write_cuckoo_header(const perhaps *f, uint8_t *at) {
    const uint64_t *layout = f->header.layout;
    store64(at + CUCKOO_ITEMS_AT, load64(redis_cuckoo_tail(&f->array, REDIS_CUCKOO_ITEMS)));
    store64(at + CUCKOO_BUCKETS_AT, layout[REDIS_CUCKOO_BUCKETS]);
    store64(at + CUCKOO_DELETIONS_AT, load64(redis_cuckoo_tail(&f->array, REDIS_CUCKOO_DELETIONS)));
    store64(at + CUCKOO_FILTERS_AT, redis_cuckoo_in_use(&f->array));
    store16(at + CUCKOO_SIZE_AT, (uint16_t)layout[REDIS_CUCKOO_BUCKET_SIZE]);
    store16(at + CUCKOO_STEPS_AT, (uint16_t)layout[REDIS_CUCKOO_LIMITS]);
    store16(at + CUCKOO_EXPANSION_AT, (uint16_t)layout[REDIS_CUCKOO_EXPANSION]);
}

static int write_cuckoo(const perhaps *f, const struct outlet *out) {
    uint8_t header[CUCKOO_HEADER_BYTES];
    const uint64_t *layout = f->header.layout;
    write_cuckoo_header(f, header);
    int rc = send(out, header, sizeof header);
    for (uint64_t i = 0; rc == PERHAPS_OK && i < redis_cuckoo_in_use(&f->array); i++)
        rc = send(out, f->array.bytes + redis_cuckoo_slots_of(layout, i), redis_cuckoo_slots(layout, i));
    return rc;
}

/* ---- the dumps ---- */

/* Kinds whose bytes are a dump. Kinds that are foreign files have a `format` instead. */
struct dump {
    int kind;
    const char *(*length)(const uint8_t *bytes, uint64_t length, uint64_t *header_length, uint64_t *total);
    int (*open)(perhaps **f, const uint8_t *bytes, uint64_t length, const perhaps_allocator *allocator);
    int (*write)(const perhaps *f, const struct outlet *out);
};

static const struct dump *dump_of(int kind) {
    static const struct dump dumps[] = {{PERHAPS_REDIS_BLOOM, bloom_length, open_bloom, write_bloom},
                                        {PERHAPS_REDIS_CUCKOO, cuckoo_length, open_cuckoo, write_cuckoo}};
    for (size_t i = 0; i < sizeof dumps / sizeof *dumps; i++) {
        if (dumps[i].kind == kind) return &dumps[i];
    }
    return NULL;
}

/* ---- the public calls ---- */

int64_t perhaps_foreign_length(int kind, const void *bytes, uint64_t length, uint64_t *header_length) {
    const struct dump *dump = dump_of(kind);
    uint64_t total;
    if (!dump) return format_length(kind, bytes, length, header_length);
    const char *reason = dump->length(bytes, length, header_length, &total);
    return reason ? damaged(reason) : (int64_t)total;
}

int perhaps_open_foreign(perhaps **f, int kind, const void *bytes, uint64_t length,
                         const perhaps_open_options *theirs) {
    perhaps_open_options options;
    uint64_t header_length;
    *f = NULL;
    int rc = take_open_options(&options, theirs, PERHAPS_OPEN_COPY);
    if (rc < 0) return rc;
    const struct dump *dump = dump_of(kind);
    const struct kind *found = kind_find(kind);
    options.flags = PERHAPS_OPEN_COPY;
    if (!dump && (!found || !found->format)) return fail(PERHAPS_EINVAL, "kind %d is not one of another program", kind);
    if (!dump) return format_open_memory(f, found, bytes, length, &options);
    int64_t total = perhaps_foreign_length(kind, bytes, length, &header_length);
    if (total < 0) return (int)total;
    if ((uint64_t)total != length)
        return fail(PERHAPS_EDAMAGED, "there are %llu bytes, but the header says %llu", (unsigned long long)length,
                    (unsigned long long)total);
    return dump->open(f, bytes, length, options.allocator);
}

int perhaps_write_foreign(const perhaps *f, int (*sink)(void *context, const void *bytes, size_t length),
                          void *context) {
    bool layers = f->children && f->kind->composite->has_layers;
    const struct kind *kind = layers ? kind_of_keys(f->kind, f->header.layout) : f->kind;
    const struct dump *dump = dump_of(kind->row.kind);
    if (recipe_transforms(f->header.recipe))
        return fail(PERHAPS_ECANNOT, "the bytes of another program cannot tell that the keys are transformed; make the "
                                     "filter without a transformation");
    if (dump) return dump->write(f, &(struct outlet){sink, context});
    if (kind->format) return perhaps_write(f, sink, context);
    return filter_cannot(f, "be written in the format of another program");
}
