#include "picture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---------------------------------------------------------------------------------------------------- files --- */

/* Why the system would not write it. */
static const char *system_reason(void) {
    static char reason[200];
    snprintf(reason, sizeof reason, "%s; check its folder, the permissions and the room on the disk", strerror(errno));
    return reason;
}

/* A new file beside `path`, which becomes it when it is complete: its descriptor, or -1 with errno. Its name is to be
 * freed. mkstemp() makes files for their owner only; a picture is for all that the umask lets see it. */
static int draft_open(const char *path, char **name) {
    size_t size = strlen(path) + sizeof ".XXXXXX";
    *name = malloc(size);
    if (!*name) return -1;
    snprintf(*name, size, "%s.XXXXXX", path);
    int fd = mkstemp(*name);
    mode_t mask = umask(0);
    umask(mask);
    if (fd >= 0) fchmod(fd, 0666 & ~mask);
    return fd;
}

static int write_bytes(int fd, const char *bytes, size_t length) {
    while (length) {
        ssize_t written = write(fd, bytes, length);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return -1;
        bytes += written;
        length -= (size_t)written;
    }
    return 0;
}

/* A rename would put the picture in the place of whatever is there: of a picture that is right, of a device it is not. */
static const char *why_not_replaced(const char *path) {
    struct stat there;
    if (stat(path, &there) < 0) return errno == ENOENT && *path ? NULL : system_reason();
    if (S_ISREG(there.st_mode)) return access(path, W_OK) < 0 ? system_reason() : NULL;
    return S_ISDIR(there.st_mode) ? "it is a folder; give a file in it" : "it is no file that could be replaced";
}

/* Without bytes it only tries whether there could be a file. */
static const char *write_file(const char *path, const char *bytes, size_t length) {
    char *name = NULL;
    const char *why = why_not_replaced(path);
    int fd = why ? -1 : draft_open(path, &name);
    if (fd >= 0) {
        int error = write_bytes(fd, bytes, length);
        error |= close(fd);
        if (bytes && !error) error = rename(name, path);
        if (error) why = system_reason();
        if (error || !bytes) unlink(name);
    } else if (!why) {
        why = system_reason();
    }
    free(name);
    return why;
}

const char *picture_ready(const char *path) {
    if (system("command -v gnuplot >/dev/null 2>&1") != 0)
        return "gnuplot is not installed; on Debian 'apt install gnuplot-nox' brings it";
    return write_file(path, NULL, 0);
}

/* -------------------------------------------------------------------------------------------------- gnuplot --- */

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

/* gnuplot says nothing about a disk that is full, so it writes to a pipe, and the file is made here. It reads the script,
 * which has no name, through its descriptor, and no settings of the user's. */
const char *picture_draw(FILE *script, const char *path) {
    char command[60];
    size_t length;
    int written = fflush(script) == 0 && !ferror(script);
    snprintf(command, sizeof command, "gnuplot -d /dev/fd/%d", fileno(script));
    FILE *gnuplot = written ? popen(command, "r") : NULL;
    const char *why = gnuplot ? NULL : system_reason();
    if (gnuplot) {
        char *bytes = read_all(gnuplot, &length);
        if (pclose(gnuplot) != 0) why = "gnuplot failed; what it said stands above";
        if (!why) why = bytes ? write_file(path, bytes, length) : strerror(ENOMEM);
        free(bytes);
    }
    fclose(script);
    return why;
}
