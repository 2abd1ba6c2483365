#include "server_set.h"
#include "output/numbers.h"
#include "output/report.h"

#include <stdlib.h>
#include <string.h>

enum { USUAL_PATIENCE = 60 };

const char *const set_kind_names[SET_KINDS] = {"BF", "CF", "bits"};

unsigned shard_of_item(const struct set *set, const void *item, size_t length) {
    return set->shards == 1 ? 0 : crc16(item, length) % set->shards;
}

const char *set_key(const struct set *set, unsigned shard, char key[KEY_TEXT]) {
    if (set->single)
        snprintf(key, KEY_TEXT, "%s", set->url.name);
    else
        snprintf(key, KEY_TEXT, "%s:%u", set->url.name, shard);
    return key;
}

/* ---- errors ---- */

static const struct remedy {
    const char *error, *remedy;
} remedies[] = {
    {"unknown command", "load the module perhaps.so there, or keep the set in plain strings: redis+bits://"},
    {"OOM", "it has reached its maxmemory: give it more, or spread the set over more servers"},
    {"NOPERM", "give a user who may, or have this one allowed it (ACL SETUSER)"},
    {"NOAUTH", "give redis://user:password@HOST:PORT/NAME"},
    {"WRONGTYPE", "another program has put something there; take another NAME"},
    {"ot found", "a part of the set is gone: build it again with -f"},
    {"full", "build it again with a larger -n, or without --no-grow"},
    {"MISCONF", "it cannot save its data: see to its disk"},
};

int set_refused(const struct set *set, const char *key, const redisReply *reply) {
    if (reply->type != REDIS_REPLY_ERROR)
        return failure(set->url.shown, "%s: unexpected answer; is this a Redis or Valkey server?", key);
    const char *arguments = strstr(reply->str, ", with args");
    int length = arguments ? (int)(arguments - reply->str) : (int)reply->len;
    for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++)
        if (strstr(reply->str, remedies[i].error))
            return failure(set->url.shown, "%s: the server says '%.*s'; %s", key, length, reply->str,
                           remedies[i].remedy);
    return failure(set->url.shown, "%s: the server says '%.*s'", key, length, reply->str);
}

/* ---- queries ---- */

int set_ask(struct set *set, struct requests *requests, reply_function *function, void *context) {
    int status = cluster_run(&set->cluster, requests, function, context);
    requests_free(requests);
    return status;
}

int set_ask_shards(struct set *set, const char *command, const char *words, reply_function *function, void *context) {
    struct requests requests = {0};
    char key[KEY_TEXT];
    size_t n = *words ? 3 : 2;
    for (const char *c = words; *c; c++) n += *c == ' ';
    for (unsigned shard = 0; shard < set->shards; shard++) {
        struct request *request = request_begin(&requests, command, set_key(set, shard, key), n);
        if (!request) break;
        request->shard = shard;
        text_words(&requests.text, words);
        request_end(&requests);
    }
    return set_ask(set, &requests, function, context);
}

bool set_type_is_filter(const char *type) {
    return strncmp(type, "MBbloom", 7) == 0 || strncmp(type, "perhaps", 7) == 0;
}

int set_check_shard(const struct set *set, unsigned shard, const redisReply *reply) {
    char key[KEY_TEXT];
    set_key(set, shard, key);
    bool bits = set->kind == SET_BITS;
    if (reply->type == REDIS_REPLY_ERROR || (!bits && !reply->str)) return set_refused(set, key, reply);
    if (bits ? (uint64_t)reply->integer >= (set->bits + 7) / 8 : set_type_is_filter(reply->str)) return FINE;
    if (!bits && strcmp(reply->str, "none") != 0)
        return failure(set->url.shown, "%s holds a %s, not a filter, so the set is incomplete; build it again with -f",
                       key, reply->str);
    return failure(set->url.shown,
                   "%s is missing, so the set is incomplete; build it again with -f, and let the server save its data "
                   "(appendonly yes)",
                   key);
}

static int ask_about(struct set *set, const char *command, reply_function *function, void *context) {
    struct requests requests = {0};
    if (request_begin(&requests, command, set->url.name, 2)) request_end(&requests);
    return set_ask(set, &requests, function, context);
}

struct type_answer {
    const struct set *set;
    char *type;
};

static int take_type(void *context, const struct request *request, const redisReply *reply) {
    struct type_answer *answer = context;
    (void)request;
    if (reply->type != REDIS_REPLY_STATUS) return set_refused(answer->set, answer->set->url.name, reply);
    snprintf(answer->type, 32, "%s", reply->str);
    return FINE;
}

int set_type(struct set *set, char type[32]) {
    return ask_about(set, "TYPE", take_type, &(struct type_answer){set, type});
}

/* ---- the hash ---- */

static bool field_is(const redisReply *field, const char *name) {
    return field->type == REDIS_REPLY_STRING && strcmp(field->str, name) == 0;
}

/* A form of keys, or of records, that this version does not know is UNKNOWN to it. */
enum { UNKNOWN_FORM = -1, UNKNOWN_RECORDS = 128 };

static void take_recipe(perhaps_recipe *recipe, const char *name, const char *value, uint64_t number) {
    if (strcmp(name, "key") == 0 && !recipe_key_from(value, recipe)) recipe->form = UNKNOWN_FORM;
    if (strcmp(name, "field") == 0) recipe->field = number <= UINT32_MAX ? (uint32_t)number : 0;
    if (strcmp(name, "delimiter") == 0) recipe->delimiter = number < 256 ? (int)number : 0;
    if (strcmp(name, "header") == 0) recipe->header = number != 0;
    if (strcmp(name, "trim") == 0) recipe->trim = number != 0;
    if (strcmp(name, "where") == 0) snprintf(recipe->where, sizeof recipe->where, "%s", value);
    if (strcmp(name, "records") == 0) recipe->unknown = recipe_records_from(value, recipe) ? 0 : UNKNOWN_RECORDS;
}

/* Unknown fields belong to other programs. */
static void take_field(struct set *set, const char *name, const char *value) {
    uint64_t number = 0;
    parse_number(value, false, &number);
    if (strcmp(name, "shards") == 0) set->shards = number <= MOST_SHARDS ? (unsigned)number : 0;
    if (strcmp(name, "items") == 0) set->items = number;
    if (strcmp(name, "fpr") == 0) parse_rate(value, &set->fpr);
    if (strcmp(name, "bits") == 0) set->bits = number;
    if (strcmp(name, "hashes") == 0) set->hashes = number <= MOST_HASHES ? (unsigned)number : 0;
    if (strcmp(name, "seed") == 0) snprintf(set->seed, sizeof set->seed, "%s", value);
    if (strcmp(name, "key") == 0) set->tells_recipe = true;
    take_recipe(&set->recipe, name, value, number);
    if (strcmp(name, "making") == 0) snprintf(set->making, sizeof set->making, "%s", value);
    for (int kind = 0; kind < SET_KINDS && strcmp(name, "kind") == 0; kind++)
        if (strcmp(value, set_kind_names[kind]) == 0) set->kind = (enum set_kind)kind;
}

void set_read_fields(struct set *set, const char *text) {
    for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
        char line[FIELDS_TEXT], *space;
        snprintf(line, sizeof line, "%.*s", (int)(end - text), text);
        if (!(space = strchr(line, ' '))) continue;
        *space = 0;
        take_field(set, line, space + 1);
    }
}

void set_write_fields(const struct set *set, char text[FIELDS_TEXT]) {
    const perhaps_recipe *recipe = &set->recipe;
    int length = snprintf(text, FIELDS_TEXT, "shards %u\nkind %s\nitems %llu\nfpr %.15g\nkey %s\n", set->shards,
                          set_kind_names[set->kind], (unsigned long long)set->items, set->fpr, recipe_key_name(recipe));
    if (recipe->records)
        length += snprintf(text + length, FIELDS_TEXT - (size_t)length, "records %s\n", recipe_records_name(recipe));
    if (recipe->field)
        length += snprintf(text + length, FIELDS_TEXT - (size_t)length, "field %u\n", (unsigned)recipe->field);
    if (recipe->delimiter)
        length += snprintf(text + length, FIELDS_TEXT - (size_t)length, "delimiter %d\n", recipe->delimiter);
    if (*recipe->where) length += snprintf(text + length, FIELDS_TEXT - (size_t)length, "where %s\n", recipe->where);
    if (recipe->header) length += snprintf(text + length, FIELDS_TEXT - (size_t)length, "header 1\n");
    if (recipe->trim) length += snprintf(text + length, FIELDS_TEXT - (size_t)length, "trim 1\n");
    if (set->kind == SET_BITS)
        snprintf(text + length, FIELDS_TEXT - (size_t)length, "bits %llu\nhashes %u\nseed %s\n",
                 (unsigned long long)set->bits, set->hashes, set->seed);
}

static int take_hash(void *context, const struct request *request, const redisReply *reply) {
    struct set *set = context;
    char making[FIELDS_TEXT];
    (void)request;
    if (reply->type != REDIS_REPLY_ARRAY) return set_refused(set, set->url.name, reply);
    set->kind = SET_KINDS;
    set->tells_recipe = false;
    set->recipe = PERHAPS_RECIPE(.form = 0);
    *set->making = 0;
    for (size_t i = 0; i + 1 < reply->elements; i += 2) {
        const redisReply *name = reply->element[i], *value = reply->element[i + 1];
        if (name->type == REDIS_REPLY_STRING && value->type == REDIS_REPLY_STRING)
            take_field(set, name->str, value->str);
    }
    /* A set that has all of its fields is finished, whoever else began to make it. */
    memcpy(making, set->making, sizeof making);
    if (set->kind == SET_KINDS)
        set_read_fields(set, making);
    else
        *set->making = 0;
    return FINE;
}

int set_read(struct set *set) {
    set->single = false;
    if (ask_about(set, "HGETALL", take_hash, set) != FINE) return TROUBLE;
    bool valid = set->shards && !(set->shards & (set->shards - 1)) && set->kind != SET_KINDS;
    if (set->kind == SET_BITS) valid = valid && set->bits && set->bits <= most_bits && set->hashes;
    if (valid) return FINE;
    return failure(set->url.shown, "the hash there does not describe a set of perhaps; choose another NAME");
}

/* ---- a single filter ---- */

/* Is it a cuckoo filter, or made of such? The PERHAPS.INFO of a composite filter has that of others
 * inside it. */
static bool has_cuckoo(const redisReply *reply) {
    for (size_t i = 0; reply->type == REDIS_REPLY_ARRAY && i < reply->elements; i++) {
        bool kind = i && field_is(reply->element[i - 1], "kind");
        if ((kind && field_is(reply->element[i], "cuckoo")) || has_cuckoo(reply->element[i])) return true;
    }
    return false;
}

/* A filter that was loaded from a file knows where its keys stood in records, but not what the
 * clients' keys are. */
static int take_info(void *context, const struct request *request, const redisReply *reply) {
    struct set *set = context;
    (void)request;
    if (reply->type != REDIS_REPLY_ARRAY) return set_refused(set, set->url.name, reply);
    if (has_cuckoo(reply)) set->kind = SET_CUCKOO;
    for (size_t i = 0; i + 1 < reply->elements; i += 2) {
        const redisReply *name = reply->element[i], *value = reply->element[i + 1];
        bool text = value->type == REDIS_REPLY_STRING;
        if (field_is(name, "key") || name->type != REDIS_REPLY_STRING) continue;
        uint64_t byte = text && field_is(name, "delimiter") ? (unsigned char)value->str[0] : 0;
        if (text) take_recipe(&set->recipe, name->str, value->str, byte);
        if (value->type == REDIS_REPLY_INTEGER) take_recipe(&set->recipe, name->str, "", (uint64_t)value->integer);
    }
    return FINE;
}

/* ---- opening ---- */

int set_connect(struct set *set, const struct options *options) {
    *set = (struct set){.shards = 1};
    if (url_parse(&set->url, options->at) != FINE) return TROUBLE;
    return cluster_open(&set->cluster, &set->url, given(options, OPT_PATIENCE) ? options->patience : USUAL_PATIENCE);
}

int set_open(struct set *set, const struct options *options) {
    char type[32];
    if (set_connect(set, options) != FINE || set_type(set, type) != FINE) return TROUBLE;
    if (strcmp(type, "none") == 0)
        return failure(set->url.shown, "there is no such set; make it with 'perhaps build --at'");
    if (set_find(set, type) != FINE) return TROUBLE;
    if (!*set->making) return FINE;
    return failure(set->url.shown,
                   "is not finished; 'perhaps dedup --at' makes it, and finishes it after an interruption");
}

int set_find(struct set *set, const char *type) {
    bool ours = strncmp(type, "perhaps", 7) == 0, filter = set_type_is_filter(type);
    if (!filter && strcmp(type, "hash") != 0)
        return failure(set->url.shown, "the key holds a %s, not a set or a filter; choose another NAME", type);
    if (filter) {
        set->single = true;
        set->shards = 1;
        set->tells_recipe = false;
        set->recipe = PERHAPS_RECIPE(.form = 0);
        set->kind = strcmp(type, "MBbloomCF") == 0 ? SET_CUCKOO : SET_BLOOM;
    }
    if (ours && ask_about(set, "PERHAPS.INFO", take_info, set) != FINE) return TROUBLE;
    if (!filter && set_read(set) != FINE) return TROUBLE;
    if (set->tells_recipe && set->recipe.form == UNKNOWN_FORM)
        return failure(set->url.shown, "its keys are encoded in a way that this version does not know; update perhaps");
    set->seen = calloc(set->shards, sizeof *set->seen);
    return set->seen ? FINE : failure(NULL, "not enough memory");
}

void set_close(struct set *set) {
    cluster_close(&set->cluster);
    free(set->seen);
}
