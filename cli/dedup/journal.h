/* FILE.journal beside a filter FILE: digests that are not in the file yet, in blocks that are whole
 * or not there. The process that has it locked may change both. It is removed, under the lock, when
 * all of it is in the file. docs/FORMAT.md has its bytes. */
#ifndef CLI_DEDUP_JOURNAL_H
#define CLI_DEDUP_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct journal;
struct stat;
struct waiting;

/* What is done with the digests of a block, which were noted at that time. FINE or TROUBLE. */
typedef int journal_function(void *context, uint64_t time, const uint64_t *digests, size_t n);

/* How many bytes of blocks the journal beside the filter `file` has; -1 if there is none. */
int64_t journal_beside(const char *file);

/* Is a file with this status that journal? */
bool is_journal(const char *file, const struct stat *status);

/* Opens and locks it, and makes it if need be. Waits for another process that has it. TROUBLE if
 * that takes too long, or if it is something else. `file` must live as long. */
int journal_open(struct journal **journal, const char *file, struct waiting *waiting);

/* Hands on all blocks, in order, if they belong to the file as it is; forgets them otherwise: they
 * are in it already, or it is another file. What is torn at the end is cut off. */
int journal_replay(struct journal *journal, journal_function *take, void *context);

/* Forgets all blocks. Those to come belong to the file as it is now. */
int journal_restart(struct journal *journal);

/* Notes the digests whose answer is 1, or all if `answers` is NULL. They are written when a block
 * is full, and when the time changes. */
int journal_note(struct journal *journal, uint64_t time, const uint64_t *digests, const uint8_t *answers, size_t n);

/* Writes what was noted; makes it survive a crash of the machine, too. After a failure, which said
 * why, they return TROUBLE in silence. */
int journal_write(struct journal *journal);
int journal_save(struct journal *journal);

/* How many bytes its blocks have, written or only noted. */
uint64_t journal_bytes(const struct journal *journal);

/* Unlocks it and, if all of it is `done`, removes it. NULL is fine. */
void journal_close(struct journal *journal, bool done);

#endif
