/*
 * Sign-in days: a bitmap of user ids for each day.
 *
 * Users are numbers, so a day is one bit per user: 100 million users take 12.5 MB a day, however
 * many signed in, and every answer is exact. A query over several days combines bitmaps, and the
 * result is a bitmap again: it can be counted, queried and listed.
 */
#include <perhaps.h>
#include <stdio.h>
#include <stdlib.h>

enum { DAYS = 7 };
static const uint64_t users = 1000000;

static void must(int rc) {
    if (rc >= 0) return;
    fprintf(stderr, "sign_in_days: %s\n", perhaps_why());
    exit(1);
}

/* Users sign in every day, every second, ... every fifth day; user 123,456 never misses one. */
static perhaps *sign_ins_of(unsigned day) {
    perhaps *f;
    must(perhaps_create(&f, &PERHAPS_WANT(.kind = PERHAPS_BITMAP, .items = users)));
    for (uint64_t user = 0; user < users; user++) {
        if ((day + user / 5) % (1 + user % 5) == 0 || user == 123456) must(perhaps_add_u64(f, user));
    }
    return f;
}

static uint64_t count(const perhaps *f) {
    struct perhaps_info info = {.size = sizeof info};
    must(perhaps_info(f, &info));
    return info.items;
}

/* A day's bitmap is kept; what is combined is a copy of the first. */
static perhaps *combine(perhaps *const *days, unsigned n, int (*how)(perhaps *into, const perhaps *from)) {
    perhaps *result;
    must(perhaps_clone(days[0], &result));
    for (unsigned i = 1; i < n; i++) must(how(result, days[i]));
    return result;
}

static void show(const char *what, perhaps *f) {
    printf("%-24s %7llu, the first:", what, (unsigned long long)count(f));
    uint64_t at = 0, user;
    for (int i = 0; i < 4 && perhaps_next(f, &at, &user) == 1; i++) printf(" %llu", (unsigned long long)user);
    printf("\n");
    perhaps_free(f);
}

int main(void) {
    perhaps *days[DAYS];
    for (unsigned i = 0; i < DAYS; i++) {
        days[i] = sign_ins_of(i + 1);
        printf("day %u                    %7llu\n", i + 1, (unsigned long long)count(days[i]));
    }
    show("at least once", combine(days, DAYS, perhaps_merge));
    show("on all seven days", combine(days, DAYS, perhaps_intersect));
    show("on day 1, not on day 2", combine(days, 2, perhaps_subtract));
    show("on one of days 1 and 2", combine(days, 2, perhaps_differ));

    printf("user 123456 on day 7: %s; user 123457: %s\n", perhaps_contains_u64(days[6], 123456) ? "yes" : "no",
           perhaps_contains_u64(days[6], 123457) ? "yes" : "no");
    uint64_t at = 500000, user;
    if (perhaps_next(days[6], &at, &user) == 1)
        printf("the first from user 500000 on that day: %llu\n", (unsigned long long)user);
    for (unsigned i = 0; i < DAYS; i++) perhaps_free(days[i]);
    return 0;
}
