/*
 * A list that is shipped: all keys are known, so a static filter is made of them, saved, and opened
 * where it is queried.
 */
#include <perhaps.h>
#include <stdio.h>
#include <string.h>

static int give_up(void) {
    fprintf(stderr, "blocklist: %s\n", perhaps_why());
    return 1;
}

/* Where the list is made. */
static int ship(const char *path) {
    perhaps_want want = PERHAPS_WANT(.kind = PERHAPS_RIBBON, .fpr = 0.001);
    perhaps *list;
    char name[40];
    if (perhaps_create(&list, &want) < 0) return give_up();
    for (int i = 0; i < 100000; i++) {
        int length = snprintf(name, sizeof name, "bad-%d.example", i);
        if (perhaps_add(list, name, (size_t)length) < 0) return give_up();
    }
    /* So far the keys were only collected. Sealing builds the filter, a thread per processor. */
    if (perhaps_seal(list, &PERHAPS_SEAL(.threads = 0)) < 0 || perhaps_save(list, path) < 0) return give_up();

    struct perhaps_info info = {.size = sizeof info};
    perhaps_info(list, &info);
    printf("%llu names, %.2f bits each\n", (unsigned long long)info.items, info.bits_per_key);
    perhaps_free(list);
    return 0;
}

/* Where it is queried: the file is mapped, not read. */
static int query(const char *path) {
    const char *names[] = {"bad-77.example", "good.example", "bad-99999.example"};
    perhaps *list;
    if (perhaps_open(&list, path, NULL) < 0) return give_up();
    for (int i = 0; i < 3; i++)
        printf("%-18s %s\n", names[i],
               perhaps_contains(list, names[i], strlen(names[i])) ? "look it up" : "let it pass");
    perhaps_free(list);
    return 0;
}

int main(void) {
    const char *path = "blocklist.ph";
    int failed = ship(path) || query(path);
    remove(path);
    return failed;
}
