# explain: why a filter answers as it does; info --bits: its array. Both beside the filter's own
# answers, for every kind.
load helper

kinds='blocked bloom counting cuckoo table bitmap fuse ribbon'

prepare() {
  seq 1 100 >keys
  seq 51 450 >queries
}

# make NAME [OPTIONS...]: a filter of those keys with many false positives.
make() {
  local name=$1
  shift
  "$PERHAPS" build -f -n 200 -p 0.1 -o "$name.ph" "$@" keys
}

# true_of EXPRESSION: of what explain --json has said, which is long.
true_of() {
  jq -e "$1" explained >verdict || { echo "not so: $1" && return 1; }
}

# agrees FILTER [OPTIONS...]: explain answers as check does, and each answer follows from its steps.
agrees() {
  "$PERHAPS" check "$@" queries >expected || true
  "$PERHAPS" explain --json --keys keys "$@" <queries >explained
  true_of '.checked == 400 and .present == ([.keys[] | select(.present)] | length)'
  jq -r '.keys[] | select(.present) | .key' explained | cmp - expected
  # A member is one of 1 to 100, and each of them is found.
  true_of 'all(.keys[]; .member == ((.key | tonumber) <= 100) and (.member | not) or .present)'
  true_of 'all(.keys[]; .steps[0].step == "digest" and .steps[-1].step == "answer" and .steps[-1].holds == .present)'
  true_of 'all(.keys[]; (.why | length) > 8 and .why == .steps[-1].why)'
  # The bits and counters of a plain filter all hold, or the key is not there; one slot is enough.
  true_of 'all(.keys[] | select(all(.steps[]; .step != "child") and any(.steps[]; .name == "bit" or .name == "counter"));
    .present == all(.steps[] | select(.step == "position"); .holds))'
  true_of 'all(.keys[] | select(all(.steps[]; .step != "child") and any(.steps[]; .name == "slot"));
    .present == any(.steps[] | select(.step == "slot" or .step == "stash"); .holds))'
  # Whatever speaks for a key in a plain filter is held by members: of a member, by itself too.
  # Static filters have nothing that is.
  case $1 in fuse.ph | ribbon.ph) return ;; esac
  true_of 'all(.keys[] | select(all(.steps[]; .step != "child")) | .steps[] | select(.holds and (.name == "bit" or
    .name == "counter" or .name == "slot")); .holders > 0 and (.held_by | length) == ([.holders, 3] | min))'
  true_of 'all(.keys[] | select(.member) | .steps |= map(select(has("holders"))); (.steps | length) > 0)'
}

@test "explain answers as check does, and its steps say why, for every kind and composite" {
  for kind in $kinds guava spark dcso parquet; do
    make "$kind" -k "$kind"
    agrees "$kind.ph"
  done
  make growing --grow -n 20
  make growing-cuckoo --grow -n 20 -k cuckoo
  make sharded --shards 4
  make sharded-growing --shards 2 --grow -n 20
  "$PERHAPS" build --window 200 -p 0.1 -o window.ph keys
  for name in growing growing-cuckoo sharded sharded-growing window; do agrees "$name.ph"; done
}

@test "the same text as ever, step by step" {
  printf 'apple\npear\n' >fruit
  "$PERHAPS" build -k bloom --bytes 2 --hashes 6 -o tiny.ph fruit
  try 0 explain tiny.ph pear hammer
  [ "$output" = "pear: perhaps
  key    4 bytes, as they are
  digest 05957f35653ec60d
  bit 0         1
  bit 8         1
  bit 5         1
  bit 10        1
  bit 4         1
  bit 12        1
  perhaps: All bits are 1.

hammer: definitely not
  key    6 bytes, as they are
  digest 53ae6decff070b77
  bit 2         1
  bit 15        0  a member has 1
  bit 2         1
  bit 2         1
  bit 2         1
  bit 13        0  a member has 1
  definitely not: A bit is 0." ]
  try 0 info --bits tiny.ph
  prints "       0 1.1.11.. 111.1..."
  prints "8 of 16 bits are not 0"
}

@test "a false positive is understood: who has set its bits" {
  printf 'apple\npear\n' >fruit
  "$PERHAPS" build -k bloom --bytes 2 --hashes 6 -o tiny.ph fruit
  false_positive=$(seq -f 'tool %g' 1000 | "$PERHAPS" check tiny.ph | head -n 1)
  try 0 explain --keys fruit tiny.ph "$false_positive" pear
  prints "It is not in fruit: a false positive. Its cells were set by other keys."
  prints "It is in fruit."
  [ "$(sed -n "/^$false_positive/,/^\$/p" <<<"$output" | grep -c 'bit .* 1  held by \(apple\|pear\)')" -eq 6 ] || wrong "bits"
  try 1 explain --keys fruit tiny.ph hammer
  prints "It is not in fruit."
  [[ $output != *"false positive"* ]] || wrong "no false positive"
  printf 'other\n' >others
  try 1 explain --keys others tiny.ph other
  prints "the filter was not made from that file"
}

@test "the bits that are held are those that adding the keys one by one sets" {
  for kind in bloom blocked parquet counting; do
    : >none
    "$PERHAPS" build -k $kind -n 200 -p 0.1 -o "$kind.ph" none
    head -n 5 keys | while read -r key; do
      "$PERHAPS" explain --json "$kind.ph" "$key" | jq '.keys[].steps[] | select(.name == "bit" or .name == "counter") | .index' |
        sort -n | uniq >"looked-at.$key"
      cp "$kind.ph" one.ph
      echo "$key" | "$PERHAPS" add one.ph
      "$PERHAPS" info --bits --json one.ph | jq '.cells[0].values | to_entries[] | select(.value > 0) | .key' >"set.$key"
      cmp "looked-at.$key" "set.$key"
    done || wrong "$kind"
  done
}

@test "cells are drawn for every kind, and counted" {
  for kind in $kinds guava spark dcso parquet; do
    make "$kind" -k "$kind"
    try 0 info --bits "$kind.ph"
    prints "s are not 0"
    try 0 info --bits --json "$kind.ph"
    holds '.cells | length == 1'
    holds '.cells[0].name == {counting: "counter", cuckoo: "slot", table: "slot", fuse: "slot"}[.kind] // "bit"'
  done
  # each in its slot
  "$PERHAPS" info --bits --json table.ph >table
  [ "$(jq -r '.cells[0].values[] | select(. != "0")' table | sort)" = "$("$PERHAPS" list table.ph | sed 's/^0*//' | sort)" ]
  "$PERHAPS" info --bits --json bitmap.ph | jq '.cells[0].values | to_entries[] | select(.value == 1) | .key' | cmp - keys
  head -n 60 keys | "$PERHAPS" build --grow -k bloom -n 20 -p 0.3 -o growing.ph
  try 0 info --bits --json growing.ph
  holds '(.cells | length) == (.children | length) and (.cells | length) > 1'
  try 0 info --bits growing.ph
  prints "  layer 2"
  for kind in $kinds; do
    wide=$("$PERHAPS" info --bits "$kind.ph" | sed '1,/format/d' | grep -E '^.{81}' || true)
    [ -z "$wide" ] || wrong "too wide: $wide"
  done
}

@test "large filters are not drawn, nor what cannot be" {
  "$PERHAPS" build -n 1e6 -k bloom -o large.ph /dev/null
  refuses "large.ph: has 9,592,960 bits, and at most 4,096 are drawn" info --bits large.ph
  says "perhaps explain large.ph KEY"
  make sharded-growing --shards 2 --grow -n 20
  refuses "build it without --shards" info --bits sharded-growing.ph
  make bloom -k bloom
  refuses "--bits: draws one filter" info --bits bloom.ph bloom.ph
  "$PERHAPS" build -k roaring -o ids.roaring keys || return 0
  refuses "--bits" info --bits ids.roaring
  refuses "is for filters" explain ids.roaring 5
}

@test "keys are shown as they were transformed" {
  printf 'Apple\n' >fruit
  "$PERHAPS" build -i -n 10 -o folded.ph fruit
  try 0 explain folded.ph APPLE
  prints 'APPLE: perhaps'
  prints '"apple", 5 bytes'
  printf '00ff\n' >hex
  "$PERHAPS" build --hex -n 10 -o hex.ph hex
  try 0 explain hex.ph 00FF
  prints '00ff, 2 bytes in hexadecimal'
  "$PERHAPS" build --u64 -n 10 -o numbers.ph keys 2>/dev/null
  try 0 explain numbers.ph 7
  prints 'the number 7'
  refuses "key 2 is not a decimal number" explain --json numbers.ph 7 x
  "$PERHAPS" build --key utf16 -n 10 -o wide.ph fruit
  try 0 explain wide.ph Apple
  prints '4100700070006c006500, 10 bytes in hexadecimal'
}

@test "records come on standard input, keys as arguments" {
  printf 'id,name\n1,Anna\n2,"B, C"\n' >people.csv
  "$PERHAPS" build --csv --header -F name -o names.ph people.csv
  try 0 explain names.ph Anna "B, C"
  [ "$(grep -c ': perhaps$' <<<"$output")" -eq 2 ]
  run --separate-stderr "$PERHAPS" explain names.ph <people.csv
  [ "$status" -eq 0 ] && [ -z "$stderr" ]
  prints 'B, C: perhaps'
  prints '  record 2,"B, C"'
  "$PERHAPS" build --csv -F 1,2 -o pairs.ph people.csv
  refuses "give records on standard input" explain pairs.ph Anna
  run --separate-stderr "$PERHAPS" explain --json pairs.ph <people.csv
  holds '.present == 3'
  "$PERHAPS" build --jsonl .user.id -n 10 -o users.ph /dev/null
  echo '{"user": {"id": "u1"}}' | "$PERHAPS" add users.ph
  try 0 explain users.ph u1
}

@test "exit status and refusals" {
  make bloom -k bloom -p 1e-9
  try 1 explain bloom.ph 1000 1001
  try 0 explain bloom.ph 1000 1
  run --separate-stderr "$PERHAPS" explain bloom.ph </dev/null
  [ "$status" -eq 1 ] && [ -z "$output" ]
  run --separate-stderr "$PERHAPS" explain --json bloom.ph </dev/null
  [ "$output" = '{"file": "bloom.ph", "keys": [], "checked": 0, "present": 0}' ]
  refuses "FILTER is missing" explain
  refuses "absent.ph" explain absent.ph 1
  refuses "absent" explain --keys absent bloom.ph 1
  run --separate-stderr bash -c "echo 1 | \"\$PERHAPS\" explain --keys - bloom.ph"
  [ "$status" -eq 2 ]
  says "--keys: standard input has the keys to be explained"
  try 0 explain --keys - bloom.ph 1 <keys
  prints "It is in "
  try 0 explain --hash-key <(head -c 16 /dev/zero) --json bloom.ph 1
  try 1 explain bloom.ph queries
  prints "queries: definitely not"
  says "queries: is explained as a key; to explain the lines of that file, give it on standard input"
  head -c 100 bloom.ph >cut.ph
  refuses "cut.ph" explain cut.ph 1
}
