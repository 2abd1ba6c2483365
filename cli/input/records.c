#include "records.h"
#include "encode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* ---- where records end ---- */

#if defined(__SSE2__)
static inline uint64_t same_in_window(const char *bytes, char wanted) {
    const __m128i all = _mm_set1_epi8(wanted);
    uint64_t found = 0;
    for (int i = 0; i < WINDOW; i += 16) {
        __m128i same = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)(bytes + i)), all);
        found |= (uint64_t)(unsigned)_mm_movemask_epi8(same) << i;
    }
    return found;
}
#else
static inline uint64_t same_in_window(const char *bytes, char wanted) {
    uint64_t found = 0;
    for (int i = 0; i < WINDOW; i++) found |= (uint64_t)(bytes[i] == wanted) << i;
    return found;
}
#endif

/* One byte further; true if it ends the record. */
static bool csv_step(struct record_search *s, char byte) {
    if (s->place == IN_QUOTES) {
        if (byte == '"') s->place = AFTER_QUOTE;
        return false;
    }
    bool ends = byte == s->terminator, may_open = s->place != IN_FIELD;
    s->place = ends || byte == s->delimiter ? FIELD_BEGINS : byte == '"' && may_open ? IN_QUOTES : IN_FIELD;
    return ends;
}

static uint64_t csv_steps(struct record_search *s, const char *bytes, size_t n) {
    uint64_t ends = 0;
    for (size_t i = 0; i < n; i++) ends |= (uint64_t)csv_step(s, bytes[i]) << i;
    return ends;
}

/* Bit i of the result is the parity of bits 0 to i. */
static inline uint64_t parities(uint64_t bits) {
    for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
    return bits;
}

/* Quotes open and close in turn: a byte is in quotes if their number up to it is odd. That holds as
 * long as each one that opens stands where a field begins, or behind one that closes; a window
 * where one does not is walked through byte by byte. */
static uint64_t csv_window(struct record_search *s, const char *bytes) {
    uint64_t quotes = same_in_window(bytes, '"'), ends = same_in_window(bytes, s->terminator), last = UINT64_C(1) << 63;
    if (!quotes && s->place == IN_QUOTES) return 0;
    uint64_t carried = s->place == IN_QUOTES, inside = parities(quotes) ^ (0 - carried);
    uint64_t borders = (ends | same_in_window(bytes, s->delimiter)) & ~inside;
    uint64_t opening = quotes & inside, closing = quotes & ~inside;
    uint64_t may_open = (borders | closing) << 1 | (s->place == FIELD_BEGINS || s->place == AFTER_QUOTE);
    if (opening & ~may_open) return csv_steps(s, bytes, WINDOW);
    s->place = inside & last ? IN_QUOTES : borders & last ? FIELD_BEGINS : closing & last ? AFTER_QUOTE : IN_FIELD;
    return ends & ~inside;
}

uint64_t record_ends(struct record_search *s, const char *bytes, size_t rest) {
    uint64_t ends = 0;
    if (s->quotes) return rest >= WINDOW ? csv_window(s, bytes) : csv_steps(s, bytes, rest);
    if (rest >= WINDOW) return same_in_window(bytes, s->terminator);
    for (size_t i = 0; i < rest; i++) ends |= (uint64_t)(bytes[i] == s->terminator) << i;
    return ends;
}

/* Of bytes without quotes, outside of quotes. */
static const char *last_plain_end(struct record_search *s, const char *at, const char *end) {
    const char *last = memrchr(at, s->terminator, (size_t)(end - at));
    if (end > at) s->place = end[-1] == s->terminator || end[-1] == s->delimiter ? FIELD_BEGINS : IN_FIELD;
    return last ? last + 1 : at;
}

const char *last_record_end(struct record_search *s, const char *at, const char *end) {
    const char *last = at;
    bool quotes = s->quotes && (s->place == IN_QUOTES || memchr(at, '"', (size_t)(end - at)));
    if (!quotes) return last_plain_end(s, at, end);
    for (; at < end; at += WINDOW) {
        uint64_t ends = record_ends(s, at, (size_t)(end - at));
        if (ends) last = at + (64 - __builtin_clzll(ends));
    }
    return last;
}

uint64_t count_records(struct record_search *s, const char *at, const char *end) {
    uint64_t found = 0;
    if (!s->quotes) return count_bytes(at, (size_t)(end - at), s->terminator);
    for (; at < end; at += WINDOW) found += (uint64_t)__builtin_popcountll(record_ends(s, at, (size_t)(end - at)));
    return found;
}

const char *record_end_from(struct record_search s, const char *at, const char *from, const char *end) {
    if (!s.quotes) at = from;
    for (; at < end; at += WINDOW) {
        uint64_t ends = record_ends(&s, at, (size_t)(end - at));
        if (from - at >= WINDOW) continue;
        if (from > at) ends = ends >> (from - at) << (from - at);
        if (ends) return at + __builtin_ctzll(ends) + 1;
    }
    return NULL;
}

struct record_search record_search_in(const struct input *input, const char *at, const char *end) {
    bool quotes = input->records == PERHAPS_CSV && (at == end || memchr(at, '"', (size_t)(end - at)));
    return (struct record_search){.terminator = input->terminator, .delimiter = input->delimiter, .quotes = quotes};
}

/* The compiler compares many bytes at a time if the sum of a few fits into a byte, too. */
uint64_t count_bytes(const char *bytes, size_t n, char wanted) {
    enum { FEW = 192 };
    uint64_t found = 0;
    for (; n >= FEW; n -= FEW, bytes += FEW) {
        uint8_t some = 0;
        for (size_t i = 0; i < FEW; i++) some = (uint8_t)(some + (bytes[i] == wanted));
        found += some;
    }
    for (size_t i = 0; i < n; i++) found += bytes[i] == wanted;
    return found;
}

bool begins_with_mark(const struct input *input, const char *at, const char *end) {
    return is_table(input->records) && end - at >= MARK_BYTES && memcmp(at, "\xEF\xBB\xBF", MARK_BYTES) == 0;
}

/* ---- fields ---- */

/* How far the fields of a record were read. */
struct field_search {
    const char *at, *end;
    char delimiter;
    bool ended;      /* the last one was read */
    uint32_t fields; /* that were read */
    char *scratch;   /* for fields with quotes in them */
};

static inline bool next_plain(struct field_search *s, struct slice *field) {
    if (s->ended) return false;
    const char *stop = memchr(s->at, s->delimiter, (size_t)(s->end - s->at));
    s->ended = !stop;
    *field = (struct slice){s->at, (size_t)((stop ? stop : s->end) - s->at)};
    if (stop) s->at = stop + 1;
    return true;
}

/* From behind the opening quote of a field that has others in it, or something after them. */
static void unquote(struct field_search *s, struct slice *field) {
    char *out = s->scratch;
    const char *at = s->at, *quote, *stop;
    while ((quote = memchr(at, '"', (size_t)(s->end - at)))) {
        bool doubled = quote + 1 < s->end && quote[1] == '"';
        size_t length = (size_t)(quote - at) + doubled;
        memcpy(out, at, length);
        out += length;
        at = quote + 1 + doubled;
        if (!doubled) break;
    }
    stop = quote ? memchr(at, s->delimiter, (size_t)(s->end - at)) : NULL;
    s->ended = !stop;
    if (!stop) stop = s->end;
    memcpy(out, at, (size_t)(stop - at));
    out += stop - at;
    *field = (struct slice){s->scratch, (size_t)(out - s->scratch)};
    s->scratch = out;
    s->at = s->ended ? stop : stop + 1;
}

static inline bool next_csv(struct field_search *s, struct slice *field) {
    if (s->ended || s->at == s->end || *s->at != '"') return next_plain(s, field);
    const char *text = s->at + 1, *quote = memchr(text, '"', (size_t)(s->end - text));
    if (quote && (quote + 1 == s->end || quote[1] == s->delimiter)) {
        *field = (struct slice){text, (size_t)(quote - text)};
        s->ended = quote + 1 == s->end;
        s->at = s->ended ? s->end : quote + 2;
    } else {
        s->at = text;
        unquote(s, field);
    }
    return true;
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

static inline bool next_word(struct field_search *s, struct slice *field) {
    while (s->at < s->end && is_blank(*s->at)) s->at++;
    const char *from = s->at;
    while (s->at < s->end && !is_blank(*s->at)) s->at++;
    *field = (struct slice){from, (size_t)(s->at - from)};
    return field->length > 0;
}

typedef bool next_function(struct field_search *search, struct slice *field);

/* Reads as many fields as are needed. Those that are missing stay empty; false if one is. */
static inline __attribute__((always_inline)) bool find_fields(struct field_search *s, next_function *next,
                                                              const struct columns *columns, struct slice *found) {
    unsigned i = 0;
    struct slice field;
    for (; i < columns->n && next(s, &field); s->fields++)
        for (; i < columns->n && columns->number[i] == s->fields + 1; i++) found[columns->part[i]] = field;
    return i == columns->n;
}

static next_function *next_of(int records) {
    return records == PERHAPS_CSV ? next_csv : records == PERHAPS_WHITESPACE ? next_word : next_plain;
}

/* The same with the format known, so that each has a loop of its own. */
static bool find_wanted(int records, struct field_search *s, const struct columns *columns, struct slice *found) {
    if (records == PERHAPS_CSV) return find_fields(s, next_csv, columns, found);
    if (records == PERHAPS_WHITESPACE) return find_fields(s, next_word, columns, found);
    return find_fields(s, next_plain, columns, found);
}

/* ---- keys ---- */

static struct slice trimmed(struct slice text) {
    while (text.length && is_space(*text.bytes)) text.bytes++, text.length--;
    while (text.length && is_space(text.bytes[text.length - 1])) text.length--;
    return text;
}

enum { LENGTH_DIGITS = 20, NETSTRING_EXTRA = LENGTH_DIGITS + 2 };

/* "3:abc," */
static char *put_netstring(char *out, struct slice text) {
    char digits[LENGTH_DIGITS], *from = digits + sizeof digits;
    size_t rest = text.length;
    do *--from = (char)('0' + rest % 10);
    while (rest /= 10);
    size_t n = (size_t)(digits + sizeof digits - from);
    memcpy(out, from, n);
    out += n;
    *out++ = ':';
    memcpy(out, text.bytes, text.length);
    out += text.length;
    *out++ = ',';
    return out;
}

/* One field is the key as it is; several are its netstrings, one after the other. */
static enum key_result find_in_fields(struct key_search *s, const char *at, const char *end) {
    const struct input *input = s->input;
    const struct columns *columns = s->columns;
    struct slice found[MOST_COLUMNS];
    struct field_search fields = {.at = at, .end = end, .delimiter = input->delimiter, .scratch = s->scratch};
    for (unsigned i = 0; i < columns->n; i++) found[i] = (struct slice){"", 0};
    bool all = find_wanted(input->records, &fields, columns, found);
    for (unsigned i = 0; i < columns->n && input->trim; i++) found[i] = trimmed(found[i]);
    s->scratch = fields.scratch;
    s->key = found[0];
    if (columns->n > 1) {
        s->key.bytes = s->scratch;
        for (unsigned i = 0; i < columns->n; i++) s->scratch = put_netstring(s->scratch, found[i]);
        s->key.length = (size_t)(s->scratch - s->key.bytes);
    }
    s->fields = fields.fields;
    return all ? KEY_FOUND : KEY_MISSING;
}

static enum key_result find_in_json(struct key_search *s, const char *at, const char *end) {
    s->key = (struct slice){"", 0};
    enum json_result result =
        json_find(&s->input->path, at, end, s->scratch, &s->key.bytes, &s->key.length, &s->fault, &s->fault_at);
    if (result == JSON_INVALID) return KEY_INVALID;
    if (result == JSON_MISSING) s->key = (struct slice){"", 0};
    if (s->key.bytes == s->scratch) s->scratch += s->key.length;
    if (s->input->trim) s->key = trimmed(s->key);
    return result == JSON_FOUND ? KEY_FOUND : KEY_MISSING;
}

static const char zero_byte[] = "has a NUL byte, as text in UTF-16 does";

static bool is_blank_line(int records, const char *at, const char *end) {
    bool json = records == PERHAPS_JSON_LINES, blanks = json || records == PERHAPS_WHITESPACE;
    while (blanks && at < end && (is_blank(*at) || (json && *at == '\r'))) at++;
    return at == end;
}

const char *behind_blank_lines(const struct input *input, const char *at, const char *end) {
    const char *stop;
    while (is_table(input->records) && (stop = memchr(at, input->terminator, (size_t)(end - at)))) {
        const char *text_end = stop;
        while (text_end > at && text_end[-1] == '\r') text_end--;
        if (!is_blank_line(input->records, at, text_end)) break;
        at = stop + 1;
    }
    return at;
}

enum key_result find_key(struct key_search *s, const char *at, const char *end) {
    const struct input *input = s->input;
    if (is_table(input->records)) {
        while (at < end && end[-1] == '\r') end--;
        if (is_blank_line(input->records, at, end)) return KEY_BLANK;
        s->fault_at = s->zero_bytes ? memchr(at, 0, (size_t)(end - at)) : NULL;
        s->fault = zero_byte;
        if (s->fault_at) return KEY_INVALID;
    }
    if (input->records == PERHAPS_JSON_LINES) return find_in_json(s, at, end);
    if (s->columns->n) return find_in_fields(s, at, end);
    s->key = (struct slice){at, (size_t)(end - at)};
    if (input->trim) s->key = trimmed(s->key);
    return KEY_FOUND;
}

/* ---- one field, many bytes at a time ---- */

bool is_one_field(const struct input *input, const struct columns *columns) {
    bool delimited = input->records != PERHAPS_WHITESPACE && input->records != PERHAPS_JSON_LINES;
    return columns->n == 1 && columns->number[0] != NO_COLUMN && delimited && !input->trim;
}

/* The delimiters in the bytes of `all` in a window that are not in quotes. False if quotes are not
 * as csv_window likes them. */
static inline bool fields_in_window(struct record_search *s, const char *bytes, uint64_t all, uint64_t *delimiters) {
    *delimiters = same_in_window(bytes, s->delimiter) & all;
    if (!s->quotes) return true;
    uint64_t quotes = same_in_window(bytes, '"') & all;
    if (!quotes && s->place != IN_QUOTES && s->place != AFTER_QUOTE) {
        s->place = *delimiters >> 63 ? FIELD_BEGINS : IN_FIELD;
        return true;
    }
    uint64_t carried = s->place == IN_QUOTES, inside = parities(quotes) ^ (0 - carried), last = UINT64_C(1) << 63;
    uint64_t opening = quotes & inside, closing = quotes & ~inside;
    *delimiters &= ~inside;
    uint64_t may_open = (*delimiters | closing) << 1 | (s->place == FIELD_BEGINS || s->place == AFTER_QUOTE);
    if (opening & ~may_open) return false;
    s->place = inside & last ? IN_QUOTES : *delimiters & last ? FIELD_BEGINS : closing & last ? AFTER_QUOTE : IN_FIELD;
    return true;
}

/* Takes the field [start, stop) without its quotes, if there are none inside. */
static inline bool take_field(struct key_search *s, const char *start, const char *stop, bool quotes) {
    if (quotes && start < stop && *start == '"') {
        start++;
        if (start == stop || *--stop != '"' || memchr(start, '"', (size_t)(stop - start))) return false;
    }
    s->key = (struct slice){start, (size_t)(stop - start)};
    return true;
}

bool find_field(struct key_search *s, const char *at, const char *end, const char *readable) {
    const struct input *input = s->input;
    uint32_t before = s->columns->number[0] - 1; /* delimiters that are still before it */
    struct record_search search = {.delimiter = input->delimiter, .quotes = input->records == PERHAPS_CSV};
    const char *start = before ? NULL : at;
    while (is_table(input->records) && at < end && end[-1] == '\r') end--;
    if (at == end) return false;
    for (; at < end; at += WINDOW) {
        uint64_t delimiters, all = end - at < WINDOW ? (UINT64_C(1) << (end - at)) - 1 : UINT64_MAX;
        if (readable - at < WINDOW || !fields_in_window(&search, at, all, &delimiters)) return false;
        for (; before && delimiters; before--) {
            start = at + __builtin_ctzll(delimiters) + 1;
            delimiters &= delimiters - 1;
        }
        if (!before && delimiters) return take_field(s, start, at + __builtin_ctzll(delimiters), search.quotes);
    }
    return !before && take_field(s, start, end, search.quotes);
}

bool finds_keys(const struct input *input) {
    return is_table(input->records) || input->fields.n || input->trim;
}

bool makes_keys(const struct input *input) {
    return is_table(input->records) || input->fields.n > 1 || input->trim || input->missing == MISSING_EMPTY;
}

/* Fields without their quotes, and a netstring of each: a field may be wanted several times. */
size_t scratch_for(const struct input *input, size_t n, size_t bytes) {
    size_t columns = input->fields.n, size;
    if (columns < 2) return input->records == PERHAPS_CSV || input->records == PERHAPS_JSON_LINES ? bytes : 0;
    bool too_large = __builtin_mul_overflow(bytes, columns + 1, &size) ||
                     __builtin_add_overflow(size, n * columns * NETSTRING_EXTRA, &size);
    return too_large ? SIZE_MAX - 1 : size;
}

const char *missing_text(const struct input *input, char *text, size_t size) {
    bool one_number = input->fields.n == 1 && input->fields.columns[0].number;
    if (input->records == PERHAPS_JSON_LINES)
        snprintf(text, size, "no %s", input->where);
    else if (one_number)
        snprintf(text, size, "no field %lu", (unsigned long)input->fields.columns[0].number);
    else
        snprintf(text, size, input->fields.n == 1 ? "no field '%s'" : "only some of the fields '%s'", input->where);
    return text;
}

/* ---- headers ---- */

/* Which of the wanted names is this the column of? False if one was found before. */
static bool take_column(const struct column_list *list, struct slice name, uint32_t number, uint32_t *found) {
    for (unsigned i = 0; i < list->n; i++) {
        if (list->columns[i].number || list->columns[i].length != name.length) continue;
        if (memcmp(list->names + list->columns[i].name, name.bytes, name.length) != 0) continue;
        if (found[i] != NO_COLUMN) return false;
        found[i] = number;
    }
    return true;
}

/* Adds a name to a list of names, as long as there is room. */
static void list_name(char *text, size_t size, struct slice name) {
    size_t used = strlen(text), length = name.length < 40 ? name.length : 40;
    if (used + length + 8 < size) {
        if (used) strcpy(text + used, ", ");
        *shown_text(name.bytes, length, text + strlen(text)) = 0;
    } else if (used + 6 < size && text[used - 1] != '.') {
        strcpy(text + used, ", ...");
    }
}

enum header_result columns_of_header(const struct input *input, const char *at, const char *end,
                                     struct columns *columns, char *text, size_t size) {
    const struct column_list *list = &input->fields;
    char names[100] = "", *scratch = malloc((size_t)(end - at) + 1);
    uint32_t found[MOST_COLUMNS], number = 1;
    struct field_search s = {.at = at, .end = end, .delimiter = input->delimiter, .scratch = scratch};
    bool once = true, text_only = !is_table(input->records) || !memchr(at, 0, (size_t)(end - at));
    for (unsigned i = 0; i < list->n; i++) found[i] = NO_COLUMN;
    for (struct slice name; scratch && once && next_of(input->records)(&s, &name); number++, s.scratch = scratch) {
        if (input->trim) name = trimmed(name);
        list_name(names, sizeof names, name);
        once = take_column(list, name, number, found);
    }
    free(scratch);
    columns_resolve(list, found, columns);
    if (!scratch || !once || !text_only) {
        if (!text_only)
            snprintf(text, size, "%s; convert it to UTF-8", zero_byte);
        else if (once)
            snprintf(text, size, "is too long for memory");
        else
            snprintf(text, size, "names a column of --%sfield twice; give its number instead", input->prefix);
        return HEADER_INVALID;
    }
    for (unsigned i = 0; i < list->n; i++) {
        if (list->columns[i].number || found[i] != NO_COLUMN) continue;
        snprintf(text, size, "has no column '%.*s'; its columns are: %s", (int)list->columns[i].length,
                 list->names + list->columns[i].name, names);
        return HEADER_LACKS;
    }
    return HEADER_FINE;
}

/* ---- what formats are called ---- */

static const struct record_format {
    const char *name;
    char delimiter;
} formats[] = {
    [PERHAPS_LINES] = {"lines", '\t'},   [PERHAPS_ZERO_TERMINATED] = {"zero-terminated", '\t'},
    [PERHAPS_RAW] = {"raw", 0},          [PERHAPS_CSV] = {"csv", ','},
    [PERHAPS_TSV] = {"tsv", '\t'},       [PERHAPS_WHITESPACE] = {"whitespace", ' '},
    [PERHAPS_JSON_LINES] = {"jsonl", 0},
};

enum { FORMATS = sizeof formats / sizeof *formats };

const char *record_format_name(int records) {
    return formats[records].name;
}

int record_format_from(const char *name) {
    int records = FORMATS - 1;
    while (records >= 0 && strcmp(name, formats[records].name) != 0) records--;
    return records;
}

char usual_delimiter(int records) {
    return formats[records].delimiter;
}

bool is_table(int records) {
    return records >= PERHAPS_CSV;
}
