/*
 * A window: generations that age out.
 *
 * Idea: keys go to the newest of g generations. When it has reached its quota, its time or its
 * fill, the oldest is emptied and becomes the newest: its keys are forgotten, unless added again
 * since.
 *
 *     oldest                                     newest
 *     ┌───────────┐ ┌───────────┐ ┌───────────┐ ┌───────────┐
 *     │ ░░░░░░░░░ │ │ ░░░░░░░░░ │ │ ░░░░░░░░░ │ │ ░░░       │   keys go here
 *     └───────────┘ └───────────┘ └───────────┘ └───────────┘
 *       forgotten next
 *
 * The promise, with a quota of q = N/(g-1): each of the g-1 generations before the newest took q
 * adds or more, so every key of the last N adds is found. A key is forgotten once g·q = N·g/(g-1)
 * different keys have followed it.
 *
 * With a period T a generation has a quota q and a time t = T/(g-1), and ends at whichever is
 * reached first. The next one is an empty generation or, in a burst, one more than g. A generation
 * ends at most t after it began, and is forgotten T after its end. So every key younger than T is
 * found, and none older than T + t = T·g/(g-1).
 *
 *     even     ┌─ q ─┐┌─ q ─┐┌─ q ─┐┌──         g generations, each ended by its time
 *     burst    ┌q┐┌q┐┌q┐┌── 1 ──┐┌── 1 ──┐┌──   the first three ended by quota, later ones by time
 *              └───────────── T ──────────────┘
 *
 * As long as at most N keys come in any period, all generations except the oldest have at most N
 * keys together, and the oldest at most q. That is g·q keys, at most q in each, so each generation
 * has its share p/g of the false-positive rate. (The rate per key is lower in a generation with
 * fewer keys: more generations do not raise the sum.) There are at most 2g-2 generations then:
 *   - the oldest and the newest;
 *   - at most g-2 between them that ended by time, since each took t and the oldest ended less than
 *     T ago;
 *   - at most g-2 that are full, since N is g-1 times q, and some of it is in the others.
 * If more than N keys come, the newest takes more than its quota as soon as g others are full:
 * nothing is lost, and the rate rises. The same happens, and keys are remembered for longer, if
 * there is no memory for one more generation.
 *
 * A key of an older generation that is added again is written to the newest, so that it stays; the
 * answer is "known". It then uses the quota of both generations: where keys repeat, fewer than N
 * different ones may be remembered.
 *
 * Example: the last million keys at 1 % in four generations of 333,334 keys, each planned for
 * 0.25 %: 17.7 bits per key.
 *
 * Layout: kind of the generations, their number, quota (keys), period (in the caller's units), and
 * the fill to forget at (in 2^-32) or, with a period, g. There is a quota, a quota and a period, or
 * a fill.
 *
 * Invariants
 *   I1  all generations have the same layout; a table may have grown.
 *   I2  generations are in the order in which they began, the oldest first.
 *   I3  there are g generations; with a period up to 2g, and those beyond g are freed when they are
 *       forgotten.
 *   I4  with a period, the newest generation's time was not over at the last known time.
 */
#include "base/error.h"
#include "composite/composite.h"
#include "plan/plan.h"

#include <string.h>

/* ---- forgetting ---- */

static void make_oldest_newest(struct children *children) {
    struct child oldest = children->child[0];
    memmove(children->child, children->child + 1, (children->count - 1) * sizeof *children->child);
    children->child[children->count - 1] = oldest;
}

/* ---- forgetting by time ---- */

static struct child *newest_entry(const perhaps *f) {
    return &f->children->child[f->children->count - 1];
}

/* t, rounded up. */
static uint64_t time_of_one(const perhaps *f) {
    return (f->header.layout[PERIOD] - 1) / (f->header.layout[GENERATIONS] - 1) + 1;
}

static uint64_t time_since(uint64_t now, uint64_t then) {
    return now > then ? now - then : 0;
}

/* Whether all keys of a generation are at least as old as the period. */
static bool is_over(const perhaps *f, unsigned i, uint64_t now) {
    const struct children *children = f->children;
    uint64_t age = time_since(now, children->child[i].since), rest = time_of_one(f);
    uint64_t since_next = i + 1 < children->count ? time_since(now, children->child[i + 1].since) : 0;
    uint64_t since_end = age > rest ? age - rest : 0;
    return (since_end > since_next ? since_end : since_next) >= f->header.layout[PERIOD];
}

static void free_oldest(struct children *children) {
    filter_free(children->child[0].filter);
    memmove(children->child, children->child + 1, --children->count * sizeof *children->child);
}

/* Empties generations before the newest that are over, and frees empty ones beyond g. Gives the
 * number of those that had keys. */
static int forget_old(perhaps *f, uint64_t now) {
    struct children *children = f->children;
    int forgotten = 0;
    for (unsigned i = 0; i + 1 < children->count;) {
        perhaps *oldest = children->child[i].filter;
        bool empty = !filter_items(oldest);
        if (!empty && !is_over(f, i, now)) break;
        forgotten += !empty;
        if (children->count > f->header.layout[GENERATIONS]) { /* then i is 0 */
            free_oldest(children);
            continue;
        }
        if (!empty) filter_clear(oldest);
        i++;
    }
    return forgotten;
}

/* Appends a generation, like the smallest: a table may have grown. */
static bool append_generation(perhaps *f) {
    struct children *children = f->children;
    const perhaps *smallest = children->child[0].filter;
    perhaps *made;
    for (unsigned i = 1; i < children->count; i++) {
        const perhaps *other = children->child[i].filter;
        if (other->array.length < smallest->array.length) smallest = other;
    }
    if (children->count >= 2 * f->header.layout[GENERATIONS] || children_reserve(f) < 0 ||
        layers_make(f, &smallest->header, &made) < 0)
        return false;
    children->child[children->count++].filter = made;
    return true;
}

/* An empty generation becomes the newest; false if there is none and no memory for one. */
static bool begin_next(perhaps *f, uint64_t since) {
    if (!filter_items(f->children->child[0].filter))
        make_oldest_newest(f->children);
    else if (!append_generation(f))
        return false;
    newest_entry(f)->since = since;
    return true;
}

/* The last known time; 0 if there is none. */
static uint64_t latest_time(const perhaps *f) {
    const struct children *children = f->children;
    if (children->now != NEVER) return children->now;
    for (unsigned i = children->count; i-- > 0;) {
        if (children->child[i].since != NEVER) return children->child[i].since;
    }
    return 0;
}

/* Generations that began while no time was known began now. */
static void set_time(perhaps *f, uint64_t now) {
    struct children *children = f->children;
    children->now = now;
    for (unsigned i = 0; i < children->count; i++) {
        if (children->child[i].since == NEVER) children->child[i].since = now;
    }
}

/* A time as advance() takes it: it never goes back. */
static uint64_t time_not_before(const perhaps *f, uint64_t now) {
    uint64_t latest = latest_time(f);
    if (now == NEVER) now = NEVER - 1;
    return now < latest ? latest : now;
}

/* What advance() would forget at this time: all generations before this one. */
static unsigned forgotten_at(const perhaps *f, uint64_t now) {
    const struct children *children = f->children;
    unsigned last = children->count - 1, first = 0;
    now = time_not_before(f, now);
    while (first < last && (!filter_items(children->child[first].filter) || is_over(f, first, now))) first++;
    bool ends = time_since(now, newest_entry(f)->since) >= time_of_one(f);
    return ends && filter_items(newest_of(f)) && is_over(f, last, now) ? last + 1 : first;
}

/* Forgets what is over at this time, and begins a generation if the newest's time is over. Gives
 * the number of generations with keys that were forgotten. */
static int advance(perhaps *f, uint64_t now) {
    perhaps *newest = newest_of(f);
    now = time_not_before(f, now);
    set_time(f, now);
    int forgotten = forget_old(f, now);
    if (time_since(now, newest_entry(f)->since) < time_of_one(f)) return forgotten;
    bool empty = !filter_items(newest), over = !empty && is_over(f, f->children->count - 1, now);
    if (over) filter_clear(newest);
    if (empty || over || !begin_next(f, now)) newest_entry(f)->since = now;
    return forgotten + over;
}

/* A window was opened and the time is not known: its new keys are younger than the old ones by an
 * unknown time. They get another generation, which begins when the time is known. */
static void begin_untold(perhaps *f) {
    bool begun = filter_items(newest_of(f)) && begin_next(f, NEVER);
    if (!begun) newest_entry(f)->since = NEVER;
}

/* Before keys are added. */
static void read_clock(perhaps *f) {
    if (f->children->clock)
        advance(f, f->children->clock(f->children->clock_context));
    else if (is_timed(f) && f->children->now == NEVER && newest_entry(f)->since != NEVER)
        begin_untold(f);
}

/* A lower bound of the keys that the newest generation takes before its fill reaches clear_at: each
 * key sets at most its number of bits. */
static uint64_t room_to_fill(const perhaps *f) {
    const perhaps *newest = newest_of(f);
    const struct model *model = newest->kind->model;
    double mark = (double)f->header.layout[CLEAR_AT] / (double)CLEAR_AT_ONE;
    double bits_of_key = model->exact ? 64 : model->hashes(newest->header.layout);
    struct measures measures;
    plan_measure(newest->kind, &newest->array, &measures);
    double keys = (mark - measures.fill) * 8 * (double)newest->array.length / bits_of_key;
    return measures.fill >= mark ? 0 : keys < 1 ? 1 : (uint64_t)keys;
}

/* Whether far more keys came in a period than planned: the newest and g others are full.
 * Those before `first` do not count. */
static bool is_flooded(const perhaps *f, unsigned first) {
    uint64_t full = 0;
    for (unsigned i = first; i < f->children->count; i++)
        full += filter_items(f->children->child[i].filter) >= f->header.layout[QUOTA];
    return full > f->header.layout[GENERATIONS];
}

/* Keys that the newest generation takes before it is checked again; 0 if it is over. */
static uint64_t room_in_newest(perhaps *f) {
    uint64_t items = filter_items(newest_of(f)), quota = f->header.layout[QUOTA];
    if (quota && items < quota) return quota - items;
    if (quota) return is_timed(f) && is_flooded(f, 0) ? UINT64_MAX : 0;
    if (items >= f->children->look_again) f->children->look_again = items + room_to_fill(f);
    return f->children->look_again - items;
}

/* ---- adding ---- */

static void end_newest(perhaps *f) {
    if (is_timed(f)) {
        begin_next(f, f->children->now);
        return;
    }
    filter_clear(f->children->child[0].filter);
    make_oldest_newest(f->children);
    f->children->look_again = 0;
}

static int add_now(perhaps *f, struct digest digest) {
    if (newest_of(f)->ops.contains(&newest_of(f)->array, digest)) return 0;
    bool known = any_child_has(f, f->children->count - 1, digest);
    if (!room_in_newest(f)) end_newest(f);
    return filter_add(newest_of(f), digest) < 0 ? FULL : !known;
}

static int add(struct array *array, struct digest digest) {
    read_clock(filter_of(array));
    return add_now(filter_of(array), digest);
}

/* Adds keys that the newest generation has room for. Keys of older ones are written again, but the
 * answer is "known". */
static int add_some(perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers, size_t *done) {
    uint8_t known[CHILD_BLOCK];
    any_child_has_many(f, f->children->count - 1, digests, n, known);
    struct added added;
    int rc = filter_add_many(newest_of(f), digests, n, answers, (const char *)digests, &added);
    *done = added.done;
    for (size_t i = 0; i < *done; i++) answers[i] &= !known[i];
    return rc;
}

/* The newest generation is over: unless it has the next key, that key begins another. */
static int add_next(perhaps *f, uint64_t digest, uint8_t *answer, size_t *done) {
    int is_new = add_now(f, one_word(digest));
    *answer = is_new == 1;
    *done = is_new != FULL;
    return is_new == FULL ? filter_grow(newest_of(f), digest) : PERHAPS_OK;
}

static int add_many(perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers) {
    int rc = PERHAPS_OK;
    size_t all = 0, done;
    for (; rc == PERHAPS_OK && all < n; all += done) {
        uint64_t room = room_in_newest(f);
        size_t some = n - all < CHILD_BLOCK ? n - all : CHILD_BLOCK;
        if (room < some) some = (size_t)room;
        rc = room ? add_some(f, digests + all, some, answers + all, &done)
                  : add_next(f, digests[all], answers + all, &done);
    }
    if (rc < 0) filter_undo(f, digests, all, answers);
    return rc;
}

/* Once per batch: all its keys have the same time. */
static int provide(perhaps *f) {
    read_clock(f);
    return PERHAPS_OK;
}

static int make_room(perhaps *f, uint64_t digest) {
    return filter_grow(newest_of(f), digest);
}

/* ---- whole filters ---- */

static void clear(perhaps *f) {
    while (is_timed(f) && f->children->count > f->header.layout[GENERATIONS]) free_oldest(f->children);
    composite_clear(f);
    f->children->look_again = 0;
}

static const char *check_children(const perhaps *f) {
    for (unsigned i = 1; i < f->children->count; i++) {
        const struct child *older = &f->children->child[i - 1], *newer = &f->children->child[i];
        bool alike =
            memcmp(older->filter->header.layout, newer->filter->header.layout, sizeof(uint64_t) * LAYOUT_WORDS) == 0;
        if (!alike && !older->filter->kind->growable) return "generations that are not alike";
        if (older->since > newer->since) return "generations that are not in order";
    }
    return NULL;
}

static const char *refuses(const struct kind *base) {
    if (base->row.can & PERHAPS_COUNT)
        return "%s filters are for keys that are removed one by one; a window forgets by itself";
    if (base->format || base->hashing.hash == PERHAPS_MURMUR)
        return "%s filters are a foreign format, which has no windows";
    if (base->hashing.hash == PERHAPS_IDENTITY) return "a window has a number of keys, and a %s a range of integers";
    if (base->composite || !(base->row.can & PERHAPS_ADD)) return "%s filters cannot be generations of a window";
    return NULL;
}

static unsigned can(const struct kind *base) {
    (void)base;
    return PERHAPS_ADD;
}

static const char *check_timed(const uint64_t layout[LAYOUT_WORDS]) {
    uint64_t planned = layout[GENERATIONS];
    if (!layout[QUOTA]) return "a period without a quota, as early versions wrote it: build it again from its keys";
    if (planned < 2 || planned > GENERATIONS_MAX) return "an impossible number of planned generations";
    if (layout[CHILDREN] < planned || layout[CHILDREN] > 2 * planned) return "an impossible number of generations";
    return NULL;
}

static const char *check_untimed(const uint64_t layout[LAYOUT_WORDS]) {
    if (layout[CHILDREN] < 1 || layout[CHILDREN] > GENERATIONS_MAX) return "an impossible number of generations";
    if (layout[CHILDREN] == 1 && !layout[CLEAR_AT]) return "a single generation";
    if (layout[CLEAR_AT] >= CLEAR_AT_ONE) return "a fill to forget at of 1 or more";
    if ((layout[QUOTA] != 0) + (layout[CLEAR_AT] != 0) != 1) return "not one way of forgetting, but none or several";
    return NULL;
}

static uint64_t payload_bytes(const uint64_t layout[LAYOUT_WORDS], const char **reason) {
    const struct kind *base = layout[BASE] < INT16_MAX ? kind_find((int)layout[BASE]) : NULL;
    *reason = layout[PERIOD] ? check_timed(layout) : check_untimed(layout);
    if (!base || refuses(base)) *reason = "generations of a kind that cannot be";
    return *reason ? 0 : layout[CHILDREN] * ENTRY_BYTES;
}

static const struct kind_ops *ops(const uint64_t layout[LAYOUT_WORDS], enum isa isa, bool shared) {
    static const struct kind_ops all = {.add = add,
                                        .contains = composite_contains,
                                        .contains_many = composite_contains_many,
                                        .prefetch = composite_prefetch};
    (void)layout, (void)isa, (void)shared;
    return &all;
}

/* Flooded: more keys than g quotas raise the false-positive rate, except in a kind that grows. */
static void describe(const perhaps *f, struct perhaps_info *info) {
    const uint64_t *layout = f->header.layout;
    bool timed = is_timed(f), grows = f->children->child[0].filter->kind->row.can & PERHAPS_GROW;
    info->period = layout[PERIOD];
    info->clear_at = timed ? 0 : (double)layout[CLEAR_AT] / (double)CLEAR_AT_ONE;
    info->generations = timed ? (unsigned)layout[GENERATIONS] : f->children->count;
    info->flooded = timed && !grows && info->items && (info->items - 1) / layout[QUOTA] >= info->generations;
}

/* A new key was in no generation before the batch, so removing it from all of them is safe. */
static void undo(perhaps *f, const uint64_t *digests, size_t n, const uint8_t *answers) {
    for (unsigned i = 0; i < f->children->count; i++) filter_undo(f->children->child[i].filter, digests, n, answers);
}

static const struct children_ops children_ops = {.add_many = add_many,
                                                 .make_room = make_room,
                                                 .provide = provide,
                                                 .clear = clear,
                                                 .check = check_children,
                                                 .describe = describe,
                                                 .undo = undo,
                                                 .advance = advance,
                                                 .forgotten_at = forgotten_at};

static const struct composite composite = {.refuses = refuses, .can = can, .ops = &children_ops};

#include "composite/window_trace.h"

const struct kind kind_window = {
    .row = {PERHAPS_WINDOW, PERHAPS_ADD, "window",
            "generations that age out: for the last N keys, or the last T seconds"},
    .hashing = {.hash = PERHAPS_XXH3, .words = 1},
    .words = {.name = {"kind of the generations", "number of generations", "quota", "period",
                       "fill to forget at, or generations planned"}},
    .payload_bytes = payload_bytes,
    .ops = ops,
    .composite = &composite,
    .trace = window_trace,
};
