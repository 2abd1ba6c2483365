#include "sealing.h"
#include "filter_file.h"
#include "output/output_file.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A quarter of the machine's memory: the filter itself and the threads that seal it need some, too. Not all of that can be had where
 * addresses are short. */
static uint64_t usual_scratch(void) {
    static const uint64_t most = SIZE_MAX / 8;
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    uint64_t quarter = pages > 0 && bytes > 0 ? (uint64_t)pages * (uint64_t)bytes / 4 : most;
    return quarter < most ? quarter : most;
}

/* Where a file will be there is room for it, and so for its keys; of a device or pipe nobody knows. */
static bool becomes_file(const char *path) {
    struct stat status;
    return !is_standard_output(path) && (stat(path, &status) != 0 || S_ISREG(status.st_mode));
}

int sealing_create(perhaps **filter, const perhaps_want *want, const struct options *options) {
    perhaps_want with_scratch = *want;
    char *output = strdup(becomes_file(options->output) ? options->output : ".");
    if (!output) return failure(NULL, "not enough memory");
    with_scratch.scratch_dir = dirname(output);
    with_scratch.max_scratch = given(options, OPT_SCRATCH) ? options->scratch : usual_scratch();
    int rc = perhaps_create(filter, &with_scratch);
    free(output);
    return rc < 0 ? library_failure(NULL, rc) : FINE;
}

static void show_progress(void *context, uint64_t done, uint64_t all) {
    (void)context, (void)all;
    progress_at(done, done);
}

static int sealing_failure(int rc) {
    if (rc == PERHAPS_EIO) return scratch_failure();
    if (rc == PERHAPS_ENOMEM)
        return reason_failure(NULL, "give a smaller -j or --scratch, or use a machine with more memory");
    return library_failure(NULL, rc);
}

int sealing_finish(perhaps *filter, unsigned threads) {
    struct perhaps_info info = {.size = sizeof info};
    int rc = perhaps_facts(filter, &info);
    progress_start_sealing(info.items);
    if (rc == PERHAPS_OK) rc = perhaps_seal(filter, &PERHAPS_SEAL(.threads = threads, .progress = show_progress));
    progress_end();
    return rc < 0 ? sealing_failure(rc) : FINE;
}
