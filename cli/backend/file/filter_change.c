#include "filter_change.h"
#include "options/abilities.h"
#include "filter_file.h"
#include "output/numbers.h"
#include "input/threads.h"

#include <stdlib.h>
#include <string.h>

static int64_t change_many(struct change *c, const struct batch *b) {
    perhaps_keys keys = batch_keys(b);
    if (c->threads > 1) return perhaps_add_parallel(c->filter, &keys, NULL, c->threads);
    return c->direction == REMOVING ? perhaps_remove_many(c->filter, &keys, NULL)
                                    : perhaps_add_many(c->filter, &keys, NULL);
}

/* ------------------------------------------------------------------------------------------------- no room --- */

static int add_one(struct change *c, const struct batch *b, size_t i) {
    if (b->digests) return perhaps_add_digest(c->filter, b->digests[i]);
    return b->numbers ? perhaps_add_u64(c->filter, b->numbers[i]) : perhaps_add(c->filter, b->keys[i], b->lengths[i]);
}

static void count_rest(struct change *c, const struct batch *b, size_t from) {
    for (size_t i = from; b->numbers && i < b->n; i++)
        if (b->numbers[i] > c->largest) c->largest = b->numbers[i];
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
            c->number = b->numbers ? b->numbers[i] : 0;
            c->before = c->keys;
            count_rest(c, b, i);
            return c->in_place ? STOP : FINE;
        }
        c->keys++;
        c->changed += (uint64_t)is_new;
    }
    return FINE;
}

static bool is_collecting(const perhaps *filter) {
    struct perhaps_info info = {.size = sizeof info};
    return perhaps_facts(filter, &info) == PERHAPS_OK && info.collecting;
}

static int change_batch(void *context, const struct batch *batch) {
    struct change *c = context;
    if (c->error) {
        count_rest(c, batch, 0);
        return FINE;
    }
    int64_t changed = change_many(c, batch);
    if (changed == PERHAPS_EFULL || changed == PERHAPS_ENOMEM) return add_singly(c, batch);
    if (changed == PERHAPS_EIO && is_collecting(c->filter)) return scratch_failure();
    if (changed < 0) return library_failure(batch->path, (int)changed);
    c->keys += batch->n;
    c->changed += (uint64_t)changed;
    return FINE;
}

/* -------------------------------------------------------------------------------------------- many threads --- */

/* Keys of one chunk of the input, as its thread made them: numbers, or the digests of all others, which would not outlive
 * the batch. All threads together then add them. */
struct hashed_keys {
    struct change *change;
    perhaps_hasher hasher; /* a copy: the filter changes while others hash */
    bool numbers;
    uint64_t *words;
    size_t n, room;
};

static int make_room(struct hashed_keys *m, const struct batch *batch) {
    if (m->n + batch->n <= m->room) return FINE;
    size_t room = 2 * m->room + 64 * BATCH;
    uint64_t *larger = realloc(m->words, room * sizeof *larger);
    if (!larger) return failure(input_name(batch->path), "not enough memory for so many threads; give a smaller -j");
    m->words = larger;
    m->room = room;
    return FINE;
}

static int hash_batch(void *context, const struct batch *b) {
    struct hashed_keys *m = context;
    perhaps_keys keys = batch_keys(b);
    if (make_room(m, b) != FINE) return TROUBLE;
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
    return batch.n ? change_batch(m->change, &batch) : FINE;
}

static int check_threads(const struct change *c, const char *path) {
    struct perhaps_info info = {.size = sizeof info};
    int rc = perhaps_facts(c->filter, &info);
    if (rc < 0) return library_failure(path, rc);
    if (info.traits & PERHAPS_PARALLEL) return FINE;
    if (is_file_kind(info.kind))
        return failure(path, "%s filters are files of another program, to which one thread adds; leave out -j",
                       info.kind_name);
    return failure(path, "one thread adds to a %s filter; %s", info.kind_name,
                   info.kind == PERHAPS_WINDOW ? "leave out -j" : "build it with --shards 16, or leave out -j");
}

int change_all(struct change *c, const char *path, const struct input *input) {
    struct hashed_keys hashed[MOST_THREADS];
    void *contexts[MOST_THREADS];
    if (c->threads <= 1) return input_read(input, change_batch, c);
    if (check_threads(c, path) != FINE) return TROUBLE;
    for (unsigned i = 0; i < c->threads; i++) {
        hashed[i] = (struct hashed_keys){.change = c, .hasher = *perhaps_hasher_of(c->filter)};
        contexts[i] = &hashed[i];
    }
    int status = input_work(
        input, &(struct key_work){
                   .threads = c->threads, .in_thread = hash_batch, .in_order = add_hashed, .contexts = contexts});
    for (unsigned i = 0; i < c->threads; i++) free(hashed[i].words);
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
    bool table = info->kind == PERHAPS_TABLE || info->base == PERHAPS_TABLE;
    if (info->max_bytes || info->base == PERHAPS_GROWING)
        snprintf(text, size, "build it with a larger --max-bytes");
    else if (table && info->fill < 0.5) /* keys that nobody chose fill nine tenths */
        snprintf(text, size, "too many keys share their places: build it without --no-grow, or with --hash siphash");
    else
        snprintf(text, size, "build it with -n %llu%s", (unsigned long long)room_needed(c, info),
                 info->grow == PERHAPS_GROW_NEVER ? ", or without --no-grow" : "");
}

int change_failure(const struct change *c, const char *path) {
    struct perhaps_info info;
    char before[NUMBER_TEXT], keys[NUMBER_TEXT], advice[100];
    if (filter_info(c->filter, path, &info) != FINE) return TROUBLE;
    if (filter_of_integers(c->filter)) return number_failure(c, &info, path);
    if (c->error == PERHAPS_ENOMEM && info.collecting)
        return failure(
            path,
            "there is not enough memory for %s keys to wait in; give a smaller --scratch, or use a machine with more",
            group_digits(info.items, before));
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
