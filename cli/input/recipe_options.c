/* How records become keys: what the options say about it, and what a filter's recipe does. The rest of input.h. */
#include "backend/file/filter_file.h"
#include "input.h"
#include "overlap.h"

#include <perhaps_embed.h>

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
    if (options->field > UINT32_MAX) return failure("--field", "is not the number of a field; give one below 2^32");
    if (given(options, OPT_DELIMITER) && !options->field)
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

/* -------------------------------------------------------------------------------------------------- recipes --- */

static const int forms[ENCODINGS] = {
    [ENCODING_BYTES] = PERHAPS_KEY_BYTES, [ENCODING_HEX] = PERHAPS_KEY_HEX,     [ENCODING_U64] = PERHAPS_KEY_U64,
    [ENCODING_U64LE] = PERHAPS_KEY_U64,   [ENCODING_INT32] = PERHAPS_KEY_INT32, [ENCODING_INT64] = PERHAPS_KEY_INT64,
    [ENCODING_UTF16] = PERHAPS_KEY_UTF16,
};

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
    return recipe->ignore_case ? "bytes, ignoring case" : encoding_name(encoding_of(recipe->form));
}

bool recipe_key_from(const char *name, perhaps_recipe *recipe) {
    int encoding = word_index(option_table[OPT_KEY].words, name);
    recipe->ignore_case = strcmp(name, "bytes, ignoring case") == 0;
    recipe->form = encoding < 0 ? PERHAPS_KEY_BYTES : forms[encoding];
    return recipe->ignore_case || encoding >= 0;
}

static const char *const records_names[] = {"lines", "zero-terminated", "raw"};

const char *recipe_records_name(const perhaps_recipe *recipe) {
    return recipe->unknown ? "unknown" : records_names[recipe->records];
}

bool recipe_records_from(const char *name, perhaps_recipe *recipe) {
    for (int i = PERHAPS_LINES; i <= PERHAPS_RAW; i++) {
        if (strcmp(name, records_names[i]) != 0) continue;
        recipe->records = i;
        return true;
    }
    return false;
}

bool recipe_extracts(const perhaps_recipe *recipe) {
    return recipe->records != PERHAPS_LINES || recipe->field || recipe->unknown;
}

const char *recipe_options(const perhaps_recipe *recipe, char text[RECIPE_TEXT]) {
    int n = 0;
    *text = 0;
    if (recipe->ignore_case) n += snprintf(text + n, RECIPE_TEXT - (size_t)n, " --ignore-case");
    if (recipe->records == PERHAPS_RAW)
        n += snprintf(text + n, RECIPE_TEXT - (size_t)n, " --key u64le");
    else if (recipe->form)
        n += snprintf(text + n, RECIPE_TEXT - (size_t)n, " --key %s", encoding_name(encoding_of(recipe->form)));
    if (recipe->records == PERHAPS_ZERO_TERMINATED) n += snprintf(text + n, RECIPE_TEXT - (size_t)n, " -0");
    if (recipe->field) n += snprintf(text + n, RECIPE_TEXT - (size_t)n, " --field %u", (unsigned)recipe->field);
    if (recipe->field && recipe->delimiter > ' ' && recipe->delimiter < 127 && recipe->delimiter != '\'')
        snprintf(text + n, RECIPE_TEXT - (size_t)n, " --delimiter '%c'", recipe->delimiter);
    else if (recipe->field && recipe->delimiter != '\t')
        snprintf(text + n, RECIPE_TEXT - (size_t)n, " --delimiter $'\\x%02x'", (unsigned)recipe->delimiter);
    return *text ? text + 1 : "whole lines";
}

/* ------------------------------------------------------------------------------------------------- matching --- */

/* A transformation must be the filter's: with another one, no key would be found. */
static int match_transformation(struct input *input, const struct options *options, const char *path,
                                const perhaps_recipe *recipe) {
    char name[16];
    enum encoding stored = encoding_of(recipe->form);
    if (input->integers && !is_integer(stored)) stored = ENCODING_U64; /* numbers, whatever the recipe says */
    if (input->ignore_case && !recipe->ignore_case)
        return failure(path, "was made without --ignore-case; leave it out, or make it anew");
    input->ignore_case = recipe->ignore_case;
    if (!encoding_given(options)) {
        input->encoding = stored;
        return FINE;
    }
    bool same = input->integers ? is_integer(input->encoding) : forms[input->encoding] == recipe->form;
    snprintf(name, sizeof name, "%s", encoding_name(input->encoding));
    return same ? FINE
                : failure(path, "was made with --key %s, so --key %s would find nothing; leave it out",
                          encoding_name(stored), name);
}

static int contradicts(const char *path, const perhaps_recipe *recipe, const char *option) {
    char text[RECIPE_TEXT];
    return failure(path,
                   "was made with %s, which %s contradicts. Leave that out; or take the keys out of the records first, "
                   "and give --field 0 for lines that are keys",
                   recipe_options(recipe, text), option);
}

/* Fields and the ends of records, of a filter that keeps them: what is given must be the same. */
static int match_lines(struct input *input, const struct options *options, const char *path,
                       const perhaps_recipe *recipe) {
    bool zero = recipe->records == PERHAPS_ZERO_TERMINATED;
    if (input->encoding == ENCODING_U64LE) return contradicts(path, recipe, "--key u64le");
    if (given(options, OPT_FIELD) && options->field != recipe->field) return contradicts(path, recipe, "--field");
    if (given(options, OPT_DELIMITER) && (unsigned char)input->delimiter != recipe->delimiter)
        return contradicts(path, recipe, "--delimiter");
    if (given(options, OPT_NULL) && !zero) return contradicts(path, recipe, "-0");
    input->field = recipe->field;
    input->field_kept = !given(options, OPT_FIELD);
    if (recipe->field) input->delimiter = (char)recipe->delimiter;
    input->terminator = zero ? 0 : '\n';
    return FINE;
}

static int match_extraction(struct input *input, const struct options *options, const char *path,
                            const perhaps_recipe *recipe) {
    bool whole = given(options, OPT_FIELD) && !options->field;
    bool lines = given(options, OPT_FIELD) || given(options, OPT_NULL) || encoding_given(options);
    if (whole || !recipe_extracts(recipe)) return FINE;
    if (recipe->unknown)
        return failure(
            path,
            "its keys stand in records that this version cannot read (step %d of its recipe). Update perhaps, "
            "or give --field 0 for lines that are keys",
            recipe->unknown);
    if (recipe->records != PERHAPS_RAW) return match_lines(input, options, path, recipe);
    if (!lines) input->encoding = ENCODING_U64LE; /* the same keys, however they are written */
    return FINE;
}

int input_match_recipe(struct input *input, const struct options *options, const char *path,
                       const perhaps_recipe *recipe) {
    int status = match_transformation(input, options, path, recipe);
    return status == FINE ? match_extraction(input, options, path, recipe) : status;
}

int input_match(struct input *input, const struct options *options, const char *filter_path, const perhaps *filter) {
    perhaps_recipe recipe = filter_recipe(filter);
    if (filter_is_file(filter)) return FINE; /* it cannot tell how its keys are written: the options do */
    input->integers = filter_of_integers(filter);
    return input_match_recipe(input, options, filter_path, &recipe);
}

void input_follow(struct input *input, const perhaps *filter) {
    static const struct options none;
    perhaps_recipe recipe = filter_recipe(filter);
    if (!recipe_extracts(&recipe) || recipe.unknown) return;
    if (input->encoding == ENCODING_U64LE) input->encoding = ENCODING_U64;
    match_extraction(input, &none, NULL, &recipe);
}
