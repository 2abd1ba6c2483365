#include "filter_file.h"
#include "options/abilities.h"
#include "output/numbers.h"
#include "input/source.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool gzip_named(const char *path) {
    size_t length = strlen(path);
    return length >= 3 && strcmp(path + length - 3, ".gz") == 0;
}

/* Deflate never makes more than EXPANSION_MAX bytes of one. The first HEAD bytes of a filter tell
 * how long it is; at most DATA_MAX bytes may follow it. */
enum { EXPANSION_MAX = 1032, HEAD = 4096, DATA_MAX = 16 << 20 };

/* What has been decompressed so far. */
struct unpacked {
    uint8_t *bytes;
    size_t length, room;
};

/* Makes room, and reads until it is filled or all is read. *all: it was, and gzip did not fail. */
static int fill(struct unpacked *u, struct input_source *source, uint64_t room, bool *all) {
    uint8_t *larger = room <= SIZE_MAX ? realloc(u->bytes, (size_t)room) : NULL;
    if (!larger) return failure(source->path, "not enough memory to decompress it; use a machine with more");
    u->bytes = larger;
    u->room = (size_t)room;
    while (u->length < u->room) {
        ssize_t got = read(source->fd, u->bytes + u->length, u->room - u->length);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return failure(source->path, "cannot be read: %s; try again", strerror(errno));
        if (got == 0) break;
        u->length += (size_t)got;
    }
    *all = u->length < u->room;
    return *all && source_ended(source) != FINE ? TROUBLE : FINE;
}

/* How long it must be, by its first bytes; none may claim more than so small a file can hold. */
static int find_length(const struct unpacked *u, const char *path, int kind, uint64_t *length) {
    struct stat status;
    uint64_t start;
    char claimed[NUMBER_TEXT], size[NUMBER_TEXT], names[KINDS_TEXT];
    int64_t needed = perhaps_foreign_length(kind, u->bytes, u->length, &start);
    if (needed == PERHAPS_EFOREIGN)
        return failure(path, "is compressed with gzip, and its content does not tell the format; give it with -k: %s",
                       file_kinds_text(", ", names));
    if (needed < 0) return reason_failure(path, "get the file again, or correct -k");
    *length = (uint64_t)needed;
    if (stat(path, &status) != 0) return failure(path, "cannot be read: %s; try again", strerror(errno));
    if (*length / EXPANSION_MAX <= (uint64_t)status.st_size) return FINE;
    return failure(path, "has a header that says %s, more than %s of gzip can hold; get the file again",
                   human_bytes(*length, claimed), human_bytes((uint64_t)status.st_size, size));
}

/* First as much as tells how much there must be, then that, then the data that may follow. */
static int unpack(struct unpacked *u, struct input_source *source, int kind) {
    uint64_t most = 0, room = HEAD;
    for (bool all = false; !all; room = u->room < most ? most : u->room + DATA_MAX / 16) {
        if (fill(u, source, room, &all) != FINE) return TROUBLE;
        if (!most && find_length(u, source->path, kind, &most) != FINE) return TROUBLE;
        if (u->length > most + DATA_MAX)
            return failure(source->path, "has more than 16 MiB after its filter; get the file again");
    }
    return u->length >= most ? FINE : failure(source->path, "is shorter than its header says; get the file again");
}

int gzip_open(const char *path, const perhaps_open_options *how, perhaps **filter) {
    struct input_source source;
    struct unpacked u = {0};
    perhaps_open_options copy = *how;
    if (how->flags & PERHAPS_OPEN_WRITE)
        return failure(path, "is compressed, and cannot be changed in place; leave out --in-place");
    if (source_open(&source, path, decompressor_of(".gz")) != FINE) return TROUBLE;
    int status = unpack(&u, &source, how->kind);
    source_close(&source);
    copy.flags = PERHAPS_OPEN_COPY;
    int rc = status == FINE ? perhaps_open_memory(filter, u.bytes, u.length, &copy) : PERHAPS_OK;
    if (rc < 0) status = library_failure(path, rc);
    free(u.bytes);
    return status;
}

static int write_chunk(void *context, const void *bytes, size_t length) {
    return write_all(*(int *)context, bytes, length);
}

int gzip_write(const perhaps *filter, int fd) {
    int ends[2];
    pid_t child = 0;
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    int error = program_start("gzip", "-nc", true, ends[0], fd, &child);
    close(ends[0]);
    void (*before)(int) = signal(SIGPIPE, SIG_IGN); /* if gzip ends too soon, it has said why */
    int written = error ? 0 : perhaps_write(filter, write_chunk, &ends[1]);
    signal(SIGPIPE, before);
    close(ends[1]);
    if (error == ENOENT) return failure(NULL, "compressing a filter needs the program gzip; install it");
    errno = error;
    if (error) return -1;
    bool failed = program_await(&child) != 0 || written < 0;
    return failed ? failure(NULL, "gzip failed, and the file was not changed; is there room on the disk?") : 0;
}
