/* Any bytes as the file of a Roaring bitmap: refused with a phrase, or a set that works and,
 * written and read again, is the same. The first byte says whether its ids have 64 bits. */
#include "fuzz.h"
#include "ids.h"

#include <stdlib.h>
#include <string.h>

static struct ids read_set(const uint8_t *bytes, size_t length, bool wide) {
    struct ids ids;
    promise(!ids_read(&ids, bytes, length, wide), "what was read once is read again");
    return ids;
}

/* Are they the same set, as far as a few thousand ids from the beginning tell, and their number? */
static void promise_same(const struct ids *a, const struct ids *b, const char *what) {
    static uint64_t in_a[5000], in_b[5000];
    size_t n = ids_from(a, 0, in_a, 5000);
    promise(ids_count(a) == ids_count(b), what);
    promise(ids_from(b, 0, in_b, 5000) == n && memcmp(in_a, in_b, n * sizeof *in_a) == 0, what);
}

static void use_list(const struct ids *ids) {
    uint64_t numbers[IDS_BATCH], smallest, largest;
    uint8_t answers[IDS_BATCH];
    size_t n = ids_from(ids, 0, numbers, IDS_BATCH);
    for (size_t i = 1; i < n; i++) promise(numbers[i - 1] < numbers[i], "ids rise");
    promise(ids_contain(ids, numbers, n, answers) == n, "what is listed is there");
    promise(ids_ends(ids, &smallest, &largest) == (n > 0), "a set has ends if it has ids");
    if (!n) return;
    promise(smallest == numbers[0] && numbers[n - 1] <= largest, "the ends are the ends");
    promise(ids_from(ids, largest, numbers, 2) == 1 && numbers[0] == largest, "after the largest there is none");
}

static void use_written(struct ids *ids) {
    size_t length;
    char *bytes = ids_write(ids, &length);
    promise(bytes, "there is memory");
    struct ids again = read_set((const uint8_t *)bytes, length, ids->wide);
    promise_same(ids, &again, "what is written is read");
    ids_free(&again);
    free(bytes);
}

static void use_changed(struct ids *ids) {
    uint64_t numbers[] = {0, 1, 65535, 65536, UINT32_MAX, ids->wide ? UINT64_MAX : 2}, before = ids_count(ids), added;
    uint8_t answers[6];
    promise(ids_add(ids, numbers, 6, &added) && ids_count(ids) == before + added, "new ids are counted");
    promise(ids_contain(ids, numbers, 6, answers) == 6, "what was added is there");
    use_written(ids);
    promise(ids_remove(ids, numbers, 6) == 6 && ids_count(ids) == before + added - 6, "what is there can be removed");
    use_written(ids);
}

/* With itself and with a part of itself. */
static void use_combined(const uint8_t *bytes, size_t length, bool wide) {
    for (int what = MERGE; what <= DIFFER; what++) {
        struct ids a = read_set(bytes, length, wide), b = read_set(bytes, length, wide);
        uint64_t n = ids_count(&a), few[100], common = ids_remove(&b, few, ids_from(&a, 0, few, 100));
        promise(ids_combine(&a, &b, (enum set_operation)what), "there is memory");
        uint64_t wanted = what == MERGE ? n : what == INTERSECT ? n - common : common;
        promise(ids_count(&a) == wanted, "combining is exact");
        use_written(&a);
        ids_free(&a);
        ids_free(&b);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size) return 0;
    bool wide = data[0] & 1;
    struct ids ids;
    const char *why = ids_read(&ids, data + 1, size - 1, wide);
    promise(!why == (ids.buckets != NULL), "a refusal leaves nothing behind");
    if (why) return 0;
    use_list(&ids);
    use_written(&ids);
    use_changed(&ids);
    ids_free(&ids);
    use_combined(data + 1, size - 1, wide);
    return 0;
}
