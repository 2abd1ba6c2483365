#include "options.h"
#include "abilities.h"
#include "output/numbers.h"
#include "output/report.h"
#include "backend/backend.h"

#include <perhaps.h>

#include <stdio.h>
#include <string.h>

/* ---- what a misspelt name may have been meant to be ---- */

static size_t least_of(size_t a, size_t b) {
    return a < b ? a : b;
}

/* How many letters must be changed, put in, left out or swapped with the next (the optimal string
 * alignment distance): three rows of the usual table. SIZE_MAX if a name is longer than ours. */
static size_t edit_distance(const char *a, const char *b) {
    enum { LONGEST = 20 };
    size_t rows[3][LONGEST + 1], n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST) return SIZE_MAX;
    for (size_t j = 0; j <= m; j++) rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *row = rows[i % 3], *before = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            row[j] = least_of(before[j - 1] + (a[i - 1] != b[j - 1]), least_of(before[j], row[j - 1]) + 1);
            if (swapped) row[j] = least_of(row[j], second[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

/* Which of two names was meant by `name`; NULL, given or returned, is none. Two letters of a name
 * may be wrong, but not all of it. Of those that are equally near, one with the same first letter:
 * that is seldom the wrong one. */
static const char *likelier(const char *name, const char *likely, const char *candidate) {
    size_t least = likely ? edit_distance(name, likely) : least_of(3, strlen(name));
    size_t distance = edit_distance(name, candidate);
    bool same_start = likely && *likely != *name && *candidate == *name;
    return distance < least || (distance == least && same_start) ? candidate : likely;
}

/* ---- tables ---- */

const struct command *command_find(const char *name) {
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0) return &commands[i];
    return NULL;
}

int command_unknown(const char *name) {
    const char *likely = NULL;
    for (size_t i = 0; i < COMMANDS; i++) likely = likelier(name, likely, commands[i].name);
    if (likely) return failure(name, "no such command; did you mean %s? See 'perhaps help'", likely);
    return failure(name, "no such command; see 'perhaps help'");
}

bool command_takes(const struct command *command, const struct option *option) {
    return option->commands >> (command - commands) & 1;
}

const char *group_title(enum option_group group) {
    static const char *const titles[GROUPS] = {
        [GROUP_MAIN] = "Main options",
        [GROUP_INPUT] = "Input",
        [GROUP_CONFIRM] = "Input of --confirm",
        [GROUP_SIZE] = "Size and kind",
        [GROUP_GROWTH] = "Growing and forgetting",
        [GROUP_OUTPUT] = "Output",
        [GROUP_MEMORY] = "Remembering",
        [GROUP_THREADS] = "Threads",
        [GROUP_SERVERS] = "Servers",
        [GROUP_HASHING] = "Hashing",
        [GROUP_FILES] = "Filter files",
        [GROUP_MEASURING] = "Measuring",
    };
    return titles[group];
}

bool group_has(enum option_group group, const struct command *command, const struct option *option) {
    bool main = option->main >> (command - commands) & 1;
    return command_takes(command, option) && group == (main ? GROUP_MAIN : option->group);
}

const char *option_shown(enum option_id id, char buffer[OPTION_TEXT]) {
    const struct option *option = &option_table[id];
    if (option->letter)
        snprintf(buffer, OPTION_TEXT, "-%c", option->letter);
    else
        snprintf(buffer, OPTION_TEXT, "--%s", option->name);
    return buffer;
}

const char *option_help(const struct command *command, const struct option *option) {
    return option == &option_table[OPT_JSON] && command->json ? command->json : option->help;
}

const char *option_text(const struct command *command, const struct option *option, char buffer[HELP_TEXT]) {
    char names[KINDS_TEXT];
    snprintf(buffer, HELP_TEXT, "%s", option_help(command, option));
    for (size_t row = 0; option->type == VALUE_KIND && perhaps_kind(row); row++)
        append_text(buffer, HELP_TEXT, "%s%s", row ? ", " : ": ", perhaps_kind(row)->name);
    if (option->type == VALUE_KIND || option->type == VALUE_FORMAT)
        append_text(buffer, HELP_TEXT, "%s: %s.", option->type == VALUE_KIND ? ", or a foreign format" : "",
                    file_kinds_text(", ", names));
    return buffer;
}

enum option_id first_given(const struct options *options, const enum option_id *ids, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (given(options, ids[i])) return ids[i];
    return OPTIONS;
}

unsigned threads_from(const struct options *options) {
    unsigned threads = options->threads ? (unsigned)options->threads : processor_count();
    return threads < MOST_THREADS ? threads : MOST_THREADS;
}

/* ---- word lists ---- */

const char *word_at(const char *words, int index, char *buffer, size_t size) {
    for (; index > 0; index--) words += strcspn(words, " ") + 1;
    snprintf(buffer, size, "%.*s", (int)strcspn(words, " "), words);
    return buffer;
}

int word_index(const char *words, const char *word) {
    size_t length = strlen(word);
    for (int index = 0; *words; index++) {
        size_t n = strcspn(words, " ");
        if (n == length && strncmp(words, word, n) == 0) return index;
        words += n + (words[n] == ' ');
    }
    return -1;
}

const char *option_words(const struct option *option, char *buffer, size_t size) {
    *buffer = 0;
    if (option->type == VALUE_WORD) snprintf(buffer, size, "%s", option->words);
    if (option->type == VALUE_NEEDS) abilities_text(~0u, " ", buffer, size);
    for (size_t row = 0; option->type == VALUE_KIND && perhaps_kind(row); row++)
        append_text(buffer, size, "%s ", perhaps_kind(row)->name);
    char names[KINDS_TEXT];
    if (option->type == VALUE_KIND || option->type == VALUE_FORMAT)
        append_text(buffer, size, "%s", file_kinds_text(" ", names));
    return buffer;
}

/* ---- values ---- */

static int format_from(const char *text) {
    for (size_t row = 0; perhaps_file_kind(row); row++)
        if (strcmp(perhaps_file_kind(row)->name, text) == 0) return perhaps_file_kind(row)->kind;
    return roaring_kind(text);
}

static int kind_from(const char *text) {
    for (size_t row = 0; perhaps_kind(row); row++)
        if (strcmp(perhaps_kind(row)->name, text) == 0) return perhaps_kind(row)->kind;
    return format_from(text);
}

/* A number of keys, or a time; "M" is a million and "m" a minute. */
static bool store_window(struct window *window, const char *text) {
    uint64_t seconds = 0;
    *window = (struct window){0};
    if (!parse_number(text, false, &window->keys) && !parse_duration(text, &seconds)) return false;
    return !__builtin_mul_overflow(seconds, 1000, &window->period) && (window->keys || seconds);
}

static bool store_value(void *field, const struct option *option, const char *text) {
    double *real = field;
    switch (option->type) {
    case VALUE_NUMBER:
        return parse_number(text, false, field);
    case VALUE_SIZE:
        return parse_number(text, true, field);
    case VALUE_REAL:
        return parse_real(text, real) && *real > 0;
    case VALUE_RATE:
    case VALUE_SHARE:
        return parse_rate(text, real) && *real > 0 && *real < 1;
    case VALUE_PART:
        return parse_rate(text, real) && *real > 0 && *real <= 1;
    case VALUE_WINDOW:
        return store_window(field, text);
    case VALUE_TIME:
        return parse_duration(text, field);
    case VALUE_THREADS:
        if (strcmp(text, "auto") == 0) text = "0";
        return parse_number(text, false, field) && *(uint64_t *)field <= MOST_THREADS;
    case VALUE_WORD:
        return (*(int *)field = word_index(option->words, text)) >= 0;
    case VALUE_KIND:
        return (*(int *)field = kind_from(text)) >= 0;
    case VALUE_FORMAT:
        return (*(int *)field = format_from(text)) >= 0;
    case VALUE_NEEDS:
        return abilities_parse(text, field);
    default:
        *(const char **)field = text;
        return *text || option->type == VALUE_TEXT;
    }
}

/* Why a value was not stored. */
static const char *what_is_wrong(enum value_type type, const char *text) {
    static const char *const usual[] = {
        [VALUE_NUMBER] = "is not a number; write 5000000, 5e6, 5M, 10k or 2^20",
        [VALUE_SIZE] = "is not a size; write bytes or 64KiB, 1.5MiB, 2GiB, 10M, 2^20",
        [VALUE_REAL] = "is not a number above 0; write 9.6 or 12",
        [VALUE_RATE] = "is not a rate between 0 and 1; write 0.01, 1e-3 or 1%",
        [VALUE_SHARE] = "is not a share between 0 and 1; write 0.8 or 80%",
        [VALUE_PART] = "is not a share above 0 and up to 1; write 0.8, 80% or 1",
        [VALUE_WINDOW] =
            "is neither a number of keys, such as 1000000 or 1M, nor a time, such as 30s, 10m, 1h30m or 7d",
        [VALUE_TIME] = "is not a time; write 30s, 10m or 1h30m",
        [VALUE_THREADS] = "is not a number of threads; write 2, or auto for all processors",
        [VALUE_WORD] = "is not one of the choices",
        [VALUE_KIND] = "is not a kind of filter",
        [VALUE_FORMAT] = "is not a foreign format",
        [VALUE_NEEDS] = "is not a list of abilities",
        [VALUE_FILE] = "is an empty file name; give a name",
    };
    uint64_t number;
    if ((type == VALUE_NUMBER || type == VALUE_SIZE) && number_too_large(text, type == VALUE_SIZE))
        return "is too large; give less than 2^64";
    if (type == VALUE_THREADS && parse_number(text, false, &number)) return "is too many; give 256 or less";
    if (type == VALUE_FORMAT && kind_from(text) >= 0)
        return "is not a foreign format, and other files tell their kind without -k";
    return usual[type];
}

/* ---- parser ---- */

struct arguments {
    char **at, **end;
};

/* The value is `text`, or the next argument if that is NULL. */
static int set_option(struct options *options, const struct option *option, const char *shown, const char *text,
                      struct arguments *rest) {
    bool *given = &options->given[option - option_table];
    if (*given && (option->type == VALUE_TEXT || option->type == VALUE_FILE))
        return failure(shown, "is given twice; %s",
                       option == &option_table[OPT_FIELD] ? "several fields are one list, such as 2,3"
                                                          : "leave one out");
    *given = true;
    if (option->type == VALUE_NONE) return FINE;
    if (!text) {
        if (rest->at == rest->end) return failure(shown, "needs a value; write %s %s", shown, option->argument);
        text = *rest->at++;
    }
    if (store_value((char *)options + option->field, option, text)) return FINE;
    char words[200];
    option_words(option, words, sizeof words);
    return failure(shown, "'%s' %s%s%s", text, what_is_wrong(option->type, text), *words ? "; choose from: " : "",
                   words);
}

/* Names the option of this command that is written most like it, if it is a long one and one is. */
static int unknown_option(const struct command *command, const char *shown, size_t length) {
    char name[60];
    const char *likely = NULL;
    snprintf(name, sizeof name, "%.*s", (int)length, shown);
    for (size_t i = 0; i < OPTIONS; i++)
        if (command_takes(command, &option_table[i])) likely = likelier(name + 2, likely, option_table[i].name);
    if (likely) return failure(name, "no such option of 'perhaps %s'; did you mean --%s?", command->name, likely);
    return failure(name, "no such option of 'perhaps %s'; see 'perhaps help %s'", command->name, command->name);
}

/* --name, --name=value, --name value */
static int parse_long(struct options *options, struct arguments *rest) {
    const char *shown = *rest->at++;
    size_t length = strcspn(shown, "=");
    const char *value = shown[length] ? shown + length + 1 : NULL;
    for (size_t i = 0; i < OPTIONS; i++) {
        const struct option *option = &option_table[i];
        char name[OPTION_TEXT];
        snprintf(name, sizeof name, "--%s", option->name);
        bool same = strlen(name) == length && memcmp(name, shown, length) == 0;
        if (!same || !command_takes(options->command, option)) continue;
        if (value && option->type == VALUE_NONE)
            return failure(shown, "takes no value; leave out what follows the '='");
        return set_option(options, option, name, value, rest);
    }
    return unknown_option(options->command, shown, length);
}

/* -v, -cv, -n5, -n 5 */
static int parse_short(struct options *options, struct arguments *rest) {
    for (const char *letter = *rest->at++ + 1; *letter; letter++) {
        const char shown[3] = {'-', *letter, 0};
        const struct option *option = option_table, *end = option_table + OPTIONS;
        while (option < end && (option->letter != *letter || !command_takes(options->command, option))) option++;
        if (option == end) return unknown_option(options->command, shown, strlen(shown));
        if (set_option(options, option, shown, letter[1] ? letter + 1 : NULL, rest) != FINE) return TROUBLE;
        if (option == &option_table[OPT_HELP]) options->briefly = true;
        if (option->type != VALUE_NONE) break;
    }
    return FINE;
}

/* --at takes the place of the first operand, the filter's file, and --fold that of a second one. */
static int check_operands(const struct options *options) {
    const struct command *command = options->command;
    unsigned stand_in = (given(options, OPT_AT) || given(options, OPT_FOLD)) && command->least;
    if (given(options, OPT_HELP)) return FINE;
    for (size_t i = 0; i < options->operand_count; i++)
        if (!*options->operands[i])
            return failure(NULL, "an argument is empty; give the name of a file, or leave it out");
    if (options->operand_count + stand_in < command->least) {
        char name[20]; /* the usage begins with the operands: "A|--at URL B... -o FILE" */
        word_at(command->usage, (int)options->operand_count, name, sizeof name);
        name[strcspn(name, ".")] = 0;
        char *instead = strstr(name, "|--");
        if (instead) *instead = 0;
        return failure(NULL, "%s is missing; write 'perhaps %s %s'", name, command->name, command->usage);
    }
    if (options->operand_count > command->most - stand_in)
        return failure(options->operands[command->most - stand_in], "one argument too many; write 'perhaps %s%s%s'",
                       command->name, *command->usage ? " " : "", command->usage);
    return FINE;
}

/* Operands, which may stand among the options, are gathered at the front of `arguments`. */
int options_parse(struct options *options, const struct command *command, int count, char **arguments) {
    struct arguments rest = {arguments, arguments + count};
    bool only_operands = false;
    *options = (struct options){.command = command, .operands = arguments};
    while (rest.at < rest.end) {
        const char *argument = *rest.at;
        if (only_operands || argument[0] != '-' || !argument[1]) {
            arguments[options->operand_count++] = *rest.at++;
        } else if (strcmp(argument, "--") == 0) {
            only_operands = true;
            rest.at++;
        } else {
            int status = argument[1] == '-' ? parse_long(options, &rest) : parse_short(options, &rest);
            if (status != FINE) return status;
        }
    }
    return check_operands(options);
}
