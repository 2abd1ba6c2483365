#include "printing.h"
#include "output/report.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

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

int print_chosen(int fd, const char *name, const struct line_block *job, uint8_t wanted) {
    enum { SOME = 2 * RANGES - 2 };
    const char *edges[SOME + 1];
    struct iovec ranges[RANGES];
    size_t chosen = wanted ? job->added : job->n - job->added;
    bool few = chosen < job->n / 8;
    for (size_t from = 0; from < job->n; from += SOME) {
        size_t to = job->n - from < SOME ? job->n : from + SOME;
        size_t n = (few ? find_few_edges : find_edges)(job, from, to, wanted, edges) / 2;
        for (size_t i = 0; i < n; i++)
            ranges[i] = (struct iovec){(void *)(uintptr_t)edges[2 * i], (size_t)(edges[2 * i + 1] - edges[2 * i])};
        if (write_ranges(fd, ranges, n)) continue;
        if (fd == STDOUT_FILENO) return output_failure();
        return failure(name, "cannot be written: %s; is there room on the disk?", strerror(errno));
    }
    return FINE;
}
