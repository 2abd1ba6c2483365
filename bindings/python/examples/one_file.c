/* Prints the lines of standard input that are perhaps in a filter: cc one_file.c -lperhaps -lm */
#include <perhaps.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    char line[200];
    perhaps *f;
    if (argc != 2 || perhaps_open(&f, argv[1], NULL) < 0) return fprintf(stderr, "%s\n", perhaps_why()), 1;
    while (fgets(line, sizeof line, stdin)) {
        size_t length = strcspn(line, "\n");
        if (perhaps_contains(f, line, length) > 0) printf("%.*s\n", (int)length, line);
    }
    perhaps_free(f);
    return 0;
}
