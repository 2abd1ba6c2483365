#include "change.h"
#include "filter.h"
#include "numbers.h"
#include "threads.h"

#include <stdlib.h>

static int64_t change_many(struct change *c, const struct batch *b) {
    if (b->digests) return perhaps_add_parallel_digest(c->filter, b->digests, b->n, NULL, c->threads);
    if (c->direction == REMOVING)
        return b->numbers ? perhaps_remove_many_u64(c->filter, b->numbers, b->n, NULL)
                          : perhaps_remove_many(c->filter, b->keys, b->lengths, b->n, NULL);
    return b->numbers ? perhaps_add_many_u64(c->filter, b->numbers, b->n, NULL)
                      : perhaps_add_many(c->filter, b->keys, b->lengths, b->n, NULL);
}

/* ------------------------------------------------------------------------------------------------- no room --- */

static int add_one(struct change *c, const struct batch *b, size_t i) {
    if (b->digests) return perhaps_add_digest(c->filter, b->digests[i]);
    return b->numbers ? perhaps_add_u64(c->filter, b->numbers[i]) : perhaps_add(c->filter, b->keys[i], b->lengths[i]);
}

/* Of a kind of integers, the digests are the integers; of other kinds nobody asks. */
static const uint64_t *numbers_of(const struct batch *b) {
    return b->numbers ? b->numbers : b->digests;
}

static void count_rest(struct change *c, const struct batch *b, size_t from) {
    const uint64_t *numbers = numbers_of(b);
    for (size_t i = from; numbers && i < b->n; i++)
        if (numbers[i] > c->largest) c->largest = numbers[i];
    c->keys += b->n - from;
}

/* Of a batch that had no room as a whole nothing was added. One key at a time shows which was the first too many. */
static int add_singly(struct change *c, const struct batch *b) {
    for (size_t i = 0; i < b->n; i++) {
        int is_new = add_one(c, b, i);
        if (is_new < 0) {
            c->error = is_new;
            c->path = b->path;
            c->line = b->first_line + i;
            c->number = numbers_of(b) ? numbers_of(b)[i] : 0;
            c->before = c->keys;
            count_rest(c, b, i);
            return c->in_place ? STOP : FINE;
        }
        c->keys++;
        c->changed += (uint64_t)is_new;
    }
    return FINE;
}

static int change_batch(void *context, const struct batch *batch) {
    struct change *c = context;
    if (c->error) {
        count_rest(c, batch, 0);
        return FINE;
    }
    int64_t changed = change_many(c, batch);
    if (changed == PERHAPS_EFULL || changed == PERHAPS_ENOMEM) return add_singly(c, batch);
    if (changed < 0) return library_failure(batch->path, (int)changed);
    c->keys += batch->n;
    c->changed += (uint64_t)changed;
    return FINE;
}

/* -------------------------------------------------------------------------------------------- many threads --- */

/* Keys of one piece of the input, hashed by its thread; then all threads together add them. */
struct hashed {
    struct change *change;
    uint64_t *digests;
    size_t n, room;
};

static int make_room(struct hashed *h, const struct batch *batch) {
    if (h->n + batch->n <= h->room) return FINE;
    size_t room = 2 * h->room + 64 * BATCH;
    uint64_t *larger = realloc(h->digests, room * sizeof *larger);
    if (!larger) return failure(input_name(batch->path), "not enough memory for so many threads; give a smaller -j");
    h->digests = larger;
    h->room = room;
    return FINE;
}

static int hash_batch(void *context, const struct batch *b) {
    struct hashed *h = context;
    const perhaps *filter = h->change->filter;
    if (make_room(h, b) != FINE) return TROUBLE;
    for (size_t i = 0; i < b->n; i++)
        h->digests[h->n++] =
            b->numbers ? perhaps_digest_u64(filter, b->numbers[i]) : perhaps_digest(filter, b->keys[i], b->lengths[i]);
    return FINE;
}

static int add_hashed(void *context, const char *path, uint64_t first_line) {
    struct hashed *h = context;
    struct batch batch = {.n = h->n, .digests = h->digests, .path = path, .first_line = first_line};
    h->n = 0;
    return batch.n ? change_batch(h->change, &batch) : FINE;
}

/* Kinds that cannot be changed by many threads say so for no keys, too. */
static int check_threads(const struct change *c, const char *path) {
    static const uint64_t nothing[1];
    int64_t rc = perhaps_add_parallel_digest(c->filter, nothing, 0, NULL, c->threads);
    if (rc != PERHAPS_ECANNOT) return rc < 0 ? library_failure(path, (int)rc) : FINE;
    struct perhaps_info info = {.size = sizeof info};
    bool window = perhaps_info(c->filter, &info) == PERHAPS_OK && info.kind == PERHAPS_WINDOW;
    return reason_failure(path, window ? "leave out -j" : "build it with --shards 16, or leave out -j");
}

int change_all(struct change *c, const char *path, const struct input *input) {
    struct hashed hashed[MOST_THREADS];
    void *contexts[MOST_THREADS];
    if (c->threads <= 1) return input_read(input, change_batch, c);
    if (check_threads(c, path) != FINE) return TROUBLE;
    for (unsigned i = 0; i < c->threads; i++) {
        hashed[i] = (struct hashed){.change = c};
        contexts[i] = &hashed[i];
    }
    int status = input_work(input, &(struct work){c->threads, hash_batch, add_hashed, contexts});
    for (unsigned i = 0; i < c->threads; i++) free(hashed[i].digests);
    return status;
}

/* --------------------------------------------------------------------------------------------------- words --- */

/* A bitmap is never short of room for one more key, only for a larger number. */
static int number_failure(const struct change *c, const struct perhaps_info *info, const char *path) {
    char advice[100];
    unsigned long long number = c->number, line = c->line, range = info->capacity, largest = c->largest;
    bool may_not_grow = c->in_place || info->grow == PERHAPS_GROW_NEVER;
    if (c->error == PERHAPS_ENOMEM || !may_not_grow)
        return failure(path,
                       "a bitmap up to %llu, on line %llu of %s, takes more memory than there is; for numbers so far "
                       "apart take -k table",
                       number, line, input_name(c->path));
    if (c->in_place)
        snprintf(advice, sizeof advice, "in place it cannot grow: leave out --in-place");
    else if (largest == UINT64_MAX)
        snprintf(advice, sizeof advice, "for numbers so large take -k table");
    else
        snprintf(advice, sizeof advice, "build it with -n %llu, or without --no-grow", largest + 1);
    return failure(path, "%llu, on line %llu of %s, is not below %llu, which it was made for; %s", number, line,
                   input_name(c->path), range, advice);
}

/* Room for all that is in the filter and all that was read; twice the room, if it was to have that much. */
static uint64_t room_needed(const struct change *c, const struct perhaps_info *info) {
    uint64_t held_before = info->items > c->changed ? info->items - c->changed : 0;
    uint64_t needed = held_before + c->keys;
    return needed > info->capacity ? needed : 2 * info->capacity;
}

static void advise(const struct change *c, const struct perhaps_info *info, char *text, size_t size) {
    if (info->max_bytes || info->base == PERHAPS_GROWING)
        snprintf(text, size, "build it with a larger --max-bytes");
    else
        snprintf(text, size, "build it with -n %llu%s", (unsigned long long)room_needed(c, info),
                 info->grow == PERHAPS_GROW_NEVER ? ", or without --no-grow" : "");
}

int change_failure(const struct change *c, const char *path) {
    struct perhaps_info info;
    char before[NUMBER_TEXT], keys[NUMBER_TEXT], advice[100];
    if (filter_info(c->filter, path, &info) != FINE) return TROUBLE;
    if (filter_of_integers(c->filter)) return number_failure(c, &info, path);
    if (c->error == PERHAPS_ENOMEM)
        return failure(path,
                       "there is not enough memory for more than %s keys; use a machine with more, or a kind "
                       "that takes fewer bits a key",
                       group_digits(info.items, before));
    advise(c, &info, advice, sizeof advice);
    return failure(path,
                   "is full: %s of %s keys found room, the one on line %llu of %s did not, and no file was changed; %s",
                   group_digits(c->before, before), group_digits(c->keys, keys), (unsigned long long)c->line,
                   input_name(c->path), advice);
}
