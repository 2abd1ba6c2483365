/* perhaps info, for Roaring bitmaps. */
#include "roaring_target.h"
#include "options/abilities.h"
#include "output/numbers.h"
#include "output/report.h"

static const unsigned abilities =
    PERHAPS_ADD | PERHAPS_REMOVE | PERHAPS_MERGE | PERHAPS_INTERSECT | PERHAPS_SUBTRACT | PERHAPS_GROW | PERHAPS_LIST;

/* What a set is made of: of 65,536 ids each, or of fewer. */
struct containers {
    uint64_t arrays, bitsets, runs;
};

static struct containers count_containers(const struct ids *ids) {
    struct containers all = {0};
    for (size_t i = 0; i < ids->n; i++) {
        roaring_statistics_t one;
        roaring_bitmap_statistics(ids->buckets[i].low, &one);
        all.arrays += one.n_array_containers;
        all.bitsets += one.n_bitset_containers;
        all.runs += one.n_run_containers;
    }
    return all;
}

static const char *roaring_name(const struct roaring_target *t) {
    return t->ids.wide ? "roaring64" : "roaring";
}

static double bits_per_id(const struct roaring_target *t, uint64_t items) {
    return items ? 8 * (double)t->bytes / (double)items : 0;
}

/* Of an empty set there is no smallest and no largest, so these are left out. */
static void print_json(const struct roaring_target *t) {
    struct json json = {0};
    struct containers containers = count_containers(&t->ids);
    uint64_t items = ids_count(&t->ids), smallest, largest;
    json_open(&json, NULL, '{');
    json_text(&json, "file", t->target.name);
    json_text(&json, "kind", roaring_name(t));
    json_count(&json, "items", items);
    if (ids_ends(&t->ids, &smallest, &largest)) {
        json_count(&json, "smallest", smallest);
        json_count(&json, "largest", largest);
    }
    json_real(&json, "fpr_now", 0);
    json_count(&json, "bytes", t->bytes);
    json_count(&json, "image_bytes", t->bytes);
    json_real(&json, "bits_per_key", bits_per_id(t, items));
    json_count(&json, "arrays", containers.arrays);
    json_count(&json, "bitsets", containers.bitsets);
    json_count(&json, "runs", containers.runs);
    json_text(&json, "key", "u64");
    json_abilities(&json, abilities);
    json_end(&json);
}

static void print_ends(const struct ids *ids) {
    char from[NUMBER_TEXT], to[NUMBER_TEXT];
    uint64_t smallest, largest;
    if (!ids_ends(ids, &smallest, &largest)) return;
    printf("  range     %s to %s\n", group_digits(smallest, from), group_digits(largest, to));
}

static void print_text(const struct roaring_target *t) {
    char a[NUMBER_TEXT], b[NUMBER_TEXT], c[NUMBER_TEXT], can[100];
    struct containers containers = count_containers(&t->ids);
    uint64_t items = ids_count(&t->ids);
    printf("%s: %s, an exact set of %d-bit ids\n", t->target.name, roaring_name(t), t->ids.wide ? 64 : 32);
    printf("  keys      %s\n", group_digits(items, a));
    print_ends(&t->ids);
    printf("  size      %s (%s bytes), %.2f bits a key\n", human_bytes(t->bytes, a), group_digits(t->bytes, b),
           bits_per_id(t, items));
    printf("  layout    %s arrays, %s bitsets and %s lists of runs\n", group_digits(containers.arrays, a),
           group_digits(containers.bitsets, b), group_digits(containers.runs, c));
    printf("  can       %s\n", abilities_text(abilities, ", ", can, sizeof can));
}

int roaring_print_info(struct target *target, bool as_json) {
    if (as_json)
        print_json(roaring_of(target));
    else
        print_text(roaring_of(target));
    return FINE;
}
