/* perhaps: the command line. Finds the command, reads its options, runs it, and makes sure that what it printed arrived. */
#include "commands/commands.h"
#include "output/report.h"
#include "backend/roaring/verbs.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* If a standard stream is closed, the next file opened would take its number and be read or written in its stead. Such
 * a number is taken here, the wrong way round, so that using it fails as it should. */
static void occupy_standard_streams(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0) open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

static const char *alias(const char *name) {
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) return "help";
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) return "version";
    return name;
}

static int run(int count, char **arguments) {
    struct options options;
    if (count < 2) return failure(NULL, "what shall it do? See 'perhaps help'");
    const struct command *command = command_find(alias(arguments[1]));
    if (!command) return command_unknown(arguments[1]);
    int status = options_parse(&options, command, count - 2, arguments + 2);
    if (status != FINE) return status;
    if (given(&options, OPT_HELP)) {
        print_help(command);
        return FINE;
    }
    return is_roaring(&options) ? roaring_run(&options) : command->run(&options);
}

int main(int count, char **arguments) {
    occupy_standard_streams();
    signal(SIGXFSZ, SIG_IGN); /* a file-size limit then is an error of write(), with a sentence, like a full disk */
    int status = run(count, arguments);
    int written = finish_output();
    return written == FINE ? status : written;
}
