/* Sets as the bytes of a file, and back. */
#include "ids.h"
#include "portable.h"

#include <stdlib.h>

static const char no_memory[] = "takes more memory than there is";

/* One bucket, of bytes that are known to be right. */
static bool read_bucket(struct bucket *bucket, const uint8_t *bytes, size_t length, size_t *used) {
    *used = roaring_bitmap_portable_deserialize_size((const char *)bytes, length);
    bucket->low = roaring_bitmap_portable_deserialize_safe((const char *)bytes, length);
    return *used && bucket->low;
}

/* Every bucket takes some bytes of the file, so their number, having been checked, is below the file's length. */
static const char *read_wide(struct ids *ids, const uint8_t *bytes, size_t length) {
    size_t count = (size_t)portable_u64(bytes), at = WIDE_HEADER, used;
    ids->buckets = calloc(count + !count, sizeof *ids->buckets);
    if (!ids->buckets) return no_memory;
    for (ids->room = count; ids->n < count; at += used) {
        struct bucket *bucket = &ids->buckets[ids->n++];
        bucket->high = portable_u32(bytes + at);
        at += WIDE_BUCKET;
        if (!read_bucket(bucket, bytes + at, length - at, &used)) return no_memory;
    }
    return NULL;
}

static const char *read_narrow(struct ids *ids, const uint8_t *bytes, size_t length) {
    size_t used;
    ids->buckets = calloc(1, sizeof *ids->buckets);
    if (!ids->buckets) return no_memory;
    ids->n = ids->room = 1;
    return read_bucket(ids->buckets, bytes, length, &used) ? NULL : no_memory;
}

const char *ids_read(struct ids *ids, const uint8_t *bytes, size_t length, bool wide) {
    *ids = (struct ids){.wide = wide};
    const char *why = portable_check_file(bytes, length, wide);
    if (!why) why = wide ? read_wide(ids, bytes, length) : read_narrow(ids, bytes, length);
    if (why) ids_free(ids);
    return why;
}

/* Drops the buckets that became empty, and makes runs of the ids in the others; how many bytes that takes. */
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

/* A set of 32-bit ids that never had any has no bucket, but its file is a bitmap. */
static bool has_bucket(struct ids *ids) {
    uint64_t zero = 0, one;
    if (ids->wide || ids->n) return true;
    if (!ids_add(ids, &zero, 1, &one)) return false;
    return ids_remove(ids, &zero, 1) == 1;
}

char *ids_write(struct ids *ids, size_t *length) {
    if (!has_bucket(ids)) return NULL;
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
