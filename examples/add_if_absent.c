/*
 * Add if absent: a crawler that fetches each address once.
 *
 * perhaps_add answers whether the key is new in the same pass that adds it, so "have I been there?"
 * and "now I have" are one call. A false positive makes the crawler skip a page it has never seen;
 * at fpr = 0.0001 that is one page in ten thousand. It never fetches a page twice.
 */
#include <perhaps.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    static const char *const links[] = {
        "https://example.org/",      "https://example.org/about", "https://example.org/news",
        "https://example.org/",      "https://example.org/about", "https://example.org/news?page=2",
        "https://example.org/news/", "https://example.org/news",
    };
    perhaps_want want = PERHAPS_WANT(.items = 1000000, .fpr = 0.0001);
    perhaps *seen;
    if (perhaps_create(&seen, &want) < 0) {
        fprintf(stderr, "add_if_absent: %s\n", perhaps_why());
        return 1;
    }

    int fetched = 0;
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        int is_new = perhaps_add(seen, links[i], strlen(links[i]));
        printf("%-6s %s\n", is_new ? "fetch" : "skip", links[i]);
        fetched += is_new;
    }

    struct perhaps_info info = {.size = sizeof info};
    perhaps_info(seen, &info);
    printf("%d pages fetched; the filter counts %llu\n", fetched, (unsigned long long)info.items);

    perhaps_free(seen);
    return 0;
}
