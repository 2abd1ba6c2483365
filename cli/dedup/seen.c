#include "seen.h"
#include "backend/file/filter_file.h"

#include <stdlib.h>
#include <string.h>

/* Up to SMALL_TABLE digests, or LARGE_TABLE if hardly any lines are new, one table is faster than
 * shards: it is in the cache, and making shards of it takes only a moment. Shards need large
 * blocks, whose lines are sorted by shard. */
enum { SMALL_TABLE = 1 << 17, LARGE_TABLE = 1 << 20, SHARDS_BLOCK = 1 << 20 };

enum { SOME = 1024, MANY = 1 << 15 }; /* digests at a time */

static int learn_facts(struct seen *m) {
    struct perhaps_info info = {.size = sizeof info};
    int rc = perhaps_facts(m->filter, &info);
    m->hasher = *perhaps_hasher_of(m->filter);
    m->table = info.kind == PERHAPS_TABLE || (info.kind == PERHAPS_SHARDED && info.base == PERHAPS_TABLE);
    return rc < 0 ? library_failure(m->state, rc) : FINE;
}

int seen_open(struct seen *m, const perhaps_want *want) {
    perhaps_want first = *want;
    *m = (struct seen){.want = *want, .small = want->shards && want->items <= SMALL_TABLE};
    if (m->small) first.shards = 0;
    int rc = perhaps_create(&m->filter, &first);
    return rc < 0 ? library_failure(NULL, rc) : learn_facts(m);
}

int seen_of_state(struct seen *m, const char *state, perhaps *filter) {
    *m = (struct seen){.filter = filter, .state = state};
    return learn_facts(m);
}

void seen_close(struct seen *m) {
    if (!m->state) perhaps_free(m->filter);
}

/* ---- growing ---- */

/* Without memory for them, it stays one table. */
static void make_shards(struct seen *m) {
    perhaps *shards = NULL;
    uint64_t *digests = malloc(MANY * sizeof *digests), at = 0;
    bool fine = digests && perhaps_create(&shards, &m->want) == PERHAPS_OK;
    for (size_t n = MANY; fine && n == MANY;) {
        for (n = 0; n < MANY && perhaps_next(m->filter, &at, &digests[n]) == 1;) n++;
        fine = perhaps_add_many(shards, &PERHAPS_KEYS_DIGEST(digests, n), NULL) >= 0;
    }
    free(digests);
    perhaps_free(fine ? m->filter : shards);
    if (fine) m->filter = shards;
    m->small = false;
}

/* ---- adding ---- */

/* The answers say which of lines [from, to) are members. Adds the others, equal ones only once. */
static int64_t add_absent(perhaps *filter, struct line_block *job, size_t from, size_t to) {
    uint8_t answers[SOME], *end = job->answers + to;
    uint64_t digests[SOME];
    size_t places[SOME], n = 0;
    for (uint8_t *at = job->answers + from; (at = memchr(at, 0, (size_t)(end - at))); at++) {
        places[n] = (size_t)(at - job->answers);
        digests[n] = job->digests[places[n]];
        n++;
    }
    memset(job->answers + from, 0, to - from);
    if (!n) return 0;
    int64_t added = perhaps_add_many(filter, &PERHAPS_KEYS_DIGEST(digests, n), answers);
    for (size_t i = 0; i < n && added >= 0; i++) job->answers[places[i]] = answers[i];
    return added;
}

/* A query takes half as long as an add. */
static int64_t ask_and_add(perhaps *filter, struct line_block *job) {
    int64_t added = 0, rc = perhaps_contains_many(filter, &PERHAPS_KEYS_DIGEST(job->digests, job->n), job->answers);
    for (size_t from = 0; from < job->n && rc >= 0; from += SOME) {
        rc = add_absent(filter, job, from, job->n - from < SOME ? job->n : from + SOME);
        added += rc;
    }
    return rc < 0 ? rc : added;
}

int seen_add(struct seen *m, struct line_block *job) {
    int64_t rc = m->table && m->repeats
                     ? ask_and_add(m->filter, job)
                     : perhaps_add_many(m->filter, &PERHAPS_KEYS_DIGEST(job->digests, job->n), job->answers);
    if (rc < 0) return library_failure(m->state, (int)rc);
    job->added = (size_t)rc;
    m->added += job->added;
    m->repeats = job->added < job->n / 8;
    if (m->small && m->added >= (m->repeats ? LARGE_TABLE : SMALL_TABLE)) make_shards(m);
    if (!m->small) job->next_size = SHARDS_BLOCK;
    return FINE;
}

/* ---- N-grams ---- */

/* Adds digests [from, to), and moves those that were new to `kept`, which is not above `from`. How
 * many those were. */
static int64_t add_ngrams(perhaps *filter, uint64_t *digests, size_t from, size_t to, size_t kept) {
    uint8_t answers[SOME];
    size_t before = kept;
    for (size_t n; from < to; from += n) {
        n = to - from < SOME ? to - from : SOME;
        int64_t rc = perhaps_add_many(filter, &PERHAPS_KEYS_DIGEST(digests + from, n), answers);
        if (rc < 0) return rc;
        for (size_t i = 0; i < n; i++) {
            digests[kept] = digests[from + i];
            kept += answers[i];
        }
    }
    return (int64_t)(kept - before);
}

int seen_add_ngrams(struct seen *m, struct line_block *job, double overlap, size_t *fresh) {
    const struct ngrams *g = &job->ngrams;
    job->added = *fresh = 0;
    for (size_t i = 0; i < job->n; i++) {
        size_t n = g->first[i + 1] - g->first[i];
        int64_t rc = perhaps_contains_many(m->filter, &PERHAPS_KEYS_DIGEST(g->digests + g->first[i], n), NULL);
        if (rc < 0) return library_failure(m->state, (int)rc);
        job->answers[i] = (double)rc / (double)n < overlap;
        if (!job->answers[i]) continue;
        rc = add_ngrams(m->filter, g->digests, g->first[i], g->first[i + 1], *fresh);
        if (rc < 0) return library_failure(m->state, (int)rc);
        *fresh += (size_t)rc;
        job->added++;
    }
    m->added += *fresh;
    if (m->small && m->added >= SMALL_TABLE) make_shards(m);
    return FINE;
}
