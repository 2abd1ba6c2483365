/* Lines for bench/dedup/run:  lines LINES DIFFERENT. Prints LINES lines of 42 bytes, the newline
 * among them, of which DIFFERENT are first occurrences; the others repeat one of the lines before
 * them, any with the same chance. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { DIGITS = 16 };

/* A permutation of the 64-bit numbers: different numbers stay different, their order is lost. */
static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    return x ^ (x >> 32);
}

/* Evenly spread over 0 ... n - 1, n below 2^32. */
static uint64_t draw(uint64_t i, uint64_t n) {
    return (mix(i + (UINT64_C(1) << 63)) >> 32) * n >> 32;
}

static void print_line(uint64_t number) {
    static char line[] = "https://example.org/page/0123456789abcdef\n";
    char *digits = line + sizeof line - 2 - DIGITS;
    uint64_t rest = mix(number + 1);
    for (unsigned i = 0; i < DIGITS; i++, rest <<= 4) digits[i] = "0123456789abcdef"[rest >> 60];
    fwrite(line, 1, sizeof line - 1, stdout);
}

int main(int count, char **arguments) {
    uint64_t lines = count == 3 ? strtoull(arguments[1], NULL, 10) : 0;
    uint64_t different = count == 3 ? strtoull(arguments[2], NULL, 10) : 0, seen = 0;
    if (!lines || !different || different > lines || lines > UINT32_MAX) {
        fprintf(stderr, "usage: lines LINES DIFFERENT, where LINES is below 2^32 and DIFFERENT between 1 and LINES\n");
        return 2;
    }
    for (uint64_t i = 0; i < lines; i++) {
        int is_new = !seen || draw(2 * i, lines - i) < different - seen;
        print_line(is_new ? seen : draw(2 * i + 1, seen));
        seen += (uint64_t)is_new;
    }
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
