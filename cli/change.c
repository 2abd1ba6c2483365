#include "change.h"
#include "filter.h"
#include "numbers.h"

static int64_t change_many(struct change *c, const struct batch *b) {
    if (c->direction == REMOVING)
        return b->numbers ? perhaps_remove_many_u64(c->filter, b->numbers, b->n, NULL)
                          : perhaps_remove_many(c->filter, b->keys, b->lengths, b->n, NULL);
    return b->numbers ? perhaps_add_many_u64(c->filter, b->numbers, b->n, NULL)
                      : perhaps_add_many(c->filter, b->keys, b->lengths, b->n, NULL);
}

/* ------------------------------------------------------------------------------------------------- no room --- */

static void count_rest(struct change *c, const struct batch *b, size_t from) {
    for (size_t i = from; b->numbers && i < b->n; i++)
        if (b->numbers[i] > c->largest) c->largest = b->numbers[i];
    c->keys += b->n - from;
}

/* Of a batch that had no room as a whole nothing was added. One key at a time shows which was the first too many. */
static int add_singly(struct change *c, const struct batch *b) {
    for (size_t i = 0; i < b->n; i++) {
        int is_new =
            b->numbers ? perhaps_add_u64(c->filter, b->numbers[i]) : perhaps_add(c->filter, b->keys[i], b->lengths[i]);
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

int change_batch(void *context, const struct batch *batch) {
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

int change_failure(const struct change *c, const char *path) {
    struct perhaps_info info;
    char before[NUMBER_TEXT], keys[NUMBER_TEXT];
    if (filter_info(c->filter, path, &info) != FINE) return TROUBLE;
    if (filter_of_integers(c->filter)) return number_failure(c, &info, path);
    if (c->error == PERHAPS_ENOMEM)
        return failure(path,
                       "there is not enough memory for more than %s keys; use a machine with more, or a kind "
                       "that takes fewer bits a key",
                       group_digits(info.items, before));
    return failure(
        path,
        "is full: %s of %s keys found room, the one on line %llu of %s did not, and no file was changed; build "
        "it with -n %llu%s",
        group_digits(c->before, before), group_digits(c->keys, keys), (unsigned long long)c->line, input_name(c->path),
        (unsigned long long)room_needed(c, &info), info.grow == PERHAPS_GROW_NEVER ? ", or without --no-grow" : "");
}
