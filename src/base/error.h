/* The reason for a failure, kept per thread until the next one. */
#ifndef PERHAPS_BASE_ERROR_H
#define PERHAPS_BASE_ERROR_H

/* The longest sentence, and its end. */
enum { WHY_BYTES = 512 };

/* Remembers the sentence and returns the error number, so that callers can write `return fail(...)`. */
__attribute__((format(printf, 2, 3))) int fail(int error, const char *format, ...);

/* The last sentence of this thread. */
const char *why(void);

#endif
