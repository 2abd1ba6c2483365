/*
 * Shapes: a filter without its keys.
 *
 * A shape is the header of the filter, with its recipe, and the headers of all its children, each
 * parent before its children, each with a checksum. It may be hostile, so it is checked like an
 * image before anything is made of it.
 *
 *     growing, 2 layers │ blocked, 1,000 keys │ blocked, 3,000 keys
 */
#include "base/arith.h"
#include "base/memory.h"
#include "base/error.h"
#include "composite/composite.h"
#include "perhaps_embed.h"

#include <string.h>

/* ---- writing ---- */

/* Layers that were made ahead are told too. */
static unsigned children_of(const perhaps *f) {
    return f->children ? f->children->count + f->children->spare : 0;
}

static size_t length_of(const perhaps *f) {
    size_t length = (size_t)header_length_alone(&f->header);
    for (unsigned i = 0; i < children_of(f); i++) length += length_of(f->children->child[i].filter);
    return length;
}

/* A layer is written as it was when it was appended: the same keys in the same order then make it
 * grow the same way. */
static struct header header_of(const perhaps *f, bool is_layer) {
    struct header header = filter_header(f, false);
    const char *reason;
    filter_keep_key(&header, &f->hash);
    header.items = 0;
    header.flags &= (unsigned)~HEADER_INTERSECTED;
    if (f->children) {
        header.layout[CHILDREN] = children_of(f);
        header.length = (uint64_t)children_of(f) * ENTRY_BYTES;
    }
    if (is_layer && f->kind->growable && f->kind->growable->ungrow) {
        f->kind->growable->ungrow(header.layout);
        header.length = f->kind->payload_bytes(header.layout, &reason);
    }
    return header;
}

static uint8_t *write_shape(const perhaps *f, bool is_layer, uint8_t *at) {
    struct header header = header_of(f, is_layer);
    header_write_alone(&header, at);
    at += header_length_alone(&header);
    for (unsigned i = 0; i < children_of(f); i++)
        at = write_shape(f->children->child[i].filter, f->kind->composite->has_layers, at);
    return at;
}

int64_t perhaps_shape(const perhaps *f, void *shape, size_t room) {
    size_t length = length_of(f);
    if (f->kind->solver) return filter_cannot(f, "tell their shape: without keys they have none");
    if (length <= room) write_shape(f, false, shape);
    return (int64_t)length;
}

/* ---- reading ---- */

/* The rest of a shape, and the memory that the filters before it take. */
struct reader {
    const uint8_t *at;
    size_t left;
    uint64_t bytes;
};

static int next_header(struct reader *reader, const struct header *parent, struct header *header) {
    uint64_t total;
    if (!reader->left) return fail(PERHAPS_EDAMAGED, "shape: truncated: it has fewer headers than it says");
    int rc = header_read_alone("shape", reader->at, reader->left, header);
    if (rc < 0) return rc;
    if (kind_find(header->kind)->solver) return fail(PERHAPS_ECANNOT, "shape: static filters have none");
    const char *reason = parent ? children_check(parent, header) : NULL;
    if (reason) return fail(PERHAPS_EDAMAGED, "shape: it has %s", reason);
    if (!image_length(header->length, header->recipe.length, &total) ||
        !add_fits(reader->bytes, total, &reader->bytes) || reader->bytes > memory_of_machine())
        return fail(PERHAPS_ENOMEM, "shape: the filter would take more memory than this machine has");
    reader->at += header_length_alone(header);
    reader->left -= (size_t)header_length_alone(header);
    return PERHAPS_OK;
}

static int check_end(const struct reader *reader) {
    return reader->left ? fail(PERHAPS_EDAMAGED, "shape: it has more headers than it says") : PERHAPS_OK;
}

/* ---- making ---- */

static int make_shape(perhaps **made, struct reader *reader, const perhaps *parent, const perhaps_allocator *allocator);

static int make_children(perhaps *f, struct reader *reader) {
    int rc = PERHAPS_OK;
    for (uint64_t i = 0; rc == PERHAPS_OK && i < f->header.layout[CHILDREN]; i++) {
        struct child *child = &f->children->child[i];
        child->since = is_timed(f) ? NEVER : 0;
        rc = make_shape(&child->filter, reader, f, &f->allocator);
        f->children->count += rc == PERHAPS_OK;
    }
    if (rc < 0) return rc;
    const char *reason = f->kind->composite->ops->check(f);
    if (reason) return fail(PERHAPS_EDAMAGED, "shape: it has %s", reason);
    children_settle(f);
    return PERHAPS_OK;
}

/* Recursion is bounded: children have the kind that their parent names, and no kind can be inside
 * itself. */
static int make_shape(perhaps **made, struct reader *reader, const perhaps *parent,
                      const perhaps_allocator *allocator) {
    struct header header;
    struct hash hash;
    perhaps *f = NULL;
    int rc = next_header(reader, parent ? &parent->header : NULL, &header);
    if (rc == PERHAPS_OK) rc = filter_hash("shape", &header, NULL, &hash);
    if (rc == PERHAPS_OK) rc = filter_make(&f, allocator, &header, &hash, parent ? &parent->isa : NULL, false);
    if (rc == PERHAPS_OK && f->children) rc = make_children(f, reader);
    return filter_finish(made, f, rc);
}

int perhaps_create_shape(perhaps **f, const void *shape, size_t length, const perhaps_allocator *allocator) {
    struct reader reader = {.at = shape, .left = length};
    perhaps *made = NULL;
    *f = NULL;
    int rc = make_shape(&made, &reader, NULL, allocator);
    if (rc == PERHAPS_OK) rc = check_end(&reader);
    return filter_finish(f, made, rc);
}

/* ---- further layers ---- */

/* Whether a header is that of this filter, except for layout words in `may_differ`, which change as
 * it grows. Foreign formats do not store the false-positive rate of a chain. */
static bool is_of(const struct header *header, const perhaps *f, unsigned may_differ) {
    for (int i = 0; i < LAYOUT_WORDS; i++) {
        if (header->layout[i] != f->header.layout[i] && !(may_differ >> i & 1)) return false;
    }
    bool rate_matters = !f->children || !layers_have_rule(newest_of(f)->kind);
    return header->kind == f->header.kind && header->hash == f->header.hash && header->seed == f->header.seed &&
           (header->fpr == f->header.fpr || !rate_matters);
}

static void drop_spares(struct children *children, unsigned from) {
    while (children->count + children->spare > from)
        filter_free(children->child[children->count + --children->spare].filter);
}

/* A spare layer that was made ahead may differ from the shape's: it is replaced. */
static int take_layer(perhaps *f, unsigned i, const struct header *header) {
    struct children *children = f->children;
    unsigned used = children->count + children->spare;
    bool is_there = i < used && header->capacity == children->child[i].filter->header.capacity &&
                    is_of(header, children->child[i].filter, children->child[i].filter->kind->words.may_differ);
    if (is_there) return PERHAPS_OK;
    if (i < children->count)
        return fail(PERHAPS_EMISMATCH, "the shape is that of another filter: layer %u differs", i + 1);
    drop_spares(children, i);
    children->touched = 0;
    int rc = children_reserve(f);
    if (rc == PERHAPS_OK) rc = layers_make(f, header, &children->child[i].filter);
    children->spare += rc == PERHAPS_OK;
    return rc;
}

static int take_layers(perhaps *f, struct reader *reader, const struct header *parent) {
    int rc = PERHAPS_OK;
    for (unsigned i = 0; rc == PERHAPS_OK && i < parent->layout[CHILDREN]; i++) {
        struct header header;
        rc = next_header(reader, parent, &header);
        if (rc == PERHAPS_OK) rc = take_layer(f, i, &header);
    }
    if (rc == PERHAPS_OK) rc = check_end(reader);
    const char *reason = rc == PERHAPS_OK ? f->kind->composite->ops->check(f) : NULL;
    return reason ? fail(PERHAPS_EDAMAGED, "shape: it has %s", reason) : rc;
}

int perhaps_reshape(perhaps *f, const void *shape, size_t length) {
    struct reader reader = {.at = shape, .left = length};
    struct header header;
    if (!f->children || !f->kind->composite->has_layers) return filter_cannot(f, "take further layers");
    int rc = filter_prepare_change(f);
    if (rc == PERHAPS_OK) rc = next_header(&reader, NULL, &header);
    if (rc < 0) return rc;
    if (!is_of(&header, f, 1 << CHILDREN))
        return fail(PERHAPS_EMISMATCH, "the shape is that of another filter: make both with the same want");
    rc = take_layers(f, &reader, &header);
    if (rc < 0) drop_spares(f->children, f->children->count);
    return rc;
}
