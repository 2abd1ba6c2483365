/*
 * Batches: many keys in one call.
 *
 * A filter larger than the caches spends its time waiting for memory. Given many keys at once, the
 * library prefetches the memory of later keys while it tests earlier ones, which is several times
 * faster. The answers are the same.
 */
#include <perhaps.h>
#include <stdio.h>

enum { BATCH = 1024, BATCHES = 500 };

static void add_even_numbers(perhaps *f) {
    uint64_t keys[BATCH];
    for (uint64_t batch = 0; batch < BATCHES; batch++) {
        for (uint64_t i = 0; i < BATCH; i++) keys[i] = 2 * (batch * BATCH + i);
        perhaps_add_many(f, &PERHAPS_KEYS_U64(keys, 0, BATCH), NULL);
    }
}

/* Queries the first BATCH numbers, even and odd. */
static void query_integers(const perhaps *f) {
    uint64_t keys[BATCH];
    uint8_t answers[BATCH];
    for (uint64_t i = 0; i < BATCH; i++) keys[i] = i;
    long long found = perhaps_contains_many(f, &PERHAPS_KEYS_U64(keys, 0, BATCH), answers);

    int even = 0, odd = 0, differ = 0;
    for (uint64_t i = 0; i < BATCH; i++) {
        *(i % 2 ? &odd : &even) += answers[i];
        differ += answers[i] != perhaps_contains_u64(f, keys[i]);
    }
    printf("%lld of %d perhaps there: %d of the %d even ones, %d of the %d odd ones\n", found, BATCH, even, BATCH / 2,
           odd, BATCH / 2);
    printf("%d answers differ from those of single calls\n", differ);
}

/* Keys of bytes: an array of pointers and one of lengths; or packed, one buffer with offsets. */
static void query_words(perhaps *f) {
    const void *words[] = {"one", "two", "three", "two"};
    size_t lengths[] = {3, 3, 5, 3};
    uint8_t is_new[4];
    perhaps_add_many(f, &PERHAPS_KEYS_BYTES(words, lengths, 4), is_new);
    for (int i = 0; i < 4; i++)
        printf("%-5s %s\n", (const char *)words[i], is_new[i] ? "new" : "perhaps there already");

    const char text[] = "threefour";
    const uint32_t offsets[] = {0, 5, 9};
    perhaps_keys packed = PERHAPS_KEYS_PACKED(text, offsets, 2);
    printf("%d of them is new\n", (int)perhaps_add_many(f, &packed, NULL));
}

int main(void) {
    perhaps_want want = PERHAPS_WANT(.items = (uint64_t)BATCH * BATCHES, .fpr = 0.01);
    perhaps *f;
    if (perhaps_create(&f, &want) < 0) {
        fprintf(stderr, "batches: %s\n", perhaps_why());
        return 1;
    }
    add_even_numbers(f);
    query_integers(f);
    query_words(f);
    perhaps_free(f);
    return 0;
}
