#include "input.h"
#include "commands/commands.h"
#include "dedup/journal.h"
#include "output/report.h"

#include <string.h>
#include <unistd.h>

static bool is_regular(const char *path, struct stat *status) {
    return path && stat(path, status) == 0 && S_ISREG(status->st_mode);
}

bool is_same_file(const char *path, const struct stat *file) {
    struct stat status;
    if (!path) return false;
    int rc = strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &status) : stat(path, &status);
    return rc == 0 && status.st_dev == file->st_dev && status.st_ino == file->st_ino;
}

static bool is_input(const struct input *input, const struct stat *file) {
    for (size_t i = 0; input && i < input->path_count; i++)
        if (is_same_file(input->paths[i], file)) return true;
    return false;
}

static bool is_read(const struct options *options, const struct input *input, const struct stat *file) {
    return is_input(input, file) || is_same_file(options->hash_key, file) || is_same_file(options->confirm, file) ||
           is_same_file(options->state, file) || (options->state && is_journal(options->state, file));
}

int refuse_overlap(const struct options *options, const struct input *input) {
    struct stat status;
    /* What is replaced: the filter of add and remove, or the state of dedup. */
    bool changes = options->command == &commands[CMD_ADD] || options->command == &commands[CMD_REMOVE];
    const char *replaced = changes && !given(options, OPT_AT) ? options->operands[0] : options->state;
    if (is_regular(options->output, &status) && is_read(options, input, &status))
        return failure(options->output, "is also read, and would be lost; give another name with -o");
    if (is_regular(replaced, &status) && is_input(input, &status))
        return failure(replaced, "is the filter itself, not a file of keys; give one, or standard input");
    /* Lines that are appended to what is being read would be read in their turn, without end. */
    bool lines = options->command == &commands[CMD_CHECK] || options->command == &commands[CMD_COUNT] ||
                 options->command == &commands[CMD_EXPLAIN] ||
                 (options->command == &commands[CMD_DEDUP] && !options->output);
    bool printed = lines && !given(options, OPT_JSON) && !given(options, OPT_COUNT) && !given(options, OPT_QUIET);
    bool plain = fstat(STDOUT_FILENO, &status) == 0 && S_ISREG(status.st_mode);
    if (plain && printed && is_read(options, input, &status))
        return failure("standard output", "is also read; send it to another file");
    return FINE;
}
