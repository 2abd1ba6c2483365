/* How keys are written: what the options say about it, and what a filter's tag does. The rest of input.h. */
#include "filter.h"
#include "input.h"
#include "overlap.h"

#include <stdio.h>
#include <string.h>

const char *encoding_name(enum encoding encoding) {
    static char name[16];
    return word_at(option_table[OPT_KEY].words, (int)encoding, name, sizeof name);
}

static int delimiter_from(const char *text, char *delimiter) {
    if (strcmp(text, "\\t") == 0)
        *delimiter = '\t';
    else if (strlen(text) == 1)
        *delimiter = *text;
    else
        return failure("--delimiter", "'%s' is not one byte; give one such as ',' or '\\t'", text);
    return FINE;
}

int input_from_options(struct input *input, const struct options *options, char *const *paths, size_t path_count) {
    static char standard_input[] = "-";
    static char *const standard[] = {standard_input};
    *input = (struct input){
        .encoding = given(options, OPT_U64)   ? ENCODING_U64
                    : given(options, OPT_HEX) ? ENCODING_HEX
                                              : (enum encoding)options->encoding,
        .terminator = given(options, OPT_NULL) ? 0 : '\n',
        .field = options->field,
        .delimiter = '\t',
        .paths = path_count ? paths : standard,
        .path_count = path_count ? path_count : 1,
    };
    if (given(options, OPT_KEY) + given(options, OPT_U64) + given(options, OPT_HEX) > 1)
        return failure("--key", "given more than once; choose one of --key, --u64 and --hex");
    if (given(options, OPT_DELIMITER) && !given(options, OPT_FIELD))
        return failure("--delimiter", "means nothing without --field; say which field is the key");
    if (input->encoding == ENCODING_U64LE && (given(options, OPT_FIELD) || given(options, OPT_NULL)))
        return failure("--key", "u64le reads raw records, which have no lines or fields; leave out -0 and --field");
    input->ignore_case = given(options, OPT_IGNORE_CASE);
    if (input->ignore_case && input->encoding != ENCODING_BYTES)
        return failure("--ignore-case", "goes with keys of bytes, not with --key %s; leave out one of them",
                       encoding_name(input->encoding));
    if (given(options, OPT_DELIMITER) && delimiter_from(options->delimiter, &input->delimiter) != FINE) return TROUBLE;
    return refuse_overlap(options, input);
}

unsigned input_tag(const struct input *input) {
    return (unsigned)input->encoding | (input->ignore_case ? TAG_IGNORES_CASE : 0);
}

bool input_of_numbers(const struct input *input) {
    return input->integers || input->encoding == ENCODING_U64 || input->encoding == ENCODING_U64LE;
}

static bool is_integer(unsigned encoding) {
    return encoding >= ENCODING_U64 && encoding <= ENCODING_INT64;
}

/* u64 and u64le are two ways to write the same 64-bit keys. */
bool same_keys(unsigned tag, unsigned other) {
    return tag == other || (tag == ENCODING_U64 && other == ENCODING_U64LE) ||
           (tag == ENCODING_U64LE && other == ENCODING_U64);
}

static bool encoding_given(const struct options *options) {
    return given(options, OPT_KEY) || given(options, OPT_U64) || given(options, OPT_HEX);
}

int input_for_integers(struct input *input, const struct options *options) {
    input->integers = true;
    if (!encoding_given(options)) input->encoding = ENCODING_U64;
    if (is_integer(input->encoding)) return FINE;
    return failure("--key", "a bitmap holds integers, not %s; give u64, u64le, int32 or int64, or another -k",
                   encoding_name(input->encoding));
}

/* Raw records are read only where no option speaks of lines. */
static enum encoding encoding_from_tag(unsigned tag, const struct options *options) {
    bool lines = given(options, OPT_FIELD) || given(options, OPT_NULL);
    return tag == ENCODING_U64LE && lines ? ENCODING_U64 : (enum encoding)tag;
}

static int contradicts_tag(const char *filter_path, unsigned tag, enum encoding asked) {
    char name[16];
    snprintf(name, sizeof name, "%s", encoding_name(asked));
    return failure(filter_path, "was made with --key %s, so --key %s would find nothing; leave it out",
                   encoding_name((enum encoding)tag), name);
}

int input_match_tag(struct input *input, const struct options *options, const char *filter_path, unsigned tag) {
    bool chosen = encoding_given(options), folded = tag == (TAG_IGNORES_CASE | ENCODING_BYTES);
    if (input->ignore_case && !folded)
        return failure(filter_path, "was made without --ignore-case; leave it out, or make it anew");
    if (folded) tag = ENCODING_BYTES;
    input->ignore_case = folded;
    if (tag >= ENCODINGS) {
        if (chosen) return FINE;
        return failure(filter_path, "does not say how its keys are written (tag %u is another program's); give --key",
                       tag);
    }
    if (!chosen) input->encoding = encoding_from_tag(tag, options);
    bool same = input->integers ? is_integer(input->encoding) : same_keys(input->encoding, tag);
    return !chosen || same ? FINE : contradicts_tag(filter_path, tag, input->encoding);
}

int input_match(struct input *input, const struct options *options, const char *filter_path, const perhaps *filter) {
    unsigned tag = perhaps_tag(filter);
    if (filter_is_file(filter)) return FINE; /* it cannot tell how its keys are written: the options do */
    input->integers = filter_of_integers(filter);
    if (input->integers && !is_integer(tag)) tag = ENCODING_U64; /* another program's: numbers, whatever it says */
    return input_match_tag(input, options, filter_path, tag);
}
