/* Public calls: the version, and the sentences for errors. */
#include "base/error.h"
#include "perhaps_embed.h"

#define TEXT(x)   #x
#define NUMBER(x) TEXT(x)

const char *perhaps_version(void) {
    return NUMBER(PERHAPS_VERSION_MAJOR) "." NUMBER(PERHAPS_VERSION_MINOR) "." NUMBER(PERHAPS_VERSION_PATCH);
}

const char *perhaps_strerror(int error) {
    static const char *const sentences[] = {
        "success",
        "an argument makes no sense",
        "not enough memory",
        "the system refused a file operation",
        "not a filter of perhaps",
        "the image is of a format that this library does not read: a newer one, or an early one",
        "the image is damaged",
        "the hash key is missing or wrong",
        "this kind of filter cannot do that",
        "the two filters do not fit together",
        "the filter was opened for reading only",
        "the file is being changed in place, or was when its writer ended",
        "no layout can do what was wanted",
        "the file is being changed by another process or filter",
        "the filter is full",
        "the filter is sealed",
        "the filter is not sealed yet",
    };
    if (error > 0 || error <= -(int)(sizeof sentences / sizeof sentences[0])) return "an unknown error";
    return sentences[-error];
}

const char *perhaps_why(void) {
    return why();
}
