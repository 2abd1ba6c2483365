#include "filter_children.h"
#include "output/numbers.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_ROWS = 40 };

const char *children_name(int kind) {
    return kind == PERHAPS_GROWING ? "layers" : kind == PERHAPS_WINDOW ? "generations" : "shards";
}

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

static bool look_at(const perhaps *filter, unsigned i, struct perhaps_info *child) {
    *child = (struct perhaps_info){.size = sizeof *child};
    return perhaps_child(filter, i, child) == PERHAPS_OK;
}

/* ---------------------------------------------------------------------------------------------------- text --- */

/* A time in milliseconds as people read it; a number that cannot be one, of another program's clock, as it is. */
static void print_since(uint64_t since) {
    char text[NUMBER_TEXT];
    time_t seconds = (time_t)(since / 1000);
    struct tm parts;
    bool plausible = since > UINT64_C(100000000000) && since < UINT64_C(100000000000000);
    if (plausible && localtime_r(&seconds, &parts) && strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts))
        printf("  %s", text);
    else
        printf("  %llu", (unsigned long long)since);
}

static void print_row(const perhaps *filter, unsigned i, bool timed) {
    char items[NUMBER_TEXT], capacity[NUMBER_TEXT], bytes[NUMBER_TEXT];
    struct perhaps_info child;
    if (!look_at(filter, i, &child)) return;
    printf("  %10u %15s %15s  ", i + 1, group_digits(child.items, items), group_digits(child.capacity, capacity));
    print_bar(child.fill, 20, child.items > child.capacity);
    printf(" %5.1f %% %10.4g %15s", child.fill * 100, child.fpr_now, group_digits(child.bytes, bytes));
    if (timed) print_since(child.since);
    putchar('\n');
}

struct rank {
    double fill;
    unsigned i;
};

static int fuller_first(const void *a, const void *b) {
    const struct rank *x = a, *y = b;
    if (x->fill != y->fill) return x->fill < y->fill ? 1 : -1;
    return x->i < y->i ? -1 : 1;
}

static void print_extremes(const perhaps *filter, unsigned n) {
    char more[NUMBER_TEXT];
    struct perhaps_info child;
    struct rank *ranks = malloc(n * sizeof *ranks);
    if (!ranks) return;
    for (unsigned i = 0; i < n; i++) ranks[i] = (struct rank){look_at(filter, i, &child) ? child.fill : 0, i};
    qsort(ranks, n, sizeof *ranks, fuller_first);
    for (unsigned i = 0; i < MOST_ROWS / 2; i++) print_row(filter, ranks[i].i, false);
    printf("    ... %s more, less full than those above and fuller than those below\n",
           group_digits(n - MOST_ROWS, more));
    for (unsigned i = n - MOST_ROWS / 2; i < n; i++) print_row(filter, ranks[i].i, false);
    free(ranks);
}

void print_children(const perhaps *filter, const struct perhaps_info *info) {
    printf("\n  %10.*s %15s %15s  %-30s %10s %15s%s\n", (int)strlen(children_name(info->kind)) - 1,
           children_name(info->kind), "keys", "made for", "fill", "fpr now", "bytes", info->period ? "  since" : "");
    if (info->children > MOST_ROWS) {
        print_extremes(filter, info->children);
        return;
    }
    for (unsigned i = 0; i < info->children; i++) print_row(filter, i, info->period);
}

/* ---------------------------------------------------------------------------------------------------- JSON --- */

static void print_child_json(struct json *json, const struct perhaps_info *child) {
    json_open(json, NULL, '{');
    json_text(json, "kind", child->kind_name);
    json_count(json, "capacity", child->capacity);
    json_count(json, "items", child->items);
    json_real(json, "fpr_target", child->fpr_target);
    json_real(json, "fpr_now", child->fpr_now);
    json_count(json, "bytes", child->bytes);
    json_real(json, "bits_per_key", child->bits_per_key);
    json_real(json, "fill", child->fill);
    json_count(json, "since", child->since);
    json_close(json, '}');
}

void print_children_json(struct json *json, const perhaps *filter, unsigned n) {
    struct perhaps_info child;
    json_open(json, "children", '[');
    for (unsigned i = 0; i < n; i++)
        if (look_at(filter, i, &child)) print_child_json(json, &child);
    json_close(json, ']');
}
