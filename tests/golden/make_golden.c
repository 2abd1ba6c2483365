/* Writes the golden files into the folder named on the command line. For a new kind or a new format
 * version: an existing file that comes out different means that the same calls no longer give the
 * same bytes. */
#include "recipes.h"

#include <stdio.h>
#include <unistd.h>

static void write_file(const char *name, struct bytes bytes) {
    write_whole(name, bytes.data, bytes.length);
    printf("%s: %zu bytes\n", name, bytes.length);
}

static void write_all(void **state) {
    (void)state;
    for_each_golden(write_file);
}

int main(int argc, char **argv) {
    if (argc != 2 || chdir(argv[1]) != 0) {
        fprintf(stderr, "usage: make_golden FOLDER (which must exist)\n");
        return 2;
    }
    const struct CMUnitTest all[] = {cmocka_unit_test(write_all)};
    return cmocka_run_group_tests(all, NULL, NULL);
}
