/* How records become keys: what the options say about it, and what a filter's recipe does. The rest
 * of input.h. */
#include "backend/file/filter_file.h"
#include "input.h"

#include <stdio.h>
#include <string.h>

/* "bytes", "hex", ... */
static const char *encoding_name(enum encoding encoding) {
    static char name[16];
    return word_at(option_table[OPT_KEY].words, (int)encoding, name, sizeof name);
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
        .ignore_case = given(options, OPT_IGNORE_CASE),
    };
    if (given(options, OPT_KEY) + given(options, OPT_U64) + given(options, OPT_HEX) > 1)
        return failure("--key", "given more than once; choose one of --key, --u64 and --hex");
    if (options->field > UINT32_MAX) return failure("--field", "is not the number of a field; give one below 2^32");
    if (given(options, OPT_DELIMITER) && !options->field)
        return failure("--delimiter", "means nothing without --field; say which field is the key");
    if (input->encoding == ENCODING_U64LE && (given(options, OPT_FIELD) || given(options, OPT_NULL)))
        return failure("--key", "u64le reads raw records, which have no lines or fields; leave out -0 and --field");
    if (input->ignore_case && input->encoding != ENCODING_BYTES)
        return failure("--ignore-case", "goes with keys of bytes, not with --key %s; leave out one of them",
                       encoding_name(input->encoding));
    if (given(options, OPT_DELIMITER) && strcmp(options->delimiter, "\\t") != 0) {
        if (strlen(options->delimiter) != 1)
            return failure("--delimiter", "'%s' is not one byte; give one such as ',' or '\\t'", options->delimiter);
        input->delimiter = *options->delimiter;
    }
    return refuse_overlap(options, input);
}

bool input_of_numbers(const struct input *input) {
    return input->integers || input->encoding == ENCODING_U64 || input->encoding == ENCODING_U64LE;
}

static bool is_integer(enum encoding encoding) {
    return encoding >= ENCODING_U64 && encoding <= ENCODING_INT64;
}

static bool encoding_given(const struct options *options) {
    return given(options, OPT_KEY) || given(options, OPT_U64) || given(options, OPT_HEX);
}

int input_for_integers(struct input *input, const struct options *options) {
    input->integers = true;
    if (!encoding_given(options)) input->encoding = ENCODING_U64;
    if (input->ignore_case)
        return failure("--ignore-case", "a bitmap holds integers, which have no case; leave it out");
    if (is_integer(input->encoding)) return FINE;
    return failure("--key", "a bitmap holds integers, not %s; give u64, u64le, int32 or int64, or another -k",
                   encoding_name(input->encoding));
}

/* ---- recipes ---- */

static const int forms[ENCODINGS] = {
    [ENCODING_BYTES] = PERHAPS_KEY_BYTES, [ENCODING_HEX] = PERHAPS_KEY_HEX,     [ENCODING_U64] = PERHAPS_KEY_U64,
    [ENCODING_U64LE] = PERHAPS_KEY_U64,   [ENCODING_INT32] = PERHAPS_KEY_INT32, [ENCODING_INT64] = PERHAPS_KEY_INT64,
    [ENCODING_UTF16] = PERHAPS_KEY_UTF16,
};

static const char ignoring_case[] = "bytes, ignoring case";

static const char *const records_names[] = {
    [PERHAPS_LINES] = "lines", [PERHAPS_ZERO_TERMINATED] = "zero-terminated", [PERHAPS_RAW] = "raw"};

/* Of u64 and u64le, which have one form, that of lines. */
static enum encoding encoding_of(int form) {
    enum encoding encoding = ENCODING_BYTES;
    while (encoding < ENCODINGS - 1 && forms[encoding] != form) encoding++;
    return encoding;
}

perhaps_recipe input_recipe(const struct input *input) {
    bool raw = input->encoding == ENCODING_U64LE;
    return PERHAPS_RECIPE(.form = forms[input->encoding], .ignore_case = input->ignore_case,
                          .records = raw                 ? PERHAPS_RAW
                                     : input->terminator ? PERHAPS_LINES
                                                         : PERHAPS_ZERO_TERMINATED,
                          .field = (uint32_t)input->field,
                          .delimiter = input->field ? (unsigned char)input->delimiter : 0);
}

const char *recipe_key_name(const perhaps_recipe *recipe) {
    return recipe->ignore_case ? ignoring_case : encoding_name(encoding_of(recipe->form));
}

bool recipe_key_from(const char *name, perhaps_recipe *recipe) {
    int encoding = word_index(option_table[OPT_KEY].words, name);
    recipe->ignore_case = strcmp(name, ignoring_case) == 0;
    recipe->form = encoding < 0 ? PERHAPS_KEY_BYTES : forms[encoding];
    return recipe->ignore_case || encoding >= 0;
}

const char *recipe_records_name(const perhaps_recipe *recipe) {
    return recipe->unknown ? "unknown" : records_names[recipe->records];
}

bool recipe_records_from(const char *name, perhaps_recipe *recipe) {
    int records = PERHAPS_LINES;
    while (records <= PERHAPS_RAW && strcmp(name, records_names[records]) != 0) records++;
    if (records <= PERHAPS_RAW) recipe->records = records;
    return records <= PERHAPS_RAW;
}

bool recipe_extracts(const perhaps_recipe *recipe) {
    return recipe->records != PERHAPS_LINES || recipe->field || recipe->unknown;
}

const char *recipe_options(const perhaps_recipe *recipe, char text[RECIPE_TEXT]) {
    const char *key = recipe->records == PERHAPS_RAW ? "u64le"
                      : recipe->form                 ? encoding_name(encoding_of(recipe->form))
                                                     : NULL;
    bool printable = recipe->delimiter > ' ' && recipe->delimiter < 127 && recipe->delimiter != '\'';
    char field[20] = "", delimiter[24] = "";
    if (recipe->field) snprintf(field, sizeof field, " --field %u", (unsigned)recipe->field);
    if (recipe->field && recipe->delimiter != '\t')
        snprintf(delimiter, sizeof delimiter, printable ? " --delimiter '%c'" : " --delimiter $'\\x%02x'",
                 (unsigned)recipe->delimiter);
    snprintf(text, RECIPE_TEXT, "%s%s%s%s%s%s", recipe->ignore_case ? " --ignore-case" : "", key ? " --key " : "",
             key ? key : "", recipe->records == PERHAPS_ZERO_TERMINATED ? " -0" : "", field, delimiter);
    return *text ? text + 1 : "whole lines";
}

/* ---- matching ---- */

/* Fields and the ends of records, of a filter that keeps them: what is given must be the same. */
static int match_extraction(struct input *input, const struct options *options, const char *path,
                            const perhaps_recipe *recipe) {
    char text[RECIPE_TEXT];
    bool zero = recipe->records == PERHAPS_ZERO_TERMINATED, field = given(options, OPT_FIELD);
    bool whole = field && !options->field;
    if (whole || !recipe_extracts(recipe)) return FINE;
    if (recipe->unknown)
        return failure(path,
                       "its keys stand in records that this version cannot read (step %d of its recipe). Update "
                       "perhaps, or give --field 0 for lines that are keys",
                       recipe->unknown);
    if (recipe->records == PERHAPS_RAW) { /* the same keys, however they are written */
        if (!field && !given(options, OPT_NULL) && !encoding_given(options)) input->encoding = ENCODING_U64LE;
        return FINE;
    }
    bool other_delimiter = (unsigned char)input->delimiter != recipe->delimiter;
    const char *wrong = input->encoding == ENCODING_U64LE                  ? "--key u64le"
                        : field && options->field != recipe->field         ? "--field"
                        : given(options, OPT_DELIMITER) && other_delimiter ? "--delimiter"
                        : given(options, OPT_NULL) && !zero                ? "-0"
                                                                           : NULL;
    if (wrong)
        return failure(path,
                       "was made with %s, which %s contradicts. Leave that out; or take the keys out of the records "
                       "first, and give --field 0 for lines that are keys",
                       recipe_options(recipe, text), wrong);
    input->field = recipe->field;
    input->field_kept = !field;
    if (recipe->field) input->delimiter = (char)recipe->delimiter;
    input->terminator = zero ? 0 : '\n';
    return FINE;
}

/* A transformation must be the filter's: with another one, no key would be found. */
int input_match_recipe(struct input *input, const struct options *options, const char *path,
                       const perhaps_recipe *recipe) {
    enum encoding stored = encoding_of(recipe->form);
    if (input->integers && !is_integer(stored)) stored = ENCODING_U64; /* whatever it says */
    if (input->ignore_case && !recipe->ignore_case)
        return failure(path, "was made without --ignore-case; leave it out, or make it anew");
    input->ignore_case = recipe->ignore_case;
    if (!encoding_given(options)) {
        input->encoding = stored;
    } else if (input->integers ? !is_integer(input->encoding) : forms[input->encoding] != recipe->form) {
        char name[16];
        snprintf(name, sizeof name, "%s", encoding_name(input->encoding));
        return failure(path, "was made with --key %s, so --key %s would find nothing; leave it out",
                       encoding_name(stored), name);
    }
    return match_extraction(input, options, path, recipe);
}

int input_match(struct input *input, const struct options *options, const char *filter_path, const perhaps *filter) {
    perhaps_recipe recipe = filter_recipe(filter);
    if (filter_is_file(filter)) return FINE; /* it cannot tell how its keys are written */
    input->integers = filter_of_integers(filter);
    return input_match_recipe(input, options, filter_path, &recipe);
}

void input_follow(struct input *input, const perhaps_recipe *recipe) {
    static const struct options none;
    if (!recipe_extracts(recipe) || recipe->unknown) return;
    if (input->encoding == ENCODING_U64LE) input->encoding = ENCODING_U64;
    match_extraction(input, &none, NULL, recipe);
}
