/*
 * The rate and the capacity of a cuckoo filter.
 *
 * A key is one of homes · (2^f - 1) pairs of home and fingerprint, all equally likely, and a question is answered wrongly if
 * its pair is one of those in the filter. How many keys fit follows from trials (bench/loads.c): searches of 2,048
 * slots place every key of ten million up to a load of 93 %, and 92 % is planned; small filters deviate more from
 * their mean, and get more room.
 */
#include "kind/places.h"
#include "plan.h"

#include <math.h>

enum { SHAPES = SLOT_WIDTH_MAX - FINGERPRINT_MIN - 1, SAMPLES = 1 << 18 };

static double slot_width(const uint64_t layout[LAYOUT_WORDS]) {
    return (double)layout[FINGERPRINT] + low_bits(layout[CHOICES]);
}

/* A shape for each width of fingerprints; two choices unless the want names as many places as three or four have. */
static bool shape(unsigned number, const perhaps_want *want, uint64_t layout[LAYOUT_WORDS]) {
    layout[FINGERPRINT] = FINGERPRINT_MIN + number;
    layout[CHOICES] = want->hashes ? want->hashes / 2 : 2;
    bool places = !want->hashes || want->hashes == 4 || want->hashes == 6 || want->hashes == 8;
    bool lines = !want->lines || want->lines >= layout[CHOICES];
    /* A filter that must stay three quarters empty to reach the rate is none to take. */
    bool apt = want->fpr == 0 || want->fpr * (ldexp(1, (int)layout[FINGERPRINT]) - 1) > 0.25;
    return places && lines && apt && slot_width(layout) <= SLOT_WIDTH_MAX;
}

static uint64_t step(const uint64_t layout[LAYOUT_WORDS]) {
    (void)layout;
    return 64;
}

static double bits_of(const uint64_t layout[LAYOUT_WORDS]) {
    double slots = (double)(layout[HOMES] + 1) * slot_width(layout);
    return 64 * ceil((8 * ceil(slots / 8) + 8 * SLOTS_BEYOND) / 64) + 8 * (double)stash_length(layout[STASH]);
}

/* A first guess from below, and then one slot at a time. */
static bool resize(uint64_t layout[LAYOUT_WORDS], uint64_t bits) {
    double width = slot_width(layout), all = (double)bits;
    double homes = floor((all - 8 * (double)stash_length(6) - 128) / (width + 8.0 * STASH_CELL / 4096)) - 2;
    if (!(homes < (double)HOMES_MAX)) return false;
    layout[HOMES] = homes < HOMES_MIN ? HOMES_MIN : (uint64_t)homes;
    layout[STASH] = stash_cells_for(layout[HOMES]);
    if (bits_of(layout) > all) return false;
    for (;;) {
        uint64_t next[LAYOUT_WORDS] = {layout[HOMES] + 1, layout[FINGERPRINT], layout[CHOICES],
                                       stash_cells_for(layout[HOMES] + 1)};
        if (bits_of(next) > all || next[HOMES] > HOMES_MAX) return true;
        for (int i = 0; i < LAYOUT_WORDS; i++) layout[i] = next[i];
    }
}

/* Keys that a filter of that size is planned for. */
static double planned_items(const uint64_t layout[LAYOUT_WORDS]) {
    static const double loads[] = {0.92, 0.97, 0.98};
    double slots = (double)layout[HOMES] + 1;
    return floor(slots * loads[layout[CHOICES] - 2] - 0.8 * sqrt(slots));
}

/* Pairs of home and fingerprint. */
static double pairs_of(const uint64_t layout[LAYOUT_WORDS]) {
    return (double)layout[HOMES] * (double)fingerprints_of(layout);
}

static double fpr(const uint64_t layout[LAYOUT_WORDS], uint64_t items) {
    if ((double)items > planned_items(layout)) return INFINITY;
    return -expm1((double)items * log1p(-1 / pairs_of(layout)));
}

/* So many times the homes, and as many bits more in each fingerprint as the rate asks for. */
static bool nest(const uint64_t older[LAYOUT_WORDS], uint64_t times, double rate, uint64_t layout[LAYOUT_WORDS],
                 uint64_t *items) {
    for (int i = 0; i < LAYOUT_WORDS; i++) layout[i] = older[i];
    if (!mul_fits(older[HOMES], times, &layout[HOMES]) || layout[HOMES] > HOMES_MAX) return false;
    layout[STASH] = stash_cells_for(layout[HOMES]);
    *items = (uint64_t)planned_items(layout);
    while (fpr(layout, *items) > rate) {
        layout[FINGERPRINT]++;
        layout[LONGER]++;
        if (slot_width(layout) > SLOT_WIDTH_MAX) return false;
    }
    return true;
}

static bool nested(const uint64_t older[LAYOUT_WORDS], const uint64_t newer[LAYOUT_WORDS]) {
    return newer[HOMES] % older[HOMES] == 0 && newer[CHOICES] == older[CHOICES] && newer[LONGER] >= older[LONGER] &&
           newer[FINGERPRINT] - newer[LONGER] == older[FINGERPRINT] - older[LONGER];
}

static unsigned hashes_of(const uint64_t layout[LAYOUT_WORDS]) {
    return (unsigned)(2 * layout[CHOICES]);
}

static unsigned lines_of(const uint64_t layout[LAYOUT_WORDS]) {
    return (unsigned)layout[CHOICES];
}

static uint64_t slots_in_use(const struct array *array) {
    uint64_t used = 0;
    for (uint64_t i = 0; i <= array->layout[HOMES]; i++) used += slot_get(array->bytes, i, width_of(array)) != 0;
    return used;
}

/* Whether no earlier place of the same key has a copy. */
static bool is_first_copy(const struct array *array, uint64_t slot, uint64_t code) {
    uint64_t choices = array->layout[CHOICES], place = code & slot_mask(low_bits(choices));
    struct places places = places_at(array, slot, code, choices);
    for (uint64_t i = 0; i < place && i < 2 * choices; i++) {
        uint64_t there = slot_get(array->bytes, places.home[i >> 1] + (i & 1), width_of(array));
        if (there == (code_of(places.fingerprint, 0, choices) | i)) return false;
    }
    return true;
}

/* The share of slots in use that are their key's first copy. Many thousands, evenly spread, tell. */
static double share_of_first_copies(const struct array *array) {
    uint64_t step = array->layout[HOMES] / SAMPLES + 1, used = 0, first = 0;
    for (uint64_t slot = 0; slot <= array->layout[HOMES]; slot += step) {
        uint64_t code = slot_get(array->bytes, slot, width_of(array));
        used += code != 0;
        first += code != 0 && is_first_copy(array, slot, code);
    }
    return used ? (double)first / (double)used : 1;
}

static void look(const struct array *array, struct sight *sight) {
    struct stash stash = stash_of(array);
    double used = (double)slots_in_use(array), homes = (double)array->layout[HOMES];
    for (uint64_t cell = 0; cell < stash.cells; cell++) sight->stashed += stash_copies(stash, cell) & ~STASH_PLACELESS;
    sight->fill = used / (homes + 1);
    double pairs = pairs_of(array->layout),
           known = used * share_of_first_copies(array) + (double)stash_placeless(stash);
    sight->distinct = known < pairs ? -pairs * log1p(-known / pairs) : pairs; /* some keys have the same pair */
    sight->copies = used + (double)sight->stashed;
    sight->fpr = fmin(1, known / pairs);
}

extern const struct model model_cuckoo;

const struct model model_cuckoo = {
    .shapes = SHAPES,
    .shape = shape,
    .step = step,
    .resize = resize,
    .fpr = fpr,
    .nest = nest,
    .nested = nested,
    .hashes = hashes_of,
    .lines = lines_of,
    .look = look,
};
