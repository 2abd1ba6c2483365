/* Sets as the bytes of a file, and back. */
#include "ids.h"
#include "portable.h"

#include <stdlib.h>

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

/* Drops the buckets that became empty, and makes runs of the ids in the others; how many bytes that
 * takes. */
static size_t settle(struct ids *ids) {
    size_t kept = 0, bytes = 0;
    for (size_t i = 0; i < ids->n; i++) {
        struct bucket bucket = ids->buckets[i];
        if (ids->wide && roaring_bitmap_is_empty(bucket.low)) {
            roaring_bitmap_free(bucket.low);
            continue;
        }
        roaring_bitmap_run_optimize(bucket.low);
        bytes += roaring_bitmap_portable_size_in_bytes(bucket.low) + (ids->wide ? WIDE_BUCKET : 0);
        ids->buckets[kept++] = bucket;
    }
    ids->n = kept;
    return bytes + (ids->wide ? WIDE_HEADER : 0);
}

static char *put(char *at, uint64_t value, size_t size) {
    for (; size; size--, value >>= 8) *at++ = (char)(unsigned char)value;
    return at;
}

char *ids_write(struct ids *ids, size_t *length) {
    /* A set of 32-bit ids that never had any has no bucket, but its file is a bitmap. */
    uint64_t zero = 0, one;
    if (!ids->wide && !ids->n && (!ids_add(ids, &zero, 1, &one) || !ids_remove(ids, &zero, 1))) return NULL;
    *length = settle(ids);
    char *bytes = malloc(*length), *at = bytes;
    if (!bytes) return NULL;
    if (ids->wide) at = put(at, ids->n, WIDE_HEADER);
    for (size_t i = 0; i < ids->n; i++) {
        if (ids->wide) at = put(at, ids->buckets[i].high, WIDE_BUCKET);
        at += roaring_bitmap_portable_serialize(ids->buckets[i].low, at);
    }
    return bytes;
}
