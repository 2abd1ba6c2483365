/* Filters in files: opening, replacing, and what they are. */
#ifndef CLI_BACKEND_FILE_FILTER_FILE_H
#define CLI_BACKEND_FILE_FILTER_FILE_H

#include "options/options.h"
#include "output/report.h"

#include <perhaps_embed.h>

enum { HASH_KEY_BYTES = 16 };

/* Reads a SipHash key: 16 bytes, or 32 hexadecimal digits. */
int hash_key_read(const char *path, uint8_t key[HASH_KEY_BYTES]);

/* Opens a filter with `flags` of enum perhaps_open_flag and those that --no-verify, --recover and
 * --hash-key add. If another program truncates a mapped file, the program ends with a message. If a
 * journal of dedup is beside the file, commands that would change the file are refused, and all
 * others except dedup warn. */
int filter_open(const struct options *options, const char *path, unsigned flags, perhaps **filter);

/* Foreign files that gzip has compressed (gzip_file.c). Does a name say that it is? */
bool gzip_named(const char *path);

/* Opens a copy of what is in such a file. A small file that would take much memory is refused. */
int gzip_open(const char *path, const perhaps_open_options *how, perhaps **filter);

/* Writes the filter through gzip. 0, -1 if errno says why not, or TROUBLE if that has been said. */
int gzip_write(const perhaps *filter, int fd);

/* Milliseconds since 1970, for perhaps_set_clock. The library reads no clock, and its windows take
 * any unit; the command line uses the server's, so that each can read the filters of the other. */
uint64_t clock_of_windows(void *unused);

/* Tells a window by time what time it is, now and in each call that adds. */
int filter_advance(perhaps *filter, const char *path);

/* What is known about a filter without counting its bits. */
struct perhaps_info filter_facts(const perhaps *filter);

/* Everything about a filter. */
int filter_info(const perhaps *filter, const char *path, struct perhaps_info *info);

/* How the filter's keys are made. */
perhaps_recipe filter_recipe(const perhaps *filter);

/* Is it of a kind of integers, which takes no keys of bytes? */
bool filter_of_integers(const perhaps *filter);

/* Is it the file of another program? */
bool filter_is_file(const perhaps *filter);

/* FINE, or TROUBLE after having said that it is a static filter, which cannot be changed. */
int filter_refuse_sealed(const perhaps *filter, const char *path);

/* FINE, or TROUBLE after having said that a journal of dedup is beside it, which would be lost. */
int filter_refuse_journal(const char *path, bool locked);

/* Replaces the file `path`, which is locked, with this filter; compressed, if it was. */
int filter_replace(perhaps_lock *lock, const char *path, const perhaps *filter);

/* How the number of keys in a filter is known: counted as they were read into a new one; from the
 * filter's count and how many were read; only from its bits. */
enum keys_known { KEYS_COUNTED, KEYS_ADDED, KEYS_ESTIMATED };

/* Warns if the filter holds more keys than it was made for; by a clear margin, if their number is
 * an estimate; not if it grows or forgets by itself. `most` is how many keys can have gone into it;
 * 0 = unknown. */
void warn_if_overfull(const struct perhaps_info *info, const char *path, enum keys_known known, uint64_t most);

#endif
