/*
 * A login store with removes: who is signed in now?
 *
 * A cuckoo filter has a copy of the user's name for every session: added at login, removed at
 * logout. Somebody with two devices is in it twice, and signed in until both have logged out. It
 * takes less than two bytes a session; the database is queried only where it says "perhaps".
 *
 * The rule that keeps it right: remove only what was added. A server knows the sessions that it
 * opened.
 */
#include <perhaps.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static perhaps *sessions;

static int must(int rc) {
    if (rc >= 0) return rc;
    fprintf(stderr, "login_store: %s\n", perhaps_why());
    exit(1);
}

/* Does something with all users of a range; how many times the answer was 1. */
static int everybody(int (*what)(const char *user), int from, int to) {
    char user[32];
    int sum = 0;
    for (int i = from; i < to; i++) {
        snprintf(user, sizeof user, "user-%d", i);
        sum += what(user);
    }
    return sum;
}

static int login(const char *user) {
    return must(perhaps_add(sessions, user, strlen(user)));
}

static int logout(const char *user) {
    return must(perhaps_remove(sessions, user, strlen(user)));
}

static int is_here(const char *user) {
    return must(perhaps_contains(sessions, user, strlen(user)));
}

static void show(const char *when, const char *user) {
    printf("%-20s sessions of %s: %d\n", when, user, (int)perhaps_count(sessions, user, strlen(user)));
}

int main(void) {
    must(perhaps_create(&sessions, &PERHAPS_WANT(.items = 100000, .fpr = 0.001, .needs = PERHAPS_REMOVE)));
    login("ada");
    login("ada");
    show("phone and laptop", "ada");
    logout("ada");
    show("the phone logs out", "ada");
    logout("ada");
    show("the laptop logs out", "ada");
    printf("a third time: %s\n", logout("ada") ? "done" : "she is not there");

    printf("%d come, ", everybody(login, 0, 90000));
    printf("%d of them leave, ", everybody(logout, 0, 60000));
    printf("%d others come\n", everybody(login, 90000, 150000));
    printf("of the 90000 who are here, %d are found\n", everybody(is_here, 60000, 150000));
    printf("of the 60000 who left, %d look as if they were here: 1 in 1000\n", everybody(is_here, 0, 60000));
    perhaps_free(sessions);
    return 0;
}
