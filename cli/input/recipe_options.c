/* How records become keys: what the options say about it, and what a filter's recipe does. The rest
 * of input.h. */
#include "backend/file/filter_file.h"
#include "commands/commands.h"
#include "input.h"
#include "records.h"

#include <stdio.h>
#include <string.h>

/* "bytes", "hex", ... */
static const char *encoding_name(enum encoding encoding) {
    static char name[16];
    return word_at(option_table[OPT_KEY].words, (int)encoding, name, sizeof name);
}

/* ---- where keys stand: the options ---- */

/* The options that say where keys stand: in KEYS, or in the file of --confirm. */
struct place_options {
    enum option_id csv, tsv, whitespace, jsonl, header, field, delimiter, trim;
};

static const struct place_options of_keys = {OPT_CSV,    OPT_TSV,   OPT_WHITESPACE, OPT_JSONL,
                                             OPT_HEADER, OPT_FIELD, OPT_DELIMITER,  OPT_TRIM};
static const struct place_options of_confirm = {OPT_CONFIRM_CSV,       OPT_CONFIRM_TSV,    OPT_CONFIRM_WHITESPACE,
                                                OPT_CONFIRM_JSONL,     OPT_CONFIRM_HEADER, OPT_CONFIRM_FIELD,
                                                OPT_CONFIRM_DELIMITER, OPT_CONFIRM_TRIM};

/* The value of an option that takes a text. */
static const char *text_of(const struct options *options, enum option_id id) {
    return *(const char *const *)(const void *)((const char *)options + option_table[id].field);
}

static const char *name_of(enum option_id id, char name[OPTION_TEXT]) {
    snprintf(name, OPTION_TEXT, "--%s", option_table[id].name);
    return name;
}

/* The format that an option names; OPTIONS if none is given. */
static enum option_id format_option(const struct options *options, const struct place_options *set) {
    const enum option_id formats[] = {set->csv, set->tsv, set->whitespace, set->jsonl};
    return first_given(options, formats, sizeof formats / sizeof *formats);
}

static int records_of(const struct place_options *set, enum option_id format) {
    return format == set->csv          ? PERHAPS_CSV
           : format == set->tsv        ? PERHAPS_TSV
           : format == set->whitespace ? PERHAPS_WHITESPACE
           : format == set->jsonl      ? PERHAPS_JSON_LINES
                                       : PERHAPS_LINES;
}

static int refuse_pair(enum option_id one, enum option_id other, const char *why) {
    char name[OPTION_TEXT];
    return failure(name_of(one, name), "does not go with --%s: %s", option_table[other].name, why);
}

/* Options of which one makes nonsense of another. */
static int check_place(const struct options *options, const struct place_options *set, enum option_id format) {
    const enum option_id formats[] = {set->csv, set->tsv, set->whitespace, set->jsonl};
    const struct option *elsewhere = &option_table[OPT_ELSEWHERE];
    char name[OPTION_TEXT];
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i] != format && given(options, formats[i]))
            return refuse_pair(format, formats[i], "records have one format; leave out one of them");
    if (format == set->jsonl && given(options, set->field))
        return refuse_pair(set->field, format, "the path says where the key is; leave out one of them");
    if (format == set->jsonl && given(options, set->header))
        return refuse_pair(set->header, format, "JSON lines have none; leave out one of them");
    if (format != OPTIONS && format != set->csv && given(options, set->delimiter))
        return refuse_pair(set->delimiter, format, "it says how fields are separated; leave out one of them");
    bool filter = set == &of_keys && options->command->least && command_takes(options->command, elsewhere);
    if (format == OPTIONS && given(options, set->delimiter) && !given(options, set->field))
        return failure(name_of(set->delimiter, name), "needs --%s; say which field is the key%s",
                       option_table[set->field].name,
                       filter ? ", with --elsewhere if the filter was made from other records" : "");
    return FINE;
}

static int take_delimiter(struct input *input, const struct options *options, enum option_id id) {
    char name[OPTION_TEXT];
    const char *text = text_of(options, id);
    input->delimiter = usual_delimiter(input->records);
    if (!given(options, id)) return FINE;
    if (strcmp(text, "\\t") == 0) text = "\t";
    if (strlen(text) != 1)
        return failure(name_of(id, name), "'%s' is not one byte; give one such as ',' or '\\t'", text);
    if (input->records == PERHAPS_CSV && strchr("\"\r\n", *text))
        return failure(name_of(id, name), "a quote or a line end has a meaning in CSV; give another byte");
    input->delimiter = *text;
    return FINE;
}

static int take_fields(struct input *input, const char *option, const char *text) {
    const char *why = columns_parse(text, &input->fields);
    if (why) return failure(option, "'%s' %s", text, why);
    if (input->fields.named && !input->header)
        return failure(option, "'%s' names a column; add --header if the first line has the names, or give its number",
                       text);
    if (input->fields.n) snprintf(input->where, sizeof input->where, "%s", text);
    return FINE;
}

static int take_path(struct input *input, const char *option, const char *text) {
    const char *why = json_path_parse(text, &input->path);
    if (why) return failure(option, "'%s' %s; write .url, .user.id, .tags[0] or .\"odd name\"", text, why);
    if (strlen(text) >= sizeof input->where)
        return failure(option, "is longer than the 255 bytes that a filter can remember; rename some members");
    snprintf(input->where, sizeof input->where, "%s", text);
    return FINE;
}

/* What these options say of the place of keys; without any, lines. */
static int place_from_options(struct input *input, const struct options *options, const struct place_options *set) {
    char name[OPTION_TEXT];
    enum option_id format = format_option(options, set);
    if (check_place(options, set, format) != FINE) return TROUBLE;
    input->records = records_of(set, format);
    input->terminator = '\n';
    input->header = given(options, set->header);
    input->trim = given(options, set->trim);
    input->fields = (struct column_list){.n = 0};
    *input->where = 0;
    if (take_delimiter(input, options, set->delimiter) != FINE) return TROUBLE;
    if (format == set->jsonl) return take_path(input, name_of(format, name), text_of(options, format));
    return given(options, set->field) ? take_fields(input, name_of(set->field, name), text_of(options, set->field))
                                      : FINE;
}

/* -0 and --key u64le are formats, too. */
static int take_other_formats(struct input *input, const struct options *options) {
    enum option_id format = format_option(options, &of_keys);
    const enum option_id places[] = {format == OPTIONS ? OPT_FIELD : format, OPT_NULL, OPT_HEADER, OPT_FIELD, OPT_TRIM};
    char name[OPTION_TEXT];
    if (format != OPTIONS && given(options, OPT_NULL))
        return refuse_pair(OPT_NULL, format, "its records end in a newline; leave out one of them");
    if (given(options, OPT_NULL)) {
        input->records = PERHAPS_ZERO_TERMINATED;
        input->terminator = 0;
    }
    if (input->encoding != ENCODING_U64LE) return FINE;
    enum option_id other = first_given(options, places, sizeof places / sizeof *places);
    input->records = PERHAPS_RAW;
    if (other == OPTIONS) return FINE;
    return failure("--key", "u64le reads raw records, which have no lines or fields; leave out %s",
                   other == OPT_NULL || other == OPT_FIELD ? "-0 and --field" : name_of(other, name));
}

/* Several fields make text, which is no number and no hexadecimal. */
static int check_several(const struct input *input) {
    if (input->fields.n < 2 || input->encoding == ENCODING_BYTES) return FINE;
    char name[OPTION_TEXT];
    snprintf(name, sizeof name, "--%sfield", input->prefix);
    return failure(name, "several fields make a key of bytes, not of --key %s; give one field, or leave that out",
                   encoding_name(input->encoding));
}

int input_from_options(struct input *input, const struct options *options, char *const *paths, size_t path_count) {
    static char standard_input[] = "-";
    static char *const standard[] = {standard_input};
    *input = (struct input){
        .encoding = given(options, OPT_U64)   ? ENCODING_U64
                    : given(options, OPT_HEX) ? ENCODING_HEX
                                              : (enum encoding)options->encoding,
        .missing = (enum missing)options->missing,
        .prefix = "",
        .paths = path_count ? paths : standard,
        .path_count = path_count ? path_count : 1,
        .ignore_case = given(options, OPT_IGNORE_CASE),
    };
    if (given(options, OPT_KEY) + given(options, OPT_U64) + given(options, OPT_HEX) > 1)
        return failure("--key", "given more than once; choose one of --key, --u64 and --hex");
    if (place_from_options(input, options, &of_keys) != FINE || take_other_formats(input, options) != FINE)
        return TROUBLE;
    if (input->ignore_case && input->encoding != ENCODING_BYTES)
        return failure("--ignore-case", "goes with keys of bytes, not with --key %s; leave out one of them",
                       encoding_name(input->encoding));
    return check_several(input) == FINE ? refuse_overlap(options, input) : TROUBLE;
}

bool input_skips(const struct input *input) {
    return is_table(input->records) || input->missing == MISSING_SKIP;
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
    if (is_integer(input->encoding)) return check_several(input);
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

/* Of u64 and u64le, which have one form, that of lines. */
static enum encoding encoding_of(int form) {
    enum encoding encoding = ENCODING_BYTES;
    while (encoding < ENCODINGS - 1 && forms[encoding] != form) encoding++;
    return encoding;
}

/* Does the format have a delimiter, which may be another than usual? */
static bool is_delimited(int records, bool fields) {
    return records == PERHAPS_CSV || (fields && (records == PERHAPS_LINES || records == PERHAPS_ZERO_TERMINATED));
}

perhaps_recipe input_recipe(const struct input *input) {
    bool delimited = is_delimited(input->records, input->fields.n);
    perhaps_recipe recipe =
        PERHAPS_RECIPE(.form = forms[input->encoding], .ignore_case = input->ignore_case, .records = input->records,
                       .field = input->fields.n == 1 ? input->fields.columns[0].number : 0,
                       .delimiter = delimited ? (unsigned char)input->delimiter : 0, .header = input->header,
                       .trim = input->trim, .ngram = input->ngram);
    if (!recipe.field) snprintf(recipe.where, sizeof recipe.where, "%s", input->where);
    return recipe;
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
    return recipe->unknown ? "unknown" : record_format_name(recipe->records);
}

bool recipe_records_from(const char *name, perhaps_recipe *recipe) {
    int records = record_format_from(name);
    if (records >= 0) recipe->records = records;
    return records >= 0;
}

bool recipe_extracts(const perhaps_recipe *recipe) {
    return recipe->records != PERHAPS_LINES || recipe->field || *recipe->where || recipe->header || recipe->trim ||
           recipe->ngram || recipe->unknown;
}

/* How it is written in a shell, if it has no single quote. */
static void add_delimiter(char *text, int delimiter) {
    bool printable = delimiter > ' ' && delimiter < 127 && delimiter != '\'';
    append_text(text, RECIPE_TEXT, printable ? " --delimiter '%c'" : " --delimiter $'\\x%02x'", (unsigned)delimiter);
}

const char *recipe_options(const perhaps_recipe *recipe, char text[RECIPE_TEXT]) {
    const char *key = recipe->records == PERHAPS_RAW ? "u64le"
                      : recipe->form                 ? encoding_name(encoding_of(recipe->form))
                                                     : NULL;
    bool json = recipe->records == PERHAPS_JSON_LINES;
    char usual = usual_delimiter(recipe->records), mark = strchr(recipe->where, '\'') ? '"' : '\'';
    *text = 0;
    if (recipe->ignore_case) append_text(text, RECIPE_TEXT, " --ignore-case");
    if (key) append_text(text, RECIPE_TEXT, " --key %s", key);
    if (recipe->records == PERHAPS_ZERO_TERMINATED) append_text(text, RECIPE_TEXT, " -0");
    if (is_table(recipe->records)) append_text(text, RECIPE_TEXT, " --%s", record_format_name(recipe->records));
    if (json) append_text(text, RECIPE_TEXT, " %c%s%c", mark, recipe->where, mark);
    if (recipe->header) append_text(text, RECIPE_TEXT, " --header");
    if (recipe->field) append_text(text, RECIPE_TEXT, " --field %u", (unsigned)recipe->field);
    if (*recipe->where && !json) append_text(text, RECIPE_TEXT, " --field %c%s%c", mark, recipe->where, mark);
    if (recipe->delimiter && recipe->delimiter != usual) add_delimiter(text, recipe->delimiter);
    if (recipe->trim) append_text(text, RECIPE_TEXT, " --trim");
    if (recipe->ngram) append_text(text, RECIPE_TEXT, " --ngram %u", (unsigned)recipe->ngram);
    return *text ? text + 1 : "whole lines";
}

/* ---- matching ---- */

/* Keys stand where the recipe says, which is not unknown. Hostile files may have nonsense there. */
static int place_from_recipe(struct input *input, const char *path, const perhaps_recipe *recipe) {
    char number[20];
    snprintf(number, sizeof number, "%u", (unsigned)recipe->field);
    input->records = recipe->records;
    input->terminator = recipe->records == PERHAPS_ZERO_TERMINATED ? 0 : '\n';
    input->delimiter = recipe->delimiter ? (char)recipe->delimiter : usual_delimiter(recipe->records);
    input->header = recipe->header;
    input->trim = recipe->trim;
    input->fields = (struct column_list){.n = 0};
    *input->where = 0;
    if (recipe->records == PERHAPS_JSON_LINES) return take_path(input, path, recipe->where);
    if (recipe->field) return take_fields(input, path, number);
    return *recipe->where ? take_fields(input, path, recipe->where) : FINE;
}

/* Of a filter made from raw records, keys may also come as numbers in lines. */
static bool place_given(const struct options *options) {
    const enum option_id places[] = {OPT_NULL, OPT_HEADER, OPT_FIELD, OPT_TRIM};
    return format_option(options, &of_keys) != OPTIONS ||
           first_given(options, places, sizeof places / sizeof *places) != OPTIONS;
}

/* The first option that says something else than the filter's place of keys, `kept`; NULL if none
 * does. */
static const char *contradiction(const struct input *input, const struct options *options, const struct input *kept,
                                 char name[OPTION_TEXT]) {
    enum option_id format = format_option(options, &of_keys);
    bool same_path = format != OPT_JSONL || strcmp(input->where, kept->where) == 0;
    if (input->encoding == ENCODING_U64LE) return "--key u64le";
    if (format != OPTIONS && (input->records != kept->records || !same_path)) return name_of(format, name);
    if (given(options, OPT_FIELD) && !columns_equal(&input->fields, &kept->fields)) return "--field";
    if (given(options, OPT_DELIMITER) && input->delimiter != kept->delimiter) return "--delimiter";
    if (given(options, OPT_NULL) && kept->records != PERHAPS_ZERO_TERMINATED) return "-0";
    if (input->header && !kept->header) return "--header";
    return input->trim && !kept->trim ? "--trim" : NULL;
}

/* The place of keys, of a filter that keeps it: what is given must be the same. */
static int match_extraction(struct input *input, const struct options *options, const char *path,
                            const perhaps_recipe *recipe) {
    char text[RECIPE_TEXT], name[OPTION_TEXT];
    bool whole = given(options, OPT_FIELD) && !input->fields.n;
    if (whole || given(options, OPT_ELSEWHERE) || !recipe_extracts(recipe)) return FINE;
    if (recipe->unknown)
        return failure(path,
                       "its keys stand in records that this version cannot read (step %d of its recipe). Update "
                       "perhaps, or give --field 0 for lines that are keys",
                       recipe->unknown);
    if (recipe->records == PERHAPS_RAW) { /* the same keys, however they are written */
        if (place_given(options) || encoding_given(options)) return FINE;
        input->encoding = ENCODING_U64LE;
        input->records = PERHAPS_RAW;
        return FINE;
    }
    struct input kept = *input;
    if (place_from_recipe(&kept, path, recipe) != FINE) return TROUBLE;
    const char *wrong = contradiction(input, options, &kept, name);
    if (wrong)
        return failure(
            path,
            "was made with %s, which %s contradicts. Leave that out; or give --elsewhere if the keys of these records "
            "stand elsewhere, or --field 0 if lines are keys",
            recipe_options(recipe, text), wrong);
    kept.where_kept = !given(options, OPT_FIELD) && !given(options, OPT_JSONL);
    *input = kept;
    return FINE;
}

/* Only dedup makes N-grams. It goes on with those of its state. */
static int match_ngram(struct input *input, const struct options *options, const char *path,
                       const perhaps_recipe *recipe) {
    bool whole = given(options, OPT_FIELD) && !input->fields.n, wanted = given(options, OPT_NGRAM);
    if (options->command != &commands[CMD_DEDUP]) {
        if (!recipe->ngram || whole || given(options, OPT_ELSEWHERE)) return FINE;
        return failure(
            path,
            "holds N-grams of %u word%s, not whole keys, and is a state for 'perhaps dedup'. To look N-grams "
            "up, give --field 0 and write one on a line, with single spaces",
            (unsigned)recipe->ngram, recipe->ngram == 1 ? "" : "s");
    }
    if (!recipe->ngram && (wanted || given(options, OPT_OVERLAP)))
        return failure(path, "was made of whole keys, which --%s contradicts; leave that out, or give another --state",
                       wanted ? "ngram" : "overlap");
    if (wanted && options->ngram != recipe->ngram)
        return failure(path,
                       "was made with --ngram %u, which --ngram %llu contradicts; leave that out, or give another "
                       "--state",
                       (unsigned)recipe->ngram, (unsigned long long)options->ngram);
    input->ngram = recipe->ngram;
    return FINE;
}

/* A transformation must be the filter's: with another one, no key would be found. */
int input_match_recipe(struct input *input, const struct options *options, const char *path,
                       const perhaps_recipe *recipe) {
    enum encoding stored = encoding_of(recipe->form);
    if (input->integers && !is_integer(stored)) stored = ENCODING_U64; /* whatever it says */
    if (input->ignore_case && !recipe->ignore_case)
        return failure(path, "was made without --ignore-case; leave it out, or build it again");
    input->ignore_case = recipe->ignore_case;
    if (!encoding_given(options)) {
        input->encoding = stored;
    } else if (input->integers ? !is_integer(input->encoding) : forms[input->encoding] != recipe->form) {
        char name[16];
        snprintf(name, sizeof name, "%s", encoding_name(input->encoding));
        return failure(path, "was made with --key %s, so --key %s would find nothing; leave it out",
                       encoding_name(stored), name);
    }
    if (match_extraction(input, options, path, recipe) != FINE) return TROUBLE;
    if (match_ngram(input, options, path, recipe) != FINE) return TROUBLE;
    return check_several(input);
}

int input_match(struct input *input, const struct options *options, const char *filter_path, const perhaps *filter) {
    perhaps_recipe recipe = filter_recipe(filter);
    if (filter_is_file(filter)) return FINE; /* it cannot tell how its keys are written */
    input->integers = filter_of_integers(filter);
    return input_match_recipe(input, options, filter_path, &recipe);
}

/* The first option that says how the file of --confirm is read; OPTIONS if none does. */
static enum option_id confirm_option(const struct options *options) {
    const enum option_id others[] = {OPT_CONFIRM_HEADER, OPT_CONFIRM_FIELD, OPT_CONFIRM_DELIMITER, OPT_CONFIRM_TRIM};
    enum option_id format = format_option(options, &of_confirm);
    return format != OPTIONS ? format : first_given(options, others, sizeof others / sizeof *others);
}

int input_without_confirm(const struct options *options) {
    char name[OPTION_TEXT];
    enum option_id id = confirm_option(options);
    if (id == OPTIONS) return FINE;
    return failure(name_of(id, name), "needs --confirm; name the file that it describes");
}

int input_for_confirm(struct input *input, const struct options *options, const char *filter_path,
                      const perhaps_recipe *recipe) {
    bool told = confirm_option(options) != OPTIONS;
    input->take_header = NULL;
    input->prefix = "confirm-";
    input->where_kept = !told;
    if (input->encoding == ENCODING_U64LE) input->encoding = ENCODING_U64;
    if (told || recipe->unknown) {
        if (place_from_options(input, options, &of_confirm) != FINE) return TROUBLE;
    } else {
        if (place_from_recipe(input, filter_path, recipe) != FINE) return TROUBLE;
        if (recipe->records == PERHAPS_RAW) input->encoding = ENCODING_U64LE;
    }
    return check_several(input);
}
