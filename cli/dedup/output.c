#include "output.h"
#include "../report.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* -o may not be one of the inputs, which it would empty. */
int dedup_output_open(const struct options *options, const struct input *input, int *out) {
    struct stat status, other;
    *out = given(options, OPT_JSON) ? -1 : STDOUT_FILENO;
    if (!options->output) return FINE;
    bool exists = stat(options->output, &status) == 0;
    if (exists && S_ISREG(status.st_mode) && !given(options, OPT_FORCE))
        return failure(options->output, "exists; give -f to replace it, or another name with -o");
    for (size_t i = 0; exists && i < input->path_count; i++)
        if (stat(input->paths[i], &other) == 0 && other.st_dev == status.st_dev && other.st_ino == status.st_ino)
            return failure(options->output, "is also read, and would be emptied; give another name with -o");
    *out = open(options->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (*out < 0) return failure(options->output, "cannot be written: %s; check the name", strerror(errno));
    return FINE;
}

int dedup_output_close(const struct options *options, int out, int status) {
    if (out <= STDERR_FILENO || close(out) == 0 || status == TROUBLE) return status;
    return failure(options->output, "cannot be written: %s; is there room on the disk?", strerror(errno));
}
