/* The manual pages, as source for scdoc(1): the tables once more. */
#include "commands/commands.h"
#include "output/report.h"

#include <perhaps.h>

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Text in which nothing is markup: scdoc's special characters are escaped, and a dash that would
 * begin an entry of a list. */
static void print_plain(const char *text) {
    char before = '\n';
    for (; *text; before = *text++) {
        if (strchr("\\*_#`<>[]~", *text) || (*text == '-' && before == '\n')) putchar('\\');
        putchar(*text);
    }
}

static void print_title(const char *mark, const char *title) {
    printf("\n%s ", mark);
    for (; *title; title++) putchar(toupper((unsigned char)*title));
    printf("\n\n");
}

static void print_section(const char *title, const char *text) {
    print_title("#", title);
    print_plain(text);
    putchar('\n');
}

/* The names of options and of their arguments have no special characters. */
static void print_option(const struct command *command, const struct option *option) {
    char text[HELP_TEXT];
    putchar('\n');
    if (option->letter) printf("*-%c*, ", option->letter);
    printf("*--%s*", option->name);
    if (option->argument) printf(" _%s_", option->argument);
    printf("\n\t");
    print_plain(option_text(command, option, text));
    putchar('\n');
}

static void print_options(const struct command *command, enum option_group group) {
    bool first = true;
    for (size_t i = 0; i < OPTIONS; i++) {
        if (!group_has(group, command, &option_table[i])) continue;
        if (first && group != GROUP_MAIN) print_title("##", group_title(group));
        first = false;
        print_option(command, &option_table[i]);
    }
}

/* What every page ends with. */
static void print_end(const char *examples, const struct command *shown) {
    printf("\n# EXAMPLES\n\n```\n%s\n```\n\n# SEE ALSO\n\n", examples);
    if (shown) printf("*perhaps*(1)");
    for (size_t i = 0; i < COMMANDS; i++)
        if (&commands[i] != shown) printf("%s*perhaps-%s*(1)", i || shown ? ", " : "", commands[i].name);
    putchar('\n');
}

static int print_overview(void) {
    printf("perhaps(1) \"\" \"perhaps %s\"\n\n# NAME\n\nperhaps - membership filters: definitely not, or perhaps\n",
           perhaps_version());
    printf("\n# SYNOPSIS\n\n*perhaps* _COMMAND_ [_OPTION_...] [_FILE_...]\n");
    print_section("DESCRIPTION",
                  "A filter answers whether a key is in a set, in a few bits per key. It never misses a key that was "
                  "added; for a key that was not, it says 'perhaps' with a small chance that you choose, the "
                  "false-positive rate.\n\n"
                  "Keys are lines. Results go to standard output, everything else to standard error, progress only to "
                  "a terminal.");
    printf("\n# COMMANDS\n");
    for (size_t i = 0; i < COMMANDS; i++) {
        printf("\n*perhaps-%s*(1)\n\t", commands[i].name);
        print_plain(commands[i].summary);
        putchar('\n');
    }
    printf("\n# ENVIRONMENT\n\n*NO\\_COLOR*\n\tIf set and not empty, no colours.\n"
           "\n*REDISCLI\\_AUTH*\n\tThe password for --at, if its URL has none.\n"
           "\n*PERHAPS\\_ISA*\n\tUse this instruction set: scalar, or another that the machine has.\n");
    print_section("EXIT STATUS", "0, or 2 after an error; check, count, explain and rdb also use 1, as grep does.");
    print_end("perhaps build -n 5e6 -p 0.01 -o phones.ph phones.txt\nperhaps check phones.ph wanted.txt\nperhaps dedup "
              "urls.txt > distinct.txt",
              NULL);
    return FINE;
}

int print_manual(const struct command *command) {
    if (!command) return print_overview();
    printf("perhaps-%s(1) \"\" \"perhaps %s\"\n\n# NAME\n\nperhaps-%s - ", command->name, perhaps_version(),
           command->name);
    print_plain(command->summary);
    printf("\n\n# SYNOPSIS\n\n*perhaps %s* ", command->name);
    print_plain(command->usage);
    putchar('\n');
    print_section("DESCRIPTION", command->description);
    printf("\n# OPTIONS\n");
    for (enum option_group group = 0; group < GROUPS; group++) print_options(command, group);
    for (const struct section *section = command->sections; section->title; section++)
        print_section(section->title, section->text);
    print_section("EXIT STATUS", command->exit_status ? command->exit_status : "0, or 2 after an error.");
    print_end(command->examples, command);
    return FINE;
}
