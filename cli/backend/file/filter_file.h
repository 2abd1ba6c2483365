/* What the commands have in common about filters: opening, saving, saying how they are. */
#ifndef CLI_BACKEND_FILE_FILTER_FILE_H
#define CLI_BACKEND_FILE_FILTER_FILE_H

#include "options/options.h"
#include "output/report.h"

#include <perhaps_embed.h>

enum { HASH_KEY_BYTES = 16 };

/* Reads a SipHash key: 16 bytes, or 32 hexadecimal digits. */
int hash_key_read(const char *path, uint8_t key[HASH_KEY_BYTES]);

/* Opens a filter with `flags` of enum perhaps_open_flag and those that --no-verify, --recover and --hash-key add. A
 * mapped file that another program cuts short ends this one with a sentence. Of a journal of dedup that is beside the file,
 * all commands but dedup warn; those that would change the file are refused. */
int filter_open(const struct options *options, const char *path, unsigned flags, perhaps **filter);

/* Opens a filter to be asked as of now: mapped, but for a window by time, of which a copy forgets what is too old. */
int filter_open_now(const struct options *options, const char *path, perhaps **filter);

/* Milliseconds since 1970, for perhaps_set_clock. The library reads no clock, and its windows take any unit; the
 * command line's take the server's, so that a file of one is a filter of the other. */
uint64_t clock_of_windows(void *unused);

/* Tells a window by time what time it is, now and in each call that adds. */
int filter_advance(perhaps *filter, const char *path);

/* Set of enum perhaps_trait. */
unsigned filter_traits(const perhaps *filter);

/* FINE if it can do this one thing (remove, count or list), else the reason and TROUBLE. */
int filter_require(const perhaps *filter, const char *path, unsigned ability);

/* Is it of a kind of integers, which takes no keys of bytes? */
bool filter_of_integers(const perhaps *filter);

/* Is it the file of another program? */
bool filter_is_file(const perhaps *filter);

/* FINE, or TROUBLE after having said that it is a static filter, which cannot be changed. Asked before anything is read. */
int filter_refuse_sealed(const perhaps *filter, const char *path);

/* Which keys of a batch are perhaps in it? *present is how many. */
struct batch;
int filter_ask(const perhaps *filter, const struct batch *batch, uint8_t *answers, uint64_t *present);

/* FINE, or TROUBLE after having said that a journal of dedup is beside it: what is in that would be lost. */
int filter_refuse_journal(const char *path, bool locked);

/* Locks a filter that is to be read, changed and replaced, unless a journal of dedup is beside it. */
int filter_lock(const struct options *options, const char *path, perhaps_lock **lock);

/* Replaces the file `path`, which is locked, with this filter; compressed, if it was. */
int filter_replace(perhaps_lock *lock, const char *path, const perhaps *filter);

/* Everything about a filter. */
int filter_info(const perhaps *filter, const char *path, struct perhaps_info *info);

/* Whence the number of keys in a filter is known: counted as they were read into a new one; its own count and how many
 * were read; only from its bits. */
enum keys_known { KEYS_COUNTED, KEYS_ADDED, KEYS_ESTIMATED };

/* Warns if the filter holds more keys than it was made for; by a clear margin, if their number is an estimate; not
 * if it grows or forgets by itself. `most` is how many keys can have gone into it; 0 = unknown. */
void warn_if_overfull(const struct perhaps_info *info, const char *path, enum keys_known known, uint64_t most);

/* What it can do: growing is not among it, if it was made never to grow. */
unsigned filter_abilities(const struct perhaps_info *info);

/* The object that 'perhaps info --json' prints. */
void print_info_json(const perhaps *filter, const struct perhaps_info *info, const char *path);

/* How the filter's keys are made. */
perhaps_recipe filter_recipe(const perhaps *filter);
void print_recipe(const perhaps_recipe *recipe, const char *none); /* NULL: none */
void print_recipe_json(struct json *json, const perhaps_recipe *recipe);

#endif
