#include "output_file.h"
#include "commands/commands.h"
#include "backend/file/filter_file.h"
#include "input/input.h"
#include "input/waiting.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- locking ---- */

int lock_file(const struct options *options, const char *path, perhaps_lock **lock) {
    struct stat status;
    struct waiting waiting = waiting_for(options, path);
    int rc;
    *lock = NULL;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) return FINE;
    do rc = perhaps_lock_file(lock, path);
    while (rc == PERHAPS_EBUSY && keep_waiting(&waiting));
    if (rc == PERHAPS_EBUSY) return waited_in_vain(&waiting);
    return rc < 0 ? library_failure(path, rc) : FINE;
}

/* ---- replacing ---- */

/* What is to be written: a filter, or bytes. */
struct content {
    const perhaps *filter;
    bool compressed;
    const void *bytes;
    size_t length;
    bool explained; /* writing failed, and has said why */
};

static int write_chunk(void *context, const void *bytes, size_t length) {
    return write_all(*(int *)context, bytes, length);
}

static int write_content(void *context, int fd) {
    struct content *c = context;
    if (!c->filter) return write_all(fd, c->bytes, c->length);
    if (!c->compressed) return perhaps_write(c->filter, write_chunk, &fd);
    int rc = gzip_write(c->filter, fd);
    c->explained = rc > 0;
    return rc;
}

/* Signals that end the program wait until the file is whole, but not in other threads. */
static int replace(perhaps_lock *lock, const char *path, struct content *c) {
    sigset_t ending, before;
    bool image = c->filter && !c->compressed;
    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &ending, &before);
    int rc = image ? perhaps_save_locked(c->filter, lock) : perhaps_replace_locked(lock, write_content, c);
    int status = rc >= 0 ? FINE : c->explained ? TROUBLE : saving_failure(path, rc);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}

int replace_filter(perhaps_lock *lock, const char *path, const perhaps *filter, bool compressed) {
    return replace(lock, path, &(struct content){.filter = filter, .compressed = compressed});
}

int replace_bytes(perhaps_lock *lock, const char *path, const void *bytes, size_t length) {
    return replace(lock, path, &(struct content){.bytes = bytes, .length = length});
}

/* ---- output ---- */

bool is_standard_output(const char *path) {
    return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0;
}

bool is_device(const char *path) {
    struct stat status;
    return is_standard_output(path) || (stat(path, &status) == 0 && !S_ISREG(status.st_mode));
}

static int check_folder(const char *path) {
    char *copy = strdup(path);
    if (!copy) return failure(path, "not enough memory");
    int rc = access(dirname(copy), W_OK | X_OK);
    free(copy);
    return rc == 0 ? FINE : failure(path, "cannot be created: %s; give another name with -o", strerror(errno));
}

static int check(const struct options *options, const char *path) {
    struct stat status;
    if (!path) return failure("-o", "is missing; give -o FILE, -o - for standard output, or --at URL");
    if (is_standard_output(path)) {
        if (given(options, OPT_JSON))
            return failure("--json", "would mix with the filter on standard output; give -o FILE");
        if (!isatty(STDOUT_FILENO)) return FINE;
        return failure("-o", "a filter is not written to a terminal; redirect it to a file or a pipe");
    }
    if (filter_refuse_journal(path, false) != FINE) return TROUBLE;
    if (stat(path, &status) != 0) return check_folder(path);
    if (S_ISDIR(status.st_mode)) return failure(path, "is a directory; give the name of a file with -o");
    if (!S_ISREG(status.st_mode)) return FINE;
    if (!given(options, OPT_FORCE)) return failure(path, "exists; give -f to replace it, or another name with -o");
    return check_folder(path);
}

/* A new filter does not depend on the old file, which may be changed until the new one is ready. */
int output_open(struct output *output, const struct options *options) {
    *output = (struct output){.options = options, .path = options->output};
    bool overwrites = options->command == &commands[CMD_BUILD] && given(options, OPT_FORCE);
    if (check(options, output->path) != FINE || refuse_overlap(options, NULL) != FINE) return TROUBLE;
    if (overwrites || is_device(output->path)) return FINE;
    int status = lock_file(options, output->path, &output->lock);
    if (status == FINE) status = filter_refuse_journal(output->path, output->lock);
    if (status != FINE) output_close(output);
    return status;
}

void output_close(struct output *output) {
    perhaps_unlock(output->lock);
    output->lock = NULL;
}

static int write_output(struct output *output, struct content *c) {
    const char *path = output->path;
    if (!is_device(path)) {
        if (!output->lock && lock_file(output->options, path, &output->lock) != FINE) return TROUBLE;
        int status = filter_refuse_journal(path, output->lock);
        return status == FINE ? replace(output->lock, path, c) : status;
    }
    if (is_standard_output(path)) return write_content(c, STDOUT_FILENO) < 0 ? output_failure() : FINE;
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return failure(path, "cannot be opened: %s; give another name with -o", strerror(errno));
    int rc = write_content(c, fd);
    int status = rc < 0 ? failure(path, "cannot be written: %s; the file is incomplete", strerror(errno)) : FINE;
    close(fd);
    return status;
}

int output_save(struct output *output, const perhaps *filter) {
    bool compressed = !is_device(output->path) && gzip_named(output->path) && filter_is_file(filter);
    return write_output(output, &(struct content){.filter = filter, .compressed = compressed});
}

int output_bytes(struct output *output, const void *bytes, size_t length) {
    return write_output(output, &(struct content){.bytes = bytes, .length = length});
}
