/* The probes of bloom and counting: bloom_batch.h with a fresh mix of the digest for each place.
 *
 * The usual shortcut, place a + i·b, makes two keys that agree in a and b agree everywhere. There
 * are only m² such pairs, so that it misses the planned false-positive rate by far where m or the
 * rate is small. */
#include "base/arith.h"
#include "kind/bloom/bloom_layout.h"

#define PROBE_WORDS      1
#define PROBE_MODULO     0
#define PROBE_FLIP       0
#define PROBE_HASHES_MAX BLOOM_HASHES_MAX

static const uint64_t probe_step = UINT64_C(0x9E3779B97F4A7C15);

static inline struct digest probe_begin(struct digest digest) {
    return (struct digest){digest.first + probe_step, 0};
}

static inline uint64_t probe_word(const uint64_t layout[LAYOUT_WORDS], struct digest *state, uint64_t i) {
    (void)layout;
    return mix64(state->first + i * probe_step);
}

#include "kind/bloom/bloom_batch.h"

static bool hashes_fit(const uint64_t layout[LAYOUT_WORDS], const char **reason) {
    *reason = "number of hashes is not 1 to 64";
    return layout[BLOOM_HASHES] >= 1 && layout[BLOOM_HASHES] <= BLOOM_HASHES_MAX;
}
