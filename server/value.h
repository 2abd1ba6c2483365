/*
 * A filter as a value of the server.
 *
 * A value has one of three forms:
 *
 *     VALUE_OPEN     a filter of the library.
 *     VALUE_PARKED   a small one, as the bytes of its image, in one piece with the value. It is opened in place for the length of a
 *              command. A handle takes more memory than such a filter has bits, and there may be millions of them.
 *     VALUE_LOADING  the piece of an image that has come so far, of a filter that is sent in pieces.
 *
 * A filter that grows is a growing filter of the library. Parked is only its one layer, without what is around it, which is
 * put back when a second layer is due. So outside the module there is no difference: RDB files, replicas and dumps have the
 * growing filter in all cases.
 */
#ifndef PERHAPS_SERVER_VALUE_H
#define PERHAPS_SERVER_VALUE_H

#include "server_memory.h"

#include <perhaps_embed.h>

#include <stdbool.h>

enum value_form { VALUE_PARKED, VALUE_OPEN, VALUE_LOADING };

/* What a client is told and the filter does not know. */
struct reported {
    uint16_t bucket, iterations, expansion;
    uint64_t deleted;
};

struct value {
    uint8_t form;
    bool multiset;      /* CF.* commands are for it, else BF.* */
    bool foreign;       /* in RedisBloom's layout */
    bool grows;         /* in layers; a parked one has one of them */
    bool fixed;         /* it has a number of items, and is full then */
    bool window, timed; /* a window; one that forgets by time */
    struct reported reported;
};

struct open_value {
    struct value value;
    perhaps *filter;
};

struct parked_value {
    struct value value;
    double fpr, growth; /* of the growing filter whose layer it is, if it grows */
    uint32_t length;
    uint8_t image[];
};

struct loading_value {
    struct value value;
    int kind; /* of the library, as perhaps_open_foreign wants it; 0: an image */
    uint64_t total, have, room;
    uint8_t *bytes;
};

/* Takes the filter over, whatever comes of it; NULL if there is no memory. */
struct value *value_of_filter(perhaps *filter, const struct reported *reported);
void value_free(struct value *value);
struct value *value_copy(const struct value *value);

/* An VALUE_OPEN value of a VALUE_PARKED one, which stays as it is. */
struct value *value_unparked(const struct value *value);

/* The filter of a value that is not VALUE_LOADING, for the length of a command; NULL if there is no memory. For a VALUE_PARKED one it is only
 * the layer. */
perhaps *value_filter(const struct value *value);
void value_filter_done(const struct value *value, perhaps *filter, bool changed);

/* The whole filter, for reading, and the end of that. */
perhaps *value_whole(const struct value *value);
void value_whole_done(const struct value *value, perhaps *filter);

/* The length of the image that perhaps_write gives of a whole filter. */
uint64_t value_image_bytes(const perhaps *whole);

/* What the server spends on it. */
size_t value_memory(const struct value *value);

/* ---- loading in pieces ---- */

struct value *value_start_loading(int kind, uint64_t total, const struct reported *reported);

/* Puts bytes at an offset that is not beyond what it has. False: no memory, nothing changed. */
bool value_load(struct value *value, uint64_t offset, const void *bytes, size_t length);

/* Why a filter cannot be served, or NULL. Clients send keys as they are, so one whose keys were transformed would
 * miss every key. Where a key stood in its record does not matter to a server. */
const char *value_unserved(const perhaps *filter);

/* The value that a whole VALUE_LOADING one is, or NULL and a reason. */
struct value *value_of_loaded(const struct value *loading, const char **reason);

/* ---- statistics, for INFO ---- */

struct value_counts {
    uint64_t parked, open, loading;
};
struct value_counts value_count(void);

#endif
