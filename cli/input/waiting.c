#include "waiting.h"
#include "input.h"
#include "output/numbers.h"
#include "output/report.h"

#include <time.h>
#include <unistd.h>

/* Most times, a file is busy while it is written. A fifth of a second is not worth a word. */
static const double shortest = 0.002, longest = 0.02, unnoticed = 0.2;
enum { USUAL_PATIENCE = 60 };

struct waiting waiting_for(const struct options *options, const char *path) {
    uint64_t patience = given(options, OPT_PATIENCE) ? options->patience : USUAL_PATIENCE;
    return (struct waiting){.path = path, .patience = (double)patience, .began = clock_now(), .pause = shortest};
}

bool keep_waiting(struct waiting *w) {
    char time[NUMBER_TEXT];
    double waited = clock_now() - w->began;
    if (waited >= w->patience || input_was_interrupted()) return false;
    if (waited > unnoticed && !w->told) {
        w->told = true;
        if (isatty(STDERR_FILENO))
            remark(w->path, "another process is changing it; waiting up to %s",
                   human_duration((uint64_t)w->patience * 1000, time));
    }
    nanosleep(&(struct timespec){.tv_nsec = (long)(w->pause * 1e9)}, NULL);
    w->pause = w->pause * 1.5 < longest ? w->pause * 1.5 : longest;
    return true;
}

int waited_in_vain(const struct waiting *w) {
    char time[NUMBER_TEXT];
    if (input_was_interrupted()) return TROUBLE;
    return failure(w->path, "another process was changing it for more than %s; try again, or give more --patience",
                   human_duration((uint64_t)w->patience * 1000, time));
}
