#!/usr/bin/env bats
# Guava itself beside -k guava: the same files, byte for byte, and the same answers to every query,
# in both directions.

load ../cli/helper

: "${GUAVA:?set GUAVA to the class path of Guava and of Guava.java}"

# guava: does what the lines of standard input say; see Guava.java.
guava() {
  java -Xshare:auto -XX:TieredStopAtLevel=1 -cp "$GUAVA" Guava
}

# same_file OURS THEIRS
same_file() {
  cmp "$1" "$2" || wrong "$1 and $2 differ"
}

# words: keys that are no numbers, with letters of one to four bytes.
words() {
  seq 1 2000
  seq -f 'key %.0f' 1 2000
  seq -f 'Schlüssel %.0f' 1 2000
  seq -f '鍵 %.0f 🔑' 1 2000
  printf '%s\n' a ab abc abcd abcdefg abcdefgh abcdefghijklmno abcdefghijklmnop abcdefghijklmnopq
}

@test "a million integers: equal files, and equal answers to 1,100,000 queries both ways" {
  seq 0 999999 >keys
  seq 0 1099999 >queries
  try 0 build -k guava -n 1000000 -p 0.01 --key int32 -o ours keys
  guava <<'END'
make theirs int32 1000000 0.01 keys
query ours int32 queries their_answers
END
  same_file ours theirs
  "$PERHAPS" check -k guava --key int32 theirs queries >our_answers
  same_file our_answers their_answers
  [ "$(wc -l <our_answers)" -eq 1000947 ]
}

@test "other funnels: integers with signs, long ones, UTF-8, UTF-16" {
  seq -10000 3 20000 >int32
  seq -9000000000000000000 4500000000000000 9000000000000000000 >int64
  words >bytes
  words >utf16
  for key in int32 int64 bytes utf16; do
    cat "$key" >queries."$key"
    if [[ $key == int* ]]; then seq 20001 60000; else seq -f 'non-member %.0f' 1 40000; fi >>queries."$key"
    try 0 build -k guava -n 8000 -p 0.02 --key "$key" -o ours."$key" "$key"
    echo "make theirs.$key $key 8000 0.02 $key"
    echo "query ours.$key $key queries.$key their_answers.$key"
  done >to_do
  guava <to_do
  for key in int32 int64 bytes utf16; do
    same_file ours."$key" theirs."$key"
    "$PERHAPS" check -k guava --key "$key" theirs."$key" queries."$key" >our_answers
    same_file our_answers their_answers."$key"
    [ "$(wc -l <our_answers)" -gt "$(wc -l <"$key")" ]
  done
}

@test "the older strategy: both go on with a file that says so" {
  seq 0 99999 >keys
  seq 0 199999 >queries
  { printf '\0\7\0\0\72\200' && head -c $((8 * 14976)) /dev/zero; } >ours
  cp ours theirs
  for key in int32 utf16; do
    try 0 add -k guava --key "$key" ours keys
    echo "add theirs $key keys"
    echo "query theirs $key queries their_answers.$key"
  done >to_do
  guava <to_do
  same_file ours theirs
  "$PERHAPS" check -k guava --key utf16 ours queries >our_answers
  same_file our_answers their_answers.utf16
  [ "$(wc -l <our_answers)" -gt 100000 ]
}

@test "sizes and hashes are those that Guava works out" {
  : >nothing
  for n in 1 7 64 1000 12345 999999; do
    for p in 0.5 0.1 0.03 0.0078 1e-6 1e-15; do
      try 0 build -k guava -n "$n" -p "$p" -o "ours-$n-$p" nothing
      echo "make theirs-$n-$p bytes $n $p nothing"
    done
  done >to_do
  guava <to_do
  for file in ours-*; do same_file "$file" "theirs-${file#ours-}"; done
}

@test "more: merge, recognising, and what cannot be" {
  seq 0 999 >some
  seq 500 1999 >others
  cat some others >all
  try 0 build -k guava -n 2000 -p 0.01 -o a some
  try 0 build -k guava -n 2000 -p 0.01 -o b others
  try 0 merge -o ours a b
  guava <<<"make theirs bytes 2000 0.01 all"
  same_file ours theirs
  try 0 check ours all
  [ "$(wc -l <<<"$output")" -eq 2500 ]
  try 0 info --json ours
  holds '.kind == "guava" and .hashes == 7 and .distinct > 1900 and .distinct < 2100'
  refuses "no filter of that size and rate" build -k guava -n 1 -p 0.9 -o c some
  refuses "prescribes the hash" build -k guava -n 10 -p 0.1 --seed 1 -o c some
  head -c 100 ours >cut
  refuses "fewer bytes than its header says" check -k guava cut some
}
