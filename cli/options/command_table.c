/* The table of commands. clang-format would indent its texts differently from row to row. */
#include "commands/commands.h"

#include <limits.h>

/* clang-format off */
const struct command commands[COMMANDS] = {
    [CMD_PLAN] = {"plan", "-n N -p P [OPTION...]", "show what every kind of filter would cost",
        "Shows for every kind of filter how much memory it takes for N keys at a false-positive rate of P, marks the "
        "one that 'perhaps build' would make, and sets the limit beside it that no filter can beat. Nothing is "
        "made.\n\n"
        "Fix two of three: the number of keys (-n), the false-positive rate (-p), the memory (--bits-per-key, --bytes or "
        "--preset). The third follows. With only -n the rate is 0.01.\n\n"
        "Kinds marked static (fuse and ribbon) take all keys at once and none later. 'perhaps build' makes one only if "
        "--static, --smallest or -k says so.\n\n"
        "With --plot it also draws bits per key against the false-positive rate, from 0.1 to 1e-6 and that of -p, for "
        "every kind with the limit below; without -n for a million keys.",
        "perhaps plan -n 5e6 -p 0.01\n"
        "perhaps plan --bytes 64MiB -p 1e-4\n"
        "perhaps plan -n 1M --bits-per-key 12 --json\n"
        "perhaps plan -n 1M --plot bits.svg",
        NULL, 0, 0, cmd_plan, "Print the table as JSON, with kinds[] for its rows."},
    [CMD_BUILD] = {"build", "-o FILE|--at URL [OPTION...] [KEYS...]", "make a filter from lines",
        "Reads keys, one a line, from the files KEYS (standard input if there are none; '-' is standard input) and "
        "writes a filter that contains them all to FILE. The file appears complete or not at all, and is never one of "
        "KEYS. With -f it replaces what is there, with its owner and permissions, also what other processes have added "
        "meanwhile.\n\n"
        "Without -n the keys are counted first if all inputs are plain files. From a pipe, whose end nobody knows, "
        "they go into a growing filter, as if --grow were given, that has the false-positive rate whatever comes. A "
        "filter that gets more than N keys and may not grow still finds them all, but has more false positives, and a "
        "warning says so. The false-positive rate is 0.01 unless -p or a size is given.\n\n"
        "If all keys are there now and none will be added, --static makes a smaller filter, and --smallest the "
        "smallest; neither needs -n. Keys wait until all are read, in memory and, beyond --scratch, in a temporary "
        "file, which is gone whatever happens; then the filter is made of them. Lines may come more than once.\n\n"
        "With --window the filter remembers the last N keys, or those of the last hours or days, and forgets older "
        "ones. What time it is comes from the machine's clock. If more than -n keys come in that time, none is lost, "
        "the false-positive rate rises, and a warning says so.\n\n"
        "Some kinds are different. cuckoo and counting, which can forget keys, keep a copy for every line, so that "
        "every line has its remove; and a cuckoo filter that is full refuses more: the message then names the -n to "
        "give, and no file is made. table and bitmap grow with their keys and have practically no false positives, so that "
        "-n is optional and -p means nothing to them. A bitmap holds integers: its keys are decimal numbers (--key u64) "
        "unless --key says in which other way they are written, and its -n is one more than the largest.\n\n"
        "Every line is a key, the empty line included. A carriage return before the line end is part of the key. The "
        "last line may lack its line end.\n\n"
        "With --at the keys go to servers, into filters at the keys NAME:0, NAME:1, ..., and the hash NAME says what "
        "they are. The kinds are bloom (the default) and cuckoo; both grow if more keys come than -n. If it is broken "
        "off, what was added is there: 'perhaps add --at' goes on with it.",
        "perhaps build -n 5e6 -p 0.01 -o phones.ph phones.txt\n"
        "perhaps build -p 1e-4 -o urls.ph urls.gz\n"
        "perhaps build --static -p 0.001 -o phones.ph phones.txt\n"
        "perhaps build --smallest --scratch 512M -o names.ph names.txt\n"
        "perhaps build --window 10m -n 1M -o requests.ph /dev/null\n"
        "perhaps build --csv --header -F name -o names.ph people.csv\n"
        "perhaps build --jsonl .user.id -o visitors.ph log.jsonl\n"
        "perhaps build --needs remove -o logins.ph logins.txt\n"
        "perhaps build -k bitmap -o days.ph days.txt\n"
        "perhaps build -k roaring -o days.roaring days.txt\n"
        "perhaps build --at redis://localhost/phones -n 1e9 -p 0.001 phones.txt\n"
        "perhaps build --at redis+bits://localhost/names -p 0.01 names.txt",
        NULL, 0, UINT_MAX, cmd_build, "Print what 'perhaps info --json' would say about the new filter."},
    [CMD_ADD] = {"add", "FILTER|--at URL [OPTION...] [KEYS...]", "add lines to a filter",
        "Adds the keys in the files KEYS (standard input if there are none) to FILTER. The new filter replaces the old "
        "file in one step when all keys are in; until then, and if anything fails, the old one stays. A cuckoo or "
        "counting filter gets another copy of a key that it has already; all others have a key once.\n\n"
        "With --in-place the file itself is changed, without a copy in memory. If that is interrupted by force or by a "
        "crash, the file is marked as unfinished: everything added before is in it, and --recover goes on with it. "
        "Ctrl-C is no such case: it finishes the file first. cuckoo filters and tables cannot be changed in place, and "
        "a bitmap cannot grow there. Static filters (fuse, ribbon) take no more keys at all: build them anew.\n\n"
        "The file is locked meanwhile: of several processes that change it, one waits for the other, at most as long "
        "as --patience says, so that no change is lost. Readers do not wait: they see the old filter or the new one, "
        "except of a file that is being changed in place, which they cannot open.\n\n"
        "A window by time first forgets what is too old, by the machine's clock.\n\n"
        "With --at there is no FILTER: keys go to a set on servers, and those that were sent stay there whatever "
        "happens then.",
        "perhaps add phones.ph new.txt\n"
        "tail -n 1000 log | perhaps add seen.ph --in-place\n"
        "perhaps add --at redis://localhost/phones new.txt",
        NULL, 1, UINT_MAX, cmd_add,
        "Print as JSON how many keys were read, how many were new, and what the filter holds now."},
    [CMD_REMOVE] = {"remove", "FILTER|--at URL [OPTION...] [KEYS...]", "take lines out of a filter that can forget",
        "Takes the keys in the files KEYS (standard input if there are none) out of FILTER, one copy for each line, "
        "and says how many were not found, if any were not. As with add, the new filter replaces the old file in one "
        "step, or the file itself is changed with --in-place; it is locked meanwhile. Kinds that can: counting, "
        "cuckoo, table and bitmap; 'perhaps build --needs remove' makes one.\n\n"
        "Remove only what was added. A key that was never added, and for which a counting or cuckoo filter still says "
        "'perhaps', takes away the copy of another key that looks the same, and that other key is then not found any "
        "more: these filters cannot tell the two apart, and no message can warn of it. table and bitmap can: take one "
        "of them (-k table) where others choose what is removed.\n\n"
        "With --at there is no FILTER: keys are taken out of a set on servers, which can if it is of cuckoo filters. "
        "If the connection breaks, it stops, since to take a key out twice may lose another.",
        "perhaps remove logins.ph expired.txt\n"
        "perhaps remove days.ph --in-place gone.txt",
        NULL, 1, UINT_MAX, cmd_remove,
        "Print as JSON how many keys were read, taken out and not found, and what the filter holds now."},
    [CMD_CHECK] = {"check", "FILTER|--at URL [OPTION...] [KEYS...]",
        "print the keys that are perhaps in a filter, like grep",
        "Reads keys from the files KEYS (standard input if there are none) and prints those that FILTER perhaps "
        "contains, in order; with -v those that it definitely does not contain. Where a key is a part of a "
        "record (--csv, --jsonl, --field), the whole record is printed, byte for byte.\n\n"
        "The filter is mapped, not read into memory. Only a window by time is copied, to forget what is too old by "
        "now. All of it is verified first unless --no-verify is given.\n\n"
        "What is printed is the intersection of KEYS with the filter's keys, and a few false positives; with -v the "
        "difference without them. With --confirm both are exact: of tables, a semi-join and an anti-join.\n\n"
        "With --at there is no FILTER: the servers are queried.",
        "# the intersection: lines of wanted.txt that are in phones.txt, too, perhaps\n"
        "perhaps check phones.ph wanted.txt\n"
        "# the difference: lines of other.txt that are certainly not\n"
        "perhaps check -v phones.ph other.txt\n"
        "# and both exactly\n"
        "perhaps check --confirm phones.txt phones.ph wanted.txt\n"
        "perhaps check --confirm phones.txt -v phones.ph other.txt\n"
        "# orders of the users in users.txt, and those of all others\n"
        "perhaps check --confirm users.txt --csv --header -F user users.ph orders.csv\n"
        "perhaps check --confirm users.txt -v --csv --header -F 2 users.ph orders.csv\n"
        "perhaps check -v seen.ph < urls.txt > new-urls.txt\n"
        "echo 13800138000 | perhaps check -q phones.ph && echo perhaps\n"
        "perhaps check --at redis://localhost/phones wanted.txt",
        "0 if a key was printed (or would have been, with -c and -q), 1 if none, 2 after an error.",
        1, UINT_MAX, cmd_check,
        "Print as JSON how many keys were checked, present and absent, in place of the keys; with --confirm also how "
        "many were false positives."},
    [CMD_COUNT] = {"count", "FILTER [OPTION...] [KEYS...]", "print how often each key is in a filter that counts",
        "Reads keys from the files KEYS (standard input if there are none) and prints for each, in order, how many "
        "copies of it are in FILTER, a tab, and the line. Kinds that can: counting and cuckoo; 'perhaps build --needs "
        "count' makes one.\n\n"
        "A count is never too small, and too large only if another key looks the same. counting counts to 15, which "
        "then means 15 or more.",
        "perhaps count logins.ph names.txt\n"
        "perhaps count logins.ph names.txt | sort -rn | head -n 3",
        "0 if a key was there, 1 if none, 2 after an error.", 1, UINT_MAX, cmd_count,
        "Print as JSON how many keys were checked, present and absent, and how many copies they have, in place of the "
        "keys."},
    [CMD_DEDUP] = {"dedup", "[OPTION...] [FILE...]", "print each line once, in order, without sorting",
        "Reads lines from the files (standard input if there are none) and prints each the first time that it comes, "
        "in the order of the input and at once, also of a 'tail -f'. Each line of output ends with a line end, also if "
        "the last one of the input has none.\n\n"
        "What it remembers of a line is a digest of 64 bits, 11 bytes of memory or so, beside up to 80 MiB to read "
        "short lines with: that two lines of n share one, and the second is lost, has a chance of n²/2^65, 1 in "
        "400,000 for ten million lines. --exact compares the lines themselves; --fpr takes less memory and loses more "
        "lines. -c tells what was done. The hash has a random seed in each run, so that nobody can prepare lines for "
        "it. A new state keeps its seed; states of one --seed can be merged.\n\n"
        "With --state it goes on where the last run ended. The state is saved at the end, also if SIGTERM, SIGINT or "
        "SIGHUP ends it, and if the output cannot be written any more: then it has only lines that were printed. In "
        "between, what is new goes into a journal beside it, FILE.journal: after a kill the next run takes that in, "
        "and prints again only lines that came after the last save. (If the power fails, it may know lines that a file "
        "of output has lost.) One process at a time may have a state; another waits for it, at most as long as "
        "--patience says. While there is a journal, other commands do not change the file, and do not see what is in "
        "the journal; 'perhaps dedup --state FILE < /dev/null' takes in what a killed run left.\n\n"
        "With --ngram and --overlap it drops lines that repeat others in part: those of which a share of the runs of N "
        "words was in lines that it kept before. A line that is kept adds all its runs, and one that is dropped "
        "none. All else is as for lines: -d, -c, --state, --fpr, and -n, which is then about runs; only that two runs "
        "that share a digest do not by themselves lose a line. For --fpr 1e-3 a run takes 2 bytes.\n\n"
        "With --at what it remembers is a set on servers, which any number of machines share: each line is printed by "
        "the one that comes with it first. If there is no such set it is made, in shards that grow, for -n lines if "
        "that is given and with --fpr 1e-6 unless it says otherwise; one that exists stays as it is, whatever -n and "
        "--fpr say. No line is lost when a connection breaks: one that the server may or may not know by then is "
        "printed, and a warning says how many such there were. But servers know what was sent to them even if it could "
        "not be printed then, because the program was killed or the disk is full: a round of lines, 65,536 or so.",
        "perhaps dedup urls.txt > distinct.txt\n"
        "perhaps dedup --state visited.ph urls.txt > new-urls.txt\n"
        "tail -n 1000 log | perhaps dedup > distinct.txt\n"
        "perhaps dedup --csv --header -F name,city people.csv\n"
        "perhaps dedup --jsonl .id --missing skip log.jsonl\n"
        "perhaps dedup -d urls.txt | perhaps dedup > repeated.txt\n"
        "perhaps dedup --fpr 1e-4 --json urls.txt\n"
        "perhaps dedup --ngram 13 --overlap 0.8 --jsonl .text pages.jsonl > kept.jsonl\n"
        "perhaps dedup --at redis://localhost/urls -o fresh.txt urls.txt",
        NULL, 0, UINT_MAX, cmd_dedup,
        "Print as JSON how many lines there were, how many were unique and how many duplicates, in place of the lines, "
        "unless -o says where these go."},
    [CMD_LIST] = {"list", "FILTER [OPTION...]", "print the members of a bitmap or table",
        "Prints the integers in a bitmap or Roaring bitmap, in decimal and in rising order, or the digests in a table, "
        "as 16 hexadecimal digits and in no order; one a line. Other kinds cannot tell what is in them, and a table "
        "has the digests of keys, not the keys.",
        "perhaps list days.ph\n"
        "perhaps list days.ph --from 1000 --limit 1",
        NULL, 1, 1, cmd_list, "Print one JSON object, with members[] for the lines."},
    [CMD_INFO] = {"info", "FILTER [FILTER]|--at URL [OPTION...]", "describe a filter, or what two have in common",
        "Shows what FILTER is, how full it is, the false-positive rate it was planned for and the one it has now. Of a "
        "composite filter (growing, window, sharded) it also shows each layer, generation or shard; of more than 40, "
        "the fullest and the emptiest.\n\n"
        "Of two filters that have been made alike (same kind, -n, -p or size, hash, seed, --key and -i), it shows how "
        "many different keys each has, how many both share, how many there are in all, and the Jaccard similarity, "
        "shared divided by all; of two empty ones that is 1. Bitmaps, Roaring bitmaps and tables, which may differ in "
        "size, are exact. From other kinds it is an estimate with its standard error: the truth is within twice that "
        "in 95 of 100 cases. Filters that are far too full tell nothing; static filters, and those of several layers "
        "or generations, cannot be compared.\n\n"
        "With --at there is no FILTER: it shows a set on servers, and how much of it each server has.",
        "perhaps info phones.ph\n"
        "perhaps info --json phones.ph | jq .fpr_now\n"
        "perhaps info customers.ph visitors.ph\n"
        "perhaps info --at redis://localhost/phones",
        NULL, 1, 2, cmd_info,
        "Print all of it as JSON, with children[] for the layers, generations or shards of a composite filter; of two "
        "filters files[] and overlap, with a, b, intersection, union and jaccard, an error for each (a_error ...; null "
        "if they cannot tell), and exact."},
    [CMD_MERGE] = {"merge", "A B... -o FILE [OPTION...]", "make the union of filters",
        "Writes to FILE the filter that would have come from adding the keys of all the given filters. They must have "
        "been made alike: same kind, -n, -p or size, hash, seed, --key and -i. Their --field, --delimiter and -0 may "
        "differ: the first filter's are remembered. Tables and bitmaps may differ in size. Of counting and cuckoo "
        "filters it is the sum: every copy in each of them. Static filters cannot be merged: build one of all keys.\n\n"
        "FILE may be one of the filters, with -f. It is locked before they are read, so that nothing that another "
        "process adds to it is lost: one waits for the other, at most as long as --patience says.",
        "perhaps merge monday.ph tuesday.ph wednesday.ph -o week.ph\n"
        "perhaps merge names.parquet --fold 64KiB -o fewer.parquet",
        NULL, 2, UINT_MAX, cmd_combine, "Print what 'perhaps info --json' would say about the new filter."},
    [CMD_INTERSECT] = {"intersect", "A B... -o FILE [OPTION...]", "make the intersection of filters",
        "Writes to FILE a filter of what all the given filters perhaps contain. Every key that is in all of them is "
        "kept; it has more false positives than a filter made from the common keys alone. The filters must have been made "
        "alike: same kind, -n, -p or size, hash and seed. Of bitmaps it is exact, and they may differ in size.",
        "perhaps intersect customers.ph visitors.ph -o both.ph", NULL, 2, UINT_MAX, cmd_combine,
        "Print what 'perhaps info --json' would say about the new filter."},
    [CMD_SUBTRACT] = {"subtract", "A B... -o FILE [OPTION...]", "make the difference of bitmaps",
        "Writes to FILE what is in A and in none of the others. Only bitmaps and Roaring bitmaps can do that; they may "
        "differ in size.",
        "perhaps subtract today.ph yesterday.ph -o new.ph", NULL, 2, UINT_MAX, cmd_combine,
        "Print what 'perhaps info --json' would say about the new filter."},
    [CMD_DIFFER] = {"differ", "A B... -o FILE [OPTION...]", "make the symmetric difference of bitmaps",
        "Writes to FILE what is in one of two bitmaps but not in both; of more than two, what is in an odd number of "
        "them. Only bitmaps and Roaring bitmaps can do that; they may differ in size.",
        "perhaps differ today.ph yesterday.ph -o changed.ph", NULL, 2, UINT_MAX, cmd_combine,
        "Print what 'perhaps info --json' would say about the new filter."},
    [CMD_VERIFY] = {"verify", "FILTER [--keys FILE] [OPTION...]",
        "check a filter file for damage, and a filter against its keys",
        "Compares every byte of FILTER with its checksums and says how much was checked. Files of other programs have "
        "none; of these only the header is looked at.\n\n"
        "With --keys, every key in FILE must also be found; if some are not, it says how many and where the first one "
        "is. Then a million random keys that were never added measure the false-positive rate, shown beside the "
        "planned one and the one that follows from the bits.",
        "perhaps verify phones.ph\n"
        "perhaps verify phones.ph --keys phones.txt",
        NULL, 1, 1, cmd_verify, "Print as JSON how much was checked, and with --keys what was found and measured."},
    [CMD_BENCH] = {"bench", "[OPTION...]", "measure the kinds of filter beside the limit of this machine",
        "Measures adding and querying, one key at a time and in batches, for working sets of 1, 16 and 128 MiB, beside "
        "the time that this machine needs for the memory accesses alone, and beside the best filters that others have "
        "published. All take turns on the same keys; a ratio is the median over at least 15 turns, with its quartiles. "
        "A default run measures the main kinds and takes a minute, as does one of a single kind.",
        "perhaps bench\n"
        "perhaps bench --kind cuckoo --isa avx2 --goals\n"
        "perhaps bench --kind blocked --items 1M --json >before.json\n"
        "perhaps bench --kind blocked --items 1M --compare before.json",
        NULL, 0, 0, cmd_bench,
        "Print the measurements as JSON, with results[] for the times and ratios[] for what they are compared with."},
    [CMD_COMPLETIONS] = {"completions", "bash|zsh|fish", "print completions for a shell",
        "Prints a script that teaches the shell to complete the commands and options of perhaps. Installed packages "
        "have them in place already.",
        "source <(perhaps completions bash)", NULL, 1, 1, cmd_completions, NULL},
    [CMD_VERSION] = {"version", "[OPTION...]", "print the version",
        "Prints the version of the program and the library in it.", "perhaps version",
        NULL, 0, 0, cmd_version, "Print the version as JSON."},
    [CMD_HELP] = {"help", "[COMMAND] [OPTION...]", "explain a command",
        "Explains COMMAND and its options; without it, lists the commands.", "perhaps help build",
        NULL, 0, 1, cmd_help, NULL},
};
/* clang-format on */

static const char about_keys[] =
    "A filter remembers how its keys are made: --key and -i, which change their bytes, and where they stand, by the "
    "options from -0 to --trim. Commands that read keys use that, so the options need not be given again, and those "
    "that contradict it are refused. A filter of whole lines takes any place of keys; --elsewhere takes that of the "
    "command's options, and --field 0 lines whole, whatever the filter was made with. Numbers may come as u64 or "
    "u64le, whichever they were made from. Foreign "
    "formats (guava, dcso, parquet, spark) cannot remember any of it: give the options each time.\n\n"
    "Files of keys whose names end in .gz, .zst, .xz, .bz2 or .lz4 are decompressed while they are read, by gzip, "
    "zstd, xz, bzip2 and lz4, which must be installed. Standard input is taken as it is.";

const char *command_postscript(const struct command *command) {
    return command_takes(command, &option_table[OPT_NULL]) ? about_keys : NULL;
}
