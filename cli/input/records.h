/* Record formats: how a record ends, and where its key stands. This is the one place that knows;
 * blocks.c and chunks.c ask it where to cut, and which bytes of a record are the key.
 *
 * A record is found by its end (record_ends), and its key by a function of its format, which gets
 * the record without the bytes that end it. */
#ifndef CLI_INPUT_RECORDS_H
#define CLI_INPUT_RECORDS_H

#include "input.h"

/* ---- where records end ---- */

enum { WINDOW = 64 }; /* bytes that are looked at together */

/* Where in a CSV record a place is. Quotes open only at the beginning of a field; others are
 * ordinary bytes, and so is what follows a closing quote. */
enum csv_place { FIELD_BEGINS, IN_FIELD, IN_QUOTES, AFTER_QUOTE };

/* How far the search for ends has come. Zero `place` begins, with the first byte of a record. */
struct record_search {
    char terminator, delimiter;
    bool quotes; /* there are some: else every terminator ends a record */
    enum csv_place place;
};

/* Bit i is set if byte i ends a record: of a window, or of the `rest` that is less than one. */
uint64_t record_ends(struct record_search *search, const char *bytes, size_t rest);

/* Behind the last record that ends in [at, end), and `at` if none does. */
const char *last_record_end(struct record_search *search, const char *at, const char *end);

/* How many records end in [at, end). */
uint64_t count_records(struct record_search *search, const char *at, const char *end);

/* Behind the first record that ends at `from` or after it, where one begins at `at`; else NULL. */
const char *record_end_from(struct record_search search, const char *at, const char *from, const char *end);

/* Of records in these bytes, the first of which begins there. */
struct record_search record_search_in(const struct input *input, const char *at, const char *end);

/* How many bytes are this one. */
uint64_t count_bytes(const char *bytes, size_t n, char wanted);

/* Does a file of tables begin with the mark that some programs put before UTF-8? */
enum { MARK_BYTES = 3 };
bool begins_with_mark(const struct input *input, const char *at, const char *end);

/* ---- where keys stand ---- */

struct slice {
    const char *bytes;
    size_t length;
};

enum key_result { KEY_FOUND, KEY_MISSING, KEY_INVALID, KEY_BLANK };

/* What the search for the key of a record needs, and what it finds. */
struct key_search {
    const struct input *input;
    const struct columns *columns; /* of this file */
    bool zero_bytes;               /* some record may have one */
    char *scratch;                 /* room as scratch_for says; moves past what is used */
    struct slice key;
    uint32_t fields;      /* KEY_MISSING: how many there are */
    const char *fault;    /* KEY_INVALID: what is wrong, as a phrase */
    const char *fault_at; /* and where */
};

/* Is the key one field by its number, between delimiters? Then find_field is faster. */
bool is_one_field(const struct input *input, const struct columns *columns);

/* Sets the key of the record [at, end), if it is one field and no difficult case: true. Bytes up
 * to `readable` may be read. */
bool find_field(struct key_search *search, const char *at, const char *end, const char *readable);

/* Finds the key of the record [at, end). KEY_BLANK: a blank line of a table is no record. */
enum key_result find_key(struct key_search *search, const char *at, const char *end);

/* Is the key another than the record? If not, find_key need not be called. */
bool finds_keys(const struct input *input);

/* May the key be bytes that do not stand in the input, or not where only lines are looked for? */
bool makes_keys(const struct input *input);

/* Enough for the keys of n records with `bytes` bytes in all. */
size_t scratch_for(const struct input *input, size_t n, size_t bytes);

/* Behind the blank lines of a table at `at`, where a record begins. */
const char *behind_blank_lines(const struct input *input, const char *at, const char *end);

/* What a record without a key has: "no field 'name'". */
const char *missing_text(const struct input *input, char *text, size_t size);

/* Finds the fields of --field in the header [at, end). What is wrong with it is in `text`, as a
 * phrase: it lacks a name, which is NO_COLUMN then, or cannot be used at all. */
enum header_result { HEADER_FINE, HEADER_LACKS, HEADER_INVALID };
enum header_result columns_of_header(const struct input *input, const char *at, const char *end,
                                     struct columns *columns, char *text, size_t size);

/* ---- what formats are called ---- */

/* In info, JSON and on servers; by enum perhaps_records. */
const char *record_format_name(int records);
int record_format_from(const char *name); /* -1 = none */

/* The byte between fields if no option says which. */
char usual_delimiter(int records);

/* A table's records are lines with CRLF or without, and blank ones are none: CSV, TSV, white space
 * and JSON lines. */
bool is_table(int records);

#endif
