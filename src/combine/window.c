/*
 * A window: generations that age out.
 *
 * Idea: keys go to the newest of g generations. When that one has its quota, its time or its fill, the oldest is
 * emptied and becomes the newest: what was in it is forgotten, unless it was added again since.
 *
 *     oldest                                     newest
 *     ┌───────────┐ ┌───────────┐ ┌───────────┐ ┌───────────┐
 *     │ ░░░░░░░░░ │ │ ░░░░░░░░░ │ │ ░░░░░░░░░ │ │ ░░░       │   keys go here
 *     └───────────┘ └───────────┘ └───────────┘ └───────────┘
 *       forgotten next
 *
 * The promise, with a quota of q = N/(g-1): each of the g-1 generations before the newest took q adds or more, so every key of
 * the last N adds is found; and a key that g·q = N·g/(g-1) different ones came after is in none. With a period T the same
 * holds for time: a generation takes keys for T/(g-1), and is forgotten g times that after it began.
 *
 * A key of an older generation that is added again is written to the newest, so that it stays; the answer is "known". It is
 * then in two generations and uses the quota of both: where keys repeat, fewer than N different ones may be remembered.
 *
 * Example: the last million keys at 1 % in four generations of 333,334 keys, each planned for 0.25 %: 17.7 bits a key.
 *
 * Layout: kind of the generations, how many, quota (keys), period (of one generation, in the caller's units), fill to forget at (in
 * 2^-32): one of these three is not 0.
 *
 * Invariants
 *   I1  all generations have the same layout; a table may have grown.
 *   I2  generations stand in the order in which they began, the oldest first.
 */
#include "base/why.h"
#include "combine/family.h"
#include "plan.h"

#include <string.h>

/* ---- forgetting ---- */

static void forget_oldest(perhaps *f, uint64_t since) {
    struct family *family = f->family;
    struct child oldest = family->child[0];
    filter_clear(oldest.filter);
    memmove(family->child, family->child + 1, (family->count - 1) * sizeof *family->child);
    family->child[family->count - 1] = (struct child){oldest.filter, since};
    family->look_again = 0;
}

static uint64_t since_of(const perhaps *f) {
    return f->family->child[f->family->count - 1].since;
}

/* Forgets what is over at this time; how many generations. */
static int advance(perhaps *f, uint64_t now) {
    uint64_t period = f->header.layout[PERIOD];
    int forgotten = 0;
    if (now == NEVER) now = NEVER - 1;
    if (since_of(f) == NEVER) /* whatever was added before the first time is told was added now */
        for (unsigned i = 0; i < f->family->count; i++) f->family->child[i].since = now;
    if (now <= since_of(f)) return 0;
    uint64_t over = (now - since_of(f)) / period;
    if (over < f->family->count) {
        for (; over; over--, forgotten++) forget_oldest(f, since_of(f) + period);
        return forgotten;
    }
    for (; (unsigned)forgotten < f->family->count; forgotten++) forget_oldest(f, now);
    return forgotten;
}

static void look_at_clock(perhaps *f) {
    if (f->family->clock) advance(f, f->family->clock(f->family->clock_context));
}

int perhaps_advance(perhaps *f, uint64_t now) {
    if (!filter_is_timed(f)) return 0;
    int rc = filter_prepare_change(f);
    return rc < 0 ? rc : advance(f, now);
}

int perhaps_set_clock(perhaps *f, uint64_t (*now)(void *context), void *context) {
    if (!filter_is_timed(f)) return fail(PERHAPS_EINVAL, "only a window with a period has a use for a clock");
    f->family->clock = now;
    f->family->clock_context = context;
    return PERHAPS_OK;
}

/* How many more keys the newest generation can take before its fill can reach the mark, at the least: a key changes no more
 * than its share of the bits. */
static uint64_t room_to_fill(perhaps *f) {
    const perhaps *newest = newest_of(f);
    const struct model *model = newest->kind->model;
    double mark = (double)f->header.layout[CLEAR_AT] / (double)CLEAR_AT_ONE;
    double bits_of_key = model->exact ? 64 : model->hashes(newest->header.layout);
    struct sight sight;
    plan_look(newest->kind, &newest->array, &sight);
    double keys = (mark - sight.fill) * 8 * (double)newest->array.length / bits_of_key;
    return sight.fill >= mark ? 0 : keys < 1 ? 1 : (uint64_t)keys;
}

/* Keys that the newest generation can take before the next look; 0 if it has enough. */
static uint64_t room_in_newest(perhaps *f) {
    uint64_t items = filter_items(newest_of(f)), quota = f->header.layout[QUOTA];
    if (f->header.layout[PERIOD]) return UINT64_MAX;
    if (quota) return items < quota ? quota - items : 0;
    if (items >= f->family->look_again) f->family->look_again = items + room_to_fill(f);
    return f->family->look_again - items;
}

/* ---- adding ---- */

static int add(struct array *array, struct digest digest) {
    perhaps *f = filter_of(array);
    look_at_clock(f);
    if (newest_of(f)->ops.contains(&newest_of(f)->array, digest)) return 0;
    bool known = family_has(f, f->family->count - 1, digest);
    if (!room_in_newest(f)) forget_oldest(f, since_of(f));
    return filter_add(newest_of(f), digest) < 0 ? FULL : !known;
}

/* As many keys as the newest generation takes without forgetting: those of older ones are written again, but are not new. */
static int add_some(perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers, size_t *done) {
    uint8_t known[FAMILY_BLOCK];
    family_have(f, f->family->count - 1, digests, n, known);
    struct added added;
    int rc = filter_add_many(newest_of(f), digests, n, answers, (const char *)digests, &added);
    *done = added.done;
    for (size_t i = 0; i < *done; i++) answers[i] &= !known[i];
    return rc;
}

/* The next key finds the newest generation with its quota of keys. If it is one of them, nothing is forgotten. */
static int add_next(perhaps *f, uint64_t digest, uint8_t *answer, size_t *done) {
    int is_new = add(&f->array, (struct digest){digest, 0});
    *answer = is_new == 1;
    *done = is_new != FULL;
    return is_new == FULL ? filter_grow(newest_of(f), digest) : PERHAPS_OK;
}

static int add_many(perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers) {
    int rc = PERHAPS_OK;
    size_t all = 0, done;
    for (; rc == PERHAPS_OK && all < n; all += done) {
        uint64_t room = room_in_newest(f);
        size_t some = n - all < FAMILY_BLOCK ? n - all : FAMILY_BLOCK;
        if (room < some) some = (size_t)room;
        rc = room ? add_some(f, digests + all, some, answers + all, &done)
                  : add_next(f, digests[all], answers + all, &done);
    }
    if (rc < 0) filter_undo(f, digests, all, answers);
    return rc;
}

/* A batch comes in several parts, and has one time. */
static int provide(perhaps *f) {
    look_at_clock(f);
    return PERHAPS_OK;
}

static int make_room(perhaps *f, uint64_t digest) {
    return filter_grow(newest_of(f), digest);
}

/* ---- whole filters ---- */

static void clear(perhaps *f) {
    family_clear(f);
    f->family->look_again = 0;
}

static const char *misfit(const perhaps *f) {
    for (unsigned i = 1; i < f->family->count; i++) {
        const struct child *older = &f->family->child[i - 1], *newer = &f->family->child[i];
        bool alike =
            memcmp(older->filter->header.layout, newer->filter->header.layout, sizeof(uint64_t) * LAYOUT_WORDS) == 0;
        if (!alike && !older->filter->kind->grow) return "generations that are not alike";
        if (older->since > newer->since) return "generations that are not in order";
    }
    return NULL;
}

static const char *refuses(const struct kind *base) {
    if (base->row.can & PERHAPS_COUNT)
        return "%s filters are for keys that are removed by name; a window forgets by itself";
    if (base->format || base->hash == PERHAPS_MURMUR)
        return "%s filters are those of another program, which has no windows";
    if (base->hash == PERHAPS_IDENTITY) return "a window has a number of keys, and a %s a range of integers";
    if (base->combiner || !(base->row.can & PERHAPS_ADD)) return "%s filters cannot be generations of a window";
    return NULL;
}

static unsigned can(const struct kind *base) {
    (void)base;
    return PERHAPS_ADD;
}

static uint64_t check(const uint64_t layout[LAYOUT_WORDS], const char **reason) {
    const struct kind *base = layout[BASE] < INT16_MAX ? kind_find((int)layout[BASE]) : NULL;
    *reason = NULL;
    if (!base || refuses(base)) *reason = "generations of a kind that cannot be";
    if (layout[CHILDREN] < 1 || layout[CHILDREN] > GENERATIONS_MAX) *reason = "an impossible number of generations";
    if (layout[CHILDREN] == 1 && !layout[CLEAR_AT]) *reason = "a single generation";
    if (layout[CLEAR_AT] >= CLEAR_AT_ONE) *reason = "a fill to forget at of 1 or more";
    if ((layout[QUOTA] != 0) + (layout[PERIOD] != 0) + (layout[CLEAR_AT] != 0) != 1)
        *reason = "not one way of forgetting, but none or several";
    return *reason ? 0 : layout[CHILDREN] * ENTRY_BYTES;
}

static const struct kind_ops *ops(const uint64_t layout[LAYOUT_WORDS], enum isa isa, bool shared) {
    static const struct kind_ops all = {
        .add = add, .contains = family_contains, .contains_many = family_contains_many, .fetch = family_fetch};
    (void)layout, (void)isa, (void)shared;
    return &all;
}

static const struct combiner combiner = {.add_many = add_many,
                                         .make_room = make_room,
                                         .provide = provide,
                                         .clear = clear,
                                         .misfit = misfit,
                                         .rates_add_up = true};

const struct kind kind_window = {
    .row = {PERHAPS_WINDOW, PERHAPS_ADD, "window",
            "generations that age out: for the last N keys, or the last T seconds"},
    .digest_words = 1,
    .hash = PERHAPS_XXH3,
    .check = check,
    .layout_names = {"kind of the generations", "number of generations", "quota", "period", "fill to forget at"},
    .ops = ops,
    .refuses = refuses,
    .can = can,
    .combiner = &combiner,
};
