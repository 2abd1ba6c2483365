/* perhaps info --at: what a set on servers is, how full, and where it is. */
#include "at.h"
#include "set_facts.h"
#include "backend/file/filter_children.h"
#include "output/numbers.h"
#include "backend/file/filter_file.h"
#include "output/report.h"

#include <math.h>

static unsigned server_count(const struct set_facts *f, const struct set *set) {
    unsigned n = 0;
    for (size_t i = 0; i < set->cluster.node_count; i++) n += f->shares[i].shards > 0;
    return n;
}

static void print_title(const struct set_facts *f, const struct set *set) {
    static const char *const words[SET_KINDS] = {"bloom", "cuckoo", "bloom in plain strings"};
    unsigned servers = server_count(f, set);
    printf("%s: ", set->url.shown);
    if (!set->single) printf("%s, ", words[set->kind]);
    if (set->single) /* which may be of any kind, if it was loaded from a file */
        printf("one filter of %s\n", set->kind == SET_CUCKOO ? "CF.*" : "BF.*");
    else
        printf("%u shard%s on %u server%s\n", set->shards, set->shards == 1 ? "" : "s", servers,
               servers == 1 ? "" : "s");
}

static void print_keys(const struct set_facts *f, const struct set *set) {
    char items[NUMBER_TEXT], capacity[NUMBER_TEXT], least[NUMBER_TEXT], most[NUMBER_TEXT];
    printf("  keys      %s%s (made for %s)", set->kind == SET_BITS ? "about " : "", group_digits(f->items, items),
           group_digits(f->capacity, capacity));
    if (set->shards > 1)
        printf("; %s to %s a shard", group_digits(f->least_items, least), group_digits(f->most_items, most));
    putchar('\n');
}

static void print_size(const struct set_facts *f, const struct set *set) {
    char bytes[NUMBER_TEXT], digits[NUMBER_TEXT], most[NUMBER_TEXT];
    printf("  size      %s (%s bytes)", human_bytes(f->bytes, bytes), group_digits(f->bytes, digits));
    if (f->capacity) printf(", %.2f bits a key", 8 * (double)f->bytes / (double)f->capacity);
    if (set->shards > 1) printf("; the largest shard %s", human_bytes(f->most_bytes, most));
    putchar('\n');
}

static void print_servers(const struct set_facts *f, const struct set *set) {
    char bytes[NUMBER_TEXT];
    printf("\n  %-40s %8s %20s\n", "server", "shards", "bytes");
    for (size_t i = 0; i < set->cluster.node_count; i++)
        if (f->shares[i].shards)
            printf("  %-40s %8u %20s\n", set->cluster.nodes[i]->shown, f->shares[i].shards,
                   group_digits(f->shares[i].bytes, bytes));
}

/* Another module's filters tell neither their rate nor how full they are. */
static void print_text(const struct set_facts *f, const struct set *set) {
    char now[NUMBER_TEXT], target[NUMBER_TEXT];
    print_title(f, set);
    print_keys(f, set);
    print_used(f->items, f->capacity);
    if (isfinite(f->fill)) {
        printf("  fill      ");
        print_bar(f->fill, BAR_WIDTH, false);
        printf(" %.1f %%\n", f->fill * 100);
    }
    printf("  fpr       now %s; planned %s\n", isfinite(f->fpr_now) ? human_rate(f->fpr_now, now) : "unknown",
           isfinite(f->fpr_target) ? human_rate(f->fpr_target, target) : "unknown");
    print_size(f, set);
    if (set->kind == SET_BITS) printf("  layout    %u bits set per key\n", set->hashes);
    print_recipe(set->tells_recipe ? &set->recipe : NULL, "unknown");
    print_servers(f, set);
}

int at_info(const struct options *options) {
    struct set set;
    struct set_facts facts = {0};
    int status = set_open(&set, options);
    if (status == FINE) status = set_facts_gather(&facts, &set);
    if (status == FINE && given(options, OPT_JSON))
        set_facts_print_json(&facts, &set);
    else if (status == FINE)
        print_text(&facts, &set);
    set_facts_free(&facts);
    set_close(&set);
    return status;
}
