/*
 * The false-positive rate and the capacity of a cuckoo filter.
 *
 * A key is one of homes · F pairs of home and fingerprint, all equally likely. A non-member is a
 * false positive if its pair is one of those in the filter. How many keys fit follows from trials
 * (bench/loads.c): with four places, searches of 2,048 slots place every key of ten million up to a
 * load of 93 %, and 92 % is planned; small filters deviate more from their mean, and get more room.
 * With five places 95 % would be possible, but it is in the last per cents that adding takes its
 * time: they are planned for 92 %, too.
 */
#include "kind/cuckoo/cuckoo_layout.h"
#include "plan/plan.h"

#include <math.h>

enum { WIDTHS = CUCKOO_SLOT_WIDTH_MAX + 1, VARIANTS = 2 * WIDTHS, SAMPLES = 1 << 18 };

/* A shape for each width of slots, with five places and with four. Where both need the same memory,
 * the first one is taken: five. The want may name the places. Layers have four: all have as many,
 * and the later ones may need wider slots than five places can have. */
static bool variant(unsigned number, const perhaps_want *want, uint64_t layout[LAYOUT_WORDS]) {
    uint64_t places = want->hashes ? want->hashes : number < WIDTHS ? 5 : 4, width = number % WIDTHS;
    if (number < WIDTHS ? !want->hashes && want->grow == PERHAPS_GROW_LAYERS : want->hashes) return false;
    if (!places_fit(places) || !slots_fit(width, 0, places)) return false;
    layout[CUCKOO_WIDTH] = width;
    layout[CUCKOO_PLACES] = places;
    bool lines = !want->lines || want->lines >= choices_of(places);
    /* A filter that must stay three quarters empty to reach the rate is none to take. */
    return lines && (want->fpr == 0 || want->fpr * (double)fingerprints_of(layout) > 0.25);
}

static uint64_t step(const uint64_t layout[LAYOUT_WORDS]) {
    (void)layout;
    return 64;
}

/* A first guess from below, and then one slot at a time. */
static bool resize(uint64_t layout[LAYOUT_WORDS], uint64_t bits) {
    double width = (double)layout[CUCKOO_WIDTH];
    double homes = floor(((double)bits - 8 * (double)stash_length(6) - 128) / (width + 8.0 * STASH_CELL / 4096)) - 2;
    if (!(homes < (double)CUCKOO_HOMES_MAX)) return false;
    layout[CUCKOO_HOMES] = homes < CUCKOO_HOMES_MIN ? CUCKOO_HOMES_MIN : (uint64_t)homes;
    layout[CUCKOO_STASH] = stash_cells_for(layout[CUCKOO_HOMES]);
    if (length_of(layout) > bits / 8) return false;
    for (;;) {
        uint64_t next[LAYOUT_WORDS] = {[CUCKOO_HOMES] = layout[CUCKOO_HOMES] + 1,
                                       [CUCKOO_WIDTH] = layout[CUCKOO_WIDTH],
                                       [CUCKOO_PLACES] = layout[CUCKOO_PLACES],
                                       [CUCKOO_STASH] = stash_cells_for(layout[CUCKOO_HOMES] + 1)};
        if (length_of(next) > bits / 8 || next[CUCKOO_HOMES] > CUCKOO_HOMES_MAX) return true;
        for (int i = 0; i < LAYOUT_WORDS; i++) layout[i] = next[i];
    }
}

/* Keys that a filter of that size is planned for. */
static double planned_items(const uint64_t layout[LAYOUT_WORDS]) {
    static const double loads[CUCKOO_PLACES_MAX + 1] = {[4] = 0.92, [5] = 0.92, [6] = 0.97, [8] = 0.98};
    double slots = (double)slots_of(layout);
    return floor(slots * loads[layout[CUCKOO_PLACES]] - 0.8 * sqrt(slots));
}

/* Pairs of home and fingerprint. */
static double pairs_of(const uint64_t layout[LAYOUT_WORDS]) {
    return (double)layout[CUCKOO_HOMES] * (double)fingerprints_of(layout);
}

static double fpr(const uint64_t layout[LAYOUT_WORDS], uint64_t items) {
    if ((double)items > planned_items(layout)) return INFINITY;
    return -expm1((double)items * log1p(-1 / pairs_of(layout)));
}

/* `times` the homes, and as many bits more in each fingerprint as the rate needs. */
static bool nest(const uint64_t older[LAYOUT_WORDS], uint64_t times, double rate, uint64_t layout[LAYOUT_WORDS],
                 uint64_t *items) {
    for (int i = 0; i < LAYOUT_WORDS; i++) layout[i] = older[i];
    if (!mul_fits(older[CUCKOO_HOMES], times, &layout[CUCKOO_HOMES]) || layout[CUCKOO_HOMES] > CUCKOO_HOMES_MAX)
        return false;
    layout[CUCKOO_STASH] = stash_cells_for(layout[CUCKOO_HOMES]);
    *items = (uint64_t)planned_items(layout);
    while (fpr(layout, *items) > rate) {
        layout[CUCKOO_WIDTH]++;
        layout[CUCKOO_LONGER]++;
        if (!slots_fit(layout[CUCKOO_WIDTH], layout[CUCKOO_LONGER], layout[CUCKOO_PLACES])) return false;
    }
    return true;
}

static bool nested(const uint64_t older[LAYOUT_WORDS], const uint64_t newer[LAYOUT_WORDS]) {
    return newer[CUCKOO_HOMES] % older[CUCKOO_HOMES] == 0 && newer[CUCKOO_PLACES] == older[CUCKOO_PLACES] &&
           newer[CUCKOO_LONGER] >= older[CUCKOO_LONGER] &&
           newer[CUCKOO_WIDTH] - newer[CUCKOO_LONGER] == older[CUCKOO_WIDTH] - older[CUCKOO_LONGER];
}

static unsigned hashes_of(const uint64_t layout[LAYOUT_WORDS]) {
    return (unsigned)layout[CUCKOO_PLACES];
}

static unsigned lines_of(const uint64_t layout[LAYOUT_WORDS]) {
    return (unsigned)choices_of(layout[CUCKOO_PLACES]);
}

static uint64_t slots_in_use(const struct array *array) {
    uint64_t used = 0;
    for (uint64_t i = 0; i < slots_of(array->layout); i++) used += slot_get(array->bytes, i, width_of(array)) != 0;
    return used;
}

/* Whether no earlier place of the same key has a copy. */
static bool is_first_copy(const struct array *array, uint64_t slot, uint64_t code) {
    uint64_t places = array->layout[CUCKOO_PLACES], place = place_in(code, places);
    struct places all = places_at(array, slot, code, places);
    for (uint64_t i = 0; i < place; i++) {
        uint64_t there = slot_get(array->bytes, slot_at(&all, i, places), width_of(array));
        if (there == code_of(all.fingerprint, places) + i) return false;
    }
    return true;
}

/* Pairs of home and fingerprint are the cells of a Bloom filter with one hash. The first copy of
 * each in its slots counts, and those in the stash that have none. */
struct pair_reading {
    const struct array *array;
    uint64_t slot, cell;
};

/* The next different pair; false at the end. */
static bool next_pair(struct pair_reading *r, struct key *pair) {
    const struct array *a = r->array;
    struct stash stash = stash_of(a);
    uint64_t places = a->layout[CUCKOO_PLACES];
    while (r->slot < slots_of(a->layout)) {
        uint64_t slot = r->slot++, code = slot_get(a->bytes, slot, width_of(a));
        if (!code || !is_first_copy(a, slot, code)) continue;
        struct places all = places_at(a, slot, code, places);
        *pair = (struct key){all.home[0], all.fingerprint};
        return true;
    }
    while (r->cell < stash.cells) {
        uint64_t cell = r->cell++;
        *pair = key_from(a, stash_who(stash, cell));
        if (stash_copies(stash, cell) & STASH_PLACELESS) return true;
    }
    return false;
}

static bool has_pair(const struct array *a, struct key pair) {
    uint64_t places = a->layout[CUCKOO_PLACES];
    struct places all = places_of(a, pair, places);
    for (uint64_t i = 0; i < places; i++) {
        if (slot_get(a->bytes, slot_at(&all, i, places), width_of(a)) == code_of(pair.fingerprint, places) + i)
            return true;
    }
    struct stash stash = stash_of(a);
    return stash_placeless(stash) && stash_find(stash, who_is(pair.home, pair.fingerprint)) != STASH_NOWHERE;
}

static void count(const struct array *a, const struct array *b, struct used_cells *used) {
    struct pair_reading in_a = {.array = a}, in_b = {.array = b};
    struct key pair;
    *used = (struct used_cells){.cells = pairs_of(a->layout)};
    for (; next_pair(&in_b, &pair); used->b++) continue;
    used->either = used->b;
    for (; next_pair(&in_a, &pair); used->a++) used->either += !has_pair(b, pair);
}

static double keys(const uint64_t layout[LAYOUT_WORDS], double used) {
    double pairs = pairs_of(layout);
    return -pairs * log1p(-used / pairs);
}

static double covariance(const uint64_t layout[LAYOUT_WORDS], double common) {
    return plan_spread(pairs_of(layout), common / pairs_of(layout));
}

/* The share of slots in use that are their key's first copy. Many thousands, evenly spread,
 * tell. */
static double share_of_first_copies(const struct array *array) {
    uint64_t step = array->layout[CUCKOO_HOMES] / SAMPLES + 1, used = 0, first = 0;
    for (uint64_t slot = 0; slot < slots_of(array->layout); slot += step) {
        uint64_t code = slot_get(array->bytes, slot, width_of(array));
        used += code != 0;
        first += code != 0 && is_first_copy(array, slot, code);
    }
    return used ? (double)first / (double)used : 1;
}

static void measure(const struct array *array, struct measures *measures) {
    struct stash stash = stash_of(array);
    double used = (double)slots_in_use(array);
    for (uint64_t cell = 0; cell < stash.cells; cell++)
        measures->stashed += stash_copies(stash, cell) & ~STASH_PLACELESS;
    measures->fill = used / (double)slots_of(array->layout);
    double pairs = pairs_of(array->layout),
           known = used * share_of_first_copies(array) + (double)stash_placeless(stash);
    measures->distinct = known < pairs ? keys(array->layout, known) : pairs;
    measures->copies = used + (double)measures->stashed;
    measures->fpr = fmin(1, known / pairs);
}

const struct model model_cuckoo = {
    .fpr = BEYOND_QUERIES(fpr),
    .hashes = hashes_of,
    .cache_lines = lines_of,
    .measure = BEYOND_QUERIES(measure),
    .search = BEYOND_QUERIES(
        &(const struct layout_search){.variants = VARIANTS, .variant = variant, .step = step, .resize = resize}),
    .layering = &(const struct layering){.nested = nested, .nest = BEYOND_QUERIES(nest)},
    .occupancy = BEYOND_QUERIES(&(const struct occupancy){.count = count, .keys = keys, .covariance = covariance}),
};
