/* One value of a JSON record: what is JSON and what is not, which value a path leads to, and that
 * nothing outside the record is read. Runs twice: with vectors and without. */
#include "support.h"

#include "input/json_find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a record in memory that ends where it ends, for the sanitizers ---- */

struct answer {
    enum json_result result;
    char *key; /* a copy with a 0 at its end; NULL unless it was found */
    size_t length;
    bool in_record;
    const char *fault;
    size_t fault_at;
};

static struct json_path path_of(const char *text) {
    struct json_path path;
    const char *why = json_path_parse(text, &path);
    CHECK(!why, "%s %s", text, why);
    return path;
}

static char *exactly(const char *bytes, size_t length) {
    char *copy = malloc(length ? length : 1);
    CHECK(copy, "memory");
    if (length) memcpy(copy, bytes, length);
    return copy;
}

static struct answer find_bytes(const char *path_text, const char *bytes, size_t length) {
    struct json_path path = path_of(path_text);
    char *record = exactly(bytes, length), *scratch = malloc(length ? length : 1);
    const char *key = NULL, *fault = NULL, *fault_at = NULL;
    struct answer answer = {0};
    answer.result = json_find(&path, record, record + length, scratch, &key, &answer.length, &fault, &fault_at);
    CHECK(memcmp(record, bytes, length) == 0, "a record is only read");
    CHECK((answer.result == JSON_INVALID) == (fault != NULL), "%s: a fault is for invalid records", bytes);
    if (answer.result == JSON_FOUND) {
        answer.in_record = key >= record && key <= record + length;
        CHECK(key + answer.length <= (answer.in_record ? record : scratch) + length, "a key beyond its memory");
        answer.key = calloc(1, answer.length + 1);
        memcpy(answer.key, key, answer.length);
    }
    if (fault) {
        CHECK(fault_at >= record && fault_at <= record + length, "a fault outside the record");
        answer.fault = fault;
        answer.fault_at = (size_t)(fault_at - record);
    }
    free(record);
    free(scratch);
    return answer;
}

static struct answer find(const char *path, const char *record) {
    return find_bytes(path, record, strlen(record));
}

static enum json_result result_of(const char *path, const char *bytes, size_t length) {
    struct answer answer = find_bytes(path, bytes, length);
    free(answer.key);
    return answer.result;
}

static void check_found(const char *path, const char *record, const char *expected) {
    struct answer answer = find(path, record);
    CHECK(answer.result == JSON_FOUND, "%s in %s: result %d, %s", path, record, answer.result,
          answer.fault ? answer.fault : "no fault");
    CHECK(answer.length == strlen(expected) && strcmp(answer.key, expected) == 0, "%s in %s is %s", path, record,
          answer.key);
    free(answer.key);
}

static void check_missing(const char *path, const char *record) {
    CHECK(result_of(path, record, strlen(record)) == JSON_MISSING, "%s in %s", path, record);
}

static void check_invalid(const char *record, size_t at, const char *fault) {
    struct answer answer = find(".a", record);
    CHECK(answer.result == JSON_INVALID, "%s: result %d", record, answer.result);
    CHECK(strcmp(answer.fault, fault) == 0 && answer.fault_at == at, "%s: %s at %zu", record, answer.fault,
          answer.fault_at);
}

/* ---- what is JSON: cases with | between them ---- */

static const char accepted[] =
    "0|-0|1|-12|1234567890123456789012345678901234567890|0.5|-0.5|1.0|10.25|0e1|0e+1|0E-1|1e5|1E+05|12.5e-007|"
    "1e999999|123456789.123456789e12|true|false|null|\"\"|\" \"|\"a\"|\"0123456789abcdef\"|"
    "\"0123456789abcdef0123456789abcdef\"|\"\\\"\"|\"\\\\\"|\"\\/\\b\\f\\n\\r\\t\"|\"\\\\u0041\"|\"\\u0041\"|"
    "\"\\u00e9\\u20AC\"|\"\\uD834\\uDd1e\"|\"\\u0000\"|\"\\u0022\\u005c\"|\"\x7F\"|\"/\"|\"\xC3\xA9\"|"
    "\"\xE2\x82\xAC\"|\"\xF0\x9D\x84\x9E\"|\"\xF4\x8F\xBF\xBF\"|\"\xEE\x80\x80\"|\"\xED\x9F\xBF\"|\"\xC2\x80\"|"
    "\"\xE2\x80\xA8\"|\"{[,:]}\"|\"\\ud800\"|\"\\udc00\"|\"\\udc00\\ud800\"|\"\\ud800\\n\"|\"\\ud800\\u0041\"|"
    "\"\\ud800\\ud800\"|\"\xEF\xBB\xBF\"|[]|[ ]|{}|{ }|[[]]|[{}]|{\"\":0}|{\"a\":{}}|[1,2]|[1 , 2 ]|"
    "[null,true,false]|{\"a\":1,\"a\":2}|{\"a\":1,\"b\":[2]}|{ \"a\" : [ ] , \"b\" : { } }|[\t1,\n2,\r3]|"
    "{\"a\\u0000b\":0}|{\"\\ud800\":0}|[[[[[[[[[[]]]]]]]]]]|[{\"a\":[{\"b\":[{}]}]}]";

static const char refused[] =
    "-|+1|--1|01|-01|00|1.|-.5|.5|1.e5|1e|1e+|1E-|1e5.0|1.2.3|1e1e1|0x10|1_000|1a|- 1|-a|1.+1|0.e1|Infinity|"
    "-Infinity|NaN|-NaN|inf|nan|tru|true1|trUe|True|TRUE|nul|nulll|fals|falsy|undefined|a|'a'|\"|\"a|\"\\\"|"
    "\"\\\\\\\"|\"\\|\"\\\"x|\"\\a\"|\"\\'\"|\"\\x41\"|\"\\0\"|\"\\U0041\"|\"\\ \"|\"\\\n\"|\"\\\xC3\xA9\"|"
    "\"\\u\"|\"\\u1\"|\"\\u12\"|\"\\u123\"|\"\\u123g\"|\"\\u 123\"|\"\\u+123\"|\"\\u-123\"|\"\\u12|\"\\u1234|"
    "\"\\uD834\\u\"|\"\\uD834\\uDd1\"|\"\n\"|\"\t\"|\"\r\"|\"\x01\"|\"\x1F\"|\"\x80\"|\"\xBF\"|\"\xC0\x80\"|"
    "\"\xC1\xBF\"|\"\xC3\"|\"\xC3\x28\"|\"\xE0\x80\x80\"|\"\xE0\x9F\xBF\"|\"\xE2\x82\"|\"\xE2\x28\xA1\"|"
    "\"\xED\xA0\x80\"|\"\xED\xBF\xBF\"|\"\xF0\x80\x80\x80\"|\"\xF0\x8F\xBF\xBF\"|\"\xF0\x9D\x84\"|"
    "\"\xF4\x90\x80\x80\"|\"\xF5\x80\x80\x80\"|\"\xF8\x88\x80\x80\x80\"|\"\xFE\"|\"\xFF\"|\"\xE2\x82\xAC|\"\xE2|"
    "[|]|{|}|[1|[1,|[,]|[1,]|[,1]|[1,,2]|[1 2]|[1:2]|[1}|[\"a\"|[\"a|[\"a\":1]|[}|{]|{\"a\"|{\"a\":|{\"a\":1|"
    "{\"a\":1,|{\"a\":1,}|{,}|{,\"a\":1}|{\"a\":1,,\"b\":2}|{\"a\"}|{\"a\":}|{\"a\",1}|{\"a\" 1}|{\"a\"::1}|"
    "{\"a\":1 \"b\":2}|{\"a\":1]|{a:1}|{'a':1}|{1:1}|{null:1}|{[]:1}|{\"a\":1:2}|{\"a\\x\":1}|{\"\xFF\":1}|[]]|"
    "{}}|[][]|{}{}|1 2|\"a\"\"b\"|[1],|1,|,1|:|,|[\v1]|[\f1]|[1]\f|\v1|[\xC2\xA0]|\xEF\xBB\xBF{}|[1] // c|"
    "/* c */ 1|[1 # c\n]|\xE2\x81\xA0|[\"\",|[[1]|{\"a\":{\"b\":1}|[a]|[1.]|[-]|[1e]|[tru]|[\\u0031]|\\|"
    "\\u0022a\"|<1>|*|(1)|$";

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* Alone and inside others, on the path and off it, at any distance from the record's ends. */
static void check_everywhere(const char *text, bool valid) {
    static const char *const around[][2] = {{"", ""},           {"[", "]"},
                                            {"{\"a\":", "}"},   {"[0,", " ,0]"},
                                            {"{\"b\":[", "]}"}, {"{\"a\":{\"b\":1},\"c\":", ",\"a\":[]}"}};
    static const char *const paths[] = {".", ".a", ".a.b", ".[0]", ".[1].a"};
    char record[400];
    for (size_t i = 0; i < COUNT(around); i++) {
        for (int pad = 0; pad < 36; pad++) {
            int length =
                snprintf(record, sizeof record, "%*s%s%s%s%*s", pad, "", around[i][0], text, around[i][1], pad % 5, "");
            const char *path = paths[(i + (size_t)pad) % COUNT(paths)];
            CHECK((result_of(path, record, (size_t)length) != JSON_INVALID) == valid, "%s in %s", path, record);
        }
    }
}

/* Calls `check` for each case in a list. */
static void for_each(const char *cases, void (*check)(const char *text)) {
    char *copy = strdup(cases), *at = copy;
    for (const char *text; (text = strsep(&at, "|"));) check(text);
    free(copy);
}

static void check_accepted(const char *text) {
    check_everywhere(text, true);
}

/* Two would be part of an array. */
static void check_refused(const char *text) {
    bool alone = strcmp(text, "1,") == 0 || strcmp(text, "[1],") == 0;
    if (alone)
        CHECK(result_of(".", text, strlen(text)) == JSON_INVALID, "%s", text);
    else
        check_everywhere(text, false);
}

/* What begins a record is none as long as its last bracket or quote is missing. */
static void check_cut(const char *text) {
    for (size_t n = 0; strchr("[{\"", *text) && n < strlen(text); n++)
        CHECK(result_of(".a", text, n) == JSON_INVALID, "%.*s", (int)n, text);
}

static void test_accepted(void **state) {
    (void)state;
    for_each(accepted, check_accepted);
    for_each(accepted, check_cut);
}

static void test_refused(void **state) {
    (void)state;
    for_each(refused, check_refused);
}

static void test_blanks(void **state) {
    (void)state;
    for (int n = 0; n < 40; n++) {
        char blanks[40];
        memset(blanks, ' ', sizeof blanks);
        CHECK(result_of(".", blanks, (size_t)n) == JSON_INVALID, "%d blanks", n);
    }
}

/* Each byte at each place of a string, around the widths of vectors. */
static void test_each_byte(void **state) {
    (void)state;
    char record[80];
    for (size_t length = 1; length <= 36; length++) {
        for (size_t at = 0; at < length; at++) {
            for (int byte = 0; byte < 256; byte++) {
                memset(record, 'x', sizeof record);
                record[0] = record[length + 1] = '"';
                record[at + 1] = (char)byte;
                bool valid = byte >= ' ' && byte < 0x80 && byte != '"' && byte != '\\';
                CHECK((result_of(".", record, length + 2) != JSON_INVALID) == valid, "byte %d at %zu of %zu", byte, at,
                      length);
            }
        }
    }
}

/* Each byte behind digits. */
static void test_each_byte_in_numbers(void **state) {
    (void)state;
    char record[40];
    for (size_t digits = 1; digits <= 34; digits++) {
        for (int byte = 0; byte < 256; byte++) {
            memset(record, '1', sizeof record);
            record[0] = '[';
            record[digits + 1] = (char)byte;
            record[digits + 3] = ']';
            bool valid = byte && strchr("0123456789.,eE", byte);
            CHECK((result_of(".[0]", record, digits + 4) != JSON_INVALID) == valid, "byte %d after %zu", byte, digits);
        }
    }
}

static void test_depth(void **state) {
    (void)state;
    enum { MUCH = 100000 };
    char *record = malloc(2 * MUCH);
    for (int object = 0; object < 2; object++) {
        for (int depth = JSON_DEPTH - 1; depth <= JSON_DEPTH + 1; depth++) {
            char *at = record;
            for (int i = 0; i < depth; i++) at = stpcpy(at, object ? "{\"a\":" : "[");
            *at++ = '7';
            memset(at, object ? '}' : ']', (size_t)depth);
            size_t length = (size_t)(at - record) + (size_t)depth;
            CHECK((result_of(".a", record, length) == JSON_INVALID) == (depth > JSON_DEPTH), "depth %d", depth);
            CHECK(result_of(".a", record, length - 1) == JSON_INVALID, "depth %d, one bracket open", depth);
        }
    }
    memset(record, '[', MUCH);
    struct answer answer = find_bytes(".", record, MUCH);
    CHECK(answer.result == JSON_INVALID && answer.fault_at == JSON_DEPTH, "at %zu", answer.fault_at);
    CHECK(strstr(answer.fault, "1024"), "%s", answer.fault);
    free(record);
}

static void test_faults(void **state) {
    (void)state;
    check_invalid("", 0, "a value is missing");
    check_invalid("  ", 2, "a value is missing");
    check_invalid("{\"a\":}", 5, "a value is missing");
    check_invalid("[1,]", 3, "a value is missing");
    check_invalid("[1 2]", 3, "',' or ']' is missing");
    check_invalid("{\"a\":1", 6, "',' or '}' is missing");
    check_invalid("{\"a\" 1}", 5, "':' is missing after a name");
    check_invalid("{\"a\":1,}", 7, "a name in quotes is missing");
    check_invalid("{} {}", 3, "more text follows the value");
    check_invalid("[\"abc", 1, "a string does not end");
    check_invalid("[\"a\\x\"]", 3, "there is no such escape");
    check_invalid("[\"a\\u00g0\"]", 3, "\\u is not followed by four hexadecimal digits");
    check_invalid("[\"a\tb\"]", 3, "a control character in a string is not escaped");
    check_invalid("[\"a\xC3\xA9\xFF\"]", 5, "a string is not UTF-8");
    check_invalid("[-]", 2, "a number lacks a digit");
    check_invalid("[-012]", 2, "a number begins with 0");
    check_invalid("[nil]", 1, "a word is not true, false or null");
}

/* ---- which value ---- */

static void test_values(void **state) {
    (void)state;
    check_found(".a", "{\"a\":\"text\"}", "text");
    check_found(".a", " { \"b\" : 1 , \"a\" : \"text\" } ", "text");
    check_found(".a", "{\"a\":\"\"}", "");
    check_found(".a", "{\"a\":-1.50E+3 }", "-1.50E+3");
    check_found(".a", "{\"a\":true,\"b\":false}", "true");
    check_found(".b", "{\"a\":true,\"b\":false}", "false");
    check_found(".a", "{\"a\": [1, {\"a\" : 2 }] }", "[1, {\"a\" : 2 }]");
    check_found(".a", "{\"a\":{}}", "{}");
    check_found(".a.b.c", "{\"a\":{\"b\":{\"c\":\"deep\"}}}", "deep");
    check_found(".a.b", "{\"b\":0,\"x\":{\"b\":1},\"a\":{\"a\":{\"b\":2},\"b\":3},\"c\":{\"b\":4}}", "3");
    check_found(".tags[0]", "{\"tags\":[\"x\",\"y\"]}", "x");
    check_found(".tags[1]", "{\"tags\":[\"x\",\"y\"]}", "y");
    check_found(".[1].a[2]", "[{\"a\":[7,8,9]},{\"a\":[[0],{\"a\":1},2,3]},{\"a\":[4,5,6]}]", "2");
    check_found(".[0][1]", "[[1,2],[3,4]]", "2");
    check_found(".", " \"all\" ", "all");
    check_found(".", " [ 1 ] ", "[ 1 ]");
    check_found(".\"odd name\"", "{\"odd name\":1}", "1");
    check_found(".\"\"", "{\"\":1}", "1");
    check_found(".\"a.b\".c", "{\"a\":{\"b\":{\"c\":2}},\"a.b\":{\"c\":1}}", "1");
    check_found(".gr\xC3\xB6\xC3\x9F"
                "e",
                "{\"gr\\u00f6\\u00DFe\":1}", "1");
    check_found(".@time-stamp", "{\"@time-stamp\":1}", "1");
}

static void test_missing_values(void **state) {
    (void)state;
    check_missing(".a", "{}");
    check_missing(".a", "[]");
    check_missing(".a", "1");
    check_missing(".a", "{\"a\":null}");
    check_missing(".", "null");
    check_missing(".a", "{\"b\":{\"a\":1}}");
    check_missing(".a", "{\"A\":1,\"aa\":1,\"\":1}");
    check_missing(".a.b", "{\"a\":1}");
    check_missing(".a.b", "{\"a\":[{\"b\":1}],\"b\":2}");
    check_missing(".a.b", "{\"a\":{\"c\":{\"b\":1}}}");
    check_missing(".a[0]", "{\"a\":{\"0\":1}}");
    check_missing(".[0]", "{\"\":1}");
    check_missing(".\"0\"", "[1]");
    check_missing(".a[2]", "{\"a\":[1,2]}");
    check_missing(".a[0]", "{\"a\":[]}");
    check_missing(".[0][0]", "[1,[2]]");
    check_missing(".\"a\\\\nb\"", "{\"a\\nb\":1}");
}

/* Of members with the same name the last one counts, with all that is in it. */
static void test_same_names(void **state) {
    (void)state;
    check_found(".a", "{\"a\":1,\"a\":2}", "2");
    check_found(".a", "{\"a\":1,\"\\u0061\":2}", "2");
    check_found(".a", "{\"a\":\"x\\n\",\"\\u0061\":\"y\\\\\",\"\\u0062\":3}", "y\\");
    check_found(".a.b", "{\"a\":{\"b\":1},\"a\":{\"b\":2}}", "2");
    check_found(".a[1]", "{\"a\":[1,2],\"a\":[3,4,5]}", "4");
    check_missing(".a", "{\"a\":1,\"a\":null}");
    check_missing(".a.b", "{\"a\":{\"b\":1},\"a\":{}}");
    check_missing(".a.b", "{\"a\":{\"b\":1},\"a\":1}");
    check_missing(".a.b", "{\"a\":{\"b\":1,\"b\":null}}");
    check_missing(".a[1]", "{\"a\":[1,2],\"a\":[1]}");
}

static void test_escapes(void **state) {
    (void)state;
    check_found(".a", "{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"}", "\"\\/\b\f\n\r\t");
    check_found(".a", "{\"a\":\"1\\u00e92\\u20ac3\\ud834\\udd1e4\"}",
                "1\xC3\xA9"
                "2\xE2\x82\xAC"
                "3\xF0\x9D\x84\x9E"
                "4");
    check_found(".a", "{\"a\":\"\\\\u0041\"}", "\\u0041");
    check_found(".a", "{\"a\":\"\\u007f\\u0080\\u07ff\\u0800\\uffff\"}",
                "\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80\xEF\xBF\xBF");
    check_found(".a", "{\"a\":\"\\udbff\\udfff\"}", "\xF4\x8F\xBF\xBF");
    check_found(".user", "{\"us\\u0065r\":1}", "1");
    check_found(".\"us\\u0065r\"", "{\"user\":1}", "1");
    check_found(".\"a\\\"b\"", "{\"a\\u0022b\":1}", "1");
    check_found(".\"a\\\\nb\"", "{\"a\\nb\":1,\"a\\\\nb\":2}", "2");
    check_missing(".\"a\\nb\"", "{\"a\\\\nb\":1}");
    struct answer answer = find(".a", "{\"a\":\"x\\u0000y\"}");
    CHECK(answer.result == JSON_FOUND && answer.length == 3 && memcmp(answer.key, "x\0y", 3) == 0, "a NUL is a byte");
    free(answer.key);
    check_missing(".a", "{\"a\\u0000\":1}");
    check_found(".\"a\\u0000b\"", "{\"a\\u0000b\":1,\"a\":2}", "1");
}

/* Halves of surrogate pairs stay what they are. */
static void test_surrogates(void **state) {
    (void)state;
    check_found(".", "\"\\ud800\"", "\xED\xA0\x80");
    check_found(".", "\"\\udfffx\"", "\xED\xBF\xBFx");
    check_found(".", "\"\\ud800x\"", "\xED\xA0\x80x");
    check_found(".", "\"\\ud800\\n\"", "\xED\xA0\x80\n");
    check_found(".", "\"\\udc00\\ud800\"", "\xED\xB0\x80\xED\xA0\x80");
    check_found(".", "\"\\ud834\\ud834\\udd1e\"", "\xED\xA0\xB4\xF0\x9D\x84\x9E");
    check_found(".", "\"\\u0041\\udd1e\"", "A\xED\xB4\x9E");
    check_found(".", "\"\\ud834\\u0041\"",
                "\xED\xA0\xB4"
                "A");
}

static void test_where_keys_are(void **state) {
    (void)state;
    static const char *const records[] = {"{\"a\":\"plain\",\"b\\n\":1}", "{\"a\":12}", "{\"a\":[\"\\n\"]}",
                                          "{\"a\":\"\\n\"}"};
    for (size_t i = 0; i < COUNT(records); i++) {
        struct answer answer = find(".a", records[i]);
        CHECK(answer.result == JSON_FOUND && answer.in_record == (i < 3), "%s", records[i]);
        free(answer.key);
    }
}

static void test_long_values(void **state) {
    (void)state;
    enum { MUCH = 1 << 20 };
    char *record = malloc(MUCH + 20), *expected = malloc(MUCH + 1);
    memset(expected, 'x', MUCH);
    expected[MUCH] = 0;
    int length = sprintf(record, "{\"b\":1,\"a\":\"%s\"}", expected);
    CHECK(length == MUCH + 14, "%d", length);
    check_found(".a", record, expected);
    check_missing(".c", record);
    free(record);
    free(expected);
}

/* ---- paths ---- */

static void check_no_path(const char *text, const char *why) {
    struct json_path path;
    const char *said = json_path_parse(text, &path);
    CHECK(said && strstr(said, why), "'%s': %s", text, said ? said : "is taken");
}

static void test_refused_paths(void **state) {
    (void)state;
    static const char *const unfinished[] = {"..", ".a.", ".a..b", ". a", ".]", ".a.]", ".\\"};
    static const char *const further[] = {".a b", ".a\"b\"", ".\"a\"b", ".a]", ".[0]a", ".a\tb", ".a ", ".a\\"};
    static const char *const brackets[] = {
        ".[",      ".[]",   ".a[",    ".a[]",   ".a[1",      ".a[-1]",         ".a[+1]",
        ".a[ 1]",  ".a[x]", ".a[1x]", ".a[1 ]", ".a[\"b\"]", ".a[1000000000]", ".a[99999999999999999999]",
        ".a[0x1]", ".a[*]"};
    check_no_path("", "begin with '.'");
    check_no_path("a", "begin with '.'");
    check_no_path("[0]", "begin with '.'");
    check_no_path("$.a", "begin with '.'");
    for (size_t i = 0; i < COUNT(unfinished); i++) check_no_path(unfinished[i], "no name follows");
    for (size_t i = 0; i < COUNT(further); i++) check_no_path(further[i], "without '.' or '['");
    for (size_t i = 0; i < COUNT(brackets); i++) check_no_path(brackets[i], "0 to 999999999");
    check_no_path(".\"a", "name in quotes");
    check_no_path(".\"\\x\"", "name in quotes");
    check_no_path(".\"\t\"", "name in quotes");
    check_no_path(".\xFF", "UTF-8");
    check_no_path(".\"\xC3\"", "UTF-8");
}

static void test_limits_of_paths(void **state) {
    (void)state;
    char text[JSON_PATH_BYTES + 10] = "", record[4 * JSON_PATH_BYTES];
    for (int i = 0; i < JSON_PATH_STEPS; i++) strcat(text, i % 2 ? "[0]" : ".a");
    struct json_path path = path_of(text), copy = path;
    CHECK(path.count == JSON_PATH_STEPS && memcmp(&copy, &path, sizeof path) == 0, "%u steps", path.count);
    strcat(text, ".a");
    check_no_path(text, "more than 32 steps");
    memset(text, 'n', sizeof text);
    text[0] = '.';
    text[JSON_PATH_BYTES] = 0;
    sprintf(record, "{\"%s\":1}", text + 1);
    check_found(text, record, "1");
    text[JSON_PATH_BYTES] = 'n';
    text[JSON_PATH_BYTES + 1] = 0;
    check_no_path(text, "longer than 512");
    path = path_of(".a[999999999]");
    CHECK(path.count == 2 && path.steps[1].is_position && path.steps[1].position == 999999999, "a large position");
    check_found(".a.[0]", "{\"a\":[1]}", "1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepted),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_blanks),
        cmocka_unit_test(test_each_byte),
        cmocka_unit_test(test_each_byte_in_numbers),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_missing_values),
        cmocka_unit_test(test_same_names),
        cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_surrogates),
        cmocka_unit_test(test_where_keys_are),
        cmocka_unit_test(test_long_values),
        cmocka_unit_test(test_refused_paths),
        cmocka_unit_test(test_limits_of_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
