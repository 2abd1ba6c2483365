/* perhaps: the command line. Finds the command, reads its options, runs it, and makes sure that
 * what it printed arrived. */
#include "backend/backend.h"
#include "commands/commands.h"
#include "output/report.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static int run_command(int count, char **arguments) {
    struct options options;
    if (count < 2) return failure(NULL, "missing command; see 'perhaps help'");
    const char *name = arguments[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) name = "help";
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) name = "version";
    const struct command *command = command_find(name);
    if (!command) return command_unknown(name);
    int status = options_parse(&options, command, count - 2, arguments + 2);
    if (status != FINE) return status;
    if (given(&options, OPT_HELP)) return options.briefly ? print_brief_help(command) : print_help(command);
    if (given(&options, OPT_SILENT)) be_quiet();
    status = backend_choose(&options);
    return status == FINE ? command->run(&options) : status;
}

int main(int count, char **arguments) {
    /* If a standard stream is closed, the next file opened would take its number and be read or
     * written in its stead. Such a number is taken here, the wrong way round, so that using it
     * fails as it should. */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0) open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    /* a file-size limit then is an error of write(), with a sentence, like a full disk */
    signal(SIGXFSZ, SIG_IGN);
    int status = run_command(count, arguments);
    int written = finish_output();
    return written == FINE ? status : written;
}
