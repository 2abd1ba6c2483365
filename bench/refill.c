/* Putting members into a filter off the clock, with two threads where that helps. */
#include "run.h"

#include <pthread.h>

enum {
    FILL_KEYS = 4096,
    KEYS_FOR_TWO = 1 << 23 /* from this many keys on, filling is worth a second thread */
};

/* Part of a fill: members from..to-1 into a filter. */
struct filling {
    perhaps *f;
    const struct key_space *space;
    uint64_t from, to;
    int error;
};

static void *fill_part(void *argument) {
    struct filling *part = argument;
    uint64_t keys[FILL_KEYS];
    for (uint64_t from = part->from; from < part->to;) {
        size_t n = part->to - from < FILL_KEYS ? (size_t)(part->to - from) : FILL_KEYS;
        for (size_t i = 0; i < n; i++) keys[i] = key_member(part->space, from + i);
        int64_t added = perhaps_add_many(part->f, &PERHAPS_KEYS_U64(keys, 0, n), NULL);
        if (added < 0) part->error = (int)added;
        from += n;
    }
    return NULL;
}

/* A second thread adds half of the keys to a copy, which is merged. 0 = not possible here. */
static int fill_in_two(struct run *run, uint64_t from, uint64_t to) {
    uint64_t middle = from + (to - from) / 2;
    struct filling near = {run->f, &run->space, from, middle, 0}, far = {NULL, &run->space, middle, to, 0};
    pthread_t thread;
    if (perhaps_clone(run->f, &far.f) < 0) return 0;
    machine_unpin();
    int started = pthread_create(&thread, NULL, fill_part, &far) == 0;
    if (started) {
        fill_part(&near);
        pthread_join(thread, NULL);
        run_check(run, near.error);
        run_check(run, far.error);
        run_check(run, perhaps_merge(run->f, far.f));
    }
    machine_pin();
    perhaps_free(far.f);
    return started;
}

/* What both copies have is in their union once, but in the sum of multisets twice; and where
 * merging means adding one key after the other, it saves nothing. Kinds that cannot forget have
 * neither trouble. */
static int may_fill_in_two(const struct run *run, uint64_t n) {
    return (run->cell->can & (PERHAPS_MERGE | PERHAPS_REMOVE)) == PERHAPS_MERGE && n >= KEYS_FOR_TWO;
}

void refill(struct run *run, uint64_t from, uint64_t to) {
    if (may_fill_in_two(run, to - from) && fill_in_two(run, from, to)) return;
    struct filling whole = {run->f, &run->space, from, to, 0};
    fill_part(&whole);
    run_check(run, whole.error);
}
