/* Results on standard output, gathered into large writes. */
#ifndef CLI_OUTPUT_PRINTER_H
#define CLI_OUTPUT_PRINTER_H

#include <stddef.h>

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

#endif
