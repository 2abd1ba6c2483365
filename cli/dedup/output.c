#include "output.h"
#include "../report.h"
#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_same_file(const char *path, const struct stat *file) {
    struct stat status;
    int rc = strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &status) : stat(path, &status);
    return rc == 0 && status.st_dev == file->st_dev && status.st_ino == file->st_ino;
}

/* An input, the state or its journal. */
static bool is_read(const struct options *options, const struct input *input, const struct stat *file) {
    const char *state = options->state;
    bool read = state && (is_same_file(state, file) || is_journal(state, file));
    for (size_t i = 0; i < input->path_count; i++) read |= is_same_file(input->paths[i], file);
    return read;
}

/* Lines that are appended to what is being read would be read in their turn, and repeats of repeats never end. */
static int check_standard_output(const struct options *options, const struct input *input) {
    struct stat status;
    if (fstat(STDOUT_FILENO, &status) != 0 || !S_ISREG(status.st_mode) || !is_read(options, input, &status))
        return FINE;
    return failure("standard output", "is also read; send it to another file");
}

/* Before a file is made or emptied for nothing. */
static int check_inputs(const struct input *input) {
    for (size_t i = 0; i < input->path_count; i++)
        if (strcmp(input->paths[i], "-") != 0 && access(input->paths[i], R_OK) != 0)
            return failure(input->paths[i], "cannot be opened: %s; check the name and its permissions",
                           strerror(errno));
    return FINE;
}

/* -o may not be a file that is read, which it would empty. */
int dedup_output_open(const struct options *options, const struct input *input, int *out) {
    struct stat status;
    *out = given(options, OPT_JSON) ? -1 : STDOUT_FILENO;
    if (!options->output) return *out < 0 ? FINE : check_standard_output(options, input);
    bool exists = stat(options->output, &status) == 0 && S_ISREG(status.st_mode);
    if (exists && !given(options, OPT_FORCE))
        return failure(options->output, "exists; give -f to replace it, or another name with -o");
    if (exists && is_read(options, input, &status))
        return failure(options->output, "is also read, and would be emptied; give another name with -o");
    if (check_inputs(input) != FINE) return TROUBLE;
    *out = open(options->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (*out < 0) return failure(options->output, "cannot be written: %s; check the name", strerror(errno));
    return FINE;
}

int dedup_output_close(const struct options *options, int out, int status) {
    if (out <= STDERR_FILENO || close(out) == 0 || status == TROUBLE) return status;
    return failure(options->output, "cannot be written: %s; is there room on the disk?", strerror(errno));
}
