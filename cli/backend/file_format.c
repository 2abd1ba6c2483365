#include "file_format.h"
#include "roaring/portable.h"

#include <stdio.h>
#include <sys/stat.h>

enum file_format file_format_of(const char *path) {
    uint8_t first[4] = {0};
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return FORMAT_OTHER;
    FILE *file = fopen(path, "rb");
    if (!file) return FORMAT_OTHER;
    size_t got = fread(first, 1, sizeof first, file);
    fclose(file);
    if (got >= 2 && first[0] == 0x1f && first[1] == 0x8b) return FORMAT_GZIP;
    return got == sizeof first && portable_begins(first) ? FORMAT_ROARING : FORMAT_OTHER;
}
