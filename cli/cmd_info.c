/* perhaps info: what a filter is and how full. */
#include "abilities.h"
#include "commands.h"
#include "filter.h"
#include "numbers.h"

#include <string.h>

static const char *kind_summary(int kind) {
    for (size_t row = 0; perhaps_kind(row); row++)
        if (perhaps_kind(row)->kind == kind) return perhaps_kind(row)->summary;
    return "";
}

static void print_fill(double fill) {
    enum { WIDTH = 40 };
    char bar[WIDTH + 1];
    size_t filled = (size_t)(fill * WIDTH + 0.5);
    memset(bar, '.', WIDTH);
    memset(bar, '#', filled < WIDTH ? filled : WIDTH);
    bar[WIDTH] = 0;
    printf("  fill      [%s] %.1f %% of the bits\n", bar, fill * 100);
}

static void print_text(const struct perhaps_info *info, const char *path) {
    char a[NUMBER_TEXT], b[NUMBER_TEXT], c[NUMBER_TEXT], can[100];
    printf("%s: %s, %s\n", path, info->kind_name, kind_summary(info->kind));
    printf("  keys      %s adds were new (made for %s); about %s different keys, from the bits\n",
           group_digits(info->items, a), group_digits(info->capacity, b),
           group_digits((uint64_t)(info->distinct + 0.5), c));
    print_fill(info->fill);
    printf("  fpr       now %s; planned %s\n", human_rate(info->fpr_now, a), human_rate(info->fpr_target, b));
    printf("  size      %s (%s bytes), %.2f bits a key; the file %s bytes\n", human_bytes(info->bytes, a),
           group_digits(info->bytes, b), info->bits_per_key, group_digits(info->image_bytes, c));
    printf("  layout    %u bits set per key, in at most %u cache line%s\n", info->hashes, info->lines,
           info->lines == 1 ? "" : "s");
    printf("  hash      %s, %s %llu\n", info->hash_name, info->hash == PERHAPS_SIPHASH ? "check of the key" : "seed",
           (unsigned long long)info->seed);
    printf("  key       %s\n", tag_name(info->tag));
    printf("  can       %s\n", abilities_text(info->can, ", ", can, sizeof can));
    printf("  format    version %u; code for %s\n", info->format_version, info->isa);
}

int cmd_info(const struct options *options) {
    perhaps *filter;
    struct perhaps_info info;
    const char *path = options->operands[0];
    if (filter_open(options, path, 0, &filter) != FINE) return TROUBLE;
    int status = filter_info(filter, path, &info);
    if (status == FINE && given(options, OPT_JSON))
        print_info_json(&info, path);
    else if (status == FINE)
        print_text(&info, path);
    perhaps_free(filter);
    return status;
}
