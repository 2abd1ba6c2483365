/* perhaps completions: the tables as scripts for shells. */
#include "commands/commands.h"
#include "output/report.h"

#include <stdio.h>
#include <string.h>

enum { WORDS = 400 };

/* What goes into a list, in `buffer`: the text up to the first full stop or semicolon, without what
 * a shell would take for something else. */
static const char *brief(const char *text, char buffer[WORDS]) {
    char *to = buffer;
    for (; *text && !strchr(".;:(", *text) && to + 1 < buffer + WORDS; text++)
        if (!strchr("'\"\\[]`$", *text)) *to++ = *text;
    *to = 0;
    return buffer;
}

/* The names of all commands, in `buffer`. */
static const char *command_names(char buffer[WORDS]) {
    *buffer = 0;
    for (size_t i = 0; i < COMMANDS; i++) append_text(buffer, WORDS, "%s%s", i ? " " : "", commands[i].name);
    return buffer;
}

static void print_flags(const struct option *option, const char *between) {
    if (option->letter) printf("-%c%s", option->letter, between);
    printf("--%s", option->name);
}

static void print_bash(void) {
    char names[WORDS], words[WORDS];
    command_names(names);
    printf("# bash completion for perhaps\n"
           "_perhaps_offer() {\n  mapfile -t COMPREPLY < <(compgen \"$@\" -- \"$current\")\n}\n"
           "_perhaps() {\n"
           "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options=\n"
           "  if ((COMP_CWORD == 1)); then\n    _perhaps_offer -W '%s'\n    return\n  fi\n  case $before in\n",
           names);
    for (const struct option *option = option_table; option < option_table + OPTIONS; option++) {
        if (option->type == VALUE_NONE) continue;
        printf("    ");
        print_flags(option, "|");
        if (*option_words(option, words, sizeof words))
            printf(") _perhaps_offer -W '%s'; return ;;\n", words);
        else
            printf(option->type == VALUE_FILE ? ") _perhaps_offer -f; return ;;\n" : ") return ;;\n");
    }
    printf("    help) _perhaps_offer -W '%s'; return ;;\n"
           "    completions) _perhaps_offer -W 'bash zsh fish'; return ;;\n"
           "  esac\n  case ${COMP_WORDS[1]} in\n",
           names);
    for (const struct command *command = commands; command < commands + COMMANDS; command++) {
        printf("    %s) options='", command->name);
        for (size_t i = 0; i < OPTIONS; i++) {
            if (!command_takes(command, &option_table[i])) continue;
            print_flags(&option_table[i], " ");
            putchar(' ');
        }
        printf("' ;;\n");
    }
    printf("  esac\n"
           "  if [[ $current == -* ]]; then\n    _perhaps_offer -W \"$options\"\n"
           "  else\n    _perhaps_offer -f\n  fi\n}\n"
           "complete -o filenames -F _perhaps perhaps\n");
}

static void zsh_option(const struct command *command, const char *dashes, const char *name,
                       const struct option *option) {
    char words[WORDS], text[WORDS];
    printf(" \\\n        '%s%s[%s]", dashes, name, brief(option_help(command, option), text));
    if (option->argument) printf(":%s:", option->argument);
    if (*option_words(option, words, sizeof words))
        printf("(%s)", words);
    else if (option->type == VALUE_FILE)
        printf("_files");
    putchar('\'');
}

static void zsh_command(const struct command *command) {
    char names[WORDS];
    printf("    %s)\n      _arguments", command->name);
    for (size_t i = 0; i < OPTIONS; i++) {
        const struct option *option = &option_table[i];
        const char letter[2] = {option->letter, 0};
        if (!command_takes(command, option)) continue;
        if (option->letter) zsh_option(command, "-", letter, option);
        zsh_option(command, "--", option->name, option);
    }
    if (command == &commands[CMD_COMPLETIONS])
        printf(" \\\n        '1:shell:(bash zsh fish)'");
    else if (command == &commands[CMD_HELP])
        printf(" \\\n        '1:command:(%s)'", command_names(names));
    else if (command->most)
        printf(" \\\n        '*:file:_files'");
    printf(" ;;\n");
}

static void print_zsh(void) {
    char text[WORDS];
    printf("#compdef perhaps\n_perhaps() {\n  local -a names\n  names=(\n");
    for (size_t i = 0; i < COMMANDS; i++) printf("    '%s:%s'\n", commands[i].name, brief(commands[i].summary, text));
    printf("  )\n  if ((CURRENT == 2)); then\n    _describe command names\n    return\n  fi\n"
           "  local name=$words[2]\n  shift words\n  ((CURRENT--))\n  case $name in\n");
    for (size_t i = 0; i < COMMANDS; i++) zsh_command(&commands[i]);
    printf("  esac\n}\nif [[ $funcstack[1] == _perhaps ]]; then\n  _perhaps \"$@\"\nelse\n  compdef _perhaps "
           "perhaps\nfi\n");
}

static void print_fish(void) {
    char words[WORDS], text[WORDS];
    printf("# fish completion for perhaps\n");
    for (size_t i = 0; i < COMMANDS; i++)
        printf("complete -c perhaps -n __fish_use_subcommand -f -a %s -d '%s'\n", commands[i].name,
               brief(commands[i].summary, text));
    for (const struct option *option = option_table; option < option_table + OPTIONS; option++) {
        printf("complete -c perhaps -n '__fish_seen_subcommand_from");
        for (size_t c = 0; c < COMMANDS; c++)
            if (command_takes(&commands[c], option)) printf(" %s", commands[c].name);
        printf("' -l %s", option->name);
        if (option->letter) printf(" -s %c", option->letter);
        if (*option_words(option, words, sizeof words))
            printf(" -x -a '%s'", words);
        else if (option->argument)
            printf(option->type == VALUE_FILE ? " -r -F" : " -x");
        printf(" -d '%s'\n", brief(option->help, text));
    }
    printf("complete -c perhaps -n '__fish_seen_subcommand_from completions' -f -a 'bash zsh fish'\n"
           "complete -c perhaps -n '__fish_seen_subcommand_from help' -f -a '%s'\n",
           command_names(words));
}

int cmd_completions(const struct options *options) {
    static void (*const printers[])(void) = {print_bash, print_zsh, print_fish};
    const char *shell = options->operands[0];
    int i = word_index("bash zsh fish", shell);
    if (i < 0) return failure(shell, "there are no completions for this shell; choose bash, zsh or fish");
    printers[i]();
    return FINE;
}
