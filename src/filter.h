/* What a filter is inside: shared by perhaps.c (the verbs) and lifetime.c (making, opening, saving, ending). */
#ifndef PERHAPS_FILTER_H
#define PERHAPS_FILTER_H

#include "base/file.h"
#include "hash.h"
#include "image/header.h"
#include "kind.h"

#include <stdbool.h>

/* May it be changed? */
enum state {
    CHANGEABLE,
    CLEAN_MAP, /* a file mapped for changing, not marked dirty yet */
    READ_ONLY
};

/* A filter is a header (facts), an array (what the kind works on) and an image (the header's bytes and the array's bytes
 * in one piece), which is its own, borrowed or a mapped file. */
struct perhaps {
    struct array array;
    struct kind_ops ops;
    struct hash hash;
    enum state state;
    enum isa isa;
    const struct kind *kind;
    struct header header; /* its items are up to date; its flags are those of the image in memory */
    uint8_t *image;
    bool owned;       /* the image is memory of this filter's allocator */
    struct file file; /* the mapped file; fd -1 if there is none */
    perhaps_allocator allocator;
};

/* Bytes of the whole image. */
static inline uint64_t filter_image_bytes(const perhaps *f) {
    return image_offset(f->header.length) + f->header.length;
}

/* For filters that are not CHANGEABLE: refuses, or marks the mapped file dirty. */
int filter_unlock(perhaps *f);

/* Called before each change. */
static inline int filter_prepare_change(perhaps *f) {
    return __builtin_expect(f->state == CHANGEABLE, 1) ? PERHAPS_OK : filter_unlock(f);
}

/* PERHAPS_ECANNOT: "NAME filters cannot WHAT", and which kinds can. */
int filter_cannot(const perhaps *f, const char *what);

/* Keys of bytes are not for kinds of integers; digests are for kinds whose digests are one word. */
static inline int filter_takes_bytes(const perhaps *f) {
    if (__builtin_expect(f->hash.id != PERHAPS_IDENTITY, 1)) return PERHAPS_OK;
    return filter_cannot(f, "take keys of bytes, only integers");
}

static inline int filter_takes_digests(const perhaps *f) {
    if (__builtin_expect(f->kind->digest_words == 1, 1)) return PERHAPS_OK;
    return filter_cannot(f, "take digests of 64 bits, only keys");
}

static inline void filter_count_removed(perhaps *f, uint64_t removed) {
    f->header.items -= removed < f->header.items ? removed : f->header.items;
}

/* Gives a full filter an array with room for this digest, or says PERHAPS_EFULL. */
int filter_grow(perhaps *f, uint64_t digest);

/* The same with a layout from elsewhere, which `check` has accepted. */
int filter_grow_to(perhaps *f, const uint64_t layout[LAYOUT_WORDS], uint64_t capacity);

/* Exchanges two filters that were made by cloning one. */
void filter_swap(perhaps *a, perhaps *b);

/* Sets the number of items from the bits, when counting adds no longer tells. */
void filter_count_items(perhaps *f);

/* Public structs begin with their size, so that older and newer programs can call us. A program that knows fewer fields
 * leaves the rest zero; one that knows more must not have used them. */
int take_sized(void *ours, size_t our_size, const void *theirs, const char *name);

/* The other way: fills as much of the caller's struct as the caller knows of. */
int give_sized(void *theirs, void *ours, size_t our_size, const char *name);

#endif
