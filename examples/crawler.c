/*
 * A crawler's memory: which addresses has it seen, of a web whose size nobody knows?
 *
 * The filter begins small and grows in layers; its false-positive rate holds however many addresses
 * come. A false positive costs a page. In the middle the crawler stops, saves what it has seen, and
 * goes on another day.
 */
#include <perhaps.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINKS = 8, PAGES = 300000 };

static int must(int64_t result) {
    if (result >= 0) return (int)result;
    fprintf(stderr, "crawler: %s\n", perhaps_why());
    exit(1);
}

/* A web to crawl: pages with numbers for addresses, and made-up links between them. */
static void links_of(uint64_t page, uint64_t links[LINKS]) {
    for (uint64_t i = 0; i < LINKS; i++) links[i] = (page * LINKS + i) * UINT64_C(2654435761) % PAGES;
}

/* Pages that were found and not yet read. */
struct crawl_queue {
    uint64_t pages[PAGES];
    size_t read, found;
};

/* Reads up to `most` pages. One call looks up and adds all links of a page; new ones are queued. */
static void crawl(perhaps *seen, struct crawl_queue *queue, size_t most) {
    uint64_t links[LINKS];
    uint8_t is_new[LINKS];
    for (; most && queue->read < queue->found; most--) {
        links_of(queue->pages[queue->read++], links);
        must(perhaps_add_many(seen, &PERHAPS_KEYS_U64(links, 0, LINKS), is_new));
        for (int i = 0; i < LINKS; i++)
            if (is_new[i]) queue->pages[queue->found++] = links[i];
    }
}

static void show(const perhaps *seen, const struct crawl_queue *queue) {
    struct perhaps_info info = {.size = sizeof info};
    must(perhaps_info(seen, &info));
    printf(
        "%6zu pages read, %6zu found; the filter has %u layers, and takes %s 1 new address in 1000 for a known one\n",
        queue->read, queue->found, info.children, info.fpr_now <= 0.001 ? "less than" : "more than");
}

static perhaps *save_and_open(perhaps *seen, const char *path) {
    must(perhaps_save(seen, path));
    perhaps_free(seen);
    must(perhaps_open(&seen, path, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY)));
    remove(path);
    printf("saved, and opened again\n");
    return seen;
}

int main(void) {
    static struct crawl_queue queue = {.pages = {1}, .found = 1};
    perhaps *seen;
    must(perhaps_create(&seen, &PERHAPS_WANT(.fpr = 0.001, .grow = PERHAPS_GROW_LAYERS)));
    must(perhaps_add_u64(seen, queue.pages[0]));
    crawl(seen, &queue, 1000);
    show(seen, &queue);
    crawl(seen, &queue, 50000);
    show(seen, &queue);
    seen = save_and_open(seen, "crawler.ph");
    crawl(seen, &queue, SIZE_MAX);
    show(seen, &queue);

    /* Every page that was found is in it: a filter never misses one. */
    printf("of those found, %d are in it\n",
           must(perhaps_contains_many(seen, &PERHAPS_KEYS_U64(queue.pages, 0, queue.found), NULL)));
    perhaps_free(seen);
    return 0;
}
