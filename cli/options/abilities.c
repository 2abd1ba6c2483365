#include "abilities.h"
#include "output/report.h"

#include <perhaps.h>

#include <stdio.h>
#include <string.h>

/* Name i belongs to the bit 1 << i of enum perhaps_ability. */
static const char *const names[] = {"add",      "remove", "count", "merge",   "intersect",
                                    "subtract", "grow",   "list",  "in-place"};

enum { ABILITIES = sizeof names / sizeof *names };

const char *abilities_text(unsigned abilities, const char *between, char *buffer, size_t size) {
    size_t used = 0;
    *buffer = 0;
    for (size_t i = 0; i < ABILITIES && used < size; i++) {
        if (!(abilities >> i & 1)) continue;
        used += (size_t)snprintf(buffer + used, size - used, "%s%s", used ? between : "", names[i]);
    }
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

/* Appends "a, b and c can WHAT". */
static size_t append_who(unsigned ability, char *buffer, size_t size, size_t used) {
    char what[40];
    size_t left = 0;
    for (size_t row = 0; perhaps_kind(row); row++) left += !(ability & ~perhaps_kind(row)->can);
    if (!left) used += (size_t)snprintf(buffer + used, size - used, "no kind");
    bool first = true;
    for (size_t row = 0; perhaps_kind(row) && used < size; row++) {
        if (ability & ~perhaps_kind(row)->can) continue;
        const char *between = first ? "" : left == 1 ? " and " : ", ";
        used += (size_t)snprintf(buffer + used, size - used, "%s%s", between, perhaps_kind(row)->name);
        first = false;
        left--;
    }
    if (used >= size) return size;
    abilities_text(ability, " ", what, sizeof what);
    bool place = ability == PERHAPS_IN_PLACE;
    return used + (size_t)snprintf(buffer + used, size - used, " can %s", place ? "be changed in place" : what);
}

const char *who_can(unsigned ability, char buffer[KINDS_TEXT]) {
    append_who(ability, buffer, KINDS_TEXT, 0);
    return buffer;
}

const char *who_can_each(unsigned abilities, char buffer[KINDS_TEXT]) {
    size_t used = 0;
    for (size_t i = 0; i < ABILITIES && used < KINDS_TEXT; i++) {
        if (!(abilities >> i & 1)) continue;
        if (used) used += (size_t)snprintf(buffer + used, KINDS_TEXT - used, "; ");
        if (used < KINDS_TEXT) used = append_who(1u << i, buffer, KINDS_TEXT, used);
    }
    return buffer;
}

const struct perhaps_kind_row *kind_row(int kind) {
    for (size_t row = 0; perhaps_kind(row); row++)
        if (perhaps_kind(row)->kind == kind) return perhaps_kind(row);
    for (size_t row = 0; perhaps_file_kind(row); row++)
        if (perhaps_file_kind(row)->kind == kind) return perhaps_file_kind(row);
    return NULL;
}

bool is_static_kind(int kind) {
    return perhaps_kind_traits(kind) & PERHAPS_STATIC;
}

bool is_file_kind(int kind) {
    for (size_t row = 0; perhaps_file_kind(row); row++)
        if (perhaps_file_kind(row)->kind == kind) return true;
    return false;
}

const char *file_kinds_text(const char *between, char buffer[KINDS_TEXT]) {
    size_t used = 0;
    *buffer = 0;
    for (size_t row = 0; perhaps_file_kind(row) && used < KINDS_TEXT; row++)
        used += (size_t)snprintf(buffer + used, KINDS_TEXT - used, "%s%s", perhaps_file_kind(row)->name, between);
    if (used < KINDS_TEXT) snprintf(buffer + used, KINDS_TEXT - used, "roaring%sroaring64", between);
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

static const char *advice_for(unsigned ability, char *advice, size_t size) {
    char who[KINDS_TEXT], name[20];
    who_can(ability, who);
    abilities_text(ability, " ", name, sizeof name);
    if (ability == PERHAPS_IN_PLACE)
        snprintf(advice, size, "leave out --in-place");
    else if (needs_can_be_met(ability))
        snprintf(advice, size, "%s: build one with --needs %s", who, name);
    else
        snprintf(advice, size, "%s, for keys that are integers: build one with -k bitmap", who);
    return advice;
}

int cannot_failure(const char *subject, unsigned ability) {
    char advice[KINDS_TEXT + 60];
    return reason_failure(subject, advice_for(ability, advice, sizeof advice));
}

int lacks_failure(const char *subject, const char *kind, unsigned ability) {
    char advice[KINDS_TEXT + 60];
    const char *what = ability == PERHAPS_REMOVE  ? "forget single keys"
                       : ability == PERHAPS_COUNT ? "count copies of a key"
                                                  : "list their members";
    return failure(subject, "%s filters cannot %s; %s", kind, what, advice_for(ability, advice, sizeof advice));
}
