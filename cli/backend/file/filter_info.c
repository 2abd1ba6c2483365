/* What `perhaps info` says about a filter in a file, as text and as JSON. */
#include "filter_target.h"
#include "options/abilities.h"
#include "output/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- children ---- */

enum { MOST_ROWS = 40, FIRST_AND_LAST = 5 };

/* What composite filters are made of. */
static const char *children_name(int kind) {
    return kind == PERHAPS_GROWING ? "layers" : kind == PERHAPS_WINDOW ? "generations" : "shards";
}

static bool look_at(const perhaps *filter, unsigned i, struct perhaps_info *child) {
    *child = (struct perhaps_info){.size = sizeof *child};
    return perhaps_child(filter, i, child) == PERHAPS_OK;
}

/* A time in milliseconds as people read it; a number of another program's clock as it is. */
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

/* A row for each, with a bar; of very many only the fullest and the emptiest. */
static void print_children(const perhaps *filter, const struct perhaps_info *info) {
    unsigned n = info->children;
    struct perhaps_info child;
    char more[NUMBER_TEXT];
    printf("\n  %10.*s %15s %15s  %-30s %10s %15s%s\n", (int)strlen(children_name(info->kind)) - 1,
           children_name(info->kind), "keys", "made for", "fill", "fpr now", "bytes", info->period ? "  since" : "");
    for (unsigned i = 0; i < n && n <= MOST_ROWS; i++) print_row(filter, i, info->period);
    struct rank *ranks = n > MOST_ROWS ? malloc(n * sizeof *ranks) : NULL;
    if (!ranks) return;
    for (unsigned i = 0; i < n; i++) ranks[i] = (struct rank){look_at(filter, i, &child) ? child.fill : 0, i};
    qsort(ranks, n, sizeof *ranks, fuller_first);
    for (unsigned i = 0; i < FIRST_AND_LAST; i++) print_row(filter, ranks[i].i, false);
    printf("    ... %s more, less full than those above and fuller than those below\n",
           group_digits(n - 2 * FIRST_AND_LAST, more));
    for (unsigned i = n - FIRST_AND_LAST; i < n; i++) print_row(filter, ranks[i].i, false);
    free(ranks);
}

/* ---- JSON ---- */

/* Growing is not among them, if it was made never to grow. */
static unsigned filter_abilities(const struct perhaps_info *info) {
    return info->grow == PERHAPS_GROW_NEVER ? info->can & ~(unsigned)PERHAPS_GROW : info->can;
}

/* All of them. */
static void print_children_json(struct json *json, const perhaps *filter, unsigned n) {
    struct perhaps_info child;
    json_open(json, "children", '[');
    for (unsigned i = 0; i < n; i++) {
        if (!look_at(filter, i, &child)) continue;
        json_open(json, NULL, '{');
        json_text(json, "kind", child.kind_name);
        json_count(json, "capacity", child.capacity);
        json_count(json, "items", child.items);
        json_real(json, "fpr_target", child.fpr_target);
        json_real(json, "fpr_now", child.fpr_now);
        json_count(json, "bytes", child.bytes);
        json_real(json, "bits_per_key", child.bits_per_key);
        json_real(json, "fill", child.fill);
        json_count(json, "since", child.since);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void print_json(struct target *target, const struct perhaps_info *info) {
    struct json json = {0};
    const char *grow = info->grow == PERHAPS_GROW_NEVER    ? "never"
                       : info->grow == PERHAPS_GROW_LAYERS ? "layers"
                                                           : "default";
    json_open(&json, NULL, '{');
    json_text(&json, "file", target->name);
    json_text(&json, "kind", info->kind_name);
    if (info->children) {
        json_text(&json, "base", kind_name(info->base));
        json_count(&json, "max_bytes", info->max_bytes);
        json_count(&json, "period", info->period);
        json_count(&json, "generations", info->generations);
        json_flag(&json, "flooded", info->flooded);
        json_real(&json, "clear_at", round(info->clear_at * 1e9) / 1e9); /* stored in 2^-32 */
    }
    json_count(&json, "capacity", info->capacity);
    if (is_file_kind(info->kind)) json_flag(&json, "guessed", info->guessed);
    json_count(&json, "items", info->items);
    json_real(&json, "distinct", info->distinct);
    json_real(&json, "fpr_target", info->fpr_target);
    json_real(&json, "fpr_now", info->fpr_now);
    json_count(&json, "bytes", info->bytes);
    json_count(&json, "image_bytes", info->image_bytes);
    json_real(&json, "bits_per_key", info->bits_per_key);
    json_real(&json, "fill", info->fill);
    json_real(&json, "loss", info->loss);
    json_count(&json, "stuck", info->stuck);
    json_count(&json, "stashed", info->stashed);
    json_text(&json, "grow", grow);
    json_count(&json, "hashes", info->hashes);
    json_count(&json, "cache_lines", info->lines);
    json_text(&json, "hash", info->hash_name);
    if (!is_file_kind(info->kind)) {
        json_count(&json, "seed", info->seed);
        target_print_recipe_json(target, &json);
        json_count(&json, "format_version", info->format_version);
    }
    json_text(&json, "isa", info->isa);
    json_abilities(&json, filter_abilities(info));
    print_children_json(&json, filter_of(target), info->children);
    if (given(target->options, OPT_BITS)) filter_bits_json(filter_target_of(target), &json);
    json_end(&json);
}

/* ---- text ---- */

/* What the array is made of, and what a key has there. */
static const struct words {
    int kind;
    const char *parts, *of_a_key;
} kind_words[] = {
    {PERHAPS_COUNTING, "counters", "counters per key"},
    {PERHAPS_CUCKOO, "slots", "slots that a key can be in"},
    {PERHAPS_TABLE, "slots", "buckets that a key can be in"},
    {PERHAPS_BITMAP, "bits", "bit for each integer"},
    {PERHAPS_FUSE, "bits are the theoretical minimum", "places that a key looks at"},
    {PERHAPS_RIBBON, "bits are the theoretical minimum", "stretch of 64 rows that a key looks at"},
    {PERHAPS_ANY, "bits", "bits set per key"}, /* all others */
};

/* The kind that holds the keys: what a composite filter is made of, or the filter itself. */
static int inner_kind(const struct perhaps_info *info) {
    return info->base ? info->base : info->kind;
}

static void print_keys(const struct perhaps_info *info) {
    char items[NUMBER_TEXT], capacity[NUMBER_TEXT], distinct[NUMBER_TEXT];
    group_digits(info->items, items);
    group_digits(info->capacity, capacity);
    group_digits((uint64_t)(info->distinct + 0.5), distinct);
    if (info->guessed)
        printf("  keys      about %s distinct, from the bits; the file does not say how many it was made for\n",
               distinct);
    else if (is_file_kind(info->kind) && !info->items)
        printf("  keys      about %s distinct, from the bits (room for %s)\n", distinct, capacity);
    else if (inner_kind(info) == PERHAPS_BITMAP)
        printf("  keys      %s of the integers below %s\n", items, capacity);
    else if (inner_kind(info) == PERHAPS_TABLE)
        printf("  keys      %s (made for %s)\n", items, capacity);
    else if (info->traits & PERHAPS_STATIC)
        printf("  keys      %s distinct; static, so no more can be added\n", items);
    else if (info->traits & PERHAPS_MULTISET)
        printf("  keys      %s copies (made for %s), of about %s distinct keys\n", items, capacity, distinct);
    else
        printf("  keys      %s (made for %s); about %s distinct, from the bits\n", items, capacity, distinct);
}

/* A bitmap is made for integers rather than for a number of keys, a window remembers some more than
 * it must, some foreign files do not state what they were made for, and what grows makes room. */
static bool has_room(const struct perhaps_info *info) {
    bool grows = info->can & PERHAPS_GROW && info->grow != PERHAPS_GROW_NEVER;
    return inner_kind(info) != PERHAPS_BITMAP && info->kind != PERHAPS_WINDOW && !info->guessed &&
           !(grows && info->items > info->capacity);
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
    if (info->max_bytes)
        printf("  grow      with its keys, up to %s\n", human_bytes(info->max_bytes, text));
    else if (info->can & PERHAPS_GROW)
        printf("  grow      %s\n", info->grow == PERHAPS_GROW_NEVER ? "never: more than it was made for is refused"
                                                                    : "with its keys, as long as memory lasts");
    if (info->kind != PERHAPS_WINDOW) return;
    if (info->period) printf("  forgets   what is older than %s\n", human_duration(info->period, text));
    if (info->flooded)
        printf("  flooded   more keys came in that time than it is made for; build it again with a larger -n\n");
    if (info->clear_at > 0)
        printf("  forgets   the oldest generation, when the newest is filled to %.4g %%\n", info->clear_at * 100);
    if (!info->period && info->clear_at == 0)
        printf("  forgets   all but the last %s keys\n", group_digits(info->capacity, text));
}

static void print_text(struct target *target, const struct perhaps_info *info) {
    char a[NUMBER_TEXT], b[NUMBER_TEXT], can[100];
    bool foreign = is_file_kind(info->kind), fixed = info->grow == PERHAPS_GROW_NEVER && info->can & PERHAPS_GROW;
    const struct words *words = kind_words;
    while (words->kind != PERHAPS_ANY && words->kind != inner_kind(info)) words++;

    printf("%s: %s, ", target->name, info->kind_name);
    if (info->children)
        printf("%u %.*s of %s\n", info->children, (int)strlen(children_name(info->kind)) - (info->children == 1),
               children_name(info->kind), kind_name(info->base));
    else
        printf("%s\n", fixed ? "of a fixed size" : kind_summary(info->kind));
    print_keys(info);
    bool estimated = foreign && !info->items; /* from the bits of a foreign file */
    if (has_room(info)) print_used(estimated ? (uint64_t)(info->distinct + 0.5) : info->items, info->capacity);
    printf("  fill      ");
    print_bar(info->fill, BAR_WIDTH, false);
    printf(" %.1f %% of the %s\n", info->fill * 100, words->parts);
    printf("  fpr       now %s; %s%s\n", human_rate(info->fpr_now, a),
           info->guessed ? "with half of the bits set " : "planned ", human_rate(info->fpr_target, b));
    print_special(info);

    print_size(info->bytes);
    printf(", %.2f bits per key; the file %s bytes\n", info->bits_per_key, group_digits(info->image_bytes, a));
    printf("  layout    %u %s, in at most %u cache line%s\n", info->hashes, words->of_a_key, info->lines,
           info->lines == 1 ? "" : "s");
    printf("  hash      %s", info->hash == PERHAPS_IDENTITY ? "none: integers as they are" : info->hash_name);
    if (info->hash != PERHAPS_IDENTITY && !foreign)
        printf(", %s %llu", info->hash == PERHAPS_SIPHASH ? "check of the key" : "seed",
               (unsigned long long)info->seed);
    putchar('\n');
    target_print_recipe(target, "the file does not tell; give --key, if keys are not lines as they are");
    printf("  can       %s\n", info->can ? abilities_text(filter_abilities(info), ", ", can, sizeof can)
                                         : "nothing but answer: it is static");
    if (foreign)
        printf("  format    %s, without checksums", info->kind_name);
    else
        printf("  format    version %u", info->format_version);
    printf("; code for %s\n", info->isa);
    if (info->children) print_children(filter_of(target), info);
    if (given(target->options, OPT_BITS)) filter_draw_bits(filter_target_of(target), children_name(info->kind));
}

int filter_print_info(struct target *target, bool as_json) {
    struct perhaps_info info;
    if (given(target->options, OPT_BITS) && filter_bits_ready(filter_target_of(target)) != FINE) return TROUBLE;
    if (filter_info(filter_of(target), target->name, &info) != FINE) return TROUBLE;
    (as_json ? print_json : print_text)(target, &info);
    return FINE;
}
