/*
 * What the library makes of orders, for a model of the other program to compare with:
 *
 *     foreign_bytes bloom ERROR CAPACITY GROWTH
 *     foreign_bytes fixed ERROR CAPACITY GROWTH
 *     foreign_bytes cuckoo CAPACITY BUCKET STEPS EXPANSION
 *
 * A line on standard input is a verb, a, d or c (add, delete, compact), and a key; each is answered
 * with a number in the other program's terms. At the end come the filter's bytes in hexadecimal.
 */
#include <perhaps_embed.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static perhaps_want want_of(char **arguments) {
    perhaps_want want = PERHAPS_WANT(.kind = PERHAPS_REDIS_CUCKOO);
    double growth = strtod(arguments[strcmp(arguments[1], "cuckoo") == 0 ? 5 : 4], NULL);
    want.growth = growth;
    want.grow = growth > 0 ? PERHAPS_GROW_DEFAULT : PERHAPS_GROW_NEVER;
    if (strcmp(arguments[1], "cuckoo") == 0) {
        want.items = strtoull(arguments[2], NULL, 10);
        want.bucket = (unsigned)atoi(arguments[3]);
        want.steps = (unsigned)atoi(arguments[4]);
        return want;
    }
    want.kind = PERHAPS_REDIS_BLOOM;
    want.fpr = strtod(arguments[2], NULL);
    want.items = strtoull(arguments[3], NULL, 10);
    if (strcmp(arguments[1], "bloom") == 0) want.grow = PERHAPS_GROW_LAYERS;
    return want;
}

static perhaps *must_make(const perhaps_want *want) {
    perhaps *f;
    if (perhaps_create(&f, want) == PERHAPS_OK) return f;
    fprintf(stderr, "foreign_bytes: %s\n", perhaps_why());
    exit(1);
}

/* There a Bloom filter that does not scale is full at its capacity; here the caller checks. */
static bool is_full(const perhaps *f) {
    struct perhaps_info info = {.size = sizeof info};
    perhaps_info(f, &info);
    return info.kind == PERHAPS_REDIS_BLOOM && info.items >= info.capacity;
}

static int add(perhaps *f, bool fixed, const char *key, size_t length) {
    if (fixed && is_full(f) && !perhaps_contains(f, key, length)) return -2;
    int answer = perhaps_add(f, key, length);
    return answer == PERHAPS_EFULL ? -1 : answer;
}

static int obey(perhaps *f, bool fixed, char verb, const char *key, size_t length) {
    if (verb == 'c') return perhaps_compact(f);
    return verb == 'a' ? add(f, fixed, key, length) : perhaps_remove(f, key, length);
}

static int print_bytes(void *context, const void *bytes, size_t length) {
    (void)context;
    for (size_t i = 0; i < length; i++) printf("%02x", ((const unsigned char *)bytes)[i]);
    return 0;
}

int main(int count, char **arguments) {
    if (count < 5) return 2;
    bool fixed = strcmp(arguments[1], "fixed") == 0;
    perhaps_want want = want_of(arguments);
    perhaps *f = must_make(&want);
    char *line = NULL;
    size_t room = 0;
    for (ssize_t length; (length = getline(&line, &room, stdin)) > 1;) {
        const char *key = line + 1;
        size_t key_length = (size_t)length - 2;
        printf("%d\n", obey(f, fixed, line[0], key, key_length));
    }
    int rc = perhaps_write_foreign(f, print_bytes, NULL);
    printf("\n");
    free(line);
    perhaps_free(f);
    return rc != PERHAPS_OK;
}
