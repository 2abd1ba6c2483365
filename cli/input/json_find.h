/* One value of a JSON record, found by its path: for --jsonl. The whole record is checked, so that
 * a damaged one never passes for one without the value.
 *
 * A path begins with '.', which alone is the whole record. Then there are names, each after a '.',
 * and positions from 0 in brackets: .user.id  ."odd name"  .tags[0]  .[1].name. A name in quotes is
 * written as in JSON. */
#ifndef CLI_INPUT_JSON_FIND_H
#define CLI_INPUT_JSON_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JSON_PATH_STEPS = 32, JSON_PATH_BYTES = 512, JSON_DEPTH = 1024 };

/* Into an object by name, or into an array by position. */
struct json_step {
    bool is_position;
    uint16_t name, length; /* in json_path.names, without escapes */
    uint32_t position;
};

/* A path that was read. It refers to nothing outside, so it may be copied. */
struct json_path {
    unsigned count;
    struct json_step steps[JSON_PATH_STEPS];
    char names[JSON_PATH_BYTES];
};

/* NULL, or why the text is no path, as a phrase that follows it: "does not begin with '.'". */
const char *json_path_parse(const char *text, struct json_path *path);

enum json_result { JSON_FOUND, JSON_MISSING, JSON_INVALID };

/*
 * Finds the value in the record from `at` to `end`: one value of RFC 8259 in UTF-8, with white
 * space around it. Of several members with the same name the last one counts, as in Python.
 *
 * FOUND: a string is *key without its quotes and escapes; everything else is as written, numbers,
 * objects and arrays too. *key lies in the record, or in `scratch` if there were escapes; that has
 * room for end - at bytes. An escaped half of a surrogate pair without the other is no character,
 * but the grammar allows it: it becomes the three bytes that UTF-8 would have for it, as with
 * Python's "surrogatepass", so that different strings stay different keys.
 *
 * MISSING: there is no such value, or it is null.
 *
 * INVALID: *fault says what is wrong, as a sentence without its period, and *fault_at where. So are
 * more than JSON_DEPTH objects and arrays inside each other.
 */
enum json_result json_find(const struct json_path *path, const char *at, const char *end, char *scratch,
                           const char **key, size_t *length, const char **fault, const char **fault_at);

#endif
