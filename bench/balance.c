/*
 * How evenly does a set fall on the shards of a cluster, and how evenly do the shards fall on its
 * nodes? Needs nothing of the library.
 *
 *     cc -O2 -o balance bench/balance.c -lm && ./balance [ITEMS]
 *
 * An item belongs to shard CRC16(item) mod N, and shard i to slot CRC16("NAME:i") mod 16384, which
 * belongs to a node: two hashes of different bytes, so that neither knows of the other.
 *
 * Of random items, shards have n/N, give or take sqrt(n/N): the largest of many has about four
 * times that more than the mean, and more than five times in one set of a hundred. But a CRC is
 * linear, and no good hash of short words over few characters: what it prefers then, it goes on
 * preferring however many items there are. The first table has items that people have, the second
 * all words of a length, exactly. The last is about nodes.
 */
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES = 65536, SLOTS = 16384, LEAST_SHARDS = 64, MOST_SHARDS = 32768, MOST_ITEM = 128 };

static uint16_t crc_table[256];

static void make_crc_table(void) {
    for (unsigned byte = 0; byte < 256; byte++) {
        unsigned crc = byte << 8;
        for (int bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1;
        crc_table[byte] = (uint16_t)crc;
    }
}

static uint16_t crc16(const char *bytes, size_t length) {
    unsigned crc = 0;
    for (size_t i = 0; i < length; i++) crc = (crc << 8 & 0xffff) ^ crc_table[crc >> 8 ^ (uint8_t)bytes[i]];
    return (uint16_t)crc;
}

/* splitmix64: random numbers that are the same everywhere. */
static uint64_t mixed(uint64_t x) {
    x = (x + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Sets of items: each writes item i to `text` and returns its length. */

static int decimal_number(char *text, uint64_t i) {
    return snprintf(text, MOST_ITEM, "%" PRIu64, i);
}

static int phone_number(char *text, uint64_t i) {
    return snprintf(text, MOST_ITEM, "1%010" PRIu64, UINT64_C(3800000000) + i);
}

static int sparse_number(char *text, uint64_t i) {
    return snprintf(text, MOST_ITEM, "%" PRIu64, i * 1000);
}

static int random_number(char *text, uint64_t i) {
    return snprintf(text, MOST_ITEM, "%" PRIu64, mixed(i));
}

static int binary_number(char *text, uint64_t i) {
    for (int byte = 0; byte < 8; byte++) text[byte] = (char)(i >> 8 * byte);
    return 8;
}

static int random_uuid(char *text, uint64_t i) {
    uint64_t a = mixed(2 * i), b = mixed(2 * i + 1);
    return snprintf(text, MOST_ITEM, "%08" PRIx64 "-%04" PRIx64 "-4%03" PRIx64 "-%04" PRIx64 "-%012" PRIx64, a >> 32,
                    a >> 16 & 0xffff, a & 0xfff, (b >> 48 & 0x3fff) | 0x8000, b & UINT64_C(0xffffffffffff));
}

static int page_address(char *text, uint64_t i) {
    return snprintf(text, MOST_ITEM, "https://www.example.com/articles/%" PRIu64 "?page=%" PRIu64, i / 10, i % 10);
}

static const struct balance_items {
    const char *name;
    int (*write)(char *text, uint64_t i);
} all_items[] = {
    {"numbers 0, 1, 2, ...", decimal_number},
    {"numbers 0, 1000, 2000, ...", sparse_number},
    {"phone numbers in a row", phone_number},
    {"8 bytes, 0, 1, 2, ...", binary_number},
    {"random numbers", random_number},
    {"UUIDs", random_uuid},
    {"URLs", page_address},
};

static const size_t item_sets = sizeof all_items / sizeof *all_items;

/* Random words of characters of an alphabet, all lengths alike. */
static const struct alphabet {
    const char *name, *characters;
} alphabets[] = {
    {"digits", "0123456789"},
    {"hexadecimal digits", "0123456789abcdef"},
    {"small letters", "abcdefghijklmnopqrstuvwxyz"},
};

/* How many items have each value of CRC16. Those of fewer shards follow, since N divides 65,536. */
static void count_values(const struct balance_items *items, uint64_t n, double counts[VALUES]) {
    char text[MOST_ITEM];
    memset(counts, 0, VALUES * sizeof *counts);
    for (uint64_t i = 0; i < n; i++) counts[crc16(text, (size_t)items->write(text, i))]++;
}

/* The number of items in the largest of N shards. */
static double largest_shard(const double counts[VALUES], unsigned shards) {
    double largest = 0;
    for (unsigned shard = 0; shard < shards; shard++) {
        double sum = 0;
        for (unsigned value = shard; value < VALUES; value += shards) sum += counts[value];
        if (sum > largest) largest = sum;
    }
    return largest;
}

static void show_shards(uint64_t n) {
    static double counts[VALUES];
    printf("The largest of N shards of %" PRIu64 " items: × the mean, and (largest - mean) / sqrt(mean)\n%-28s", n,
           "N");
    for (unsigned shards = LEAST_SHARDS; shards <= MOST_SHARDS; shards *= 8) printf("  %14u", shards);
    for (size_t i = 0; i < item_sets; i++) {
        count_values(&all_items[i], n, counts);
        printf("\n%-28s", all_items[i].name);
        for (unsigned shards = LEAST_SHARDS; shards <= MOST_SHARDS; shards *= 8) {
            double largest = largest_shard(counts, shards), mean = (double)n / shards;
            printf("  %7.4f (%4.1f)", largest / mean, (largest - mean) / sqrt(mean));
        }
    }
    printf("\n\n");
}

/* The share of words with each value, from the shares of words that are shorter by a character. */
static void append_character(const char *characters, double shares[VALUES]) {
    static double longer[VALUES];
    size_t count = strlen(characters);
    memset(longer, 0, sizeof longer);
    for (unsigned value = 0; value < VALUES; value++)
        for (size_t i = 0; i < count; i++)
            longer[(value << 8 & 0xffff) ^ crc_table[value >> 8 ^ (uint8_t)characters[i]]] += shares[value];
    for (unsigned value = 0; value < VALUES; value++) shares[value] = longer[value] / (double)count;
}

/* The bias of the CRC that stays with any number of items: all words of a length are in the set. */
static void show_bias(const struct alphabet *alphabet) {
    static double shares[VALUES];
    memset(shares, 0, sizeof shares);
    shares[0] = 1;
    printf("The largest of N shards of all words of %s, × the mean\n%-28s", alphabet->name, "N");
    for (unsigned shards = LEAST_SHARDS; shards <= MOST_SHARDS; shards *= 8) printf("  %14u", shards);
    for (unsigned length = 1; length <= 16; length++) {
        append_character(alphabet->characters, shares);
        if (length < 4 || length % 2) continue;
        printf("\n%2u characters%15s", length, "");
        for (unsigned shards = LEAST_SHARDS; shards <= MOST_SHARDS; shards *= 8)
            printf("  %14.4f", largest_shard(shares, shards) * shards);
    }
    printf("\n\n");
}

/* As redis-cli deals slots out: each node has a range of them. */
static unsigned node_of(unsigned slot, unsigned nodes) {
    double share = (double)SLOTS / nodes;
    unsigned node = (unsigned)(slot / share);
    while (node + 1 < nodes && slot > (unsigned)lround((node + 1) * share - 1)) node++;
    while (node > 0 && slot <= (unsigned)lround(node * share - 1)) node--;
    return node;
}

static double most_shards(const char *name, unsigned shards, unsigned nodes) {
    static unsigned counts[SLOTS];
    char key[MOST_ITEM];
    unsigned most = 0;
    memset(counts, 0, sizeof counts);
    for (unsigned shard = 0; shard < shards; shard++) {
        int length = snprintf(key, sizeof key, "%s:%u", name, shard);
        unsigned *count = &counts[node_of(crc16(key, (size_t)length) % SLOTS, nodes)];
        if (++*count > most) most = *count;
    }
    return (double)most * nodes / shards;
}

static void show_nodes(void) {
    static const char *names[] = {"phones", "seen", "users:2024", "a", "crawler", "guard", "x:y", "0123456789"};
    static const unsigned nodes[] = {3, 10, 30, 100};
    printf(
        "The node with most of the shards NAME:0 .. NAME:N-1, × the mean; the average and the worst of eight names\n");
    printf("%-28s", "nodes");
    for (unsigned i = 0; i < 4; i++) printf("  %14u", nodes[i]);
    for (unsigned shards = LEAST_SHARDS; shards <= MOST_SHARDS; shards *= 8) {
        printf("\n%u shards%*s", shards, shards < 100 ? 19 : shards < 1000 ? 18 : shards < 10000 ? 17 : 16, "");
        for (unsigned i = 0; i < 4; i++) {
            double sum = 0, worst = 0;
            for (unsigned name = 0; name < 8; name++) {
                double most = most_shards(names[name], shards, nodes[i]);
                sum += most / 8;
                worst = most > worst ? most : worst;
            }
            printf("  %6.2f (%5.2f)", sum, worst);
        }
    }
    printf("\n");
}

int main(int argc, char **argv) {
    uint64_t n = argc > 1 ? (uint64_t)strtod(argv[1], NULL) : 10000000;
    make_crc_table();
    show_shards(n);
    for (size_t i = 0; i < sizeof alphabets / sizeof *alphabets; i++) show_bias(&alphabets[i]);
    show_nodes();
    return 0;
}
