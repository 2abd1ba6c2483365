/* Makes the checksums of doctored images right again: reads images from standard input, each after
 * its length in four bytes, little-endian, and writes them to standard output in the same way. */
#include "checksums.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1 << 26 };

int main(void) {
    uint8_t prefix[4], *image = malloc(MOST);
    while (image && fread(prefix, 1, sizeof prefix, stdin) == sizeof prefix) {
        size_t length = prefix[0] | (size_t)prefix[1] << 8 | (size_t)prefix[2] << 16 | (size_t)prefix[3] << 24;
        if (length > MOST || fread(image, 1, length, stdin) != length) break;
        fix_checksums(image, length);
        fwrite(prefix, 1, sizeof prefix, stdout);
        fwrite(image, 1, length, stdout);
    }
    free(image);
    return !feof(stdin) || fflush(stdout) != 0;
}
