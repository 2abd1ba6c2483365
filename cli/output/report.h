/* What the command line says: errors and progress on standard error, results on standard output. */
#ifndef CLI_OUTPUT_REPORT_H
#define CLI_OUTPUT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* What commands and their helpers return: the exit status, or go on / stop for callbacks. */
enum { FINE = 0, NOT_FOUND = 1, TROUBLE = 2, STOP = 3 };

/* "perhaps: SUBJECT: cause; remedy". SUBJECT (a file, an option) may be NULL. Returns TROUBLE. */
int failure(const char *subject, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for a library call that returned `error`: the sentence is perhaps_why(). */
int library_failure(const char *subject, int error);

/* The same with advice in place of the library's own. */
int reason_failure(const char *subject, const char *advice);

/* The same for a call that writes a file, which also takes room on a disk. */
int saving_failure(const char *subject, int error);

/* The same for keys that cannot wait in a temporary file, whose folder the library names. */
int scratch_failure(void);

/* "perhaps: SUBJECT: warning: ..." or, for a remark, without the "warning". */
void warning(const char *subject, const char *format, ...) __attribute__((format(printf, 2, 3)));
void remark(const char *subject, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* From now on, failures and warnings of this thread are not told but appended to *text, which is
 * from malloc, or NULL; with NULL for `text` they are told again. What was kept is told and
 * freed. */
void keep_messages(char **text);
void tell_messages(char **text);

/* Appends to the text in `buffer` as much as fits. */
void append_text(char *buffer, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A path as people should read it: "standard input" for "-". */
const char *input_name(const char *path);

/* May stdout or stderr have colours? Only a terminal, and not under NO_COLOR or TERM=dumb. */
bool colour_for(FILE *stream);

/* Says why standard output cannot be written (errno), unless its reader left. Returns TROUBLE. */
int output_failure(void);

/* Flushes standard output. A full disk is a failure; a reader that went away is a silent one. */
int finish_output(void);

/* Writes all of it to `fd`, whatever signals and short writes come between. 0 or -1 with errno. */
int write_all(int fd, const void *bytes, size_t length);

/* Reads up to `length` bytes at this offset in the same way; fewer only at the end. How many, or
 * -1 with errno. */
ssize_t read_at(int fd, void *to, size_t length, uint64_t offset);

/* ---- results on standard output, gathered into large writes ---- */

enum { PRINTER_BYTES = 64 << 10 };

/* What waits to be written. Zero `filled` begins. */
struct printer {
    size_t filled;
    char bytes[PRINTER_BYTES];
};

/* All return FINE, or TROUBLE after having said why standard output cannot be written. */
int printer_put(struct printer *printer, const char *bytes, size_t length);
int printer_flush(struct printer *printer);

/* At once, past what waits: for chunks that are large already. */
int print_directly(const char *bytes, size_t length);

/* ---- JSON: one object on one line; names in objects, NULL in arrays and for the outermost ---- */

struct json {
    bool comma; /* something stands before in this object or array */
};

void json_open(struct json *json, const char *name, char bracket);
void json_close(struct json *json, char bracket);
void json_text(struct json *json, const char *name, const char *value);
void json_bytes(struct json *json, const char *name, const void *value, size_t length);
void json_count(struct json *json, const char *name, uint64_t value);
void json_real(struct json *json, const char *name, double value); /* null if it is not finite */
void json_flag(struct json *json, const char *name, bool value);
void json_end(struct json *json);

/* Seconds of a clock that never goes back. */
double clock_now(void);

/* ---- for who sits at a terminal, on standard error and only if that is one ---- */

/* From now on, nothing of what follows. */
void be_quiet(void);

/* Is there a terminal, and does its user want to be told? */
bool tells_terminal(void);

/* "SUBJECT: ...", the last line of a command that succeeded. Call it only if tells_terminal(). */
void closing_line(const char *subject, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- progress: a line that redraws itself there ---- */

/* `total` bytes are to be read, 0 = unknown; with `sealing`, that many keys are to be sealed. */
void progress_start(uint64_t total, bool sealing);

/* Cheap enough to be called for every block read. */
void progress_at(uint64_t bytes, uint64_t keys);

/* Wipes the line. */
void progress_end(void);

#endif
