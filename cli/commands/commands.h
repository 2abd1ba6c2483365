/* The functions of the commands, and what some of them have in other folders. */
#ifndef CLI_COMMANDS_COMMANDS_H
#define CLI_COMMANDS_COMMANDS_H

#include "options/options.h"

#include <perhaps.h>

/* One per command; each returns the exit status. */
typedef int command_function(const struct options *options);
command_function cmd_plan, cmd_build, cmd_add, cmd_remove, cmd_check, cmd_dedup, cmd_count, cmd_list;
command_function cmd_info, cmd_explain, cmd_combine, cmd_verify, cmd_rdb, cmd_bench, cmd_completions, cmd_version,
    cmd_help;

/* The help of one command, or the overview for NULL, on standard output. Returns FINE. */
int print_help(const struct command *command);

/* The same on less than a screen: what most users need. */
int print_brief_help(const struct command *command);

/* The source of a manual page, for scdoc(1): perhaps-COMMAND(1), or perhaps(1) for NULL.
 * Returns FINE. */
int print_manual(const struct command *command);

/* perhaps plan --plot: can the picture be drawn? FINE, or TROUBLE after having said why not. */
int plan_plot_ready(const struct options *options);

/* Draws what `want`, which says how many keys there are, takes at all rates. */
int plan_plot(const perhaps_want *want, const struct options *options);

#endif
