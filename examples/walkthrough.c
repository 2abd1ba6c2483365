/*
 * The textbook walk-through: a Bloom filter of 16 bits and 6 hash functions, small enough to see
 * every bit.
 *
 * A key sets (up to) 6 of the 16 bits. A query looks at 6 bits: one zero among them, and the key
 * was never added. All ones, and it perhaps was; or other keys set them all, and the filter is
 * wrong: a false positive.
 */
#include <perhaps_embed.h>
#include <stdio.h>
#include <string.h>

enum { BITS = 16 };

/* Two keys at 8 bits each make 16 bits. */
static perhaps *make(void) {
    perhaps_want want = PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = 2, .bits_per_key = 8, .hashes = 6);
    perhaps *f = NULL;
    if (perhaps_create(&f, &want) < 0) fprintf(stderr, "walkthrough: %s\n", perhaps_why());
    return f;
}

/* The filter's bits are the last bytes of its image; bit i is bit i % 8 of byte i / 8. */
static unsigned bits_of(perhaps *f) {
    const void *image;
    uint64_t length;
    struct perhaps_info info = {.size = sizeof info};
    if (perhaps_info(f, &info) < 0 || perhaps_image(f, &image, &length) < 0) return 0;
    const uint8_t *bytes = (const uint8_t *)image + length - info.bytes;
    return bytes[0] | (unsigned)bytes[1] << 8;
}

/* Which bits a key has: those that it sets in an empty filter. */
static unsigned bits_of_key(perhaps *scratch, const char *key) {
    perhaps_clear(scratch);
    perhaps_add(scratch, key, strlen(key));
    return bits_of(scratch);
}

static void show(const char *label, unsigned bits) {
    printf("  %-10s", label);
    for (int i = 0; i < BITS; i++) printf("  %c", bits >> i & 1 ? '1' : '.');
    printf("\n");
}

static void query(perhaps *f, perhaps *scratch, const char *key) {
    unsigned have = bits_of(f), needs = bits_of_key(scratch, key);
    show(key, needs);
    if (perhaps_contains(f, key, strlen(key))) {
        printf("  %-10s  perhaps: all its bits are set\n", "");
        return;
    }
    int zero = 0;
    while (!((needs & ~have) >> zero & 1)) zero++;
    printf("  %-10s  definitely not: bit %d is zero\n", "", zero);
}

static void walk(perhaps *f, perhaps *scratch) {
    printf("  %-10s", "");
    for (int i = 0; i < BITS; i++) printf(" %2d", i);
    printf("\nAdding two keys:\n");
    show("empty", bits_of(f));
    const char *fruit[] = {"apple", "pear"};
    for (int i = 0; i < 2; i++) {
        show(fruit[i], bits_of_key(scratch, fruit[i]));
        perhaps_add(f, fruit[i], strlen(fruit[i]));
        show("filter", bits_of(f));
    }

    printf("Querying:\n");
    query(f, scratch, "pear");
    query(f, scratch, "hammer");

    /* Non-members until one is a false positive. */
    char candidate[16] = "";
    for (int i = 1; i == 1 || !perhaps_contains(f, candidate, strlen(candidate)); i++)
        snprintf(candidate, sizeof candidate, "tool %d", i);
    printf("Looking for a non-member whose bits are all set by others:\n");
    query(f, scratch, candidate);
    printf("It was never added: a false positive.\n");
}

int main(void) {
    perhaps *f = make(), *scratch = make();
    if (f && scratch) walk(f, scratch);
    int failed = !f || !scratch;
    perhaps_free(f);
    perhaps_free(scratch);
    return failed;
}
