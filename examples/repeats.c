/*
 * A guard against requests that come twice: was this one here within the last ten minutes?
 *
 * The filter is a window: it remembers keys for a period and forgets them by itself, a generation
 * at a time. It reads no clock. The caller says what time it is, here in seconds.
 */
#include <perhaps.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MINUTE = 60 };

static perhaps *recent;

static int must(int64_t result) {
    if (result >= 0) return (int)result;
    fprintf(stderr, "repeats: %s\n", perhaps_why());
    exit(1);
}

/* One call looks up and adds. A repeated request is young again: its ten minutes begin anew. */
static void request(unsigned minute, const char *id) {
    must(perhaps_advance(recent, minute * MINUTE));
    int is_new = must(perhaps_add(recent, id, strlen(id)));
    printf("minute %3u  %-10s %s\n", minute, id, is_new ? "is served" : "came already");
}

/* Requests of others meanwhile, a thousand a minute, are remembered and forgotten too. */
static void crowd(unsigned from, unsigned to) {
    char id[32];
    unsigned mistaken = 0;
    for (unsigned minute = from; minute < to; minute++) {
        must(perhaps_advance(recent, minute * MINUTE));
        for (unsigned i = 0; i < 1000; i++) {
            int length = snprintf(id, sizeof id, "crowd-%u-%u", minute, i);
            mistaken += !must(perhaps_add(recent, id, (size_t)length));
        }
    }
    printf("minutes %u to %u: of %u other requests, %u are mistaken for one that came already\n", from, to,
           (to - from) * 1000, mistaken);
}

int main(void) {
    must(perhaps_create(&recent, &PERHAPS_WANT(.items = 10000, .fpr = 0.001, .period = 10 * MINUTE)));
    request(0, "pay-4711");
    request(1, "pay-4711");
    request(2, "pay-4712");
    crowd(2, 10);
    request(10, "pay-4711"); /* nine minutes after the last time */
    crowd(10, 30);
    request(30, "pay-4711"); /* twenty minutes after */
    request(30, "pay-4712");
    request(31, "pay-4712");
    perhaps_free(recent);
    return 0;
}
