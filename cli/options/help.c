/* --help, help and version: the tables as text for people. */
#include "commands/commands.h"
#include "output/report.h"

#include <perhaps.h>

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

static void print_option(const struct command *command, const struct option *option) {
    enum { COLUMN = 26 };
    char letter[] = "-x,", text[HELP_TEXT];
    letter[1] = option->letter;
    size_t column = (size_t)printf("  %3s --%s", option->letter ? letter : "", option->name);
    if (option->argument) column += (size_t)printf(" %s", option->argument);
    if (column + 2 > COLUMN) {
        putchar('\n');
        column = 0;
    }
    print_wrapped(option_text(command, option, text), COLUMN, column);
}

static void print_examples(const char *examples) {
    printf("\nExamples:\n");
    while (*examples) {
        size_t length = strcspn(examples, "\n");
        printf("  %.*s\n", (int)length, examples);
        examples += length + (examples[length] == '\n');
    }
}

int print_help(const struct command *command) {
    if (!command) {
        printf("perhaps: is the key in the set? Definitely not, or perhaps.\n\nUsage: perhaps COMMAND [OPTION...] "
               "[FILE...]\n\nCommands:\n");
        for (size_t i = 0; i < COMMANDS; i++) printf("  %-12s %s\n", commands[i].name, commands[i].summary);
        printf("\n'perhaps help COMMAND' explains one of them.\n");
        print_examples("perhaps build -n 5e6 -p 0.01 -o phones.ph phones.txt\nperhaps check phones.ph wanted.txt");
        return FINE;
    }
    printf("Usage: perhaps %s %s\n\n", command->name, command->usage);
    print_wrapped(command->description, 0, 0);
    if (command_postscript(command)) {
        putchar('\n');
        print_wrapped(command_postscript(command), 0, 0);
    }
    printf("\nOptions:\n");
    for (size_t i = 0; i < OPTIONS; i++)
        if (command_takes(command, &option_table[i])) print_option(command, &option_table[i]);
    if (command->exit_status) {
        printf("\nExit status: ");
        print_wrapped(command->exit_status, 0, strlen("Exit status: "));
    }
    print_examples(command->examples);
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
