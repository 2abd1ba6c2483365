load helper

@test "plan shows every kind, the recommended one, the limit and the classic formula" {
  try 0 plan -n 1000000 -p 0.01
  for kind in bloom blocked counting cuckoo table fuse ribbon; do prints "$kind "; done
  prints "for dense integers from 0 to N, a bitmap is exact"
  prints "6.64 bits per key"
  prints "classic Bloom formula: k = 7, 9,585,058 bits before rounding"
  [ "$(grep -c '^\*' <<<"$output")" -eq 1 ]
  [ -z "$stderr" ]
}

@test "plan --json has the promised names" {
  try 0 plan -n 1000000 -p 0.01 --json
  holds '.items == 1000000 and .fpr == 0.01'
  holds '.limit_bits_per_key > 6.64 and .limit_bits_per_key < 6.65'
  holds '[.kinds[] | select(.recommended)] | length == 1'
  holds '[.kinds[] | select(.can != []).kind] | contains(["bloom", "blocked", "counting", "cuckoo", "table"])'
  holds '[.kinds[] | select(.can == []).kind] == ["fuse", "ribbon"]'
  holds 'all(.kinds[]; has("bits_per_key") and has("bytes") and has("fpr") and has("hashes") and has("cache_lines"))'
  holds 'all(.kinds[]; has("loss") and (.can == [] or (.can | contains(["add", "merge"]))))'
  holds '[.kinds[] | select(.kind == "cuckoo").can[]] == ["add", "remove", "count", "merge"]'
  holds '[.kinds[] | select(.kind == "table").can[]] == ["add", "remove", "merge", "grow", "list"]'
  holds '[.kinds[] | select(.kind == "bloom").can[]] == ["add", "merge", "intersect", "in-place"]'
  holds 'all(.kinds[]; .fpr <= 0.01 and .bits_per_key > 6.64 and .bits_per_key * 1000000 <= .bytes * 8 + 1)'
  holds '.classic.hashes == 7 and .classic.bits == 9585058'
}

is_foreign() {
  case $1 in guava | dcso | parquet | spark) echo "-k $1" ;; esac
}

# What both say of the same filter.
same='[.kind, .bits_per_key, .bytes, .image_bytes, .fpr, .hashes, .cache_lines]'

@test "plan and info agree on every filter, and the file is as long as both say" {
  : >nothing
  made=0
  for kind in bloom blocked counting cuckoo table guava dcso parquet spark; do
    for options in "" "--shards 3" "--grow" "--grow --shards 3" "--window 1000"; do
      # shellcheck disable=SC2086 # a list of words
      set -- -k "$kind" -p 0.003 $options
      [[ $options == --window* ]] || set -- "$@" -n 1000
      if ! planned=$("$PERHAPS" plan "$@" --json 2>/dev/null); then
        ! "$PERHAPS" build "$@" -f -o f.ph nothing 2>/dev/null || wrong "built, and not planned: $*"
        continue
      fi
      "$PERHAPS" build "$@" -f -o f.ph nothing
      # shellcheck disable=SC2046 # two words, or none
      told=$("$PERHAPS" info --json $(is_foreign "$kind") f.ph)
      planned=$(jq -c ".kinds[0] | .kind = \"\" | $same" <<<"$planned")
      told=$(jq -c ".fpr = .fpr_target | .kind = \"\" | $same" <<<"$told")
      # Foreign files do not all tell their rate, nor what a key takes.
      if [ -n "$(is_foreign "$kind")" ]; then
        planned=$(jq -c '.[1] = 0 | .[4] = 0' <<<"$planned") told=$(jq -c '.[1] = 0 | .[4] = 0' <<<"$told")
      fi
      [ "$planned" = "$told" ] || wrong "$*: planned $planned, told $told"
      [ "$(jq '.[3]' <<<"$told")" -eq "$(stat -c %s f.ph)" ] || wrong "$*: the file has another length"
      made=$((made + 1))
    done
  done
  [ "$made" -ge 20 ] || wrong "only $made were made"
}

@test "plan takes numbers as people write them" {
  for n in 1000000 1e6 1.0e6 1M 1000k 0.001G; do
    try 0 plan -n "$n" --json
    holds '.items == 1000000'
  done
  try 0 plan -n 2^20 --json
  holds '.items == 1048576'
  try 0 plan -n1k --fpr=1% --json
  holds '.items == 1000 and .fpr == 0.01'
}

@test "plan's rate is 0.01 unless something else is fixed" {
  try 0 plan -n 1000 --json
  holds '.fpr == 0.01'
}

@test "plan from bits per key, bytes and presets" {
  try 0 plan -n 100k --bits-per-key 8 -k bloom --json
  holds '.kinds[0] | .fpr > 0.0215 and .fpr < 0.0217'
  try 0 plan -n 100k --bytes 98KiB --json
  holds 'all(.kinds[]; .bytes <= 98 * 1024)'
  try 0 plan --bytes 1MiB -p 0.01 --json
  holds '.items > 700000 and .items < 900000'
  prints '"kind": "blocked"'
  try 0 plan -n 100k --preset good --json
  holds '[.kinds[] | select(.kind == "bloom")][0] | .hashes == 12 and .fpr > 0.00046 and .fpr < 0.00047'
}

@test "plan -k shows one kind, --hashes and --lines shape it" {
  try 0 plan -n 1M -k bloom --hashes 5 --json
  holds '.kinds | length == 1'
  holds '.kinds[0].hashes == 5'
  try 0 plan -n 1M -p 1e-4 -k blocked --lines 1 --json
  holds '.kinds[0].cache_lines == 1'
  try 0 plan -n 1M -p 1e-4 -k blocked --lines 2 --json
  holds '.kinds[0].cache_lines <= 2'
  try 0 plan -n 1M -k bloom --lines 3 --json
  holds '.kinds[0] | .cache_lines == 3 and .hashes == 3'
}

@test "plan says why a kind cannot do it" {
  try 0 plan -n 1M --hashes 5
  prints "blocked"
  [[ $(grep '^ *blocked' <<<"$output") == *"5 hashes"* ]]
  try 0 plan -n 1M --hashes 5 --json
  holds '[.kinds[] | select(.kind == "blocked")][0] | has("error") and (.recommended | not)'
}

@test "plan --needs" {
  try 0 plan -n 1M --needs add,merge
  try 0 plan -n 1M --needs add,remove
  prints "bloom      cannot remove"
  [[ $(grep '^\*' <<<"$output") == "* cuckoo "* ]] || wrong "another kind"
  try 0 plan -n 1M --needs count
  [[ $output != *"-k bitmap"* ]] || wrong "a bitmap does not count"
  refuses "only bitmap can subtract; give -k bitmap" plan -n 1M --needs subtract
  refuses "choose from: add remove count merge intersect subtract grow list in-place" plan -n 1M --needs fly
}

@test "plan of exact kinds: -n or a size is enough" {
  try 0 plan -n 1M -k bitmap --json
  holds '.kinds == [.kinds[0]] and (.kinds[0] | .kind == "bitmap" and .bits_per_key == 1 and .bytes == 125000 and .fpr == 0)'
  holds '.kinds[0].can | contains(["subtract", "grow", "list", "in-place"])'
  holds '.fpr == 0 and .limit_bits_per_key == 1'
  try 0 plan -n 1M -k bitmap -p 1e-30
  [[ $output != *"minimum: "* ]] || wrong "it can"
  try 0 plan --bytes 1MiB -k bitmap --json
  holds '.kinds[0].items == 8388608'
  try 0 plan --bytes 1MiB -n 1M -k bitmap --json
  holds '.limit_bits_per_key == 1'
  try 0 plan -n 1M -k table --json
  holds '.kinds[0] | .loss > 2e-8 and .loss < 3e-8 and .fpr < 1e-13 and .bits_per_key <= 72'
  try 0 plan --bytes 1MiB -k table --json
  holds '.kinds[0] | .items > 110000 and .bytes <= 1048576'
}

@test "plan refuses nonsense with a reason" {
  refuses "0 keys" plan -n 0
  refuses "between 0 and 1" plan -n 10 -p 0
  refuses "between 0 and 1" plan -n 10 -p 1
  refuses "between 0 and 1" plan -n 10 -p -0.5
  refuses "between 0 and 1" plan -n 10 -p nan
  refuses "is not a number" plan -n ten
  refuses "is not a number" plan -n 1.5
  refuses "is not a number" plan -n -5
  refuses "'1e30' is too large" plan -n 1e30
  refuses "'18446744073709551616' is too large" plan -n 18446744073709551616
  refuses "'2^64' is too large" plan -n 2^64
  refuses "is too large" plan -p 0.1 --bytes 1e12TiB
  refuses "is not a number" plan -n 0x10
  refuses "is not a number" plan -n 64KiB
  refuses "is not a size" plan -p 0.1 --bytes lots
  refuses "0 bytes" plan -p 0.1 --bytes 0
  refuses "2^64" plan -n 1M -p 1e-18
  refuses "memory" plan -n 1e12 -k bloom
  refuses "give only two of -n, -p and a size" plan -n 10 -p 0.1 --bytes 100
  refuses "too little is given; give -n, or --bytes with -p" plan
  refuses "too little" plan --bytes 1MiB
  refuses "too little" plan -p 0.1 --bits-per-key 8
  refuses "both fix the size" plan -n 10 --bytes 100 --bits-per-key 8
  refuses "above 0" plan -n 10 --bits-per-key 0
  refuses "--hashes" plan -n 10 --hashes 0
  refuses "blocked has 8, 16 or 32" plan -n 10 --hashes 9 -k blocked
  refuses "bloom and counting have 1 to 64" plan -n 10 --hashes 65
  refuses "--lines" plan -n 10 --lines 0
  refuses "--lines: must be 1 to 64" plan -n 10 --lines 65
  refuses "fixes the size" plan -n 10 -p 0.1 --preset fair
  refuses "is for bloom filters" plan -n 10 -k blocked --preset fair
  refuses "choose from: rough fair good fine" plan -n 10 --preset best
  refuses "choose from: bloom blocked counting cuckoo table bitmap" plan -n 10 -k blum
}

@test "rates next to 1 give numbers too large to count, and no nonsense" {
  run "$PERHAPS" plan --bytes 1GiB -p 0.9999999999999999
  [ "$status" -eq 0 ]
  [[ $output != *" for 0 keys"* ]]
}

# drawn FILE: a whole picture, with a white background; its words are in $words.
drawn() {
  words=$(python3 -c 'import sys, xml.etree.ElementTree as tree
print(*tree.parse(sys.argv[1]).getroot().itertext())' "$1") || wrong "$1 is not well-formed"
  grep -q '</svg>' "$1"
  grep -Eqi 'fill *[=:] *"?(#ffffff|white|rgb\(255, *255, *255\))' "$1" || wrong "no background"
}

@test "plan --plot draws every kind and the limit, beside what plan prints" {
  try 0 plan -n 1000000 -p 0.01
  table=$output
  try 0 plan -n 1000000 -p 0.01 --plot bits.svg
  [ "$output" = "$table" ] && [ -z "$stderr" ] || wrong "not the same table"
  drawn bits.svg
  for word in $("$PERHAPS" plan -n 1M --json | jq -r '.kinds[].kind') "minimum, log2(1/p)" 1,000,000 0.1 1e-6; do
    [[ $words == *"$word"* ]] || wrong "no $word in: $words"
  done
  [[ $words != *bitmap* ]] || wrong "a bitmap has no rate"
  [ "$(ls bits.svg*)" = bits.svg ] || wrong "more than the picture: $(ls)"
}

@test "plan --plot: no number of keys, one kind, needs, and rates beyond the usual" {
  try 0 plan -k bloom --plot a.svg --json
  holds '.items == 1000000'
  drawn a.svg
  [[ $words == *1,000,000* ]]
  try 0 plan -n 500 -k cuckoo -p 1e-8 -f --plot a.svg
  drawn a.svg
  [[ $words == *1e-8*cuckoo*" 500 keys"* && $words != *bloom* ]] || wrong "$words"
  try 0 plan --bytes 1MiB -p 0.2 --needs remove --plot "it's a.svg"
  drawn "it's a.svg"
  [[ $words == *counting*cuckoo* && $words != *bloom* ]] || wrong "$words"
}

@test "plan --plot refuses what cannot be a picture, before anything is printed" {
  refuses "absent/a.svg: the picture cannot be written: No such file or directory" plan --plot absent/a.svg
  refuses "is a folder" plan --plot .
  refuses "no file that could be replaced" plan --plot /dev/null
  refuses "give a name that ends in .svg" plan --plot a.png
  refuses "give a name that ends in .svg" plan --plot svg
  echo old >old.svg
  refuses "old.svg: the picture cannot be written: it exists; give -f" plan --plot old.svg
  [ "$(cat old.svg)" = old ] || wrong "it was replaced"
  rm old.svg
  refuses "a bitmap has no false positives" plan -n 100 -k bitmap --plot a.svg
  refuses "too little" plan -p 0.1 --bits-per-key 8 --plot a.svg
  run --separate-stderr env PATH=/absent "$PERHAPS" plan --plot a.svg
  [ "$status" -eq 2 ] && [ -z "$output" ] || wrong "drawn by whom?"
  says "gnuplot is not installed"
  [ -z "$(find . -name '*.svg*')" ] || wrong "left behind: $(ls)"
}

@test "plan --plot: what fails half-way leaves the old picture" {
  echo old >a.svg
  run --separate-stderr bash -c 'trap "" XFSZ; ulimit -f 8; exec "$0" plan -f -k bloom --plot a.svg' "$PERHAPS"
  [ "$status" -eq 2 ] || wrong "written"
  says "a.svg: the picture cannot be written: File too large"
  mkdir bin
  printf '#!/bin/sh\necho half\nexit 3\n' >bin/gnuplot
  chmod +x bin/gnuplot
  PATH=$PWD/bin:$PATH try 2 plan -f -k bloom --plot a.svg
  says "gnuplot failed"
  [ "$(cat a.svg*)" = old ] || wrong "the picture has changed, or a half one is there: $(ls)"
}

@test "one kind is recommended, also where several look the same" {
  for how in "-n 2 --shards 256" "-n 5 --shards 500" "-n 1000" "-n 1000 --grow" "-n 1000 --window 100"; do
    # shellcheck disable=SC2086 # a list of words
    "$PERHAPS" plan $how --json >plan 2>err || continue
    [ "$(jq '[.kinds[] | select(.recommended)] | length' plan)" = 1 ] || wrong "$how"
  done
}
