# Parquet's Bloom filters as files: recognised, changed, folded; and what is refused.
load helper

prepare() {
  seq 1 1000 >keys
  seq 1001 1500 >more
  "$PERHAPS" build -k parquet -n 1500 -p 0.01 -o f.parquet keys
}

@test "a filter of Parquet is recognised by its header" {
  [ "$(stat -c %s f.parquet)" -eq $((16 + 2048)) ]
  [ "$(head -c 16 f.parquet | od -An -tx1 | tr -d ' \n')" = 1580201c1c00001c1c00001c1c000000 ]
  try 0 info --json f.parquet
  holds '.kind == "parquet" and .hash == "xxh64" and .bytes == 2048 and .hashes == 8 and .cache_lines == 1'
  try 0 check -c f.parquet keys
  [ "$output" = 1000 ] || wrong "keys are missing"
  try 0 add f.parquet more
  try 0 check -c -k parquet f.parquet keys more
  [ "$output" = 1500 ] || wrong "keys are missing"
}

@test "merge --fold makes the filter that would have been made smaller" {
  "$PERHAPS" build -k parquet -n 1500 -p 0.01 -o g.parquet more
  try 0 merge f.parquet g.parquet --fold 1KiB -o folded
  "$PERHAPS" build -k parquet -n 1500 --bytes 1024 -o small keys more
  cmp folded small
  try 0 merge f.parquet --fold 1MiB -o same
  cmp f.parquet same
}

@test "what cannot be folded is refused" {
  refuses "--fold: the filter's 2048 bytes cannot be halved to 31 or fewer" merge f.parquet --fold 31 -o x
  "$PERHAPS" build -o f.ph keys
  refuses "be folded" merge f.ph --fold 100 -o x
  refuses "B is missing" merge f.parquet -o x
}

@test "no filter is made that others would not read" {
  refuses "the largest has 128 MiB" build -k parquet -n 1e9 -p 0.001 -o x keys
  refuses "the largest has 128 MiB" build -k parquet -n 1000 --bytes 129MiB -o x keys
}

@test "a header that is not right is refused by name" {
  # change OFFSET HEX TEXT
  change() {
    cp f.parquet bad
    printf '%b' "$(sed 's/../\\x&/g' <<<"$2")" | dd of=bad bs=1 seek="$1" conv=notrunc status=none
    refuses "$3" check -k parquet bad keys
  }
  change 1 8220 "a number of bytes that does not make blocks of 32"
  change 1 8120 "a number of bytes that does not make blocks of 32"
  change 1 8021 "fewer bytes than its header says"
  change 1 801f "more bytes than its header says"
  change 1 ffffffffffff "an incomplete header"
  change 4 2c "an algorithm other than BLOCK"
  change 8 2c "a hash other than XXHASH"
  change 12 2c "a compression other than UNCOMPRESSED"
  change 3 2c "fields in its header that are not those of a Bloom filter"
  change 11 00 "a header that lacks fields"
  head -c 15 f.parquet >bad
  refuses "an incomplete header" check -k parquet bad keys
  : >bad
  refuses "an incomplete header" check -k parquet bad keys
}

@test "a foreign file that does not state its capacity raises no alarm, whatever it holds" {
  seq 2000 >keys
  for kind in guava spark parquet; do
    "$PERHAPS" build -k $kind -n 1000 -f -o a keys 2>/dev/null
    seq 2001 2010 >more
    try 0 add -k $kind a more
    [ -z "$stderr" ] || wrong "$kind: $stderr"
    try 0 merge -k $kind a a -f -o b
    [ -z "$stderr" ] || wrong "$kind: $stderr"
    try 0 info -k $kind b
    [[ $output != *"more than"* ]] || wrong "$kind"
  done
}
