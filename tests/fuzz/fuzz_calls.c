/*
 * Sequences of calls on two filters, beside exact sets of what was added: no key is ever missed, whatever happened
 * before. The input's first bytes choose the filters, then each call takes one byte and two for a key.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

enum { KEYS = 65536 };

/* A filter, and which of the 65536 keys are in it. */
struct pair {
    perhaps *f;
    uint8_t *exact;
};

struct input {
    const uint8_t *data;
    size_t left;
};

static unsigned next_byte(struct input *in) {
    if (!in->left) return 0;
    in->left--;
    return *in->data++;
}

static unsigned next_key(struct input *in) {
    unsigned low = next_byte(in);
    return low | next_byte(in) << 8;
}

/* Half of the keys are integers, half are bytes; the same filter holds both. */
static int add_key(perhaps *f, unsigned key) {
    uint8_t bytes[2] = {(uint8_t)key, (uint8_t)(key >> 8)};
    return key % 2 ? perhaps_add(f, bytes, 2) : perhaps_add_u64(f, key);
}

static int ask_key(const perhaps *f, unsigned key) {
    uint8_t bytes[2] = {(uint8_t)key, (uint8_t)(key >> 8)};
    return key % 2 ? perhaps_contains(f, bytes, 2) : perhaps_contains_u64(f, key);
}

static void add_one(struct pair *p, unsigned key) {
    int before = ask_key(p->f, key);
    int answer = add_key(p->f, key);
    promise(answer == !before, "add answers what contains knew");
    promise(!(p->exact[key] && answer), "a key that is there is not new");
    p->exact[key] = 1;
    promise(ask_key(p->f, key) == 1, "an added key is found");
}

/* A run of integers in one batch. */
static void add_run(struct pair *p, unsigned key, unsigned n) {
    uint64_t keys[256] = {0};
    uint8_t answers[256];
    for (unsigned i = 0; i < n; i++) {
        keys[i] = (key + 2 * i) & (KEYS - 2);
        p->exact[keys[i]] = 1;
    }
    int64_t news = perhaps_add_many_u64(p->f, keys, n, answers);
    for (unsigned i = 0; i < n; i++) news -= answers[i];
    promise(news == 0, "a batch counts its answers");
    promise(perhaps_contains_many_u64(p->f, keys, n, NULL) == (int64_t)n, "an added batch is found");
}

/* Through an image and back. */
static void reopen(struct pair *p, unsigned how) {
    size_t length;
    uint8_t *image = image_of(p->f, &length);
    perhaps *again = NULL;
    promise(perhaps_open_memory(&again, image, length, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY)) == PERHAPS_OK,
            "an image opens");
    promise(perhaps_equal(p->f, again) == 1, "an opened image is equal");
    free(image);
    perhaps *old = how % 2 ? again : p->f;
    p->f = how % 2 ? p->f : again;
    perhaps_free(old);
}

static void replace_by_clone(struct pair *p) {
    perhaps *copy = NULL;
    promise(perhaps_clone(p->f, &copy) == PERHAPS_OK && perhaps_equal(copy, p->f) == 1, "a clone is equal");
    perhaps_free(p->f);
    p->f = copy;
}

static void merge(struct pair *into, const struct pair *from) {
    if (perhaps_merge(into->f, from->f) < 0) return;
    for (size_t i = 0; i < KEYS; i++) into->exact[i] |= from->exact[i];
}

static void intersect(struct pair *into, const struct pair *from) {
    if (perhaps_intersect(into->f, from->f) < 0) return;
    for (size_t i = 0; i < KEYS; i++) into->exact[i] &= from->exact[i];
}

static void expect_no_key_missed(const struct pair *p) {
    for (unsigned key = 0; key < KEYS; key++)
        if (p->exact[key]) promise(ask_key(p->f, key) == 1, "no key is ever missed");
}

static void do_one_call(struct pair pairs[2], struct input *in) {
    unsigned call = next_byte(in);
    struct pair *p = &pairs[call >> 7], *other = &pairs[!(call >> 7)];
    unsigned key = next_key(in);
    switch (call & 15) {
    case 0:
        reopen(p, key);
        break;
    case 1:
        replace_by_clone(p);
        break;
    case 2:
        merge(p, other);
        break;
    case 3:
        intersect(p, other);
        break;
    case 4:
        promise(perhaps_clear(p->f) == PERHAPS_OK, "a filter can be cleared");
        memset(p->exact, 0, KEYS);
        break;
    case 5:
        promise(perhaps_info(p->f, &(struct perhaps_info){.size = sizeof(struct perhaps_info)}) == PERHAPS_OK, "info");
        break;
    case 6:
        expect_no_key_missed(p);
        break;
    case 7:
        add_run(p, key & ~1u, 1 + key % 256);
        break;
    default:
        add_one(p, key);
    }
}

static int make_pair(struct pair pairs[2], struct input *in) {
    static const double rates[] = {0.5, 0.1, 0.01, 1e-3, 1e-4, 1e-6};
    static const uint8_t secret[16] = "sixteen bytes...";
    size_t rows = 0;
    while (perhaps_kind(rows)) rows++;
    perhaps_want want = PERHAPS_WANT(.kind = perhaps_kind(next_byte(in) % rows)->kind, .items = 1 + next_key(in) % 2000,
                                     .fpr = rates[next_byte(in) % 6]);
    unsigned options = next_byte(in);
    if (options & 1) {
        want.hash = PERHAPS_SIPHASH;
        want.hash_key = secret;
        want.key_in_file = 1;
    }
    for (int i = 0; i < 2; i++) {
        pairs[i].exact = calloc(1, KEYS);
        if (perhaps_create(&pairs[i].f, &want) < 0 || !pairs[i].exact) return -1;
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct input in = {data, size};
    struct pair pairs[2] = {{NULL, NULL}, {NULL, NULL}};
    if (make_pair(pairs, &in) == 0) {
        for (int calls = 0; in.left && calls < 500; calls++) do_one_call(pairs, &in);
        for (int i = 0; i < 2; i++) expect_no_key_missed(&pairs[i]);
    }
    for (int i = 0; i < 2; i++) {
        perhaps_free(pairs[i].f);
        free(pairs[i].exact);
    }
    return 0;
}
