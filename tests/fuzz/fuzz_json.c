/* Any bytes as a JSON record: with vectors and without there is the same answer, a key lies where
 * it may, and the same value is found in a larger record. The first line is the path. */
#include "fuzz.h"
#include "input/json_find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The same, built without vectors. */
__typeof__(json_find) json_find_plain;

struct answer {
    enum json_result result;
    const char *key, *fault, *fault_at;
    size_t length;
    char *scratch;
};

static char *memory(size_t size) {
    char *bytes = malloc(size ? size : 1);
    promise(bytes, "there is memory");
    return bytes;
}

static struct answer ask(__typeof__(json_find) *find, const struct json_path *path, const char *record, size_t length) {
    struct answer a = {.scratch = memory(length)};
    a.result = find(path, record, record + length, a.scratch, &a.key, &a.length, &a.fault, &a.fault_at);
    bool invalid = a.result == JSON_INVALID;
    promise(!invalid || (a.fault && a.fault_at >= record && a.fault_at <= record + length), "a fault is in the record");
    if (a.result != JSON_FOUND) return a;
    bool in_record = a.key >= record && a.key <= record + length;
    promise(a.key + a.length <= (in_record ? record : a.scratch) + length, "a key is in the record or in scratch");
    return a;
}

static void promise_same(const struct answer *a, const struct answer *b, const char *what) {
    promise(a->result == b->result, what);
    if (a->result == JSON_INVALID) promise(a->fault == b->fault || strcmp(a->fault, b->fault) == 0, what);
    if (a->result == JSON_FOUND) promise(a->length == b->length && memcmp(a->key, b->key, a->length) == 0, what);
}

/* As the second element of an array, unless a path or record can be too large then. A record that
 * is none may be part of one. */
static void ask_inside(const char *text, const struct answer *answer, const char *record, size_t length) {
    char longer[JSON_PATH_BYTES + 10], *inside = memory(length + 10);
    struct json_path path;
    snprintf(longer, sizeof longer, ".[1]%s", strcmp(text, ".") == 0 ? "" : text);
    if (answer->result != JSON_INVALID && length < JSON_DEPTH && !json_path_parse(longer, &path)) {
        memcpy(inside, "[{},", 4);
        memcpy(inside + 4, record, length);
        inside[length + 4] = ']';
        struct answer again = ask(json_find, &path, inside, length + 5);
        promise_same(answer, &again, "the same is found in a larger record");
        struct answer cut = ask(json_find, &path, inside, length + 4);
        promise(cut.result == JSON_INVALID, "a record without its end is none");
        free(again.scratch);
        free(cut.scratch);
    }
    free(inside);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *line = size ? memchr(data, '\n', size) : NULL;
    char text[JSON_PATH_BYTES + 1] = "";
    struct json_path path;
    if (!line || line - data > JSON_PATH_BYTES) return 0;
    memcpy(text, data, (size_t)(line - data));
    if (json_path_parse(text, &path)) return 0;
    size_t length = size - (size_t)(line + 1 - data);
    char *record = memory(length);
    memcpy(record, line + 1, length);
    struct answer answer = ask(json_find, &path, record, length), plain = ask(json_find_plain, &path, record, length);
    promise_same(&answer, &plain, "vectors change nothing");
    promise(answer.result != JSON_INVALID || answer.fault_at == plain.fault_at, "faults are at the same place");
    ask_inside(text, &answer, record, length);
    free(answer.scratch);
    free(plain.scratch);
    free(record);
    return 0;
}
