#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct settings settings = {.layout = LAYOUT_NATIVE,
                            .bf_error_rate = 0.01,
                            .cf_error_rate = 0.01,
                            .bf_initial_size = 100,
                            .bf_expansion_factor = 2,
                            .cf_initial_size = 1024,
                            .cf_bucket_size = 2,
                            .cf_max_iterations = 20,
                            .cf_expansion_factor = 1,
                            .cf_max_expansions = 32};

/* ---- the table ---- */

struct number_setting {
    const char *name, *old_name; /* the old one is RedisBloom's, for loading */
    long long *at, least, most;
    bool is_memory; /* bytes, which may have a unit; not in RedisBloom */
};

static const struct number_setting numbers[] = {
    {"bf-initial-size", "INITIAL_SIZE", &settings.bf_initial_size, 1, MOST_CAPACITY, false},
    {"bf-expansion-factor", NULL, &settings.bf_expansion_factor, 0, MOST_EXPANSION, false},
    {"cf-initial-size", NULL, &settings.cf_initial_size, 2, MOST_CAPACITY, false},
    {"cf-bucket-size", NULL, &settings.cf_bucket_size, 1, MOST_BUCKET, false},
    {"cf-max-iterations", NULL, &settings.cf_max_iterations, 1, MOST_ITERATIONS, false},
    {"cf-expansion-factor", NULL, &settings.cf_expansion_factor, 0, MOST_EXPANSION, false},
    {"cf-max-expansions", "CF_MAX_EXPANSIONS", &settings.cf_max_expansions, 1, MOST_EXPANSIONS, false},
    {"filter-memory-limit", NULL, &settings.filter_memory_limit, 0, INT64_MAX, true},
};

struct rate_setting {
    const char *name, *old_name;
    double *at;
    bool in_redisbloom;
};

static const struct rate_setting rates[] = {
    {"bf-error-rate", "ERROR_RATE", &settings.bf_error_rate, true},
    {"cf-error-rate", NULL, &settings.cf_error_rate, false},
};

/* One of two words. */
struct choice_setting {
    const char *name;
    int *at;
    const char *words[2];
    const char *wrong; /* said of other words */
};

static struct choice_setting choices[] = {
    {"layout",
     &settings.layout,
     {[LAYOUT_NATIVE] = "native", [LAYOUT_REDISBLOOM] = "redisbloom"},
     "the layout is native or redisbloom"},
    {"huge-pages", &settings.huge_pages, {"no", "yes"}, "huge pages are wanted, yes or no"},
};

enum {
    NUMBERS = sizeof numbers / sizeof numbers[0],
    RATES = sizeof rates / sizeof rates[0],
    CHOICES = sizeof choices / sizeof choices[0]
};

/* ---- values from strings; each gives NULL or what is wrong ---- */

static const char *set_rate(const struct rate_setting *rate, const char *text) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value > 0 && value < 1)) return "an error rate is a number between 0 and 1";
    *rate->at = value;
    return NULL;
}

/* Units are those of the server: k is 1000, kb is 1024; -1 if there is no such unit. */
static long long unit_of(const char *text) {
    static const char *const units[] = {"", "b", "k", "kb", "m", "mb", "g", "gb"};
    static const long long bytes[] = {1, 1, 1000, 1 << 10, 1000000, 1 << 20, 1000000000, 1 << 30};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcasecmp(text, units[i]) == 0) return bytes[i];
    return -1;
}

static const char *set_number(const struct number_setting *number, const char *text) {
    char *end;
    long long value = strtoll(text, &end, 10), unit = number->is_memory && end != text ? unit_of(end) : 1;
    if (number->is_memory && unit > 0) {
        end = "";
        if (__builtin_mul_overflow(value, unit, &value)) return "not a number, or out of range";
    }
    if (end == text || *end || value < number->least || value > number->most) return "not a number, or out of range";
    *number->at = value;
    return NULL;
}

static const char *set_choice(const struct choice_setting *choice, const char *text) {
    for (int i = 0; i < 2; i++) {
        if (strcasecmp(text, choice->words[i]) != 0) continue;
        *choice->at = i;
        return NULL;
    }
    return choice->wrong;
}

static int hex_digit(char c) {
    const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c | 0x20) : NULL;
    return at ? (int)(at - digits) : -1;
}

static const char *set_hash_key(const char *text) {
    uint8_t key[sizeof settings.hash_key];
    if (*text && strlen(text) != 2 * sizeof key) return "a hash key has 32 hexadecimal digits, or none for random keys";
    for (size_t i = 0; *text && i < sizeof key; i++) {
        int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0) return "a hash key has hexadecimal digits only";
        key[i] = (uint8_t)(high << 4 | low);
    }
    settings.has_hash_key = *text;
    if (*text) memcpy(settings.hash_key, key, sizeof key);
    return NULL;
}

static void show_hash_key(char text[33]) {
    text[0] = 0;
    for (size_t i = 0; settings.has_hash_key && i < sizeof settings.hash_key; i++)
        snprintf(text + 2 * i, 3, "%02x", settings.hash_key[i]);
}

static const char *set_prefix(const char *text) {
    size_t length = strlen(text);
    if (!length || length > sizeof settings.prefix - 2 || strpbrk(text, " |\t\r\n"))
        return "a prefix has 1 to 31 characters, without blanks and |";
    snprintf(settings.prefix, sizeof settings.prefix, "%.31s.", text);
    return NULL;
}

/* ---- as pairs when loading ---- */

static bool is_called(const char *name, const char *old_name, const char *given) {
    return strcasecmp(given, name) == 0 || (old_name && strcasecmp(given, old_name) == 0);
}

static const char *set_pair(const char *name, const char *value) {
    if (strcasecmp(name, "PREFIX") == 0) return set_prefix(value);
    if (strcasecmp(name, "hash-key") == 0) return set_hash_key(value);
    for (int i = 0; i < CHOICES; i++)
        if (is_called(choices[i].name, NULL, name)) return set_choice(&choices[i], value);
    for (int i = 0; i < NUMBERS; i++)
        if (is_called(numbers[i].name, numbers[i].old_name, name)) return set_number(&numbers[i], value);
    for (int i = 0; i < RATES; i++)
        if (is_called(rates[i].name, rates[i].old_name, name)) return set_rate(&rates[i], value);
    return "there is no such setting; there are PREFIX, layout, hash-key, huge-pages, filter-memory-limit, bf-... and "
           "cf-..., see docs/server-operating.md";
}

static bool set_pairs(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    for (int i = 0; i < argc; i += 2) {
        const char *name = RedisModule_StringPtrLen(argv[i], NULL);
        const char *value = i + 1 < argc ? RedisModule_StringPtrLen(argv[i + 1], NULL) : NULL;
        const char *wrong = value ? set_pair(name, value) : "it has no value";
        if (!wrong) continue;
        RedisModule_Log(ctx, "warning", "perhaps was not loaded: %s: %s", name, wrong);
        return false;
    }
    return true;
}

/* ---- as settings of the server ---- */

static int refuse(RedisModuleString **error, const char *wrong) {
    if (wrong) *error = RedisModule_CreateString(NULL, wrong, strlen(wrong));
    return wrong ? REDISMODULE_ERR : REDISMODULE_OK;
}

static long long get_number(const char *name, void *number) {
    (void)name;
    return *((const struct number_setting *)number)->at;
}

static int apply_number(const char *name, long long value, void *number, RedisModuleString **error) {
    (void)name, (void)error;
    *((const struct number_setting *)number)->at = value;
    return REDISMODULE_OK;
}

/* The last setting that the server got as a string: it must stay valid after the call. */
static RedisModuleString *shown;

static RedisModuleString *show(const char *text) {
    if (shown) RedisModule_FreeString(NULL, shown);
    return shown = RedisModule_CreateString(NULL, text, strlen(text));
}

static RedisModuleString *get_rate(const char *name, void *rate) {
    char text[32];
    (void)name;
    snprintf(text, sizeof text, "%.9g", *((const struct rate_setting *)rate)->at);
    return show(text);
}

static int apply_rate(const char *name, RedisModuleString *value, void *rate, RedisModuleString **error) {
    (void)name;
    return refuse(error, set_rate(rate, RedisModule_StringPtrLen(value, NULL)));
}

static RedisModuleString *get_hash_key(const char *name, void *unused) {
    char text[33];
    (void)name, (void)unused;
    show_hash_key(text);
    return show(text);
}

static int apply_hash_key(const char *name, RedisModuleString *value, void *unused, RedisModuleString **error) {
    (void)name, (void)unused;
    return refuse(error, set_hash_key(RedisModule_StringPtrLen(value, NULL)));
}

static int get_choice(const char *name, void *choice) {
    (void)name;
    return *((const struct choice_setting *)choice)->at;
}

static int apply_choice(const char *name, int value, void *choice, RedisModuleString **error) {
    (void)name, (void)error;
    *((const struct choice_setting *)choice)->at = value;
    return REDISMODULE_OK;
}

static int register_choice(RedisModuleCtx *ctx, struct choice_setting *choice) {
    static const int values[] = {0, 1};
    return RedisModule_RegisterEnumConfig(ctx, choice->name, *choice->at, REDISMODULE_CONFIG_DEFAULT, choice->words,
                                          values, 2, get_choice, apply_choice, NULL, choice);
}

typedef int (*register_function)(RedisModuleCtx *ctx, const char *name, unsigned flags, const void *row);

static int register_rate(RedisModuleCtx *ctx, const char *name, unsigned flags, const void *row) {
    const struct rate_setting *rate = row;
    char text[32];
    snprintf(text, sizeof text, "%.9g", *rate->at);
    return RedisModule_RegisterStringConfig(ctx, name, text, flags, get_rate, apply_rate, NULL,
                                            (void *)(uintptr_t)rate);
}

static int register_number(RedisModuleCtx *ctx, const char *name, unsigned flags, const void *row) {
    const struct number_setting *number = row;
    if (number->is_memory) flags |= REDISMODULE_CONFIG_MEMORY;
    return RedisModule_RegisterNumericConfig(ctx, name, *number->at, flags, number->least, number->most, get_number,
                                             apply_number, NULL, (void *)(uintptr_t)number);
}

/* A setting that RedisBloom has too gets its name there as an alias, unless that is taken. */
static int register_setting(RedisModuleCtx *ctx, const char *name, bool in_redisbloom, register_function with,
                            const void *row) {
    char names[80];
    snprintf(names, sizeof names, "perhaps.%s|%s", name, name);
    if (in_redisbloom && modapi_has_aliases() && with(ctx, names, REDISMODULE_CONFIG_UNPREFIXED, row) == REDISMODULE_OK)
        return REDISMODULE_OK;
    return with(ctx, name, REDISMODULE_CONFIG_DEFAULT, row);
}

bool settings_load(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    char key[33];
    if (!set_pairs(ctx, argv, argc)) return false;
    show_hash_key(key);
    int bad = RedisModule_RegisterStringConfig(ctx, "hash-key", key, REDISMODULE_CONFIG_SENSITIVE, get_hash_key,
                                               apply_hash_key, NULL, NULL);
    for (int i = 0; i < CHOICES; i++) bad |= register_choice(ctx, &choices[i]);
    for (int i = 0; i < NUMBERS; i++)
        bad |= register_setting(ctx, numbers[i].name, !numbers[i].is_memory, register_number, &numbers[i]);
    for (int i = 0; i < RATES; i++)
        bad |= register_setting(ctx, rates[i].name, rates[i].in_redisbloom, register_rate, &rates[i]);
    bad |= RedisModule_LoadConfigs(ctx);
    if (bad) RedisModule_Log(ctx, "warning", "perhaps was not loaded: the server refused one of its settings");
    return !bad;
}

/* ---- the prefix ---- */

const char *command_name(const char *name) {
    static char text[64];
    if (!settings.prefix[0]) return name;
    snprintf(text, sizeof text, "%s%s", settings.prefix, name);
    return text;
}
