/*
 * Every verb: check the arguments → key to digest → the kind's arithmetic on the array → answer.
 *
 *     key bytes ──hash.c──▶ digest ──kind/NAME.c──▶ bits in one array ──image/──▶ the same bytes in a file
 *
 * Kinds know nothing of keys, files, memory and counting: that is done here and, for the beginning and the end of a
 * filter's life, in lifetime.c.
 */
#include "base/why.h"
#include "filter.h"
#include "plan.h"

#include <string.h>

enum { CHUNK = 2048 }; /* keys hashed at a time in batches: their digests stay in the first-level cache */

/* ------------------------------------------------------------------------------------------ the small calls --- */

#define TEXT(x)   #x
#define NUMBER(x) TEXT(x)

const char *perhaps_version(void) {
    return NUMBER(PERHAPS_VERSION_MAJOR) "." NUMBER(PERHAPS_VERSION_MINOR) "." NUMBER(PERHAPS_VERSION_PATCH);
}

const char *perhaps_strerror(int error) {
    static const char *const sentences[] = {
        "success",
        "an argument makes no sense",
        "not enough memory",
        "the system refused a file operation",
        "not a perhaps image",
        "the image has a newer format than this library knows",
        "the image is damaged",
        "the hash key is missing or wrong",
        "this kind of filter cannot do that",
        "the two filters do not fit together",
        "the filter was opened for reading only",
        "the file is being changed in place, or was when its writer ended",
        "no layout can do what was wanted",
        "the file is being changed in place",
    };
    if (error > 0 || error <= -(int)(sizeof sentences / sizeof sentences[0])) return "an unknown error";
    return sentences[-error];
}

const char *perhaps_why(void) {
    return why();
}

const struct perhaps_kind_row *perhaps_kind(size_t row) {
    return row < kind_count ? &kinds[row]->row : NULL;
}

/* ------------------------------------------------------------------------------------------ wants and plans --- */

int perhaps_want_preset(perhaps_want *want, const char *name) {
    static const struct {
        const char *name;
        double bits_per_key;
        unsigned hashes;
    } presets[] = {{"rough", 4, 3}, {"fair", 8, 6}, {"good", 16, 12}, {"fine", 32, 23}};
    for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++) {
        if (strcmp(name, presets[i].name) != 0) continue;
        want->kind = PERHAPS_BLOOM;
        want->bits_per_key = presets[i].bits_per_key;
        want->hashes = presets[i].hashes;
        return PERHAPS_OK;
    }
    return fail(PERHAPS_EINVAL, "there is no preset '%s'; the presets are rough, fair, good and fine", name);
}

int perhaps_plan(const perhaps_want *theirs, struct perhaps_plan *shown) {
    perhaps_want want;
    struct plan plan;
    int rc = take_sized(&want, sizeof want, theirs, "want");
    if (rc == PERHAPS_OK) rc = plan_make(&want, &plan);
    if (rc == PERHAPS_OK) rc = give_sized(shown, &plan.shown, sizeof plan.shown, "plan");
    return rc;
}

/* ---------------------------------------------------------------------------------------- adding and asking --- */

static inline struct digest one_word(uint64_t digest) {
    return (struct digest){digest, 0};
}

static inline int add_digest(perhaps *f, struct digest digest) {
    int rc = filter_prepare_change(f);
    if (rc < 0) return rc;
    int is_new = f->ops.add(&f->array, digest);
    f->header.items += (uint64_t)is_new;
    return is_new;
}

int perhaps_add(perhaps *f, const void *key, size_t length) {
    return add_digest(f, one_word(hash_bytes(&f->hash, key, length)));
}

int perhaps_add_u64(perhaps *f, uint64_t key) {
    return add_digest(f, one_word(hash_u64(&f->hash, key)));
}

/* The calls that take digests are for kinds whose digests are one word. */
static inline int check_digests(const perhaps *f) {
    if (__builtin_expect(f->kind->digest_words == 1, 1)) return PERHAPS_OK;
    return fail(PERHAPS_ECANNOT, "%s filters have digests of more than 64 bits; give the keys", f->kind->row.name);
}

int perhaps_add_digest(perhaps *f, uint64_t digest) {
    int rc = check_digests(f);
    return rc < 0 ? rc : add_digest(f, one_word(digest));
}

int perhaps_contains(const perhaps *f, const void *key, size_t length) {
    return f->ops.contains(&f->array, one_word(hash_bytes(&f->hash, key, length)));
}

/* Kept apart, so that the common case below has no call to save registers for and ends in a jump. */
static __attribute__((noinline)) int contains_u64_siphash(const perhaps *f, uint64_t key) {
    return f->ops.contains(&f->array, one_word(hash_u64_siphash(&f->hash, key)));
}

int perhaps_contains_u64(const perhaps *f, uint64_t key) {
    if (__builtin_expect(f->hash.id != PERHAPS_XXH3, 0)) return contains_u64_siphash(f, key);
    return f->ops.contains(&f->array, one_word(hash_u64_xxh3(&f->hash, key)));
}

int perhaps_contains_digest(const perhaps *f, uint64_t digest) {
    int rc = check_digests(f);
    return rc < 0 ? rc : f->ops.contains(&f->array, one_word(digest));
}

uint64_t perhaps_digest(const perhaps *f, const void *key, size_t length) {
    return hash_bytes(&f->hash, key, length);
}

uint64_t perhaps_digest_u64(const perhaps *f, uint64_t key) {
    return hash_u64(&f->hash, key);
}

/* ---- in batches ---- */

/* Where the keys of a batch come from: one of the three forms. */
struct keys {
    const void *const *bytes;
    const size_t *lengths;
    const uint64_t *integers;
    const uint64_t *digests;
};

/* The digests of keys from..from+n-1: the caller's own, or made in `room`. */
static const uint64_t *digests_of(const perhaps *f, const struct keys *keys, size_t from, size_t n, uint64_t *room) {
    if (keys->digests) return keys->digests + from;
    if (keys->integers) {
        hash_u64_many(&f->hash, f->isa, keys->integers + from, n, room);
        return room;
    }
    for (size_t i = 0; i < n; i++) room[i] = hash_bytes(&f->hash, keys->bytes[from + i], keys->lengths[from + i]);
    return room;
}

static int64_t count_ones(const uint8_t *answers, size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) sum += answers[i];
    return (int64_t)sum;
}

static int64_t many(const perhaps *f, perhaps *changed, const struct keys *keys, size_t n, uint8_t *answers) {
    uint64_t room[CHUNK];
    uint8_t own_answers[CHUNK];
    int64_t ones = 0;
    for (size_t from = 0; from < n; from += CHUNK) {
        size_t count = n - from < CHUNK ? n - from : CHUNK;
        uint8_t *out = answers ? answers + from : own_answers;
        const uint64_t *digests = digests_of(f, keys, from, count, room);
        const char *ahead = (const char *)((keys->integers ? keys->integers + from : digests) + count);
        if (changed)
            f->ops.add_many(&changed->array, digests, count, out, ahead);
        else
            f->ops.contains_many(&f->array, digests, count, out, ahead);
        ones += count_ones(out, count);
    }
    return ones;
}

static int64_t add_many(perhaps *f, const struct keys *keys, size_t n, uint8_t *answers) {
    int rc = filter_prepare_change(f);
    if (rc < 0) return rc;
    int64_t added = many(f, f, keys, n, answers);
    f->header.items += (uint64_t)added;
    return added;
}

int64_t perhaps_add_many(perhaps *f, const void *const *keys, const size_t *lengths, size_t n, uint8_t *answers) {
    return add_many(f, &(struct keys){.bytes = keys, .lengths = lengths}, n, answers);
}

int64_t perhaps_add_many_u64(perhaps *f, const uint64_t *keys, size_t n, uint8_t *answers) {
    return add_many(f, &(struct keys){.integers = keys}, n, answers);
}

int64_t perhaps_add_many_digest(perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers) {
    int rc = check_digests(f);
    return rc < 0 ? rc : add_many(f, &(struct keys){.digests = digests}, n, answers);
}

int64_t perhaps_contains_many(const perhaps *f, const void *const *keys, const size_t *lengths, size_t n,
                              uint8_t *answers) {
    return many(f, NULL, &(struct keys){.bytes = keys, .lengths = lengths}, n, answers);
}

int64_t perhaps_contains_many_u64(const perhaps *f, const uint64_t *keys, size_t n, uint8_t *answers) {
    return many(f, NULL, &(struct keys){.integers = keys}, n, answers);
}

int64_t perhaps_contains_many_digest(const perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers) {
    int rc = check_digests(f);
    return rc < 0 ? rc : many(f, NULL, &(struct keys){.digests = digests}, n, answers);
}

/* -------------------------------------------------------------------------------------------- whole filters --- */

/* The first thing in which two filters differ, or NULL. */
static const char *difference(const perhaps *a, const perhaps *b) {
    if (a->kind != b->kind) return "kind";
    for (int i = 0; i < LAYOUT_WORDS; i++) {
        if (a->header.layout[i] != b->header.layout[i]) return a->kind->layout_names[i];
    }
    if (a->header.hash != b->header.hash) return "hash";
    if (a->header.seed != b->header.seed) return a->header.hash == PERHAPS_SIPHASH ? "hash key" : "seed";
    return NULL;
}

static int combine(perhaps *into, const perhaps *from, void (*operation)(struct array *, const struct array *),
                   const char *verb) {
    if (!operation) return fail(PERHAPS_ECANNOT, "%s filters cannot %s", into->kind->row.name, verb);
    const char *differs = difference(into, from);
    if (differs)
        return fail(PERHAPS_EMISMATCH, "cannot %s: the two filters differ in %s; make both with the same want", verb,
                    differs);
    int rc = filter_prepare_change(into);
    if (rc < 0) return rc;
    operation(&into->array, &from->array);
    filter_count_items(into);
    return PERHAPS_OK;
}

int perhaps_merge(perhaps *into, const perhaps *from) {
    return combine(into, from, into->kind->merge, "merge");
}

int perhaps_intersect(perhaps *into, const perhaps *from) {
    return combine(into, from, into->kind->intersect, "intersect");
}

int perhaps_clear(perhaps *f) {
    int rc = filter_prepare_change(f);
    if (rc < 0) return rc;
    memset(f->array.bytes, 0, (size_t)f->array.length);
    f->header.items = 0;
    return PERHAPS_OK;
}

int perhaps_equal(const perhaps *a, const perhaps *b) {
    return !difference(a, b) && memcmp(a->array.bytes, b->array.bytes, (size_t)a->array.length) == 0;
}

/* ----------------------------------------------------------------------------------------------- looking in --- */

int perhaps_info(const perhaps *f, struct perhaps_info *theirs) {
    struct sight sight;
    const struct model *model = f->kind->model;
    plan_look(f->kind, &f->array, &sight);
    struct perhaps_info info = {
        .kind = f->kind->row.kind,
        .kind_name = f->kind->row.name,
        .can = f->kind->row.can,
        .capacity = f->header.capacity,
        .items = f->header.items,
        .distinct = sight.distinct,
        .fill = sight.fill,
        .fpr_target = f->header.fpr,
        .fpr_now = sight.fpr,
        .bytes = f->array.length,
        .image_bytes = filter_image_bytes(f),
        .bits_per_key = 8 * (double)f->array.length / (double)f->header.capacity,
        .hashes = model->hashes(f->header.layout),
        .lines = model->lines(f->header.layout),
        .hash = f->header.hash,
        .hash_name = hash_name(f->header.hash),
        .seed = f->header.seed,
        .tag = f->header.tag,
        .format_version = FORMAT_VERSION,
        .isa = isa_name(f->isa),
        .read_only = f->state == READ_ONLY,
    };
    return give_sized(theirs, &info, sizeof info, "info");
}

unsigned perhaps_tag(const perhaps *f) {
    return f->header.tag;
}
