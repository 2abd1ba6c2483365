/* Bitmaps of 32-bit ids by libroaring alone: what the command line writes and reads, another
 * program must.
 *   other_c write FILE [plain]   the ids of standard input, with runs unless plain
 *   other_c read FILE            its ids, one a line */
#include <roaring/roaring.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool print_id(uint32_t id, void *context) {
    (void)context;
    printf("%u\n", id);
    return true;
}

static int write_ids(const char *path, bool with_runs) {
    roaring_bitmap_t *bitmap = roaring_bitmap_create();
    for (unsigned id; scanf("%u", &id) == 1;) roaring_bitmap_add(bitmap, id);
    if (with_runs) roaring_bitmap_run_optimize(bitmap);
    size_t length = roaring_bitmap_portable_size_in_bytes(bitmap);
    char *bytes = malloc(length);
    FILE *file = fopen(path, "wb");
    if (!bytes || !file) return 1;
    bool written = fwrite(bytes, 1, roaring_bitmap_portable_serialize(bitmap, bytes), file) == length;
    free(bytes);
    roaring_bitmap_free(bitmap);
    return fclose(file) != 0 || !written;
}

static int read_ids(const char *path) {
    static char bytes[4 << 20];
    FILE *file = fopen(path, "rb");
    size_t length = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    roaring_bitmap_t *bitmap = roaring_bitmap_portable_deserialize_safe(bytes, length);
    if (!bitmap || roaring_bitmap_portable_size_in_bytes(bitmap) != length) return 1;
    roaring_iterate(bitmap, print_id, NULL);
    roaring_bitmap_free(bitmap);
    return fclose(file) != 0;
}

int main(int argc, char **argv) {
    if (argc >= 3 && strcmp(argv[1], "write") == 0) return write_ids(argv[2], argc == 3);
    return argc == 3 && strcmp(argv[1], "read") == 0 ? read_ids(argv[2]) : 2;
}
