/* The two tables that the whole command line is made from. */
#include "commands.h"

#include <limits.h>

const struct command commands[COMMANDS] = {
    [CMD_PLAN] =
        {"plan", "-n N -p P [OPTION...]", "show what every kind of filter would cost",
         "Shows for every kind of filter how much memory it takes for N keys at a false-positive rate of P, marks the "
         "one that 'perhaps build' would make, and sets the limit beside it that no filter can beat. Nothing is "
         "made.\n\n"
         "Fix two of three: how many keys (-n), how many mistakes (-p), how much memory (--bits-per-key, --bytes or "
         "--preset). The third follows. With only -n the rate is 0.01.\n\n"
         "With --plot it also draws bits per key against the false-positive rate, from 0.1 to 1e-6 and that of -p, for "
         "every kind with the limit below; without -n for a million keys.",
         NULL,
         "perhaps plan -n 5e6 -p 0.01\n"
         "perhaps plan --bytes 64MiB -p 1e-4\n"
         "perhaps plan -n 1M --bits-per-key 12 --json\n"
         "perhaps plan -n 1M --plot bits.svg",
         0, 0, cmd_plan, "Print the table as JSON, with kinds[] for its rows."},
    [CMD_BUILD] =
        {"build", "-o FILE|--at URL [OPTION...] [KEYS...]", "make a filter from lines",
         "Reads keys, one a line, from the files KEYS (standard input if there are none; '-' is standard input) and "
         "writes a filter that contains them all to FILE. The file appears complete or not at all.\n\n"
         "Without -n the keys are counted first if all inputs are plain files. From a pipe, whose end nobody knows, "
         "they go into a growing filter, as if --grow were given, that has the false-positive rate whatever comes; "
         "with -j it is in 16 shards. A filter that gets more than N keys and may not grow still finds them all, but "
         "makes more mistakes, and a warning says so. The false-positive rate is 0.01 unless -p or a size is given.\n\n"
         "With --window the filter remembers the last N keys, or those of the last hours or days, and forgets older "
         "ones. What time it is comes from the machine's clock.\n\n"
         "Some kinds are different. cuckoo and counting, which can forget keys, keep a copy for every line, so that "
         "every "
         "line has its remove; and a cuckoo filter that is full refuses more: the message then names the -n to give, "
         "and no file is made. table and bitmap grow with their keys and make no mistakes to speak of, "
         "so that -n is optional and -p means nothing to them. A bitmap holds integers: its keys are decimal numbers "
         "(--key u64) "
         "unless --key says in which other way they are written, and its -n is one more than the largest.\n\n"
         "Every line is a key, the empty line included. A carriage return before the line end is part of the key. The "
         "last "
         "line may lack its line end.\n\n"
         "With --at the keys go to servers, into filters at the keys NAME:0, NAME:1, ..., and the hash NAME says what "
         "they "
         "are. The kinds are bloom (the default) and cuckoo; both grow if more keys come than -n. If it is broken off, "
         "what was added is there: 'perhaps add --at' goes on with it.",
         NULL,
         "perhaps build -n 5e6 -p 0.01 -o phones.ph phones.txt\n"
         "perhaps build -p 1e-4 -o urls.ph urls.gz\n"
         "perhaps build -j auto -o phones.ph phones.txt\n"
         "perhaps build --window 10m -n 1M -o requests.ph /dev/null\n"
         "perhaps build --field 2 --delimiter , -o names.ph people.csv\n"
         "perhaps build --needs remove -o logins.ph logins.txt\n"
         "perhaps build -k bitmap -o days.ph days.txt\n"
         "perhaps build -k roaring -o days.roaring days.txt\n"
         "perhaps build --at redis://localhost/phones -n 1e9 -p 0.001 phones.txt\n"
         "perhaps build --at redis+bits://localhost/names -p 0.01 names.txt",
         0, UINT_MAX, cmd_build, "Print what 'perhaps info --json' would say about the new filter."},
    [CMD_ADD] = {"add", "FILTER|--at URL [OPTION...] [KEYS...]", "add lines to a filter",
                 "Adds the keys in the files KEYS (standard input if there are none) to FILTER. The new filter "
                 "replaces the old file "
                 "in one step when all keys are in; until then, and if anything fails, the old one stays. A cuckoo or "
                 "counting "
                 "filter gets another copy of a key that it has already; all others have a key once.\n\n"
                 "With --in-place the file itself is changed, without a copy in memory. If that is broken off by force "
                 "or by a crash, "
                 "the file is marked as unfinished: everything added before is in it, and --recover goes on with it. "
                 "Ctrl-C is no such "
                 "case: it finishes the file first. cuckoo filters and tables cannot be changed in place, and a bitmap "
                 "cannot grow there.\n\n"
                 "A window by time first forgets what is too old, by the machine's clock.\n\n"
                 "With --at there is no FILTER: keys go to a set on servers, and those that were sent stay there "
                 "whatever happens then.",
                 NULL,
                 "perhaps add phones.ph new.txt\n"
                 "tail -n 1000 log | perhaps add seen.ph --in-place\n"
                 "perhaps add --at redis://localhost/phones new.txt",
                 1, UINT_MAX, cmd_add,
                 "Print as JSON how many keys were read, how many were new, and what the filter holds now."},
    [CMD_REMOVE] =
        {"remove", "FILTER|--at URL [OPTION...] [KEYS...]", "take lines out of a filter that can forget",
         "Takes the keys in the files KEYS (standard input if there are none) out of FILTER, one copy for each line, "
         "and "
         "says how "
         "many were not found, if any were not. As with add, the new filter replaces the old file in one step, or the "
         "file itself is "
         "changed with --in-place. Kinds that can: counting, cuckoo, table and bitmap; 'perhaps build --needs remove' "
         "makes one.\n\n"
         "Remove only what was added. A key that was never added, but for which a counting or cuckoo filter says "
         "'perhaps', takes away "
         "the copy of another key that looks the same, and that other key is then not found any more: these filters "
         "cannot tell the two "
         "apart, and no message can warn of it. table and bitmap can: take one of them (-k table) where removes come "
         "from strangers.\n\n"
         "With --at there is no FILTER: keys are taken out of a set on servers, which can if it is of cuckoo filters. "
         "If "
         "the connection breaks, it stops, since to take a key out twice may lose another.",
         NULL,
         "perhaps remove logins.ph expired.txt\n"
         "perhaps remove days.ph --in-place gone.txt",
         1, UINT_MAX, cmd_remove,
         "Print as JSON how many keys were read, taken out and not found, and what the filter holds now."},
    [CMD_CHECK] =
        {"check", "FILTER|--at URL [OPTION...] [KEYS...]", "print the keys that are perhaps in a filter, like grep",
         "Reads keys from the files KEYS (standard input if there are none) and prints those that FILTER perhaps "
         "contains, in "
         "order; with -v those that it definitely does not contain. With --field the whole line is printed.\n\n"
         "The filter is mapped, not read into memory, but for a window by time, of which a copy forgets what is too "
         "old "
         "by now. All of it is verified first unless --no-verify is given.\n\n"
         "What is printed is the intersection of KEYS with the filter's keys, and some more by mistake; with -v the "
         "difference, from which "
         "as many are missing. With --confirm both are exact.\n\n"
         "With --at there is no FILTER: servers are asked.",
         "0 if a key was printed (or would have been, with -c and -q), 1 if none, 2 after an error.",
         "# the intersection: lines of wanted.txt that are in phones.txt, too, perhaps\n"
         "perhaps check phones.ph wanted.txt\n"
         "# the difference: lines of other.txt that are certainly not\n"
         "perhaps check -v phones.ph other.txt\n"
         "# and both exactly\n"
         "perhaps check --confirm phones.txt phones.ph wanted.txt\n"
         "perhaps check --confirm phones.txt -v phones.ph other.txt\n"
         "perhaps check -v seen.ph < urls.txt > new-urls.txt\n"
         "echo 13800138000 | perhaps check -q phones.ph && echo perhaps\n"
         "perhaps check --at redis://localhost/phones wanted.txt",
         1, UINT_MAX, cmd_check,
         "Print as JSON how many keys were checked, present and absent, in place of the keys; with --confirm also how "
         "many were "
         "false positives."},
    [CMD_COUNT] =
        {"count", "FILTER [OPTION...] [KEYS...]", "print how often each key is in a filter that counts",
         "Reads keys from the files KEYS (standard input if there are none) and prints for each, in order, how many "
         "copies of it are in "
         "FILTER, a tab, and the line. Kinds that can: counting and cuckoo; 'perhaps build --needs count' makes "
         "one.\n\n"
         "A count is never too small, and too large only if another key looks the same. counting counts to 15, which "
         "then means 15 "
         "or more.",
         "0 if a key was there, 1 if none, 2 after an error.",
         "perhaps count logins.ph names.txt\n"
         "perhaps count logins.ph names.txt | sort -rn | head -n 3",
         1, UINT_MAX, cmd_count,
         "Print as JSON how many keys were checked, present and absent, and how many copies they have, in place of the "
         "keys."},
    [CMD_DEDUP] =
        {"dedup", "[OPTION...] [FILE...]", "print each line once, in order, without sorting",
         "Reads lines from the files (standard input if there are none) and prints each the first time that it comes, "
         "in the order of the input and at once, also of a 'tail -f'. Each line of output ends with a line end, also "
         "if the last one of the input has none.\n\n"
         "What it remembers of a line is a digest of 64 bits, 11 bytes of memory or so, beside up to 80 MiB to read "
         "short lines with: that two lines of n share one, and the second is lost, has a chance of n²/2^65, 1 in "
         "400,000 for ten "
         "million lines. --exact compares the lines themselves; --fpr takes less memory and loses more lines. -c tells "
         "what was done.\n\n"
         "With --state it goes on where the last run ended. The state is saved at the end, also if SIGTERM, SIGINT or "
         "SIGHUP ends it, and if the output cannot be written any more: then it has only lines that were printed. In "
         "between, what is new goes into a journal beside it, FILE.journal: after a kill the next run takes "
         "that in, and prints again only lines that came after the last save. (If the power fails, it may know lines "
         "that a file of output has lost.) One process at a time may have a state. "
         "While there is a journal, other commands do not change the file, and do not see what is in the journal; "
         "'perhaps dedup --state FILE < /dev/null' takes in what a killed run left.\n\n"
         "With --at what it remembers is a set on servers, which any number of machines share: each line is printed by "
         "the one that comes with it first. If there is no such set it is made, in shards that grow, for -n lines if "
         "that is given and with --fpr 1e-6 unless it says otherwise; one that exists stays as it is, whatever -n and "
         "--fpr say. No line is lost when a connection breaks: one that the server may or may not know by then is "
         "printed, and a warning says how many such there were. But servers know what was sent to them even if it "
         "could not be printed then, because the program was killed or the disk is full: a round of lines, 65,536 or "
         "so.",
         NULL,
         "perhaps dedup urls.txt > distinct.txt\n"
         "perhaps dedup --state visited.ph urls.txt > new-urls.txt\n"
         "tail -n 1000 log | perhaps dedup > distinct.txt\n"
         "perhaps dedup --field 2 --delimiter , people.csv\n"
         "perhaps dedup -d urls.txt | perhaps dedup > repeated.txt\n"
         "perhaps dedup --fpr 1e-4 --json urls.txt\n"
         "perhaps dedup --at redis://localhost/urls -o fresh.txt urls.txt",
         0, UINT_MAX, cmd_dedup,
         "Print as JSON how many lines there were, how many were unique and how many duplicates, in place of the "
         "lines, unless -o says where these go."},
    [CMD_LIST] = {"list", "FILTER [OPTION...]", "print what is in a filter that can tell",
                  "Prints the integers in a bitmap or Roaring bitmap, in decimal and in rising order, or the digests "
                  "in a table, as 16 "
                  "hexadecimal digits and "
                  "in no order; one a line. Other kinds cannot tell what is in them, and a table has the digests of "
                  "keys, not the keys.",
                  NULL,
                  "perhaps list days.ph\n"
                  "perhaps list days.ph --from 1000 --limit 1",
                  1, 1, cmd_list, "Print one JSON object, with members[] for the lines."},
    [CMD_INFO] =
        {"info", "FILTER|--at URL [OPTION...]", "describe a filter",
         "Shows what FILTER is, how full it is, the false-positive rate it was planned for and the one it has now. Of "
         "a "
         "filter of filters (growing, window, sharded) it also shows each layer, generation or shard; of more than 40, "
         "the fullest and the emptiest.\n\n"
         "With --at there is no FILTER: it shows a set on servers, and how much of it each server has.",
         NULL,
         "perhaps info phones.ph\n"
         "perhaps info --json phones.ph | jq .fpr_now\n"
         "perhaps info --at redis://localhost/phones",
         1, 1, cmd_info,
         "Print all of it as JSON, with children[] for the layers, generations or shards of a filter of filters."},
    [CMD_MERGE] = {"merge", "A B... -o FILE [OPTION...]", "make the union of filters",
                   "Writes to FILE the filter that would have come from adding the keys of all the given filters. They "
                   "must have been "
                   "made alike: same kind, -n, -p or size, hash and seed. Tables and bitmaps may differ in size. Of "
                   "counting and "
                   "cuckoo filters it is the sum: every copy in each of them.",
                   NULL,
                   "perhaps merge monday.ph tuesday.ph wednesday.ph -o week.ph\n"
                   "perhaps merge names.parquet --fold 64KiB -o fewer.parquet",
                   2, UINT_MAX, cmd_merge, "Print what 'perhaps info --json' would say about the new filter."},
    [CMD_INTERSECT] = {"intersect", "A B... -o FILE [OPTION...]", "make the intersection of filters",
                       "Writes to FILE a filter of what all the given filters perhaps contain. Every key that is in "
                       "all of them is kept; "
                       "it makes more mistakes than a filter made from the common keys alone. The filters must have "
                       "been made alike: same "
                       "kind, -n, -p or size, hash and seed. Of bitmaps it is exact, and they may differ in size.",
                       NULL, "perhaps intersect customers.ph visitors.ph -o both.ph", 2, UINT_MAX, cmd_intersect,
                       "Print what 'perhaps info --json' would say about the new filter."},
    [CMD_SUBTRACT] = {"subtract", "A B... -o FILE [OPTION...]", "make the difference of bitmaps",
                      "Writes to FILE what is in A and in none of the others. Only bitmaps and Roaring bitmaps can do "
                      "that; they may "
                      "differ in size.",
                      NULL, "perhaps subtract today.ph yesterday.ph -o new.ph", 2, UINT_MAX, cmd_subtract,
                      "Print what 'perhaps info --json' would say about the new filter."},
    [CMD_DIFFER] = {"differ", "A B... -o FILE [OPTION...]", "make the symmetric difference of bitmaps",
                    "Writes to FILE what is in one of two bitmaps but not in both; of more than two, what is in an odd "
                    "number of them. "
                    "Only bitmaps and Roaring bitmaps can do that; they may differ in size.",
                    NULL, "perhaps differ today.ph yesterday.ph -o changed.ph", 2, UINT_MAX, cmd_differ,
                    "Print what 'perhaps info --json' would say about the new filter."},
    [CMD_VERIFY] = {"verify", "FILTER [--keys FILE] [OPTION...]",
                    "check a filter file for damage, and a filter against its keys",
                    "Compares every byte of FILTER with its checksums and says how much was checked. Files of other "
                    "programs have none; of these only the header is looked at.\n\n"
                    "With --keys, every key in FILE must also be found; if some are not, it says how many and where "
                    "the first one is. Then a "
                    "million random keys that were never added measure the false-positive rate, shown beside the "
                    "planned one and the one "
                    "that follows from the bits.",
                    NULL,
                    "perhaps verify phones.ph\n"
                    "perhaps verify phones.ph --keys phones.txt",
                    1, 1, cmd_verify,
                    "Print as JSON how much was checked, and with --keys what was found and measured."},
    [CMD_BENCH] = {"bench", "[OPTION...]", "measure the kinds of filter beside the limit of this machine",
                   "Measures adding and asking, one key at a time and in batches, for working sets from the "
                   "second-level cache to main "
                   "memory, beside the time that this machine needs for the memory accesses alone.",
                   NULL,
                   "perhaps bench\n"
                   "perhaps bench --kind blocked --items 1M --json",
                   0, 0, cmd_bench, "Print the measurements as JSON, with results[] for the lines."},
    [CMD_COMPLETIONS] = {"completions", "bash|zsh|fish", "print completions for a shell",
                         "Prints a script that teaches the shell to complete the commands and options of perhaps. "
                         "Installed packages have "
                         "them in place already.",
                         NULL, "source <(perhaps completions bash)", 1, 1, cmd_completions, NULL},
    [CMD_VERSION] = {"version", "[OPTION...]", "print the version",
                     "Prints the version of the program and the library in it.", NULL, "perhaps version", 0, 0,
                     cmd_version, "Print the version as JSON."},
    [CMD_HELP] = {"help", "[COMMAND] [OPTION...]", "explain a command",
                  "Explains COMMAND and its options; without it, lists the commands.", NULL, "perhaps help build", 0, 1,
                  cmd_help, NULL},
};

const char about_keys[] = "Files of keys whose names end in .gz, .zst, .xz, .bz2 or .lz4 are decompressed while they "
                          "are read, by gzip, zstd, xz, "
                          "bzip2 and lz4, which must be installed. Standard input is taken as it is.";

#define ON(name)    (1u << CMD_##name)
#define FIELD(name) offsetof(struct options, name)

enum {
    SIZING = ON(PLAN) | ON(BUILD),
    MAKING = ON(BUILD) | ON(DEDUP),
    CHANGING = ON(ADD) | ON(REMOVE),
    ASKING = ON(CHECK) | ON(COUNT),
    READING = ON(DEDUP) | ON(BUILD) | CHANGING | ASKING | ON(VERIFY),
    COMBINING = ON(MERGE) | ON(INTERSECT) | ON(SUBTRACT) | ON(DIFFER),
    WRITING = ON(BUILD) | COMBINING,
    LOOKING = ASKING | ON(LIST) | ON(INFO),
    OPENING = CHANGING | LOOKING | COMBINING | ON(VERIFY),
    AT_SERVERS = ON(BUILD) | CHANGING | ON(CHECK) | ON(DEDUP) | ON(INFO),
    ALL = (1u << COMMANDS) - 1
};

const struct option option_table[OPTIONS] = {
    [OPT_ITEMS] = {"items", 'n', VALUE_NUMBER, "N", NULL, FIELD(items), SIZING | ON(BENCH),
                   "How many different keys the filter is for: digits, optionally with a fraction, an exponent or one "
                   "of k, M, G, T "
                   "(thousands), such as 5000000, 5e6, 2.5M, 10k; or a power of two such as 2^20. For a bitmap: the "
                   "integers below N."},
    [OPT_FPR] = {"fpr", 'p', VALUE_RATE, "P", NULL, FIELD(fpr), SIZING,
                 "False-positive rate: the chance of 'perhaps' for a key that was never added, when all N keys are in. "
                 "Such as 0.01, "
                 "1e-3 or 1%. Default 0.01. table and bitmap have a far smaller one, whatever is given."},
    [OPT_BITS_PER_KEY] = {"bits-per-key", 0, VALUE_REAL, "B", NULL, FIELD(bits_per_key), SIZING,
                          "Memory for each of N keys, such as 12 or 9.6; the rate follows."},
    [OPT_BYTES] = {"bytes", 0, VALUE_SIZE, "SIZE", NULL, FIELD(bytes), SIZING,
                   "Memory in all: a number as for -n, or with KiB, MiB, GiB, TiB (1024s), such as 64MiB; the rate "
                   "follows, or with -p "
                   "the number of keys."},
    [OPT_PRESET] = {"preset", 0, VALUE_WORD, "NAME", "rough fair good fine", FIELD(preset), SIZING,
                    "A size by name, for a bloom filter: rough (4 bits a key, 14.7 % false positives), fair (8 bits, "
                    "2.2 %), good (16 "
                    "bits, 1 in 2,148), fine (32 bits, 1 in 4.7 million)."},
    [OPT_KIND] =
        {"kind", 'k', VALUE_KIND, "KIND", NULL, FIELD(kind), SIZING | ON(BENCH),
         "Only this kind of filter. 'perhaps plan -n 1M' lists them, but for bitmap, which holds integers only, and "
         "for "
         "files of other programs. Of these, roaring and roaring64 are no filters, but exact sets of 32-bit or 64-bit "
         "integers, and only for build."},
    [OPT_FILE_KIND] = {"kind", 'k', VALUE_FORMAT, "KIND", NULL, FIELD(kind), OPENING,
                       "The filter is a file of this other program. Needed only where the file itself does not tell."},
    [OPT_NEEDS] =
        {"needs", 0, VALUE_NEEDS, "LIST", NULL, FIELD(needs), SIZING,
         "What the filter must be able to do, separated by commas: add, remove, count, merge, intersect, grow (make "
         "room for more keys), list, in-place (be changed in its file). Of the kinds that can, the best is "
         "taken. subtract is there "
         "too, but only a bitmap can, which is made only with -k bitmap."},
    [OPT_GROW] = {"grow", 0, VALUE_NONE, NULL, NULL, 0, SIZING,
                  "Grow in layers, for sets of unknown size: -n is then a first guess, and the rate holds however many "
                  "keys come. A table or bitmap grows by itself. Default for keys from a pipe without -n."},
    [OPT_GROWTH] = {"growth", 0, VALUE_REAL, "R", NULL, FIELD(growth), SIZING,
                    "With each layer there is room for R times as many keys as before, 1.5 to 16. Default: 4 while "
                    "they are few, then 2. Implies --grow."},
    [OPT_MAX_BYTES] = {"max-bytes", 0, VALUE_SIZE, "SIZE", NULL, FIELD(max_bytes), SIZING,
                       "Grow to at most so many bytes, written as for --bytes; keys that do not fit then are refused. "
                       "Implies --grow."},
    [OPT_NO_GROW] =
        {"no-grow", 0, VALUE_NONE, NULL, NULL, 0, ON(BUILD),
         "Never grow: table and bitmap then refuse more than -n, and cuckoo more copies of a key than there "
         "is room for. Other kinds never grow without --grow."},
    [OPT_WINDOW] = {"window", 0, VALUE_WINDOW, "N|TIME", NULL, FIELD(window), SIZING,
                    "Remember only the last N keys, a number as for -n; or only the keys of a time such as 30s, 10m, "
                    "12h, 7d or 1h30m, in which about -n come (note that 10M is a number and 10m a time). Older ones "
                    "are forgotten, after a third more keys or time at most. Over bloom, blocked and table."},
    [OPT_GENERATIONS] = {"generations", 0, VALUE_NUMBER, "G", NULL, FIELD(generations), SIZING,
                         "Forget the keys of a window in G steps, 2 to 64: more forget on time, fewer are faster. "
                         "Default 4; 1 with --clear-at alone."},
    [OPT_CLEAR_AT] = {"clear-at", 0, VALUE_SHARE, "SHARE", NULL, FIELD(clear_at), SIZING,
                      "Forget the oldest generation when the newest is filled to this share, such as 0.8 or 80%; "
                      "without --window that is everything."},
    [OPT_SHARDS] =
        {"shards", 0, VALUE_NUMBER, "N", NULL, FIELD(shards), SIZING | ON(DEDUP),
         "Make it of N filters, up to 65,536, each for its share of the keys: so that -j of build can add to a cuckoo "
         "filter, a table or growing layers, and that a table grows in small steps. With --at a power of two up to "
         "32,768, so that a cluster can spread them."},
    [OPT_HASHES] =
        {"hashes", 0, VALUE_NUMBER, "K", NULL, FIELD(hashes), SIZING,
         "Bits set per key, if it matters: 1 to 64 for bloom and counting, 8, 16 or 32 for blocked; for cuckoo "
         "the places a key can be in, 4, 6 or 8. Default: the best for the size."},
    [OPT_LINES] = {"lines", 0, VALUE_NUMBER, "N", NULL, FIELD(lines), SIZING,
                   "Touch at most N cache lines per key, 1 to 64. blocked has layouts of 1 (faster) and 2 (smaller at "
                   "small rates); for bloom it means at most N hashes. Default: what suits the rate."},
    [OPT_HASH] = {"hash", 0, VALUE_WORD, "NAME", "xxh3 siphash", FIELD(hash), MAKING,
                  "How keys are hashed: xxh3 (the default; fastest), or siphash with a secret key, for keys that "
                  "strangers choose. "
                  "siphash needs --hash-key, or --key-in-file to make up a random key and keep it in the file."},
    [OPT_SEED] = {"seed", 0, VALUE_NUMBER, "N", NULL, FIELD(seed), MAKING,
                  "Seed of xxh3. Default 0. Only filters with equal seeds can be merged."},
    [OPT_HASH_KEY] =
        {"hash-key", 0, VALUE_FILE, "FILE", NULL, FIELD(hash_key), MAKING | OPENING,
         "The secret key of siphash: a file of 16 bytes or 32 hexadecimal digits, made for instance by 'head -c 16 "
         "/dev/urandom > FILE'. To make a filter it implies --hash siphash."},
    [OPT_KEY_IN_FILE] = {"key-in-file", 0, VALUE_NONE, NULL, NULL, 0, MAKING,
                         "Write the key of siphash into the filter's file, so that nobody has to give it, and everyone "
                         "who can read the "
                         "file can read it. Otherwise the file holds only a check of it."},
    [OPT_AT] =
        {"at", 0, VALUE_TEXT, "URL", NULL, FIELD(at), AT_SERVERS,
         "Not a file, but a set on servers: redis://[user:password@]HOST[:PORT]/NAME, port 6379 if none is given. The "
         "servers (Redis 7 or Valkey, alone or as a cluster) have the module perhaps.so; redis+bits:// builds in plain "
         "strings, for those that may not have it. A password may also stand in the environment as REDISCLI_AUTH. "
         "Numbers (--key u64) are sent as decimal text, all other keys as their bytes."},
    [OPT_SHARD_BYTES] = {"shard-bytes", 0, VALUE_SIZE, "SIZE", NULL, FIELD(shard_bytes), ON(BUILD) | ON(DEDUP),
                         "With --at: no shard larger than this, written as for --bytes. Default 64MiB, so that no "
                         "single value keeps a server busy for long; --shards then is what that takes."},
    [OPT_PATIENCE] = {"patience", 0, VALUE_TIME, "TIME", NULL, FIELD(patience), AT_SERVERS,
                      "With --at: wait so long for servers that went away or are busy, such as 30s or 10m, before "
                      "giving up. One that is silent for a quarter of it, but at least 15 seconds, is asked anew. "
                      "Default 1m."},
    [OPT_OUTPUT] = {"output", 'o', VALUE_FILE, "FILE", NULL, FIELD(output), WRITING,
                    "Write the filter to FILE; '-' is standard output, which must not be a terminal."},
    [OPT_FORCE] = {"force", 'f', VALUE_NONE, NULL, NULL, 0, WRITING | ON(DEDUP),
                   "Replace the FILE of -o if it exists; for build also the set of --at."},
    [OPT_FOLD] = {"fold", 0, VALUE_SIZE, "SIZE", NULL, FIELD(bytes), ON(MERGE),
                  "Halve the union until it has at most SIZE bytes, written as for --bytes, as if the filters had been "
                  "made of that size: smaller, with a higher rate. For parquet; then A alone will do, too."},
    [OPT_INVERT] = {"invert", 'v', VALUE_NONE, NULL, NULL, 0, ON(CHECK),
                    "Take the keys that are definitely absent instead."},
    [OPT_COUNT] = {"count", 'c', VALUE_NONE, NULL, NULL, 0, ON(CHECK), "Print only how many keys there are."},
    [OPT_QUIET] = {"quiet", 'q', VALUE_NONE, NULL, NULL, 0, ON(CHECK),
                   "Print nothing and stop at the first key found; the exit status tells."},
    [OPT_CONFIRM] = {"confirm", 0, VALUE_FILE, "FILE", NULL, FIELD(confirm), ON(CHECK),
                     "Look again, for an exact answer: what the filter takes for present counts only if it is a key in "
                     "FILE, which is the file that the filter was made from, written "
                     "as KEYS are. FILE is read once, after KEYS; '-' is standard input. Takes memory for the hits "
                     "only, which are printed when all is read. With -v, lines that "
                     "only the second look found absent come last."},
    [OPT_LINES_TO] = {"output", 'o', VALUE_FILE, "FILE", NULL, FIELD(output), ON(DEDUP),
                      "Write the lines to FILE, not to standard output; never compressed, whatever its name."},
    [OPT_LOSS] =
        {"fpr", 'p', VALUE_RATE, "P", NULL, FIELD(fpr), ON(DEDUP),
         "Remember lines in a Bloom filter that grows, which takes less memory, at 1e-3 2 bytes a line of plain files "
         "or with -n, and 5 of a pipe: up to P of the new lines are then taken for repeats, and lost. Such as 0.001, "
         "1e-4 or 0.1%. With --at, of a set that "
         "is not there yet; default 1e-6."},
    [OPT_DIFFERENT] =
        {"items", 'n', VALUE_NUMBER, "N", NULL, FIELD(items), ON(DEDUP),
         "About how many different lines will come, if it is known: memory is then taken at once. A number such "
         "as 5e6, 2.5M or 10k. Without it, --fpr guesses from the size of plain files. With --at, of all machines "
         "together; redis+bits:// needs it."},
    [OPT_REPEATS] = {"repeats", 'd', VALUE_NONE, NULL, NULL, 0, ON(DEDUP),
                     "Print the lines that were there before instead, each time that they come again."},
    [OPT_SUMMARY] =
        {"summary", 'c', VALUE_NONE, NULL, NULL, 0, ON(DEDUP),
         "At the end, say on standard error how many lines there were, how many of them unique and duplicates, "
         "the memory and the time it took, and the chance that a line was lost."},
    [OPT_EXACT] =
        {"exact", 0, VALUE_NONE, NULL, NULL, 0, ON(DEDUP),
         "Compare the lines themselves, not only their digests: no line is lost, ever. Takes up to 20 bytes of "
         "memory for each different line; lines from pipes are kept in a temporary file in $TMPDIR."},
    [OPT_LAST] =
        {"last", 0, VALUE_WINDOW, "N|TIME", NULL, FIELD(last), ON(DEDUP),
         "Remember only the last N lines, or those of a time such as 30s, 10m or 12h (note that 10M is a number and "
         "10m a time). A line that comes again within it is a repeat, and begins anew; one that comes again after a "
         "third more different lines or time is printed again. Thirds of a time are rounded up to seconds: after 4s "
         "for 1s, after 16s for 10s."},
    [OPT_STATE] =
        {"state", 0, VALUE_FILE, "FILE", NULL, FIELD(state), ON(DEDUP),
         "Remember the lines of all runs that name this FILE, which is made if there is none, as --fpr, --last, "
         "-n, -i, --key and --hash say. It is a filter like any other, and any set that 'perhaps build' makes "
         "will do: 'perhaps info' and 'perhaps check' take it. One of a fixed size, with -n, loses ever more lines "
         "once "
         "it is full. Options need not be given again; those that contradict it are refused."},
    [OPT_SAVE_EVERY] = {"save-every", 0, VALUE_TIME, "TIME", NULL, FIELD(save_every), ON(DEDUP),
                        "Make sure of new lines so often, such as 10s or 5m, by writing their digests to the state's "
                        "journal, 8 bytes each, so that a save costs what has changed; 0s for only at the end. "
                        "Default 1m."},
    [OPT_FROM] = {"from", 0, VALUE_NUMBER, "N", NULL, FIELD(from), ON(LIST),
                  "Begin with the first integer that is not below N. For bitmaps and Roaring bitmaps."},
    [OPT_LIMIT] = {"limit", 0, VALUE_NUMBER, "N", NULL, FIELD(limit), ON(LIST), "Print at most N lines."},
    [OPT_KEYS] = {"keys", 0, VALUE_FILE, "FILE", NULL, FIELD(keys), ON(VERIFY),
                  "Every key in FILE must be found; '-' is standard input."},
    [OPT_IN_PLACE] = {"in-place", 0, VALUE_NONE, NULL, NULL, 0, CHANGING,
                      "Change the file itself rather than a copy that replaces it."},
    [OPT_KEY] = {"key", 0, VALUE_WORD, "ENCODING", "bytes hex u64 u64le int32 int64 utf16", FIELD(encoding), READING,
                 "How keys are written: bytes (the line as it is; the default), hex (the bytes that it spells), u64 (a "
                 "decimal number), "
                 "u64le (no lines: raw records of 8 bytes, little-endian; same keys as u64), int32 and int64 (a "
                 "decimal number, to be "
                 "hashed as 4 or 8 little-endian bytes), utf16 (UTF-8, to be hashed as UTF-16LE). The filter remembers "
                 "it; give it only to make one. A bitmap takes u64 (its default), u64le, int32 and int64, and nothing "
                 "below 0."},
    [OPT_U64] = {"u64", 0, VALUE_NONE, NULL, NULL, 0, READING, "Short for --key u64."},
    [OPT_HEX] = {"hex", 0, VALUE_NONE, NULL, NULL, 0, READING, "Short for --key hex."},
    [OPT_NULL] = {"null", '0', VALUE_NONE, NULL, NULL, 0, READING,
                  "Lines end with NUL instead of newline, in input and output, so that keys may contain newlines."},
    [OPT_IGNORE_CASE] =
        {"ignore-case", 'i', VALUE_NONE, NULL, NULL, 0, ON(BUILD) | ON(DEDUP),
         "Capital and small letters of ASCII are the same. A filter remembers it: others who ask it need not "
         "say so."},
    [OPT_FIELD] = {"field", 0, VALUE_NUMBER, "N", NULL, FIELD(field), READING,
                   "The key is the N-th field of the line, counted from 1, not the whole line. A line without it is an "
                   "error, and the end."},
    [OPT_DELIMITER] = {"delimiter", 0, VALUE_TEXT, "C", NULL, FIELD(delimiter), READING,
                       "The byte between fields, such as ','. Default '\\t', a tab."},
    [OPT_THREADS] = {"threads", 'j', VALUE_THREADS, "N", NULL, FIELD(threads), ON(BUILD) | ON(ADD) | ON(CHECK),
                     "Work in N threads, up to 256; 0 or auto is one for each processor. Default 1. cuckoo filters, "
                     "tables and growing layers must have --shards for it, to be added to."},
    [OPT_NO_VERIFY] = {"no-verify", 0, VALUE_NONE, NULL, NULL, 0, LOOKING,
                       "Do not compare the filter with its checksums first: a large one then answers at once. Damage "
                       "can make answers "
                       "wrong, never unsafe."},
    [OPT_RECOVER] =
        {"recover", 0, VALUE_NONE, NULL, NULL, 0, CHANGING | LOOKING,
         "Take a filter that was left unfinished by 'add --in-place' or 'remove --in-place': what was changed "
         "in it is changed, and "
         "the number of keys "
         "is estimated."},
    [OPT_FULL] = {"full", 0, VALUE_NONE, NULL, NULL, 0, ON(BENCH),
                  "All kinds, and working sets up to gigabytes; takes minutes."},
    [OPT_COMBINED] = {"combined", 0, VALUE_NONE, NULL, NULL, 0, ON(BENCH),
                      "Measure filters of filters and threads instead: growing, sharded, with one thread and two. "
                      "--items is then the "
                      "largest number of keys, 100 million by default."},
    [OPT_FOREIGN] = {"foreign", 0, VALUE_NONE, NULL, NULL, 0, ON(BENCH),
                     "Measure filters of other programs instead, beside a plain loop with the same hash."},
    [OPT_PLOT] = {"plot", 0, VALUE_FILE, "FILE", NULL, FIELD(plot), ON(PLAN) | ON(BENCH),
                  "Also draw the results into FILE, a picture in SVG, with gnuplot. It replaces an earlier one."},
    [OPT_SCDOC] = {"scdoc", 0, VALUE_NONE, NULL, NULL, 0, ON(HELP),
                   "Print the source of the manual page, for scdoc(1)."},
    [OPT_NAMES] = {"names", 0, VALUE_NONE, NULL, NULL, 0, ON(HELP),
                   "Print only the names of the commands, one a line."},
    [OPT_JSON] = {"json", 0, VALUE_NONE, NULL, NULL, 0, ALL & ~(ON(COMPLETIONS) | ON(HELP)),
                  "Print the result as JSON on standard output."},
    [OPT_HELP] = {"help", 'h', VALUE_NONE, NULL, NULL, 0, ALL, "Explain the command."},
};
