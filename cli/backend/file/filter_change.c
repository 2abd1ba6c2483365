/* Keys into a filter, or out of it. */
#include "filter_target.h"
#include "options/abilities.h"
#include "output/numbers.h"

#include <stdlib.h>
#include <string.h>

/* ---- no room ---- */

static void count_rest(struct filter_target *t, const struct batch *b, size_t from) {
    for (size_t i = from; b->numbers && i < b->n; i++)
        if (b->numbers[i] > t->no_room.largest) t->no_room.largest = b->numbers[i];
    t->target.keys += b->n - from;
}

/* If a batch has no room as a whole, nothing of it is added. Adding one key at a time shows which
 * is the first too many. */
static int add_singly(struct filter_target *t, const struct batch *b) {
    for (size_t i = 0; i < b->n; i++) {
        int is_new = b->digests   ? perhaps_add_digest(t->filter, b->digests[i])
                     : b->numbers ? perhaps_add_u64(t->filter, b->numbers[i])
                                  : perhaps_add(t->filter, b->keys[i], b->lengths[i]);
        if (is_new < 0) {
            t->no_room = (struct no_room){.error = is_new,
                                          .path = b->path,
                                          .line = batch_line(b, i),
                                          .number = b->numbers ? b->numbers[i] : 0,
                                          .before = t->target.keys};
            count_rest(t, b, i);
            return t->in_place ? STOP : FINE;
        }
        t->target.keys++;
        t->target.changed += (uint64_t)is_new;
    }
    return FINE;
}

static int change_batch(void *context, const struct batch *batch) {
    struct filter_target *t = context;
    perhaps_keys keys = batch_keys(batch);
    if (t->no_room.error) {
        count_rest(t, batch, 0);
        return FINE;
    }
    int64_t changed = t->threads > 1             ? perhaps_add_parallel(t->filter, &keys, NULL, t->threads)
                      : t->direction == REMOVING ? perhaps_remove_many(t->filter, &keys, NULL)
                                                 : perhaps_add_many(t->filter, &keys, NULL);
    if (changed == PERHAPS_EFULL || changed == PERHAPS_ENOMEM) return add_singly(t, batch);
    if (changed == PERHAPS_EIO && filter_facts(t->filter).collecting) return scratch_failure();
    if (changed < 0) return library_failure(batch->path, (int)changed);
    t->target.keys += batch->n;
    t->target.changed += (uint64_t)changed;
    return FINE;
}

/* ---- many threads ---- */

/* Keys of one chunk of the input, as its thread made them: numbers, or the digests of all others,
 * since these keys do not outlive their batch. All threads together then add them. */
struct hashed_keys {
    struct filter_target *t;
    perhaps_hasher hasher; /* a copy: the filter changes while others hash */
    bool numbers;
    uint64_t *words;
    size_t n, room;
};

static int hash_for_adding(void *context, const struct batch *b) {
    struct hashed_keys *m = context;
    perhaps_keys keys = batch_keys(b);
    if (m->n + b->n > m->room) {
        size_t room = 2 * m->room + 64 * BATCH;
        uint64_t *larger = realloc(m->words, room * sizeof *larger);
        if (!larger)
            return failure(input_name(b->path), "not enough memory for the keys of all threads; give a smaller -j");
        m->words = larger;
        m->room = room;
    }
    uint64_t *words = m->words + m->n;
    m->numbers = b->numbers;
    m->n += b->n;
    if (b->numbers)
        memcpy(words, b->numbers, b->n * sizeof *words);
    else
        perhaps_digest_many(&m->hasher, &keys, words);
    return FINE;
}

static int add_hashed(void *context, const char *path, uint64_t first_line) {
    struct hashed_keys *m = context;
    struct batch batch = {.n = m->n, .path = path, .first_line = first_line};
    *(m->numbers ? &batch.numbers : &batch.digests) = m->words;
    m->n = 0;
    return batch.n ? change_batch(m->t, &batch) : FINE;
}

static int check_threads(const struct filter_target *t) {
    const char *path = t->target.name;
    struct perhaps_info facts = filter_facts(t->filter);
    if (facts.traits & PERHAPS_PARALLEL) return FINE;
    if (is_file_kind(facts.kind))
        return failure(path, "%s filters are files of another program, to which one thread adds; leave out -j",
                       facts.kind_name);
    return failure(path, "one thread adds to a %s filter; %s", facts.kind_name,
                   facts.kind == PERHAPS_WINDOW ? "leave out -j" : "build it with --shards 16, or leave out -j");
}

int filter_change(struct target *target, const struct input *input, enum direction direction) {
    struct filter_target *t = filter_target_of(target);
    struct hashed_keys hashed[MOST_THREADS];
    void *contexts[MOST_THREADS];
    t->direction = direction;
    if (t->threads <= 1) return input_read(input, change_batch, t);
    if (check_threads(t) != FINE) return TROUBLE;
    for (unsigned i = 0; i < t->threads; i++) {
        hashed[i] = (struct hashed_keys){.t = t, .hasher = *perhaps_hasher_of(t->filter)};
        contexts[i] = &hashed[i];
    }
    int status = input_work(
        input, &(struct key_work){
                   .threads = t->threads, .in_thread = hash_for_adding, .in_order = add_hashed, .contexts = contexts});
    for (unsigned i = 0; i < t->threads; i++) free(hashed[i].words);
    return status;
}

/* ---- words ---- */

/* A bitmap is never short of room for one more key, only for a larger number. */
static int number_failure(const struct filter_target *t, const struct perhaps_info *info) {
    char advice[100];
    const char *path = t->target.name;
    unsigned long long number = t->no_room.number, line = t->no_room.line, largest = t->no_room.largest;
    bool may_not_grow = t->in_place || info->grow == PERHAPS_GROW_NEVER;
    if (t->no_room.error == PERHAPS_ENOMEM || !may_not_grow)
        return failure(path,
                       "a bitmap up to %llu, on line %llu of %s, takes more memory than there is; for numbers so far "
                       "apart take -k table",
                       number, line, input_name(t->no_room.path));
    if (t->in_place)
        snprintf(advice, sizeof advice, "in place it cannot grow: leave out --in-place");
    else if (largest == UINT64_MAX)
        snprintf(advice, sizeof advice, "for numbers so large take -k table");
    else
        snprintf(advice, sizeof advice, "build it with -n %llu, or without --no-grow", largest + 1);
    return failure(path, "%llu, on line %llu of %s, is not below %llu, which it was made for; %s", number, line,
                   input_name(t->no_room.path), (unsigned long long)info->capacity, advice);
}

static void advise(const struct filter_target *t, const struct perhaps_info *info, char *text, size_t size) {
    bool table = info->kind == PERHAPS_TABLE || info->base == PERHAPS_TABLE;
    /* Room for all that is in the filter and all that was read; twice the room, if it had that
     * much. */
    uint64_t held_before = info->items > t->target.changed ? info->items - t->target.changed : 0;
    uint64_t needed = held_before + t->target.keys;
    if (needed <= info->capacity) needed = 2 * info->capacity;
    if (info->max_bytes || info->base == PERHAPS_GROWING)
        snprintf(text, size, "build it with a larger --max-bytes");
    else if (table && info->fill < 0.5) /* keys that no attacker chose fill 0.9 */
        snprintf(text, size, "too many keys share their places: build it without --no-grow, or with --hash siphash");
    else
        snprintf(text, size, "build it with -n %llu%s", (unsigned long long)needed,
                 info->grow == PERHAPS_GROW_NEVER ? ", or without --no-grow" : "");
}

int no_room_failure(const struct filter_target *t) {
    const char *path = t->target.name;
    struct perhaps_info info;
    char before[NUMBER_TEXT], keys[NUMBER_TEXT], advice[100];
    if (filter_info(t->filter, path, &info) != FINE) return TROUBLE;
    if (filter_of_integers(t->filter)) return number_failure(t, &info);
    if (t->no_room.error == PERHAPS_ENOMEM && info.collecting)
        return failure(
            path,
            "there is not enough memory for %s keys to wait in; give a smaller --scratch, or use a machine with more",
            group_digits(info.items, before));
    if (t->no_room.error == PERHAPS_ENOMEM)
        return failure(path,
                       "there is not enough memory for more than %s keys; use a machine with more, or a kind "
                       "that takes fewer bits a key",
                       group_digits(info.items, before));
    advise(t, &info, advice, sizeof advice);
    return failure(path,
                   "is full: %s of %s keys found room, the one on line %llu of %s did not, and no file was changed; %s",
                   group_digits(t->no_room.before, before), group_digits(t->target.keys, keys),
                   (unsigned long long)t->no_room.line, input_name(t->no_room.path), advice);
}
