/*
 * Hello: make a filter, add keys, query keys.
 */
#include <perhaps.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    /* A filter for a thousand keys that says "perhaps" to at most one non-member in a hundred. */
    perhaps_want want = PERHAPS_WANT(.items = 1000, .fpr = 0.01);
    perhaps *fruit;
    if (perhaps_create(&fruit, &want) < 0) {
        fprintf(stderr, "hello: %s\n", perhaps_why());
        return 1;
    }

    perhaps_add(fruit, "apple", 5);
    perhaps_add(fruit, "pear", 4);
    perhaps_add(fruit, "plum", 4);

    const char *queries[] = {"apple", "plum", "hammer", "saw"};
    for (int i = 0; i < 4; i++) {
        const char *key = queries[i];
        int answer = perhaps_contains(fruit, key, strlen(key));
        printf("%-6s  %s\n", key, answer ? "perhaps" : "definitely not");
    }

    perhaps_free(fruit);
    return 0;
}
