/*
 * perhaps_trace.h: explains a query, an add or the sealing of a filter as data, and gives the cells
 * of an array, for programs that show people how a filter works.
 */
#ifndef PERHAPS_TRACE_H
#define PERHAPS_TRACE_H

#include <perhaps.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a trace explains. */
enum perhaps_verb { PERHAPS_VERB_QUERY = 1, PERHAPS_VERB_ADD, PERHAPS_VERB_SEAL };

/* The steps of a trace. `name` says what is meant by the numbers. */
enum perhaps_step_kind {
    PERHAPS_STEP_DIGEST = 1, /* word `index` of the digest is `value` */
    PERHAPS_STEP_CHILD,      /* layer, generation or shard `index`: `value` keys of `wanted` */
    PERHAPS_STEP_POSITION,   /* bit, counter ... `index` has `value`, for a member `wanted` */
    PERHAPS_STEP_SLOT,       /* slot `index` has `value`, if it has the key `wanted` */
    PERHAPS_STEP_MOVE,       /* eviction: `value` in slot `index` goes to slot `to` as `wanted` */
    PERHAPS_STEP_STORE,      /* slot `index` has `value` and becomes `wanted` */
    PERHAPS_STEP_STASH,      /* cell `index` of the stash has `value`; it is or becomes `wanted` */
    PERHAPS_STEP_ROOM,       /* room is made, in one of the ways below */
    PERHAPS_STEP_PEEL,       /* one key is left in slot `index`: digest `value`, fingerprint
                              * `wanted` */
    PERHAPS_STEP_ANSWER      /* `value`, as int64_t, is the answer of the call, `why` the reason */
};

typedef struct perhaps_step {
    int step;                          /* enum perhaps_step_kind */
    unsigned depth;                    /* 0 = the filter, 1 = a child, 2 = a child of a child */
    int holds;                         /* 1 = it speaks for "perhaps" */
    uint64_t index, value, wanted, to; /* 0 where a step has none */
    const char *name;                  /* "bit", "layer" ...: static text */
    const char *why;                   /* answers: a sentence, static text; NULL for other steps */
} perhaps_step;

/*
 * Explains a query or an add of one key (a batch of one, in any form) and changes nothing. Returns
 * the number of steps, of which at most `room` are written, or a negative error. The last is the
 * answer.
 *
 * A key is perhaps a member if all its positions hold; in kinds with slots, if a slot or the stash
 * does. Children come in the order of the call, up to the one that answers. All positions of a key
 * are listed, even if a query ends at the first that does not hold. An add sets the bits that do
 * not hold, or increments the counters; moves and stores come in its order. Bit i is bit i%8 of
 * byte i/8 of the array.
 *
 * The `name` of a PERHAPS_STEP_ROOM says how room is made:
 *     "array"                 the array of `value` bytes becomes one of `wanted` bytes
 *     "layer"                 layer `index` is appended, with an array of `wanted` bytes
 *     "sub-filter"            of PERHAPS_REDIS_CUCKOO: number `index` is the newest from now on;
 *                             the array has room for it already, so `wanted` is 0
 *     "generation"            of a window: generation `index` begins
 *     "forgotten generation"  of a window: generation `index` is forgotten with its `value` keys
 *
 * A trace of an add reads a window's clock. It foresees a full filter, which is an answer, but no
 * lack of memory. For a read-only filter it tells of an add to a copy. A static filter has traces
 * of queries once it is sealed: before, that of a query or an add is PERHAPS_EUNSEALED, and then
 * that of an add is PERHAPS_ESEALED.
 *
 * PERHAPS_VERB_SEAL takes no key (NULL) and tells what perhaps_seal would do: one answer if there
 * is nothing to seal. A fuse filter peels its keys, each once: a key is taken away by a slot that
 * no other remaining key has, and this slot will make the exclusive or of the key's slots its
 * fingerprint. Then the slots are stored, from the last key to the first; all others stay 0. For up
 * to 65,536 added keys, PERHAPS_ERANGE beyond; PERHAPS_ENOMEM if there is no memory for them;
 * PERHAPS_ECANNOT for ribbon filters. (reads)
 */
PERHAPS_API int64_t perhaps_trace(const perhaps *f, int verb, const perhaps_keys *key, perhaps_step *steps,
                                  size_t room);

/*
 * The array as cells, for programs that draw small filters. Returns the number of cells; those from
 * `from` on are written to `values`, at most `room` of them, and *name (unless NULL) becomes what
 * one is: "bit", "counter" or "slot". Cell i is what the steps of a trace call bit, counter or slot
 * i. A stash or a directory beside them is not among them; of a ribbon filter, the cells are all
 * bits of the array. `child` is the number of a child of a composite filter, or -1 for a filter
 * that has none: PERHAPS_ECANNOT otherwise, PERHAPS_ERANGE if there is no such child.
 * PERHAPS_EUNSEALED for a static filter before it is sealed. (reads)
 */
PERHAPS_API int64_t perhaps_cells(const perhaps *f, int child, uint64_t from, uint64_t *values, size_t room,
                                  const char **name);

#ifdef __cplusplus
}
#endif

#endif
