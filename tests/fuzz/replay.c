/* Runs a fuzz target on every file of a folder: the corpus is tested in the ordinary test run, with any compiler. */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int replay_file(const char *name) {
    static uint8_t room[1 << 20];
    FILE *file = fopen(name, "rb");
    if (!file) {
        perror(name);
        return 1;
    }
    size_t length = fread(room, 1, sizeof room, file);
    fclose(file);
    uint8_t *exact = malloc(length ? length : 1); /* so that a sanitizer sees a read past the end */
    if (!exact) return 1;
    memcpy(exact, room, length);
    LLVMFuzzerTestOneInput(exact, length);
    free(exact);
    return 0;
}

int main(int argc, char **argv) {
    DIR *folder = argc == 2 && chdir(argv[1]) == 0 ? opendir(".") : NULL;
    if (!folder) {
        fprintf(stderr, "usage: %s FOLDER (which must exist)\n", argv[0]);
        return 2;
    }
    struct dirent *entry;
    unsigned files = 0, failed = 0;
    while ((entry = readdir(folder))) {
        if (entry->d_name[0] == '.') continue;
        failed += (unsigned)replay_file(entry->d_name);
        files++;
    }
    closedir(folder);
    printf("%u files replayed\n", files);
    return failed || !files;
}
