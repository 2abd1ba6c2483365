/* The fields that make a key: what --field lists, and where they are in the records of a file. */
#ifndef CLI_INPUT_COLUMNS_H
#define CLI_INPUT_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_COLUMNS = 32, COLUMNS_TEXT = 256 };

/* "2", "2,3", "name,city": each a number from 1 or a name; a name that is a number, or has a comma,
 * stands in quotes as in CSV. */
struct column_list {
    unsigned n; /* 0 = the whole record */
    bool named; /* one of them at least is a name */
    struct {
        uint32_t number;       /* 0 = it is a name */
        uint16_t name, length; /* in `names` */
    } columns[MOST_COLUMNS];
    char names[COLUMNS_TEXT];
};

/* NULL, or why the text is no such list, as a phrase that follows it. "0" is an empty list. */
const char *columns_parse(const char *text, struct column_list *list);
bool columns_equal(const struct column_list *a, const struct column_list *b);

/* The same list by numbers alone, in rising order; `part` says which part of the key each is. A
 * name that the header lacks is NO_COLUMN. */
struct columns {
    unsigned n;
    uint32_t number[MOST_COLUMNS];
    uint8_t part[MOST_COLUMNS];
};

#define NO_COLUMN UINT32_MAX

/* `found` has a number for each name of the list, the others are not looked at; NULL = for none. */
void columns_resolve(const struct column_list *list, const uint32_t found[MOST_COLUMNS], struct columns *columns);

#endif
