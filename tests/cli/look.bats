# info and verify, and version while we look.
load helper

prepare() {
  seq 1 1000 >keys
  "$PERHAPS" build -n 1000 -p 0.01 -k bloom -o f.ph keys
}

@test "info describes a filter, with a bar for its fill" {
  LC_ALL=C try 0 info f.ph
  prints "f.ph: bloom"
  prints " (made for 1,000); about "
  [[ $output =~ \[#+\.+\] ]] || wrong "no bar"
  prints "planned 0.0"
  prints "xxh3, seed 0"
  [[ $output != *$'\033'* ]] || wrong "colours in a pipe"
}

# bar NAME: what is between the brackets of this line of info.
bar() {
  sed -n "s/^  $1  *\[\(.*\)\].*/\1/p" <<<"$output"
}

@test "info's bars: how much of the room is used, and of the array" {
  "$PERHAPS" build -n 100000 -k bloom -o large.ph keys
  LC_ALL=C try 0 info large.ph
  [ "$(bar used)" = "#......................................." ] || wrong "1 % is no longer nothing"
  prints " 1.0 % of the keys it was made for"
  [ "$(bar fill)" = "#......................................." ] || wrong "some bits are set"
  LC_ALL=C.UTF-8 try 0 info large.ph
  [ "$(bar used)" = "█░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░" ] || wrong "no blocks"
  "$PERHAPS" build -n 1001 -k cuckoo -o nearly.ph keys
  LC_ALL=C try 0 info nearly.ph
  [ "$(bar used)" = "#######################################." ] || wrong "99.9 % is not all"
  "$PERHAPS" build -n 500 -k bloom -o over.ph keys 2>/dev/null
  LC_ALL=C try 0 info over.ph
  [ "$(bar used)" = "########################################" ] || wrong "more than all is all"
  prints "overfull"
  "$PERHAPS" build --window 800 -o window.ph keys
  LC_ALL=C try 0 info window.ph
  [[ $output != *"overfull"* ]] || wrong "a window forgets what is too much"
  : >none
  "$PERHAPS" build -n 500 -o empty.ph none
  LC_ALL=C try 0 info empty.ph
  [ "$(bar used)$(bar fill)" = "$(printf '%080d' 0 | tr 0 .)" ] || wrong "it is empty"
}

@test "info cries no alarm over a foreign file that does not state its capacity" {
  for kind in guava spark parquet; do
    "$PERHAPS" build -k "$kind" -n 1000 -p 0.01 -o "$kind.foreign" keys
    try 0 info -k "$kind" "$kind.foreign"
    [[ $output != *"overfull"* && $output != *"made for 9"* ]] || wrong "an alarm: $output"
    prints "the file does not say how many it was made for"
    try 0 info -k "$kind" --json "$kind.foreign"
    holds '.guessed == true and .distinct > 950 and .distinct < 1050'
  done
  "$PERHAPS" build -k dcso -n 500 -p 0.01 -o dcso.foreign keys 2>/dev/null
  try 0 info -k dcso dcso.foreign
  prints "overfull"
}

@test "info --json has the promised names" {
  try 0 info --json f.ph
  holds '.kind == "bloom" and .capacity == 1000 and .items > 950 and .items <= 1000'
  holds '.fpr_target > 0 and .fpr_target <= 0.01 and .fpr_now > 0 and .fpr_now < 0.02'
  holds '.bytes < .image_bytes and .bits_per_key > 9 and .bits_per_key < 10'
  holds '.fill > 0.4 and .fill < 0.6 and .hash == "xxh3" and .seed == 0'
  holds '.format_version == 1 and .children == []'
  holds '.key == "bytes"'
  [ "$(jq .image_bytes <<<"$output")" -eq "$(stat -c %s f.ph)" ]
}

@test "JSON strings are escaped" {
  name=$'odd"\\\t\x01name'
  cp f.ph "$name"
  try 0 info --json "$name"
  [ "$(jq -r .file <<<"$output")" = "$name" ]
  cp f.ph $'bad\xff'
  try 0 info --json $'bad\xff'
  holds '.file == "bad\ufffd"'
}

@test "info --no-verify looks at a damaged filter" {
  printf 'zzzz' | dd of=f.ph bs=1 seek=1000 conv=notrunc status=none
  refuses "checksum" info f.ph
  try 0 info --no-verify f.ph
}

@test "verify says how much was checked" {
  try 0 verify f.ph
  prints "f.ph: intact"
  prints "bytes"
  try 0 verify --json f.ph
  [ "$(jq .bytes_checked <<<"$output")" -eq "$(stat -c %s f.ph)" ]
}

@test "verify finds damage anywhere" {
  size=$(stat -c %s f.ph)
  for at in 0 9 20 60 130 700 $((size - 1)); do
    cp f.ph g.ph
    byte=$(od -An -tu1 -j "$at" -N 1 g.ph)
    printf "\\x$(printf %x $((byte ^ 1)))" | dd of=g.ph bs=1 seek="$at" conv=notrunc status=none
    try 2 verify g.ph
    [[ $stderr == "perhaps: g.ph: "*"; "* ]] || wrong "no cause and remedy"
  done
}

@test "verify --keys finds all keys and measures the rate" {
  try 0 verify f.ph --keys keys
  prints "1,000 of 1,000 found"
  prints "measured"
  try 0 verify f.ph --keys keys --json
  holds '.keys == 1000 and .missing == 0 and .fpr_trials == 1000000'
  holds '.fpr_measured > 0.005 and .fpr_measured < 0.02 and .fpr_target <= 0.01 and has("fpr_now")'
  run --separate-stderr "$PERHAPS" verify f.ph --keys - <keys
  [ "$status" -eq 0 ]
}

@test "verify --keys: the measured rate is that of the encoding's keys" {
  "$PERHAPS" build -p 0.05 --u64 -o n.ph keys
  try 0 verify n.ph --keys keys --json
  holds '.fpr_measured > 0.03 and .fpr_measured < 0.07'
}

@test "verify --keys tells how many are missing, and where" {
  seq 900 1100 >other
  "$PERHAPS" build -p 1e-9 -o g.ph keys
  try 2 verify g.ph --keys other
  says "100 of 201 keys are missing, the first on line 102 of other"
  try 2 verify g.ph --keys other --json
  holds '.missing == 100'
}

@test "version, in three spellings" {
  try 0 version
  [[ $output =~ ^perhaps\ [0-9]+\.[0-9]+\.[0-9]+$ ]] || wrong "no version"
  spelled=$output
  try 0 --version
  [ "$output" = "$spelled" ]
  try 0 version --json
  holds '"perhaps " + .version == "'"$spelled"'"'
}

@test "PERHAPS_ISA picks an instruction set, which gives the same bytes" {
  PERHAPS_ISA=scalar "$PERHAPS" build -o a.ph keys
  "$PERHAPS" build -o b.ph keys
  cmp a.ph b.ph
  PERHAPS_ISA=scalar run "$PERHAPS" info --json a.ph
  holds '.isa == "scalar"'
  PERHAPS_ISA=abacus run --separate-stderr "$PERHAPS" info a.ph
  [ "$status" -eq 2 ]
  says "PERHAPS_ISA"
}

@test "info of a filter that may not grow does not say that it grows" {
  "$PERHAPS" build -k table -n 2000 --no-grow -o t.ph keys
  try 0 info t.ph
  prints "t.ph: table, of a fixed size"
  prints "grow      never"
  [[ $output != *"grows"* && $output != *"can "*"grow"* ]] || wrong "it grows"
  try 0 info --json t.ph
  holds '.can | contains(["grow"]) | not'
}
