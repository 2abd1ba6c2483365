/*
 * A filter as a value of the server. A value has one of three forms, and keeps it. A change of form
 * makes another value, and named_set_value (named_filter.c) puts it in the place of the old one.
 *
 *     a filter of the library ──value_of_filter──▶ PARKED if can_be_parked (value.c), else OPEN
 *
 *     PARKED ──value_unparked──▶ OPEN              in named_unpark, before it needs more room
 *
 *     first bytes ──value_start_loading──▶ LOADING ──value_load──▶ LOADING      the next bytes
 *
 *     LOADING ──value_of_loaded──▶ PARKED or OPEN                all bytes have come, and are good
 *
 *     COPY, by value_copy:  PARKED ──▶ PARKED     OPEN ──▶ PARKED or OPEN     LOADING ──▶ LOADING
 *
 *     any ──value_free──▶ gone                     in the main thread, or in a background thread
 *
 *     form      struct          memory                          the filter during a command
 *     parked    parked_value    one piece, with the image       opened in place, then ended
 *     open      open_value      the struct, and the filter's    the filter itself
 *     loading   loading_value   the struct, and bytes so far    none: "still being loaded"
 *
 * A value changes in place where its form stays: items are added, removed and forgotten, and bytes
 * are loaded. All other ways to a value make a new one. BF.MERGE and an RDB go through
 * value_of_filter; so a filter that was open may be parked after a restart.
 *
 * Why park: a handle takes more memory than a small filter has bits, and there may be millions of
 * small filters. A parked image is at most PARKED_MOST bytes. It cannot grow, and its stash cannot.
 *
 * A filter that grows is a growing filter of the library. Only its one layer is parked, without the
 * growing filter around it. value_whole and value_unparked put that back. So parking is not seen in
 * RDB files, dumps and shapes: they have the growing filter. A primary and its replicas may have
 * the same filter in different forms.
 *
 * A filter in RedisBloom's layout is open or loading, never parked.
 *
 * Which thread may do what is in value_types.h. How memory is counted is in server_memory.h.
 */
#ifndef PERHAPS_SERVER_VALUE_H
#define PERHAPS_SERVER_VALUE_H

#include "server_memory.h"

#include <perhaps_embed.h>

#include <stdbool.h>

enum value_form { VALUE_PARKED, VALUE_OPEN, VALUE_LOADING };

/* Facts that INFO commands report and the filter does not hold. Zero for RedisBloom's layout, whose
 * bytes have them. */
struct reported {
    uint16_t bucket, iterations, expansion;
    uint64_t deleted;
};

struct value {
    uint8_t form;
    bool multiset;      /* CF.* commands are for it, else BF.* */
    bool foreign;       /* in RedisBloom's layout */
    bool grows;         /* in layers; a parked one has one of them */
    bool fixed;         /* full once it has as many items as its capacity */
    bool window, timed; /* a window; a window that forgets by time */
    struct reported reported;
};

struct open_value {
    struct value value;
    perhaps *filter;
};

struct parked_value {
    struct value value;
    double fpr, growth; /* arguments of perhaps_grow_layers, if it grows */
    uint32_t length;
    uint8_t image[];
};

struct loading_value {
    struct value value;
    int kind; /* for perhaps_open_foreign; 0: an image of the library */
    uint64_t total, have, room;
    uint8_t *bytes;
};

/* Owns the filter from here on, even on failure. NULL: no memory. */
struct value *value_of_filter(perhaps *filter, const struct reported *reported);
void value_free(struct value *value);
struct value *value_copy(const struct value *value);

/* An open copy of a parked value. NULL: no memory. */
struct value *value_unparked(const struct value *value);

/* The filter of a value that is not loading, for the length of a command; of a parked value only
 * the layer. NULL: no memory. value_filter_done ends it; `changed` brings the checksums of a parked
 * image up to date. */
perhaps *value_filter(const struct value *value);
void value_filter_done(const struct value *value, perhaps *filter, bool changed);

/* The whole filter, growing if it grows, for reading; value_whole_done ends it. */
perhaps *value_whole(const struct value *value);
void value_whole_done(const struct value *value, perhaps *filter);

/* The length of the image that perhaps_write gives of a whole filter. */
uint64_t value_image_bytes(const perhaps *whole);

/* What the server spends on it: see server_memory.h. */
size_t value_memory(const struct value *value);

/* ---- loading in pieces ---- */

/* `total` bytes will come. NULL: no memory. */
struct value *value_start_loading(int kind, uint64_t total, const struct reported *reported);

/* Puts bytes at an offset that is not beyond what it has. False: no memory, nothing changed. */
bool value_load(struct value *value, uint64_t offset, const void *bytes, size_t length);

/* Why a filter cannot be served, or NULL. Clients send keys as they are, so a filter whose keys
 * were transformed would miss every key. Where a key stood in its record does not matter to a
 * server. */
const char *value_unserved(const perhaps *filter);

/* The value that a loading one becomes when all bytes have come; `loading` stays as it is. NULL:
 * see *reason. */
struct value *value_of_loaded(const struct value *loading, const char **reason);

/* ---- how many values there are, for INFO ---- */

struct value_counts {
    uint64_t parked, open, loading;
};
struct value_counts value_count(void);

#endif
