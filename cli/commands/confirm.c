#include "confirm.h"
#include "backend/file/filter_file.h"
#include "output/numbers.h"
#include "output/printer.h"

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

/* ----------------------------------------------------------------------------------------------- keeping hits --- */

/* One hit. Hits follow one another in memory; each is known by where it begins there. A number is a key of 8 bytes. */
struct hit {
    size_t first;              /* where the first one with this key begins */
    size_t line_length;        /* its end included; 0 = it is not to be printed */
    size_t key_at, key_length; /* in `bytes` */
    bool confirmed;            /* of a first one: the key is among the original ones */
    char bytes[];              /* the line, and behind it the key if it does not stand in the line as it is */
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
    if (!larger) return failure("--confirm", "not enough memory for so many hits; check fewer keys at a time");
    hits->bytes = larger;
    hits->room = room;
    return FINE;
}

/* Where the key stands in a line of this length; SIZE_MAX if it does not. */
static size_t place_in_line(const char *line, size_t line_length, const char *key, size_t length) {
    uintptr_t begin = (uintptr_t)line, at = (uintptr_t)key;
    bool inside = at >= begin && at + length <= begin + line_length;
    return inside ? (size_t)(at - begin) : SIZE_MAX;
}

int hits_put(struct hits *hits, const struct batch *batch, size_t i, bool printing) {
    const char *key = batch->numbers ? (const char *)&batch->numbers[i] : batch->keys[i];
    struct hit hit = {.key_length = batch->numbers ? sizeof *batch->numbers : batch->lengths[i]};
    if (printing) hit.line_length = batch->line_lengths[i] + batch->terminator_length;
    hit.key_at = place_in_line(batch->lines[i], hit.line_length, key, hit.key_length);
    bool apart = hit.key_at == SIZE_MAX;
    if (apart) hit.key_at = hit.line_length;
    if (make_room(hits, hit_size(&hit)) != FINE) return TROUBLE;
    struct hit *kept = hit_at(hits, hits->filled);
    *kept = hit;
    memcpy(kept->bytes, batch->lines[i], hit.line_length);
    if (apart) memcpy(kept->bytes + hit.key_at, key, hit.key_length);
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

/* ---------------------------------------------------------------------------------------------------- finding --- */

/* The hits by their keys: open addressing, at most half full. */
struct index {
    const struct hits *hits;
    size_t mask;
    struct hit_slot {
        uint64_t digest;
        size_t hit; /* the first one with its key, and 1 more; 0 = free */
    } * slots;
};

/* The slot of this key, or a free one for it. */
static struct hit_slot *find(const struct index *index, uint64_t digest, const void *key, size_t length) {
    for (size_t at = (size_t)digest & index->mask;; at = (at + 1) & index->mask) {
        struct hit_slot *slot = &index->slots[at];
        if (!slot->hit) return slot;
        if (slot->digest != digest) continue;
        const struct hit *hit = hit_at(index->hits, slot->hit - 1);
        if (hit->key_length == length && memcmp(hit->bytes + hit->key_at, key, length) == 0) return slot;
    }
}

static uint64_t digest_of(const perhaps *filter, bool number, const void *key, size_t length) {
    uint64_t value;
    if (!number) return perhaps_digest(perhaps_hasher_of(filter), key, length);
    memcpy(&value, key, sizeof value);
    return perhaps_digest_u64(perhaps_hasher_of(filter), value);
}

/* Makes the index, and tells every hit which one is the first with its key. */
static int index_build(struct index *index, const perhaps *filter, bool numbers) {
    size_t slots = 2;
    while (slots / 2 < index->hits->n) slots *= 2;
    index->mask = slots - 1;
    index->slots = calloc(slots, sizeof *index->slots);
    if (!index->slots) return failure("--confirm", "not enough memory for so many hits; check fewer keys at a time");
    for (size_t at = 0; at < index->hits->filled;) {
        struct hit *hit = hit_at(index->hits, at);
        const char *key = hit->bytes + hit->key_at;
        uint64_t digest = digest_of(filter, numbers, key, hit->key_length);
        struct hit_slot *slot = find(index, digest, key, hit->key_length);
        if (!slot->hit) *slot = (struct hit_slot){digest, at + 1};
        hit->first = slot->hit - 1;
        at += hit_size(hit);
    }
    return FINE;
}

/* ------------------------------------------------------------------------------------------------- confirming --- */

struct confirming {
    const perhaps *filter;
    struct index index;
    bool one;
    uint64_t keys, strangers; /* read, and those that the filter does not have */
};

/* Is it the key of a hit? */
static bool confirm_key(struct confirming *c, const struct batch *batch, size_t i) {
    bool number = batch->numbers;
    const void *key = number ? (const void *)&batch->numbers[i] : batch->keys[i];
    size_t length = number ? sizeof *batch->numbers : batch->lengths[i];
    const struct hit_slot *slot = find(&c->index, digest_of(c->filter, number, key, length), key, length);
    if (slot->hit) hit_at(c->index.hits, slot->hit - 1)->confirmed = true;
    return slot->hit;
}

/* What the filter does not have is no hit, and need not be looked for. */
static int confirm_batch(void *context, const struct batch *batch) {
    struct confirming *c = context;
    uint8_t answers[BATCH];
    uint64_t present;
    if (filter_ask(c->filter, batch, answers, &present) != FINE) return TROUBLE;
    c->keys += batch->n;
    c->strangers += batch->n - present;
    for (size_t i = 0; i < batch->n; i++)
        if (answers[i] && confirm_key(c, batch, i) && c->one) return STOP;
    return FINE;
}

static void warn_of_strangers(const struct confirming *c, const char *path, const char *keys_path) {
    char strangers[NUMBER_TEXT], keys[NUMBER_TEXT];
    if (!c->strangers) return;
    warning(
        input_name(keys_path),
        "%s of its %s keys are not in %s, which was made from other keys or has forgotten some; only what is in both "
        "counts as present",
        group_digits(c->strangers, strangers), group_digits(c->keys, keys), path);
}

int hits_confirm(struct hits *hits, const perhaps *filter, const char *path, const struct input *keys, bool one) {
    struct confirming c = {.filter = filter, .index = {.hits = hits}, .one = one};
    if (hits->n == 0) return FINE;
    int status = index_build(&c.index, filter, input_of_numbers(keys));
    if (status == FINE) status = input_read(keys, confirm_batch, &c);
    if (status == FINE) warn_of_strangers(&c, path, keys->paths[0]);
    free(c.index.slots);
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
