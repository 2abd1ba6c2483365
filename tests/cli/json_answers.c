/* What json_find answers, for json_find.py. Standard input has questions: a line with the lengths
 * of a path and a record, then both. For each there is a line: "found" and the key in hexadecimal,
 * "missing", "invalid" and why, or "path" and why it is none. */
#include "input/json_find.h"

#include <stdio.h>
#include <stdlib.h>

/* In memory of its own, so that a sanitizer sees a read past the end. */
static char *read_bytes(size_t length) {
    char *bytes = malloc(length ? length : 1);
    if (!bytes || fread(bytes, 1, length, stdin) != length) abort();
    return bytes;
}

static void answer(const struct json_path *path, const char *record, size_t length) {
    const char *key, *fault, *fault_at;
    char *scratch = malloc(length ? length : 1);
    size_t key_length;
    switch (json_find(path, record, record + length, scratch, &key, &key_length, &fault, &fault_at)) {
    case JSON_FOUND:
        printf("found ");
        for (size_t i = 0; i < key_length; i++) printf("%02x", (unsigned char)key[i]);
        printf("\n");
        break;
    case JSON_MISSING:
        printf("missing\n");
        break;
    case JSON_INVALID:
        printf("invalid %s at %td\n", fault, fault_at - record);
    }
    free(scratch);
}

int main(void) {
    size_t path_length, length;
    while (scanf("%zu %zu", &path_length, &length) == 2 && getchar() == '\n') {
        char text[JSON_PATH_BYTES + 1] = "", *path_bytes = read_bytes(path_length), *record = read_bytes(length);
        struct json_path path;
        snprintf(text, sizeof text, "%.*s", (int)path_length, path_bytes);
        const char *why = json_path_parse(text, &path);
        if (why)
            printf("path %s\n", why);
        else
            answer(&path, record, length);
        free(path_bytes);
        free(record);
    }
    return ferror(stdin) || !feof(stdin);
}
