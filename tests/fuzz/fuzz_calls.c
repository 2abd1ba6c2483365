/*
 * Sequences of calls on two filters, beside exact multisets of what was added and removed: no key
 * that is in is ever missed, whatever happened before, and exact kinds have no false
 * positives. Removes are legal ones: of keys that are in. The input's first bytes choose the
 * filters, then each call takes one byte and two for a key.
 *
 * Composite filters are among them. A window forgets, so of its keys only the last one must be
 * found. So are static filters, which are sealed at the end, if not before.
 */
#include "chosen.h"
#include "fuzz.h"

#include <perhaps_embed.h>

#include <stdlib.h>
#include <string.h>

enum { KEYS = 4096, MOST_COUNTED = 15 };

/* A filter, and how often each of the 4096 keys is in it: at least, where that is not exact. */
struct pair {
    perhaps *f;
    uint32_t *copies;
    bool exact;    /* nothing is found that was not added */
    bool multiset; /* otherwise there is at most one copy */
    bool hashed;   /* otherwise keys are integers of a range */
    bool chosen;   /* a table: keys of bytes are digests that share their buckets */
    bool forgets;  /* a window: nothing is noted as being in */
    bool is_static, collecting;
    uint64_t now;
    unsigned can;
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
    return (low | next_byte(in) << 8) % KEYS;
}

/* Half of the keys are integers, half are bytes; the same filter holds both. */
static bool as_bytes(const struct pair *p, unsigned key) {
    return p->hashed && key % 2;
}

static int add_key(struct pair *p, unsigned key) {
    uint8_t bytes[2] = {(uint8_t)key, (uint8_t)(key >> 8)};
    if (as_bytes(p, key) && p->chosen) return perhaps_add_digest(p->f, chosen_shared(key));
    return as_bytes(p, key) ? perhaps_add(p->f, bytes, 2) : perhaps_add_u64(p->f, key);
}

static int query_key(const struct pair *p, unsigned key) {
    uint8_t bytes[2] = {(uint8_t)key, (uint8_t)(key >> 8)};
    if (as_bytes(p, key) && p->chosen) return perhaps_contains_digest(p->f, chosen_shared(key));
    return as_bytes(p, key) ? perhaps_contains(p->f, bytes, 2) : perhaps_contains_u64(p->f, key);
}

static int remove_key(struct pair *p, unsigned key) {
    uint8_t bytes[2] = {(uint8_t)key, (uint8_t)(key >> 8)};
    if (as_bytes(p, key) && p->chosen) return perhaps_remove_digest(p->f, chosen_shared(key));
    return as_bytes(p, key) ? perhaps_remove(p->f, bytes, 2) : perhaps_remove_u64(p->f, key);
}

static int64_t count_key(const struct pair *p, unsigned key) {
    uint8_t bytes[2] = {(uint8_t)key, (uint8_t)(key >> 8)};
    return as_bytes(p, key) ? perhaps_count(p->f, bytes, 2) : perhaps_count_u64(p->f, key);
}

static void expect_key(const struct pair *p, unsigned key) {
    int found = query_key(p, key);
    if (p->collecting) {
        promise(found == PERHAPS_EUNSEALED, "what is not sealed is not queried");
        return;
    }
    promise(found == 1 || (found == 0 && !p->copies[key]), "no key that is in is ever missed");
    promise(!p->exact || found == (p->copies[key] != 0), "an exact filter has no false positives");
    if (!p->multiset) return;
    int64_t count = count_key(p, key), least = p->copies[key];
    promise(count >= least || count >= MOST_COUNTED, "counts are never below the truth");
    promise((count > 0) == found, "count and contains agree");
}

static void note_added(struct pair *p, unsigned key) {
    if (p->forgets)
        promise(query_key(p, key) == 1, "a window knows the key that came last");
    else if (p->multiset || !p->copies[key])
        p->copies[key]++;
}

/* Whether a static filter took the keys that it gave this answer to. */
static bool is_collected(const struct pair *p, int64_t answer, int64_t keys) {
    promise(answer == (p->collecting ? keys : PERHAPS_ESEALED),
            "static filters collect all keys until they are sealed");
    return p->collecting;
}

static void seal(struct pair *p) {
    promise(perhaps_seal(p->f, NULL) == PERHAPS_OK, "a filter can be sealed");
    p->collecting = false;
}

static void add_one(struct pair *p, unsigned key) {
    if (p->is_static) {
        if (is_collected(p, add_key(p, key), 1)) note_added(p, key);
        return;
    }
    int before = query_key(p, key);
    int answer = add_key(p, key);
    if (answer == PERHAPS_EFULL) {
        promise(query_key(p, key) == before, "a key without room changes nothing");
        return;
    }
    promise(answer == (p->multiset ? 1 : !before), "add answers what contains knew");
    note_added(p, key);
    expect_key(p, key);
}

static void add_absent(struct pair *p, unsigned key) {
    if (p->is_static) {
        if (is_collected(p, perhaps_add_absent_u64(p->f, key), 1)) note_added(p, key);
        return;
    }
    int before = query_key(p, key), answer = perhaps_add_absent_u64(p->f, key);
    promise(answer == !before || answer == PERHAPS_EFULL, "add_absent answers what contains knew");
    if (answer == 1) note_added(p, key);
    expect_key(p, key);
}

static void remove_one(struct pair *p, unsigned key) {
    if (!(p->can & PERHAPS_REMOVE)) {
        promise(remove_key(p, key) == PERHAPS_ECANNOT, "what cannot forget says so");
        return;
    }
    if (!p->copies[key]) { /* only of exact ones */
        if (p->exact) promise(remove_key(p, key) == 0, "what is not in is not removed");
        return;
    }
    promise(remove_key(p, key) == 1, "what is in can be removed");
    p->copies[key]--;
    expect_key(p, key);
}

/* A run of integers in one batch: all of them, or none. */
static void add_run(struct pair *p, unsigned key, unsigned n) {
    uint64_t keys[256] = {0};
    uint8_t answers[256];
    for (unsigned i = 0; i < n; i++) keys[i] = (key + 2 * i) & (KEYS - 2);
    int64_t news = perhaps_add_many(p->f, &PERHAPS_KEYS_U64(keys, 0, n), answers);
    if (p->is_static && !is_collected(p, news, n)) return;
    promise(news >= 0 || news == PERHAPS_EFULL, "a batch is added, or there is no room");
    for (unsigned i = p->forgets ? n - 1 : 0; news >= 0 && i < n; i++) note_added(p, (unsigned)keys[i]);
    for (unsigned i = 0; i < n; i++) {
        if (news >= 0) news -= answers[i];
        expect_key(p, (unsigned)keys[i]);
    }
    promise(news == 0 || news == PERHAPS_EFULL, "a batch counts its answers");
}

/* Takes out of a run of integers what is in. */
static void remove_run(struct pair *p, unsigned key, unsigned n) {
    uint64_t keys[256] = {0};
    unsigned count = 0;
    if (!(p->can & PERHAPS_REMOVE)) return;
    for (unsigned i = 0; i < n; i++) {
        unsigned next = (key + 2 * i) & (KEYS - 2);
        if (!p->copies[next]) continue;
        p->copies[next]--;
        keys[count++] = next;
    }
    promise(perhaps_remove_many(p->f, &PERHAPS_KEYS_U64(keys, 0, count), NULL) == count,
            "a batch that is in is removed");
    for (unsigned i = 0; i < count; i++) expect_key(p, (unsigned)keys[i]);
}

/* What comes out of a list is in. */
static void list(const struct pair *p) {
    uint64_t at = 0, digest, n = 0;
    struct perhaps_info info = {.size = sizeof info};
    if (!(p->can & PERHAPS_LIST)) return;
    for (; perhaps_next(p->f, &at, &digest) == 1; n++)
        promise(perhaps_contains_digest(p->f, digest) == 1, "what is listed is in");
    promise(perhaps_info(p->f, &info) == PERHAPS_OK && info.items == n, "everything is listed once");
}

/* Through an image and back. */
static void reopen(struct pair *p, unsigned how) {
    size_t length;
    seal(p); /* there is no image before */
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
    if (p->collecting) {
        promise(perhaps_clone(p->f, &copy) == PERHAPS_EUNSEALED && !copy, "what is not sealed is not cloned");
        return;
    }
    promise(perhaps_clone(p->f, &copy) == PERHAPS_OK && perhaps_equal(copy, p->f) == 1, "a clone is equal");
    perhaps_free(p->f);
    p->f = copy;
}

/* Adds a key to an image where it lies. */
static void add_in_place(struct pair *p, unsigned key) {
    size_t length;
    seal(p);
    uint8_t *image = image_of(p->f, &length);
    struct pair borrowed = *p;
    int rc = perhaps_open_memory(&borrowed.f, image, length, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_WRITE));
    if (p->is_static)
        promise(rc == PERHAPS_ESEALED, "a sealed image does not open for changing");
    else
        promise(rc == PERHAPS_OK || rc == PERHAPS_ECANNOT, "an image opens for changing, or is of many parts");
    if (rc == PERHAPS_OK) {
        perhaps *changed = NULL;
        add_one(&borrowed, key);
        promise(perhaps_sync(borrowed.f) == PERHAPS_OK, "bytes are brought up to date");
        promise(perhaps_open_memory(&changed, image, length, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY)) == PERHAPS_OK &&
                    perhaps_equal(changed, borrowed.f) == 1,
                "changed bytes are an image");
        perhaps_free(borrowed.f);
        perhaps_free(p->f);
        p->f = changed;
    }
    free(image);
}

static void *move_block(void *context, void *memory, size_t size) {
    (void)context;
    /* Larger ones are maps. */
    void *place = size < 1 << 20 ? aligned_alloc(64, (size + 63) / 64 * 64) : NULL;
    if (!place) return NULL;
    memcpy(place, memory, size);
    free(memory);
    return place;
}

/* A filter of the same shape is empty, and further layers are no more than there are. */
static void copy_shape(const struct pair *p) {
    if (p->is_static) {
        promise(perhaps_shape(p->f, NULL, 0) == PERHAPS_ECANNOT, "what is static has no shape");
        return;
    }
    size_t length = (size_t)perhaps_shape(p->f, NULL, 0);
    uint8_t *shape = malloc(length);
    perhaps *empty = NULL;
    struct perhaps_info info = {.size = sizeof info};
    promise(shape && perhaps_shape(p->f, shape, length) == (int64_t)length, "a shape has a length");
    promise(perhaps_create_shape(&empty, shape, length, NULL) == PERHAPS_OK, "a shape makes a filter");
    promise(perhaps_facts(empty, &info) == PERHAPS_OK && info.items == 0, "which is empty");
    int rc = perhaps_reshape(p->f, shape, length);
    promise(rc == (info.kind == PERHAPS_GROWING ? PERHAPS_OK : PERHAPS_ECANNOT), "a filter has its own shape");
    perhaps_free(empty);
    free(shape);
}

typedef int combination(perhaps *, const perhaps *);

/* Combines two filters, and says whether it was done. */
static bool combine(struct pair *into, const struct pair *from, combination *verb, unsigned ability) {
    int rc = verb(into->f, from->f);
    promise(rc == PERHAPS_OK || rc == PERHAPS_EFULL || rc == PERHAPS_ECANNOT, "two that fit can be combined");
    promise((rc == PERHAPS_ECANNOT) == !(into->can & ability), "what a kind can do, it does");
    return rc == PERHAPS_OK;
}

static void merge(struct pair *into, const struct pair *from) {
    if (!combine(into, from, perhaps_merge, PERHAPS_MERGE)) return;
    for (size_t i = 0; i < KEYS; i++) {
        uint32_t sum = into->copies[i] + from->copies[i];
        into->copies[i] = into->multiset || !sum ? sum : 1;
    }
}

static void intersect(struct pair *into, const struct pair *from) {
    if (!combine(into, from, perhaps_intersect, PERHAPS_INTERSECT)) return;
    for (size_t i = 0; i < KEYS; i++) into->copies[i] &= from->copies[i];
}

static void subtract(struct pair *into, const struct pair *from) {
    if (!combine(into, from, perhaps_subtract, PERHAPS_SUBTRACT)) return;
    for (size_t i = 0; i < KEYS; i++) into->copies[i] &= !from->copies[i];
}

static void differ(struct pair *into, const struct pair *from) {
    if (!combine(into, from, perhaps_differ, PERHAPS_SUBTRACT)) return;
    for (size_t i = 0; i < KEYS; i++) into->copies[i] ^= from->copies[i];
}

static void expect_no_key_missed(const struct pair *p) {
    for (unsigned key = 0; key < KEYS; key++)
        if (p->copies[key] || p->exact) expect_key(p, key);
}

static void look(const struct pair *p) {
    struct perhaps_info info = {.size = sizeof info};
    uint64_t copies = 0;
    for (size_t i = 0; i < KEYS; i++) copies += p->copies[i];
    promise(perhaps_info(p->f, &info) == PERHAPS_OK, "info");
    promise(!p->exact || info.items == copies, "an exact filter counts its items");
}

/* Whole filters are for the lower half of the calls, keys for the upper. */
static void do_one_call(struct pair pairs[2], struct input *in) {
    unsigned call = next_byte(in);
    struct pair *p = &pairs[call >> 7], *other = &pairs[!(call >> 7)];
    unsigned key = next_key(in);
    switch (call & 31) {
    case 0:
        reopen(p, key);
        break;
    case 1:
        replace_by_clone(p);
        break;
    case 2:
        merge(p, key % 8 ? other : p);
        break;
    case 3:
        intersect(p, other);
        break;
    case 4:
        promise(perhaps_clear(p->f) == PERHAPS_OK, "a filter can be cleared");
        p->collecting = p->is_static;
        memset(p->copies, 0, KEYS * sizeof *p->copies);
        break;
    case 5:
        look(p);
        break;
    case 6:
        expect_no_key_missed(p);
        break;
    case 7:
        add_run(p, key & ~1u, 1 + key % 256);
        break;
    case 16:
        subtract(p, other);
        break;
    case 17:
        differ(p, other);
        break;
    case 18:
        list(p);
        break;
    case 19:
        add_absent(p, key & ~1u);
        break;
    case 15:
        p->now += key;
        promise(perhaps_advance(p->f, p->now) >= 0, "time goes on");
        break;
    case 20:
    case 21:
        remove_run(p, key & ~1u, 1 + key % 256);
        break;
    case 22:
    case 23:
    case 24:
    case 25:
    case 26:
        remove_one(p, key);
        break;
    case 27: /* the same key many times */
        for (unsigned i = 0; i < 20; i++) add_one(p, key);
        break;
    case 28:
        p->f = perhaps_relocate(p->f, move_block, NULL);
        break;
    case 29:
        copy_shape(p);
        break;
    case 30:
        add_in_place(p, key);
        break;
    case 31:
        if (p->is_static)
            seal(p);
        else
            add_one(p, key);
        break;
    default:
        add_one(p, key);
    }
}

/* What stands around the filters: nothing, layers, shards, generations. */
static void read_shape(perhaps_want *want, unsigned shape) {
    bool layers = (shape & 7) == 1 || (shape & 7) == 2 || (shape & 7) == 4;
    if (layers) {
        want->grow = PERHAPS_GROW_LAYERS;
        want->items = 1 + want->items % 50;
        want->hashes = 0;
    }
    if ((shape & 7) == 2) {
        want->growth = 16;
        want->max_bytes = 5000;
    }
    if ((shape & 7) == 3 || (shape & 7) == 4) want->shards = 1 + (unsigned)want->items % 9;
    if ((shape & 7) >= 5) want->generations = 2 + (unsigned)want->items % 6;
    if ((shape & 7) == 6) want->period = 1 + want->items;
    if ((shape & 7) == 7) want->clear_at = 0.3;
    want->shared = shape >> 3;
}

static perhaps_want read_want(const struct perhaps_kind_row *row, struct input *in) {
    static const double rates[] = {0.5, 0.1, 0.01, 1e-3, 1e-4, 1e-6};
    static const unsigned hashes[] = {0, 4, 6, 8};
    static const uint8_t secret[16] = "sixteen bytes...";
    perhaps_want want = PERHAPS_WANT(.kind = row->kind, .items = 1 + next_key(in) % 2000);
    want.fpr = rates[next_byte(in) % 6];
    unsigned options = next_byte(in);
    if (options & 1) {
        want.hash = PERHAPS_SIPHASH;
        want.hash_key = secret;
        want.key_in_file = 1;
    }
    if (options & 2) want.grow = PERHAPS_GROW_NEVER;
    if (row->can & PERHAPS_COUNT || !(row->can & PERHAPS_ADD)) want.hashes = hashes[options >> 2 & 3];
    read_shape(&want, options >> 4);
    return want;
}

/* What is not to be had, such as a bitmap in shards, is refused with a reason. */
static int make_filter(struct pair *p, const perhaps_want *want) {
    struct perhaps_plan plan = {.size = sizeof plan};
    struct perhaps_info info = {.size = sizeof info};
    p->copies = calloc(KEYS, sizeof *p->copies);
    int rc = perhaps_create(&p->f, want);
    promise(rc == PERHAPS_OK || perhaps_why()[0], "a refusal has a reason");
    if (rc < 0 || !p->copies) return -1;
    promise(perhaps_info(p->f, &info) == PERHAPS_OK, "info");
    p->can = info.can;
    p->multiset = info.can & PERHAPS_COUNT;
    p->hashed = perhaps_digest_u64(perhaps_hasher_of(p->f), 1) != 1;
    p->chosen = want->kind == PERHAPS_TABLE;
    p->forgets = info.kind == PERHAPS_WINDOW;
    p->is_static = p->collecting = !(info.can & PERHAPS_ADD);
    promise(info.collecting == p->collecting, "info says what collects");
    p->exact = !p->forgets && perhaps_plan(&PERHAPS_WANT(.kind = want->kind, .items = 10), &plan) == PERHAPS_OK;
    return 0;
}

/* A counter that is stuck stays so, and a key whose counters are all stuck is never missed: the
 * truth beside it is no more than a lower bound in any case. */
static int make_pair(struct pair pairs[2], struct input *in) {
    size_t rows = 0;
    while (perhaps_kind(rows)) rows++;
    const struct perhaps_kind_row *row = perhaps_kind(next_byte(in) % rows);
    perhaps_want want = read_want(row, in);
    return make_filter(&pairs[0], &want) < 0 || make_filter(&pairs[1], &want) < 0 ? -1 : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct input in = {data, size};
    struct pair pairs[2] = {{.f = NULL}, {.f = NULL}};
    if (make_pair(pairs, &in) == 0) {
        for (int calls = 0; in.left && calls < 500; calls++) {
            do_one_call(pairs, &in);
            for (int i = 0; i < 2; i++) expect_openable(pairs[i].f);
        }
        for (int i = 0; i < 2; i++) seal(&pairs[i]), expect_no_key_missed(&pairs[i]);
    }
    for (int i = 0; i < 2; i++) {
        perhaps_free(pairs[i].f);
        free(pairs[i].copies);
    }
    return 0;
}
