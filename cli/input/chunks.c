#include "blocks.h"
#include "encode.h"
#include "output/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- records to keys ---- */

/* Lines up to this place are behind us. */
static void count_lines(struct input_chunk *p, const char *at) {
    if (p->input->records == PERHAPS_RAW)
        p->outcome.lines += (uint64_t)(at - p->counted) / 8;
    else
        p->outcome.lines += count_bytes(p->counted, (size_t)(at - p->counted), p->input->terminator);
    p->counted = at;
}

/* The line at this place is wrong. */
__attribute__((format(printf, 3, 4))) static void fault(struct input_chunk *p, const char *at, const char *format,
                                                        ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(p->outcome.fault, sizeof p->outcome.fault, format, arguments);
    va_end(arguments);
    p->fault_at = at;
}

static void not_a_key(struct input_chunk *p, size_t i, const char *why) {
    char shown[44];
    const char *line = p->lines[i];
    size_t whole = p->line_lengths[i], length = whole < 40 ? whole : 40;
    strcpy(shown_text(line, length, shown), whole > 40 ? "..." : "");
    bool carriage = whole && line[whole - 1] == '\r' && !is_table(p->input->records);
    fault(p, line, "%s: '%s'; %s", why, shown,
          carriage             ? "it ends in a carriage return: take those out first (tr -d '\\r')"
          : p->input->integers ? "correct it, or choose another kind of filter: a bitmap holds integers only"
                               : "correct it, or choose another --key");
}

/* What to do about a record without the key, as options of its file say it. */
static void other_place(const struct input *input, char *text, size_t size) {
    const char *own = input->prefix;
    if (input->where_kept)
        snprintf(text, size, "give --%sfield 0 if lines are keys: the filter was made with fields", own);
    else if (input->records == PERHAPS_JSON_LINES)
        snprintf(text, size, "choose another --%sjsonl", own);
    else if (is_table(input->records))
        snprintf(text, size, "choose another --%sfield or --%sdelimiter", own, own);
    else
        snprintf(text, size, "choose another --%sfield or --%sdelimiter, or --%scsv", own, own, own);
}

static void no_field(struct input_chunk *p, const char *line, const struct key_search *search) {
    char what[COLUMNS_TEXT + 40], remedy[90];
    const struct input *input = p->input;
    if (input->records == PERHAPS_JSON_LINES || input->fields.named)
        missing_text(input, what, sizeof what);
    else
        snprintf(what, sizeof what, "only %lu field%s", (unsigned long)search->fields, search->fields == 1 ? "" : "s");
    other_place(input, remedy, sizeof remedy);
    fault(p, line, "has %s; correct it, or %s; --missing skip skips such records", what, remedy);
}

static void not_valid(struct input_chunk *p, const struct key_search *search) {
    bool json = p->input->records == PERHAPS_JSON_LINES && *search->fault_at;
    fault(p, search->fault_at, "%s%s; %s, or pass over such records with --missing skip", json ? "is not JSON: " : "",
          search->fault, json ? "correct it" : "convert it to UTF-8");
}

/* Memory of this size at least. */
static bool need(void *memory, size_t *size, size_t needed) {
    if (needed <= *size) return true;
    free(*(void **)memory);
    *(void **)memory = malloc(needed);
    *size = *(void **)memory ? needed : 0;
    return *size;
}

/* What is to be done with a record whose key is not found? False if it is a fault. */
static bool tolerate(struct input_chunk *p, const char *line, enum key_result result, const struct key_search *search) {
    enum missing missing = p->input->missing;
    if (result == KEY_BLANK) return true;
    if (result == KEY_MISSING && missing == MISSING_ERROR) return no_field(p, line, search), false;
    if (result == KEY_INVALID && missing != MISSING_SKIP) return not_valid(p, search), false;
    p->outcome.missing += result == KEY_MISSING;
    p->outcome.invalid += result == KEY_INVALID;
    return true;
}

/* Finds the keys of n records, and leaves out those that have none; how many remain, up to a
 * fault. */
static size_t find_keys(struct input_chunk *p, size_t n) {
    const struct input *input = p->input;
    size_t bytes = (size_t)(p->lines[n - 1] - p->lines[0]) + p->line_lengths[n - 1], kept = 0;
    if (!need(&p->found, &p->found_size, scratch_for(input, n, bytes) + 1)) {
        fault(p, p->lines[0], "and those after it are too long for the memory there is");
        return 0;
    }
    struct key_search search = {.input = input,
                                .columns = &p->columns,
                                .zero_bytes = is_table(input->records) && memchr(p->lines[0], 0, bytes),
                                .scratch = p->found};
    bool one_field = is_one_field(input, &p->columns) && !search.zero_bytes && !p->marked;
    for (size_t i = 0; i < n; i++) {
        const char *line = p->lines[i], *mark = p->marked && line == p->at ? line + MARK_BYTES : line;
        const char *end = line + p->line_lengths[i];
        enum key_result result =
            one_field && find_field(&search, line, end, p->end) ? KEY_FOUND : find_key(&search, mark, end);
        if (result != KEY_FOUND && !tolerate(p, line, result, &search)) return kept;
        p->lines[kept] = line;
        p->line_lengths[kept] = p->line_lengths[i];
        p->texts[kept] = search.key.bytes;
        p->text_lengths[kept] = search.key.length;
        kept += result == KEY_FOUND || (result == KEY_MISSING && input->missing == MISSING_EMPTY);
    }
    return kept;
}

/* Turns n texts into keys or numbers; how many, up to one that is no key. */
static size_t encode_keys(struct input_chunk *p, const char *const *texts, const size_t *lengths, size_t n) {
    size_t needed = 0;
    for (size_t i = 0; i < n; i++) needed += 2 * lengths[i] + 8;
    if (!need(&p->scratch, &p->scratch_size, needed)) {
        fault(p, p->lines[0], "and those after it are too long for the memory there is");
        return 0;
    }
    uint8_t *out = p->scratch;
    for (size_t i = 0; i < n; i++) {
        const char *text = texts[i], *why = NULL;
        size_t length = lengths[i], made = 0;
        switch (p->input->encoding) {
        case ENCODING_U64:
            why = encode_u64(text, length, &p->numbers[i]);
            break;
        case ENCODING_HEX:
            why = encode_hex(text, length, out);
            made = length / 2;
            break;
        case ENCODING_UTF16:
            why = encode_utf16(text, length, out, &made);
            break;
        case ENCODING_BYTES:
            fold_case(text, length, out);
            made = length;
            break;
        default: /* int32 or int64; for a kind of integers as a number, too */
            made = p->input->encoding == ENCODING_INT32 ? 4 : 8;
            why = encode_int(text, length, made, out);
            if (!why && p->input->integers && encode_u64(text, length, &p->numbers[i]))
                why = "is below 0, where a bitmap begins";
        }
        if (why) {
            not_a_key(p, i, why);
            return i;
        }
        p->keys[i] = out;
        p->lengths[i] = made;
        out += made;
    }
    return n;
}

/* Hands n records on as keys, up to one that is wrong. The numbers of raw records are made
 * already. */
static int hand_on_keys(struct input_chunk *p, size_t n) {
    const struct input *input = p->input;
    bool raw = input->records == PERHAPS_RAW, as_is = input->encoding == ENCODING_BYTES && !input->ignore_case;
    if (n == 0) return FINE;
    const char *end = p->lines[n - 1] + p->line_lengths[n - 1] + !raw;
    bool found = finds_keys(input);
    struct batch batch = {
        .n = n,
        .key_texts = found ? p->texts : p->lines,
        .key_text_lengths = found ? p->text_lengths : p->line_lengths,
        .lines = p->lines,
        .line_lengths = p->line_lengths,
        .terminator_length = !raw,
        .path = input->paths[p->file],
        .file = p->file,
    };
    count_lines(p, p->lines[0]);
    uint64_t first_line = p->first_line + p->outcome.lines;
    const char *first = p->lines[0];
    if (found) batch.n = find_keys(p, n);
    if (!raw && !as_is) batch.n = encode_keys(p, batch.key_texts, batch.key_text_lengths, batch.n);
    if (input_of_numbers(input)) {
        batch.numbers = p->numbers;
    } else {
        batch.keys = as_is ? (const void *const *)batch.key_texts : p->keys;
        batch.lengths = as_is ? batch.key_text_lengths : p->lengths;
    }
    int status = FINE;
    if (batch.n) {
        batch.offset = p->offset + (uint64_t)(p->lines[0] - p->at);
        batch.first_line = first_line + count_bytes(first, (size_t)(p->lines[0] - first), input->terminator);
        p->outcome.keys += batch.n;
        status = p->function(p->context, &batch);
    }
    if (status != FINE) *p->outcome.fault = 0;
    if (*p->outcome.fault) return TROUBLE;
    count_lines(p, end);
    return status;
}

uint64_t batch_line(const struct batch *b, size_t i) {
    if (!b->lines || !b->terminator_length) return b->first_line + i;
    char terminator = b->lines[0][b->line_lengths[0]];
    return b->first_line + count_bytes(b->lines[0], (size_t)(b->lines[i] - b->lines[0]), terminator);
}

/* ---- memory to records ---- */

/* What waits to be handed on: n records, and then one that begins at `record`. */
struct splitting {
    struct input_chunk *chunk;
    const char *record;
    size_t n;
};

static int split_from(struct splitting *s, const char *at) {
    struct input_chunk *p = s->chunk;
    struct record_search search = record_search_in(p->input, at, p->end);
    for (; at < p->end; at += WINDOW) {
        for (uint64_t ends = record_ends(&search, at, (size_t)(p->end - at)); ends; ends &= ends - 1) {
            const char *stop = at + __builtin_ctzll(ends);
            p->lines[s->n] = s->record;
            p->line_lengths[s->n] = (size_t)(stop - s->record);
            s->record = stop + 1;
            if (++s->n < BATCH) continue;
            int status = hand_on_keys(p, s->n);
            if (status != FINE) return status;
            s->n = 0;
        }
    }
    return FINE;
}

/* At the end of its file, a chunk may have a quote that is never closed: then only the line where
 * the record begins is passed over, not all that follows. */
static int split_lines(struct input_chunk *p) {
    struct splitting s = {.chunk = p, .record = p->at};
    int status = split_from(&s, p->at + (p->marked ? MARK_BYTES : 0));
    while (status == FINE && s.record < p->end) {
        status = hand_on_keys(p, s.n);
        s.n = 0;
        if (status != FINE) break;
        if (p->input->missing != MISSING_SKIP) {
            fault(p, s.record,
                  "begins a record with a quote that is never closed; correct it, or skip such lines with --missing "
                  "skip");
            return TROUBLE;
        }
        p->outcome.invalid++;
        s.record = (const char *)memchr(s.record, p->input->terminator, (size_t)(p->end - s.record)) + 1;
        status = split_from(&s, s.record);
    }
    return status == FINE ? hand_on_keys(p, s.n) : status;
}

static int split_records(struct input_chunk *p) {
    size_t n = 0;
    for (const char *at = p->at; at < p->end; at += 8) {
        const uint8_t *record = (const uint8_t *)at;
        uint64_t number = 0;
        for (int i = 7; i >= 0; i--) number = number << 8 | record[i];
        p->lines[n] = at;
        p->line_lengths[n] = 8;
        p->numbers[n] = number;
        if (++n < BATCH) continue;
        int status = hand_on_keys(p, n);
        if (status != FINE) return status;
        n = 0;
    }
    return hand_on_keys(p, n);
}

/* A function that has ended the reading before a fault does not want to hear of it. */
void chunk_read(struct input_chunk *p) {
    if (p->outcome.status != FINE) return;
    p->counted = p->at;
    int status = p->input->records == PERHAPS_RAW ? split_records(p) : split_lines(p);
    if (*p->outcome.fault) count_lines(p, p->fault_at);
    if (status == FINE) count_lines(p, p->end);
    p->outcome.status = status;
}

void chunk_free(struct input_chunk *p) {
    free(p->found);
    free(p->scratch);
}

int outcome_tell(const struct chunk_outcome *outcome, const char *path, uint64_t number) {
    if (*outcome->fault) return failure(input_name(path), "line %llu %s", (unsigned long long)number, outcome->fault);
    return outcome->status;
}

/* ---- texts ---- */

/* They become a chunk of records that end in NUL, whatever records the input has. */
static int read_texts(const struct input *input, char *const *texts, size_t n, struct input_chunk *chunk) {
    char *bytes = NULL;
    size_t length;
    FILE *stream = open_memstream(&bytes, &length);
    if (!stream) return failure(NULL, "not enough memory for the keys");
    for (size_t i = 0; i < n; i++) fwrite(texts[i], 1, strlen(texts[i]) + 1, stream);
    if (fclose(stream) != 0) return failure(NULL, "not enough memory for the keys");
    chunk->input = input;
    chunk->at = bytes;
    chunk->end = bytes + length;
    chunk->first_line = 1;
    chunk->outcome.status = FINE;
    chunk_read(chunk);
    free(bytes);
    if (!*chunk->outcome.fault) return chunk->outcome.status;
    return failure(NULL, "key %llu %s", (unsigned long long)chunk->outcome.lines + 1, chunk->outcome.fault);
}

int input_read_texts(const struct input *input, const char *filter_path, char *const *texts, size_t n,
                     batch_function *function, void *context) {
    struct input plain = *input;
    if (input->fields.n > 1)
        return failure(filter_path, "its keys are several fields of a record; give records on standard input");
    plain.records = PERHAPS_ZERO_TERMINATED;
    plain.terminator = 0;
    plain.header = plain.trim = false;
    plain.fields.n = 0;
    if (plain.encoding == ENCODING_U64LE) plain.encoding = ENCODING_U64;
    struct input_chunk *chunk = calloc(1, sizeof *chunk);
    if (!chunk) return failure(NULL, "not enough memory for the keys");
    chunk->function = function;
    chunk->context = context;
    int status = read_texts(&plain, texts, n, chunk);
    chunk_free(chunk);
    free(chunk);
    return status;
}
