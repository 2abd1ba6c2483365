/*
 * How full do cuckoo tables get? Fills tables with random keys until the first one finds no place,
 * and prints the load then: the share of slots in use. Not a part of the library, and needs nothing
 * of it.
 *
 *     cc -O2 -o loads bench/loads.c && ./loads [SLOTS] [ROUNDS] [STEPS]
 *
 * A key has some homes, and may sit in any of the WIDTH slots that begin at each. Classic buckets
 * do not overlap: homes are WIDTH slots apart. Windows do: there is a home at every slot but the
 * last ones. The first window of a key may have a slot more than the others; and the other homes
 * may all be within some REACH of the first.
 *
 *     buckets of 2   |0 0|1 1|2 2|3 3|     windows of 2   |0|01|12|23|34|4|
 *     (numbers: the homes that a slot belongs to)
 *
 * A slot holds a fingerprint, and which choice and offset put it there. The first home is a random
 * number; the others are the first plus a shift that follows from the fingerprint, modulo the
 * homes. So a slot and its contents tell the first home, hence all other places of what sits there.
 * An insertion that finds all its places taken looks for a path of entries that can each move to
 * the next one's place, the last to an empty slot. Nothing moves before the path is known.
 *
 * Two searches: breadth first finds a shortest path; the random walk follows one victim after the
 * other. STEPS bounds the slots that a search may read, the first places included, so that both
 * columns cost the same.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CHOICES 4
#define MOST_WIDTH   8
#define MOST_PLACES  (MOST_CHOICES * MOST_WIDTH)

struct layout {
    const char *name;
    /* Stride: from home to home; bits: of the fingerprint, up to 27. */
    uint32_t width, stride, choices, bits;
    /* Slots more of the first window; of other homes, or 0 = any. */
    uint32_t more, reach;
};

struct slot {
    /* Fingerprint, choice (2 bits), offset (3 bits); 0: empty, as no fingerprint is 0. */
    uint32_t entry;
    uint32_t seen; /* the last search that was here */
};

/* What a search has reached: a slot, as which choice and offset of the entry before. */
struct loads_step {
    uint32_t slot, place, before;
};

struct table {
    struct layout layout;
    uint32_t slots, homes;
    struct slot *slot;
    struct loads_step *step;
    uint32_t most_steps, searches;
};

struct loads_key {
    uint64_t digest;
    uint32_t home, fp;
};

static const uint32_t nothing_before = UINT32_MAX;

/* As in src/base/arith.h. */
static uint64_t mix64(uint64_t x) {
    x ^= x >> 27;
    x *= UINT64_C(0x3C79AC492BA7B653);
    x ^= x >> 33;
    x *= UINT64_C(0x1C69B3F74AC4AE35);
    x ^= x >> 27;
    return x;
}

static uint32_t mul_high_32(uint64_t h, uint32_t n) {
    return (uint32_t)(((h >> 32) * n + ((uint64_t)(uint32_t)h * n >> 32)) >> 32);
}

/* From the first home to another, so far that the windows of both never share a slot. */
static uint32_t shift(const struct table *table, uint32_t fp, uint32_t choice) {
    uint32_t least = 2 + table->layout.more, reach = table->homes - 1 - least;
    if (table->layout.reach && table->layout.reach < reach) reach = table->layout.reach;
    return choice ? least + mul_high_32(mix64((uint64_t)fp << 2 | choice), reach) : 0;
}

static uint32_t home_of(const struct table *table, const struct loads_key *key, uint32_t choice) {
    uint32_t home = key->home + shift(table, key->fp, choice);
    return home < table->homes ? home : home - table->homes;
}

static struct loads_key key_of_digest(const struct table *table, uint64_t digest) {
    uint32_t fingerprints = (UINT32_C(1) << table->layout.bits) - 1;
    uint64_t mixed = mix64(digest ^ UINT64_C(0x9E3779B97F4A7C15)); /* independent of the home */
    return (struct loads_key){digest, mul_high_32(digest, table->homes), 1 + mul_high_32(mixed, fingerprints)};
}

/* What sits in a slot, from the slot alone. */
static struct loads_key key_in_slot(const struct table *table, uint32_t slot) {
    uint32_t entry = table->slot[slot].entry;
    uint32_t fp = entry >> 5, choice = entry >> 3 & 3, offset = entry & 7;
    uint32_t home = (slot - offset) / table->layout.stride, back = shift(table, fp, choice);
    return (struct loads_key){0, home < back ? home + table->homes - back : home - back, fp};
}

/* Goes over the places of the key that this search has not seen yet, up to and with the first empty
 * one; where there are windows, every second fingerprint begins with the last one. Returns their
 * number; *empty says how it ended. */
static uint32_t new_places(struct table *table, const struct loads_key *key, uint32_t before, struct loads_step *found,
                           bool *empty) {
    const struct layout *layout = &table->layout;
    uint32_t count = 0, places = layout->choices * layout->width + layout->more;
    *empty = false;
    for (uint32_t i = 0; i < places; i++) {
        uint32_t place = layout->stride == 1 && layout->width > 1 && key->fp % 2 ? places - 1 - i : i;
        uint32_t first = layout->width + layout->more; /* slots of the first window */
        uint32_t choice = place < first ? 0 : 1 + (place - first) / layout->width;
        uint32_t offset = choice ? (place - first) % layout->width : place;
        uint32_t at = home_of(table, key, choice) * layout->stride + offset;
        if (table->slot[at].seen == table->searches) continue;
        table->slot[at].seen = table->searches;
        found[count++] = (struct loads_step){at, choice << 3 | offset, before};
        *empty = table->slot[at].entry == 0;
        if (*empty) return count;
    }
    return count;
}

/* Moves every entry of the path one step on, from the empty slot back to the key that is new. */
static void move_along(struct table *table, const struct loads_key *key, const struct loads_step *last) {
    for (; last->before != nothing_before; last = &table->step[last->before]) {
        uint32_t fp = table->slot[table->step[last->before].slot].entry >> 5;
        table->slot[last->slot].entry = fp << 5 | last->place;
    }
    table->slot[last->slot].entry = key->fp << 5 | last->place;
}

/* Both searches return the slots they read; more than most_steps: no place, nothing changed. */
typedef uint32_t search_fn(struct table *, const struct loads_key *);

static uint32_t insert_breadth_first(struct table *table, const struct loads_key *key) {
    struct loads_key at = *key;
    uint32_t before = nothing_before, count = 0;
    bool empty;
    table->searches++;
    for (;;) {
        struct loads_step *found = &table->step[count];
        count += new_places(table, &at, before, found, &empty);
        if (count > table->most_steps) return table->most_steps + 1;
        if (empty) break;
        before++; /* at first, from nothing to step 0 */
        if (before == count) return table->most_steps + 1;
        at = key_in_slot(table, table->step[before].slot);
    }
    move_along(table, key, &table->step[count - 1]);
    return count;
}

/* One of the places just seen. The others may be seen again, or the walk would soon be stuck. */
static struct loads_step pick_victim(struct table *table, const struct loads_step *found, uint32_t count,
                                     uint64_t random) {
    uint32_t victim = mul_high_32(random, count);
    for (uint32_t i = 0; i < count; i++)
        if (i != victim) table->slot[found[i].slot].seen = 0;
    return found[victim];
}

/* The path is table->step[0 .. length). Where all places are on it already, the walk restarts. */
static uint32_t insert_walking(struct table *table, const struct loads_key *key) {
    struct loads_step found[MOST_PLACES];
    struct loads_key at = *key;
    uint32_t reads = 0, length = 0, turns = 0;
    bool empty;
    table->searches++;
    for (;;) {
        uint32_t count = new_places(table, &at, length ? length - 1 : nothing_before, found, &empty);
        reads += count;
        if (reads > table->most_steps) return table->most_steps + 1;
        if (empty) {
            move_along(table, key, &found[count - 1]);
            return reads;
        }
        if (count > 0) {
            table->step[length] = pick_victim(table, found, count, mix64(key->digest + ++turns));
            at = key_in_slot(table, table->step[length++].slot);
        } else {
            table->searches++;
            length = 0;
            at = *key;
        }
    }
}

static void *need(void *memory) {
    if (memory) return memory;
    fputs("loads: too little memory; take fewer SLOTS\n", stderr);
    exit(1);
}

static struct table table_open(struct layout layout, uint32_t slots, uint32_t most_steps) {
    struct table table = {.layout = layout, .most_steps = most_steps};
    uint32_t widest = layout.width + layout.more;
    table.homes = (slots - widest) / layout.stride + 1;
    table.slots = (table.homes - 1) * layout.stride + widest;
    table.slot = need(malloc(table.slots * sizeof *table.slot));
    table.step = need(malloc((most_steps + MOST_PLACES) * sizeof *table.step));
    return table;
}

static void table_clear(struct table *table) {
    memset(table->slot, 0, table->slots * sizeof *table->slot);
    table->searches = 0;
}

static void table_close(struct table *table) {
    free(table->slot);
    free(table->step);
}

/* Over all rounds: the load at the first failure, and the slots read by an insertion: up to the
 * load that is planned for, and of the last hundredth. */
struct loads_outcome {
    double mean, least, planned_reads, reads;
};

struct loads_run {
    uint32_t slots, rounds, most_steps;
    uint32_t *reads; /* of each insertion */
};

static double mean_up_to_plan(const uint32_t *reads, uint32_t count, uint32_t slots) {
    uint32_t planned = (uint32_t)(0.92 * slots);
    double sum = 0;
    if (planned > count) planned = count;
    for (uint32_t i = 0; i < planned; i++) sum += reads[i];
    return planned ? sum / planned : 0;
}

static double mean_of_last_hundredth(const uint32_t *reads, uint32_t count) {
    uint32_t last = count / 100 + 1;
    double sum = 0;
    if (last > count) return 0;
    for (uint32_t i = count - last; i < count; i++) sum += reads[i];
    return sum / last;
}

static struct loads_outcome outcome_of(const struct loads_run *run, struct layout layout, search_fn *insert) {
    struct table table = table_open(layout, run->slots, run->most_steps);
    struct loads_outcome outcome = {.least = 1};
    for (uint32_t round = 0; round < run->rounds; round++) {
        uint64_t seed = mix64(round + 1);
        uint32_t count = 0;
        table_clear(&table);
        for (; count < table.slots; count++) {
            struct loads_key key = key_of_digest(&table, mix64(seed + count * UINT64_C(0x9E3779B97F4A7C15)));
            run->reads[count] = insert(&table, &key);
            if (run->reads[count] > run->most_steps) break;
        }
        double load = (double)count / table.slots;
        outcome.mean += load / run->rounds;
        outcome.least = load < outcome.least ? load : outcome.least;
        outcome.planned_reads += mean_up_to_plan(run->reads, count, table.slots) / run->rounds;
        outcome.reads += mean_of_last_hundredth(run->reads, count) / run->rounds;
    }
    table_close(&table);
    return outcome;
}

static void print_head(const char *what) {
    printf("\n%-30s | %-30s | %s\n", "", "breadth first", "random walk");
    printf("%-18s %-11s", what, "fp bits");
    for (int i = 0; i < 2; i++) printf(" | %7s %7s %6s %6s", "mean", "least", "reads", "last");
    putchar('\n');
}

static void print_outcome(struct loads_outcome outcome) {
    printf(" | %5.2f %% %5.2f %% %6.2f %6.1f", 100 * outcome.mean, 100 * outcome.least, outcome.planned_reads,
           outcome.reads);
}

static void print_row(const struct loads_run *run, struct layout layout, const char *name) {
    printf("%-18s %7u%4s", name, layout.bits, "");
    print_outcome(outcome_of(run, layout, insert_breadth_first));
    print_outcome(outcome_of(run, layout, insert_walking));
    putchar('\n');
    fflush(stdout);
}

/* Buckets have fingerprints so long that the choices are as good as independent. */
static const struct layout layouts[] = {
    {"bucket 1, 2 ways", 1, 1, 2, 27, 0, 0},      {"bucket 2, 2 ways", 2, 2, 2, 27, 0, 0},
    {"bucket 4, 2 ways", 4, 4, 2, 27, 0, 0},      {"bucket 8, 2 ways", 8, 8, 2, 27, 0, 0},
    {"window 2, 2 ways", 2, 1, 2, 4, 0, 0},       {"window 2, 2 ways", 2, 1, 2, 7, 0, 0},
    {"window 2, in 32768", 2, 1, 2, 7, 0, 32768}, {"window 2, in 4096", 2, 1, 2, 7, 0, 4096},
    {"window 2, 2 ways", 2, 1, 2, 10, 0, 0},      {"window 2, 2 ways", 2, 1, 2, 16, 0, 0},
    {"window 2, 3 ways", 2, 1, 3, 7, 0, 0},       {"window 2, 3 ways", 2, 1, 3, 16, 0, 0},
    {"window 2, 4 ways", 2, 1, 4, 7, 0, 0},       {"window 2, 4 ways", 2, 1, 4, 16, 0, 0},
    {"windows 3 and 2", 2, 1, 2, 7, 1, 0},        {"3 and 2, in 32768", 2, 1, 2, 7, 1, 32768},
    {"3 and 2, in 4096", 2, 1, 2, 7, 1, 4096},
};

static void print_layouts(const struct loads_run *run) {
    print_head("layout");
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) print_row(run, layouts[i], layouts[i].name);
}

/* What the bound is worth, for the layout that the library has where it has four places. */
static void print_bounds(struct loads_run run) {
    static const uint32_t bounds[] = {64, 128, 256, 512, 1024, 2000};
    static const struct layout layout = {"", 2, 1, 2, 7, 0, 0};
    char name[32];
    print_head("window 2, 2 ways");
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        run.most_steps = bounds[i];
        snprintf(name, sizeof name, "STEPS %u", bounds[i]);
        print_row(&run, layout, name);
    }
}

static uint32_t argument(const char *text, uint32_t least, uint32_t most) {
    char *end;
    unsigned long long number = strtoull(text, &end, 10);
    if (*end == '\0' && end != text && number >= least && number <= most) return (uint32_t)number;
    fprintf(stderr, "loads: '%s' is not a number from %u to %u; usage: loads [SLOTS] [ROUNDS] [STEPS]\n", text, least,
            most);
    exit(2);
}

int main(int count, char **arguments) {
    struct loads_run run = {.slots = 100000, .rounds = 30, .most_steps = 1000};
    if (count > 1) run.slots = argument(arguments[1], 64, 1000000000);
    if (count > 2) run.rounds = argument(arguments[2], 1, 1000000);
    if (count > 3) run.most_steps = argument(arguments[3], MOST_PLACES, 1000000);
    run.reads = need(malloc(run.slots * sizeof *run.reads));
    printf("load at the first failure; %u slots, %u rounds, up to %u slots read by a search\n", run.slots, run.rounds,
           run.most_steps);
    print_layouts(&run);
    if (count <= 3) print_bounds(run);
    free(run.reads);
    return 0;
}
