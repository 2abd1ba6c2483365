#include "filter_file.h"
#include "options/abilities.h"
#include "commands/commands.h"
#include "dedup/journal.h"
#include "input/encode.h"
#include "backend/file_format.h"
#include "output/numbers.h"
#include "output/output_file.h"
#include "input/waiting.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- hash key ---- */

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
        return failure(path, "is not a hash key; give 16 bytes or 32 hexadecimal digits");
    return FINE;
}

/* ---- journals of dedup ---- */

/* A filter that someone else replaced is not the one that its journal belongs to. Under the file's
 * lock, a journal without lines is that of a dedup that waits for the lock. */
int filter_refuse_journal(const char *path, bool locked) {
    if (journal_beside(path) < (locked ? 1 : 0)) return FINE;
    return failure(path,
                   "has a journal, %s.journal, of a dedup that is running or was killed; 'perhaps dedup --state %s < "
                   "/dev/null' takes it in",
                   path, path);
}

static int check_journal(const struct options *options, const char *path) {
    bool changes = options->command == &commands[CMD_ADD] || options->command == &commands[CMD_REMOVE];
    if (options->command == &commands[CMD_DEDUP]) return FINE;
    if (changes) return filter_refuse_journal(path, !given(options, OPT_IN_PLACE));
    if (journal_beside(path) > 0)
        warning(path,
                "lacks the lines in %s.journal, of a dedup that is running or was killed; 'perhaps dedup --state %s < "
                "/dev/null' takes them in",
                path, path);
    return FINE;
}

/* ---- opening ---- */

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

static int sealed_failure(const char *path) {
    return failure(
        path,
        "is a static filter, which cannot be changed or combined; build it again from all keys, or use another kind");
}

static int open_failure(const struct options *options, const char *path, int rc) {
    char names[KINDS_TEXT], advice[KINDS_TEXT + 100];
    if (rc == PERHAPS_ECANNOT) return reason_failure(path, "leave out --in-place");
    if (rc == PERHAPS_ESEALED) return sealed_failure(path);
    if (rc == PERHAPS_EDAMAGED && options->kind) return reason_failure(path, "get the file again, or correct -k");
    if (rc != PERHAPS_EFOREIGN) return library_failure(path, rc);
    snprintf(advice, sizeof advice, "give a filter that 'perhaps build' made, or name its foreign format with -k: %s",
             file_kinds_text(", ", names));
    return reason_failure(path, advice);
}

int filter_open(const struct options *options, const char *path, unsigned flags, perhaps **filter) {
    uint8_t key[HASH_KEY_BYTES];
    struct sigaction action = {.sa_handler = on_bus_error};
    struct stat status;
    if (strcmp(path, "-") == 0) return failure(path, "a filter must be a file, since it is mapped; give its name");
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) return failure(path, "is a directory; give a filter file");
    if (check_journal(options, path) != FINE) return TROUBLE;
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
    if (file_format_of(path) == FORMAT_GZIP) return gzip_open(path, &how, filter);
    struct waiting waiting = waiting_for(options, path);
    int rc;
    do rc = perhaps_open(filter, path, &how);
    while (rc == PERHAPS_EBUSY && keep_waiting(&waiting));
    if (rc == PERHAPS_EBUSY) return waited_in_vain(&waiting);
    if (rc < 0) return open_failure(options, path, rc);
    struct perhaps_info facts = filter_facts(*filter);
    if (options->hash_key && facts.hash != PERHAPS_SIPHASH)
        warning(path, "uses %s; --hash-key has no effect", facts.hash_name);
    return FINE;
}

int filter_replace(perhaps_lock *lock, const char *path, const perhaps *filter) {
    return replace_filter(lock, path, filter, file_format_of(path) == FORMAT_GZIP);
}

uint64_t clock_of_windows(void *unused) {
    struct timespec now;
    (void)unused;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int filter_advance(perhaps *filter, const char *path) {
    int rc = perhaps_advance(filter, clock_of_windows(NULL));
    if (rc >= 0) perhaps_set_clock(filter, clock_of_windows, NULL); /* for windows by time */
    return rc < 0 ? library_failure(path, rc) : FINE;
}

/* ---- telling ---- */

struct perhaps_info filter_facts(const perhaps *filter) {
    struct perhaps_info info = {.size = sizeof info};
    perhaps_facts(filter, &info);
    return info;
}

int filter_info(const perhaps *filter, const char *path, struct perhaps_info *info) {
    *info = (struct perhaps_info){.size = sizeof *info};
    int rc = perhaps_info(filter, info);
    return rc < 0 ? library_failure(path, rc) : FINE;
}

perhaps_recipe filter_recipe(const perhaps *filter) {
    perhaps_recipe recipe = PERHAPS_RECIPE(.form = 0);
    perhaps_recipe_of(filter, &recipe);
    if (filter_of_integers(filter) && recipe.form == PERHAPS_KEY_BYTES) recipe.form = PERHAPS_KEY_U64;
    return recipe;
}

bool filter_of_integers(const perhaps *filter) {
    return !(filter_facts(filter).traits & PERHAPS_TAKES_BYTES);
}

bool filter_is_file(const perhaps *filter) {
    return is_file_kind(filter_facts(filter).kind);
}

int filter_refuse_sealed(const perhaps *filter, const char *path) {
    return filter_facts(filter).traits & PERHAPS_STATIC ? sealed_failure(path) : FINE;
}

/* Copies of a key that is there already do not raise the false-positive rate. An array without an
 * empty place cannot tell them apart. */
static uint64_t keys_held(const struct perhaps_info *info) {
    bool multiset = info->traits & PERHAPS_MULTISET && info->fill < 1;
    return multiset ? (uint64_t)fmin((double)info->items, round(info->distinct)) : info->items;
}

/* The filter's own count misses keys that seemed to be there already; its bits tell better, until
 * nearly all are set. */
static uint64_t keys_about(const struct perhaps_info *info, uint64_t most) {
    static const double saturated = 0.99;
    if (info->traits & PERHAPS_MULTISET) return keys_held(info);
    uint64_t seen = (uint64_t)fmax((double)info->items, round(info->distinct));
    bool take_most = info->fill > saturated ? most > seen : most && most < seen;
    return take_most ? most : seen;
}

void warn_if_overfull(const struct perhaps_info *info, const char *path, enum keys_known known, uint64_t most) {
    char text[NUMBER_TEXT], capacity[NUMBER_TEXT], now[NUMBER_TEXT], target[NUMBER_TEXT], period[NUMBER_TEXT];
    uint64_t margin = known == KEYS_ESTIMATED ? info->capacity / 20 : 0;
    /* What grows makes room. A window by time takes what comes, and knows when that was too much.
     * The capacity of some foreign files is only a guess. */
    bool limited = !(info->can & PERHAPS_GROW) && !info->guessed;
    bool overfull = limited && keys_held(info) > info->capacity + margin;
    if (info->kind == PERHAPS_WINDOW ? !info->flooded : !overfull) return;
    bool counted = known == KEYS_COUNTED;
    uint64_t keys = counted ? most : keys_about(info, most);
    warning(
        is_standard_output(path) ? "standard output" : path,
        "%s %s keys but was made for %s%s%s; its false-positive rate is now %s, planned %s. Rebuild it with -n %llu%s",
        counted ? "got" : "holds about", group_digits(keys, text), group_digits(info->capacity, capacity),
        info->period ? " in " : "", info->period ? human_duration(info->period, period) : "",
        human_rate(info->fpr_now, now), human_rate(info->fpr_target, target), (unsigned long long)keys,
        counted ? "" : " or more");
}
