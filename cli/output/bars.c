#include "bars.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

/* The first of these that is set says what characters there are. */
static bool locale_is_utf8(void) {
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && *value) return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

/* Rounded, but neither empty nor full if it is not. */
static int cells_filled(double share, int width) {
    if (!(share > 0)) return 0;
    if (share >= 1) return width;
    int filled = (int)(share * width + 0.5);
    return filled < 1 ? 1 : filled >= width ? width - 1 : filled;
}

void print_bar(double share, int width, bool alarm) {
    bool blocks = locale_is_utf8(), coloured = alarm && colour_for(stdout);
    int filled = cells_filled(share, width);
    fputs(coloured ? "[\033[1;31m" : "[", stdout);
    for (int i = 0; i < width; i++) fputs(i < filled ? (blocks ? "█" : "#") : (blocks ? "░" : "."), stdout);
    fputs(coloured ? "\033[0m]" : "]", stdout);
}

void print_used(uint64_t items, uint64_t capacity) {
    double share = (double)items / (double)capacity;
    if (!capacity) return;
    printf("  used      ");
    print_bar(share, BAR_WIDTH, items > capacity);
    printf(" %.1f %% of the keys it is made for%s\n", share * 100,
           items > capacity ? ": more than it should hold" : "");
}
