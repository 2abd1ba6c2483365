/* perhaps info: what a filter is and how full. */
#include "abilities.h"
#include "commands.h"
#include "filter.h"
#include "numbers.h"

#include <string.h>

/* What the array is made of, and what a key has there. */
static const struct words {
    int kind;
    const char *parts, *of_a_key;
} kind_words[] = {
    {PERHAPS_COUNTING, "counters", "counters per key"},
    {PERHAPS_CUCKOO, "slots", "slots that a key can be in"},
    {PERHAPS_TABLE, "slots", "buckets that a key can be in"},
    {PERHAPS_BITMAP, "bits", "bit for each integer"},
    {PERHAPS_ANY, "bits", "bits set per key"}, /* all others */
};

static const struct words *words_of(int kind) {
    const struct words *words = kind_words;
    while (words->kind != PERHAPS_ANY && words->kind != kind) words++;
    return words;
}

static void print_keys(const struct perhaps_info *info) {
    char items[NUMBER_TEXT], capacity[NUMBER_TEXT], distinct[NUMBER_TEXT];
    group_digits(info->items, items);
    group_digits(info->capacity, capacity);
    group_digits((uint64_t)(info->distinct + 0.5), distinct);
    if (info->kind == PERHAPS_BITMAP)
        printf("  keys      %s of the integers below %s\n", items, capacity);
    else if (info->kind == PERHAPS_TABLE)
        printf("  keys      %s (made for %s)\n", items, capacity);
    else if (info->can & PERHAPS_COUNT)
        printf("  keys      %s copies (made for %s); about %s different keys\n", items, capacity, distinct);
    else
        printf("  keys      %s adds were new (made for %s); about %s different keys, from the bits\n", items, capacity,
               distinct);
}

static void print_fill(double fill, const char *parts) {
    enum { WIDTH = 40 };
    char bar[WIDTH + 1];
    size_t filled = (size_t)(fill * WIDTH + 0.5);
    memset(bar, '.', WIDTH);
    memset(bar, '#', filled < WIDTH ? filled : WIDTH);
    bar[WIDTH] = 0;
    printf("  fill      [%s] %.1f %% of the %s\n", bar, fill * 100, parts);
}

/* What only some kinds have. */
static void print_special(const struct perhaps_info *info) {
    char text[NUMBER_TEXT];
    if (info->kind == PERHAPS_TABLE)
        printf("  loss      %s: the chance that any two keys in it are taken for one\n", human_rate(info->loss, text));
    if (info->kind == PERHAPS_COUNTING)
        printf("  stuck     %s counters have reached 15 and stay there\n", group_digits(info->stuck, text));
    if (info->kind == PERHAPS_CUCKOO)
        printf("  stashed   %s copies are kept outside the slots\n", group_digits(info->stashed, text));
    if (info->can & PERHAPS_GROW)
        printf("  grow      %s\n", info->grow == PERHAPS_GROW_NEVER ? "never: more than it was made for is refused"
                                                                    : "with its keys, as long as memory lasts");
}

static void print_hash(const struct perhaps_info *info) {
    if (info->hash == PERHAPS_IDENTITY)
        printf("  hash      none: integers as they are\n");
    else
        printf("  hash      %s, %s %llu\n", info->hash_name,
               info->hash == PERHAPS_SIPHASH ? "check of the key" : "seed", (unsigned long long)info->seed);
}

static void print_text(const struct perhaps_info *info, const char *path) {
    char a[NUMBER_TEXT], b[NUMBER_TEXT], c[NUMBER_TEXT], can[100];
    const struct words *words = words_of(info->kind);
    printf("%s: %s, %s\n", path, info->kind_name, kind_row(info->kind)->summary);
    print_keys(info);
    print_fill(info->fill, words->parts);
    printf("  fpr       now %s; planned %s\n", human_rate(info->fpr_now, a), human_rate(info->fpr_target, b));
    print_special(info);
    printf("  size      %s (%s bytes), %.2f bits a key; the file %s bytes\n", human_bytes(info->bytes, a),
           group_digits(info->bytes, b), info->bits_per_key, group_digits(info->image_bytes, c));
    printf("  layout    %u %s, in at most %u cache line%s\n", info->hashes, words->of_a_key, info->lines,
           info->lines == 1 ? "" : "s");
    print_hash(info);
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
