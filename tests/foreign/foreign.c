#include "foreign.h"

#include <stdlib.h>
#include <string.h>

#define CHAIN(items_, fpr_, growth_)                                                                                   \
    PERHAPS_WANT(.kind = PERHAPS_REDIS_BLOOM, .items = (items_), .fpr = (fpr_), .growth = (growth_),                   \
                 .grow = PERHAPS_GROW_LAYERS)
#define CUCKOO(items_, bucket_, growth_)                                                                               \
    PERHAPS_WANT(.kind = PERHAPS_REDIS_CUCKOO, .items = (items_), .bucket = (bucket_), .growth = (growth_))

perhaps_want sort_of_filter(unsigned i) {
    const perhaps_want sorts[SORTS] = {
        CHAIN(1, 0.01, 2),
        CHAIN(100, 0.01, 1),
        CHAIN(100, 0.001, 2),
        CHAIN(50, 0.25, 4),
        CHAIN(100, 1e-9, 0),
        PERHAPS_WANT(.kind = PERHAPS_REDIS_BLOOM, .items = 500, .fpr = 0.01),
        PERHAPS_WANT(.kind = PERHAPS_REDIS_BLOOM, .items = 500, .fpr = 0.9, .grow = PERHAPS_GROW_NEVER),
        CUCKOO(64, 1, 1),
        CUCKOO(64, 2, 2),
        CUCKOO(100, 4, 4),
        CUCKOO(64, 4, 1),
        CUCKOO(2, 2, 3),
        CUCKOO(64, 0, 0),
        PERHAPS_WANT(.kind = PERHAPS_REDIS_CUCKOO, .items = 500, .bucket = 4, .grow = PERHAPS_GROW_NEVER),
        PERHAPS_WANT(.kind = PERHAPS_REDIS_CUCKOO, .items = 500, .bucket = 255, .steps = 65535),
    };
    return sorts[i];
}

static int append(void *context, const void *bytes, size_t length) {
    struct bytes *all = context;
    uint8_t *larger = realloc(all->data, all->length + length + 1);
    CHECK(larger, "no memory");
    memcpy(larger + all->length, bytes, length);
    *all = (struct bytes){larger, all->length + length};
    return 0;
}

struct bytes foreign_bytes_of(const perhaps *f) {
    struct bytes all = {NULL, 0};
    MUST(perhaps_write_foreign(f, append, &all));
    return all;
}

perhaps *filled(unsigned sort, uint64_t n) {
    perhaps_want want = sort_of_filter(sort);
    perhaps *f = make(&want);
    add_while_room(f, 0, n);
    return f;
}
