#include "state.h"
#include "options/abilities.h"
#include "backend/file/filter_file.h"
#include "output/numbers.h"
#include "output/output_file.h"
#include "input/waiting.h"
#include "journal.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct dedup_state {
    const struct options *options;
    const char *path;
    perhaps *filter;
    struct journal *journal;
    perhaps_lock *lock; /* of the file, kept to the end; the journal, which others see, is first */
    bool ordered;       /* a window, for which the order of lines counts, and repeats, too */
    bool timed;         /* and a window by time */
    double interval;    /* seconds from a line that is noted to the time when it must be saved */
    double due;         /* that time; INFINITY = nothing to save */
};

/* ---- does the state fit? ---- */

/* How much it remembers, as --last says it. */
static const char *describe_memory(const struct perhaps_info *info, char *text, size_t size) {
    char count[NUMBER_TEXT];
    if (info->kind != PERHAPS_WINDOW)
        snprintf(text, size, "all lines");
    else if (info->period)
        snprintf(text, size, "the lines of the last %s", human_duration(info->period, count));
    else if (info->clear_at > 0)
        snprintf(text, size, "as many lines as it has room for");
    else
        snprintf(text, size, "the last %s lines", group_digits(info->capacity, count));
    return text;
}

static bool is_exact(const struct perhaps_info *info) {
    int kind = info->base ? info->base : info->kind;
    return kind == PERHAPS_TABLE || kind == PERHAPS_BITMAP;
}

/* What remembers lines is a set, and takes digests. A lower rate always fits; rates are kept with
 * 16 significant bits, and NAN if unknown. Of what grows, -n is only a first guess. */
static int check_fit(const struct dedup_state *s, const struct perhaps_info *info) {
    char text[100], number[NUMBER_TEXT];
    const struct options *options = s->options;
    if (info->traits & PERHAPS_STATIC)
        return failure(s->path, "is a static %s filter, which takes no more lines; give another --state, or a new name",
                       info->kind_name);
    if (info->traits & PERHAPS_MULTISET)
        return failure(s->path,
                       "is a multiset (%s), which keeps a copy of every line; give a set, such as 'perhaps build -k "
                       "table' makes, or a new name",
                       info->kind_name);
    if (!(info->traits & PERHAPS_TAKES_DIGESTS))
        return failure(s->path, "is a %s filter, which takes no digests; give another --state, or a new name",
                       info->kind_name);

    bool as_long = info->kind == PERHAPS_WINDOW && info->period == options->last.period;
    bool as_many = !(info->clear_at > 0) && info->capacity == options->last.keys;
    if (given(options, OPT_LAST) && !(as_long && (info->period || as_many)))
        return failure(s->path, "remembers %s, not what --last says; leave that out, or give another --state",
                       describe_memory(info, text, sizeof text));
    if (given(options, OPT_LOSS) && is_exact(info))
        return failure(s->path, "is a %s, which loses practically no lines; leave out --fpr, or give another --state",
                       kind_name(info->base ? info->base : info->kind));
    if (given(options, OPT_LOSS) && !(info->fpr_target <= options->fpr * 1.0001))
        return failure(s->path, "was made for a rate of %s; leave out --fpr, or give another --state",
                       human_rate(info->fpr_target, number));
    if (given(options, OPT_DIFFERENT) && !(info->can & PERHAPS_GROW) && info->capacity != options->items)
        return failure(s->path, "was made for %s lines and does not grow; leave out -n, or give another --state",
                       group_digits(info->capacity, number));
    if (given(options, OPT_HASH) && options->hash + 1 != info->hash)
        return failure(s->path, "was made with --hash %s; leave out --hash, or give another --state", info->hash_name);
    if (given(options, OPT_SEED) && options->seed != info->seed)
        return failure(s->path, "was made with another --seed; leave that out, or give another --state");
    return FINE;
}

/* ---- opening ---- */

static int replay_block(void *context, uint64_t time, const uint64_t *digests, size_t n) {
    struct dedup_state *s = context;
    int64_t rc = s->timed ? perhaps_advance(s->filter, time) : 0;
    if (rc >= 0) rc = perhaps_add_many(s->filter, &PERHAPS_KEYS_DIGEST(digests, n), NULL);
    return rc < 0 ? library_failure(s->path, (int)rc) : FINE;
}

/* Saved at once: what cannot be saved fails before any work is done. */
static int make_new(struct dedup_state *s, const perhaps_want *want) {
    if (journal_bytes(s->journal)) remark(s->path, "is missing, so its journal is discarded");
    int rc = perhaps_create(&s->filter, want);
    if (rc < 0) return library_failure(NULL, rc);
    int status = filter_replace(s->lock, s->path, s->filter);
    return status == FINE ? journal_restart(s->journal) : status;
}

static int open_or_make(struct dedup_state *s, const perhaps_want *want, struct input *input) {
    struct perhaps_info info = {.size = sizeof info};
    bool old = access(s->path, F_OK) == 0;
    int status = old ? filter_open(s->options, s->path, PERHAPS_OPEN_COPY, &s->filter) : make_new(s, want);
    if (status != FINE) return status;
    int rc = perhaps_facts(s->filter, &info);
    if (rc < 0) return library_failure(s->path, rc);
    s->ordered = info.kind == PERHAPS_WINDOW;
    s->timed = s->ordered && info.period;
    if (old && check_fit(s, &info) != FINE) return TROUBLE;
    if (input_match(input, s->options, s->path, s->filter) != FINE) return TROUBLE;
    return old ? journal_replay(s->journal, replay_block, s) : FINE;
}

static void end(struct dedup_state *s, bool done) {
    journal_close(s->journal, done);
    perhaps_unlock(s->lock);
    perhaps_free(s->filter);
    free(s);
}

int state_open(struct dedup_state **state, const struct options *options, const perhaps_want *want, struct input *input,
               perhaps **filter) {
    struct stat file;
    *state = NULL;
    if (stat(options->state, &file) == 0 && !S_ISREG(file.st_mode)) /* before it has a journal */
        return failure(options->state, S_ISDIR(file.st_mode) ? "is a directory; give the name of a file with --state"
                                                             : "is not a regular file; give another --state");
    struct dedup_state *s = calloc(1, sizeof *s);
    if (!s) return failure(options->state, "not enough memory");
    s->options = options;
    s->path = options->state;
    s->interval = given(options, OPT_SAVE_EVERY) ? (double)options->save_every : 60;
    if (s->interval <= 0) s->interval = INFINITY;
    s->due = INFINITY;
    signal(SIGPIPE, SIG_IGN); /* a reader that went away ends this, but not before all is saved */
    struct waiting waiting = waiting_for(options, s->path);
    int status = journal_open(&s->journal, s->path, &waiting);
    bool empty = s->journal && !journal_bytes(s->journal); /* asked now: replay may cut it */
    if (status == FINE) status = lock_file(options, s->path, &s->lock);
    if (status == FINE) status = open_or_make(s, want, input);
    if (status == FINE) {
        *state = s;
        *filter = s->filter;
    } else {
        end(s, empty);
    }
    return status;
}

/* ---- saving ---- */

/* A filter that is smaller than its journal is saved, since that costs less than the journal did.
 * All that it has was noted. */
int state_save_if_due(struct dedup_state *s) {
    enum { LEAST = 16 << 20 };
    struct perhaps_info info = {.size = sizeof info};
    uint64_t bytes = journal_bytes(s->journal);
    if (bytes > LEAST && perhaps_facts(s->filter, &info) == PERHAPS_OK && bytes > info.image_bytes) {
        s->due = INFINITY;
        int status = filter_replace(s->lock, s->path, s->filter);
        return status == FINE ? journal_restart(s->journal) : status;
    }
    if (clock_now() < s->due) return FINE;
    s->due = INFINITY;
    return journal_save(s->journal);
}

/* A block of the journal has one time, in seconds, rounded up: nothing is forgotten too early. */
int state_note(struct dedup_state *s, const uint64_t *digests, const uint8_t *answers, size_t n) {
    enum { SECOND = 1000 };
    uint64_t now = s->timed ? (clock_of_windows(NULL) + SECOND - 1) / SECOND * SECOND : 0;
    uint64_t before = journal_bytes(s->journal);
    if (journal_note(s->journal, now, digests, s->ordered ? NULL : answers, n) != FINE) return TROUBLE;
    if (isinf(s->due) && journal_bytes(s->journal) > before) s->due = clock_now() + s->interval;
    return state_save_if_due(s);
}

double state_patience(const struct dedup_state *s) {
    double left = s->due - clock_now();
    return left > 0 ? left : 0;
}

/* ---- ending ---- */

/* Tables have room for whatever comes. To count the bits of others takes a moment. */
static void warn_if_too_full(const struct dedup_state *s) {
    struct perhaps_info info = {.size = sizeof info};
    if (perhaps_facts(s->filter, &info) < 0 || info.can & PERHAPS_GROW || is_exact(&info)) return;
    if (filter_info(s->filter, s->path, &info) == FINE) warn_if_overfull(&info, s->path, KEYS_ADDED, 0);
}

/* The filter in memory has too much. That of the file, with the journal, is the right one. */
static int save_noted(struct dedup_state *s) {
    if (journal_write(s->journal) != FINE) return TROUBLE;
    if (!journal_bytes(s->journal)) return FINE;
    perhaps_free(s->filter);
    s->filter = NULL;
    int status = filter_open(s->options, s->path, PERHAPS_OPEN_COPY, &s->filter);
    if (status == FINE) status = journal_replay(s->journal, replay_block, s);
    if (status == FINE) status = filter_replace(s->lock, s->path, s->filter);
    return status;
}

int state_close(struct dedup_state *s, int status) {
    int saved = FINE;
    if (status == TROUBLE) {
        saved = save_noted(s);
    } else if (journal_bytes(s->journal)) {
        saved = filter_replace(s->lock, s->path, s->filter);
        if (saved == FINE)
            warn_if_too_full(s);
        else
            journal_save(s->journal);
    }
    end(s, saved == FINE);
    return saved == FINE ? status : TROUBLE;
}
