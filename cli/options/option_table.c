/* The table of options, each with the commands that take it. clang-format would indent its texts
 * differently from row to row. */
#include "options.h"

#define ON(name) (1u << CMD_##name)

/* What an option takes: nothing; a value, with its name in the help and its field in struct
 * options; one of some words. */
#define FLAG                           VALUE_NONE, NULL, NULL, 0
#define TAKES(type, argument, field)   VALUE_##type, argument, NULL, offsetof(struct options, field)
#define CHOICE(argument, words, field) VALUE_WORD, argument, words, offsetof(struct options, field)

enum {
    SIZING = ON(PLAN) | ON(BUILD),
    MAKING = ON(BUILD) | ON(DEDUP),
    CHANGING = ON(ADD) | ON(REMOVE),
    QUERYING = ON(CHECK) | ON(COUNT) | ON(EXPLAIN),
    READING = ON(DEDUP) | ON(BUILD) | CHANGING | QUERYING | ON(VERIFY),
    COMBINING = ON(MERGE) | ON(INTERSECT) | ON(SUBTRACT) | ON(DIFFER),
    WRITING = ON(BUILD) | COMBINING,
    LOOKING = QUERYING | ON(LIST) | ON(INFO),
    OPENING = CHANGING | LOOKING | COMBINING | ON(VERIFY),
    AT_SERVERS = ON(BUILD) | CHANGING | ON(CHECK) | ON(DEDUP) | ON(INFO),
    ALL = (1u << COMMANDS) - 1,
    NONE = 0
};

/* clang-format off */
const struct option option_table[OPTIONS] = {
    [OPT_OUTPUT] = {"output", 'o', TAKES(FILE, "FILE", output), WRITING, WRITING, GROUP_OUTPUT,
        "Write the filter to FILE. '-' is standard output, which must not be a terminal."},
    [OPT_LINES_TO] = {"output", 'o', TAKES(FILE, "FILE", output), ON(DEDUP), ON(DEDUP), GROUP_OUTPUT,
        "Write the lines to FILE instead of standard output. They are not compressed, whatever its name."},
    [OPT_FORCE] = {"force", 'f', FLAG, WRITING | ON(DEDUP) | ON(PLAN) | ON(BENCH), WRITING, GROUP_OUTPUT,
        "Replace the output file (-o, --plot) if it exists, or with 'build --at' the set."},
    [OPT_FOLD] = {"fold", 0, TAKES(SIZE, "SIZE", bytes), ON(MERGE), ON(MERGE), GROUP_SIZE,
        "Halve the union until it has at most SIZE bytes, as if the filters had been made of that size. For parquet; "
        "see 'Kinds' below."},
    [OPT_INVERT] = {"invert", 'v', FLAG, ON(CHECK), ON(CHECK), GROUP_OUTPUT,
        "Select the keys that are definitely absent."},
    [OPT_COUNT] = {"count", 'c', FLAG, ON(CHECK) | ON(RDB), ON(CHECK) | ON(RDB), GROUP_OUTPUT,
        "Print only the number of keys."},
    [OPT_QUIET] = {"quiet", 'q', FLAG, ON(CHECK), ON(CHECK), GROUP_OUTPUT,
        "Print nothing, and stop at the first key found. The exit status tells."},
    [OPT_CONFIRM] = {"confirm", 0, TAKES(FILE, "FILE", confirm), ON(CHECK), ON(CHECK), GROUP_OUTPUT,
        "Look up each hit in FILE, which the filter was built from, for an exact answer. See 'Exact answers' below."},
    [OPT_FROM] = {"from", 0, TAKES(NUMBER, "N", from), ON(LIST), ON(LIST), GROUP_OUTPUT,
        "Begin with the first integer that is at least N. For bitmaps and Roaring bitmaps."},
    [OPT_LIMIT] = {"limit", 0, TAKES(NUMBER, "N", limit), ON(LIST), ON(LIST), GROUP_OUTPUT, "Print at most N lines."},
    [OPT_KEYS] = {"keys", 0, TAKES(FILE, "FILE", keys), ON(VERIFY), ON(VERIFY), GROUP_INPUT,
        "Check that every key in FILE is found, and measure the false-positive rate. '-' is standard input."},
    [OPT_MEMBERS] = {"keys", 0, TAKES(FILE, "FILE", keys), ON(EXPLAIN), ON(EXPLAIN), GROUP_INPUT,
        "Also show which keys in FILE, from which the filter was built, hold the bits, counters or slots. '-' is "
        "standard input."},
    [OPT_BITS] = {"bits", 0, FLAG, ON(INFO), ON(INFO), GROUP_OUTPUT,
        "Draw the bits, counters or slots of a small filter, at most 4,096, or of each of its parts."},
    [OPT_IN_PLACE] = {"in-place", 0, FLAG, CHANGING, CHANGING, GROUP_FILES,
        "Change the file itself instead of a copy that replaces it."},
    [OPT_ITEMS] = {"items", 'n', TAKES(NUMBER, "N", items), SIZING | ON(BENCH), SIZING | ON(BENCH), GROUP_SIZE,
        "Plan for N distinct keys: 5000000, 5e6, 5M or 2^20. For a bitmap: for integers below N."},
    [OPT_FPR] = {"fpr", 'p', TAKES(RATE, "P", fpr), SIZING, SIZING, GROUP_SIZE,
        "Set the false-positive rate: the chance of 'perhaps' for a non-member, such as 0.01, 1e-3 or 1%. Default "
        "0.01, reached when N keys are in."},
    [OPT_BITS_PER_KEY] = {"bits-per-key", 0, TAKES(REAL, "B", bits_per_key), SIZING, ON(PLAN), GROUP_SIZE,
        "Use B bits of memory per key, such as 12 or 9.6. The false-positive rate follows."},
    [OPT_BYTES] = {"bytes", 0, TAKES(SIZE, "SIZE", bytes), SIZING, ON(PLAN), GROUP_SIZE,
        "Use SIZE bytes of memory in all, such as 64MiB. The false-positive rate follows, or with -p the number of "
        "keys."},
    [OPT_PRESET] = {"preset", 0, CHOICE("NAME", "rough fair good fine", preset), SIZING, NONE, GROUP_SIZE,
        "Use a Bloom filter of a named size: rough (4 bits per key, 14.7 %), fair (8, 2.2 %), good (16, 1 in 2,148) "
        "or fine (32, 1 in 4.7 million)."},
    [OPT_KIND] = {"kind", 'k', TAKES(KIND, "KIND", kind), SIZING | ON(BENCH), SIZING | ON(BENCH), GROUP_SIZE,
        "Use this kind"},
    [OPT_FILE_KIND] = {"kind", 'k', TAKES(FORMAT, "KIND", kind), OPENING, NONE, GROUP_FILES,
        "Read the filter as this foreign format, if the file does not tell"},
    [OPT_NEEDS] = {"needs", 0, TAKES(NEEDS, "LIST", needs), SIZING, SIZING, GROUP_SIZE,
        "Choose the best kind that can do all of LIST, with commas between: add, remove, count, merge, intersect, "
        "grow, list, in-place."},
    [OPT_STATIC] = {"static", 0, FLAG, SIZING, SIZING, GROUP_SIZE,
        "Build a static filter: smaller than a Bloom filter, but no keys can be added later. It is a fuse filter "
        "unless -k or --smallest says otherwise."},
    [OPT_SMALLEST] = {"smallest", 0, FLAG, SIZING, SIZING, GROUP_SIZE,
        "Build the smallest static filter: 30 % smaller than a Bloom filter, but slower than --static. Short for -k "
        "ribbon."},
    [OPT_SCRATCH] = {"scratch", 0, TAKES(SIZE, "SIZE", scratch), ON(BUILD), NONE, GROUP_SIZE,
        "Keep at most SIZE bytes of the keys of a static filter in memory, and the rest in a temporary file beside the "
        "output. Default: a quarter of the machine's memory."},
    [OPT_GROW] = {"grow", 0, FLAG, SIZING, ON(BUILD), GROUP_GROWTH,
        "Grow in layers as keys come, at the same false-positive rate. Default for keys from a pipe without -n. With "
        "it, -n is a first guess."},
    [OPT_GROWTH] = {"growth", 0, TAKES(REAL, "R", growth), SIZING, NONE, GROUP_GROWTH,
        "Make room for R times as many keys with each layer, 1.5 to 16. Default: 4 and 8 while there are few keys, "
        "then 2. Implies --grow."},
    [OPT_MAX_BYTES] = {"max-bytes", 0, TAKES(SIZE, "SIZE", max_bytes), SIZING, NONE, GROUP_GROWTH,
        "Grow to at most SIZE bytes, and refuse keys that do not fit. Implies --grow."},
    [OPT_NO_GROW] = {"no-grow", 0, FLAG, ON(BUILD), NONE, GROUP_GROWTH,
        "Never grow. table and bitmap then refuse keys beyond -n, and cuckoo refuses copies of a key that it has no "
        "room for."},
    [OPT_WINDOW] = {"window", 0, TAKES(WINDOW, "N|TIME", window), SIZING, NONE, GROUP_GROWTH,
        "Remember only the last N keys, or the keys of the last TIME, such as 30s, 10m, 12h or 7d. For a time, -n is "
        "the number of keys that come in it."},
    [OPT_GENERATIONS] = {"generations", 0, TAKES(NUMBER, "G", generations), SIZING, NONE, GROUP_GROWTH,
        "Forget the keys of a window in G steps, 2 to 64. More steps forget closer to time, fewer are faster. Default "
        "4; 1 with --clear-at alone."},
    [OPT_CLEAR_AT] = {"clear-at", 0, TAKES(SHARE, "SHARE", clear_at), SIZING, NONE, GROUP_GROWTH,
        "Forget the oldest generation when the newest is filled to SHARE, such as 0.8 or 80%. Without --window that is "
        "everything."},
    [OPT_REPEATS] = {"repeats", 'd', FLAG, ON(DEDUP), ON(DEDUP), GROUP_OUTPUT,
        "Print the repeats instead: each line from its second occurrence on."},
    [OPT_SUMMARY] = {"summary", 'c', FLAG, ON(DEDUP), ON(DEDUP), GROUP_OUTPUT,
        "Print a summary on standard error: lines, unique lines, duplicates, memory, time, and the chance that a line"
        " was lost."},
    [OPT_STATE] = {"state", 0, TAKES(FILE, "FILE", state), ON(DEDUP), ON(DEDUP), GROUP_MEMORY,
        "Remember the lines of all runs in FILE, which is made if it is missing. It is a filter like any other. See "
        "'State' below."},
    [OPT_SAVE_EVERY] = {"save-every", 0, TAKES(TIME, "TIME", save_every), ON(DEDUP), NONE, GROUP_MEMORY,
        "Save the digests of new lines to the state's journal every TIME, such as 10s or 5m, 8 bytes each. 0s saves "
        "only at the end. Default 1m."},
    [OPT_LAST] = {"last", 0, TAKES(WINDOW, "N|TIME", last), ON(DEDUP), ON(DEDUP), GROUP_MEMORY,
        "Remember only the last N lines, or those of the last TIME, such as 30s, 10m or 12h. 10M is a number, 10m a "
        "time. See 'Memory' below."},
    [OPT_EXACT] = {"exact", 0, FLAG, ON(DEDUP), ON(DEDUP), GROUP_MEMORY,
        "Compare lines instead of digests, so that no line is ever lost. Takes up to 20 bytes of memory per distinct "
        "line."},
    [OPT_LOSS] = {"fpr", 'p', TAKES(RATE, "P", fpr), ON(DEDUP), ON(DEDUP), GROUP_MEMORY,
        "Use a growing Bloom filter, which takes less memory but loses up to P of the distinct lines, such as 0.001 "
        "or 0.1%. See 'Memory' below."},
    [OPT_DIFFERENT] = {"items", 'n', TAKES(NUMBER, "N", items), ON(DEDUP), NONE, GROUP_MEMORY,
        "Reserve memory for about N distinct lines, such as 5e6, 2.5M or 10k. With --at, N is of all machines "
        "together."},
    [OPT_NGRAM] = {"ngram", 0, TAKES(NUMBER, "N", ngram), ON(DEDUP), NONE, GROUP_MEMORY,
        "Remember runs of N words, 1 to 1,000, instead of lines, and drop a line of which most are known. See 'Texts "
        "that repeat in part' below."},
    [OPT_OVERLAP] = {"overlap", 0, TAKES(PART, "R", overlap), ON(DEDUP), NONE, GROUP_MEMORY,
        "Drop a line if at least this share of its runs of N words is known, such as 0.8 or 80%. 1 means all of them."},
    [OPT_CSV] = {"csv", 0, FLAG, READING, READING, GROUP_INPUT,
        "Read CSV records (RFC 4180), quoted fields included. The key is the whole record, or what --field names."},
    [OPT_TSV] = {"tsv", 0, FLAG, READING, NONE, GROUP_INPUT,
        "Read fields between tabs, none of them quoted. For quoted ones: --csv -t '\\t'."},
    [OPT_WHITESPACE] = {"whitespace", 0, FLAG, READING, NONE, GROUP_INPUT,
        "Split lines into words at runs of spaces and tabs, like awk."},
    [OPT_JSONL] = {"jsonl", 0, TAKES(TEXT, "PATH", jsonl), READING, READING & ~ON(VERIFY), GROUP_INPUT,
        "Read JSON lines; the key is the value at PATH: .url, .user.id, .tags[0], .\"odd name\"."},
    [OPT_HEADER] = {"header", 0, FLAG, READING, ON(CHECK) | ON(DEDUP), GROUP_INPUT,
        "Take the first line of each file as the names of columns, not as a key. check and dedup print that of the "
        "first file."},
    [OPT_FIELD] = {"field", 'F', TAKES(TEXT, "LIST", field), READING, READING, GROUP_INPUT,
        "Take this field as the key: its number from 1, or with --header its name. Several, such as 2,3, make one "
        "key. 0 takes whole lines."},
    [OPT_DELIMITER] = {"delimiter", 't', TAKES(TEXT, "C", delimiter), READING, NONE, GROUP_INPUT,
        "Split fields at the byte C, such as ';'. Default: '\\t', a tab; with --csv a comma."},
    [OPT_TRIM] = {"trim", 0, FLAG, READING, NONE, GROUP_INPUT,
        "Remove white space at both ends of a key, or of each of its fields."},
    [OPT_MISSING] = {"missing", 0, CHOICE("WHAT", "error skip empty", missing), READING, NONE, GROUP_INPUT,
        "Treat records without the field or value as an error (default), skip them, or take what they lack as empty. "
        "See 'Keys' below."},
    [OPT_KEY] = {"key", 0, CHOICE("ENCODING", "bytes hex u64 u64le int32 int64 utf16", encoding), READING,
        NONE, GROUP_INPUT,
        "Read keys as bytes (the line as it is; default), hex, u64, u64le, int32, int64 or utf16. The filter remembers "
        "it. See 'Keys' below."},
    [OPT_U64] = {"u64", 0, FLAG, READING, NONE, GROUP_INPUT, "Read keys as decimal numbers. Short for --key u64."},
    [OPT_HEX] = {"hex", 0, FLAG, READING, NONE, GROUP_INPUT, "Read keys as hexadecimal digits. Short for --key hex."},
    [OPT_IGNORE_CASE] = {"ignore-case", 'i', FLAG, READING, NONE, GROUP_INPUT,
        "Ignore the case of ASCII letters. The filter remembers it; give it only to make one."},
    [OPT_NULL] = {"null", '0', FLAG, READING, NONE, GROUP_INPUT,
        "End lines with NUL instead of newline, in input and output, so that keys may contain newlines. The filter "
        "remembers it."},
    [OPT_ELSEWHERE] = {"elsewhere", 0, FLAG, READING & ~ON(BUILD), NONE, GROUP_INPUT,
        "Find keys only where the options of this command say, not where the filter remembers them. For tables with "
        "other columns."},
    [OPT_CONFIRM_CSV] = {"confirm-csv", 0, FLAG, ON(CHECK), NONE, GROUP_CONFIRM,
        "Read the FILE of --confirm as CSV. The --confirm- options are for FILE what those without 'confirm-' are for "
        "KEYS."},
    [OPT_CONFIRM_TSV] = {"confirm-tsv", 0, FLAG, ON(CHECK), NONE, GROUP_CONFIRM, "Read it as --tsv does."},
    [OPT_CONFIRM_WHITESPACE] = {"confirm-whitespace", 0, FLAG, ON(CHECK), NONE, GROUP_CONFIRM,
        "Read it as --whitespace does."},
    [OPT_CONFIRM_JSONL] = {"confirm-jsonl", 0, TAKES(TEXT, "PATH", confirm_jsonl), ON(CHECK), NONE, GROUP_CONFIRM,
        "Read it as --jsonl does."},
    [OPT_CONFIRM_HEADER] = {"confirm-header", 0, FLAG, ON(CHECK), NONE, GROUP_CONFIRM, "Read it as --header does."},
    [OPT_CONFIRM_FIELD] = {"confirm-field", 0, TAKES(TEXT, "LIST", confirm_field), ON(CHECK), NONE, GROUP_CONFIRM,
        "Read it as --field does. 0: lines are keys, whatever the filter was made from."},
    [OPT_CONFIRM_DELIMITER] = {"confirm-delimiter", 0, TAKES(TEXT, "C", confirm_delimiter), ON(CHECK), NONE,
        GROUP_CONFIRM,
        "Read it as --delimiter does."},
    [OPT_CONFIRM_TRIM] = {"confirm-trim", 0, FLAG, ON(CHECK), NONE, GROUP_CONFIRM, "Read it as --trim does."},
    [OPT_THREADS] = {"threads", 'j', TAKES(THREADS, "N", threads), ON(BUILD) | ON(ADD) | ON(CHECK) | ON(DEDUP), NONE,
        GROUP_THREADS,
        "Work in N threads, up to 256. Default: 0 or auto, one for each processor. Only time and memory depend on it,"
        " not the results."},
    [OPT_SHARDS] = {"shards", 0, TAKES(NUMBER, "N", shards), SIZING | ON(DEDUP), NONE, GROUP_THREADS,
        "Split the filter into N shards, up to 65,536, so that threads can add to it at the same time. With --at: a "
        "power of two up to 32,768."},
    [OPT_AT] = {"at", 0, TAKES(TEXT, "URL", at), AT_SERVERS, AT_SERVERS & ~ON(DEDUP), GROUP_SERVERS,
        "Use a set on servers instead of a file: redis://HOST[:PORT]/NAME. See 'Servers' below."},
    [OPT_SHARD_BYTES] = {"shard-bytes", 0, TAKES(SIZE, "SIZE", shard_bytes), ON(BUILD) | ON(DEDUP), NONE, GROUP_SERVERS,
        "Keep each shard on a server within SIZE bytes, so that no single value keeps the server busy for long. "
        "Default 64MiB; --shards follows from it."},
    [OPT_PATIENCE] = {"patience", 0, TAKES(TIME, "TIME", patience), AT_SERVERS | COMBINING, NONE, GROUP_FILES,
        "Wait at most TIME, such as 30s or 10m, while another process changes the file, or for servers that are away. "
        "0s gives up at once. Default 1m."},
    [OPT_HASH] = {"hash", 0, CHOICE("NAME", "xxh3 siphash", hash), MAKING, NONE, GROUP_HASHING,
        "Hash keys with xxh3 (default, fastest), or with siphash, which resists attacker-chosen keys and needs "
        "--hash-key or --key-in-file."},
    [OPT_SEED] = {"seed", 0, TAKES(NUMBER, "N", seed), MAKING, NONE, GROUP_HASHING,
        "Seed xxh3 with N. Default 0; dedup takes a random seed, which a new --state keeps. Only filters with equal "
        "seeds can be merged."},
    [OPT_HASH_KEY] = {"hash-key", 0, TAKES(FILE, "FILE", hash_key), MAKING | OPENING, NONE, GROUP_HASHING,
        "Read the secret key of siphash from FILE: 16 bytes or 32 hexadecimal digits. 'head -c 16 /dev/urandom > "
        "FILE' makes one."},
    [OPT_KEY_IN_FILE] = {"key-in-file", 0, FLAG, MAKING, NONE, GROUP_HASHING,
        "Store the secret key in the filter, not only a check of it. Whoever can read the filter then has the key. "
        "Without --hash-key it is random."},
    [OPT_HASHES] = {"hashes", 0, TAKES(NUMBER, "K", hashes), SIZING, NONE, GROUP_HASHING,
        "Set K bits per key: 1 to 64 for bloom and counting; 8, 16 or 32 for blocked. For cuckoo, 4, 5, 6 or 8 "
        "places; for fuse, 3 or 4."},
    [OPT_LINES] = {"lines", 0, TAKES(NUMBER, "N", lines), SIZING, NONE, GROUP_HASHING,
        "Touch at most N cache lines per key, 1 to 64. blocked has layouts of 1 (faster) and 2 (smaller at low "
        "rates); bloom takes at most N hashes."},
    [OPT_NO_VERIFY] = {"no-verify", 0, FLAG, LOOKING, NONE, GROUP_FILES,
        "Skip the filter's checksums, so that a large one answers at once. Damage can make answers wrong, never "
        "unsafe."},
    [OPT_RECOVER] = {"recover", 0, FLAG, CHANGING | LOOKING, NONE, GROUP_FILES,
        "Open a filter that an interrupted --in-place left unfinished. Its changes so far are kept, and the number of "
        "keys is estimated."},
    [OPT_FULL] = {"full", 0, FLAG, ON(BENCH), NONE, GROUP_MEASURING,
        "Measure all kinds except the static ones, and also a working set of 1 GiB. Takes minutes."},
    [OPT_COMBINED] = {"combined", 0, FLAG, ON(BENCH), NONE, GROUP_MEASURING,
        "Measure composite filters instead: growing, sharded, with one thread and two. --items is then the largest "
        "number of keys, 100 million by default."},
    [OPT_FOREIGN] = {"foreign", 0, FLAG, ON(BENCH), NONE, GROUP_MEASURING,
        "Measure foreign formats instead, beside a plain loop with the same hash."},
    [OPT_BENCH_STATIC] = {"static", 0, FLAG, ON(BENCH), NONE, GROUP_MEASURING,
        "Measure the building of static filters instead, with one thread and two, beside a plain fuse filter. "
        "Default: 10 million keys."},
    [OPT_SMALL] = {"small", 0, FLAG, ON(BENCH), NONE, GROUP_MEASURING,
        "Measure small batches instead: queries of 1 to 64 keys at a time. Filters are of 16 MiB or of --items keys, "
        "of all kinds or of the one that -k names."},
    [OPT_ISA] = {"isa", 0, CHOICE("NAME", "scalar avx2 avx512 neon", isa), ON(BENCH), ON(BENCH), GROUP_MEASURING,
        "Measure with this instruction set: scalar (plain C), avx2, avx512 or neon. PERHAPS_ISA in the environment "
        "does so for all commands."},
    [OPT_GOALS] = {"goals", 0, FLAG, ON(BENCH), ON(BENCH), GROUP_MEASURING,
        "Also show the goals of this project, and whether they are met."},
    [OPT_COMPARE] = {"compare", 0, TAKES(FILE, "FILE", compare), ON(BENCH), ON(BENCH), GROUP_MEASURING,
        "Compare with an earlier run, which --json printed to FILE. Ratios that are more than 10 % slower are marked "
        "if the quartiles of both runs do not overlap."},
    [OPT_PLOT] = {"plot", 0, TAKES(FILE, "FILE", plot), ON(PLAN) | ON(BENCH), ON(PLAN) | ON(BENCH), GROUP_OUTPUT,
        "Draw the results to FILE, an SVG picture whose name ends in .svg. Takes gnuplot. -f replaces an earlier one."},
    [OPT_SCDOC] = {"scdoc", 0, FLAG, ON(HELP), NONE, GROUP_OUTPUT,
        "Print the source of the manual page, for scdoc(1)."},
    [OPT_NAMES] = {"names", 0, FLAG, ON(HELP), NONE, GROUP_OUTPUT,
        "Print only the names of the commands, one per line."},
    [OPT_SILENT] = {"quiet", 'q', FLAG, ON(BUILD) | CHANGING | COMBINING, ON(BUILD) | CHANGING | COMBINING,
        GROUP_OUTPUT,
        "Show neither progress nor the closing line. Both appear only on a terminal."},
    [OPT_JSON] = {"json", 0, FLAG, ALL & ~(ON(COMPLETIONS) | ON(HELP)), ALL & ~READING, GROUP_OUTPUT,
        "Print the result as JSON on standard output."},
    [OPT_HELP] = {"help", 'h', FLAG, ALL, ON(COMPLETIONS) | ON(VERSION) | ON(HELP), GROUP_OUTPUT,
        "Explain the command: -h briefly, --help in full."},
};
/* clang-format on */
