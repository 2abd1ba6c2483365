/* Keys into a filter, or out of it. */
#include "filter_target.h"
#include "input/records.h"
#include "options/abilities.h"
#include "output/numbers.h"

#include <stdlib.h>
#include <string.h>

/* ---- one thread ---- */

/* Of what is removed, the keys; of kinds without digests, which are never full, too. */
static int change_batch(void *context, const struct batch *batch) {
    struct filter_target *t = context;
    perhaps_keys keys = batch_keys(batch);
    int64_t changed = t->direction == REMOVING ? perhaps_remove_many(t->filter, &keys, NULL)
                                               : perhaps_add_many(t->filter, &keys, NULL);
    if (changed < 0) return library_failure(batch->path, (int)changed);
    t->target.keys += batch->n;
    t->target.changed += (uint64_t)changed;
    return FINE;
}

/* ---- keys in the order of the input ---- */

/* Keys on neighbouring lines of one file. */
struct key_run {
    const char *path;
    uint64_t first_line; /* with several threads at first in the block, from 1 */
    size_t n;
};

/* Keys of one block of the input, as a thread made them: digests, which outlive their batch, or for
 * a kind of integers the numbers. */
struct hashed_keys {
    struct adding *adding;
    uint64_t *words;
    size_t n, room, runs, run_room;
    struct key_run *run;
};

/* Keys that are added together. How many they are does not depend on the blocks of the input: so a
 * full filter refuses the same one, however they came. */
struct adding {
    struct filter_target *t;
    const struct input *input;
    perhaps_hasher hasher; /* a copy: the filter changes while threads hash */
    size_t batch;          /* how many they are, except the last */
    size_t n, runs;
    struct key_run *run; /* of at least one key each */
    uint64_t *words;
};

static bool enlarge(void *array, size_t *room, size_t needed, size_t size) {
    if (needed <= *room) return true;
    size_t n = 2 * *room + needed;
    void *larger = n > SIZE_MAX / size ? NULL : realloc(*(void **)array, n * size);
    if (!larger) return false;
    *(void **)array = larger;
    *room = n;
    return true;
}

/* Lines are counted only where they are needed: each run is what is left of a batch, or one key. */
static bool note_runs(struct hashed_keys *m, const struct batch *b) {
    const struct input *input = m->adding->input;
    bool gaps = input_skips(input) && batch_line(b, b->n - 1) != b->first_line + b->n - 1;
    size_t runs = gaps ? b->n : 1;
    uint64_t line = b->first_line;
    if (!enlarge(&m->run, &m->run_room, m->runs + runs, sizeof *m->run)) return false;
    for (size_t i = 0; i < runs; i++) {
        m->run[m->runs++] = (struct key_run){b->path, line, gaps ? 1 : b->n};
        if (i + 1 < runs) line += count_bytes(b->lines[i], (size_t)(b->lines[i + 1] - b->lines[i]), input->terminator);
    }
    return true;
}

static int hash_keys(void *context, const struct batch *b) {
    struct hashed_keys *m = context;
    perhaps_keys keys = batch_keys(b);
    if (!enlarge(&m->words, &m->room, m->n + b->n, sizeof *m->words) || !note_runs(m, b))
        return failure(input_name(b->path), "not enough memory for the keys of all threads; give a smaller -j");
    if (m->adding->t->target.integers)
        memcpy(m->words + m->n, b->numbers, b->n * sizeof *m->words);
    else
        perhaps_digest_many(&m->adding->hasher, &keys, m->words + m->n);
    m->n += b->n;
    return FINE;
}

static void count_refused(struct filter_target *t, const uint64_t *words, size_t n) {
    for (size_t i = 0; t->target.integers && i < n; i++)
        if (words[i] > t->no_room.largest) t->no_room.largest = words[i];
    t->target.keys += n;
}

/* If a batch has no room as a whole, nothing of it is added. Adding one key at a time shows which
 * is the first too many. */
static int add_singly(struct filter_target *t, const struct key_run *run, const uint64_t *words) {
    for (size_t i = 0; i < run->n; i++) {
        int is_new =
            t->target.integers ? perhaps_add_u64(t->filter, words[i]) : perhaps_add_digest(t->filter, words[i]);
        if (is_new < 0) {
            t->no_room = (struct no_room){.error = is_new,
                                          .path = run->path,
                                          .line = run->first_line + i,
                                          .number = words[i],
                                          .before = t->target.keys};
            count_refused(t, words + i, run->n - i);
            return t->in_place ? STOP : FINE;
        }
        t->target.keys++;
        t->target.changed += (uint64_t)is_new;
    }
    return FINE;
}

static int add_runs_singly(struct adding *a, const uint64_t *words) {
    int status = FINE;
    for (size_t i = 0; i < a->runs && status == FINE; words += a->run[i++].n) {
        if (a->t->no_room.error)
            count_refused(a->t, words, a->run[i].n);
        else
            status = add_singly(a->t, &a->run[i], words);
    }
    return status;
}

/* Adds the keys of all runs. */
static int add_words(struct adding *a, const uint64_t *words) {
    struct filter_target *t = a->t;
    perhaps_keys keys = t->target.integers ? PERHAPS_KEYS_U64(words, 0, a->n) : PERHAPS_KEYS_DIGEST(words, a->n);
    if (t->no_room.error) return add_runs_singly(a, words);
    int64_t added = perhaps_add_many(t->filter, &keys, NULL);
    if (added == PERHAPS_EFULL || added == PERHAPS_ENOMEM) return add_runs_singly(a, words);
    if (added == PERHAPS_EIO && filter_facts(t->filter).collecting) return scratch_failure();
    if (added < 0) return library_failure(a->run[0].path, (int)added);
    t->target.keys += a->n;
    t->target.changed += (uint64_t)added;
    return FINE;
}

static int add_batch(struct adding *a, const uint64_t *words) {
    int status = add_words(a, words);
    a->n = a->runs = 0;
    return status;
}

/* Adds the next n keys of a block, which are neighbours, or keeps them for a batch. */
static int take_keys(struct adding *a, struct key_run run, const uint64_t *words) {
    int status = FINE;
    for (size_t n; run.n && status == FINE; run.first_line += n, run.n -= n, words += n) {
        bool whole = !a->n && run.n >= a->batch; /* is not copied */
        n = run.n < a->batch - a->n ? run.n : a->batch - a->n;
        a->run[a->runs++] = (struct key_run){run.path, run.first_line, n};
        if (!whole) memcpy(a->words + a->n, words, n * sizeof *a->words);
        a->n += n;
        if (a->n == a->batch) status = add_batch(a, whole ? words : a->words);
    }
    return status;
}

/* In place, others may look at the file: what has come is added at once. */
static int add_hashed(void *context, const char *path, uint64_t first_line) {
    struct hashed_keys *m = context;
    struct adding *a = m->adding;
    const uint64_t *words = m->words;
    int status = FINE;
    (void)path;
    for (size_t i = 0; i < m->runs && status == FINE; words += m->run[i++].n) {
        if (a->t->threads > 1) m->run[i].first_line += first_line - 1;
        status = take_keys(a, m->run[i], words);
    }
    m->n = m->runs = 0;
    return status == FINE && a->n && a->t->in_place ? add_batch(a, a->words) : status;
}

/* One thread adds a batch before it hashes the next, which then find room in the cache. */
static int hash_and_add(void *context, const struct batch *b) {
    int status = hash_keys(context, b);
    return status == FINE ? add_hashed(context, b->path, 1) : status;
}

static int read_and_add(struct adding *a) {
    struct hashed_keys hashed[MOST_BLOCKS] = {{0}};
    void *contexts[MOST_BLOCKS];
    unsigned threads = a->t->threads, blocks = blocks_on_the_way(threads);
    for (unsigned i = 0; i < blocks; i++) {
        hashed[i].adding = a;
        contexts[i] = &hashed[i];
    }
    struct key_work alone = {.threads = 1, .in_thread = hash_and_add, .contexts = contexts};
    struct key_work together = {
        .threads = threads, .in_thread = hash_keys, .in_order = add_hashed, .contexts = contexts};
    int status = input_work(a->input, threads > 1 ? &together : &alone);
    if (status == FINE && a->n) status = add_batch(a, a->words);
    for (unsigned i = 0; i < blocks; i++) {
        free(hashed[i].words);
        free(hashed[i].run);
    }
    return status;
}

/* Shards get large batches, of which each has enough for the batch to be sorted. */
static int add_in_order(struct filter_target *t, const struct input *input) {
    enum { BATCH_FOR_SHARDS = 1 << 16 };
    struct adding a = {.t = t, .input = input, .hasher = *perhaps_hasher_of(t->filter), .batch = BATCH};
    if (filter_facts(t->filter).kind == PERHAPS_SHARDED) a.batch = BATCH_FOR_SHARDS;
    a.words = malloc(a.batch * sizeof *a.words);
    a.run = malloc(a.batch * sizeof *a.run);
    int status = a.words && a.run ? read_and_add(&a) : failure(NULL, "not enough memory for a batch of keys");
    free(a.words);
    free(a.run);
    return status;
}

int filter_change(struct target *target, const struct input *input, enum direction direction) {
    struct filter_target *t = filter_target_of(target);
    t->direction = direction;
    bool digests = filter_facts(t->filter).traits & PERHAPS_TAKES_DIGESTS;
    return digests && direction == ADDING ? add_in_order(t, input) : input_read(input, change_batch, t);
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
                       "a bitmap up to %llu (line %llu of %s) takes more memory than there is; use -k table for "
                       "numbers this far apart",
                       number, line, input_name(t->no_room.path));
    if (t->in_place)
        snprintf(advice, sizeof advice, "it cannot grow in place, so leave out --in-place");
    else if (largest == UINT64_MAX)
        snprintf(advice, sizeof advice, "use -k table for numbers this large");
    else
        snprintf(advice, sizeof advice, "build it with -n %llu, or without --no-grow", largest + 1);
    return failure(path, "%llu (line %llu of %s) is not below %llu, its -n; %s", number, line,
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
        snprintf(text, size, "Rebuild it with a larger --max-bytes.");
    else if (table && info->fill < 0.5) /* keys that no attacker chose fill 0.9 */
        snprintf(text, size, "Too many keys share their places. Rebuild it without --no-grow, or with --hash siphash.");
    else
        snprintf(text, size, "Rebuild it with -n %llu%s.", (unsigned long long)needed,
                 info->grow == PERHAPS_GROW_NEVER ? ", or without --no-grow" : "");
}

int no_room_failure(const struct filter_target *t) {
    const char *path = t->target.name;
    struct perhaps_info info;
    char before[NUMBER_TEXT], keys[NUMBER_TEXT], advice[100];
    if (filter_info(t->filter, path, &info) != FINE) return TROUBLE;
    if (filter_of_integers(t->filter)) return number_failure(t, &info);
    if (t->no_room.error == PERHAPS_ENOMEM && info.collecting)
        return failure(path,
                       "not enough memory for %s waiting keys; give a smaller --scratch, or use a machine with more",
                       group_digits(info.items, before));
    if (t->no_room.error == PERHAPS_ENOMEM)
        return failure(
            path, "not enough memory for more than %s keys; use a machine with more, or a kind with fewer bits per key",
            group_digits(info.items, before));
    advise(t, &info, advice, sizeof advice);
    return failure(path, "full at %s:%llu (%s of %s keys added). No file was changed. %s", input_name(t->no_room.path),
                   (unsigned long long)t->no_room.line, group_digits(t->no_room.before, before),
                   group_digits(t->target.keys, keys), advice);
}
