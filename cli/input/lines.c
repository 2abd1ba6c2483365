#include "lines.h"
#include "encode.h"
#include "output/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* ------------------------------------------------------------------------------------------ lines to keys --- */

/* Line i of the batch is wrong: those before it are still handed on. */
static int fault(struct input_chunk *p, size_t i, const char *format, ...) __attribute__((format(printf, 3, 4)));

static int fault(struct input_chunk *p, size_t i, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(p->outcome.fault, sizeof p->outcome.fault, format, arguments);
    va_end(arguments);
    p->good = i;
    return TROUBLE;
}

static int not_a_key(struct input_chunk *p, size_t i, const char *why) {
    char shown[44];
    const char *text = p->texts[i];
    size_t whole = p->text_lengths[i], length = whole < 40 ? whole : 40;
    for (size_t c = 0; c < length; c++) shown[c] = text[c] < ' ' || text[c] > '~' ? '?' : text[c];
    strcpy(shown + length, whole > 40 ? "..." : "");
    bool carriage = whole && text[whole - 1] == '\r';
    return fault(p, i, "%s: '%s'; %s", why, shown,
                 carriage             ? "it ends in a carriage return: take those out first (tr -d '\\r')"
                 : p->input->integers ? "correct it, or choose another kind of filter: a bitmap holds integers only"
                                      : "correct it, or choose another --key");
}

/* Finds the wanted field of line i. */
static int cut_field(struct input_chunk *p, size_t i) {
    const char *at = p->texts[i], *end = at + p->text_lengths[i], *stop;
    for (uint64_t field = 1;; field++) {
        stop = memchr(at, p->input->delimiter, (size_t)(end - at));
        if (field == p->input->field) break;
        if (!stop)
            return fault(p, i, "has only %llu field%s; correct it, or %s", (unsigned long long)field,
                         field == 1 ? "" : "s",
                         p->input->field_kept ? "give --field 0 if lines are keys: the filter was made with fields"
                                              : "choose another --field or --delimiter");
        at = stop + 1;
    }
    p->keys[i] = at;
    p->lengths[i] = (size_t)((stop ? stop : end) - at);
    return FINE;
}

static int reserve_scratch(struct input_chunk *p) {
    size_t needed = 0;
    for (size_t i = 0; i < p->n; i++) needed += 2 * p->lengths[i] + 8;
    if (needed <= p->scratch_size) return FINE;
    free(p->scratch);
    p->scratch = malloc(needed);
    p->scratch_size = p->scratch ? needed : 0;
    return p->scratch ? FINE : fault(p, 0, "and those after it are too long for the memory there is");
}

/* An int32 or int64; for a kind of integers as a number too. */
static const char *make_integer(struct input_chunk *p, size_t i, size_t size, uint8_t *key) {
    const char *why = encode_int(p->keys[i], p->lengths[i], size, key);
    if (why || !p->input->integers) return why;
    return encode_u64(p->keys[i], p->lengths[i], &p->numbers[i]) ? "is below 0, where a bitmap begins" : NULL;
}

/* Turns the texts in `keys` into keys, in place of them. */
static int encode_keys(struct input_chunk *p) {
    if (reserve_scratch(p) != FINE) return TROUBLE;
    uint8_t *out = p->scratch;
    for (size_t i = 0; i < p->n; i++) {
        const char *text = p->keys[i], *why = NULL;
        size_t length = p->lengths[i], made = 0;
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
        default:
            made = p->input->encoding == ENCODING_INT32 ? 4 : 8;
            why = make_integer(p, i, made, out);
        }
        if (why) return not_a_key(p, i, why);
        p->keys[i] = out;
        p->lengths[i] = made;
        out += made;
    }
    return FINE;
}

/* Fills keys and lengths (or numbers) from the lines. */
static int make_keys(struct input_chunk *p) {
    if (p->input->field) {
        for (size_t i = 0; i < p->n; i++)
            if (cut_field(p, i) != FINE) return TROUBLE;
    } else {
        memcpy(p->keys, p->texts, p->n * sizeof *p->texts);
        memcpy(p->lengths, p->text_lengths, p->n * sizeof *p->lengths);
    }
    memcpy(p->key_texts, p->keys, p->n * sizeof *p->keys);
    memcpy(p->key_text_lengths, p->lengths, p->n * sizeof *p->lengths);
    return p->input->encoding == ENCODING_BYTES && !p->input->ignore_case ? FINE : encode_keys(p);
}

/* Is a key the bytes of its line? */
static bool is_plain(const struct input *input) {
    return input->encoding == ENCODING_BYTES && !input->field && !input->ignore_case;
}

static int hand_on_batch(struct input_chunk *p) {
    bool records = p->input->encoding == ENCODING_U64LE;
    bool as_is = is_plain(p->input);
    struct batch batch = {
        .n = p->n,
        .lines = p->texts,
        .line_lengths = p->text_lengths,
        .terminator_length = !records,
        .key_texts = as_is || records ? p->texts : p->key_texts,
        .key_text_lengths = as_is || records ? p->text_lengths : p->key_text_lengths,
        .path = p->path,
        .file = p->file,
        .offset = p->offset + (uint64_t)(p->texts[0] - p->origin),
        .first_line = p->first_line + p->outcome.lines,
    };
    if (input_of_numbers(p->input)) {
        batch.numbers = p->numbers;
    } else {
        batch.keys = as_is ? (const void *const *)p->texts : p->keys;
        batch.lengths = as_is ? p->text_lengths : p->lengths;
    }
    p->outcome.lines += p->n;
    p->n = 0;
    return p->function(p->context, &batch);
}

/* Hands the waiting lines on as keys, up to one that is none. */
static int hand_on(struct input_chunk *p) {
    if (p->n == 0) return FINE;
    if (p->input->encoding == ENCODING_U64LE || is_plain(p->input) || make_keys(p) == FINE) return hand_on_batch(p);
    p->n = p->good;
    if (p->n && make_keys(p) == FINE) {
        int status = hand_on_batch(p);
        if (status != FINE) return status;
    }
    return TROUBLE;
}

/* ---------------------------------------------------------------------------------------- memory to lines --- */

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
            p->texts[n] = line;
            p->text_lengths[n] = (size_t)(stop - line);
            line = stop + 1;
            if (++n < BATCH) continue;
            p->n = n;
            int status = hand_on(p);
            if (status != FINE) return status;
            n = 0;
        }
    }
    p->n = n;
    return hand_on(p);
}

static int split_records(struct input_chunk *p) {
    while (p->at < p->end) {
        const uint8_t *record = (const uint8_t *)p->at;
        uint64_t number = 0;
        for (int i = 7; i >= 0; i--) number = number << 8 | record[i];
        p->texts[p->n] = p->at;
        p->text_lengths[p->n] = 8;
        p->numbers[p->n] = number;
        p->at += 8;
        if (++p->n < BATCH) continue;
        int status = hand_on(p);
        if (status != FINE) return status;
    }
    return hand_on(p);
}

void chunk_read(struct input_chunk *p) {
    p->n = 0;
    if (p->outcome.status != FINE) return;
    p->outcome.status = p->input->encoding == ENCODING_U64LE ? split_records(p) : split_lines(p);
}

int outcome_tell(const struct chunk_outcome *outcome, const char *path, uint64_t number) {
    if (*outcome->fault) return failure(input_name(path), "line %llu %s", (unsigned long long)number, outcome->fault);
    return outcome->status;
}
