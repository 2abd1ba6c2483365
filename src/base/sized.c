#include "base/sized.h"

#include "base/error.h"

#include <perhaps.h>

#include <stdint.h>
#include <string.h>

int take_sized(void *ours, size_t our_size, const void *theirs, const char *name) {
    size_t size = *(const size_t *)theirs;
    if (size < 2 * sizeof(size_t) || size > 4096)
        return fail(PERHAPS_EINVAL, "%s has no size; make it with the macro or the init call of perhaps.h", name);
    memset(ours, 0, our_size);
    memcpy(ours, theirs, size < our_size ? size : our_size);
    for (size_t i = our_size; i < size; i++) {
        if (((const uint8_t *)theirs)[i])
            return fail(PERHAPS_EINVAL, "%s uses a field that this version of the library does not know", name);
    }
    return PERHAPS_OK;
}

int give_sized(void *theirs, void *ours, size_t our_size, const char *name) {
    size_t size = *(size_t *)theirs;
    if (size < 2 * sizeof(size_t) || size > 4096)
        return fail(PERHAPS_EINVAL, "%s.size is not set; initialise it with {sizeof %s}", name, name);
    *(size_t *)ours = size;
    memcpy(theirs, ours, size < our_size ? size : our_size);
    return PERHAPS_OK;
}
