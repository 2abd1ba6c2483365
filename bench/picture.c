#include "picture.h"

#include <perhaps_embed.h>

#include <errno.h>
#include <libgen.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------ files --- */

/* Why the system would not write it. */
static const char *system_reason(void) {
    static char reason[200];
    snprintf(reason, sizeof reason, "%s; check its folder, the permissions and the room on the disk", strerror(errno));
    return reason;
}

/* Why there cannot be a file in its folder. */
static const char *why_not_made(const char *path) {
    char *copy = strdup(path);
    const char *why = !copy || access(dirname(copy), W_OK | X_OK) < 0 ? system_reason() : NULL;
    free(copy);
    return why;
}

static int is_svg(const char *path) {
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".svg") == 0;
}

/* A rename would replace whatever is there: right for a picture, wrong for a device. */
static const char *why_not_written(const char *path, int replace) {
    struct stat there;
    int exists = stat(path, &there) == 0;
    if (!exists && errno != ENOENT) return system_reason();
    if (exists && S_ISDIR(there.st_mode)) return "it is a folder; give a file in it";
    if (exists && !S_ISREG(there.st_mode)) return "it is no file that could be replaced";
    if (!is_svg(path)) return "pictures are SVG; give a name that ends in .svg";
    if (exists && !replace) return "it exists; give -f to replace it, or another name";
    return why_not_made(path);
}

struct drawing {
    char *bytes;
    size_t length;
};

static int write_drawing(void *context, int fd) {
    const struct drawing *drawing = context;
    size_t done = 0;
    while (done < drawing->length) {
        ssize_t written = write(fd, drawing->bytes + done, drawing->length - done);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return -1;
        done += (size_t)written;
    }
    return 0;
}

/* In one step, as filters are saved, in which no signal but kill -9 leaves anything. */
static const char *write_file(const char *path, int replace, struct drawing *drawing) {
    perhaps_lock *lock = NULL;
    sigset_t ending, before;
    const char *why = why_not_written(path, replace);
    if (why) return why;
    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGHUP);
    sigprocmask(SIG_BLOCK, &ending, &before);
    int rc = perhaps_lock_file(&lock, path);
    if (rc == PERHAPS_OK) rc = perhaps_replace_locked(lock, write_drawing, drawing);
    perhaps_unlock(lock);
    if (rc < 0) why = rc == PERHAPS_EBUSY ? "another process is writing it; try again" : system_reason();
    sigprocmask(SIG_SETMASK, &before, NULL);
    return why;
}

const char *picture_ready(const char *path, int replace) {
    if (system("command -v gnuplot >/dev/null 2>&1") != 0)
        return "gnuplot is not installed; on Debian 'apt install gnuplot-nox' brings it";
    return why_not_written(path, replace);
}

/* ---------------------------------------------------------------------------------- gnuplot --- */

const char *picture_colour(unsigned i) {
    static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#aa3377",
                                          "#997700", "#3399cc", "#5533aa", "#66a61e"};
    return colours[i % (sizeof colours / sizeof *colours)];
}

FILE *picture_script(unsigned width, unsigned height) {
    FILE *script = tmpfile();
    if (!script) return NULL;
    fprintf(script, "set terminal svg size %u,%u background rgb 'white' font 'sans-serif,15' noenhanced\n", width,
            height);
    fputs("set encoding utf8\nset border 3 lc rgb '#555555'\nset tics nomirror\nset grid lc rgb '#dddddd' lt 1 lw 1\n",
          script);
    return script;
}

/* The title that programs read aloud or show as a tip; gnuplot's is its own name. Returns the new
 * bytes, or NULL. */
static char *give_title(const char *title, const char *bytes, size_t *length) {
    static const char usual[] = "<title>Gnuplot</title>";
    char *made = NULL;
    size_t whole = *length;
    const char *at = memmem(bytes, whole, usual, sizeof usual - 1);
    FILE *copy = at ? open_memstream(&made, length) : NULL;
    if (!copy) return NULL;
    fwrite(bytes, 1, (size_t)(at - bytes), copy);
    fprintf(copy, "<title>%s</title>", title);
    at += sizeof usual - 1;
    fwrite(at, 1, whole - (size_t)(at - bytes), copy);
    if (fclose(copy) == 0) return made;
    free(made);
    return NULL;
}

/* All that comes out of `stream`, in memory. */
static char *read_all(FILE *stream, size_t *length) {
    char *bytes = NULL, block[4096];
    FILE *copy = open_memstream(&bytes, length);
    if (!copy) return NULL;
    for (size_t n; (n = fread(block, 1, sizeof block, stream)) > 0;) fwrite(block, 1, n, copy);
    if (fclose(copy) == 0) return bytes;
    free(bytes);
    return NULL;
}

/* Gnuplot says nothing about a disk that is full, so it writes to a pipe, and the file is made
 * here. It reads the script, which has no name, through its descriptor, and no settings of the
 * user's. */
const char *picture_draw(FILE *script, const char *title, const char *path, int replace) {
    char command[60];
    struct drawing drawing;
    int written = fflush(script) == 0 && !ferror(script);
    snprintf(command, sizeof command, "gnuplot -d /dev/fd/%d", fileno(script));
    FILE *gnuplot = written ? popen(command, "r") : NULL;
    const char *why = gnuplot ? NULL : system_reason();
    if (gnuplot) {
        char *drawn = read_all(gnuplot, &drawing.length);
        drawing.bytes = drawn ? give_title(title, drawn, &drawing.length) : NULL;
        free(drawn);
        if (pclose(gnuplot) != 0) why = "gnuplot failed; what it said stands above";
        if (!why) why = drawing.bytes ? write_file(path, replace, &drawing) : strerror(ENOMEM);
        free(drawing.bytes);
    }
    fclose(script);
    return why;
}
