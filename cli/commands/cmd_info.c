/* perhaps info: what a filter is and how full. */
#include "options/abilities.h"
#include "backend/file/filter_children.h"
#include "backend/redis/at.h"
#include "commands.h"
#include "backend/file/filter_file.h"
#include "output/numbers.h"

#include <perhaps_embed.h>

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
    {PERHAPS_FUSE, "bits are the least that any filter needs", "places that a key looks at"},
    {PERHAPS_RIBBON, "bits are the least that any filter needs", "stretch of 64 rows that a key looks at"},
    {PERHAPS_ANY, "bits", "bits set per key"}, /* all others */
};

static const struct words *words_of(int kind) {
    const struct words *words = kind_words;
    while (words->kind != PERHAPS_ANY && words->kind != kind) words++;
    return words;
}

/* What the keys are in, at last: that of which a filter of filters is made, or the filter itself. */
static int inner_kind(const struct perhaps_info *info) {
    return info->base ? info->base : info->kind;
}

static void print_title(const struct perhaps_info *info, const char *path) {
    bool fixed = info->grow == PERHAPS_GROW_NEVER && info->can & PERHAPS_GROW;
    printf("%s: %s, ", path, info->kind_name);
    if (info->children)
        printf("%u %.*s of %s\n", info->children, (int)strlen(children_name(info->kind)) - (info->children == 1),
               children_name(info->kind), kind_name(info->base));
    else
        printf("%s\n", fixed ? "of a fixed size" : kind_summary(info->kind));
}

static void print_keys(const struct perhaps_info *info) {
    char items[NUMBER_TEXT], capacity[NUMBER_TEXT], distinct[NUMBER_TEXT];
    group_digits(info->items, items);
    group_digits(info->capacity, capacity);
    group_digits((uint64_t)(info->distinct + 0.5), distinct);
    if (info->guessed)
        printf("  keys      about %s different ones, from the bits; the file does not state how many it was made for\n",
               distinct);
    else if (is_file_kind(info->kind) && !info->items)
        printf("  keys      about %s different ones, from the bits (room for %s)\n", distinct, capacity);
    else if (inner_kind(info) == PERHAPS_BITMAP)
        printf("  keys      %s of the integers below %s\n", items, capacity);
    else if (inner_kind(info) == PERHAPS_TABLE)
        printf("  keys      %s (made for %s)\n", items, capacity);
    else if (info->traits & PERHAPS_STATIC)
        printf("  keys      %s different; sealed, no more can be added\n", items);
    else if (info->traits & PERHAPS_MULTISET)
        printf("  keys      %s copies (made for %s); about %s different keys\n", items, capacity, distinct);
    else
        printf("  keys      %s adds were new (made for %s); about %s different keys, from the bits\n", items, capacity,
               distinct);
}

/* Some files of other programs do not tell, but their bits do. */
static uint64_t keys_in(const struct perhaps_info *info) {
    return info->items || !is_file_kind(info->kind) ? info->items : (uint64_t)(info->distinct + 0.5);
}

/* A bitmap is made for integers rather than for a number of keys, a window remembers some more than it must, some
 * foreign files do not state what they were made for, and what grows makes room. */
static bool has_room(const struct perhaps_info *info) {
    bool grows = info->can & PERHAPS_GROW && info->grow != PERHAPS_GROW_NEVER;
    return inner_kind(info) != PERHAPS_BITMAP && info->kind != PERHAPS_WINDOW && !info->guessed &&
           !(grows && info->items > info->capacity);
}

static void print_fill(double fill, const char *parts) {
    printf("  fill      ");
    print_bar(fill, BAR_WIDTH, false);
    printf(" %.1f %% of the %s\n", fill * 100, parts);
}

static void print_growth(const struct perhaps_info *info) {
    char most[NUMBER_TEXT];
    if (info->max_bytes)
        printf("  grow      with its keys, up to %s\n", human_bytes(info->max_bytes, most));
    else if (info->can & PERHAPS_GROW)
        printf("  grow      %s\n", info->grow == PERHAPS_GROW_NEVER ? "never: more than it was made for is refused"
                                                                    : "with its keys, as long as memory lasts");
}

static void print_window(const struct perhaps_info *info) {
    char text[NUMBER_TEXT];
    if (info->period) printf("  forgets   what is older than %s\n", human_duration(info->period, text));
    if (info->flooded)
        printf("  flooded   more keys came in that time than it is made for; build it anew with a larger -n\n");
    if (info->clear_at > 0)
        printf("  forgets   the oldest generation, when the newest is filled to %.4g %%\n", info->clear_at * 100);
    if (!info->period && info->clear_at == 0)
        printf("  forgets   all but the last %s keys\n", group_digits(info->capacity, text));
}

/* What only some kinds have. */
static void print_special(const struct perhaps_info *info) {
    char text[NUMBER_TEXT];
    int kind = inner_kind(info);
    if (kind == PERHAPS_TABLE)
        printf("  loss      %s: the chance that any two keys in it are taken for one\n", human_rate(info->loss, text));
    if (kind == PERHAPS_TABLE && info->stashed)
        printf("  stashed   %s keys share their buckets with too many others\n", group_digits(info->stashed, text));
    if (kind == PERHAPS_COUNTING)
        printf("  stuck     %s counters have reached 15 and stay there\n", group_digits(info->stuck, text));
    if (kind == PERHAPS_CUCKOO)
        printf("  stashed   %s copies are kept outside the slots\n", group_digits(info->stashed, text));
    print_growth(info);
    if (info->kind == PERHAPS_WINDOW) print_window(info);
}

static void print_hash(const struct perhaps_info *info) {
    if (info->hash == PERHAPS_IDENTITY)
        printf("  hash      none: integers as they are\n");
    else if (is_file_kind(info->kind))
        printf("  hash      %s\n", info->hash_name);
    else
        printf("  hash      %s, %s %llu\n", info->hash_name,
               info->hash == PERHAPS_SIPHASH ? "check of the key" : "seed", (unsigned long long)info->seed);
}

/* Files of other programs do not tell how their keys are written, nor have they a version of ours. */
static void print_format(const perhaps *filter, const struct perhaps_info *info) {
    char can[100];
    bool other = is_file_kind(info->kind);
    perhaps_recipe recipe = filter_recipe(filter);
    print_recipe(other ? NULL : &recipe, "the file does not tell; give --key, if keys are not lines as they are");
    printf("  can       %s\n", info->can ? abilities_text(filter_abilities(info), ", ", can, sizeof can)
                                         : "nothing but answer: it is static");
    if (other)
        printf("  format    %s, without checksums", info->kind_name);
    else
        printf("  format    version %u", info->format_version);
    printf("; code for %s\n", info->isa);
}

static void print_text(const perhaps *filter, const struct perhaps_info *info, const char *path) {
    char a[NUMBER_TEXT], b[NUMBER_TEXT], c[NUMBER_TEXT];
    const struct words *words = words_of(inner_kind(info));
    print_title(info, path);
    print_keys(info);
    if (has_room(info)) print_used(keys_in(info), info->capacity);
    print_fill(info->fill, words->parts);
    printf("  fpr       now %s; %s%s\n", human_rate(info->fpr_now, a),
           info->guessed ? "with half of the bits set " : "planned ", human_rate(info->fpr_target, b));
    print_special(info);
    printf("  size      %s (%s bytes), %.2f bits a key; the file %s bytes\n", human_bytes(info->bytes, a),
           group_digits(info->bytes, b), info->bits_per_key, group_digits(info->image_bytes, c));
    printf("  layout    %u %s, in at most %u cache line%s\n", info->hashes, words->of_a_key, info->lines,
           info->lines == 1 ? "" : "s");
    print_hash(info);
    print_format(filter, info);
    if (info->children) print_children(filter, info);
}

int cmd_info(const struct options *options) {
    if (given(options, OPT_AT)) return at_info(options);
    perhaps *filter;
    struct perhaps_info info;
    const char *path = options->operands[0];
    if (filter_open(options, path, 0, &filter) != FINE) return TROUBLE;
    int status = filter_info(filter, path, &info);
    if (status == FINE && given(options, OPT_JSON))
        print_info_json(filter, &info, path);
    else if (status == FINE)
        print_text(filter, &info, path);
    perhaps_free(filter);
    return status;
}
