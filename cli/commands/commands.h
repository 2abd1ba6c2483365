/* One function per command; each returns the exit status. */
#ifndef CLI_COMMANDS_COMMANDS_H
#define CLI_COMMANDS_COMMANDS_H

#include "options/options.h"

int cmd_plan(const struct options *options);
int cmd_build(const struct options *options);
int cmd_add(const struct options *options);
int cmd_remove(const struct options *options);
int cmd_check(const struct options *options);
int cmd_dedup(const struct options *options);
int cmd_count(const struct options *options);
int cmd_list(const struct options *options);
int cmd_info(const struct options *options);
int cmd_combine(const struct options *options);
int cmd_verify(const struct options *options);
int cmd_bench(const struct options *options);
int cmd_completions(const struct options *options);
int cmd_version(const struct options *options);
int cmd_help(const struct options *options);

/* The help of one command, or the overview for NULL, on standard output. */
void print_help(const struct command *command);

/* The source of a manual page, for scdoc(1): perhaps-COMMAND(1), or perhaps(1) for NULL. */
void print_manual(const struct command *command);

#endif
