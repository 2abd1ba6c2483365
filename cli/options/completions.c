/* perhaps completions: the tables as scripts for shells. */
#include "commands/commands.h"
#include "output/report.h"

#include <stdio.h>
#include <string.h>

enum { WORDS = 400 };

/* Up to the first full stop or semicolon: enough for a list, and without characters that a shell would mind. */
static void print_brief(const char *text) {
    for (; *text && !strchr(".;:(", *text); text++)
        if (!strchr("'\"\\[]`$", *text)) putchar(*text);
}

static void print_flags(const struct option *option, const char *between) {
    if (option->letter) printf("-%c%s", option->letter, between);
    printf("--%s", option->name);
}

static void print_names(void) {
    for (size_t i = 0; i < COMMANDS; i++) printf("%s%s", i ? " " : "", commands[i].name);
}

/* ---------------------------------------------------------------------------------------------------- bash --- */

static void bash_values(const struct option *option) {
    char words[WORDS];
    if (option->type == VALUE_NONE) return;
    option_words(option, words, sizeof words);
    printf("    ");
    print_flags(option, "|");
    if (*words)
        printf(") _perhaps_offer -W '%s'; return ;;\n", words);
    else if (option->type == VALUE_FILE)
        printf(") _perhaps_offer -f; return ;;\n");
    else
        printf(") return ;;\n");
}

static void bash_options(const struct command *command) {
    printf("    %s) options='", command->name);
    for (size_t i = 0; i < OPTIONS; i++) {
        if (!command_takes(command, &option_table[i])) continue;
        print_flags(&option_table[i], " ");
        putchar(' ');
    }
    printf("' ;;\n");
}

static void print_bash(void) {
    printf("# bash completion for perhaps\n"
           "_perhaps_offer() {\n  mapfile -t COMPREPLY < <(compgen \"$@\" -- \"$current\")\n}\n"
           "_perhaps() {\n"
           "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options=\n"
           "  if ((COMP_CWORD == 1)); then\n    _perhaps_offer -W '");
    print_names();
    printf("'\n    return\n  fi\n  case $before in\n");
    for (size_t i = 0; i < OPTIONS; i++) bash_values(&option_table[i]);
    printf("    help) _perhaps_offer -W '");
    print_names();
    printf("'; return ;;\n    completions) _perhaps_offer -W 'bash zsh fish'; return ;;\n"
           "  esac\n  case ${COMP_WORDS[1]} in\n");
    for (size_t c = 0; c < COMMANDS; c++) bash_options(&commands[c]);
    printf("  esac\n"
           "  if [[ $current == -* ]]; then\n    _perhaps_offer -W \"$options\"\n"
           "  else\n    _perhaps_offer -f\n  fi\n}\n"
           "complete -o filenames -F _perhaps perhaps\n");
}

/* ----------------------------------------------------------------------------------------------------- zsh --- */

static void zsh_spec(const struct command *command, const char *dashes, const char *name, const struct option *option) {
    char words[WORDS];
    option_words(option, words, sizeof words);
    printf(" \\\n        '%s%s[", dashes, name);
    print_brief(option_help(command, option));
    putchar(']');
    if (option->argument) printf(":%s:", option->argument);
    if (*words)
        printf("(%s)", words);
    else if (option->type == VALUE_FILE)
        printf("_files");
    putchar('\'');
}

static void zsh_command(const struct command *command) {
    printf("    %s)\n      _arguments", command->name);
    for (size_t i = 0; i < OPTIONS; i++) {
        const struct option *option = &option_table[i];
        const char letter[2] = {option->letter, 0};
        if (!command_takes(command, option)) continue;
        if (option->letter) zsh_spec(command, "-", letter, option);
        zsh_spec(command, "--", option->name, option);
    }
    if (command == &commands[CMD_COMPLETIONS])
        printf(" \\\n        '1:shell:(bash zsh fish)'");
    else if (command == &commands[CMD_HELP]) {
        printf(" \\\n        '1:command:(");
        print_names();
        printf(")'");
    } else if (command->most)
        printf(" \\\n        '*:file:_files'");
    printf(" ;;\n");
}

static void print_zsh(void) {
    printf("#compdef perhaps\n_perhaps() {\n  local -a names\n  names=(\n");
    for (size_t i = 0; i < COMMANDS; i++) {
        printf("    '%s:", commands[i].name);
        print_brief(commands[i].summary);
        printf("'\n");
    }
    printf("  )\n  if ((CURRENT == 2)); then\n    _describe command names\n    return\n  fi\n"
           "  local name=$words[2]\n  shift words\n  ((CURRENT--))\n  case $name in\n");
    for (size_t i = 0; i < COMMANDS; i++) zsh_command(&commands[i]);
    printf("  esac\n}\nif [[ $funcstack[1] == _perhaps ]]; then\n  _perhaps \"$@\"\nelse\n  compdef _perhaps "
           "perhaps\nfi\n");
}

/* ---------------------------------------------------------------------------------------------------- fish --- */

static void fish_option(const struct option *option) {
    char words[WORDS];
    option_words(option, words, sizeof words);
    printf("complete -c perhaps -n '__fish_seen_subcommand_from");
    for (size_t c = 0; c < COMMANDS; c++)
        if (command_takes(&commands[c], option)) printf(" %s", commands[c].name);
    printf("' -l %s", option->name);
    if (option->letter) printf(" -s %c", option->letter);
    if (*words)
        printf(" -x -a '%s'", words);
    else if (option->argument)
        printf(option->type == VALUE_FILE ? " -r -F" : " -x");
    printf(" -d '");
    print_brief(option->help);
    printf("'\n");
}

static void print_fish(void) {
    printf("# fish completion for perhaps\n");
    for (size_t i = 0; i < COMMANDS; i++) {
        printf("complete -c perhaps -n __fish_use_subcommand -f -a %s -d '", commands[i].name);
        print_brief(commands[i].summary);
        printf("'\n");
    }
    for (size_t i = 0; i < OPTIONS; i++) fish_option(&option_table[i]);
    printf("complete -c perhaps -n '__fish_seen_subcommand_from completions' -f -a 'bash zsh fish'\n"
           "complete -c perhaps -n '__fish_seen_subcommand_from help' -f -a '");
    print_names();
    printf("'\n");
}

int cmd_completions(const struct options *options) {
    const char *shell = options->operands[0];
    if (strcmp(shell, "bash") == 0)
        print_bash();
    else if (strcmp(shell, "zsh") == 0)
        print_zsh();
    else if (strcmp(shell, "fish") == 0)
        print_fish();
    else
        return failure(shell, "no completions for this shell; there are some for bash, zsh and fish");
    return FINE;
}
