# Shards, and threads that read the keys of one filter.
load helper

prepare() {
  seq 1 60000 >keys
}

@test "--shards makes one filter of many" {
  try 0 build --shards 8 -k cuckoo -o f.ph keys --json
  holds '.kind == "sharded" and .base == "cuckoo" and (.children | length) == 8 and .items == 60000'
  holds '([.children[].items] | add) == 60000 and all(.children[]; .kind == "cuckoo")'
  try 0 check -c f.ph keys
  [ "$output" = 60000 ]
  try 0 remove f.ph keys
  try 0 verify f.ph
}

@test "sharded tables grow, list, merge and count as others do" {
  seq 60001 90000 >more
  "$PERHAPS" build --shards 4 -k table -n 100 --u64 -o f.ph keys
  "$PERHAPS" build --shards 4 -k table -n 100 --u64 -o g.ph more
  try 0 merge f.ph g.ph -o m.ph --json
  holds '.items == 90000'
  [ "$("$PERHAPS" list m.ph | sort -u | wc -l)" -eq 90000 ]
  try 0 verify m.ph --keys more
}

@test "info of very many shards shows the fullest and the emptiest, JSON all" {
  "$PERHAPS" build --shards 100 -k bloom -o f.ph keys
  LC_ALL=C try 0 info f.ph
  prints "f.ph: sharded, 100 shards of bloom"
  prints "... 90 more"
  [ "$(grep -c '\[#*\.*\].* % ' <<<"$output")" -eq 12 ] || wrong "not ten rows and two for the whole"
  try 0 info --json f.ph
  holds '.children | length == 100'
}

@test "threads make the same filter as one, for every encoding" {
  sed 's/^/x,/' keys >fields
  tr '\n' '\0' <keys >nul
  for way in "keys" "--u64 keys" "--key int32 keys" "--key int64 keys" "--key utf16 keys" "--field 2 --delimiter , fields" "-0 nul"; do
    # shellcheck disable=SC2086 # options and a file
    "$PERHAPS" build -j 1 -f -o a.ph $way
    for threads in 2 3 auto 0; do
      # shellcheck disable=SC2086
      "$PERHAPS" build --threads=$threads -f -o b.ph $way
      cmp a.ph b.ph
    done
  done
}

@test "threads read raw records" {
  head -c 800000 /dev/urandom >raw
  "$PERHAPS" build --key u64le -o a.ph raw
  "$PERHAPS" build --key u64le -j 2 -o b.ph raw
  cmp a.ph b.ph
  "$PERHAPS" check -j 2 a.ph raw | cmp raw -
  head -c 100003 raw >cut
  refuses "cut: ends 3 bytes after its last record" build --key u64le -j 2 -o c.ph cut
}

@test "threads make the same bitmap, and say which number is too large" {
  "$PERHAPS" build -k bitmap -n 100000 -o a.ph keys
  "$PERHAPS" build -k bitmap -n 100000 -j 2 -o b.ph keys
  cmp a.ph b.ph
  refuses "50000 (line 50000 of keys) is not below 50000" build -k bitmap -n 50000 --no-grow -j 2 -o c.ph keys
}

@test "check -j prints in the order of the input" {
  seq 1 3 200000 >third
  "$PERHAPS" build -p 1e-9 -o f.ph third
  seq 1 200000 >all
  "$PERHAPS" check -j 3 f.ph all | cmp third -
  "$PERHAPS" check -v f.ph all >one
  "$PERHAPS" check -v -j 2 f.ph all | cmp one -
  try 0 check -c -j 2 f.ph all
  [ "$output" = "$(wc -l <third)" ]
  try 0 check -j 2 --json f.ph all
  holds '.checked == 200000 and .absent + .present == 200000'
  try 0 check -q -j 2 f.ph all
  [ -z "$output" ]
}

@test "a line that is no key has the same message with any number of threads" {
  seq 1 150000 >numbers
  sed -i '140000s/.*/oops/' numbers
  for threads in 1 2 5; do
    refuses "numbers: line 140000 is not a decimal number from 0 to 2^64-1: 'oops'" \
      build --u64 -j $threads -o f.ph numbers
    refuses "numbers: line 1 has only 1 field;" build --field 2 -j $threads -o f.ph numbers
  done
  [ ! -e f.ph ]
}

@test "numbers of shards and threads that make no sense" {
  refuses "--shards: must be 1 or more" build --shards 0 -o f.ph keys
  try 2 build --shards 70000 -o f.ph keys
  says "65536"
  refuses "is not a number of threads; write 2, or auto" build -j many -o f.ph keys
  refuses "is too many" build -j 1000 -o f.ph keys
  try 2 build -k bitmap --shards 2 -o f.ph keys
  says "bitmap"
}

@test "plan --shards plans shards" {
  try 0 plan --shards 16 -n 1M -k bloom --json
  holds '.kinds[0].bytes > 1190000'
}

@test "a sharded table that has grown is no cause for alarm" {
  seq 2000 >keys
  "$PERHAPS" build -k table --shards 16 -n 1000 -o f.ph keys
  try 0 info f.ph
  prints "2,000"
  [[ $output != *"overfull"* ]]
}
