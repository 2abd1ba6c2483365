/* What is known of Roaring bitmaps with libroaring or without: their names, and how their files begin. */
#include "verbs.h"
#include "portable.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

int roaring_kind(const char *name) {
    if (strcmp(name, "roaring") == 0) return KIND_ROARING;
    return strcmp(name, "roaring64") == 0 ? KIND_ROARING64 : -1;
}

/* Only plain files are looked into: what a pipe brings can be read once. */
static bool begins_like_one(const char *path) {
    uint8_t first[4];
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return false;
    FILE *file = fopen(path, "rb");
    bool begins = file && fread(first, 1, sizeof first, file) == sizeof first && portable_begins(first);
    if (file) fclose(file);
    return begins;
}

/* With --at, operands are files of keys. */
bool is_roaring(const struct options *options) {
    if (options->kind) return options->kind == KIND_ROARING || options->kind == KIND_ROARING64;
    bool opens = command_takes(options->command, &option_table[OPT_FILE_KIND]) && !given(options, OPT_AT);
    return opens && options->operand_count && begins_like_one(options->operands[0]);
}
