/* The native side of bench/wasm/run: a blocked filter of 1 MiB, and for each line of standard input
 * the nanoseconds of a query in a batch. PERHAPS_ISA chooses the instruction set. */
#include <perhaps.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { KEYS = 1 << 20, ROUNDS = 4 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(void) {
    perhaps *f;
    perhaps_want want = PERHAPS_WANT(.kind = PERHAPS_BLOCKED, .items = 830000, .fpr = 0.01);
    uint64_t *keys = malloc(KEYS * sizeof *keys), x = 1;
    uint8_t *answers = malloc(KEYS);
    if (!keys || !answers || perhaps_create(&f, &want) < 0) return 1;
    for (size_t i = 0; i < KEYS; i++) keys[i] = x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
    perhaps_add_many(f, &PERHAPS_KEYS_U64(keys, 0, KEYS / 2), NULL);
    for (char line[16]; fgets(line, sizeof line, stdin);) {
        double start = now();
        int64_t found = 0;
        for (int i = 0; i < ROUNDS; i++) found = perhaps_contains_many(f, &PERHAPS_KEYS_U64(keys, 0, KEYS), answers);
        printf("%.4f %lld\n", (now() - start) / ROUNDS / KEYS, (long long)found);
        fflush(stdout);
    }
    perhaps_free(f);
    free(keys);
    free(answers);
    return 0;
}
