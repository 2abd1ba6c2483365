/* perhaps info, for Roaring bitmaps. */
#include "roaring_file.h"
#include "options/abilities.h"
#include "output/numbers.h"
#include "output/report.h"

#include <perhaps.h>

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

static double bits_per_id(const struct roaring *roaring, uint64_t items) {
    return items ? 8 * (double)roaring->bytes / (double)items : 0;
}

/* Of an empty set there is no smallest and no largest, so these are left out. */
void roaring_print_json(const struct roaring *roaring) {
    struct json json = {0};
    struct containers containers = count_containers(&roaring->ids);
    uint64_t items = ids_count(&roaring->ids), smallest, largest;
    json_open(&json, NULL, '{');
    json_text(&json, "file", roaring->path);
    json_text(&json, "kind", roaring_name(&roaring->ids));
    json_count(&json, "items", items);
    if (ids_ends(&roaring->ids, &smallest, &largest)) {
        json_count(&json, "smallest", smallest);
        json_count(&json, "largest", largest);
    }
    json_real(&json, "fpr_now", 0);
    json_count(&json, "bytes", roaring->bytes);
    json_count(&json, "image_bytes", roaring->bytes);
    json_real(&json, "bits_per_key", bits_per_id(roaring, items));
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

static void print_text(const struct roaring *roaring) {
    char a[NUMBER_TEXT], b[NUMBER_TEXT], c[NUMBER_TEXT], can[100];
    struct containers containers = count_containers(&roaring->ids);
    uint64_t items = ids_count(&roaring->ids);
    printf("%s: %s, an exact set of %d-bit ids\n", roaring->path, roaring_name(&roaring->ids),
           roaring->ids.wide ? 64 : 32);
    printf("  keys      %s\n", group_digits(items, a));
    print_ends(&roaring->ids);
    printf("  size      %s (%s bytes), %.2f bits a key\n", human_bytes(roaring->bytes, a),
           group_digits(roaring->bytes, b), bits_per_id(roaring, items));
    printf("  layout    %s arrays, %s bitsets and %s lists of runs\n", group_digits(containers.arrays, a),
           group_digits(containers.bitsets, b), group_digits(containers.runs, c));
    printf("  can       %s\n", abilities_text(abilities, ", ", can, sizeof can));
}

int roaring_info(const struct options *options) {
    struct roaring roaring;
    if (roaring_open(&roaring, options, options->operands[0]) != FINE) return TROUBLE;
    if (given(options, OPT_JSON))
        roaring_print_json(&roaring);
    else
        print_text(&roaring);
    ids_free(&roaring.ids);
    return FINE;
}
