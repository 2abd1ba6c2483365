/* The probes of bloom and counting: bloom_batch.h with a multiplicative generator (G. Steele & S.
 * Vigna, "Computationally easy, spectrally good multipliers", 2021). Each word is the one before
 * times a factor, and its upper bits give the place. The digest plus the factor begins it, so that
 * neither digest 0 nor one with many low zeros, which a product would keep, is special. The first
 * place takes a product too: digests of equal upper bits, as in a part of a partitioned set, spread
 * over the whole array.
 *
 * The usual shortcut, place a + i·b, makes two keys that agree in a and b agree everywhere. There
 * are only m² such pairs, so that it misses the planned false-positive rate by far where m or the
 * rate is small. Here keys agree everywhere only if their digests are equal. */
#include "base/arith.h"
#include "kind/bloom/bloom_layout.h"
#include "perhaps_inline.h"

#define PROBE_WORDS      1
#define PROBE_MODULO     0
#define PROBE_FLIP       0
#define PROBE_HASHES_MAX BLOOM_HASHES_MAX

static const uint64_t probe_factor = PERHAPS_VIEW_FACTOR;

static inline struct digest probe_begin(struct digest digest) {
    return (struct digest){digest.first + probe_factor, 0};
}

static inline uint64_t probe_word(const uint64_t layout[LAYOUT_WORDS], struct digest *state, uint64_t i) {
    (void)layout, (void)i;
    return state->first *= probe_factor;
}

#include "kind/bloom/bloom_batch.h"

static bool hashes_fit(const uint64_t layout[LAYOUT_WORDS], const char **reason) {
    *reason = "a number of hashes that is not 1 to 64";
    return layout[BLOOM_HASHES] >= 1 && layout[BLOOM_HASHES] <= BLOOM_HASHES_MAX;
}
