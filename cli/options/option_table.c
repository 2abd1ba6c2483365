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
    QUERYING = ON(CHECK) | ON(COUNT),
    READING = ON(DEDUP) | ON(BUILD) | CHANGING | QUERYING | ON(VERIFY),
    COMBINING = ON(MERGE) | ON(INTERSECT) | ON(SUBTRACT) | ON(DIFFER),
    WRITING = ON(BUILD) | COMBINING,
    LOOKING = QUERYING | ON(LIST) | ON(INFO),
    OPENING = CHANGING | LOOKING | COMBINING | ON(VERIFY),
    AT_SERVERS = ON(BUILD) | CHANGING | ON(CHECK) | ON(DEDUP) | ON(INFO),
    ALL = (1u << COMMANDS) - 1
};

/* clang-format off */
const struct option option_table[OPTIONS] = {
    [OPT_ITEMS] = {"items", 'n', TAKES(NUMBER, "N", items), SIZING | ON(BENCH),
        "How many different keys the filter is for: digits, optionally with a fraction, an exponent or one of k, M, G, "
        "T (thousands), such as 5000000, 5e6, 2.5M, 10k; or a power of two such as 2^20. For a bitmap: the integers "
        "below N. A static filter is made for the keys that come; for it, N serves only --bits-per-key, which is that "
        "of a million keys without it."},
    [OPT_FPR] = {"fpr", 'p', TAKES(RATE, "P", fpr), SIZING,
        "False-positive rate: the chance of 'perhaps' for a key that was never added, when all N keys are in. Such as "
        "0.01, 1e-3 or 1%. Default 0.01. table and bitmap have a far smaller one, whatever is given."},
    [OPT_BITS_PER_KEY] = {"bits-per-key", 0, TAKES(REAL, "B", bits_per_key), SIZING,
        "Memory for each of N keys, such as 12 or 9.6; the rate follows."},
    [OPT_BYTES] = {"bytes", 0, TAKES(SIZE, "SIZE", bytes), SIZING,
        "Memory in all: a number as for -n, or with KiB, MiB, GiB, TiB (1024s), such as 64MiB; the rate follows, or "
        "with -p the number of keys."},
    [OPT_PRESET] = {"preset", 0, CHOICE("NAME", "rough fair good fine", preset), SIZING,
        "A size by name, for a bloom filter: rough (4 bits a key, 14.7 % false positives), fair (8 bits, 2.2 %), good "
        "(16 bits, 1 in 2,148), fine (32 bits, 1 in 4.7 million)."},
    [OPT_KIND] = {"kind", 'k', TAKES(KIND, "KIND", kind), SIZING | ON(BENCH),
        "Only this kind of filter. 'perhaps plan -n 1M' lists them, except bitmap, which holds integers only, and files of "
        "other programs. Of these, roaring and roaring64 are no filters, but exact sets of 32-bit or 64-bit "
        "integers, and only for build."},
    [OPT_FILE_KIND] = {"kind", 'k', TAKES(FORMAT, "KIND", kind), OPENING,
        "The filter is a file of this other program. Needed only where the file itself does not tell."},
    [OPT_STATIC] = {"static", 0, FLAG, SIZING,
        "Make a static filter: all its keys are there when it is made, and no more can be added. In return it is "
        "smaller than a Bloom filter, from some thousand keys on. Its rate is P or the next smaller power of two; at "
        "1/128 it takes a fifth less. A fuse filter, unless --smallest or -k ribbon says otherwise."},
    [OPT_SMALLEST] = {"smallest", 0, FLAG, SIZING,
        "Make the smallest static filter, about 30 % smaller than a Bloom filter from some thousand keys on. It takes "
        "longer to build and to query than that of --static. Short for -k ribbon."},
    [OPT_SCRATCH] = {"scratch", 0, TAKES(SIZE, "SIZE", scratch), ON(BUILD),
        "For static filters: as much memory for keys that wait until all are read, 8 bytes each, such as 512M or 2GiB; "
        "less than 16MiB is taken as 16MiB. Those beyond it wait in a temporary file without a name, in the folder of "
        "the FILE of -o, or the current one. Default: a quarter of the machine's memory."},
    [OPT_NEEDS] = {"needs", 0, TAKES(NEEDS, "LIST", needs), SIZING,
        "What the filter must be able to do, separated by commas: add, remove, count, merge, intersect, grow (make "
        "room for more keys), list, in-place (be changed in its file). Of the kinds that can, the best is taken. "
        "subtract is there too, but only a bitmap can, which is made only with -k bitmap."},
    [OPT_GROW] = {"grow", 0, FLAG, SIZING,
        "Grow in layers, for sets of unknown size: -n is then a first guess, and the rate holds however many keys "
        "come. A table or bitmap grows by itself. Default for keys from a pipe without -n."},
    [OPT_GROWTH] = {"growth", 0, TAKES(REAL, "R", growth), SIZING,
        "With each layer there is room for R times as many keys as before, 1.5 to 16. Default: 4 and 8 while they are "
        "few, then 2. Implies --grow."},
    [OPT_MAX_BYTES] = {"max-bytes", 0, TAKES(SIZE, "SIZE", max_bytes), SIZING,
        "Grow to at most this many bytes, written as for --bytes; keys that do not fit then are refused. Implies "
        "--grow."},
    [OPT_NO_GROW] = {"no-grow", 0, FLAG, ON(BUILD),
        "Never grow: table and bitmap then refuse more than -n, and cuckoo more copies of a key than there is room "
        "for. Other kinds never grow without --grow."},
    [OPT_WINDOW] = {"window", 0, TAKES(WINDOW, "N|TIME", window), SIZING,
        "Remember only the last N keys, a number as for -n; or only the keys of a time such as 30s, 10m, 12h, 7d or "
        "1h30m, in which at most -n come, evenly or in bursts (note that 10M is a number and 10m a time). Older ones "
        "are forgotten, after a third more keys or time at most. Over bloom, blocked and table."},
    [OPT_GENERATIONS] = {"generations", 0, TAKES(NUMBER, "G", generations), SIZING,
        "Forget the keys of a window in G steps, 2 to 64: more forget on time, fewer are faster. Default 4; 1 with "
        "--clear-at alone."},
    [OPT_CLEAR_AT] = {"clear-at", 0, TAKES(SHARE, "SHARE", clear_at), SIZING,
        "Forget the oldest generation when the newest is filled to this share, such as 0.8 or 80%; without --window "
        "that is everything."},
    [OPT_SHARDS] = {"shards", 0, TAKES(NUMBER, "N", shards), SIZING | ON(DEDUP),
        "Make it of N filters, up to 65,536, each for its share of the keys: so that threads of a program can add to a "
        "cuckoo filter, a table or growing layers, and that a table grows in small steps. With --at a power of two up "
        "to 32,768, so that a cluster can spread them."},
    [OPT_HASHES] = {"hashes", 0, TAKES(NUMBER, "K", hashes), SIZING,
        "Bits set per key, if it matters: 1 to 64 for bloom and counting, 8, 16 or 32 for blocked; for cuckoo the "
        "places a key can be in, 4, 5, 6 or 8; for fuse those that it looks at, 3 (faster) or 4 (smaller). Default: "
        "the best for the size."},
    [OPT_LINES] = {"lines", 0, TAKES(NUMBER, "N", lines), SIZING,
        "Touch at most N cache lines per key, 1 to 64. blocked has layouts of 1 (faster) and 2 (smaller at small "
        "rates); for bloom it means at most N hashes. Default: what suits the rate."},
    [OPT_HASH] = {"hash", 0, CHOICE("NAME", "xxh3 siphash", hash), MAKING,
        "How keys are hashed: xxh3 (the default; fastest), or siphash with a secret key, for keys that others "
        "choose. siphash needs --hash-key, or --key-in-file to make up a random key and keep it in the file."},
    [OPT_SEED] = {"seed", 0, TAKES(NUMBER, "N", seed), MAKING,
        "Seed of xxh3. Default 0; of dedup a random one, which a new --state keeps. Only filters with equal seeds can "
        "be merged."},
    [OPT_HASH_KEY] = {"hash-key", 0, TAKES(FILE, "FILE", hash_key), MAKING | OPENING,
        "The secret key of siphash: a file of 16 bytes or 32 hexadecimal digits, made for instance by 'head -c 16 "
        "/dev/urandom > FILE'. To make a filter it implies --hash siphash."},
    [OPT_KEY_IN_FILE] = {"key-in-file", 0, FLAG, MAKING,
        "Write the key of siphash into the filter's file, so that nobody has to give it, and everyone who can read the "
        "file can read it. Otherwise the file holds only a check of it."},
    [OPT_AT] = {"at", 0, TAKES(TEXT, "URL", at), AT_SERVERS,
        "Not a file, but a set on servers: redis://[user:password@]HOST[:PORT]/NAME, port 6379 if none is given. The "
        "servers (Redis 7 or Valkey, alone or as a cluster) have the module perhaps.so; redis+bits:// builds in plain "
        "strings, for those that may not have it. A password may also stand in the environment as REDISCLI_AUTH. "
        "Numbers (--key u64) are sent as decimal text, all other keys as their bytes."},
    [OPT_SHARD_BYTES] = {"shard-bytes", 0, TAKES(SIZE, "SIZE", shard_bytes), ON(BUILD) | ON(DEDUP),
        "With --at: no shard larger than this, written as for --bytes. Default 64MiB, so that no single value keeps a "
        "server busy for long; --shards then is what that takes."},
    [OPT_PATIENCE] = {"patience", 0, TAKES(TIME, "TIME", patience), AT_SERVERS | COMBINING,
        "Wait at most this long, such as 30s or 10m, for another process that is changing the same file; 0s gives up "
        "at once. With --at: for servers that went away or are busy; one that is silent for a quarter of it, but at "
        "least 15 seconds, is tried again. Default 1m."},
    [OPT_OUTPUT] = {"output", 'o', TAKES(FILE, "FILE", output), WRITING,
        "Write the filter to FILE; '-' is standard output, which must not be a terminal."},
    [OPT_FORCE] = {"force", 'f', FLAG, WRITING | ON(DEDUP) | ON(PLAN) | ON(BENCH),
        "Replace the output file (-o, --plot) if it exists; for build also the set of --at."},
    [OPT_FOLD] = {"fold", 0, TAKES(SIZE, "SIZE", bytes), ON(MERGE),
        "Halve the union until it has at most SIZE bytes, written as for --bytes, as if the filters had been made of "
        "that size: smaller, with a higher rate. For parquet; then A alone will do, too."},
    [OPT_INVERT] = {"invert", 'v', FLAG, ON(CHECK), "Take the keys that are definitely absent instead."},
    [OPT_COUNT] = {"count", 'c', FLAG, ON(CHECK), "Print only how many keys there are."},
    [OPT_QUIET] = {"quiet", 'q', FLAG, ON(CHECK),
        "Print nothing and stop at the first key found; the exit status tells."},
    [OPT_CONFIRM] = {"confirm", 0, TAKES(FILE, "FILE", confirm), ON(CHECK),
        "Look again, for an exact answer: what the filter takes for present counts only if it is a key in FILE, which "
        "is the file that the filter was made from. Keys in FILE stand where the filter remembers them (if it was "
        "made from lines, each line is a key), or where --confirm-csv and the options after it say. FILE is read "
        "once, after KEYS; '-' is standard input. Takes memory for the hits only, which are printed when all is "
        "read. With -v, lines that only the second look found absent come last."},
    [OPT_LINES_TO] = {"output", 'o', TAKES(FILE, "FILE", output), ON(DEDUP),
        "Write the lines to FILE, not to standard output; never compressed, whatever its name."},
    [OPT_LOSS] = {"fpr", 'p', TAKES(RATE, "P", fpr), ON(DEDUP),
        "Remember lines in a Bloom filter that grows, which takes less memory, at 1e-3 2 bytes a line of plain files "
        "or with -n, and 5 of a pipe: up to P of the new lines are then taken for repeats, and lost. Such as 0.001, "
        "1e-4 or 0.1%. With --at, of a set that is not there yet; default 1e-6."},
    [OPT_DIFFERENT] = {"items", 'n', TAKES(NUMBER, "N", items), ON(DEDUP),
        "About how many different lines will come, if it is known: memory is then taken at once. A number such as 5e6, "
        "2.5M or 10k. Without it, --fpr guesses from the size of plain files. With --at, of all machines together; "
        "redis+bits:// needs it."},
    [OPT_REPEATS] = {"repeats", 'd', FLAG, ON(DEDUP),
        "Print the lines that were there before instead, each time that they come again."},
    [OPT_SUMMARY] = {"summary", 'c', FLAG, ON(DEDUP),
        "At the end, say on standard error how many lines there were, how many of them unique and duplicates, the "
        "memory and the time it took, and the chance that a line was lost."},
    [OPT_EXACT] = {"exact", 0, FLAG, ON(DEDUP),
        "Compare the lines themselves, not only their digests: no line is lost, ever. Takes up to 20 bytes of memory "
        "for each different line; lines from pipes are kept in a temporary file in $TMPDIR. Files are mapped: what the "
        "system counts as its memory includes pages of them, which it can take back at any time."},
    [OPT_NGRAM] = {"ngram", 0, TAKES(NUMBER, "N", ngram), ON(DEDUP),
        "For texts that repeat only in part: take no line for a repeat as a whole, but remember the runs of N words in "
        "it, and drop it if enough of them were in lines that it kept before. 1 to 1,000; default 13 with "
        "--overlap. Words stand between white space of ASCII; a line of fewer words is one run. Of --field or --jsonl, "
        "it is the words there. A state remembers N."},
    [OPT_OVERLAP] = {"overlap", 0, TAKES(PART, "R", overlap), ON(DEDUP),
        "Drop a line if at least this share of its runs of N words was there before, such as 0.8 or 80%; 1 if all "
        "were. A run that a line has twice counts twice. Default 0.8 with --ngram."},
    [OPT_LAST] = {"last", 0, TAKES(WINDOW, "N|TIME", last), ON(DEDUP),
        "Remember only the last N lines, or those of a time such as 30s, 10m or 12h (note that 10M is a number and 10m "
        "a time). A line that comes again within it is a repeat, and begins anew; one that comes again after a third "
        "more different lines or time is printed again. Thirds of a time are rounded up to seconds: after 4s for 1s, "
        "after 16s for 10s."},
    [OPT_STATE] = {"state", 0, TAKES(FILE, "FILE", state), ON(DEDUP),
        "Remember the lines of all runs that name this FILE, which is made if there is none, as --fpr, --last, -n, "
        "--hash and the options of keys say. It is a filter like any other, and any set that 'perhaps build' makes "
        "will do: 'perhaps info' and 'perhaps check' take it. One of a fixed size, with -n, loses ever more lines once "
        "it is full. Options need not be given again; those that contradict it are refused."},
    [OPT_SAVE_EVERY] = {"save-every", 0, TAKES(TIME, "TIME", save_every), ON(DEDUP),
        "Make sure of new lines so often, such as 10s or 5m, by writing their digests to the state's journal, 8 bytes "
        "each, so that a save costs what has changed; 0s for only at the end. Default 1m."},
    [OPT_FROM] = {"from", 0, TAKES(NUMBER, "N", from), ON(LIST),
        "Begin with the first integer that is not below N. For bitmaps and Roaring bitmaps."},
    [OPT_LIMIT] = {"limit", 0, TAKES(NUMBER, "N", limit), ON(LIST), "Print at most N lines."},
    [OPT_KEYS] = {"keys", 0, TAKES(FILE, "FILE", keys), ON(VERIFY),
        "Every key in FILE must be found; '-' is standard input."},
    [OPT_IN_PLACE] = {"in-place", 0, FLAG, CHANGING, "Change the file itself rather than a copy that replaces it."},
    [OPT_KEY] = {"key", 0, CHOICE("ENCODING", "bytes hex u64 u64le int32 int64 utf16", encoding), READING,
        "How keys are written: bytes (the line as it is; the default), hex (the bytes that it spells), u64 (a decimal "
        "number), u64le (no lines: raw records of 8 bytes, little-endian; same keys as u64), int32 and int64 (a "
        "decimal number, to be hashed as 4 or 8 little-endian bytes), utf16 (UTF-8, to be hashed as UTF-16LE). The "
        "filter remembers it; give it only to make one. A bitmap takes u64 (its default), u64le, int32 and int64, and "
        "nothing below 0."},
    [OPT_U64] = {"u64", 0, FLAG, READING, "Short for --key u64."},
    [OPT_HEX] = {"hex", 0, FLAG, READING, "Short for --key hex."},
    [OPT_IGNORE_CASE] = {"ignore-case", 'i', FLAG, READING,
        "Take upper and lower case letters of ASCII for the same. The filter remembers it; give it only to make one."},
    [OPT_NULL] = {"null", '0', FLAG, READING,
        "Lines end with NUL instead of newline, in input and output, so that keys may contain newlines. The filter "
        "remembers it."},
    [OPT_CSV] = {"csv", 0, FLAG, READING,
        "Records are those of a table in CSV (RFC 4180): fields may stand in quotes, with commas, line ends and doubled "
        "quotes in them; lines end in LF or CRLF, and blank ones are no records. Without --field the whole record is "
        "the key. Records are printed as they are. The filter remembers this, and all that follows up to --trim."},
    [OPT_TSV] = {"tsv", 0, FLAG, READING,
        "The same with tabs between the fields, of which none is quoted. (For quoted ones: --csv -t '\\t'.)"},
    [OPT_WHITESPACE] = {"whitespace", 0, FLAG, READING,
        "Fields are words between runs of spaces and tabs, as awk has them."},
    [OPT_JSONL] = {"jsonl", 0, TAKES(TEXT, "PATH", jsonl), READING,
        "Each line is a JSON text, and its key the value at PATH: .url, .user.id, .tags[0], .\"odd name\". Of strings "
        "it is the text, without quotes and escapes; all else is taken as written, so that \"1\" and 1 are the same key. "
        "null is a missing value."},
    [OPT_HEADER] = {"header", 0, FLAG, READING,
        "The first line of each file names the columns and is no key. check and dedup print that of the first file."},
    [OPT_FIELD] = {"field", 'F', TAKES(TEXT, "LIST", field), READING,
        "The key is this field of the record: its number from 1, or with --header its name. Several, such as 2,3 or "
        "name,city, make one key; a name with a comma stands in double quotes. Without --csv or its like, each tab "
        "separates fields. 0 takes lines whole, whatever the filter was made with."},
    [OPT_DELIMITER] = {"delimiter", 't', TAKES(TEXT, "C", delimiter), READING,
        "The byte between fields, such as ';'. Default '\\t', a tab; of --csv a comma."},
    [OPT_TRIM] = {"trim", 0, FLAG, READING,
        "White space at both ends of a key, or of each field of it, is no part of it."},
    [OPT_MISSING] = {"missing", 0, CHOICE("WHAT", "error skip empty", missing), READING,
        "A record that lacks the field or value: error (the default) ends the command, skip passes over it, empty "
        "takes what it lacks as empty. skip and empty say on standard error how many there were. skip also passes over "
        "lines that are no JSON, records with a NUL byte and lines with a quote that is never closed, and counts them "
        "apart."},
    [OPT_ELSEWHERE] = {"elsewhere", 0, FLAG, READING & ~ON(BUILD),
        "Keys stand elsewhere than in the records that the filter was made from: only the options of this command say "
        "where. For tables with other columns."},
    [OPT_CONFIRM_CSV] = {"confirm-csv", 0, FLAG, ON(CHECK),
        "The FILE of --confirm is such a table; this and the next options are for it what those without 'confirm-' are "
        "for KEYS. With none of them, keys in FILE stand where those did that the filter was made from: a line is a key "
        "if it was made from lines."},
    [OPT_CONFIRM_TSV] = {"confirm-tsv", 0, FLAG, ON(CHECK), "See --confirm-csv and --tsv."},
    [OPT_CONFIRM_WHITESPACE] = {"confirm-whitespace", 0, FLAG, ON(CHECK), "See --confirm-csv and --whitespace."},
    [OPT_CONFIRM_JSONL] = {"confirm-jsonl", 0, TAKES(TEXT, "PATH", confirm_jsonl), ON(CHECK),
        "See --confirm-csv and --jsonl."},
    [OPT_CONFIRM_HEADER] = {"confirm-header", 0, FLAG, ON(CHECK), "See --confirm-csv and --header."},
    [OPT_CONFIRM_FIELD] = {"confirm-field", 0, TAKES(TEXT, "LIST", confirm_field), ON(CHECK),
        "See --confirm-csv and --field. 0: lines are keys, whatever the filter was made from."},
    [OPT_CONFIRM_DELIMITER] = {"confirm-delimiter", 0, TAKES(TEXT, "C", confirm_delimiter), ON(CHECK),
        "See --confirm-csv and --delimiter."},
    [OPT_CONFIRM_TRIM] = {"confirm-trim", 0, FLAG, ON(CHECK), "See --confirm-csv and --trim."},
    [OPT_THREADS] = {"threads", 'j', TAKES(THREADS, "N", threads), ON(BUILD) | ON(ADD) | ON(CHECK) | ON(DEDUP),
        "Work in N threads, up to 256; 0 or auto is one for each processor, which is the default. The number changes "
        "nothing but time and memory (memory_bytes of --json): not a byte of what is written, nor what else is said. "
        "Reading, hashing, queries and the sealing of static filters are spread; keys are added, and dedup looks lines "
        "up, in the order of the input."},
    [OPT_NO_VERIFY] = {"no-verify", 0, FLAG, LOOKING,
        "Do not compare the filter with its checksums first: a large one then answers at once. Damage can make answers "
        "wrong, never unsafe."},
    [OPT_RECOVER] = {"recover", 0, FLAG, CHANGING | LOOKING,
        "Take a filter that was left unfinished by 'add --in-place' or 'remove --in-place': what was changed in it is "
        "changed, and the number of keys is estimated."},
    [OPT_FULL] = {"full", 0, FLAG, ON(BENCH),
        "All kinds except the static ones, and also a working set of 1 GiB; takes minutes."},
    [OPT_COMBINED] = {"combined", 0, FLAG, ON(BENCH),
        "Measure composite filters and threads instead: growing, sharded, with one thread and two. --items is then "
        "the largest number of keys, 100 million by default."},
    [OPT_FOREIGN] = {"foreign", 0, FLAG, ON(BENCH),
        "Measure filters of other programs instead, beside a plain loop with the same hash."},
    [OPT_BENCH_STATIC] = {"static", 0, FLAG, ON(BENCH),
        "Measure the building of static filters instead, fuse and ribbon, with one thread and with two, beside a plain "
        "fuse filter; and their sizes and false-positive rates. With --items with this many keys, else 10 million. -k "
        "fuse without --static measures queries."},
    [OPT_SMALL] = {"small", 0, FLAG, ON(BENCH),
        "Measure small batches instead: queries of 1 to 64 keys at a time, of all kinds or of the one that -k names, in "
        "filters of 16 MiB or of --items keys."},
    [OPT_ISA] = {"isa", 0, CHOICE("NAME", "scalar avx2 avx512 neon", isa), ON(BENCH),
        "Measure with this instruction set, as the environment variable PERHAPS_ISA does for all commands: scalar (plain "
        "C), avx2, avx512 or neon. Default: the best that this machine has."},
    [OPT_GOALS] = {"goals", 0, FLAG, ON(BENCH),
        "Also show the figures that this project has set itself a goal for, and whether they are met."},
    [OPT_COMPARE] = {"compare", 0, TAKES(FILE, "FILE", compare), ON(BENCH),
        "Also show the ratios of an earlier run, which --json printed into FILE, beside those of this one, and mark "
        "those that are slower by more than 10 % if the quartiles of both do not overlap."},
    [OPT_PLOT] = {"plot", 0, TAKES(FILE, "FILE", plot), ON(PLAN) | ON(BENCH),
        "Also draw the results into FILE, a picture in SVG whose name ends in .svg, with gnuplot. Give -f to replace "
        "an earlier one."},
    [OPT_SCDOC] = {"scdoc", 0, FLAG, ON(HELP), "Print the source of the manual page, for scdoc(1)."},
    [OPT_NAMES] = {"names", 0, FLAG, ON(HELP), "Print only the names of the commands, one a line."},
    [OPT_JSON] = {"json", 0, FLAG, ALL & ~(ON(COMPLETIONS) | ON(HELP)), "Print the result as JSON on standard output."},
    [OPT_HELP] = {"help", 'h', FLAG, ALL, "Explain the command."},
};
/* clang-format on */
