#include "blocks.h"
#include "encode.h"
#include "output/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* ---- lines to keys ---- */

/* Line i of the batch is wrong. Returns i, the number of lines before it that are still handed
 * on. */
__attribute__((format(printf, 3, 4))) static size_t fault(struct input_chunk *p, size_t i, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(p->outcome.fault, sizeof p->outcome.fault, format, arguments);
    va_end(arguments);
    return i;
}

static size_t not_a_key(struct input_chunk *p, size_t i, const char *why) {
    char shown[44];
    const char *line = p->lines[i];
    size_t whole = p->line_lengths[i], length = whole < 40 ? whole : 40;
    for (size_t c = 0; c < length; c++) shown[c] = line[c] < ' ' || line[c] > '~' ? '?' : line[c];
    strcpy(shown + length, whole > 40 ? "..." : "");
    bool carriage = whole && line[whole - 1] == '\r';
    return fault(p, i, "%s: '%s'; %s", why, shown,
                 carriage             ? "it ends in a carriage return: take those out first (tr -d '\\r')"
                 : p->input->integers ? "correct it, or choose another kind of filter: a bitmap holds integers only"
                                      : "correct it, or choose another --key");
}

/* Finds the wanted field of n lines; of how many, up to one that lacks it. */
static size_t cut_fields(struct input_chunk *p, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const char *at = p->lines[i], *end = at + p->line_lengths[i];
        const char *stop = memchr(at, p->input->delimiter, (size_t)(end - at));
        for (uint64_t field = 1; field < p->input->field; field++) {
            if (!stop)
                return fault(p, i, "has only %llu field%s; correct it, or %s", (unsigned long long)field,
                             field == 1 ? "" : "s",
                             p->input->field_kept ? "give --field 0 if lines are keys: the filter was made with fields"
                                                  : "choose another --field or --delimiter");
            at = stop + 1;
            stop = memchr(at, p->input->delimiter, (size_t)(end - at));
        }
        p->fields[i] = at;
        p->field_lengths[i] = (size_t)((stop ? stop : end) - at);
    }
    return n;
}

/* Turns n texts into keys or numbers; how many, up to one that is no key. */
static size_t encode_keys(struct input_chunk *p, const char *const *texts, const size_t *lengths, size_t n) {
    size_t needed = 0;
    for (size_t i = 0; i < n; i++) needed += 2 * lengths[i] + 8;
    if (needed > p->scratch_size) {
        free(p->scratch);
        p->scratch = malloc(needed);
        p->scratch_size = p->scratch ? needed : 0;
        if (!p->scratch) return fault(p, 0, "and those after it are too long for the memory there is");
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
        if (why) return not_a_key(p, i, why);
        p->keys[i] = out;
        p->lengths[i] = made;
        out += made;
    }
    return n;
}

/* Hands n lines on as keys, up to one that is none. The numbers of raw records are made already. */
static int hand_on_keys(struct input_chunk *p, size_t n) {
    const struct input *input = p->input;
    bool raw = input->encoding == ENCODING_U64LE, as_is = input->encoding == ENCODING_BYTES && !input->ignore_case;
    if (n == 0) return FINE;
    struct batch batch = {
        .n = n,
        .key_texts = p->lines,
        .key_text_lengths = p->line_lengths,
        .lines = p->lines,
        .line_lengths = p->line_lengths,
        .terminator_length = !raw,
        .path = input->paths[p->file],
        .file = p->file,
        .offset = p->offset + (uint64_t)(p->lines[0] - p->at),
        .first_line = p->first_line + p->outcome.lines,
    };
    if (input->field) {
        batch.n = cut_fields(p, n);
        batch.key_texts = p->fields;
        batch.key_text_lengths = p->field_lengths;
    }
    if (!raw && !as_is) batch.n = encode_keys(p, batch.key_texts, batch.key_text_lengths, batch.n);
    if (input_of_numbers(input)) {
        batch.numbers = p->numbers;
    } else {
        batch.keys = as_is ? (const void *const *)batch.key_texts : p->keys;
        batch.lengths = as_is ? batch.key_text_lengths : p->lengths;
    }
    p->outcome.lines += batch.n;
    int status = batch.n ? p->function(p->context, &batch) : FINE;
    return status == FINE && batch.n < n ? TROUBLE : status;
}

/* ---- memory to lines ---- */

enum { WINDOW = 64 }; /* bytes that are looked at together */

#if defined(__SSE2__)
static inline uint64_t ends_in_window(const char *bytes, char terminator) {
    const __m128i wanted = _mm_set1_epi8(terminator);
    uint64_t ends = 0;
    for (int i = 0; i < WINDOW; i += 16) {
        __m128i same = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)(bytes + i)), wanted);
        ends |= (uint64_t)(unsigned)_mm_movemask_epi8(same) << i;
    }
    return ends;
}
#else
static inline uint64_t ends_in_window(const char *bytes, char terminator) {
    uint64_t ends = 0;
    for (int i = 0; i < WINDOW; i++) ends |= (uint64_t)(bytes[i] == terminator) << i;
    return ends;
}
#endif

/* Bit i is set if byte i is a terminator: of a window, or of the `rest` that is less than one. */
static inline uint64_t find_ends(const char *bytes, size_t rest, char terminator) {
    if (rest >= WINDOW) return ends_in_window(bytes, terminator);
    uint64_t ends = 0;
    for (size_t i = 0; i < rest; i++) ends |= (uint64_t)(bytes[i] == terminator) << i;
    return ends;
}

static int split_lines(struct input_chunk *p) {
    const char *line = p->at, terminator = p->input->terminator;
    size_t n = 0;
    for (const char *at = p->at; at < p->end; at += WINDOW) {
        for (uint64_t ends = find_ends(at, (size_t)(p->end - at), terminator); ends; ends &= ends - 1) {
            const char *stop = at + __builtin_ctzll(ends);
            p->lines[n] = line;
            p->line_lengths[n] = (size_t)(stop - line);
            line = stop + 1;
            if (++n < BATCH) continue;
            int status = hand_on_keys(p, n);
            if (status != FINE) return status;
            n = 0;
        }
    }
    return hand_on_keys(p, n);
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

void chunk_read(struct input_chunk *p) {
    if (p->outcome.status != FINE) return;
    p->outcome.status = p->input->encoding == ENCODING_U64LE ? split_records(p) : split_lines(p);
}

int outcome_tell(const struct chunk_outcome *outcome, const char *path, uint64_t number) {
    if (*outcome->fault) return failure(input_name(path), "line %llu %s", (unsigned long long)number, outcome->fault);
    return outcome->status;
}
