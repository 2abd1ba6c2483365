# perhaps info A B: what two sets have in common.
load helper

prepare() {
  export LC_ALL=C
  seq 1 6000 >a
  seq 4001 10000 >b
  : >none
}

# both KIND OPTIONS...: KIND.a and KIND.b
both() {
  local kind=$1
  shift
  for f in a b; do "$PERHAPS" build -f -k "$kind" "$@" -o "$kind.$f" $f; done
}

# within NAME VALUE: the truth is within four standard errors of a number of $output.
within() {
  jq -e --argjson due "$2" ".overlap | (.$1 - \$due) * (.$1 - \$due) <= 16 * .$1_error * .$1_error and .$1_error >= 0" \
    <<<"$output" >/dev/null || wrong "$1 is not $2: $output"
}

@test "each kind tells sizes, shared keys, the union and the Jaccard similarity" {
  for kind in bloom blocked counting cuckoo guava parquet spark; do
    both $kind -n 6000 -p 0.01
    only=()
    if [[ $kind = guava || $kind = spark ]]; then only=(-k $kind); fi
    try 0 info "${only[@]}" $kind.a $kind.b --json
    holds '.files[1] == "'$kind'.b" and .overlap.exact == false and .overlap.jaccard_error > 0'
    within a 6000
    within b 6000
    within intersection 2000
    within union 10000
    within jaccard 0.2
  done
}

@test "shards add up" {
  both blocked -n 6000 --shards 5
  try 0 info blocked.a blocked.b --json
  within intersection 2000
  within jaccard 0.2
}

@test "tables and bitmaps are exact, and may differ in size" {
  both table
  both bitmap
  for kind in table bitmap; do
    try 0 info $kind.a $kind.b
    [ "$output" = "$kind.a and $kind.b, exactly
  first     6,000 keys
  second    6,000 keys
  shared    2,000 keys
  union     10,000 keys
  jaccard   0.2; the share of the union that is in both" ] || wrong "$output"
    try 0 info $kind.b $kind.a --json
    holds '.overlap == {a: 6000, b: 6000, intersection: 2000, union: 10000, jaccard: 0.2, a_error: 0, b_error: 0,
      intersection_error: 0, union_error: 0, jaccard_error: 0, exact: true}'
  done
}

@test "estimates show their standard errors, as the locale has it" {
  both bloom -n 6000
  try 0 info bloom.a bloom.b
  [[ ${lines[3]} =~ ^"  shared    about "[12],[0-9]{3}" +- "[0-9]+" keys"$ ]] || wrong "$output"
  [[ ${lines[5]} =~ ^"  jaccard   0."[0-9]+" +- 0."[0-9]+"; " ]] || wrong "$output"
  LC_ALL=C.UTF-8 try 0 info bloom.a bloom.b
  [[ ${lines[3]} == *" ± "* ]] || wrong "$output"
}

@test "a filter is like itself, and nothing is like nothing" {
  both bloom -n 6000
  "$PERHAPS" build -k bloom -n 6000 -o none.ph none
  try 0 info bloom.a bloom.a --json
  holds '.overlap | .jaccard == 1 and .jaccard_error == 0 and .intersection == .a and .union == .a'
  try 0 info none.ph none.ph --json
  holds '.overlap | .jaccard == 1 and .union == 0 and .union_error == 0'
  try 0 info none.ph bloom.a --json
  holds '.overlap | .jaccard == 0 and .intersection == 0 and .a == 0 and .union == .b'
}

@test "a full filter cannot tell, and says so" {
  "$PERHAPS" build -k bloom -n 20 -o full a 2>/dev/null
  try 0 info full full
  [[ $output == *"shared    unknown: too full to tell; build both with a larger -n"* && $output != *jaccard* ]]
  try 0 info full full --json
  holds '.overlap | .intersection == null and .union_error == null and .jaccard == null'
}

@test "what cannot be compared is refused, with the reason" {
  both bloom -n 6000
  both fuse
  "$PERHAPS" build -k bloom -n 6000 --seed 5 -o seed.ph b
  "$PERHAPS" build -k bloom -n 6000 --u64 -o u64.ph b
  "$PERHAPS" build -k blocked -n 6000 -o blocked.ph b
  "$PERHAPS" build -k bloom -n 60 -o small.ph none
  "$PERHAPS" build --grow -n 100 -o grown.ph a
  "$PERHAPS" build --window 100 -o window.ph a
  "$PERHAPS" intersect bloom.a bloom.b -o common.ph
  refuses "seed.ph: the two filters cannot be compared: they differ in seed" info bloom.a seed.ph
  refuses "u64.ph: its keys are read as u64, but those of bloom.a as bytes" info bloom.a u64.ph
  refuses "blocked.ph: is a blocked filter, but bloom.a is a bloom filter" info bloom.a blocked.ph
  refuses "small.ph: was made for 60 keys" info bloom.a small.ph
  refuses "in common; build blocked filters of the same keys" info fuse.a fuse.b
  for several in grown window; do
    refuses "in different parts of each; build both with -n and without --grow and --window" info $several.ph $several.ph
  done
  refuses "cannot be compared; give the filters it was made from" info bloom.a common.ph
  refuses "absent.ph: cannot be opened" info bloom.a absent.ph
  refuses "one argument too many; write 'perhaps info FILTER [FILTER]|--at URL" info bloom.a bloom.b bloom.a
  refuses "bloom.b: sets on servers are not compared" info --at redis://127.0.0.1:1/x bloom.b
}
