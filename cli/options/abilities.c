#include "abilities.h"
#include "output/report.h"

#include <perhaps.h>

#include <string.h>

/* Name i belongs to the bit 1 << i of enum perhaps_ability. */
static const char *const names[] = {"add",      "remove", "count", "merge",   "intersect",
                                    "subtract", "grow",   "list",  "in-place"};

enum { ABILITIES = sizeof names / sizeof *names };

const char *abilities_text(unsigned abilities, const char *between, char *buffer, size_t size) {
    *buffer = 0;
    for (size_t i = 0; i < ABILITIES; i++)
        if (abilities >> i & 1) append_text(buffer, size, "%s%s", *buffer ? between : "", names[i]);
    return buffer;
}

bool abilities_parse(const char *text, unsigned *abilities) {
    do {
        text += strspn(text, " ");
        size_t length = strcspn(text, ", "), i = 0;
        while (i < ABILITIES && (strlen(names[i]) != length || strncmp(names[i], text, length) != 0)) i++;
        if (i == ABILITIES) return false;
        *abilities |= 1u << i;
        text += length + strspn(text + length, " ");
    } while (*text == ',' && text++);
    return *text == '\0';
}

void json_abilities(struct json *json, unsigned abilities) {
    json_open(json, "can", '[');
    for (size_t i = 0; i < ABILITIES; i++)
        if (abilities >> i & 1) json_text(json, NULL, names[i]);
    json_close(json, ']');
}

const char *who_can(unsigned abilities, char buffer[KINDS_TEXT]) {
    const struct perhaps_kind_row *kind;
    *buffer = 0;
    for (size_t i = 0; i < ABILITIES; i++) {
        unsigned ability = 1u << i, left = 0;
        if (!(abilities & ability)) continue;
        for (size_t row = 0; (kind = perhaps_kind(row)); row++) left += (kind->can & ability) != 0;
        append_text(buffer, KINDS_TEXT, "%s%s", *buffer ? "; " : "", left ? "" : "no kind");
        const char *between = "";
        for (size_t row = 0; (kind = perhaps_kind(row)); row++) {
            if (!(kind->can & ability)) continue;
            append_text(buffer, KINDS_TEXT, "%s%s", between, kind->name);
            between = --left == 1 ? " and " : ", ";
        }
        append_text(buffer, KINDS_TEXT, " can %s", ability == PERHAPS_IN_PLACE ? "be changed in place" : names[i]);
    }
    return buffer;
}

static const struct perhaps_kind_row *file_kind_row(int kind) {
    for (size_t row = 0; perhaps_file_kind(row); row++)
        if (perhaps_file_kind(row)->kind == kind) return perhaps_file_kind(row);
    return NULL;
}

const struct perhaps_kind_row *kind_row(int kind) {
    for (size_t row = 0; perhaps_kind(row); row++)
        if (perhaps_kind(row)->kind == kind) return perhaps_kind(row);
    return file_kind_row(kind);
}

bool is_static_kind(int kind) {
    return perhaps_kind_traits(kind) & PERHAPS_STATIC;
}

bool is_file_kind(int kind) {
    return file_kind_row(kind) != NULL;
}

const char *file_kinds_text(const char *between, char buffer[KINDS_TEXT]) {
    *buffer = 0;
    for (size_t row = 0; perhaps_file_kind(row); row++)
        append_text(buffer, KINDS_TEXT, "%s%s", perhaps_file_kind(row)->name, between);
    append_text(buffer, KINDS_TEXT, "roaring%sroaring64", between);
    return buffer;
}

const char *kind_name(int kind) {
    static const char *const others[] = {"growing", "window", "sharded", "redis_bloom", "redis_cuckoo"};
    const struct perhaps_kind_row *row = kind_row(kind);
    return row ? row->name : others[kind - PERHAPS_GROWING];
}

const char *kind_summary(int kind) {
    const struct perhaps_kind_row *row = kind_row(kind);
    return row ? row->summary : "a filter of RedisBloom, bit for bit";
}

/* A kind of integers is never chosen for keys that may be anything. */
bool needs_can_be_met(unsigned abilities) {
    const struct perhaps_kind_row *kind;
    for (size_t row = 0; (kind = perhaps_kind(row)); row++)
        if (perhaps_kind_traits(kind->kind) & PERHAPS_TAKES_BYTES && !(abilities & ~kind->can)) return true;
    return false;
}

enum { ADVICE = KINDS_TEXT + 60 };

static const char *advice_for(unsigned ability, char advice[ADVICE]) {
    char who[KINDS_TEXT], name[20];
    who_can(ability, who);
    if (needs_can_be_met(ability))
        snprintf(advice, ADVICE, "%s: build one with --needs %s", who, abilities_text(ability, " ", name, sizeof name));
    else
        snprintf(advice, ADVICE, "%s, for keys that are integers: build one with -k bitmap", who);
    return advice;
}

/* Where the kind that a composite filter is made of can do it, the composite stands in the way. */
static const char *advice_about(const struct perhaps_info *info, unsigned ability, char advice[ADVICE]) {
    const struct perhaps_kind_row *base = info->children ? kind_row(info->base) : NULL;
    if (!base || !(base->can & ability)) return advice_for(ability, advice);
    return info->kind == PERHAPS_WINDOW    ? "build it without --window"
           : info->kind == PERHAPS_SHARDED ? "build it without --shards"
                                           : "build it with -n and without --grow";
}

int cannot_failure(const char *subject, const struct perhaps_info *info, unsigned ability) {
    char advice[ADVICE];
    return reason_failure(subject, advice_about(info, ability, advice));
}

int lacks_failure(const char *subject, const struct perhaps_info *info, unsigned ability) {
    char advice[ADVICE];
    const char *what = ability == PERHAPS_REMOVE  ? "remove keys"
                       : ability == PERHAPS_COUNT ? "count copies of a key"
                                                  : "list their members";
    return failure(subject, "%s filters%s%s cannot %s; %s", info->kind_name, info->children ? " over " : "",
                   info->children ? kind_name(info->base) : "", what, advice_about(info, ability, advice));
}
