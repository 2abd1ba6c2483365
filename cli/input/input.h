/* Keys from files and pipes. Input is read in blocks, which threads work on (work.c), and keys are
 * handed on in batches that point into the block: nothing is copied or allocated per line. */
#ifndef CLI_INPUT_INPUT_H
#define CLI_INPUT_INPUT_H

#include "columns.h"
#include "json_find.h"
#include "options/options.h"

#include <perhaps_embed.h>

#include <sys/stat.h>

enum { BATCH = 1024, MOST_THREADS = 256 };

/* Where keys come from and how they are written. */
struct input {
    enum encoding encoding;
    int records;               /* enum perhaps_records; what each is, records.h knows */
    char terminator;           /* of records: '\n', or 0 with -0 */
    char delimiter;            /* between fields */
    bool header;               /* the first record of each file names its fields, and is no key */
    bool trim;                 /* white space around a key, or a field of it, is no part of it */
    enum missing missing;      /* what becomes of a record that lacks a field */
    struct column_list fields; /* that make the key; none = all of the record, or as `path` says */
    struct json_path path;     /* of PERHAPS_JSON_LINES */
    char where[COLUMNS_TEXT];  /* fields or path as text; "" = the whole record */
    bool where_kept;           /* they are as the filter says, not as an option does */
    const char *prefix;        /* of its options' names: "", or "confirm-" */
    uint32_t ngram;            /* of dedup: keys are texts, whose runs of this many words count */

    /* Called with the first header of all files, its end included; NULL = nobody wants it. */
    int (*take_header)(void *context, const char *header, size_t length);
    void *header_context;
    bool quiet; /* nothing is said of records without a key */

    char *const *paths; /* "-" = standard input */
    size_t path_count;  /* never 0 */
    bool ignore_case;   /* keys are folded to small letters, of ASCII, before they are hashed */
    bool integers;      /* for a kind of integers: keys are numbers from 0, in any writing */
    bool silent;        /* no progress, since keys are being printed to the same terminal */
};

/* A batch of keys, valid during the callback. Either `numbers` or `keys` and `lengths` are set, or,
 * where a command has hashed them, `digests` alone. A line is a whole record, which may have line
 * ends in it. Lines lie in this order in memory, each followed by its terminator; if records were
 * left out (input_skips), there may be others between them. */
struct batch {
    size_t n;
    const uint64_t *numbers; /* keys for the _u64 calls */
    const void *const *keys; /* keys for the bytes calls */
    const size_t *lengths;
    const uint64_t *digests;      /* keys for the _digest calls */
    const char *const *key_texts; /* keys as they stand in the input, not decoded or folded */
    const size_t *key_text_lengths;
    const char *const *lines; /* as they stand in the input */
    const size_t *line_lengths;
    size_t terminator_length; /* bytes after each line that belong to it: 1, or 0 for raw records */
    const char *path;
    size_t file;         /* which of the input's paths that is */
    uint64_t offset;     /* of lines[0] in that file */
    uint64_t first_line; /* the number of lines[0] in its file, from 1; of one thread */
};

/* The number of lines[i] in its file. */
uint64_t batch_line(const struct batch *batch, size_t i);

/* The keys of a batch, in whichever form it has them. */
static inline perhaps_keys batch_keys(const struct batch *batch) {
    if (batch->digests) return PERHAPS_KEYS_DIGEST(batch->digests, batch->n);
    if (batch->numbers) return PERHAPS_KEYS_U64(batch->numbers, 0, batch->n);
    return PERHAPS_KEYS_BYTES(batch->keys, batch->lengths, batch->n);
}

/* FINE = go on, STOP = enough, TROUBLE = failed and said so. */
typedef int batch_function(void *context, const struct batch *batch);

/* After all keys of a block of the input were handed on. Comes in the order of the input, with the
 * context that the batches had and the number of the block's first line in its file. */
typedef int block_function(void *context, const char *path, uint64_t first_line);

/* What is done with keys in several threads. */
struct key_work {
    unsigned threads;          /* 1 to MOST_THREADS */
    batch_function *in_thread; /* several at the same time, each with another context */
    block_function *in_order;  /* one at a time; NULL = nothing is left to do */
    void *const *contexts;     /* one for each of the blocks on their way */
    const size_t *block;       /* how large the next block is to be; NULL = as usual */

    /* NULL, or called like in_order when no block has come for the seconds that `patience` says. */
    int (*pause)(void *context);
    double (*patience)(void *context);
    void *pausing; /* their context */
};

/* How many blocks are on their way at a time: one in each thread, and one that waits for its turn.
 * One thread takes them one by one. */
enum { MOST_BLOCKS = MOST_THREADS + 1 };
static inline unsigned blocks_on_the_way(unsigned threads) {
    return threads > 1 ? threads + 1 : 1;
}

/* Takes the options that say how keys are written and where they stand; no path means standard
 * input. */
int input_from_options(struct input *input, const struct options *options, char *const *paths, size_t path_count);

/* What a filter of such keys has for its recipe. */
perhaps_recipe input_recipe(const struct input *input);

/* Uses the recipe of a filter. Options that contradict it are refused; --field 0 takes lines whole,
 * whatever it says. */
int input_match(struct input *input, const struct options *options, const char *filter_path, const perhaps *filter);

/* The same for a set that is no filter in memory. */
int input_match_recipe(struct input *input, const struct options *options, const char *path,
                       const perhaps_recipe *recipe);

/* The same keys in other files: their place is as the options of --confirm say, or else as the
 * recipe does. FINE or TROUBLE. */
int input_for_confirm(struct input *input, const struct options *options, const char *filter_path,
                      const perhaps_recipe *recipe);

/* Without --confirm, no option is about its file. FINE or TROUBLE. */
int input_without_confirm(const struct options *options);

/* What the recipe does to keys, in words; and back, false if there is no such name. */
const char *recipe_key_name(const perhaps_recipe *recipe);
bool recipe_key_from(const char *name, perhaps_recipe *recipe);

/* How records end, as JSON and sets on servers have it; and back, false if there is none such. */
const char *recipe_records_name(const perhaps_recipe *recipe);
bool recipe_records_from(const char *name, perhaps_recipe *recipe);

/* Does it say where the key stands in a record? */
bool recipe_extracts(const perhaps_recipe *recipe);

/* The options that make such a recipe. */
enum { RECIPE_TEXT = 440 };
const char *recipe_options(const perhaps_recipe *recipe, char text[RECIPE_TEXT]);

/* For a new filter of a kind of integers: numbers unless --key says which, and never bytes. */
int input_for_integers(struct input *input, const struct options *options);

/* May records be left out between those that are handed on? */
bool input_skips(const struct input *input);

/* At the end of the reading: says how many records had no key, or were not valid. */
void input_tell_missing(const struct input *input, uint64_t missing, uint64_t invalid);

/* Are keys handed on as numbers, for the _u64 calls? */
bool input_of_numbers(const struct input *input);

/* Hands all keys to `function` in order. FINE, STOP if the function said so, or TROUBLE. */
int input_read(const struct input *input, batch_function *function, void *context);

/* The same with keys in memory, as they would stand in a record. `filter_path` is for messages. */
int input_read_texts(const struct input *input, const char *filter_path, char *const *texts, size_t n,
                     batch_function *function, void *context);

/* The same in several threads: in order only within a block. What is wrong with the input is told
 * as if there were one thread. */
int input_work(const struct input *input, const struct key_work *work);

/* From now on, progress is drawn, unless `silent`: see progress_at. */
void input_start_progress(const struct input *input);

/* Are all inputs plain files, which can be read twice and do not keep anyone waiting? */
bool input_repeatable(const struct input *input);

/* How many bytes they have together; 0 for other input. */
uint64_t input_bytes(const struct input *input);

/* If they are: sets *countable, and *lines to how many keys they hold. */
int input_count(const struct input *input, bool *countable, uint64_t *lines);

/* About how many keys plain files hold, from their sizes and how long their first lines are, with a
 * little to spare; 0 for other input. */
int input_estimate(const struct input *input, uint64_t *keys);

/* ---- ending the reading early (interrupt.c): by Ctrl-C and its like, for commands that have
 * something to finish before they end, or because no more keys are wanted ---- */

/* Makes input_interrupt possible. FINE or TROUBLE. */
int input_make_interruptible(void);

bool input_is_interruptible(void);

/* If it is interruptible, reading also ends when nobody is left to read what is written to `fd`,
 * even while nothing is written. */
void input_watch_output(int fd);

/* Reading, in whichever thread, then ends as if the input ended, with STOP, however long the next
 * key takes to come. May be called by a signal handler. */
void input_interrupt(void);
bool input_was_interrupted(void);

/* If it is interruptible: waits until there is something to read from `fd`, or an interruption. */
void input_wait(int fd);

/* From now on, SIGINT, SIGTERM and SIGHUP end the reading of input and nothing else. FINE or
 * TROUBLE. */
int finish_on_interrupt(void);

/* Did one of them come? */
bool was_interrupted(void);

/* Ends as the signal would have ended it, if there was one. */
void die_of_interrupt(void);

/* After finish_on_interrupt, the calling thread gets none of them from now on, or gets them again:
 * so that they come to the one that reads. Before it they end the program, whichever thread gets
 * them. */
void leave_interrupts_to_others(bool leave);

/* ---- files that are written and read (overlap.c) ---- */

/* No command writes a file that it also reads, whatever names and links lead to it. FINE, or
 * TROUBLE after having said that what -o, --state, FILTER or standard output names is also a file
 * of keys (`input`, which may be NULL), or that of --hash-key or --confirm; for dedup's lines also
 * that of --state and its journal. */
int refuse_overlap(const struct options *options, const struct input *input);

/* Is `path` a file with this status? "-" is standard input, NULL none. */
bool is_same_file(const char *path, const struct stat *status);

/* ---- threads (threads.c) ---- */

/* Calls function(context, i) for i = 0 .. n-1, each in a thread of its own (the last one in this
 * thread), and returns when all have returned. Where no thread is to be had, the calls come one
 * after another. */
void call_in_threads(unsigned n, void (*function)(void *context, unsigned i), void *context);

/* How many processors this process may use. */
unsigned processor_count(void);

#endif
