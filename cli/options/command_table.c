/* The table of commands. clang-format would indent its texts differently from row to row. */
#include "commands/commands.h"

#include <limits.h>

/* ---- sections that several commands have ---- */

/* clang-format off */
#define NUMBERS {"Numbers", \
        "A number has digits, a fraction, an exponent, or one of k, M, G and T for powers of 1,000: 5000000, 5e6, " \
        "2.5M, 10k. It may be a power of two, 2^20. A size is a number of bytes, or has KiB, MiB, GiB or TiB, powers " \
        "of 1,024: 64MiB. A rate is 0.01, 1e-3 or 1%. A time is 30s, 10m, 12h, 7d or 1h30m. 10M is a number and 10m " \
        "a time."}

#define STATIC_FILTERS {"Static filters", \
        "If all keys are there now and none will be added later, --static makes a smaller filter and --smallest the " \
        "smallest, from some thousand keys on. They are query-only. Their false-positive rate is P or the next " \
        "smaller power of two; fuse takes a fifth less at 1/128. Neither needs -n: a static filter is made for the " \
        "keys that it gets, and repeated lines do no harm. -n only serves --bits-per-key, which is otherwise that of " \
        "a million keys.\n\n" \
        "Keys wait until all are read, 8 bytes each, in as much memory as --scratch says (at least 16MiB). The rest " \
        "wait in a temporary file without a name, in the folder of the output, or in the current one. It is gone " \
        "whatever happens."}

#define KINDS {"Kinds", \
        "'perhaps plan -n 1M' compares them. cuckoo and counting can remove keys. They keep a copy for every line, " \
        "so that every line has its remove. A cuckoo filter that is full refuses more keys; the message names the " \
        "-n to give. counting counts to 15.\n\n" \
        "table and bitmap grow with their keys and have practically no false positives, so that -n is optional and " \
        "-p means nothing to them. A bitmap holds integers: its keys are decimal numbers unless --key says " \
        "otherwise, and its -n is one more than the largest. --needs never chooses it, not even for subtract, which " \
        "only it can do. In shards (--shards) a table grows in small steps.\n\n" \
        "roaring and roaring64 are exact sets of 32-bit or 64-bit integers in the format of Roaring bitmaps. " \
        "Only build makes them."}

#define GROWING {"Growing filters", \
        "A growing filter appends a layer when its newest layer is full. Later layers have smaller false-positive " \
        "rates, so that the rate of the whole stays below P however many keys come. 'perhaps build' makes one for " \
        "keys from a pipe unless -n says how many there are.\n\n" \
        "A filter that gets more than N keys and does not grow still finds them all. Its " \
        "false-positive rate rises, and a warning says so."}

#define WINDOWS {"Windows", \
        "A window remembers the last N keys, or the keys of a time, and forgets older ones after at most a third " \
        "more keys or time. It is made of bloom, blocked or table filters, its generations. The time comes from the " \
        "machine's clock. If more than -n keys come in that time, none is lost, the false-positive rate rises, and a " \
        "warning says so."}

#define KEYS {"Keys", \
        "Every line is a key, the empty line included. A carriage return before the line end is part of the key. The " \
        "last line may lack its line end. With --csv, --tsv, --whitespace, --jsonl or --field a key is part of a " \
        "record. Blank lines of CSV are no records; the text of JSON strings is taken without quotes and escapes, " \
        "and all other values as they are written, so that \"1\" and 1 are the same key. null is a missing value.\n\n" \
        "--key says how keys are written: bytes (the line as it is), hex (the bytes that it spells), u64 (a decimal " \
        "number), u64le (raw records of 8 bytes, little-endian, without lines; the same keys as u64), int32 and " \
        "int64 (a decimal number, hashed as 4 or 8 little-endian bytes), utf16 (UTF-8, hashed as UTF-16LE). A bitmap " \
        "takes u64, u64le, int32 and int64, and nothing below 0.\n\n" \
        "A filter remembers how its keys are made: --key, -i, and where they stand in records. Commands that read " \
        "keys use that, so the options need not be given again, and those that contradict it are refused. " \
        "--elsewhere takes the place from the command's options instead, and '--field 0' takes whole lines. A filter " \
        "of whole lines takes keys from any place. Foreign formats (guava, dcso, parquet, spark) remember nothing: " \
        "give the options each time.\n\n" \
        "--missing says what to do with a record that lacks the field or value: error ends the command, skip passes " \
        "over it, empty takes what it lacks as empty. skip and empty report on standard error how many there were. " \
        "skip also passes over lines that are not JSON, records with a NUL byte and lines with a quote that is never " \
        "closed.\n\n" \
        "Files whose names end in .gz, .zst, .xz, .bz2 or .lz4 are decompressed while they are read, by gzip, zstd, " \
        "xz, bzip2 and lz4, which must be installed. Standard input is not: pipe it through zcat, " \
        "zstdcat, xzcat, bzcat or lz4cat."}

#define URLS \
        "The URL is redis://[user:password@]HOST[:PORT]/NAME, port 6379 unless given. A password may also stand in " \
        "the environment as REDISCLI_AUTH. The servers are Redis 7 or Valkey, alone or as a cluster, with the module " \
        "perhaps.so; redis+bits:// builds in plain strings, for servers without it. Numbers (--key u64) are sent as " \
        "decimal text, all other keys as their bytes.\n\n" \
        "A server that is silent for a quarter of --patience, but at least 15 seconds, is tried again."

#define NO_SECTIONS {{NULL, NULL}}

const struct command commands[COMMANDS] = {
    [CMD_PLAN] = {"plan", "-n N -p P [OPTION...]", "show what every kind of filter would cost",
        "Shows how much memory each kind of filter takes for N keys at a false-positive rate of P, beside the " \
        "theoretical minimum, and marks the kind that 'perhaps build' would make. Fix two of three: number of keys " \
        "(-n), rate (-p), memory (--bits-per-key, --bytes, --preset). The third follows; with -n alone the rate is " \
        "0.01.",
        "perhaps plan -n 5e6 -p 0.01\n"
        "perhaps plan --bytes 64MiB -p 1e-4\n"
        "perhaps plan -n 1M --bits-per-key 12 --json\n"
        "perhaps plan -n 1M --plot bits.svg",
        NULL, 0, 0, cmd_plan, "Print the table as JSON, with kinds[] for its rows.",
        {{"Picture", "--plot draws bits per key against the false-positive rate, from 0.1 to 1e-6 and that of -p, for "
          "every kind and the theoretical minimum. Without -n it is for a million keys."},
         STATIC_FILTERS, KINDS, GROWING, WINDOWS, NUMBERS}},
    [CMD_BUILD] = {"build", "-o FILE|--at URL [OPTION...] [KEYS...]", "make a filter from lines",
        "Reads keys, one per line, from the files KEYS or standard input, and writes a filter that contains them all "
        "to FILE. Without -n the keys of plain files are counted first; from a pipe they go into a growing filter.",
        "perhaps build -n 5e6 -p 0.01 -o phones.ph phones.txt\n"
        "perhaps build --csv --header -F name -o names.ph people.csv\n"
        "perhaps build -p 1e-4 -o urls.ph urls.gz\n"
        "perhaps build --static -p 0.001 -o phones.ph phones.txt\n"
        "perhaps build --smallest --scratch 512M -o names.ph names.txt\n"
        "perhaps build --window 10m -n 1M -o requests.ph /dev/null\n"
        "perhaps build --jsonl .user.id -o visitors.ph log.jsonl\n"
        "perhaps build --needs remove -o logins.ph logins.txt\n"
        "perhaps build -k bitmap -o days.ph days.txt\n"
        "perhaps build -k roaring -o days.roaring days.txt\n"
        "perhaps build --at redis://localhost/phones -n 1e9 -p 0.001 phones.txt\n"
        "perhaps build --at redis+bits://localhost/names -p 0.01 names.txt",
        NULL, 0, UINT_MAX, cmd_build, "Print what 'perhaps info --json' says about the new filter.",
        {{"The file", "FILE appears complete or not at all, and is never one of KEYS. With -f it replaces what is "
          "there, with its owner and permissions, and with it whatever other processes have added meanwhile."},
         GROWING, STATIC_FILTERS, WINDOWS, KINDS,
         {"Servers", "With --at the keys go to servers, into filters at the keys NAME:0, NAME:1 and so on; the hash "
          "NAME describes them. The kinds are bloom (the default) and cuckoo, which both grow beyond -n. If the "
          "command is interrupted, the keys added so far stay, and 'perhaps add --at' goes on from there.\n\n" URLS},
         KEYS, NUMBERS}},
    [CMD_ADD] = {"add", "FILTER|--at URL [OPTION...] [KEYS...]", "add lines to a filter",
        "Adds the keys in the files KEYS, or on standard input, to FILTER. The new filter replaces the old file in one "
        "step when all keys are in it. If anything fails, the old file stays as it was.",
        "perhaps add phones.ph new.txt\n"
        "tail -n 1000 log | perhaps add seen.ph --in-place\n"
        "perhaps add --at redis://localhost/phones new.txt",
        NULL, 1, UINT_MAX, cmd_add,
        "Print as JSON how many keys were read, how many were new, and what the filter holds now.",
        {{"Copies", "A cuckoo or counting filter stores another copy of a key that it has already. All other kinds "
          "have a key once. Static filters (fuse, ribbon) take no more keys: build them again."},
         {"In place", "--in-place changes the file itself, without a copy in memory. If it is killed, or the machine "
          "crashes, the file is marked as unfinished: the keys added before are in it, and --recover goes on with it. "
          "Ctrl-C finishes the file first. cuckoo filters and tables cannot be changed in place, and a bitmap cannot "
          "grow there."},
         {"Several processes", "The file is locked while it is changed. Of several processes that change it, one waits "
          "for the other, at most as long as --patience says, so that no change is lost. Readers do not wait: they see "
          "the old filter or the new one. Only a file that is being changed in place cannot be opened.\n\n"
          "A window by time first forgets what is too old, by the machine's clock."},
         {"Servers", "With --at there is no FILTER: keys are added to a set on servers. Keys that were sent stay "
          "there, whatever happens afterwards.\n\n" URLS},
         KEYS}},
    [CMD_REMOVE] = {"remove", "FILTER|--at URL [OPTION...] [KEYS...]", "remove lines from a filter that can remove",
        "Removes the keys in the files KEYS, or on standard input, from FILTER, one copy for each line. counting, "
        "cuckoo, table and bitmap filters can do that; 'perhaps build --needs remove' makes one. Remove only keys that "
        "were added.",
        "perhaps remove logins.ph expired.txt\n"
        "perhaps remove days.ph --in-place gone.txt",
        NULL, 1, UINT_MAX, cmd_remove,
        "Print as JSON how many keys were read, removed and not found, and what the filter holds now.",
        {{"What not to remove", "Remove only what was added. If counting or cuckoo says 'perhaps' to a key that was "
          "never added, removing that key removes a copy of another key that looks the same, and that key is then no "
          "longer found. These filters cannot tell the two apart, so no message can warn of it. table and bitmap can: "
          "use -k table where others choose what is removed. Keys that were not found are counted, and a message says "
          "how many."},
         {"The file", "As with add, the new filter replaces the old file in one step, or --in-place changes the file "
          "itself. It is locked meanwhile, and other processes wait as long as --patience says."},
         {"Servers", "With --at there is no FILTER: keys are removed from a set on servers that was built with --needs "
          "remove. If the connection breaks, the command stops: to remove a key twice could lose another key.\n\n"
          URLS},
         KEYS}},
    [CMD_CHECK] = {"check", "FILTER|--at URL [OPTION...] [KEYS...]",
        "print the keys that are perhaps in a filter, like grep",
        "Reads keys from the files KEYS or standard input, and prints those that FILTER perhaps contains, in order; "
        "with -v those that it definitely does not contain. Where a key is part of a record, the whole record is "
        "printed.",
        "perhaps check phones.ph wanted.txt\n"
        "perhaps check -v phones.ph other.txt\n"
        "# exactly: hits are looked up in the file that the filter was built from\n"
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
        "many were false positives.",
        {{"Exact answers", "What is printed is the intersection of KEYS with the filter's keys, and a few false "
          "positives; with -v the difference, without as many. With --confirm FILE both are exact: for tables, a "
          "semi-join and an anti-join. A hit counts only if it is a key in FILE, the file that the filter was built "
          "from. FILE is read once, after KEYS; '-' is standard input. This takes memory for the hits only, which are "
          "printed when all is read. With -v, lines that only FILE showed to be absent come last.\n\n"
          "Keys in FILE stand where the filter remembers them, or where --confirm-csv and the options after it say. If "
          "the filter was made from lines, each line of FILE is a key."},
         {"The filter", "The filter is mapped, not read into memory. A window by time is copied, and forgets what is "
          "too old by now. All of the filter is verified first, unless --no-verify is given."},
         {"Servers", "With --at there is no FILTER: the servers are queried.\n\n" URLS},
         KEYS}},
    [CMD_COUNT] = {"count", "FILTER [OPTION...] [KEYS...]", "print how often each key is in a filter that counts",
        "Reads keys from the files KEYS or standard input, and prints for each the number of its copies in FILTER, a "
        "tab, and the line. counting and cuckoo filters can do that; 'perhaps build --needs count' makes one.",
        "perhaps count logins.ph names.txt\n"
        "perhaps count logins.ph names.txt | sort -rn | head -n 3",
        "0 if a key was there, 1 if none, 2 after an error.", 1, UINT_MAX, cmd_count,
        "Print as JSON how many keys were checked, present and absent, and how many copies they have, in place of the "
        "keys.",
        {{"Counts", "A count is never too small, and too large only if another key looks the same. counting counts to "
          "15, which then means 15 or more."},
         KEYS}},
    [CMD_DEDUP] = {"dedup", "[OPTION...] [FILE...]", "print each line once, in order, without sorting",
        "Prints the first occurrence of each line of the files or standard input, in input order, as soon as it is "
        "read (works with 'tail -f'). It remembers a digest of each line, 11 bytes or so.",
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
        "unless -o says where these go.",
        {{"Memory", "A line is remembered by a digest of 64 bits, in 11 bytes or so, beside up to 80 MiB for reading. "
          "Two of n distinct lines share a digest, and the second is lost, with a chance of n²/2^65: 1 in 400,000 for "
          "ten million lines. --exact compares the lines themselves; what the system counts as its memory includes "
          "pages of mapped files, which it can take back at any time, and lines from pipes are kept in a temporary "
          "file in $TMPDIR. --fpr takes less memory and loses more lines: at 1e-3 it takes 2 bytes per line of plain "
          "files, whose number it estimates, or with -n, and 5 for a pipe. -c reports it all. The hash has a random "
          "seed in each run, so that nobody can prepare lines for it.\n\n"
          "With --last a line that comes again in time is a repeat and is remembered anew. A line is forgotten after "
          "at most a third more distinct lines or time. Thirds of a time are rounded up to seconds: after 4s for 1s, "
          "after 16s for 10s.\n\n"
          "Each line of output ends with a line end, also if the last one of the input has none."},
         {"State", "--state goes on where the last run ended. FILE may be any set that 'perhaps build' makes; a new "
          "one is made as --fpr, --last, -n, --hash and the options of keys say. They need not be given again, and "
          "those that contradict the file are refused. A state keeps its seed, and states of one --seed can be merged. "
          "A state of a fixed size, with -n, loses more and more lines once it is full.\n\n"
          "The state is saved at the end, also after SIGTERM, SIGINT or SIGHUP, and if the output cannot be written "
          "any more: then it has only lines that were printed. In between, new digests go into a journal beside it, "
          "FILE.journal. After a kill the next run takes the journal in, and prints again only lines that came after "
          "the last save. If the power fails, the state may know lines that a file of output has lost.\n\n"
          "One process at a time may use a state; another waits as long as --patience says. While there is a journal, "
          "other commands do not change the file and do not see what is in the journal. 'perhaps dedup --state FILE < "
          "/dev/null' takes in what a killed run left."},
         {"Texts that repeat in part", "--ngram N and --overlap R drop a line if at least a share R of its runs of N "
          "words were in lines kept before. A line that is kept adds all its runs, and one that is dropped adds none. "
          "A run that a line has twice counts twice. Words stand between ASCII white space, and a line of fewer than N "
          "words is one run. With --field or --jsonl the words are those of that field.\n\n"
          "N is 13 and R is 0.8 unless told otherwise. A state remembers N. "
          "All other options work as for lines, and -n is the number of runs. Two runs that share a digest do not by "
          "themselves lose a line. With --fpr 1e-3 a run takes 2 bytes."},
         {"Servers", "With --at the lines are remembered by a set on servers that any number of machines share: each "
          "line is printed by the machine that sends it first. A missing set is made, in shards that grow, for -n "
          "lines and with --fpr 1e-6 unless told otherwise; an existing set stays as it is. redis+bits:// needs -n.\n\n"
          "No line is lost when a connection breaks: a line that the server may or may not have is printed, and a "
          "warning says how many there were. But servers keep what was sent even if it could not be printed, because "
          "the program was killed or the disk is full: at most a round of lines, 65,536 or so.\n\n" URLS},
         KEYS}},
    [CMD_LIST] = {"list", "FILTER [OPTION...]", "list the members of a bitmap or table",
        "Lists the integers in a bitmap or Roaring bitmap, in decimal and rising order, or the digests in a table, as "
        "16 hexadecimal digits in no order; one per line. Other kinds have no members to list, and a table has the "
        "digests of keys, not the keys.",
        "perhaps list days.ph\n"
        "perhaps list days.ph --from 1000 --limit 1",
        NULL, 1, 1, cmd_list, "Print one JSON object, with members[] for the lines.", NO_SECTIONS},
    [CMD_INFO] = {"info", "FILTER [FILTER]|--at URL [OPTION...]", "describe a filter, or what two have in common",
        "Shows what FILTER is, how full it is, and its false-positive rate, planned and now. Of two filters it shows "
        "how many keys each has, how many they share, and the Jaccard similarity.",
        "perhaps info phones.ph\n"
        "perhaps info customers.ph visitors.ph\n"
        "perhaps info --bits tiny.ph\n"
        "perhaps info --json phones.ph | jq .fpr_now\n"
        "perhaps info --at redis://localhost/phones",
        NULL, 1, 2, cmd_info,
        "Print all of it as JSON. See 'JSON' below.",
        {{"JSON", "A composite filter has children[] for its layers, generations or shards. Two filters have files[] "
          "and overlap, with a, b, intersection, union and jaccard, an error for each (a_error ...; null if they "
          "cannot tell), and exact."},
         {"Composite filters", "Of a growing, window or sharded filter it shows each layer, generation or shard; of "
          "more than 40, the fullest and the emptiest."},
         {"Two filters", "Both must have been made alike: same kind, -n, -p or size, hash, seed, --key and -i. "
          "Bitmaps, Roaring bitmaps and tables may differ in size, and their numbers are exact. Other kinds give "
          "estimates with standard errors: the truth is within twice the error in 95 of 100 cases. The Jaccard "
          "similarity is the number of shared keys divided by the number of all keys; for two empty filters it is 1. "
          "Filters that are far too full tell nothing. Static filters, and filters of several layers or generations, "
          "cannot be compared."},
         {"Servers", "With --at there is no FILTER: it shows a set on servers, and how much of it each server has.\n\n"
          URLS}}},
    [CMD_EXPLAIN] = {"explain", "FILTER [OPTION...] [KEY...]", "show step by step why a filter answers as it does",
        "Shows for each KEY its digest, the bits, counters or slots that a query looks at, what they contain, and the "
        "answer with the reason. KEY is a key itself, not a file of keys; without KEY, keys are read from standard "
        "input.",
        "perhaps explain phones.ph 13800138000\n"
        "# a Bloom filter of 16 bits and 6 hash functions, step by step\n"
        "perhaps build -k bloom --bytes 2 --hashes 6 -o tiny.ph fruit.txt\n"
        "perhaps explain --keys fruit.txt tiny.ph pear hammer\n"
        "perhaps explain --json phones.ph 1 2 3 | jq -r '.keys[].why'",
        "0 if a key is perhaps in the filter, 1 if none, 2 after an error.", 1, UINT_MAX, cmd_explain,
        "Print one JSON object, with keys[] for the keys, and steps[] of each. Digests and what is in slots are "
        "hexadecimal, as in text.",
        {{"Composite filters", "Of a composite filter it also shows the layers, generations or shards, in the order in "
          "which they are queried."},
         {"Who holds the bits", "With --keys it also shows the keys in FILE that hold the same bits, counters or "
          "slots. A key that is not in FILE, and for which the filter says 'perhaps', is a false positive. Static "
          "filters (fuse, ribbon) have no such keys to show: what is in their slots is the work of all keys "
          "together."},
         KEYS}},
    [CMD_MERGE] = {"merge", "A B... -o FILE [OPTION...]", "make the union of filters",
        "Writes to FILE the filter that would have come from adding the keys of all the given filters. They must have "
        "been made alike: same kind, -n, -p or size, hash, seed, --key and -i.",
        "perhaps merge monday.ph tuesday.ph wednesday.ph -o week.ph\n"
        "perhaps merge names.parquet --fold 64KiB -o fewer.parquet",
        NULL, 2, UINT_MAX, cmd_combine, "Print what 'perhaps info --json' says about the new filter.",
        {{"Kinds", "--fold is for parquet filters. The false-positive rate rises, and a single filter A is allowed. "
          "Tables and bitmaps may differ in size. Of counting and cuckoo filters the union has all copies of "
          "all filters. Static filters cannot be merged: build one of all keys. --field, --delimiter and -0 may "
          "differ: those of the first filter are remembered."},
         {"The file", "FILE may be one of the filters, with -f. It is locked before they are read, so that nothing "
          "that another process adds to it is lost: one waits for the other, at most as long as --patience says."}}},
    [CMD_INTERSECT] = {"intersect", "A B... -o FILE [OPTION...]", "make the intersection of filters",
        "Writes to FILE a filter of the keys that all the given filters perhaps contain. Every key that is in all of "
        "them is kept. The filters must have been made alike: same kind, -n, -p or size, hash and seed.",
        "perhaps intersect customers.ph visitors.ph -o both.ph\n"
        "perhaps intersect today.ph yesterday.ph -o still-there.ph", NULL, 2, UINT_MAX, cmd_combine,
        "Print what 'perhaps info --json' says about the new filter.",
        {{"Precision", "The result has more false positives than a filter made from the common keys alone. Of bitmaps "
          "it is exact, and they may differ in size."}}},
    [CMD_SUBTRACT] = {"subtract", "A B... -o FILE [OPTION...]", "make the difference of bitmaps",
        "Writes to FILE the integers that are in A and in none of the others. Only bitmaps and Roaring bitmaps can be "
        "subtracted; they may differ in size.",
        "perhaps subtract today.ph yesterday.ph -o new.ph\n"
        "perhaps subtract yesterday.ph today.ph -o gone.ph", NULL, 2, UINT_MAX, cmd_combine,
        "Print what 'perhaps info --json' says about the new filter.", NO_SECTIONS},
    [CMD_DIFFER] = {"differ", "A B... -o FILE [OPTION...]", "make the symmetric difference of bitmaps",
        "Writes to FILE the symmetric difference: the integers that are in one of two bitmaps but not in both; of more "
        "than two, in an odd number of them. Only bitmaps and Roaring bitmaps have one; they may differ in size.",
        "perhaps differ today.ph yesterday.ph -o changed.ph\n"
        "perhaps differ today.ph yesterday.ph -o - -q | wc -c", NULL, 2, UINT_MAX, cmd_combine,
        "Print what 'perhaps info --json' says about the new filter.", NO_SECTIONS},
    [CMD_VERIFY] = {"verify", "FILTER [--keys FILE] [OPTION...]",
        "check a filter file for damage, and a filter against its keys",
        "Compares every byte of FILTER with its checksums. With --keys, it also checks that every key in FILE is "
        "found, and measures the false-positive rate with a million random non-members.",
        "perhaps verify phones.ph\n"
        "perhaps verify phones.ph --keys phones.txt",
        NULL, 1, 1, cmd_verify, "Print as JSON how much was checked, and with --keys what was found and measured.",
        {{"What is checked", "Foreign formats have no checksums: only their header is checked. If keys are "
          "missing, it says how many and where the first one is. The measured rate is shown beside the planned one and "
          "the one that follows from the bits."},
         KEYS}},
    [CMD_RDB] = {"rdb", "FILE [OPTION...]", "list what in an RDB file of Redis or Valkey needs a module",
        "Reads FILE, which a server saved (dump.rdb, or the base file of an append-only file; '-' is standard "
        "input), and prints a line for each key whose value belongs to a module, with its type, size and name, and "
        "whether a server with perhaps.so can load it. No server is needed.",
        "perhaps rdb dump.rdb\n"
        "perhaps rdb -c dump.rdb && echo 'nothing is lost'\n"
        "gzip -c dump.rdb | gunzip | perhaps rdb --json -",
        "0 if perhaps.so can load all that needs a module, 1 if not, 2 after an error.", 1, 1, cmd_rdb,
        "Print one JSON object, with needs[] for the lines and types[] for the counts.",
        {{"Lines", "A line has the database, the type and the version of its encoding, its bytes in the file, "
          "whether a server with perhaps.so and no other module can load it, and its name. Then the keys are counted "
          "by type. A file of any size takes the same little memory. Names that end in .gz, .zst, .xz, .bz2 or .lz4 "
          "are decompressed."},
         {"Before replacing a module", "A server that meets a single key, or other data, of a module that it lacks "
          "ends while it starts. RedisBloom also has count-min sketches, top-k lists and t-digests, which perhaps.so "
          "does not have."},
         {"What is read", "Beside keys, modules may keep data for themselves ('aux') or with keys of any type "
          "('metadata'). Values of all other types are skipped: those of Redis up to 8.6 and of Valkey up to 9.1 are "
          "known, and a file with a newer one is refused. Damage ends the list, with the number of the byte; the "
          "checksum at the end is compared, if the server saved one."}}},
    [CMD_BENCH] = {"bench", "[OPTION...]", "measure the kinds of filter beside the limit of this machine",
        "Measures adds and queries, single and in batches, for working sets of 1, 16 and 128 MiB, beside the time of "
        "the memory accesses alone and beside the best published filters. A default run measures the main kinds and "
        "takes a minute.",
        "perhaps bench\n"
        "perhaps bench --kind cuckoo --isa avx2 --goals\n"
        "perhaps bench --kind blocked --items 1M --json >before.json\n"
        "perhaps bench --kind blocked --items 1M --compare before.json",
        NULL, 0, 0, cmd_bench,
        "Print the measurements as JSON, with results[] for the times and ratios[] for what they are compared with.",
        {{"Method", "All filters take turns on the same keys. A ratio is the median over at least 15 turns, with its "
          "quartiles. A run of a single kind takes a minute, too."},
         NUMBERS}},
    [CMD_COMPLETIONS] = {"completions", "bash|zsh|fish", "print completions for a shell",
        "Prints a script that teaches the shell to complete the commands and options of perhaps. Installed packages "
        "have the scripts in place already.",
        "source <(perhaps completions bash)\n"
        "perhaps completions fish > perhaps.fish", NULL, 1, 1, cmd_completions, NULL, NO_SECTIONS},
    [CMD_VERSION] = {"version", "[OPTION...]", "print the version",
        "Prints the version of the program and the library in it.",
        "perhaps version\n"
        "perhaps version --json",
        NULL, 0, 0, cmd_version, "Print the version as JSON.", NO_SECTIONS},
    [CMD_HELP] = {"help", "[COMMAND] [OPTION...]", "explain a command",
        "Explains COMMAND and all its options; without COMMAND, lists the commands. 'perhaps COMMAND -h' is shorter.",
        "perhaps help build\n"
        "perhaps build -h",
        NULL, 0, 1, cmd_help, NULL, NO_SECTIONS},
};
/* clang-format on */
