#include "want.h"
#include "abilities.h"
#include "output/report.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/random.h>

static const double default_rate = 0.01;

/* Zero means "choose for me" to the library; who writes it means something else. */
static int refuse_zeros(const struct options *options) {
    static const struct {
        enum option_id id;
        const char *shown, *why;
    } wrong[] = {
        {OPT_ITEMS, "-n", "a filter for 0 keys makes no sense; give 1 or more"},
        {OPT_BYTES, "--bytes", "0 bytes hold no filter; give 1 or more"},
        {OPT_HASHES, "--hashes", "must be 1 or more; leave it out to get the best"},
        {OPT_LINES, "--lines", "must be 1 to 64; leave it out to get the best"},
        {OPT_MAX_BYTES, "--max-bytes", "0 bytes hold no filter; give 1 or more"},
        {OPT_SHARDS, "--shards", "must be 1 or more; leave it out to have none"},
        {OPT_SCRATCH, "--scratch", "0 bytes hold no keys; give 16MiB or more, or leave it out"},
        {OPT_GENERATIONS, "--generations", "must be 1 or more; leave it out to have 4"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const void *field = (const char *)options + option_table[wrong[i].id].field;
        uint64_t value = *(const uint64_t *)field;
        bool too_many_lines = wrong[i].id == OPT_LINES && value > 64;
        if (given(options, wrong[i].id) && (!value || too_many_lines))
            return failure(wrong[i].shown, "%s", wrong[i].why);
    }
    return FINE;
}

static unsigned clamp(uint64_t value) {
    return value > UINT_MAX ? UINT_MAX : (unsigned)value;
}

/* Kinds with practically no false positives: keys or memory alone fix their size. */
static bool is_exact(int kind) {
    return perhaps_kind_traits(kind) & PERHAPS_EXACT;
}

/* ---- what the options say ---- */

/* --static and --smallest name a kind, as -k does. A static filter takes no option of changes. */
static int kind_from_options(perhaps_want *want, const struct options *options) {
    static const enum option_id of_changes[] = {OPT_GROW,   OPT_GROWTH,      OPT_MAX_BYTES, OPT_NO_GROW,
                                                OPT_WINDOW, OPT_GENERATIONS, OPT_CLEAR_AT,  OPT_SHARDS};
    bool smallest = given(options, OPT_SMALLEST), named = given(options, OPT_KIND);
    want->kind = options->kind;
    if (smallest && named && want->kind != PERHAPS_RIBBON)
        return failure("--smallest", "makes a ribbon filter, not what -k says; leave out one of them");
    if (given(options, OPT_STATIC) && named && !is_static_kind(want->kind))
        return failure("--static", "%s filters are not static; leave out -k", kind_name(want->kind));
    if (!named && given(options, OPT_STATIC)) want->kind = PERHAPS_FUSE;
    if (!named && smallest) want->kind = PERHAPS_RIBBON;
    if (!is_static_kind(want->kind)) {
        if (!given(options, OPT_SCRATCH)) return FINE;
        return failure("--scratch", "is for static filters; give --static or --smallest, or leave it out");
    }
    if (given(options, OPT_PRESET))
        return failure("--preset", "is for bloom filters; give -p or --bits-per-key instead");
    if (given(options, OPT_BYTES) && options->command == &commands[CMD_BUILD])
        return failure("--bytes", "the size of a static filter follows from its keys; give -p or --bits-per-key");
    enum option_id id = first_given(options, of_changes, sizeof of_changes / sizeof *of_changes);
    char name[OPTION_TEXT];
    if (id == OPTIONS) return FINE;
    return failure(option_shown(id, name),
                   "%s filters are static and never change; leave it out, or choose another kind",
                   kind_name(want->kind));
}

static int size_from_options(perhaps_want *want, const struct options *options) {
    want->items = options->items;
    want->fpr = options->fpr;
    want->bits_per_key = options->bits_per_key;
    want->bytes = options->bytes;
    if (given(options, OPT_PRESET)) {
        char name[16];
        if (given(options, OPT_BITS_PER_KEY) || given(options, OPT_BYTES) || given(options, OPT_FPR))
            return failure("--preset", "fixes the size; leave out -p, --bits-per-key and --bytes");
        if (given(options, OPT_KIND) && options->kind != PERHAPS_BLOOM)
            return failure("--preset", "is for bloom filters; leave out -k, or give --bits-per-key instead");
        word_at(option_table[OPT_PRESET].words, options->preset, name, sizeof name);
        int rc = perhaps_want_preset(want, name);
        if (rc < 0) return library_failure("--preset", rc);
    }
    if (given(options, OPT_HASHES)) want->hashes = clamp(options->hashes);
    want->lines = clamp(options->lines);
    want->shards = clamp(options->shards);
    return FINE;
}

static int growth_from_options(perhaps_want *want, const struct options *options) {
    bool layers = given(options, OPT_GROW) || given(options, OPT_GROWTH) || given(options, OPT_MAX_BYTES);
    bool never = given(options, OPT_NO_GROW);
    if (layers && never)
        return failure("--no-grow", "is the opposite of --grow, --growth and --max-bytes; leave out one of them");
    want->grow = layers ? PERHAPS_GROW_LAYERS : never ? PERHAPS_GROW_NEVER : PERHAPS_GROW_DEFAULT;
    want->growth = options->growth;
    want->max_bytes = options->max_bytes;
    return FINE;
}

static int window_from_options(perhaps_want *want, const struct options *options) {
    static const unsigned usual = 4;
    bool window = given(options, OPT_WINDOW);
    if (given(options, OPT_GENERATIONS) && !window && !given(options, OPT_CLEAR_AT))
        return failure("--generations", "needs --window; say how much to remember");
    if (options->generations == 1 && !given(options, OPT_CLEAR_AT))
        return failure("--generations", "one alone would forget everything at once; give 2 or more, or --clear-at");
    if ((window || given(options, OPT_CLEAR_AT)) && given(options, OPT_SHARDS))
        return failure("--shards", "a window cannot be split into shards, since its keys age together; leave it out");
    if (options->window.keys && given(options, OPT_ITEMS))
        return failure("--window", "a number of keys takes the place of -n; leave out -n, or give a time");
    if (options->window.keys) want->items = options->window.keys;
    want->period = options->window.period;
    want->clear_at = options->clear_at;
    want->generations = given(options, OPT_GENERATIONS) ? clamp(options->generations) : window ? usual : 0;
    return FINE;
}

/* ---- checks ---- */

/* Two of number, rate and size are to be fixed. 'build' knows the number without -n: it counts the
 * keys, unless size and rate say how many fit. Layers can do without. Exact kinds have their rate,
 * whatever is wanted: it only fills the place of the second of two. */
static int settle_size(perhaps_want *want, const struct options *options) {
    bool exact = is_exact(want->kind), size = want->bits_per_key > 0 || want->bytes;
    if (want->kind == PERHAPS_BITMAP || (exact && want->items && size)) want->fpr = 0;
    if (want->fpr == 0 && (!size || (exact && want->bytes && !want->items))) want->fpr = default_rate;
    bool rate = want->fpr > 0;
    bool number_follows = want->bytes && rate && !want->items;
    bool counted = options->command == &commands[CMD_BUILD] && !number_follows;
    bool guessed = want->grow == PERHAPS_GROW_LAYERS;
    if (want->bits_per_key > 0 && want->bytes)
        return failure("--bytes", "and --bits-per-key both fix the size; give one");
    if ((want->items || counted) && rate && size)
        return failure(NULL,
                       "too much is given%s; give only two of -n, -p and a size (--bits-per-key, --bytes, "
                       "--preset): the third follows",
                       want->items ? "" : ", since the keys are counted");
    if (!want->items && !counted && !guessed && !number_follows)
        return failure(NULL, "too little is given; give -n, or --bytes with -p");
    return FINE;
}

/* The library says that there is no such layout, but not which ones there are. */
static int check_hashes(const perhaps_want *want) {
    unsigned k = want->hashes;
    if (k > 64)
        return failure("--hashes",
                       "is too large; bloom and counting have 1 to 64, blocked 8, 16 or 32, cuckoo 4, 5, 6 or 8");
    if (want->kind == PERHAPS_BLOCKED && k && k != 8 && k != 16 && k != 32)
        return failure("--hashes", "blocked has 8, 16 or 32; give one of them, or -k bloom");
    if (want->kind == PERHAPS_CUCKOO && k && k != 4 && k != 5 && k != 6 && k != 8)
        return failure("--hashes", "cuckoo has 4, 5, 6 or 8; give one of them");
    if (want->kind == PERHAPS_FUSE && k && k != 3 && k != 4)
        return failure("--hashes", "fuse has 3 or 4; give one of them");
    if ((is_exact(want->kind) || want->kind == PERHAPS_RIBBON) && k)
        return failure("--hashes", "%s has one layout; leave it out", kind_name(want->kind));
    return FINE;
}

static int check_needs(const perhaps_want *want) {
    char who[KINDS_TEXT], what[100];
    unsigned needs = want->needs;
    if (want->grow == PERHAPS_GROW_LAYERS) needs &= ~(unsigned)PERHAPS_GROW; /* layers grow */
    if (want->kind != PERHAPS_ANY) {
        const struct perhaps_kind_row *row = kind_row(want->kind);
        unsigned lacking = needs & ~row->can;
        if (!lacking) return FINE;
        return failure("--needs", "%s cannot %s; %s", row->name, abilities_text(lacking, " and ", what, sizeof what),
                       who_can(lacking, who));
    }
    if (needs_can_be_met(needs)) return FINE;
    bool one = !(needs & (needs - 1));
    if (!(needs & ~kind_row(PERHAPS_BITMAP)->can))
        return failure("--needs", "only bitmap can %s; give -k bitmap, if the keys are integers",
                       one ? abilities_text(needs, "", what, sizeof what) : "do all of that");
    return failure("--needs", "no kind can do all of that; %s", who_can(needs, who));
}

int want_from_options(perhaps_want *want, const struct options *options) {
    if (refuse_zeros(options) != FINE) return TROUBLE;
    perhaps_want_init(want);
    want->needs = options->needs;
    if (kind_from_options(want, options) != FINE || size_from_options(want, options) != FINE) return TROUBLE;
    if (growth_from_options(want, options) != FINE || window_from_options(want, options) != FINE) return TROUBLE;
    if (settle_size(want, options) != FINE || check_hashes(want) != FINE) return TROUBLE;
    bool layers = want->grow == PERHAPS_GROW_LAYERS;
    if (layers && (want->bytes || want->bits_per_key > 0))
        return failure("--grow", "a growing filter has no fixed size; give -p instead, and --max-bytes for a limit");
    if (given(options, OPT_NO_GROW) && want->kind == PERHAPS_BITMAP && !want->items && !want->bytes)
        return failure("--no-grow",
                       "a bitmap that does not grow needs a range; give -n, one more than the largest integer");
    if (layers && !want->items && options->command == &commands[CMD_PLAN]) want->items = FIRST_GUESS;
    return check_needs(want);
}

/* ---- hashes ---- */

/* False, and errno, if there are none. */
static bool random_bytes(void *bytes, size_t size) {
    ssize_t got;
    do got = getrandom(bytes, size, 0);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)size;
}

int seed_from_options(uint64_t *seed, const struct options *options) {
    *seed = options->seed;
    if (given(options, OPT_SEED) || random_bytes(seed, sizeof *seed)) return FINE;
    return failure("--seed", "the system gave no random numbers for a seed: %s; give --seed N", strerror(errno));
}

static int refuse_hash(const struct options *options, const char *why) {
    static const enum option_id about_hashes[] = {OPT_HASH, OPT_SEED, OPT_HASH_KEY, OPT_KEY_IN_FILE};
    char name[OPTION_TEXT];
    enum option_id id = first_given(options, about_hashes, sizeof about_hashes / sizeof *about_hashes);
    return id == OPTIONS ? FINE : failure(option_shown(id, name), "%s; leave it out", why);
}

int hash_from_options(perhaps_want *want, const struct options *options, uint8_t key[HASH_KEY_BYTES]) {
    if (want->kind == PERHAPS_BITMAP) return refuse_hash(options, "a bitmap takes integers as they are");
    if (is_file_kind(want->kind)) return refuse_hash(options, "a foreign format prescribes the hash");
    bool siphash = given(options, OPT_HASH) ? options->hash + 1 == PERHAPS_SIPHASH : given(options, OPT_HASH_KEY);
    want->hash = siphash ? PERHAPS_SIPHASH : PERHAPS_XXH3;
    want->seed = options->seed;
    want->key_in_file = given(options, OPT_KEY_IN_FILE);
    if (!siphash) {
        if (given(options, OPT_HASH_KEY))
            return failure("--hash-key", "xxh3 takes no key; give --hash siphash, or a --seed");
        if (want->key_in_file) return failure("--key-in-file", "xxh3 takes no key; give --hash siphash");
        return FINE;
    }
    if (given(options, OPT_SEED)) return failure("--seed", "is for xxh3; siphash takes --hash-key FILE");
    want->hash_key = key;
    if (given(options, OPT_HASH_KEY)) return hash_key_read(options->hash_key, key);
    if (!want->key_in_file)
        return failure(
            "--hash",
            "siphash needs a secret key; give --hash-key FILE, or --key-in-file to keep a random one in the filter");
    if (random_bytes(key, HASH_KEY_BYTES)) return FINE;
    return failure("--hash", "the system gave no random numbers for a key: %s; give --hash-key FILE", strerror(errno));
}
