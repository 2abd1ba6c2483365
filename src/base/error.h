/* The reason for a failure, kept per thread until the next one. */
#ifndef PERHAPS_BASE_ERROR_H
#define PERHAPS_BASE_ERROR_H

enum { WHY_BYTES = 512 }; /* of the longest sentence, with its terminator */

/* Keeps the sentence and returns the error number: callers write `return fail(...)`. */
__attribute__((format(printf, 2, 3))) int fail(int error, const char *format, ...);

/* The last sentence of this thread. */
const char *why(void);

#endif
