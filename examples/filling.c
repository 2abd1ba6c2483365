/*
 * Filling: how the false-positive rate grows while a filter fills.
 *
 * An empty filter has no false positives. With every key more bits are set, and the chance rises
 * that all k bits of a new key are set already. Planned rates are those of the full filter; on the
 * way there the average is much lower.
 *
 * Each add of a new key that answers "perhaps there already" is a false positive, so adding
 * measures the running average. It comes from one event per key: with a thousand keys it still
 * strays by chance, with ten thousand it settles.
 */
#include <math.h>
#include <perhaps.h>
#include <stdio.h>

enum { NON_MEMBERS = 200000 };

/* The classic formula: n keys of k bits each in m bits. */
static double theory(double n, double m, double k) {
    return pow(1 - exp(-k * n / m), k);
}

static int add_key(perhaps *f, unsigned number) {
    char key[32];
    int length = snprintf(key, sizeof key, "string %u", number);
    return perhaps_add(f, key, (size_t)length);
}

/* Queries keys that were never added. */
static double measured_rate(const perhaps *f) {
    int found = 0;
    for (unsigned i = 0; i < NON_MEMBERS; i++) {
        char key[32];
        int length = snprintf(key, sizeof key, "non-member %u", i);
        found += perhaps_contains(f, key, (size_t)length);
    }
    return (double)found / NON_MEMBERS;
}

static int fill(unsigned items, unsigned hashes) {
    perhaps_want want = PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = items, .bits_per_key = 4, .hashes = hashes);
    perhaps *f;
    if (perhaps_create(&f, &want) < 0) {
        fprintf(stderr, "filling: %s\n", perhaps_why());
        return 1;
    }
    printf("%u strings in %u bits, %u bits set for each\n", items, 4 * items, hashes);
    printf("  strings  average so far  theory  rate now  theory\n");
    unsigned false_positives = 0;
    double expected = 0;
    for (unsigned n = 0; n < items;) {
        expected += theory(n, 4.0 * items, hashes);
        false_positives += !add_key(f, n);
        if (++n % (items / 5) == 0)
            printf("  %7u  %14.4f  %6.4f  %8.4f  %6.4f\n", n, (double)false_positives / n, expected / n,
                   measured_rate(f), theory(n, 4.0 * items, hashes));
    }
    perhaps_free(f);
    return 0;
}

int main(void) {
    return fill(1000, 2) || fill(1000, 3) || fill(10000, 2) || fill(10000, 3);
}
