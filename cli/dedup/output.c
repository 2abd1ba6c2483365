#include "output.h"
#include "input/overlap.h"
#include "output/output_file.h"
#include "output/report.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Before a file is made or emptied for nothing. */
static int check_inputs(const struct input *input) {
    for (size_t i = 0; i < input->path_count; i++)
        if (strcmp(input->paths[i], "-") != 0 && access(input->paths[i], R_OK) != 0)
            return failure(input->paths[i], "cannot be opened: %s; check the name and its permissions",
                           strerror(errno));
    return FINE;
}

int dedup_output_open(const struct options *options, const struct input *input, int *out) {
    struct stat status;
    *out = given(options, OPT_JSON) ? -1 : STDOUT_FILENO;
    if (!options->output || is_standard_output(options->output)) return FINE;
    bool exists = stat(options->output, &status) == 0 && S_ISREG(status.st_mode);
    if (exists && !given(options, OPT_FORCE))
        return failure(options->output, "exists; give -f to replace it, or another name with -o");
    /* Once more, since --state may be new. */
    if (refuse_overlap(options, input) != FINE || check_inputs(input) != FINE) return TROUBLE;
    *out = open(options->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (*out < 0) return failure(options->output, "cannot be written: %s; check the name", strerror(errno));
    return FINE;
}

int dedup_output_close(const struct options *options, int out, int status) {
    if (out <= STDERR_FILENO || close(out) == 0 || status == TROUBLE) return status;
    return failure(options->output, "cannot be written: %s; is there room on the disk?", strerror(errno));
}
