#include "filter_file.h"
#include "options/abilities.h"
#include "filter_children.h"
#include "commands/commands.h"
#include "dedup/journal.h"
#include "input/encode.h"
#include "gzip_file.h"
#include "input/input.h"
#include "output/numbers.h"
#include "output/output_file.h"
#include "input/waiting.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------- hash key --- */

int hash_key_read(const char *path, uint8_t key[HASH_KEY_BYTES]) {
    char text[64];
    FILE *file = fopen(path, "rb");
    size_t length = file ? fread(text, 1, sizeof text, file) : 0;
    bool failed = !file || ferror(file);
    if (failed) failure(path, "cannot be read: %s; give a file with the hash key", strerror(errno));
    if (file) fclose(file);
    if (failed) return TROUBLE;
    if (length == HASH_KEY_BYTES) {
        memcpy(key, text, HASH_KEY_BYTES);
        return FINE;
    }
    while (length && strchr(" \r\n", text[length - 1])) length--;
    if (length != 2 * HASH_KEY_BYTES || encode_hex(text, length, key) != NULL)
        return failure(path, "is no hash key; give 16 bytes or 32 hexadecimal digits");
    return FINE;
}

/* ------------------------------------------------------------------------------------------- journals of dedup --- */

/* A filter that someone else replaced is not the one that its journal belongs to. Under the file's lock, a journal
 * without lines is that of a dedup that waits for the lock. */
int filter_refuse_journal(const char *path, bool locked) {
    if (journal_beside(path) < (locked ? 1 : 0)) return FINE;
    return failure(path,
                   "has a journal beside it, %s.journal: a dedup is running, or was killed; 'perhaps dedup --state %s "
                   "< /dev/null' finishes it",
                   path, path);
}

static int mind_journal(const struct options *options, const char *path) {
    bool changes = options->command == &commands[CMD_ADD] || options->command == &commands[CMD_REMOVE];
    if (options->command == &commands[CMD_DEDUP]) return FINE;
    if (changes) return filter_refuse_journal(path, !given(options, OPT_IN_PLACE));
    if (journal_beside(path) > 0)
        warning(
            path,
            "lacks the lines that are in %s.journal: a dedup is running, or was killed; 'perhaps dedup --state %s < "
            "/dev/null' finishes it",
            path, path);
    return FINE;
}

/* -------------------------------------------------------------------------------------------------- opening --- */

static const char *mapped_path;
static bool mapped_for_writing;

/* Only write() and _exit() are safe here. */
static void on_bus_error(int signal_number) {
    static const char before[] = "perhaps: ";
    const char *after = mapped_for_writing
                            ? ": cannot be changed in place any more: it was cut short by another program, or the "
                              "disk is full; make room, then go on with --recover\n"
                            : ": changed while it was mapped; replace filters by renaming, as perhaps does, and "
                              "try again\n";
    (void)signal_number;
    write_all(STDERR_FILENO, before, sizeof before - 1);
    write_all(STDERR_FILENO, mapped_path, strlen(mapped_path));
    write_all(STDERR_FILENO, after, strlen(after));
    _exit(TROUBLE);
}

static int check_path(const char *path) {
    struct stat status;
    if (strcmp(path, "-") == 0) return failure(path, "a filter is mapped, so it must be a file; give its name");
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) return failure(path, "is a directory; give a filter file");
    return FINE;
}

static void warn_if_keyless(const struct options *options, const perhaps *filter, const char *path) {
    struct perhaps_info info = {.size = sizeof info};
    if (!options->hash_key) return;
    if (perhaps_facts(filter, &info) == PERHAPS_OK && info.hash != PERHAPS_SIPHASH)
        warning(path, "uses %s; --hash-key has no effect", info.hash_name);
}

static int sealed_failure(const char *path) {
    return failure(path,
                   "is sealed: a static filter cannot be changed or combined; build it anew from all keys, or with "
                   "a kind that can");
}

static int open_failure(const struct options *options, const char *path, int rc) {
    char names[KINDS_TEXT], advice[KINDS_TEXT + 100];
    if (rc == PERHAPS_ECANNOT) return cannot_failure(path, PERHAPS_IN_PLACE);
    if (rc == PERHAPS_ESEALED) return sealed_failure(path);
    if (rc == PERHAPS_EDAMAGED && options->kind) return reason_failure(path, "get it anew; or is it not what -k says?");
    if (rc != PERHAPS_EFOREIGN) return library_failure(path, rc);
    snprintf(advice, sizeof advice,
             "give a filter that 'perhaps build' made, or, if it is a file of another program, say which with -k: %s",
             file_kinds_text(", ", names));
    return reason_failure(path, advice);
}

int filter_open(const struct options *options, const char *path, unsigned flags, perhaps **filter) {
    uint8_t key[HASH_KEY_BYTES];
    struct sigaction action = {.sa_handler = on_bus_error};
    if (check_path(path) != FINE || mind_journal(options, path) != FINE) return TROUBLE;
    mapped_path = path;
    mapped_for_writing = flags & PERHAPS_OPEN_WRITE;
    sigaction(SIGBUS, &action, NULL);
    if (given(options, OPT_NO_VERIFY)) flags |= PERHAPS_OPEN_NO_VERIFY;
    if (given(options, OPT_RECOVER)) flags |= PERHAPS_OPEN_RECOVER;
    perhaps_open_options how = PERHAPS_OPEN(.flags = flags, .kind = options->kind);
    if (options->hash_key) {
        if (hash_key_read(options->hash_key, key) != FINE) return TROUBLE;
        how.hash_key = key;
    }
    if (gzip_made(path)) return gzip_open(path, &how, filter);
    struct waiting waiting = waiting_for(options, path);
    int rc;
    do rc = perhaps_open(filter, path, &how);
    while (rc == PERHAPS_EBUSY && keep_waiting(&waiting));
    if (rc == PERHAPS_EBUSY) return waited_in_vain(&waiting);
    if (rc < 0) return open_failure(options, path, rc);
    warn_if_keyless(options, *filter, path);
    return FINE;
}

uint64_t clock_of_windows(void *unused) {
    struct timespec now;
    (void)unused;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int filter_advance(perhaps *filter, const char *path) {
    int rc = perhaps_advance(filter, clock_of_windows(NULL));
    if (rc >= 0) perhaps_set_clock(filter, clock_of_windows, NULL); /* others than windows by time have no use for it */
    return rc < 0 ? library_failure(path, rc) : FINE;
}

/* Only a window by time minds that it is mapped for reading and cannot forget. */
int filter_open_now(const struct options *options, const char *path, perhaps **filter) {
    perhaps *mapped;
    if (filter_open(options, path, 0, &mapped) != FINE) return TROUBLE;
    *filter = mapped;
    if (perhaps_advance(mapped, clock_of_windows(NULL)) != PERHAPS_EREADONLY) return FINE;
    int rc = perhaps_clone(mapped, filter);
    int status = rc < 0 ? library_failure(path, rc) : filter_advance(*filter, path);
    perhaps_free(mapped);
    return status;
}

unsigned filter_traits(const perhaps *filter) {
    struct perhaps_info info = {.size = sizeof info};
    return perhaps_facts(filter, &info) == PERHAPS_OK ? info.traits : 0;
}

int filter_require(const perhaps *filter, const char *path, unsigned ability) {
    struct perhaps_info info = {.size = sizeof info};
    int rc = perhaps_facts(filter, &info);
    if (rc < 0) return library_failure(path, rc);
    return info.can & ability ? FINE : lacks_failure(path, info.kind_name, ability);
}

bool filter_of_integers(const perhaps *filter) {
    return !(filter_traits(filter) & PERHAPS_TAKES_BYTES);
}

bool filter_is_file(const perhaps *filter) {
    struct perhaps_info info = {.size = sizeof info};
    return perhaps_facts(filter, &info) == PERHAPS_OK && is_file_kind(info.kind);
}

int filter_refuse_sealed(const perhaps *filter, const char *path) {
    return filter_traits(filter) & PERHAPS_STATIC ? sealed_failure(path) : FINE;
}

int filter_ask(const perhaps *filter, const struct batch *batch, uint8_t *answers, uint64_t *present) {
    perhaps_keys keys = batch_keys(batch);
    int64_t rc = perhaps_contains_many(filter, &keys, answers);
    if (rc < 0) return library_failure(batch->path, (int)rc);
    *present = (uint64_t)rc;
    return FINE;
}

/* -------------------------------------------------------------------------------------------------- changing --- */

int filter_lock(const struct options *options, const char *path, perhaps_lock **lock) {
    if (filter_refuse_journal(path, false) != FINE) return TROUBLE; /* whose dedup may go on for days */
    return lock_file(options, path, lock);
}

int filter_replace(perhaps_lock *lock, const char *path, const perhaps *filter) {
    return replace_filter(lock, path, filter, gzip_made(path));
}

/* -------------------------------------------------------------------------------------------------- telling --- */

int filter_info(const perhaps *filter, const char *path, struct perhaps_info *info) {
    *info = (struct perhaps_info){.size = sizeof *info};
    int rc = perhaps_info(filter, info);
    return rc < 0 ? library_failure(path, rc) : FINE;
}

/* Copies of a key that is there already make no more mistakes. An array without an empty place cannot tell them apart. */
static uint64_t keys_held(const struct perhaps_info *info) {
    bool multiset = info->traits & PERHAPS_MULTISET && info->fill < 1;
    return multiset ? (uint64_t)fmin((double)info->items, round(info->distinct)) : info->items;
}

/* The filter's own count misses keys that seemed to be there already; its bits tell better, until nearly all are set. */
static uint64_t keys_about(const struct perhaps_info *info, uint64_t most) {
    static const double saturated = 0.99;
    if (info->traits & PERHAPS_MULTISET) return keys_held(info);
    uint64_t seen = (uint64_t)fmax((double)info->items, round(info->distinct));
    bool take_most = info->fill > saturated ? most > seen : most && most < seen;
    return take_most ? most : seen;
}

/* Some make room, or forget, before there are too many. A window by time takes what comes, and knows when that was
 * too much. */
static bool is_overfull(const struct perhaps_info *info, uint64_t margin) {
    if (info->kind == PERHAPS_WINDOW) return info->flooded;
    if (info->guessed) return false; /* a foreign file that does not state how many keys it was made for */
    return !(info->can & PERHAPS_GROW) && keys_held(info) > info->capacity + margin;
}

void warn_if_overfull(const struct perhaps_info *info, const char *path, enum keys_known known, uint64_t most) {
    char text[NUMBER_TEXT], capacity[NUMBER_TEXT], now[NUMBER_TEXT], target[NUMBER_TEXT], period[NUMBER_TEXT];
    uint64_t margin = known == KEYS_ESTIMATED ? info->capacity / 20 : 0;
    if (!is_overfull(info, margin)) return;
    bool counted = known == KEYS_COUNTED;
    uint64_t keys = counted ? most : keys_about(info, most);
    warning(is_standard_output(path) ? "standard output" : path,
            "%s %s keys but was made for %s%s%s: its false-positive rate is now %s, planned was %s; build it anew with "
            "-n %llu%s",
            counted ? "got" : "holds about", group_digits(keys, text), group_digits(info->capacity, capacity),
            info->period ? " in " : "", info->period ? human_duration(info->period, period) : "",
            human_rate(info->fpr_now, now), human_rate(info->fpr_target, target), (unsigned long long)keys,
            counted ? "" : " or more");
}

perhaps_recipe filter_recipe(const perhaps *filter) {
    perhaps_recipe recipe = PERHAPS_RECIPE(.form = 0);
    perhaps_recipe_of(filter, &recipe);
    if (filter_of_integers(filter) && recipe.form == PERHAPS_KEY_BYTES) recipe.form = PERHAPS_KEY_U64;
    return recipe;
}

void print_recipe(const perhaps_recipe *recipe, const char *none) {
    char options[RECIPE_TEXT];
    printf("  key       %s\n", recipe ? recipe_key_name(recipe) : none);
    if (!recipe || !recipe_extracts(recipe)) return;
    perhaps_recipe extraction = *recipe;
    extraction.form = extraction.ignore_case = 0;
    if (recipe->unknown)
        printf("  records   of a newer version of perhaps (step %d)\n", recipe->unknown);
    else
        printf("  records   as %s says\n", recipe_options(&extraction, options));
}

void print_recipe_json(struct json *json, const perhaps_recipe *recipe) {
    char delimiter[2] = {(char)recipe->delimiter, 0};
    json_text(json, "key", recipe_key_name(recipe));
    json_text(json, "records", recipe_records_name(recipe));
    json_count(json, "field", recipe->field);
    json_text(json, "delimiter", delimiter);
}

unsigned filter_abilities(const struct perhaps_info *info) {
    return info->grow == PERHAPS_GROW_NEVER ? info->can & ~(unsigned)PERHAPS_GROW : info->can;
}

static const char *growth_name(int grow) {
    return grow == PERHAPS_GROW_NEVER ? "never" : grow == PERHAPS_GROW_LAYERS ? "layers" : "default";
}

/* What a filter of filters has and others lack. */
static void print_whole_json(struct json *json, const struct perhaps_info *info) {
    json_text(json, "base", kind_name(info->base));
    json_count(json, "max_bytes", info->max_bytes);
    json_count(json, "period", info->period);
    json_count(json, "generations", info->generations);
    json_flag(json, "flooded", info->flooded);
    json_real(json, "clear_at", round(info->clear_at * 1e9) / 1e9); /* kept in 2^-32, which shows */
}

void print_info_json(const perhaps *filter, const struct perhaps_info *info, const char *path) {
    struct json json = {0};
    perhaps_recipe recipe = filter_recipe(filter);
    json_open(&json, NULL, '{');
    json_text(&json, "file", path);
    json_text(&json, "kind", info->kind_name);
    if (info->children) print_whole_json(&json, info);
    json_count(&json, "capacity", info->capacity);
    if (is_file_kind(info->kind)) json_flag(&json, "guessed", info->guessed);
    json_count(&json, "items", info->items);
    json_real(&json, "distinct", info->distinct);
    json_real(&json, "fpr_target", info->fpr_target);
    json_real(&json, "fpr_now", info->fpr_now);
    json_count(&json, "bytes", info->bytes);
    json_count(&json, "image_bytes", info->image_bytes);
    json_real(&json, "bits_per_key", info->bits_per_key);
    json_real(&json, "fill", info->fill);
    json_real(&json, "loss", info->loss);
    json_count(&json, "stuck", info->stuck);
    json_count(&json, "stashed", info->stashed);
    json_text(&json, "grow", growth_name(info->grow));
    json_count(&json, "hashes", info->hashes);
    json_count(&json, "cache_lines", info->lines);
    json_text(&json, "hash", info->hash_name);
    if (!is_file_kind(info->kind)) {
        json_count(&json, "seed", info->seed);
        print_recipe_json(&json, &recipe);
        json_count(&json, "format_version", info->format_version);
    }
    json_text(&json, "isa", info->isa);
    json_abilities(&json, filter_abilities(info));
    print_children_json(&json, filter, info->children);
    json_end(&json);
}
