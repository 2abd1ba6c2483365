#include "source.h"
#include "input.h"
#include "output/report.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What decompresses files whose names end so, and the Debian package that has it. Each takes -dc,
 * and reads its standard input: so it makes no difference what a file is called. What it reads has
 * `magic` at `at`; `cat` is the program's name in pipes. */
static const struct decompressor {
    const char *suffix, *program, *package, *cat;
    size_t at;
    const char *magic;
    size_t length;
} decompressors[] = {
    {".gz", "gzip", "gzip", "zcat", 0, "\x1f\x8b\x08", 3},
    {".zst", "zstd", "zstd", "zstdcat", 0, "\x28\xb5\x2f\xfd", 4},
    {".xz", "xz", "xz-utils", "xzcat", 0, "\xfd\x37\x7a\x58\x5a\x00", 6},
    {".bz2", "bzip2", "bzip2", "bzcat", 4, "\x31\x41\x59\x26\x53\x59", 6}, /* after "BZh9" */
    {".lz4", "lz4", "lz4", "lz4cat", 0, "\x04\x22\x4d\x18", 4},
};

const struct decompressor *decompressor_of(const char *path) {
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof decompressors / sizeof *decompressors; i++) {
        const struct decompressor *d = &decompressors[i];
        size_t end = strlen(d->suffix);
        if (length >= end && strcmp(path + length - end, d->suffix) == 0) return d;
    }
    return NULL;
}

int source_refuse_compressed(const struct input_source *source, const char *bytes, size_t length) {
    for (size_t i = 0; i < sizeof decompressors / sizeof *decompressors; i++) {
        const struct decompressor *d = &decompressors[i];
        if (source->how || length < d->at + d->length || memcmp(bytes + d->at, d->magic, d->length) != 0) continue;
        if (d->at && memcmp(bytes, "BZh", 3) != 0) continue;
        if (strcmp(source->path, "-") == 0)
            return failure(input_name(source->path), "looks like %s; pipe it through %s", d->program, d->cat);
        return failure(source->path, "looks like %s; give it a name that ends in %s", d->program, d->suffix);
    }
    return FINE;
}

/* ---- programs ---- */

static int missing_program(const struct input_source *source) {
    return failure(source->path, "needs the program %s, which is missing; install it (Debian's package %s)",
                   source->how->program, source->how->package);
}

/* What this program ignores or blocks is not for the other one, which ends when nobody reads it any
 * more. That nohup or a shell ignore a signal for both is inherited, as it should be. */
int program_start(const char *name, const char *flags, bool shielded, int from, int to, pid_t *child) {
    char *const arguments[] = {(char *)(uintptr_t)name, (char *)(uintptr_t)flags, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGXFSZ);
    signal(SIGCHLD, SIG_DFL); /* where it is ignored, nobody learns how a program ended */
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    error = posix_spawnattr_init(&attributes);
    if (!error) {
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &usual);
        posix_spawnattr_setflags(&attributes, (short)(POSIX_SPAWN_SETSIGDEF | (shielded ? 0 : POSIX_SPAWN_SETSIGMASK)));
        error = posix_spawn_file_actions_adddup2(&actions, from, STDIN_FILENO);
        if (!error) error = posix_spawn_file_actions_adddup2(&actions, to, STDOUT_FILENO);
        if (!error) error = posix_spawnp(child, name, &actions, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

int program_await(pid_t *child) {
    int ended = 0;
    while (waitpid(*child, &ended, 0) < 0 && errno == EINTR) continue;
    *child = 0;
    return ended;
}

/* Puts the decompressor between the file and us. */
static int decompress(struct input_source *source) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return failure(source->path, "cannot be decompressed: %s; try again", strerror(errno));
    int error = program_start(source->how->program, "-dc", false, source->fd, ends[1], &source->child);
    struct stat status;
    close(ends[1]);
    if (fstat(source->fd, &status) == 0 && S_ISREG(status.st_mode))
        source->compressed = source->fd;
    else
        close(source->fd);
    source->fd = ends[0];
    source_widen(source);
    if (!error) return FINE;
    source->child = 0;
    if (error == ENOENT) return missing_program(source);
    return failure(source->path, "cannot be decompressed, since %s cannot be started: %s; try again",
                   source->how->program, strerror(error));
}

/* Not every C library can say at once that there is no such program: it may also end as a shell's
 * command would. */
int source_ended(struct input_source *source) {
    enum { NO_PROGRAM = 127 };
    int ended = source->child ? program_await(&source->child) : 0;
    if (ended == 0) return FINE;
    if (input_was_interrupted()) return STOP;
    const char *program = source->how->program;
    if (WIFEXITED(ended) && WEXITSTATUS(ended) == NO_PROGRAM) return missing_program(source);
    if (WIFSIGNALED(ended))
        return failure(source->path, "was not read to its end, since %s was killed by a signal (%s); try again",
                       program, strsignal(WTERMSIG(ended)));
    return failure(
        source->path,
        "cannot be decompressed: %s failed (see above); get the file again, or pipe in what can be read of it",
        program);
}

/* ---- opening, closing ---- */

/* Where several threads work, one may find that no more is wanted. Another one then does not wait
 * here for somebody to write to a named pipe, but in input_wait, which ends. */
static int open_file(const char *path, bool plain) {
    struct stat status;
    bool waits = plain && input_is_interruptible() && stat(path, &status) == 0 && S_ISFIFO(status.st_mode);
    int fd = open(path, O_RDONLY | O_CLOEXEC | (waits ? O_NONBLOCK : 0));
    if (fd >= 0 && waits) fcntl(fd, F_SETFL, 0);
    return fd;
}

int source_open(struct input_source *source, const char *path, const struct decompressor *how) {
    *source = (struct input_source){.path = path, .how = how, .compressed = -1};
    source->fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open_file(path, !how);
    if (source->fd < 0 && errno == EINTR && input_was_interrupted()) return STOP;
    if (source->fd < 0)
        return failure(path, "cannot be opened: %s; check the name and its permissions", strerror(errno));
    posix_fadvise(source->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    int status = how ? decompress(source) : FINE;
    if (status != FINE) source_close(source);
    if (!how && isatty(source->fd) && isatty(STDERR_FILENO))
        remark(input_name(path), "type keys, one per line; Ctrl-D ends");
    return status;
}

off_t source_position(const struct input_source *source) {
    off_t at = lseek(source->fd, 0, SEEK_CUR);
    return at > 0 ? at : 0;
}

uint64_t source_compressed_bytes(const struct input_source *source) {
    off_t at = source->compressed >= 0 ? lseek(source->compressed, 0, SEEK_CUR) : 0;
    return at > 0 ? (uint64_t)at : 0;
}

/* A pipe that cannot be widened does as well. */
void source_widen(const struct input_source *source) {
#ifdef F_SETPIPE_SZ
    fcntl(source->fd, F_SETPIPE_SZ, 1 << 20);
#else
    (void)source;
#endif
}

/* A program that is to be ended has nothing to clean up, and some are not quiet about any other
 * signal. */
void source_close(struct input_source *source) {
    if (source->child) kill(source->child, SIGKILL);
    if (source->fd != STDIN_FILENO) close(source->fd);
    if (source->compressed >= 0) close(source->compressed);
    if (source->child) program_await(&source->child);
}
