#include "output.h"
#include "output/numbers.h"
#include "output/output_file.h"
#include "output/report.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

int dedup_output_open(const struct options *options, const struct input *input, int *out) {
    struct stat status;
    *out = given(options, OPT_JSON) ? -1 : STDOUT_FILENO;
    if (!options->output || is_standard_output(options->output)) return FINE;
    bool exists = stat(options->output, &status) == 0 && S_ISREG(status.st_mode);
    if (exists && !given(options, OPT_FORCE))
        return failure(options->output, "exists; give -f to replace it, or another name with -o");
    /* Once more, since --state may be new. */
    if (refuse_overlap(options, input) != FINE) return TROUBLE;
    /* Before a file is made or emptied for nothing. */
    for (size_t i = 0; i < input->path_count; i++)
        if (strcmp(input->paths[i], "-") != 0 && access(input->paths[i], R_OK) != 0)
            return failure(input->paths[i], "cannot be opened: %s; check the name and its permissions",
                           strerror(errno));
    *out = open(options->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (*out < 0) return failure(options->output, "cannot be written: %s; check the name", strerror(errno));
    return FINE;
}

int dedup_output_close(const struct options *options, int out, int status) {
    if (out <= STDERR_FILENO || close(out) == 0 || status == TROUBLE) return status;
    return failure(options->output, "cannot be written: %s; is there room on the disk?", strerror(errno));
}

/* ---- lines ---- */

enum { RANGES = 1024 }; /* what every Linux takes at a time, IOV_MAX */

/* Writes n ranges of memory, whatever signals and short writes come between. Another process that
 * shares the output may have made it one that does not wait. */
static bool write_ranges(int fd, struct iovec *at, size_t n) {
    while (n) {
        ssize_t written = writev(fd, at, (int)n);
        if (written < 0 && errno == EAGAIN) poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
        if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (written < 0) return false;
        size_t rest = (size_t)written;
        for (; n && rest >= at->iov_len; at++, n--) rest -= at->iov_len;
        if (!n) break;
        at->iov_base = (char *)at->iov_base + rest;
        at->iov_len -= rest;
    }
    return true;
}

/* Where runs of chosen lines begin and end: at most n + 1 places. No branch depends on answers. */
static size_t find_edges(const struct line_block *job, size_t from, size_t to, uint8_t wanted, const char **edges) {
    size_t n = 0;
    uint8_t before = 0;
    for (size_t i = from; i < to; i++) {
        uint8_t chosen = job->answers[i] == wanted;
        edges[n] = job->lines[i];
        n += chosen != before;
        before = chosen;
    }
    edges[n] = job->lines[to];
    return n + before;
}

/* The same where few lines are chosen. */
static size_t find_few_edges(const struct line_block *job, size_t from, size_t to, uint8_t wanted, const char **edges) {
    const uint8_t *at = job->answers + from, *end = job->answers + to;
    size_t n = 0;
    while ((at = memchr(at, wanted, (size_t)(end - at)))) {
        edges[n++] = job->lines[at - job->answers];
        while (at < end && *at == wanted) at++;
        edges[n++] = job->lines[at - job->answers];
    }
    return n;
}

/* The same where records may be left out between two lines. */
static size_t find_edges_with_gaps(const struct line_block *job, size_t from, size_t to, uint8_t wanted,
                                   const char **edges) {
    size_t n = 0;
    for (size_t i = from; i < to; i++) {
        if (job->answers[i] != wanted) continue;
        bool joined = n && edges[n - 1] == job->lines[i];
        if (!joined) edges[n++] = job->lines[i];
        if (joined) n--;
        edges[n++] = job->ends[i];
    }
    return n;
}

int print_chosen(int fd, const char *name, const struct line_block *job, uint8_t wanted) {
    enum { SOME = 2 * RANGES - 2 };
    const char *edges[SOME + 1];
    struct iovec ranges[RANGES];
    size_t chosen = wanted ? job->added : job->n - job->added;
    bool few = chosen < job->n / 8;
    for (size_t from = 0; from < job->n; from += job->ends ? SOME / 2 : SOME) {
        size_t most = job->ends ? SOME / 2 : SOME, to = job->n - from < most ? job->n : from + most;
        size_t n = (job->ends ? find_edges_with_gaps : few ? find_few_edges : find_edges)(job, from, to, wanted, edges);
        n /= 2;
        for (size_t i = 0; i < n; i++)
            ranges[i] = (struct iovec){(void *)(uintptr_t)edges[2 * i], (size_t)(edges[2 * i + 1] - edges[2 * i])};
        if (write_ranges(fd, ranges, n)) continue;
        if (fd == STDOUT_FILENO) return output_failure();
        return failure(name, "cannot be written: %s; is there room on the disk?", strerror(errno));
    }
    return FINE;
}

/* ---- summary ---- */

/* The most that this program has had so far. */
static uint64_t peak_memory(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

static double rate_of(const struct summary *s) {
    return s->seconds > 0 ? (double)s->lines / s->seconds : 0;
}

void summary_print(const struct summary *s) {
    char lines[NUMBER_TEXT], unique[NUMBER_TEXT], duplicates[NUMBER_TEXT], text[NUMBER_TEXT];
    const char *what = s->ngram ? "N-grams" : "lines", *lost = s->ngram ? "" : ", and lost";
    remark(NULL, "%s lines: %s unique, %s duplicates", group_digits(s->lines, lines), group_digits(s->unique, unique),
           group_digits(s->lines - s->unique, duplicates));
    remark(NULL, "%s of memory, %.2f s, %s lines a second", human_bytes(peak_memory(), text), s->seconds,
           group_digits((uint64_t)rate_of(s), lines));
    if (isnan(s->fpr))
        remark(NULL, "how many new lines were taken for repeats and lost is unknown: the set does not tell");
    else if (s->fpr > 0)
        remark(NULL, "up to %s of the new %s may have been taken for repeats%s", human_rate(s->fpr, text), what, lost);
    else if (s->loss > 0)
        remark(NULL, "chance that any %.*s was taken for another%s: %s", (int)strlen(what) - 1, what, lost,
               human_rate(s->loss, text));
    else
        remark(NULL, "exact: no line was lost");
}

void summary_print_json(const struct summary *s) {
    struct json json = {0};
    json_open(&json, NULL, '{');
    json_count(&json, "lines", s->lines);
    json_count(&json, "unique", s->unique);
    json_count(&json, "duplicates", s->lines - s->unique);
    if (s->ngram) json_count(&json, "ngram", s->ngram);
    json_real(&json, "loss", s->loss);
    json_real(&json, "fpr", s->fpr);
    json_count(&json, "memory_bytes", peak_memory());
    json_real(&json, "seconds", s->seconds);
    json_real(&json, "lines_per_second", rate_of(s));
    json_end(&json);
}
