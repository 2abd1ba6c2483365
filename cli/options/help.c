/* --help, help and version: the tables as text for people. */
#include "commands/commands.h"
#include "output/report.h"

#include <perhaps.h>

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 80 };

/* Prints the words of `text` in indented lines of at most WIDTH columns, from `column` on. */
static void print_wrapped(const char *text, size_t indent, size_t column) {
    while (*text) {
        size_t length = strcspn(text, " \n");
        if (column > indent && column + 1 + length > WIDTH) {
            putchar('\n');
            column = 0;
        }
        if (column < indent)
            column += (size_t)printf("%*s", (int)(indent - column), "");
        else if (column > indent)
            column += (size_t)printf(" ");
        column += (size_t)printf("%.*s", (int)length, text);
        text += length;
        if (*text == '\n') {
            putchar('\n');
            column = 0;
            for (text++; *text == '\n'; text++) putchar('\n');
        }
        while (*text == ' ') text++;
    }
    putchar('\n');
}

/* Where the first sentence ends. */
static size_t first_sentence(const char *text) {
    const char *end = strstr(text, ". ");
    return end ? (size_t)(end - text) + 1 : strlen(text);
}

static void print_option(const struct command *command, const struct option *option, bool briefly) {
    enum { COLUMN = 26 };
    char letter[] = "-x,", text[HELP_TEXT];
    letter[1] = option->letter;
    size_t column = (size_t)printf("  %3s --%s", option->letter ? letter : "", option->name);
    if (option->argument) column += (size_t)printf(" %s", option->argument);
    if (column + 2 > COLUMN) {
        putchar('\n');
        column = 0;
    }
    option_text(command, option, text);
    if (briefly) text[first_sentence(text)] = 0;
    print_wrapped(text, COLUMN, column);
}

/* Those of one group, under its title, if there are any. */
static void print_options(const struct command *command, enum option_group group, bool briefly) {
    bool first = true;
    for (size_t i = 0; i < OPTIONS; i++) {
        if (!group_has(group, command, &option_table[i])) continue;
        if (first) printf("\n%s:\n", briefly ? "Options" : group_title(group));
        first = false;
        print_option(command, &option_table[i], briefly);
    }
}

/* At most this number of commands, with the comments before them. */
static void print_examples(const char *examples, unsigned most) {
    printf("\nExamples:\n");
    while (*examples && most) {
        size_t length = strcspn(examples, "\n");
        printf("  %.*s\n", (int)length, examples);
        most -= *examples != '#';
        examples += length + (examples[length] == '\n');
    }
}

static int print_overview(void) {
    printf("perhaps: is the key in the set? Definitely not, or perhaps.\n\nUsage: perhaps COMMAND [OPTION...] "
           "[FILE...]\n\nCommands:\n");
    for (size_t i = 0; i < COMMANDS; i++) printf("  %-12s %s\n", commands[i].name, commands[i].summary);
    printf("\n'perhaps COMMAND -h' explains a command briefly, 'perhaps help COMMAND' in full.\n");
    print_examples("perhaps build -n 5e6 -p 0.01 -o phones.ph phones.txt\nperhaps check phones.ph wanted.txt\nperhaps "
                   "dedup urls.txt > distinct.txt",
                   UINT_MAX);
    return FINE;
}

static void print_start(const struct command *command) {
    printf("Usage: perhaps %s %s\n\n", command->name, command->usage);
    print_wrapped(command->description, 0, 0);
}

int print_brief_help(const struct command *command) {
    print_start(command);
    print_options(command, GROUP_MAIN, true);
    print_examples(command->examples, 2);
    printf("\n'perhaps help %s' or 'man perhaps-%s' has everything.\n", command->name, command->name);
    return FINE;
}

int print_help(const struct command *command) {
    if (!command) return print_overview();
    print_start(command);
    for (enum option_group group = 0; group < GROUPS; group++) print_options(command, group, false);
    for (const struct section *section = command->sections; section->title; section++) {
        printf("\n%s:\n", section->title);
        print_wrapped(section->text, 2, 0);
    }
    if (command->exit_status) {
        printf("\nExit status: ");
        print_wrapped(command->exit_status, 0, strlen("Exit status: "));
    }
    print_examples(command->examples, UINT_MAX);
    return FINE;
}

int cmd_help(const struct options *options) {
    const struct command *command = NULL;
    if (options->operand_count && !(command = command_find(options->operands[0])))
        return command_unknown(options->operands[0]);
    if (!given(options, OPT_NAMES)) return given(options, OPT_SCDOC) ? print_manual(command) : print_help(command);
    for (size_t i = 0; i < COMMANDS; i++) puts(commands[i].name);
    return FINE;
}

int cmd_version(const struct options *options) {
    struct json json = {0};
    if (!given(options, OPT_JSON)) {
        printf("perhaps %s\n", perhaps_version());
        return FINE;
    }
    json_open(&json, NULL, '{');
    json_text(&json, "version", perhaps_version());
    json_end(&json);
    return FINE;
}
