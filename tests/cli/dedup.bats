# dedup: each line once, in order, as awk '!seen[$0]++' has it; in all its ways of remembering.
load helper

modes=("" --exact "--fpr 1e-9" "-n 5000" "--last 1M")

# each_mode FUNCTION ARGS...: calls it for every way of remembering, with the options in $mode.
each_mode() {
  for mode in "${modes[@]}"; do
    echo "with '$mode':"
    "$@"
  done
}

# dedup ARGS...: the program in the mode that is under test.
dedup() {
  # shellcheck disable=SC2086 # two words
  "$PERHAPS" dedup $mode "$@"
}

# on_one ARGS...: the same on one processor.
on_one() {
  # shellcheck disable=SC2086 # two words
  taskset -c 0 "$PERHAPS" dedup $mode "$@"
}

# same FILE: standard input has the same bytes.
same() {
  cmp - "$1" || wrong "differs from $1"
}

# random_lines N DIFFERENT SEED: that many lines, of that many at most.
random_lines() {
  LC_ALL=C awk -v n="$1" -v d="$2" -v seed="$3" 'BEGIN { srand(seed); for (i = 0; i < n; i++) { x = int(rand() * d); print x, substr("abcdefghijklmnopqrstuvwxyz", 1, x % 27) } }'
}

first_copies() {
  LC_ALL=C awk '!seen[$0]++' "$@"
}

repeats() {
  LC_ALL=C awk 'seen[$0]++' "$@"
}

# ---------------------------------------------------------------------------------------------------- lines ---

many_ways() {
  dedup a | same firsts_a
  dedup a b a | same firsts
  dedup <a | same firsts_a
  cat a b | dedup | same firsts
  dedup b - c <a | same firsts_b
  cat a | dedup b - c | same firsts_b
  cat a | dedup b /dev/stdin c | same firsts_b
  { read -r _; dedup; } <a | same rest_a
  dedup -d a b | same repeated
  dedup -d <a - b | same repeated
  cat a | on_one - b c | same firsts
  on_one a b | same firsts
}

@test "first copies and repeats, of files, pipes and files that were begun, also on one processor" {
  random_lines 30000 9000 1 >a
  random_lines 30000 18000 2 >b
  first_copies b a >c
  first_copies a >firsts_a
  first_copies a b >firsts
  first_copies b a >firsts_b
  tail -n +2 a | first_copies >rest_a
  repeats a b >repeated
  each_mode many_ways
}

small_ways() {
  printf '' | dedup | same none
  dedup none | same none
  dedup none none empty none | same empty
  printf '\n\n\n' | dedup | same empty
  printf 'a\nb\na' | dedup | same ab
  printf 'b' >b
  printf 'b\na' >ba
  printf 'a\n' | dedup - b ba b | same ab
  dedup b ba | same <(printf 'b\na\n')
  printf 'a\r\nb\na\na\r\nb\r\n' | dedup | same <(printf 'a\r\nb\na\nb\r\n')
}

@test "no lines, empty lines, a last line without its end, lines that end in CR LF" {
  : >none
  echo >empty
  printf 'a\nb\n' >ab
  each_mode small_ways
}

binary_ways() {
  dedup binary | same binary_firsts
  cat binary | dedup | same binary_firsts
  dedup -0 nulls | same nulls_firsts
  cat nulls | dedup -0 | same nulls_firsts
}

@test "lines are bytes: NUL and bytes above 127 in them, and NUL for their end with -0" {
  printf 'a\0b\na\0c\n\377\376\na\0b\na\n\0\n\n\377\376\n\0\n\303\244\n' >binary
  printf 'a\0b\na\0c\n\377\376\na\n\0\n\n\303\244\n' >binary_firsts
  printf 'a\nb\0a\0a\nb\0\0\nb\0\0\n\0a' >nulls
  printf 'a\nb\0a\0\0\nb\0\n\0' >nulls_firsts
  each_mode binary_ways
}

empty_lines() {
  dedup many | same one
  cat many | dedup | same one
  dedup -d many | wc -l | same <(echo 99999)
}

@test "100,000 empty lines" {
  head -c 100000 /dev/zero | tr '\0' '\n' >many
  echo >one
  each_mode empty_lines
}

long_lines() {
  dedup long other long other last | same long_firsts
  cat long other long other last | dedup | same long_firsts
}

@test "lines of 5 MB, the same and different in the last byte" {
  modes=("" --exact)
  head -c 5000000 /dev/zero | tr '\0' x >start
  { cat start; echo a; } >long
  { cat start; echo b; } >other
  printf 'x\n%s' "$(cat start)" >last
  cat long other last <(echo) >long_firsts
  each_mode long_lines
}

# ----------------------------------------------------------------------------------------------------- keys ---

field_ways() {
  dedup --field 2 tabs | same tabs_firsts
  cat tabs | dedup --field 2 | same tabs_firsts
  dedup --field 2 --delimiter , commas | same commas_firsts
  dedup --field 1 --delimiter X -i letters | same letters_firsts
  dedup -d --field 2 tabs | same <(printf '4\ta\n5\tb\tc\n')
}

@test "--field and --delimiter: the key is in the line, all of which is printed" {
  printf '1\ta\n2\tb\n3\t\n4\ta\n5\tb\tc\n6\tab' >tabs
  printf '1\ta\n2\tb\n3\t\n6\tab\n' >tabs_firsts
  printf '1,a\n1,b,x\n2,a\n3,b\n4,\n5,,' >commas
  printf '1,a\n1,b,x\n4,\n' >commas_firsts
  printf 'xXa\nxx\nxX\nXx\nXX\n' >letters
  printf 'xXa\nxx\nXx\n' >letters_firsts
  each_mode field_ways
}

no_field() {
  run --separate-stderr dedup --field 2 good bad
  [ "$status" -eq 2 ] || wrong "status"
  says "bad: line 3 has only 1 field"
  [ "$output" = $'1\ta\n1\tb' ] || wrong "not the file before it"
}

@test "a line without the field is named, and the file before it printed" {
  printf '1\ta\n1\tb\n' >good
  printf '1\tc\n1\tc\nnothing\n1\td\n' >bad
  each_mode no_field
}

case_ways() {
  dedup --ignore-case letters | same letters_firsts
  cat letters | dedup -i | same letters_firsts
  dedup letters | same letters
}

@test "--ignore-case: letters of ASCII, and only those" {
  printf 'Ab\nAB\nab\naB\n@\n`\n[\n{\n\303\204\n\303\244\n' >letters
  printf 'Ab\n@\n`\n[\n{\n\303\204\n\303\244\n' >letters_firsts
  each_mode case_ways
}

encoded_ways() {
  dedup --u64 numbers | same numbers_firsts
  dedup --key int64 numbers | same numbers_firsts
  cat numbers | dedup --key int32 | same numbers_firsts
  dedup --hex hex | same hex_firsts
  cat hex | dedup --key hex | same hex_firsts
  printf '\303\244\na\n\303\244\n' | dedup --key utf16 | same <(printf '\303\244\na\n')
  dedup --key u64le records | same records_firsts
  cat records | dedup --key u64le | same records_firsts
  dedup -d --key u64le records | wc -c | same <(echo 8)
}

@test "keys that are numbers or hexadecimal are the same however they are written" {
  printf '5\n05\n7\n0\n5\n00\n7\n8' >numbers
  printf '5\n7\n0\n8\n' >numbers_firsts
  printf 'abcd\nABCD\nabcd00\nAb\n\nab\nabCD00' >hex
  printf 'abcd\nabcd00\nAb\n\n' >hex_firsts
  printf '12345678abcdefgh12345678\n\n\n\n\n\n\n\n' >records
  printf '12345678abcdefgh\n\n\n\n\n\n\n\n' >records_firsts
  each_mode encoded_ways
}

@test "a line that is no key is named" {
  printf '1\n2\nx\n' >bad
  try 2 dedup --u64 bad
  says "bad: line 3 is not a decimal number"
  printf '12345678123' >bad
  try 2 dedup --key u64le bad
  says "ends 3 bytes after its last record"
}

# -------------------------------------------------------------------------------------------------- summary ---

sums() {
  run --separate-stderr dedup -c a
  [ "$status" -eq 0 ]
  [ "$output" = "$(cat firsts)" ] || wrong "lines"
  [[ ${stderr_lines[0]} == "perhaps: 4,000 lines: 1,000 unique, 3,000 duplicates" ]] || wrong "first line"
  [[ ${stderr_lines[1]} =~ ^perhaps:\ [0-9.]+\ .iB\ of\ memory,\ [0-9.]+\ s,\ [0-9,]+\ lines\ a\ second$ ]] || wrong "second line"
  run --separate-stderr dedup --json a
  holds '.lines == 4000 and .unique == 1000 and .duplicates == 3000 and .memory_bytes > 1e6 and .lines_per_second > 0'
  [ "$(wc -l <<<"$output")" -eq 1 ] || wrong "lines with --json"
  rm -f out
  run --separate-stderr dedup --json -o out -d a
  holds '.unique == 1000'
  same repeated <out
}

@test "-c and --json tell lines, duplicates, memory and rate" {
  { seq 1000; seq 1000; seq 1000; seq 1000; } >a
  seq 1000 >firsts
  repeats a >repeated
  each_mode sums
}

@test "how much may have been lost is told" {
  seq 100000 >a
  try 0 dedup --json a
  holds '.loss > 2.6e-10 and .loss < 2.8e-10 and .fpr == 0'
  try 0 dedup --json --exact a
  holds '.loss == 0 and .fpr == 0'
  try 0 dedup --json --u64 a
  holds '.loss == 0 and .fpr == 0'
  try 0 dedup --json --fpr 1% a
  holds '.loss == 0 and .fpr == 0.01 and .unique > 98900'
  run --separate-stderr "$PERHAPS" dedup -c --exact a
  [[ $stderr == *"exact: no line was lost"* ]] || wrong "the last line"
  run --separate-stderr "$PERHAPS" dedup -c -p 1e-4 a
  [[ $stderr == *"of the new lines may have been taken for repeats, and lost"* ]] || wrong "the last line"
}

# --------------------------------------------------------------------------------------------------- output ---

outputs() {
  rm -f out
  dedup -o out a
  same firsts <out
  run --separate-stderr dedup -o out b
  [ "$status" -eq 2 ] || wrong "status"
  says "out: exists; give -f"
  same firsts <out
  dedup -f -o out b
  same b <out
  run --separate-stderr dedup -f -o a b a
  [ "$status" -eq 2 ] || wrong "status"
  says "a: is also read"
  ln -sf a link
  run --separate-stderr dedup -f -o link - <a
  [ "$status" -eq 2 ] || wrong "standard input"
  same <(seq 10; seq 10) <a
}

@test "-o makes a file, replaces none without -f, and never an input" {
  { seq 10; seq 10; } >a
  seq 10 >firsts
  seq 5 >b
  each_mode outputs
}

full_disk() {
  run --separate-stderr bash -c "'$PERHAPS' dedup $mode a >/dev/full"
  [ "$status" -eq 2 ] || wrong "status"
  says "standard output: cannot be written: No space left on device"
  run --separate-stderr dedup -o /dev/full a
  [ "$status" -eq 2 ] || wrong "status"
  says "/dev/full: cannot be written: No space left on device"
  run --separate-stderr bash -c "'$PERHAPS' dedup $mode --json a >/dev/full"
  [ "$status" -eq 2 ] || wrong "status"
}

@test "a full disk is told" {
  seq 100000 >a
  each_mode full_disk
}

# dedup with a limit of time, from which one line is read.
one_line_of() {
  # shellcheck disable=SC2086 # two words
  timeout 10 "$PERHAPS" dedup $mode "$@" 2>said 7>&- | head -n 1 >out
  status=${PIPESTATUS[0]}
}

ends() {
  one_line_of < <(yes)
  [ "$status" -eq 0 ] || wrong "repeats: $(cat said)"
  same y <out
  one_line_of < <(seq 100000000)
  [ "$status" -ne 124 ] || wrong "new lines"
  same 1 <out
  echo x >&7
  one_line_of pipe
  [ "$status" -eq 0 ] || wrong "nothing: $(cat said)"
  same x <out
  [ ! -s said ]
}

@test "it ends when nobody reads on: while new lines come, repeats, or nothing" {
  mkfifo pipe
  exec 7<>pipe
  echo y >y
  echo 1 >1
  echo x >x
  each_mode ends
  exec 7>&-
}

# ---------------------------------------------------------------------------------------------------- input ---

bad_inputs() {
  run --separate-stderr dedup a none b
  [ "$status" -eq 2 ] || wrong "status"
  [ "$output" = 1 ] || wrong "what came before"
  says "none: cannot be opened: No such file or directory"
  run --separate-stderr dedup folder
  [ "$status" -eq 2 ] || wrong "status"
  says "folder: cannot be read: Is a directory"
  if [ "$(id -u)" -ne 0 ]; then
    run --separate-stderr dedup secret
    [ "$status" -eq 2 ] || wrong "status"
    says "secret: cannot be opened: Permission denied"
  fi
}

@test "input that cannot be read" {
  echo 1 >a
  echo 2 >b
  echo 3 >secret
  chmod 0 secret
  mkdir folder
  each_mode bad_inputs
}

@test "options that do not go together" {
  echo 1 >a
  refuses "--exact: does not go with --fpr" dedup --exact --fpr 0.1 a
  refuses "--exact: does not go with --state" dedup --exact --state f.ph a
  refuses "--exact: does not go with --last" dedup --exact --last 10 a
  refuses "--exact: does not go with --at" dedup --exact --at redis://localhost/x a
  refuses "--at: does not go with --state" dedup --state f.ph --at redis://localhost/x a
  refuses "--at: does not go with --last" dedup --last 5 --at redis://localhost/x a
  refuses "--save-every: means nothing without --state" dedup --save-every 1m a
  refuses "-n: 0 lines need no memory" dedup -n 0 a
  refuses "--last: with a number says how many lines" dedup -n 5 --last 5 a
  refuses "--last: with --fpr" dedup --fpr 0.1 --last 5s a
  refuses "--key: given more than once" dedup --u64 --hex a
  refuses "--delimiter: means nothing without --field" dedup --delimiter , a
  refuses "--ignore-case: goes with keys of bytes" dedup -i --hex a
  [ ! -e f.ph ]
}

# --------------------------------------------------------------------------------------------------- --last ---

# Lines are "KEY NUMBER". A key that was in one of the last N lines is a repeat; one that 4/3 N different ones came after, or that
# never came, is new; between the two it may be either.
as_promised() {
  LC_ALL=C awk -v n="$1" 'NR == FNR { printed[$2] = 1; next }
    {
      different = 0
      delete seen
      for (i = FNR - 1; i > 0 && key[i] != $1; i--) if (!(key[i] in seen)) { seen[key[i]]; different++ }
      if (i > 0 && FNR - i <= n && $2 in printed) { print "repeat printed: " $0; exit 1 }
      if ((i == 0 || different >= n * 4 / 3) && !($2 in printed)) { print "new line lost: " $0; exit 1 }
      key[FNR] = $1
    }' "$2" lines || wrong "--last $1"
}

@test "--last N remembers N lines, and no more than a third more" {
  awk 'BEGIN { srand(7); for (i = 1; i <= 3000; i++) print int(rand() * rand() * 60), i }' >lines
  for n in 3 6 30; do
    "$PERHAPS" dedup --last $n --field 1 --delimiter ' ' lines >out
    as_promised $n out
    "$PERHAPS" dedup --last $n --field 1 --delimiter ' ' <lines >again
    cmp out again
  done
  "$PERHAPS" dedup --last 3 --field 1 --delimiter ' ' -d lines >repeated
  "$PERHAPS" dedup --last 3 --field 1 --delimiter ' ' lines >out
  sort -k2n out repeated | cmp - lines
}

@test "--last TIME forgets by the clock" {
  { echo a; echo a; sleep 0.5; echo a; sleep 4.1; echo a; echo b; } | "$PERHAPS" dedup --last 2s >out
  printf 'a\na\nb\n' | cmp - out
}

# --------------------------------------------------------------------------------------------------- streams ---

# prompt COMMAND: a line comes out of it soon, in the best of some tries.
prompt() {
  local line before took best=10000000 pid
  coproc STREAM { "$1"; }
  pid=$STREAM_PID
  for i in 1 2 3 4; do
    sleep 0.05
    before=${EPOCHREALTIME/./}
    printf 'line %s\nline %s\nline %s' "$i" "$i" "$i" >&"${STREAM[1]}"
    read -r -t 10 line <&"${STREAM[0]}"
    took=$((${EPOCHREALTIME/./} - before))
    [ "$line" = "line $i" ] || wrong "another line: $line"
    [ "$took" -ge "$best" ] || best=$took
    echo >&"${STREAM[1]}"
  done
  eval "exec ${STREAM[1]}>&-"
  ended "$pid"
  [ "$status" -eq 0 ] || wrong "it failed"
  [ "$best" -lt 50000 ] || wrong "$best microseconds"
}

@test "a line of a slow stream is printed within 50 ms, also on one processor" {
  each_mode prompt dedup
  modes=("" --exact)
  each_mode prompt on_one
}

pauses() {
  dedup pipe >out &
  exec 8>pipe
  cat lines >&8
  for _ in {1..200}; do
    [ "$(wc -l <out)" -eq 40000 ] && break
    sleep 0.05
  done
  cmp out lines
  exec 8>&-
  ended $!
  [ "$status" -eq 0 ]
}

@test "the output is complete whenever the input pauses" {
  mkfifo pipe
  seq 40000 >lines
  each_mode pauses
}

# --------------------------------------------------------------------------------------------------- --exact ---

@test "--exact compares what compressed files have in them" {
  random_lines 30000 9000 3 >a
  random_lines 30000 12000 4 >b
  gzip -k a b
  "$PERHAPS" dedup --exact a.gz b a b.gz | cmp - <(first_copies a b)
  "$PERHAPS" dedup --exact b a.gz | cmp - <(first_copies b a)
}

@test "--exact needs a folder for its temporary file, for pipes only" {
  seq 300000 >a
  TMPDIR=/nowhere "$PERHAPS" dedup --exact a | cmp - a
  run --separate-stderr env TMPDIR=/nowhere "$PERHAPS" dedup --exact < <(cat a)
  [ "$status" -eq 2 ]
  says "/nowhere: has no place for the temporary file of --exact"
  [[ $stderr == *"set TMPDIR"* ]]
}

@test "--exact leaves no file behind, and tells if there is no room for its temporary file" {
  seq 300000 >a
  mkdir temporary
  (
    ulimit -f 1000
    trap '' XFSZ
    TMPDIR=$PWD/temporary "$PERHAPS" dedup --exact < <(cat a) 2>said | tail -n 1 >/dev/null
    [ "${PIPESTATUS[0]}" -eq 2 ]
  )
  grep -q "^perhaps: .*/temporary: the temporary file of --exact cannot be written: File too large; set TMPDIR" said
  TMPDIR=$PWD/temporary "$PERHAPS" dedup --exact < <(cat a a) | cmp - a
  [ -z "$(ls -A temporary)" ]
}

@test "--exact goes on when its input loses its name, and tells if it is cut" {
  seq 200000 >a
  cp a b
  mkfifo pipe
  "$PERHAPS" dedup --exact -d b pipe >out &
  exec 7>pipe
  rm b
  cat a >&7
  exec 7>&-
  ended $!
  [ "$status" -eq 0 ]
  cmp a out
  cp a b
  "$PERHAPS" dedup --exact -d b pipe >out 2>said &
  exec 7>pipe
  echo 1 >&7
  for _ in {1..200}; do
    [ -s out ] && break
    sleep 0.05
  done
  truncate -s 1000 b
  cat a >&7 || true
  exec 7>&-
  ended $!
  [ "$status" -eq 2 ]
  grep -q "^perhaps: b: has become shorter while it was read" said
}

@test "--exact takes more files than may be open" {
  for i in {1..300}; do printf '%s\n%s\n' "$i" "$((i - 1))" >"part$i"; done
  cat part{1..300} part{1..300} >all
  first_copies all >firsts
  (
    ulimit -n 32
    "$PERHAPS" dedup --exact part{1..300} part{1..300} | cmp - firsts
  )
  "$PERHAPS" dedup --exact part{1..300} part{1..300} | cmp - firsts
}
