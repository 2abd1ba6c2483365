#include "printer.h"
#include "report.h"

#include <string.h>
#include <unistd.h>

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
