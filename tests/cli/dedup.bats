# dedup: each line once, in order, as awk '!seen[$0]++' has it; in all its ways of remembering.
load dedup_helper

# ---------------------------------------------------------------------------------------- lines ---

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

@test "lines that are nearly all repeats, then new ones, of which some repeat at once, until the table becomes shards" {
  random_lines 40000 2000 3 >few
  random_lines 300000 400000 4 >many
  cat few few many few >mixed
  first_copies mixed >firsts
  repeats mixed >repeated
  dedup mixed | same firsts
  dedup -d mixed | same repeated
  cat mixed | dedup | same firsts
  on_one mixed | same firsts
  [ "$(dedup -n 300000 mixed | wc -l)" -eq "$(wc -l <firsts)" ]
  dedup --json mixed | grep -q "\"unique\": $(wc -l <firsts),"
  dedup --state seen.ph few few | same <(first_copies few)
  cat <(first_copies few) <("$PERHAPS" dedup --state seen.ph mixed) | same firsts
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

# ----------------------------------------------------------------------------------------- keys ---

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
  [ "$output" = $'1\ta\n1\tb\n1\tc' ] || wrong "not the lines before it"
}

@test "a line without the field is named, and the lines before it printed" {
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

# -------------------------------------------------------------------------------------- summary ---

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
  try 0 dedup --json --u64 --hash siphash --key-in-file a
  holds '.loss > 2.6e-10'
  try 0 dedup --json --fpr 1% a
  holds '.loss == 0 and .fpr == 0.01 and .unique > 98900'
  run --separate-stderr "$PERHAPS" dedup -c --exact a
  [[ $stderr == *"exact: no line was lost"* ]] || wrong "the last line"
  run --separate-stderr "$PERHAPS" dedup -c -p 1e-4 a
  [[ $stderr == *"of the new lines may have been taken for repeats, and lost"* ]] || wrong "the last line"
}

# --------------------------------------------------------------------------------------- output ---

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
  run --separate-stderr bash -c "'$PERHAPS' dedup $mode -d b a >>a"
  [ "$status" -eq 2 ] || wrong "standard output"
  says "standard output: is also read"
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

# ---------------------------------------------------------------------------------------- input ---

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
  refuses "--save-every: needs --state" dedup --save-every 1m a
  refuses "-n: 0 lines need no memory" dedup -n 0 a
  refuses "--last: a number of lines takes the place of -n" dedup -n 5 --last 5 a
  refuses "--last: with --fpr" dedup --fpr 0.1 --last 5s a
  refuses "--key: given more than once" dedup --u64 --hex a
  refuses "--delimiter: needs --field" dedup --delimiter , a
  refuses "--ignore-case: goes with keys of bytes" dedup -i --hex a
  refuses "--exact: siphash may give two numbers" dedup --exact --u64 --hash siphash --key-in-file a
  [ ! -e f.ph ]
}
