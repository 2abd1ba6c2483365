/* The command line as data: one table of commands (command_table.c) and one of options
 * (option_table.c). The parser here, --help, the manual pages and the completions all read these
 * two tables, so an option exists in all of them or in none. */
#ifndef CLI_OPTIONS_OPTIONS_H
#define CLI_OPTIONS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* clang-format off */
enum command_id {
    CMD_PLAN, CMD_BUILD, CMD_ADD, CMD_REMOVE, CMD_CHECK, CMD_COUNT, CMD_DEDUP, CMD_LIST, CMD_INFO,
    CMD_EXPLAIN,
    CMD_MERGE, CMD_INTERSECT, CMD_SUBTRACT, CMD_DIFFER, CMD_VERIFY, CMD_RDB, CMD_BENCH,
    CMD_COMPLETIONS, CMD_VERSION, CMD_HELP,
    COMMANDS
};

/* In the order in which --help shows them. */
enum option_id {
    OPT_OUTPUT, OPT_LINES_TO, OPT_FORCE, OPT_FOLD, OPT_INVERT, OPT_COUNT, OPT_QUIET, OPT_CONFIRM,
    OPT_FROM, OPT_LIMIT, OPT_KEYS, OPT_MEMBERS, OPT_BITS, OPT_IN_PLACE,
    OPT_ITEMS, OPT_FPR, OPT_BITS_PER_KEY, OPT_BYTES, OPT_PRESET,
    OPT_KIND, OPT_FILE_KIND, OPT_NEEDS, OPT_STATIC, OPT_SMALLEST, OPT_SCRATCH,
    OPT_GROW, OPT_GROWTH, OPT_MAX_BYTES, OPT_NO_GROW, OPT_WINDOW, OPT_GENERATIONS, OPT_CLEAR_AT,
    OPT_REPEATS, OPT_SUMMARY, OPT_STATE, OPT_SAVE_EVERY, OPT_LAST, OPT_EXACT, OPT_LOSS, OPT_DIFFERENT, OPT_NGRAM, OPT_OVERLAP,
    OPT_CSV, OPT_TSV, OPT_WHITESPACE, OPT_JSONL, OPT_HEADER, OPT_FIELD, OPT_DELIMITER, OPT_TRIM, OPT_MISSING,
    OPT_KEY, OPT_U64, OPT_HEX, OPT_IGNORE_CASE, OPT_NULL, OPT_ELSEWHERE,
    OPT_CONFIRM_CSV, OPT_CONFIRM_TSV, OPT_CONFIRM_WHITESPACE, OPT_CONFIRM_JSONL, OPT_CONFIRM_HEADER,
    OPT_CONFIRM_FIELD, OPT_CONFIRM_DELIMITER, OPT_CONFIRM_TRIM,
    OPT_THREADS, OPT_SHARDS, OPT_AT, OPT_SHARD_BYTES, OPT_PATIENCE,
    OPT_HASH, OPT_SEED, OPT_HASH_KEY, OPT_KEY_IN_FILE, OPT_HASHES, OPT_LINES,
    OPT_NO_VERIFY, OPT_RECOVER,
    OPT_FULL, OPT_COMBINED, OPT_FOREIGN, OPT_BENCH_STATIC, OPT_SMALL, OPT_ISA, OPT_GOALS, OPT_COMPARE, OPT_PLOT,
    OPT_SCDOC, OPT_NAMES, OPT_SILENT, OPT_JSON, OPT_HELP,
    OPTIONS
};
/* clang-format on */

struct options;

/* Of the full help and of the manual page, after the options. */
struct section {
    const char *title; /* NULL after the last one */
    const char *text;  /* paragraphs, separated by empty lines */
};

enum { SECTIONS = 9 };

struct command {
    const char *name;
    const char *usage;       /* what follows the name */
    const char *summary;     /* half a sentence */
    const char *description; /* one paragraph, which -h shows too */
    const char *examples;    /* lines of shell, each a command or a # comment; -h shows two */
    const char *exit_status; /* NULL for the usual one: 0 or 2 */
    unsigned least, most;    /* operands it takes */
    int (*run)(const struct options *options);
    const char *json; /* the help of --json for this command; NULL = it takes none */
    struct section sections[SECTIONS];
};

extern const struct command commands[COMMANDS];

/* What an option's argument is, and so which type its field in struct options has. */
enum value_type {
    VALUE_NONE,    /* a flag; ask given() */
    VALUE_NUMBER,  /* uint64_t */
    VALUE_SIZE,    /* uint64_t, in bytes */
    VALUE_REAL,    /* double */
    VALUE_RATE,    /* double between 0 and 1 */
    VALUE_SHARE,   /* double between 0 and 1 */
    VALUE_PART,    /* double above 0, at most 1 */
    VALUE_WORD,    /* int: which of `words` */
    VALUE_KIND,    /* int: enum perhaps_kind */
    VALUE_FORMAT,  /* int: the same, foreign formats only */
    VALUE_NEEDS,   /* unsigned: set of enum perhaps_ability */
    VALUE_WINDOW,  /* struct window */
    VALUE_TIME,    /* uint64_t, in seconds */
    VALUE_THREADS, /* uint64_t; 0 = one for each processor */
    VALUE_FILE,    /* const char * */
    VALUE_TEXT     /* const char * */
};

/* Under which title the full help and the manual page show an option; see group_title(). */
/* clang-format off */
enum option_group {
    GROUP_MAIN, /* those that a command shows first, and with -h alone */
    GROUP_INPUT, GROUP_CONFIRM, GROUP_SIZE, GROUP_GROWTH, GROUP_OUTPUT, GROUP_MEMORY, GROUP_THREADS, GROUP_SERVERS,
    GROUP_HASHING, GROUP_FILES, GROUP_MEASURING,
    GROUPS
};
/* clang-format on */

struct option {
    const char *name;     /* without the dashes */
    char letter;          /* short form; 0 = none */
    enum value_type type; /* of the argument */
    const char *argument; /* its name in the help; NULL for flags */
    const char *words;    /* VALUE_WORD: the words allowed, separated by spaces */
    size_t field;         /* offset in struct options */
    unsigned commands;    /* set of 1 << command_id */
    unsigned main;        /* those of them for which it is in GROUP_MAIN */
    enum option_group group;
    const char *help; /* sentences, verb first; -h shows the first one */
};

extern const struct option option_table[OPTIONS];

/* "Main options", "Input", ... */
const char *group_title(enum option_group group);

/* Does this command show the option in this group? */
bool group_has(enum option_group group, const struct command *command, const struct option *option);

/* How keys are written, in the order of the words of --key. */
/* clang-format off */
enum encoding {
    ENCODING_BYTES, ENCODING_HEX, ENCODING_U64, ENCODING_U64LE, ENCODING_INT32, ENCODING_INT64, ENCODING_UTF16,
    ENCODINGS
};
/* clang-format on */

/* What becomes of a record without a key, in the order of the words of --missing. */
enum missing { MISSING_ERROR, MISSING_SKIP, MISSING_EMPTY };

/* How much a window remembers: a number of keys, or a time. One of them is 0. */
struct window {
    uint64_t keys, period; /* in milliseconds */
};

/* A parsed command line. Fields whose option was not given are zero. */
struct options {
    const struct command *command;
    const struct backend *backend; /* what the command works on; see backend.h */
    bool given[OPTIONS];
    bool briefly; /* -h, not --help */
    char **operands;
    size_t operand_count;
    uint64_t items, bytes, max_bytes, shard_bytes, generations, shards, hashes, lines, seed, from, limit, threads;
    uint64_t patience, save_every, scratch;
    uint64_t ngram;
    double fpr, bits_per_key, growth, clear_at, overlap;
    struct window window, last;
    int kind, preset, hash, encoding, missing, isa;
    unsigned needs;
    const char *hash_key, *at, *output, *keys, *confirm, *state, *compare, *plot;
    const char *field, *delimiter, *jsonl, *confirm_field, *confirm_delimiter, *confirm_jsonl;
};

static inline bool given(const struct options *options, enum option_id id) {
    return options->given[id];
}

/* The first of these options that is given; OPTIONS if none is. */
enum option_id first_given(const struct options *options, const enum option_id *ids, size_t count);

/* The command of that name, or NULL. */
const struct command *command_find(const char *name);

/* Says that there is no such command, and which one it might have been. Returns TROUBLE. */
int command_unknown(const char *name);

/* How many threads -j asks for; without it, one for each processor. */
unsigned threads_from(const struct options *options);

/* "-n" or "--name", for messages. Returns `buffer`. */
enum { OPTION_TEXT = 40 };
const char *option_shown(enum option_id id, char buffer[OPTION_TEXT]);

/* What an option does for this command, without the names that its argument may be. */
const char *option_help(const struct command *command, const struct option *option);

/* The same with them, in `buffer`, where they come from the library's tables. */
enum { HELP_TEXT = 1000 };
const char *option_text(const struct command *command, const struct option *option, char buffer[HELP_TEXT]);

/* Does this command take this option? */
bool command_takes(const struct command *command, const struct option *option);

/* Reads the arguments after the command's name. 0, or 2 after having said what is wrong. */
int options_parse(struct options *options, const struct command *command, int count, char **arguments);

/* The words an option's argument may be, separated by spaces, in `buffer`; "" if it may be any. */
const char *option_words(const struct option *option, char *buffer, size_t size);

/* Copies word number `index` of a list separated by spaces into `buffer` and returns it. */
const char *word_at(const char *words, int index, char *buffer, size_t size);

/* The number of `word` in such a list, or -1. */
int word_index(const char *words, const char *word);

#endif
