# bitmap: integers as they are; and the ways in which bitmap and table grow, or do not.
load helper

prepare() {
  seq 1 3 1000 >ids
}

@test "build -k bitmap takes decimal numbers, needs no -n and finds exactly them" {
  try 0 build -k bitmap -o b.ph ids --json
  holds '.kind == "bitmap" and .items == 334 and .capacity > 1000 and .key == "u64" and .fpr_now == 0 and .grow == "default"'
  seq 0 2000 >queries
  "$PERHAPS" check b.ph queries | cmp - ids
  cat ids | "$PERHAPS" build -k bitmap -o pipe.ph
  cmp b.ph pipe.ph
  try 0 build -k bitmap -p 0.001 -n 1001 -o range.ph ids --json
  holds '.capacity == 1001'
  try 0 verify b.ph --keys ids --json
  holds '.missing == 0 and .fpr_measured == 0'
  try 0 info b.ph
  prints "334 of the integers below"
  prints "none: integers as they are"
  prints "with its keys"
}

@test "an empty bitmap" {
  try 0 build -k bitmap -o b.ph /dev/null
  try 1 check b.ph ids
  try 0 add b.ph ids
  try 0 check -c b.ph ids
  [ "$output" = 334 ]
}

@test "lines that are no integers are named" {
  for bad in x 1.5 -1 '' 18446744073709551616; do
    printf '1\n%s\n' "$bad" >bad
    refuses "bad: line 2 is not a decimal number from 0 to 2^64-1" build -k bitmap -o b.ph bad
    [[ $stderr == *"a bitmap holds integers only"* ]] || wrong "no remedy"
    [ ! -e b.ph ]
  done
}

@test "keys of bytes are refused, and so is what is about hashes" {
  for key in bytes hex utf16; do
    refuses "--key: a bitmap holds integers, not $key; give u64, u64le, int32 or int64" build -k bitmap --key $key -o b.ph ids
  done
  refuses "not hex" build -k bitmap --hex -o b.ph ids
  refuses "--seed: a bitmap takes integers as they are; leave it out" build -k bitmap --seed 1 -o b.ph ids
  refuses "--hash: a bitmap" build -k bitmap --hash xxh3 -o b.ph ids
  refuses "--key-in-file: a bitmap" build -k bitmap --key-in-file -o b.ph ids
  [ ! -e b.ph ]
}

@test "int32, int64 and u64le are integers too, and all the same ones" {
  for key in int32 int64; do
    try 0 build -k bitmap --key $key -o $key.ph ids --json
    holds ".key == \"$key\""
    "$PERHAPS" check $key.ph ids | cmp - ids
    "$PERHAPS" list $key.ph | cmp - ids
    printf '7\n-5\n' >bad
    refuses "bad: line 2 is below 0, where a bitmap begins: '-5'" add $key.ph bad
    try 0 check -c --u64 $key.ph ids
    refuses "was made with --key $key" check --hex $key.ph ids
  done
  echo 2147483648 >large
  refuses "2^31" add int32.ph large
  printf '\7\0\0\0\0\0\0\0' >raw
  "$PERHAPS" build -k bitmap --key u64le -o raw.ph raw
  try 0 list raw.ph
  [ "$output" = 7 ]
  try 0 merge raw.ph int64.ph int32.ph -o all.ph --json
  holds '.items == 334'
}

@test "a bitmap grows with its keys; --no-grow refuses what is out of range, and names the -n to give" {
  "$PERHAPS" build -k bitmap -n 10 -o b.ph ids
  try 0 check -c b.ph ids
  [ "$output" = 334 ]
  printf '9\n12\n11\n' >few
  refuses "f.ph: 12 (line 2 of few) is not below 10, its -n; build it with -n 13, or without --no-grow" \
    build -k bitmap -n 10 --no-grow -o f.ph few
  [ ! -e f.ph ]
  try 0 build -k bitmap -n 13 --no-grow -o f.ph few --json
  holds '.grow == "never" and .capacity == 13'
  cp f.ph before
  seq 10 5000 >more
  refuses "13 (line 4 of more) is not below 13, its -n; build it with -n 5001" add f.ph more
  cmp f.ph before
  refuses "--no-grow: a bitmap that does not grow needs a range; give -n" build -k bitmap --no-grow -o g.ph few
  nothing_left_behind
}

@test "in place a bitmap cannot grow: what came before is in, and the file is whole" {
  "$PERHAPS" build -k bitmap -n 64 -o b.ph /dev/null
  printf '5\n100000\n6\n' >few
  refuses "100000 (line 2 of few) is not below 64, its -n; it cannot grow in place, so leave out --in-place" \
    add --in-place b.ph few
  try 0 verify b.ph
  try 0 list b.ph
  [ "$output" = 5 ]
  try 0 add b.ph few
  try 0 list b.ph
  [ "$output" = "$(printf '5\n6\n100000')" ]
}

@test "numbers too far apart for any memory" {
  for number in 18446744073709551615 9223372036854775808 4611686018427387904; do
    printf '1\n%s\n' $number >far
    refuses "a bitmap up to $number (line 2 of far) takes more memory than there is; use -k table for numbers this far apart" \
      build -k bitmap -o b.ph far
  done
  [ ! -e b.ph ]
}

@test "ids far apart make a sparse file" {
  printf '1\n800000000\n' >far
  "$PERHAPS" build -k bitmap -o b.ph far
  [ "$(stat -c %s b.ph)" -gt 100000000 ]
  [ "$(du -k b.ph | cut -f1)" -lt 1000 ] || skip "this file system keeps no holes"
  try 0 list b.ph
  [ "$output" = "$(cat far)" ]
}

@test "a table grows from any -n; with --no-grow it is full at some point and says so" {
  seq 10000 >keys
  try 0 build -k table -n 10 -o t.ph keys --json
  holds '.items == 10000 and .capacity >= 9000 and .loss > 0 and .grow == "default"'
  [ -z "$stderr" ] || wrong "a warning"
  for n in 1000 1010 1050 1100; do # some fit into a table for 1000, beyond its planned load
    seq $n >some
    try 0 build -k table -n 1000 -f -o s.ph some
    [ -z "$stderr" ] || wrong "a warning"
  done
  try 0 check -c t.ph keys
  [ "$output" = 10000 ]
  refuses "f.ph: full at keys:1" build -k table -n 1000 --no-grow -o f.ph keys
  [[ $stderr == *"(1,"*" of 10,000 keys added). No file was changed. Rebuild it with -n 10000, or without --no-grow." ]]
  [ ! -e f.ph ]
  try 0 build -k table -n 10000 --no-grow -o f.ph keys --json
  holds '.grow == "never"'
  cat keys | "$PERHAPS" build -k table -o pipe.ph
  "$PERHAPS" build -k table -o file.ph keys
  "$PERHAPS" list file.ph | sort >in-file
  "$PERHAPS" list pipe.ph | sort | cmp in-file -
  "$PERHAPS" info file.ph | grep -q "loss .* chance that any two keys in it are taken for one"
}
