#include "json_find.h"

#include "encode.h"

#include <stdlib.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* Where the scan of a record is. */
struct json_search {
    const struct json_path *path;
    const char *start, *end;       /* of the record */
    char *scratch;                 /* as long */
    char *closers;                 /* the bracket that ends each open object or array, from 1 on */
    size_t *positions;             /* of the element at hand, in each open array on the path */
    unsigned depth;                /* how many objects and arrays are open */
    unsigned matched;              /* how many of them, from the outermost, are on the path */
    bool wanted;                   /* the value that follows is on the path */
    bool escaped;                  /* there were escapes in a string */
    const char *value, *value_end; /* what the path leads to, or NULL */
    const char *fault, *fault_at;
};

static const char *refuse(struct json_search *s, const char *at, const char *what) {
    s->fault = what;
    s->fault_at = at;
    return NULL;
}

/* ---- many bytes at a time ---- */

/*
 * BITS bits for each of the WIDTH bytes at `at`, the lowest for the first byte: set where a string
 * has something else than plain ASCII, or where a number has something else than a digit.
 */
typedef uint64_t marks_of(const char *at);

#if defined(__SSE2__) && !defined(JSON_FIND_PLAIN)
enum { WIDTH = 16, BITS = 1 };

/* The comparison is of signed bytes, so that it finds those from 0x80 on too. */
static inline uint64_t text_marks(const char *at) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
    __m128i odd = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
    return (unsigned)_mm_movemask_epi8(_mm_or_si128(odd, _mm_cmplt_epi8(bytes, _mm_set1_epi8(' '))));
}

/* '0' becomes the smallest of signed bytes. */
static inline uint64_t number_marks(const char *at) {
    __m128i bytes = _mm_add_epi8(_mm_loadu_si128((const __m128i *)(const void *)at), _mm_set1_epi8(0x80 - '0'));
    return (unsigned)_mm_movemask_epi8(_mm_cmpgt_epi8(bytes, _mm_set1_epi8(-0x80 + 9)));
}
#else
enum { WIDTH = 8, BITS = 8 };

#define ALL(byte) (UINT64_C(0x0101010101010101) * (byte))

static inline uint64_t load_little_endian(const char *at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* Seven bits of each byte are compared with sums that reach the eighth unless there is a match. */
static inline uint64_t text_marks(const char *at) {
    uint64_t word = load_little_endian(at), low = word & ALL(0x7F);
    uint64_t plain = (low + ALL(0x80 - ' ')) & ((low ^ ALL('"')) + ALL(0x7F)) & ((low ^ ALL('\\')) + ALL(0x7F));
    return (word | ~plain) & ALL(0x80);
}

static inline uint64_t number_marks(const char *at) {
    uint64_t word = load_little_endian(at) ^ ALL('0');
    return (word | ((word & ALL(0x7F)) + ALL(0x80 - 10))) & ALL(0x80);
}
#endif

/* The first byte from `at` on that has a mark, or the end. The last bytes of the record are loaded
 * together with those before them, and a short record from a copy: nothing behind it is read. */
static inline const char *first_mark(marks_of *marks, const struct json_search *s, const char *at) {
    char copy[WIDTH];
    for (; s->end - at >= WIDTH; at += WIDTH) {
        uint64_t found = marks(at);
        if (found) return at + __builtin_ctzll(found) / BITS;
    }
    if (at == s->end) return at;
    size_t length = (size_t)(s->end - s->start);
    if (length < WIDTH) {
        memset(copy, 0, sizeof copy);
        memcpy(copy + WIDTH - length, s->start, length);
    }
    uint64_t found = marks(length < WIDTH ? copy : s->end - WIDTH) >> (WIDTH - (s->end - at)) * BITS;
    return found ? at + __builtin_ctzll(found) / BITS : s->end;
}

/* ---- white space, strings, numbers, words: each reads on from `at`; NULL is a refusal ---- */

static inline bool is(const struct json_search *s, const char *at, char c) {
    return at < s->end && *at == c;
}

static inline const char *space(const struct json_search *s, const char *at) {
    while (at < s->end && *at <= ' ' && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) at++;
    return at;
}

/* What stands for the letter after a backslash, or 0 if it is no escape. */
static const char meanings[256] = {['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b', ['f'] = '\f',
                                   ['n'] = '\n', ['r'] = '\r',  ['t'] = '\t', ['u'] = 'u'};

static inline bool is_hex(char c) {
    return (unsigned char)(c - '0') < 10 || (unsigned char)((c | 0x20) - 'a') < 6;
}

static inline const char *escape(struct json_search *s, const char *at) {
    s->escaped = true;
    if (s->end - at < 2 || !meanings[(unsigned char)at[1]]) return refuse(s, at, "there is no such escape");
    if (at[1] != 'u') return at + 2;
    for (int i = 2; i < 6; i++)
        if (at + i >= s->end || !is_hex(at[i])) return refuse(s, at, "\\u is not followed by four hexadecimal digits");
    return at + 6;
}

static const char *odd_character(struct json_search *s, const char *at) {
    uint32_t code;
    if (*at == '\\') return escape(s, at);
    if ((unsigned char)*at < ' ') return refuse(s, at, "a control character in a string is not escaped");
    const char *next = utf8_next(at, s->end, &code);
    return next ? next : refuse(s, at, "a string is not UTF-8");
}

/* From an escape or a character beyond ASCII past those that follow it. */
static __attribute__((noinline)) const char *odd_characters(struct json_search *s, const char *at) {
    do at = odd_character(s, at);
    while (at && at < s->end && (*at == '\\' || (unsigned char)*at >= 0x80));
    return at;
}

static inline const char *string(struct json_search *s, const char *at) {
    const char *begin = at++;
    while (at) {
        at = first_mark(text_marks, s, at);
        if (at == s->end) return refuse(s, begin, "a string does not end");
        if (*at == '"') return at + 1;
        at = odd_characters(s, at);
    }
    return NULL;
}

static inline const char *digits(struct json_search *s, const char *at, const char *if_none) {
    const char *end = first_mark(number_marks, s, at);
    return end > at ? end : refuse(s, at, if_none);
}

static const char *number(struct json_search *s, const char *at) {
    static const char lack[] = "a number lacks a digit";
    bool negative = is(s, at, '-');
    const char *whole = at + negative;
    at = digits(s, whole, negative ? lack : "a value is missing");
    if (at && *whole == '0' && at - whole > 1) return refuse(s, whole, "a number begins with 0");
    if (at && is(s, at, '.')) at = digits(s, at + 1, lack);
    if (at && (is(s, at, 'e') || is(s, at, 'E'))) {
        at++;
        at = digits(s, at + (is(s, at, '+') || is(s, at, '-')), lack);
    }
    return at;
}

static const char *word(struct json_search *s, const char *at, const char *expected) {
    size_t length = strlen(expected);
    bool same = (size_t)(s->end - at) >= length && memcmp(at, expected, length) == 0;
    return same ? at + length : refuse(s, at, "a word is not true, false or null");
}

/* ---- strings without their escapes ---- */

/* Of digits that were checked. */
static uint32_t hex4(const char *at) {
    uint32_t code = 0;
    for (int i = 0; i < 4; i++) code = code << 4 | ((at[i] & 0xFu) + (at[i] > '9' ? 9 : 0));
    return code;
}

/* Halves of surrogate pairs too. Returns where the next one goes. */
static char *put_utf8(char *to, uint32_t code) {
    int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const uint8_t lead[] = {0, 0xC0, 0xE0, 0xF0};
    *to++ = (char)(lead[more] | code >> 6 * more);
    for (int bits = 6 * more - 6; bits >= 0; bits -= 6) *to++ = (char)(0x80 | (code >> bits & 0x3F));
    return to;
}

/* The code after "\u" at `*at`, with the other half of a pair if that follows. */
static uint32_t escaped_code(const char **at, const char *end) {
    uint32_t code = hex4(*at), low;
    *at += 4;
    if (code >> 10 != 0xD800 >> 10 || end - *at < 6 || (*at)[0] != '\\' || (*at)[1] != 'u') return code;
    low = hex4(*at + 2);
    if (low >> 10 != 0xDC00 >> 10) return code;
    *at += 6;
    return 0x10000 + ((code & 0x3FF) << 10 | (low & 0x3FF));
}

/* The inside of a string that was checked. Returns how long it is at `to`: not longer. */
static size_t unescape(const char *at, const char *end, char *to) {
    char *begin = to;
    while (at < end) {
        const char *stop = memchr(at, '\\', (size_t)(end - at));
        size_t plain = (size_t)((stop ? stop : end) - at);
        memcpy(to, at, plain);
        to += plain;
        if (!stop) break;
        at = stop + 2;
        to = put_utf8(to, stop[1] == 'u' ? escaped_code(&at, end) : (unsigned char)meanings[(unsigned char)stop[1]]);
    }
    return (size_t)(to - begin);
}

/* ---- objects and arrays ---- */

/* Whether the string from quote to quote is the name of the step. */
static bool is_name(const struct json_search *s, const struct json_step *step, const char *at, const char *end) {
    size_t length = (size_t)(end - at) - 2;
    const char *name = at + 1;
    if (step->is_position || (!s->escaped && length != step->length)) return false;
    if (s->escaped) {
        length = unescape(name, end - 1, s->scratch);
        name = s->scratch;
    }
    return length == step->length && memcmp(name, s->path->names + step->name, length) == 0;
}

/* The name of a member and its colon. */
static inline const char *member_name(struct json_search *s, const char *at) {
    const char *name = at;
    if (!is(s, at, '"')) return refuse(s, at, "a name in quotes is missing");
    s->escaped = false;
    at = string(s, at);
    if (!at) return NULL;
    s->wanted = s->matched == s->depth && is_name(s, &s->path->steps[s->depth - 1], name, at);
    at = space(s, at);
    return is(s, at, ':') ? space(s, at + 1) : refuse(s, at, "':' is missing after a name");
}

/* Up to the value of the next member or element, and whether the path goes there. */
static inline const char *next_item(struct json_search *s, const char *at) {
    if (s->closers[s->depth] == '}') return member_name(s, at);
    s->wanted = false;
    if (s->matched == s->depth) {
        const struct json_step *step = &s->path->steps[s->depth - 1];
        s->wanted = step->is_position && s->positions[s->depth - 1]++ == step->position;
    }
    return at;
}

/* Up to its first member or element, or its other bracket. */
static const char *open_bracket(struct json_search *s, const char *at) {
    if (s->depth == JSON_DEPTH) return refuse(s, at, "more than 1024 objects and arrays are inside each other");
    s->closers[++s->depth] = *at == '{' ? '}' : ']';
    if (s->wanted && s->depth <= s->path->count) {
        s->matched = s->depth;
        s->positions[s->depth - 1] = 0;
    }
    return space(s, at + 1);
}

/* A string, number or word; or brackets up to the first of these in them or to the first that are
 * empty. What is on the path takes the place of what an earlier member of the same name had. */
static inline const char *begin_value(struct json_search *s, const char *at) {
    while (at) {
        if (s->wanted) {
            s->value = s->depth == s->path->count ? at : NULL;
            s->value_end = NULL;
        }
        switch (at < s->end ? *at : 0) {
        case '"':
            return string(s, at);
        case 't':
            return word(s, at, "true");
        case 'f':
            return word(s, at, "false");
        case 'n':
            return word(s, at, "null");
        case '{':
        case '[':
            at = open_bracket(s, at);
            if (!at || is(s, at, s->closers[s->depth])) return at;
            at = next_item(s, at);
            break;
        default:
            return number(s, at);
        }
    }
    return NULL;
}

/* From a value to the next one, out of all brackets that close between them. NULL too when the
 * record is at its end. */
static inline const char *end_value(struct json_search *s, const char *at) {
    while (at) {
        if (s->depth == s->path->count && s->value && !s->value_end) s->value_end = at;
        at = space(s, at);
        if (!s->depth) return at == s->end ? NULL : refuse(s, at, "more text follows the value");
        if (is(s, at, ',')) return next_item(s, space(s, at + 1));
        if (!is(s, at, s->closers[s->depth]))
            return refuse(s, at, s->closers[s->depth] == '}' ? "',' or '}' is missing" : "',' or ']' is missing");
        s->matched -= s->matched == s->depth;
        s->depth--;
        at++;
    }
    return NULL;
}

enum json_result json_find(const struct json_path *path, const char *at, const char *end, char *scratch,
                           const char **key, size_t *length, const char **fault, const char **fault_at) {
    char closers[JSON_DEPTH + 1];
    size_t positions[JSON_PATH_STEPS];
    struct json_search s = {.path = path, .start = at, .end = end, .scratch = scratch};
    s.closers = closers;
    s.positions = positions;
    s.wanted = true;
    for (at = space(&s, at); at;) at = end_value(&s, begin_value(&s, at));
    *fault = s.fault;
    *fault_at = s.fault_at;
    if (s.fault) return JSON_INVALID;
    if (!s.value || *s.value == 'n') return JSON_MISSING;
    *key = s.value;
    *length = (size_t)(s.value_end - s.value);
    if (*s.value != '"') return JSON_FOUND;
    ++*key;
    *length -= 2;
    if (!memchr(*key, '\\', *length)) return JSON_FOUND;
    *length = unescape(*key, *key + *length, scratch);
    *key = scratch;
    return JSON_FOUND;
}

/* ---- paths ---- */

/* What a name cannot have unless it is in quotes. */
static bool ends_name(char c) {
    return (unsigned char)c <= ' ' || c == 0x7F || strchr(".[]\"\\", c);
}

static const char *parse_name(struct json_search *s, const char **at, char *to, size_t *length) {
    const char *name = *at;
    if (*name == '"') {
        *at = string(s, name);
        if (!*at) return "has a name in quotes that is not as in JSON";
        *length = unescape(name + 1, *at - 1, to);
        return NULL;
    }
    while (!ends_name(**at)) ++*at;
    *length = (size_t)(*at - name);
    memcpy(to, name, *length);
    return *length ? NULL : "has a '.' that no name follows; names with other characters go in quotes: .\"odd name\"";
}

static const char *parse_position(const char **at, uint32_t *position) {
    char *end;
    unsigned long number = strtoul(*at + 1, &end, 10);
    if ((*at)[1] < '0' || (*at)[1] > '9' || *end != ']' || end - *at > 10)
        return "has brackets without a position in them: a number from 0 to 999999999";
    *position = (uint32_t)number;
    *at = end + 1;
    return NULL;
}

static const char *check_text(const char *text, const char *end) {
    uint32_t code;
    if (*text != '.') return "does not begin with '.'";
    if (end - text > JSON_PATH_BYTES) return "is longer than 512 bytes";
    while (text && text < end) text = utf8_next(text, end, &code);
    return text ? NULL : "is not UTF-8";
}

/* All names together are not longer than the text. */
const char *json_path_parse(const char *text, struct json_path *path) {
    const char *at = text, *end = text + strlen(text), *why = check_text(text, end);
    struct json_search s = {.start = text, .end = end};
    size_t used = 0;
    *path = (struct json_path){0};
    if (!why && end == text + 1) return NULL;
    while (!why && at < end) {
        struct json_step *step = &path->steps[path->count];
        size_t length = 0;
        if (path->count++ == JSON_PATH_STEPS) return "has more than 32 steps";
        if (*at != '.' && *at != '[')
            return "goes on without '.' or '['; names with other characters go in quotes: .\"odd name\"";
        at += *at == '.';
        step->is_position = *at == '[';
        step->name = (uint16_t)used;
        why =
            step->is_position ? parse_position(&at, &step->position) : parse_name(&s, &at, path->names + used, &length);
        step->length = (uint16_t)length;
        used += length;
    }
    return why;
}
