/* The names of what filters can do: add, remove, count, ..., and which kinds can. */
#ifndef CLI_OPTIONS_ABILITIES_H
#define CLI_OPTIONS_ABILITIES_H

#include <perhaps.h>

#include <stdbool.h>
#include <stddef.h>

/* A set as text: "add, merge" with ", " between. Returns `buffer`. */
const char *abilities_text(unsigned abilities, const char *between, char *buffer, size_t size);

/* Adds "add,merge" to a set. */
bool abilities_parse(const char *text, unsigned *abilities);

/* A set as the array `can` of a JSON object. */
struct json;
void json_abilities(struct json *json, unsigned abilities);

enum { KINDS_TEXT = 400 };

/* Which kinds can do each of these: "counting and cuckoo can remove; ...". Returns `buffer`. */
const char *who_can(unsigned abilities, char buffer[KINDS_TEXT]);

/* The row of a kind in the table of kinds; NULL for PERHAPS_ANY and composite filters. */
const struct perhaps_kind_row *kind_row(int kind);

/* Is it made of all its keys at once, and never changed then? */
bool is_static_kind(int kind);

/* Is it a foreign format? */
bool is_file_kind(int kind);

/* The names of these and of Roaring bitmaps, "dcso, ..., roaring". Returns `buffer`. */
const char *file_kinds_text(const char *between, char buffer[KINDS_TEXT]);

/* "bloom", "growing", ...; of composite filters too. */
const char *kind_name(int kind);

/* Half a sentence about it. Not for composite filters. */
const char *kind_summary(int kind);

/* Does a kind that is chosen without being named have all of these? */
bool needs_can_be_met(unsigned abilities);

/* After PERHAPS_ECANNOT for lack of this ability: the library's reason, and which kinds can.
 * Returns TROUBLE. */
int cannot_failure(const char *subject, const struct perhaps_info *info, unsigned ability);

/* The same before any call: a filter of this kind cannot remove, count or list. Returns TROUBLE. */
int lacks_failure(const char *subject, const struct perhaps_info *info, unsigned ability);

#endif
