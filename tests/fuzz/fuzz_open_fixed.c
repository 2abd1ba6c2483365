/* The same with right checksums, so that the fuzzer gets past them to what they guard. */
#include "fuzz.h"
#include "checksums.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *image = malloc(size + 1);
    if (!image) return 0;
    memcpy(image, data, size);
    fix_checksums(image, size);
    open_and_use(image, size);
    free(image);
    return 0;
}
