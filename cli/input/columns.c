#include "columns.h"

#include <string.h>

/* Takes a name without quotes, up to a comma, or with them; where it ends. NULL if the quotes do
 * not close, or something follows them. */
static const char *take_name(struct column_list *list, const char *at, size_t *used) {
    bool quoted = *at == '"', closed = !quoted;
    size_t from = *used;
    for (at += quoted; *at && (quoted || *at != ','); at++) {
        if (quoted && *at == '"' && *++at != '"') {
            closed = true;
            break;
        }
        list->names[(*used)++] = *at;
    }
    if (!closed || (*at && *at != ',')) return NULL;
    list->columns[list->n].number = 0;
    list->columns[list->n].name = (uint16_t)from;
    list->columns[list->n].length = (uint16_t)(*used - from);
    list->named = true;
    return at;
}

/* NULL, or why it is no number of a field. */
static const char *take_number(struct column_list *list, const char *at, size_t length) {
    uint64_t number = 0;
    for (size_t i = 0; i < length && number < NO_COLUMN; i++) number = 10 * number + (uint64_t)(at[i] - '0');
    list->columns[list->n].number = (uint32_t)number;
    list->columns[list->n].name = list->columns[list->n].length = 0;
    if (number >= NO_COLUMN) return "has a number that is too large; give less than 2^32-1";
    return number ? NULL : "is not a list of fields: their numbers begin with 1; 0, alone, is the whole line";
}

const char *columns_parse(const char *text, struct column_list *list) {
    size_t used = 0;
    *list = (struct column_list){.n = 0};
    if (strcmp(text, "0") == 0) return NULL;
    if (strlen(text) >= COLUMNS_TEXT) return "is longer than 255 bytes; rename columns, or give their numbers";
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127) return "has a control character; give the column's number";
    for (const char *at = text;; at++) {
        size_t digits = strspn(at, "0123456789");
        if (list->n == MOST_COLUMNS) return "has more than 32 fields";
        if (digits && (!at[digits] || at[digits] == ',')) {
            const char *why = take_number(list, at, digits);
            if (why) return why;
            at += digits;
        } else if (!*at || *at == ',') {
            return "has an empty name; write \"\" if a column is called so";
        } else if (!(at = take_name(list, at, &used))) {
            return "has a name whose quotes are not right; write them as in CSV, such as 'id,\"last, first\"'";
        }
        list->n++;
        if (!*at) return NULL;
    }
}

bool columns_equal(const struct column_list *a, const struct column_list *b) {
    if (a->n != b->n) return false;
    for (unsigned i = 0; i < a->n; i++) {
        if (a->columns[i].number != b->columns[i].number || a->columns[i].length != b->columns[i].length) return false;
        if (memcmp(a->names + a->columns[i].name, b->names + b->columns[i].name, a->columns[i].length) != 0)
            return false;
    }
    return true;
}

void columns_resolve(const struct column_list *list, const uint32_t found[MOST_COLUMNS], struct columns *columns) {
    columns->n = list->n;
    for (unsigned i = 0; i < list->n; i++) {
        uint32_t number = list->columns[i].number ? list->columns[i].number : found ? found[i] : NO_COLUMN;
        unsigned at = i;
        for (; at > 0 && columns->number[at - 1] > number; at--) {
            columns->number[at] = columns->number[at - 1];
            columns->part[at] = columns->part[at - 1];
        }
        columns->number[at] = number;
        columns->part[at] = (uint8_t)i;
    }
}
