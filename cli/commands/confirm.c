#include "confirm.h"
#include "output/numbers.h"
#include "output/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int confirm_possible(const char *path, const struct input *input) {
    bool standard = strcmp(path, "-") == 0;
    if (!standard && access(path, R_OK) != 0)
        return failure(path, "cannot be opened: %s; give the keys that the filter was made from", strerror(errno));
    for (size_t i = 0; standard && i < input->path_count; i++)
        if (strcmp(input->paths[i], "-") == 0)
            return failure("--confirm", "standard input has the keys to check already; give a file for one of them");
    return FINE;
}

/* ---- keeping hits ---- */

/* One hit. Hits follow one another in memory; each is known by where it begins there. A number is a
 * key of 8 bytes. */
struct hit {
    size_t first;              /* where the first one with this key begins */
    size_t line_length;        /* its end included; 0 = it is not to be printed */
    size_t key_at, key_length; /* in `bytes` */
    bool confirmed;            /* of a first one: the key is among the original ones */
    char bytes[];              /* the line, and behind it the key if that is not a part of it */
};

static struct hit *hit_at(const struct hits *hits, size_t at) {
    return (struct hit *)(void *)(hits->bytes + at);
}

/* From the beginning of a hit to that of the next. */
static size_t hit_size(const struct hit *hit) {
    size_t key_end = hit->key_at + hit->key_length;
    size_t size = offsetof(struct hit, bytes) + (key_end > hit->line_length ? key_end : hit->line_length);
    return size + (8 - size % 8) % 8;
}

static int make_room(struct hits *hits, size_t length) {
    if (length <= hits->room - hits->filled) return FINE;
    size_t room = 2 * hits->room + length;
    char *larger = hits->room > SIZE_MAX / 4 || length > SIZE_MAX / 4 ? NULL : realloc(hits->bytes, room);
    if (!larger) return failure("--confirm", "not enough memory for the hits; check fewer keys at a time");
    hits->bytes = larger;
    hits->room = room;
    return FINE;
}

/* Key i of a batch; a number is a key of 8 bytes. */
static const void *key_of(const struct batch *batch, size_t i, size_t *length) {
    *length = batch->numbers ? sizeof *batch->numbers : batch->lengths[i];
    return batch->numbers ? (const void *)&batch->numbers[i] : batch->keys[i];
}

int hits_put(struct hits *hits, const struct batch *batch, size_t i, bool printing) {
    struct hit hit = {.line_length = printing ? batch->line_lengths[i] + batch->terminator_length : 0};
    const void *key = key_of(batch, i, &hit.key_length);
    uintptr_t line = (uintptr_t)batch->lines[i], at = (uintptr_t)key;
    bool inside = at >= line && at + hit.key_length <= line + hit.line_length;
    hit.key_at = inside ? (size_t)(at - line) : hit.line_length;
    if (make_room(hits, hit_size(&hit)) != FINE) return TROUBLE;
    struct hit *kept = hit_at(hits, hits->filled);
    *kept = hit;
    memcpy(kept->bytes, batch->lines[i], hit.line_length);
    if (!inside) memcpy(kept->bytes + hit.key_at, key, hit.key_length);
    hits->filled += hit_size(&hit);
    hits->n++;
    return FINE;
}

int hits_move(struct hits *hits, struct hits *from) {
    if (from->n == 0) return FINE;
    if (make_room(hits, from->filled) != FINE) return TROUBLE;
    memcpy(hits->bytes + hits->filled, from->bytes, from->filled);
    hits->filled += from->filled;
    hits->n += from->n;
    from->filled = from->n = 0;
    return FINE;
}

/* ---- finding ---- */

struct confirming {
    const struct target *target;
    bool one;
    uint64_t keys, absent; /* read, and those that the filter does not have */
    const struct hits *hits;
    perhaps_hasher hasher;
    size_t mask;
    struct hit_slot { /* the hits by their keys: open addressing, at most half full */
        uint64_t digest;
        size_t hit; /* the first one with its key, and 1 more; 0 = free */
    } * slots;
};

/* The slot of this key, or a free one for it. */
static struct hit_slot *find(const struct confirming *c, uint64_t digest, const void *key, size_t length) {
    for (size_t at = (size_t)digest & c->mask;; at = (at + 1) & c->mask) {
        struct hit_slot *slot = &c->slots[at];
        if (!slot->hit) return slot;
        if (slot->digest != digest) continue;
        const struct hit *hit = hit_at(c->hits, slot->hit - 1);
        if (hit->key_length == length && memcmp(hit->bytes + hit->key_at, key, length) == 0) return slot;
    }
}

/* Fills the slots, and tells every hit which one is the first with its key. */
static int fill_slots(struct confirming *c) {
    size_t slots = 2;
    while (slots / 2 < c->hits->n) slots *= 2;
    c->mask = slots - 1;
    c->slots = calloc(slots, sizeof *c->slots);
    if (!c->slots || perhaps_hasher_init(&c->hasher, PERHAPS_XXH3, 0, NULL) != PERHAPS_OK)
        return failure("--confirm", "not enough memory for the hits; check fewer keys at a time");
    for (size_t at = 0; at < c->hits->filled;) {
        struct hit *hit = hit_at(c->hits, at);
        const char *key = hit->bytes + hit->key_at;
        uint64_t digest = perhaps_digest(&c->hasher, key, hit->key_length);
        struct hit_slot *slot = find(c, digest, key, hit->key_length);
        if (!slot->hit) *slot = (struct hit_slot){digest, at + 1};
        hit->first = slot->hit - 1;
        at += hit_size(hit);
    }
    return FINE;
}

/* A key that the filter does not have is no hit, and need not be looked up. */
static int confirm_batch(void *context, const struct batch *batch) {
    struct confirming *c = context;
    uint8_t answers[BATCH];
    uint64_t present;
    if (c->target->backend->query_batch(c->target, batch, answers, &present) != FINE) return TROUBLE;
    c->keys += batch->n;
    c->absent += batch->n - present;
    for (size_t i = 0; i < batch->n; i++) {
        if (!answers[i]) continue;
        size_t length;
        const void *key = key_of(batch, i, &length);
        const struct hit_slot *slot = find(c, perhaps_digest(&c->hasher, key, length), key, length);
        if (!slot->hit) continue;
        hit_at(c->hits, slot->hit - 1)->confirmed = true;
        if (c->one) return STOP;
    }
    return FINE;
}

int hits_confirm(struct hits *hits, const struct target *target, const struct input *keys, bool one) {
    struct confirming c = {.target = target, .hits = hits, .one = one};
    char absent[NUMBER_TEXT], all[NUMBER_TEXT];
    if (hits->n == 0) return FINE;
    int status = fill_slots(&c);
    if (status == FINE) status = input_read(keys, confirm_batch, &c);
    if (status == FINE && c.absent)
        warning(input_name(keys->paths[0]),
                "%s of its %s keys are not in %s, which was made from other keys or has forgotten some; only what is "
                "in both counts as present",
                group_digits(c.absent, absent), group_digits(c.keys, all), target->name);
    free(c.slots);
    return status;
}

static bool is_confirmed(const struct hits *hits, const struct hit *hit) {
    return hit_at(hits, hit->first)->confirmed;
}

uint64_t hits_confirmed(const struct hits *hits) {
    uint64_t n = 0;
    for (size_t at = 0; at < hits->filled; at += hit_size(hit_at(hits, at))) n += is_confirmed(hits, hit_at(hits, at));
    return n;
}

int hits_print(const struct hits *hits, bool confirmed) {
    static struct printer printer;
    for (size_t at = 0; at < hits->filled; at += hit_size(hit_at(hits, at))) {
        const struct hit *hit = hit_at(hits, at);
        if (is_confirmed(hits, hit) != confirmed) continue;
        if (printer_put(&printer, hit->bytes, hit->line_length) != FINE) return TROUBLE;
    }
    return printer_flush(&printer);
}
