/*
 * A filter as a value of the server. A value has one of three forms, and keeps it. A change of form
 * makes another value, and named_set_value (named_filter.c) puts it in the place of the old one.
 *
 *     a filter of the library ──value_of_filter──▶ PARKED if it can be packed (value.c), else OPEN
 *
 *     PARKED ──value_settled──▶ PARKED or OPEN     after a command has changed it
 *
 *     PARKED ──value_unparked──▶ OPEN              before a replica gets a layer ahead of its items
 *
 *     OPEN ──value_settled──▶ PARKED               once it can be packed again
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
 *     parked    parked_value    two pieces: head and arrays     unpacked, then packed or ended
 *     open      open_value      the struct, and the filter's    the filter itself
 *     loading   loading_value   the struct, and bytes so far    none: "still being loaded"
 *
 * A value changes in place where its form stays: items are added, removed and forgotten, and bytes
 * are loaded. All other ways to a value make a new one. BF.MERGE and an RDB go through
 * value_of_filter; so a filter that was open may be parked after a restart.
 *
 * Why park: a handle takes more memory than a small filter has bits, and there may be millions of
 * small filters. A parked filter is packed (perhaps_pack in perhaps_embed.h). It is unpacked into
 * memory for one command, and may grow there.
 *
 * Filters of all layouts are parked in the same way. Parking is not seen in RDB files, dumps and
 * shapes, and a primary and its replicas may have the same filter in different forms.
 *
 * Which thread may do what is in value_types.h. How memory is counted is in server_memory.h.
 */
#ifndef PERHAPS_SERVER_VALUE_H
#define PERHAPS_SERVER_VALUE_H

#include "counts.h"
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
    bool multiset : 1;          /* CF.* commands are for it, else BF.* */
    bool foreign : 1;           /* in RedisBloom's layout */
    bool grows : 1;             /* in layers; a parked one has one of them */
    bool fixed : 1;             /* full once it has as many items as its capacity */
    bool window : 1, timed : 1; /* a window; a window that forgets by time */
    bool unparked : 1;          /* open, and to be parked again */
    bool replaced : 1;          /* by a value of the same filter, which stays in the totals */
    struct reported reported;
};

struct open_value {
    struct value value;
    perhaps *filter;
};

/* A window's generations forget, and keys are written again, as the library sees fit: what it adds
 * to the totals is compared with what it added before (value_recount). */
struct window_value {
    struct open_value opened;
    struct totals counted;
};

/* `bytes` is NULL if the arrays are empty. */
struct parked_value {
    struct value value;
    uint8_t *bytes;
    uint16_t length, head_length;
    uint8_t head[];
};

struct loading_value {
    struct value value;
    int kind; /* for perhaps_open_foreign; 0: an image of the library */
    uint64_t total, have, room;
    uint8_t *bytes;
};

/* Owns the filter from here on. */
struct value *value_of_filter(perhaps *filter, const struct reported *reported);
void value_free(struct value *value);

/* Brings the totals (counts.h) up to date after a window has changed; others have nothing to do. */
void value_recount(struct value *value);
struct value *value_copy(const struct value *value);

/* An open value of a parked one whose filter is unpacked. NULL: no memory. */
struct value *value_unparked(const struct value *value, const perhaps *filter);

/* The filter of a value that is not loading, for the length of a command. NULL: no memory.
 * value_filter_done ends it. */
perhaps *value_filter(const struct value *value);
void value_filter_done(const struct value *value, perhaps *filter);

/* Before that, if a command has changed the filter: the value itself, or another that is to be put
 * in its place, and then owns what it needs. */
struct value *value_settled(struct value *value, const perhaps *filter);

/* The filter of a value that is not loading, for reading, in memory of its own if it was parked;
 * value_whole_done ends it. Without memory the server, or its child, ends. */
perhaps *value_whole(const struct value *value);
void value_whole_done(const struct value *value, perhaps *filter);

/* The length of the image that perhaps_write gives of a whole filter. */
uint64_t value_image_bytes(const perhaps *whole);

/* The bytes of its arrays, as filter-memory-limit counts them. */
uint64_t value_array_bytes(const struct value *value);

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
