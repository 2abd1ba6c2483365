/*
 * What the JavaScript side of the WebAssembly module needs beside the public calls of the library:
 * where the fields of the structs are, and the bytes of a file.
 *
 * A description of a struct is text: its size, then the type, name and offset of each field that
 * JavaScript reads or writes. The types are
 *
 *     i u d      int, unsigned or size_t, double
 *     n b        uint64_t that becomes a number; that becomes a BigInt
 *     f s t p    flag; text; text in the struct itself; address
 */
#include <perhaps_embed.h>
#include <perhaps_trace.h>

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct field_place {
    char type;
    const char *name;
    size_t offset;
};

struct description {
    const char *name;
    size_t size;
    const struct field_place *fields;
};

#define FIELD(type, name)                                                                                              \
    { type, #name, offsetof(STRUCT, name) }
#define END                                                                                                            \
    { 0, NULL, 0 }

#define STRUCT perhaps_keys
static const struct field_place keys[] = {
    FIELD('i', form), FIELD('u', n), FIELD('p', data), FIELD('p', lengths), FIELD('u', width), FIELD('u', stride), END};
#undef STRUCT
#define STRUCT perhaps_open_options
static const struct field_place open_options[] = {FIELD('u', size), FIELD('u', flags), FIELD('i', kind),
                                                  FIELD('p', hash_key), END};
#undef STRUCT
#define STRUCT perhaps_recipe
static const struct field_place recipe[] = {FIELD('u', size),    FIELD('i', form),    FIELD('f', ignore_case),
                                            FIELD('i', records), FIELD('u', field),   FIELD('u', delimiter),
                                            FIELD('f', header),  FIELD('f', trim),    FIELD('t', where),
                                            FIELD('u', ngram),   FIELD('f', unknown), END};
#undef STRUCT
#define STRUCT struct perhaps_info
static const struct field_place info[] = {FIELD('u', size),
                                          FIELD('i', kind),
                                          FIELD('s', kind_name),
                                          FIELD('u', can),
                                          FIELD('u', traits),
                                          FIELD('n', capacity),
                                          FIELD('n', items),
                                          FIELD('d', distinct),
                                          FIELD('d', fill),
                                          FIELD('d', fpr_target),
                                          FIELD('d', fpr_now),
                                          FIELD('d', loss),
                                          FIELD('n', stuck),
                                          FIELD('n', stashed),
                                          FIELD('n', bytes),
                                          FIELD('n', image_bytes),
                                          FIELD('d', bits_per_key),
                                          FIELD('u', hashes),
                                          FIELD('u', lines),
                                          FIELD('s', hash_name),
                                          FIELD('b', seed),
                                          FIELD('u', format_version),
                                          FIELD('s', isa),
                                          FIELD('f', read_only),
                                          FIELD('i', grow),
                                          FIELD('i', base),
                                          FIELD('u', children),
                                          FIELD('n', max_bytes),
                                          FIELD('n', period),
                                          FIELD('d', growth),
                                          FIELD('d', clear_at),
                                          FIELD('u', generations),
                                          FIELD('n', since),
                                          FIELD('f', flooded),
                                          FIELD('f', collecting),
                                          FIELD('f', guessed),
                                          END};
#undef STRUCT
#ifndef PERHAPS_QUERY_ONLY
#define STRUCT perhaps_want
static const struct field_place want[] = {FIELD('u', size),      FIELD('i', kind),        FIELD('u', needs),
                                          FIELD('n', items),     FIELD('d', fpr),         FIELD('d', bits_per_key),
                                          FIELD('n', bytes),     FIELD('i', grow),        FIELD('d', growth),
                                          FIELD('n', max_bytes), FIELD('u', generations), FIELD('n', period),
                                          FIELD('d', clear_at),  FIELD('u', shards),      FIELD('u', hashes),
                                          FIELD('u', lines),     FIELD('i', hash),        FIELD('b', seed),
                                          FIELD('p', hash_key),  FIELD('f', key_in_file), END};
#undef STRUCT
#define STRUCT struct perhaps_plan
static const struct field_place plan[] = {FIELD('u', size),         FIELD('i', kind),
                                          FIELD('n', items),        FIELD('d', fpr),
                                          FIELD('n', bytes),        FIELD('n', image_bytes),
                                          FIELD('d', bits_per_key), FIELD('d', limit_bits_per_key),
                                          FIELD('d', loss),         FIELD('u', hashes),
                                          FIELD('u', lines),        FIELD('u', can),
                                          FIELD('u', traits),       END};
#undef STRUCT
#define STRUCT struct perhaps_kind_row
static const struct field_place kind_row[] = {FIELD('i', kind), FIELD('u', can), FIELD('s', name), FIELD('s', summary),
                                              END};
#undef STRUCT
#define STRUCT perhaps_step
static const struct field_place step[] = {
    FIELD('i', step),   FIELD('u', depth), FIELD('f', holds), FIELD('n', index), FIELD('b', value),
    FIELD('b', wanted), FIELD('n', to),    FIELD('s', name),  FIELD('s', why),   END};
#undef STRUCT
#define STRUCT struct perhaps_overlap
static const struct field_place overlap[] = {FIELD('u', size),
                                             FIELD('d', a),
                                             FIELD('d', b),
                                             FIELD('d', both),
                                             FIELD('d', either),
                                             FIELD('d', jaccard),
                                             FIELD('d', a_error),
                                             FIELD('d', b_error),
                                             FIELD('d', both_error),
                                             FIELD('d', either_error),
                                             FIELD('d', jaccard_error),
                                             FIELD('f', exact),
                                             END};
#undef STRUCT
#endif

static const struct description descriptions[] = {
    {"keys", sizeof(perhaps_keys), keys},
    {"openOptions", sizeof(perhaps_open_options), open_options},
    {"recipe", sizeof(perhaps_recipe), recipe},
    {"info", sizeof(struct perhaps_info), info},
#ifndef PERHAPS_QUERY_ONLY
    {"want", sizeof(perhaps_want), want},
    {"plan", sizeof(struct perhaps_plan), plan},
    {"kindRow", sizeof(struct perhaps_kind_row), kind_row},
    {"step", sizeof(perhaps_step), step},
    {"overlap", sizeof(struct perhaps_overlap), overlap},
#endif
    {NULL, 0, NULL},
};

/* Addresses for JavaScript: of the descriptions, each three words; of fields, three words too. */
const struct description *module_structs(void);
const struct description *module_structs(void) {
    return descriptions;
}

#ifndef PERHAPS_QUERY_ONLY
struct written_bytes {
    uint8_t *bytes;
    size_t length, room;
};

static int gather(void *context, const void *bytes, size_t length) {
    struct written_bytes *to = context;
    if (length > to->room - to->length) return -1;
    memcpy(to->bytes + to->length, bytes, length);
    to->length += length;
    return 0;
}

/* The bytes of a file of the filter, for the caller to free; the length is written. */
int module_file(const perhaps *f, uint8_t **bytes, size_t *length);
int module_file(const perhaps *f, uint8_t **bytes, size_t *length) {
    struct perhaps_info facts = {.size = sizeof facts};
    int rc = perhaps_facts(f, &facts);
    if (rc < 0) return rc;
    struct written_bytes to = {.bytes = malloc((size_t)facts.image_bytes), .room = (size_t)facts.image_bytes};
    if (!to.bytes) return PERHAPS_ENOMEM;
    rc = perhaps_write(f, gather, &to);
    *bytes = to.bytes;
    *length = to.length;
    if (rc < 0) free(to.bytes);
    return rc;
}
#endif
