/* Any bytes as an image: refused, or a filter that works. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    open_and_use(data, size);
    return 0;
}
