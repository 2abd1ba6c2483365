#include "options.h"
#include "abilities.h"
#include "guess.h"
#include "output/numbers.h"
#include "output/report.h"
#include "backend/roaring/verbs.h"
#include "input/threads.h"

#include <perhaps.h>

#include <stdio.h>
#include <string.h>

const struct command *command_find(const char *name) {
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0) return &commands[i];
    return NULL;
}

int command_unknown(const char *name) {
    struct guess guess = guess_for(name);
    for (size_t i = 0; i < COMMANDS; i++) guess_try(&guess, commands[i].name);
    if (guess.likely) return failure(name, "no such command; did you mean %s? See 'perhaps help'", guess.likely);
    return failure(name, "no such command; see 'perhaps help'");
}

bool command_takes(const struct command *command, const struct option *option) {
    return option->commands >> (command - commands) & 1;
}

const char *option_help(const struct command *command, const struct option *option) {
    return option == &option_table[OPT_JSON] && command->json ? command->json : option->help;
}

const char *option_text(const struct command *command, const struct option *option, char buffer[HELP_TEXT]) {
    char names[KINDS_TEXT];
    bool kinds = option->type == VALUE_KIND || option->type == VALUE_FORMAT;
    snprintf(buffer, HELP_TEXT, "%s%s%s%s", option_help(command, option), kinds ? " Files of other programs are: " : "",
             kinds ? file_kinds_text(", ", names) : "", kinds ? "." : "");
    return buffer;
}

const char *command_postscript(const struct command *command) {
    return command_takes(command, &option_table[OPT_NULL]) ? about_keys : NULL;
}

unsigned threads_from(const struct options *options) {
    if (!given(options, OPT_THREADS)) return 1;
    unsigned threads = options->threads ? (unsigned)options->threads : processor_count();
    return threads < MOST_THREADS ? threads : MOST_THREADS;
}

/* ---------------------------------------------------------------------------------------------- word lists --- */

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

static void append_word(const char *word, char *buffer, size_t size) {
    size_t used = strlen(buffer);
    snprintf(buffer + used, size - used, "%s%s", used ? " " : "", word);
}

const char *option_words(const struct option *option, char *buffer, size_t size) {
    *buffer = 0;
    if (option->type == VALUE_WORD) snprintf(buffer, size, "%s", option->words);
    if (option->type == VALUE_NEEDS) abilities_text(~0u, " ", buffer, size);
    for (size_t row = 0; option->type == VALUE_KIND && perhaps_kind(row); row++)
        append_word(perhaps_kind(row)->name, buffer, size);
    char names[KINDS_TEXT];
    bool formats = option->type == VALUE_KIND || option->type == VALUE_FORMAT;
    if (formats) append_word(file_kinds_text(" ", names), buffer, size);
    return buffer;
}

/* -------------------------------------------------------------------------------------------------- values --- */

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
static const char *store_window(struct window *window, const char *text) {
    *window = (struct window){0};
    uint64_t seconds = 0;
    bool fits = parse_number(text, false, &window->keys) || parse_duration(text, &seconds);
    if (fits && !__builtin_mul_overflow(seconds, 1000, &window->period) && (window->keys || seconds)) return NULL;
    return "is neither a number of keys, such as 1000000 or 1M, nor a time, such as 30s, 10m, 1h30m or 7d";
}

static const char *store_threads(uint64_t *threads, const char *text) {
    *threads = 0;
    if (strcmp(text, "auto") == 0) return NULL;
    if (!parse_number(text, false, threads)) return "is not a number of threads; write 2, or auto for all processors";
    return *threads <= MOST_THREADS ? NULL : "is more than there can be; give 256 or less";
}

/* NULL, or what the value should have been. */
static const char *store_value(struct options *options, const struct option *option, const char *text) {
    static const char too_large[] = "is too large; give less than 2^64";
    void *field = (char *)options + option->field;
    switch (option->type) {
    case VALUE_NUMBER:
        if (parse_number(text, false, field)) return NULL;
        return number_too_large(text, false) ? too_large : "is not a number; write 5000000, 5e6, 5M, 10k or 2^20";
    case VALUE_FIELD:
        return parse_number(text, false, field) ? NULL : "is not a field number from 1, or 0 for the whole line";
    case VALUE_SIZE:
        if (parse_number(text, true, field)) return NULL;
        return number_too_large(text, true) ? too_large
                                            : "is not a size; write bytes or 64KiB, 1.5MiB, 2GiB, 10M, 2^20";
    case VALUE_REAL:
        return parse_real(text, field) && *(double *)field > 0 ? NULL : "is not a number above 0; write 9.6 or 12";
    case VALUE_RATE: {
        double *rate = field;
        if (parse_rate(text, rate) && *rate > 0 && *rate < 1) return NULL;
        return "is not a rate between 0 and 1; write 0.01, 1e-3 or 1%";
    }
    case VALUE_SHARE: {
        double *share = field;
        if (parse_rate(text, share) && *share > 0 && *share < 1) return NULL;
        return "is not a share between 0 and 1; write 0.8 or 80%";
    }
    case VALUE_WINDOW:
        return store_window(field, text);
    case VALUE_TIME:
        return parse_duration(text, field) ? NULL : "is not a time; write 30s, 10m or 1h30m";
    case VALUE_THREADS:
        return store_threads(field, text);
    case VALUE_WORD:
        return (*(int *)field = word_index(option->words, text)) >= 0 ? NULL : "is not one of the words allowed";
    case VALUE_KIND:
        return (*(int *)field = kind_from(text)) >= 0 ? NULL : "is not a kind of filter";
    case VALUE_FORMAT:
        if ((*(int *)field = format_from(text)) >= 0) return NULL;
        return kind_from(text) < 0 ? "is not a kind of file of another program"
                                   : "is a kind that its file tells: leave it out; this is for files of other programs";
    case VALUE_NEEDS:
        return abilities_parse(text, field) ? NULL : "is not a list of what a filter can do";
    case VALUE_FILE:
        *(const char **)field = text;
        return *text ? NULL : "is an empty name; give that of a file";
    default:
        *(const char **)field = text;
        return NULL;
    }
}

static int set_option(struct options *options, const struct option *option, const char *shown, const char *text) {
    options->given[option - option_table] = true;
    if (option->type == VALUE_NONE) return FINE;
    const char *why = store_value(options, option, text);
    if (!why) return FINE;
    char words[200];
    option_words(option, words, sizeof words);
    return failure(shown, "'%s' %s%s%s", text, why, *words ? "; choose from: " : "", words);
}

/* --------------------------------------------------------------------------------------------------- parser --- */

struct arguments {
    char **at, **end;
};

static const struct option *find_long(const struct command *command, const char *name, size_t length) {
    for (size_t i = 0; i < OPTIONS; i++) {
        const struct option *option = &option_table[i];
        if (command_takes(command, option) && strlen(option->name) == length && memcmp(option->name, name, length) == 0)
            return option;
    }
    return NULL;
}

static const struct option *find_short(const struct command *command, char letter) {
    for (size_t i = 0; i < OPTIONS; i++)
        if (option_table[i].letter == letter && command_takes(command, &option_table[i])) return &option_table[i];
    return NULL;
}

static int unknown_option(const struct options *options, const char *shown) {
    return failure(shown, "no such option of 'perhaps %s'; see 'perhaps help %s'", options->command->name,
                   options->command->name);
}

/* Names the option of this command that is written most like it, if one is. */
static int unknown_long(const struct options *options, const char *shown, size_t length) {
    char name[60];
    snprintf(name, sizeof name, "%.*s", (int)length, shown);
    struct guess guess = guess_for(name + 2);
    for (size_t i = 0; i < OPTIONS; i++)
        if (command_takes(options->command, &option_table[i])) guess_try(&guess, option_table[i].name);
    if (!guess.likely) return unknown_option(options, name);
    return failure(name, "no such option of 'perhaps %s'; did you mean --%s?", options->command->name, guess.likely);
}

/* --name, --name=value, --name value */
static int parse_long(struct options *options, struct arguments *rest) {
    char *shown = *rest->at++;
    size_t length = strcspn(shown, "=");
    const char *value = shown[length] ? shown + length + 1 : NULL;
    const struct option *option = find_long(options->command, shown + 2, length - 2);
    if (!option) return unknown_long(options, shown, length);
    if (option->type == VALUE_NONE && value) return failure(shown, "takes no value; leave out what follows the '='");
    if (option->type != VALUE_NONE && !value) {
        if (rest->at == rest->end) return failure(shown, "needs a value: %s %s", shown, option->argument);
        value = *rest->at++;
    }
    char name[40];
    snprintf(name, sizeof name, "--%s", option->name);
    return set_option(options, option, name, value);
}

/* -v, -cv, -n5, -n 5 */
static int parse_short(struct options *options, struct arguments *rest) {
    const char *letters = *rest->at++ + 1;
    for (; *letters; letters++) {
        char shown[3] = {'-', *letters, 0};
        const struct option *option = find_short(options->command, *letters);
        if (!option) return unknown_option(options, shown);
        const char *value = NULL;
        if (option->type != VALUE_NONE) {
            if (letters[1])
                value = letters + 1;
            else if (rest->at < rest->end)
                value = *rest->at++;
            else
                return failure(shown, "needs a value: %s %s", shown, option->argument);
        }
        if (set_option(options, option, shown, value) != FINE) return TROUBLE;
        if (value) break;
    }
    return FINE;
}

/* The words of the usage begin with the operands: "A B... -o FILE". */
static int missing_operand(const struct options *options) {
    const struct command *command = options->command;
    char name[20];
    word_at(command->usage, (int)options->operand_count, name, sizeof name);
    name[strcspn(name, ".")] = 0;
    char *instead = strstr(name, "|--");
    if (instead) *instead = 0;
    return failure(NULL, "%s is missing; write 'perhaps %s %s'", name, command->name, command->usage);
}

/* A set on a server takes the place of the first operand, the filter's file; and what is folded need not be a union. */
static int check_operands(const struct options *options) {
    const struct command *command = options->command;
    unsigned stand_in = (given(options, OPT_AT) || given(options, OPT_FOLD)) && command->least;
    if (given(options, OPT_HELP)) return FINE;
    for (size_t i = 0; i < options->operand_count; i++)
        if (!*options->operands[i])
            return failure(NULL, "an argument is empty; give the name of a file, or leave it out");
    if (options->operand_count + stand_in < command->least) return missing_operand(options);
    if (options->operand_count > command->most - stand_in)
        return failure(options->operands[command->most - stand_in], "one argument too many; write 'perhaps %s%s%s'",
                       command->name, *command->usage ? " " : "", command->usage);
    return FINE;
}

/* Operands are gathered at the front of `arguments`: they may stand among the options, and "--" ends those. */
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
