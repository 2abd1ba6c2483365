/* Runs a fuzz target on every file of a folder: the corpus is tested in the ordinary test run, with
 * any compiler. With a number, then on a number of variants of each, with a few bytes changed, cut
 * off, repeated or left out; always the same ones. */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In memory of its own, so that a sanitizer sees a read past the end. */
static void test_copy(const uint8_t *bytes, size_t length) {
    uint8_t *exact = malloc(length ? length : 1);
    if (!exact) abort();
    memcpy(exact, bytes, length);
    LLVMFuzzerTestOneInput(exact, length);
    free(exact);
}

/* Up to n - 1; xorshift64. */
static size_t random_below(size_t n) {
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return n ? (size_t)(state % n) : 0;
}

/* Small steps, and the bytes that lengths and limits turn on. */
static void mutate(uint8_t *bytes, size_t *length) {
    static const uint8_t special[] = {0x00, 0x01, 0x7F, 0x80, 0xFF, 0x3A, 0x3B, 0x30};
    size_t at = random_below(*length), other = random_below(*length), n = random_below(*length - at + 1) % 64;
    if (!*length) return;
    switch (random_below(6)) {
    case 0:
        bytes[at] ^= (uint8_t)(1u << random_below(8));
        break;
    case 1:
        bytes[at] = special[random_below(sizeof special)];
        break;
    case 2:
        bytes[at] = (uint8_t)(bytes[at] + random_below(3) - 1);
        break;
    case 3:
        memmove(bytes + other, bytes + at, n < *length - other ? n : *length - other);
        break;
    case 4:
        memmove(bytes + at, bytes + at + n, *length - at - n);
        *length -= n;
        break;
    default:
        *length = random_below(8) ? *length : at;
    }
}

static int replay_file(const char *name, unsigned long variants) {
    static uint8_t room[1 << 20], variant[sizeof room];
    FILE *file = fopen(name, "rb");
    if (!file) {
        perror(name);
        return 1;
    }
    size_t length = fread(room, 1, sizeof room, file);
    fclose(file);
    test_copy(room, length);
    for (; variants; variants--) {
        size_t changed = length;
        memcpy(variant, room, length);
        for (size_t steps = 1 + random_below(4); steps; steps--) mutate(variant, &changed);
        test_copy(variant, changed);
    }
    return 0;
}

int main(int argc, char **argv) {
    DIR *folder = argc >= 2 && chdir(argv[1]) == 0 ? opendir(".") : NULL;
    if (!folder) {
        fprintf(stderr, "usage: %s FOLDER [VARIANTS] (the folder must exist)\n", argv[0]);
        return 2;
    }
    struct dirent *entry;
    unsigned files = 0, failed = 0;
    unsigned long variants = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    while ((entry = readdir(folder))) {
        if (entry->d_name[0] == '.') continue;
        failed += (unsigned)replay_file(entry->d_name, variants);
        files++;
    }
    closedir(folder);
    printf("%u files replayed, each with %lu variants\n", files, variants);
    return failed || !files;
}
