#include "report.h"
#include "input/encode.h"
#include "numbers.h"

#include <perhaps.h>

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

bool colour_for(FILE *stream) {
    const char *no_color = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    if (no_color && *no_color) return false;
    if (!terminal || strcmp(terminal, "dumb") == 0) return false;
    return isatty(fileno(stream));
}

static const char red[] = "\033[1;31m", yellow[] = "\033[1;33m", bold[] = "\033[1m";

static _Thread_local char **kept; /* where messages wait; NULL = they are told at once */

void keep_messages(char **text) {
    kept = text;
}

void tell_messages(char **text) {
    if (!*text) return;
    progress_end();
    fputs(*text, stderr);
    free(*text);
    *text = NULL;
}

/* A remark is for who sits at the terminal, and does not wait; nor does what finds no memory. */
static void say(const char *colour, const char *subject, const char *label, const char *format, va_list arguments) {
    char *message = NULL, *line = NULL, *before = kept && *kept ? *kept : "";
    bool coloured = colour_for(stderr), remark = colour == bold;
    if (vasprintf(&message, format, arguments) < 0) message = NULL;
    bool waits = kept && !remark;
    if (asprintf(&line, "%s%sperhaps:%s %s%s%s%s\n", waits ? before : "", coloured ? colour : "",
                 coloured ? "\033[0m" : "", subject ? subject : "", subject ? ": " : "", label,
                 message ? message : "not enough memory") < 0)
        line = NULL;
    free(message);
    if (waits && line) {
        free(*kept);
        *kept = line;
    } else {
        tell_messages(&line);
    }
}

int failure(const char *subject, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(red, subject, "", format, arguments);
    va_end(arguments);
    return TROUBLE;
}

/* What a user of the command line can do about an error of the library. */
static const char *remedy(int error) {
    static const char *const remedies[] = {
        [-PERHAPS_ENOMEM] = "ask for a smaller filter, or use a machine with more memory",
        [-PERHAPS_EIO] = "check the name and its permissions",
        [-PERHAPS_EFOREIGN] = "give a filter that 'perhaps build' made",
        [-PERHAPS_EVERSION] = "update perhaps",
        [-PERHAPS_EDAMAGED] = "restore it from a copy, or build it again",
        [-PERHAPS_EKEY] = "give the key that it was made with: --hash-key FILE",
        [-PERHAPS_EMISMATCH] = "build both with the same -k, -n, -p (or size), --shards, --hash and --seed",
        [-PERHAPS_EDIRTY] =
            "give --recover to go on with it (add, remove, check, count, list, info), or build it again",
        [-PERHAPS_EBUSY] = "wait until it has ended",
        [-PERHAPS_EFULL] = "build it again with a larger -n",
    };
    size_t i = (size_t)-error;
    bool listed = i < sizeof remedies / sizeof *remedies && remedies[i];
    return listed ? remedies[i] : "see 'perhaps help plan' for what fits together";
}

/* The library's sentence is a cause, which often begins with the file's name, and after a semicolon
 * advice. The name is said once. A reason of the system's is all cause. Advice for programmers,
 * about a flag, a field or a call, is replaced. */
static int explain(const char *subject, int error, const char *advice) {
    const char *why = perhaps_why();
    size_t named = subject && strncmp(why, subject, strlen(subject)) == 0 ? strlen(subject) : 0;
    size_t cause = error == PERHAPS_EIO ? strlen(why) : named + strcspn(why + named, ";");
    bool for_programmers =
        error == PERHAPS_EKEY || error == PERHAPS_EDIRTY || error == PERHAPS_EMISMATCH || error == PERHAPS_ECANNOT;
    if (named) subject = NULL;
    if (why[cause] && !for_programmers) return failure(subject, "%s", why);
    return failure(subject, "%.*s; %s", (int)cause, why, advice);
}

int reason_failure(const char *subject, const char *advice) {
    return explain(subject, PERHAPS_ECANNOT, advice);
}

int library_failure(const char *subject, int error) {
    return explain(subject, error, remedy(error));
}

int saving_failure(const char *subject, int error) {
    return explain(subject, error,
                   error == PERHAPS_EIO ? "check its permissions and the room on the disk" : remedy(error));
}

int scratch_failure(void) {
    return explain(NULL, PERHAPS_EIO,
                   "check the room and permissions there, or keep more keys in memory with a larger --scratch");
}

void warning(const char *subject, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(yellow, subject, "warning: ", format, arguments);
    va_end(arguments);
}

void remark(const char *subject, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(bold, subject, "", format, arguments);
    va_end(arguments);
}

void append_text(char *buffer, size_t size, const char *format, ...) {
    size_t used = strlen(buffer);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(buffer + used, size - used, format, arguments);
    va_end(arguments);
}

const char *input_name(const char *path) {
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

int output_failure(void) {
    if (errno == EPIPE) return TROUBLE;
    return failure("standard output", "cannot be written: %s; the output is incomplete", strerror(errno));
}

int finish_output(void) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return FINE;
    return output_failure();
}

int write_all(int fd, const void *bytes, size_t length) {
    const char *at = bytes;
    while (length) {
        ssize_t written = write(fd, at, length);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return -1;
        at += written;
        length -= (size_t)written;
    }
    return 0;
}

ssize_t read_at(int fd, void *to, size_t length, uint64_t offset) {
    size_t got = 0;
    while (got < length) {
        ssize_t some = pread(fd, (char *)to + got, length - got, (off_t)(offset + got));
        if (some < 0 && errno == EINTR) continue;
        if (some < 0) return -1;
        if (some == 0) break;
        got += (size_t)some;
    }
    return (ssize_t)got;
}

/* ---- results ---- */

int print_directly(const char *bytes, size_t length) {
    return write_all(STDOUT_FILENO, bytes, length) == 0 ? FINE : output_failure();
}

int printer_flush(struct printer *printer) {
    size_t filled = printer->filled;
    printer->filled = 0;
    return print_directly(printer->bytes, filled);
}

int printer_put(struct printer *printer, const char *bytes, size_t length) {
    if (length > PRINTER_BYTES - printer->filled && printer_flush(printer) != FINE) return TROUBLE;
    if (length > PRINTER_BYTES) return print_directly(bytes, length);
    memcpy(printer->bytes + printer->filled, bytes, length);
    printer->filled += length;
    return FINE;
}

/* ---- JSON ---- */

static void json_string(const char *text, size_t length) {
    const char *at = text, *end = text + length;
    putchar('"');
    while (at < end) {
        uint32_t code;
        const char *next = utf8_next(at, end, &code);
        if (!next) { /* names of files and keys need not be UTF-8; JSON must be */
            fputs("\\ufffd", stdout);
            at++;
            continue;
        }
        if (code == '"' || code == '\\')
            printf("\\%c", (int)code);
        else if (code < 0x20 || code == 0x7f)
            printf("\\u%04x", (unsigned)code);
        else
            fwrite(at, 1, (size_t)(next - at), stdout);
        at = next;
    }
    putchar('"');
}

static void json_name(struct json *json, const char *name) {
    if (json->comma) fputs(", ", stdout);
    json->comma = true;
    if (!name) return;
    json_string(name, strlen(name));
    fputs(": ", stdout);
}

void json_open(struct json *json, const char *name, char bracket) {
    json_name(json, name);
    putchar(bracket);
    json->comma = false;
}

void json_close(struct json *json, char bracket) {
    putchar(bracket);
    json->comma = true;
}

void json_bytes(struct json *json, const char *name, const void *value, size_t length) {
    json_name(json, name);
    json_string(value, length);
}

void json_text(struct json *json, const char *name, const char *value) {
    json_bytes(json, name, value, strlen(value));
}

void json_count(struct json *json, const char *name, uint64_t value) {
    json_name(json, name);
    printf("%llu", (unsigned long long)value);
}

/* The shortest of two lengths that reads back as the same number. */
void json_real(struct json *json, const char *name, double value) {
    char text[40];
    json_name(json, name);
    snprintf(text, sizeof text, "%.15g", value);
    if (strtod(text, NULL) != value) snprintf(text, sizeof text, "%.17g", value);
    fputs(isfinite(value) ? text : "null", stdout);
}

void json_flag(struct json *json, const char *name, bool value) {
    json_name(json, name);
    fputs(value ? "true" : "false", stdout);
}

void json_end(struct json *json) {
    json_close(json, '}');
    putchar('\n');
}

/* ---- for who sits at a terminal ---- */

static bool quiet;

void be_quiet(void) {
    quiet = true;
}

bool tells_terminal(void) {
    return !quiet && isatty(STDERR_FILENO);
}

void closing_line(const char *subject, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    progress_end();
    fprintf(stderr, "%s: ", subject);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

/* ---- progress ---- */

/* One thread may read and draw while another has something to say. */
static pthread_mutex_t progress_lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
    bool on, drawn, sealing;
    uint64_t total;
    double started, next; /* seconds */
} progress;

double clock_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void progress_start(uint64_t total, bool sealing) {
    pthread_mutex_lock(&progress_lock);
    progress.on = tells_terminal();
    progress.sealing = sealing;
    progress.total = total;
    progress.started = clock_now();
    progress.next = progress.started + 0.2; /* short work needs no bar */
    pthread_mutex_unlock(&progress_lock);
}

/* "  42 % [########............] 12,345,678 keys, 25.1 M keys/s, 3 s left"
 * "sealing 4,200,000 of 10,000,000 keys, ..." */
static void progress_draw(uint64_t bytes, uint64_t keys, double elapsed) {
    char count[NUMBER_TEXT];
    double rate = (double)keys / elapsed;
    bool millions = rate >= 1e6;
    fprintf(stderr, "\r\033[K");
    if (progress.total && bytes <= progress.total) {
        static const char full[] = "####################", empty[] = "....................";
        double share = (double)bytes / (double)progress.total;
        int filled = (int)(share * 20);
        fprintf(stderr, "%3.0f %% [%.*s%.*s] ", share * 100, filled, full, 20 - filled, empty);
    }
    fprintf(stderr, "%s%s", progress.sealing ? "sealing " : "", group_digits(keys, count));
    if (progress.sealing) fprintf(stderr, " of %s", group_digits(progress.total, count));
    fprintf(stderr, " keys, %.1f %c keys/s", rate / (millions ? 1e6 : 1e3), millions ? 'M' : 'k');
    if (progress.total && bytes && bytes <= progress.total)
        fprintf(stderr, ", %.0f s left", elapsed * (double)(progress.total - bytes) / (double)bytes);
    fflush(stderr);
    progress.drawn = true;
}

void progress_at(uint64_t bytes, uint64_t keys) {
    pthread_mutex_lock(&progress_lock);
    double now = progress.on ? clock_now() : 0;
    if (progress.on && now >= progress.next) {
        progress.next = now + 0.1;
        progress_draw(bytes, keys, now - progress.started);
    }
    pthread_mutex_unlock(&progress_lock);
}

void progress_end(void) {
    pthread_mutex_lock(&progress_lock);
    if (progress.drawn) fputs("\r\033[K", stderr);
    progress.on = progress.drawn = false;
    pthread_mutex_unlock(&progress_lock);
}
