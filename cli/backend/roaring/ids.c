#include "ids.h"
#include "portable.h"

#include <stdlib.h>
#include <string.h>

/* ---- buckets ---- */

void ids_free(struct ids *ids) {
    for (size_t i = 0; i < ids->n; i++)
        if (ids->buckets[i].low) roaring_bitmap_free(ids->buckets[i].low);
    free(ids->buckets);
    ids->buckets = NULL;
    ids->n = ids->room = 0;
}

static uint32_t high(uint64_t number) {
    return (uint32_t)(number >> 32);
}

/* The first bucket whose upper half is not below `half`. */
static size_t find(const struct ids *ids, uint32_t half) {
    size_t low = 0, end = ids->n;
    while (low < end) {
        size_t middle = low + (end - low) / 2;
        if (ids->buckets[middle].high < half)
            low = middle + 1;
        else
            end = middle;
    }
    return low;
}

/* Where numbers with this upper half are, or NULL. */
static roaring_bitmap_t *lows_of(const struct ids *ids, uint32_t half) {
    size_t at = find(ids, half);
    return at < ids->n && ids->buckets[at].high == half ? ids->buckets[at].low : NULL;
}

static bool reserve(struct ids *ids, size_t n) {
    if (n <= ids->room) return true;
    size_t room = n + n / 2;
    struct bucket *larger = realloc(ids->buckets, room * sizeof *larger);
    if (!larger) return false;
    ids->buckets = larger;
    ids->room = room;
    return true;
}

/* Makes buckets for those of the sorted numbers that have none. They are put between the old ones
 * from the back, all of a batch in one pass: random ids would otherwise move everything for
 * each. */
static bool make_buckets(struct ids *ids, const uint64_t *sorted, size_t n) {
    struct bucket fresh[IDS_BATCH];
    size_t made = 0, old = ids->n;
    bool enough = true;
    for (size_t i = 0; i < n && enough; i++) {
        uint32_t half = high(sorted[i]);
        if ((i && half == high(sorted[i - 1])) || lows_of(ids, half)) continue;
        fresh[made] = (struct bucket){half, roaring_bitmap_create()};
        enough = fresh[made].low;
        made += enough;
    }
    if (!enough || !reserve(ids, old + made)) {
        while (made) roaring_bitmap_free(fresh[--made].low);
        return false;
    }
    ids->n += made;
    for (size_t at = ids->n; made;) {
        bool larger = old && ids->buckets[old - 1].high > fresh[made - 1].high;
        ids->buckets[--at] = larger ? ids->buckets[--old] : fresh[--made];
    }
    return true;
}

/* ---- numbers ---- */

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

bool ids_add(struct ids *ids, const uint64_t *numbers, size_t n, uint64_t *added) {
    uint64_t sorted[IDS_BATCH];
    memcpy(sorted, numbers, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare);
    *added = 0;
    if (!make_buckets(ids, sorted, n)) return false;
    roaring_bitmap_t *lows = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!i || high(sorted[i]) != high(sorted[i - 1])) lows = lows_of(ids, high(sorted[i]));
        *added += roaring_bitmap_add_checked(lows, (uint32_t)sorted[i]);
    }
    return true;
}

uint64_t ids_remove(struct ids *ids, const uint64_t *numbers, size_t n) {
    uint64_t removed = 0;
    for (size_t i = 0; i < n; i++) {
        roaring_bitmap_t *lows = lows_of(ids, high(numbers[i]));
        removed += lows && roaring_bitmap_remove_checked(lows, (uint32_t)numbers[i]);
    }
    return removed;
}

uint64_t ids_contain(const struct ids *ids, const uint64_t *numbers, size_t n, uint8_t *answers) {
    uint64_t present = 0;
    for (size_t i = 0; i < n; i++) {
        const roaring_bitmap_t *lows = lows_of(ids, high(numbers[i]));
        answers[i] = lows && roaring_bitmap_contains(lows, (uint32_t)numbers[i]);
        present += answers[i];
    }
    return present;
}

uint64_t ids_count(const struct ids *ids) {
    uint64_t count = 0;
    for (size_t i = 0; i < ids->n; i++) count += roaring_bitmap_get_cardinality(ids->buckets[i].low);
    return count;
}

uint64_t ids_common(const struct ids *a, const struct ids *b) {
    uint64_t count = 0;
    for (size_t i = 0; i < a->n; i++) {
        const roaring_bitmap_t *lows = lows_of(b, a->buckets[i].high);
        if (lows) count += roaring_bitmap_and_cardinality(a->buckets[i].low, lows);
    }
    return count;
}

size_t ids_from(const struct ids *ids, uint64_t from, uint64_t *numbers, size_t n) {
    size_t found = 0;
    for (size_t i = find(ids, high(from)); i < ids->n && found < n; i++) {
        const struct bucket *bucket = &ids->buckets[i];
        roaring_uint32_iterator_t at;
        roaring_init_iterator(bucket->low, &at);
        bool more = at.has_value;
        if (more && bucket->high == high(from)) more = roaring_move_uint32_iterator_equalorlarger(&at, (uint32_t)from);
        for (; more && found < n; more = roaring_advance_uint32_iterator(&at))
            numbers[found++] = (uint64_t)bucket->high << 32 | at.current_value;
    }
    return found;
}

bool ids_ends(const struct ids *ids, uint64_t *smallest, uint64_t *largest) {
    if (!ids_from(ids, 0, smallest, 1)) return false;
    size_t last = ids->n - 1; /* buckets may be empty, but not all of them */
    while (roaring_bitmap_is_empty(ids->buckets[last].low)) last--;
    *largest = (uint64_t)ids->buckets[last].high << 32 | roaring_bitmap_maximum(ids->buckets[last].low);
    return true;
}

/* ---- combining ---- */

static const struct {
    void (*both)(roaring_bitmap_t *, const roaring_bitmap_t *);
    bool first, second; /* are buckets that only one of them has kept? */
} combinations[] = {
    [MERGE] = {roaring_bitmap_or_inplace, true, true},
    [INTERSECT] = {roaring_bitmap_and_inplace, false, false},
    [SUBTRACT] = {roaring_bitmap_andnot_inplace, true, false},
    [DIFFER] = {roaring_bitmap_xor_inplace, true, true},
};

bool ids_combine(struct ids *into, struct ids *from, enum set_operation how) {
    struct ids made = {.wide = into->wide};
    struct bucket *a = into->buckets, *a_end = a + into->n, *b = from->buckets, *b_end = b + from->n;
    if (!reserve(&made, into->n + from->n)) return false;
    while (a < a_end || b < b_end) {
        bool first = a < a_end && (b == b_end || a->high <= b->high);
        bool second = b < b_end && (a == a_end || b->high <= a->high);
        bool kept = first && second ? true : first ? combinations[how].first : combinations[how].second;
        struct bucket *source = first ? a : b;
        if (first && second) combinations[how].both(a->low, b->low);
        a += first;
        b += second;
        if (!kept) continue;
        made.buckets[made.n++] = *source;
        source->low = NULL;
    }
    ids_free(into);
    *into = made;
    return true;
}

/* ---- files ---- */

const char *ids_read(struct ids *ids, const uint8_t *bytes, size_t length, bool wide) {
    *ids = (struct ids){.wide = wide};
    const char *why = portable_check_file(bytes, length, wide);
    if (why) return why;
    /* Every bucket takes some bytes of the file, so their number, now checked, is below its
     * length. */
    size_t count = wide ? (size_t)portable_u64(bytes) : 1, at = wide ? WIDE_HEADER : 0;
    ids->buckets = calloc(count + !count, sizeof *ids->buckets);
    if (!ids->buckets) return "takes more memory than there is";
    for (ids->room = count; ids->n < count;) {
        struct bucket *bucket = &ids->buckets[ids->n++];
        if (wide) bucket->high = portable_u32(bytes + at);
        if (wide) at += WIDE_BUCKET;
        const char *from = (const char *)bytes + at;
        size_t used = roaring_bitmap_portable_deserialize_size(from, length - at);
        bucket->low = roaring_bitmap_portable_deserialize_safe(from, length - at);
        if (!used || !bucket->low) {
            ids_free(ids);
            return "takes more memory than there is";
        }
        at += used;
    }
    return NULL;
}

static char *put(char *at, uint64_t value, size_t size) {
    for (; size; size--, value >>= 8) *at++ = (char)(unsigned char)value;
    return at;
}

char *ids_write(struct ids *ids, size_t *length) {
    /* A set of 32-bit ids that never had any has no bucket, but its file is a bitmap. */
    uint64_t zero = 0, one;
    if (!ids->wide && !ids->n && (!ids_add(ids, &zero, 1, &one) || !ids_remove(ids, &zero, 1))) return NULL;
    /* Drops buckets that became empty; makes runs of the other ids where these are shorter. */
    size_t kept = 0;
    *length = ids->wide ? WIDE_HEADER : 0;
    for (size_t i = 0; i < ids->n; i++) {
        struct bucket bucket = ids->buckets[i];
        if (ids->wide && roaring_bitmap_is_empty(bucket.low)) {
            roaring_bitmap_free(bucket.low);
            continue;
        }
        roaring_bitmap_run_optimize(bucket.low);
        *length += roaring_bitmap_portable_size_in_bytes(bucket.low) + (ids->wide ? WIDE_BUCKET : 0);
        ids->buckets[kept++] = bucket;
    }
    ids->n = kept;
    char *bytes = malloc(*length), *at = bytes;
    if (!bytes) return NULL;
    if (ids->wide) at = put(at, ids->n, WIDE_HEADER);
    for (size_t i = 0; i < ids->n; i++) {
        if (ids->wide) at = put(at, ids->buckets[i].high, WIDE_BUCKET);
        at += roaring_bitmap_portable_serialize(ids->buckets[i].low, at);
    }
    return bytes;
}
