#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char sentence[WHY_BYTES] = "nothing has failed in this thread";

int fail(int error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return error;
}

const char *why(void) {
    return sentence;
}
