# Files of Roaring bitmaps: exact sets of integers, shared with other programs. $ROARING_OTHERS is a
# folder with those that were built for this (tests/roaring).
load helper

prepare() {
  export LC_ALL=C PERHAPS
  { seq 1 3 1000; echo 70000; } >ids
  if "$PERHAPS" build -k roaring -o try.roaring /dev/null 2>why; then
    rm try.roaring
  else
    grep -q "built without libroaring" why || wrong "no sentence about libroaring: $(cat why)"
    skip "libroaring is not installed"
  fi
}

# other LANGUAGE ARGS...: a program that knows nothing of perhaps; not a word if it is missing.
other() {
  local program=${ROARING_OTHERS:?}/other_$1
  shift
  "$program" "$@"
}

has_other() {
  [ -x "$ROARING_OTHERS/other_$1" ]
}

# random N LARGEST SEED: about N different numbers up to LARGEST, in rising order.
random() {
  awk -v n="$1" -v largest="$2" -v seed="$3" 'BEGIN {
    srand(seed); for (i = 0; i < n; i++) printf "%d\n", int(rand() * (largest + 1)) }' | sort -nu
}

# Sets of every make: empty, single, the ends, sparse, dense, runs, all of it mixed.
sets32() {
  : >set.empty
  echo 0 >set.zero
  echo 4294967295 >set.last
  printf '0\n4294967295\n' >set.ends
  random 3000 4294967295 1 >set.sparse
  random 15000 70000 2 >set.dense
  seq 1000 80000 >set.run
  seq 0 2 8191 >set.array-full  # 4096 ids: the largest array
  seq 0 2 8193 >set.bitset-least # 4097: the smallest bitset
  { seq 5 9; seq 65530 65545; seq 4000000000 4000005000; cat set.sparse set.dense; } | sort -nu >set.mixed
}

sets64() {
  sets32
  echo 4294967296 >set.above
  echo 18446744073709551615 >set.largest
  { printf '0\n4294967295\n4294967296\n18446744073709551614\n18446744073709551615\n'; cat set.dense; seq 4294960000 4294970000; } |
    sort -nu >set.wide
  { random 300 4294967295 3 | awk '{ printf "%d%05d\n", $1 % 100000000, NR }'; } | sort -nu >set.far
}

@test "libroaring, Go and perhaps read one another's files of 32-bit ids" {
  has_other c || wrong "the C program is missing"
  sets32
  for ids in set.*; do
    "$PERHAPS" build -k roaring -o mine.roaring -f "$ids"
    for language in c go; do
      has_other $language || continue
      other $language read mine.roaring | cmp - "$ids"
      for how in "" plain; do
        other $language write their.roaring $how <"$ids"
        "$PERHAPS" list -k roaring their.roaring | cmp - "$ids"
        [ "$language$how" != c ] || cmp mine.roaring their.roaring
      done
    done
  done
}

@test "Roaring64Map and perhaps read one another's files of 64-bit ids" {
  has_other cpp || skip "no compiler for C++"
  sets64
  for ids in set.*; do
    "$PERHAPS" build -k roaring64 -o mine.roaring -f "$ids"
    other cpp read mine.roaring | cmp - "$ids"
    for how in "" plain; do
      other cpp write their.roaring $how <"$ids"
      "$PERHAPS" list -k roaring64 their.roaring | cmp - "$ids"
      [ -n "$how" ] || cmp mine.roaring their.roaring
    done
  done
}

# in_order COMM-OPTIONS A B: what comm says of two sets of numbers, as numbers go.
in_order() {
  comm "$1" <(sort "$2") <(sort "$3") | tr -d '\t' | sort -n
}

@test "merge, intersect, subtract and differ are exact, of 32-bit ids and of 64-bit ids" {
  sets64
  combine() {
    local kind=$1 a=$2 b=$3
    "$PERHAPS" build -k "$kind" -f -o a.r "$a"
    "$PERHAPS" build -k "$kind" -f -o b.r "$b"
    for command in merge intersect subtract differ; do "$PERHAPS" $command -k "$kind" a.r b.r -f -o $command.r; done
    "$PERHAPS" list -k "$kind" merge.r | cmp - <(sort -nu "$a" "$b")
    "$PERHAPS" list -k "$kind" intersect.r | cmp - <(in_order -12 "$a" "$b")
    "$PERHAPS" list -k "$kind" subtract.r | cmp - <(in_order -23 "$a" "$b")
    "$PERHAPS" list -k "$kind" differ.r | cmp - <(in_order -3 "$a" "$b")
  }
  for pair in "mixed sparse" "dense run" "empty dense"; do
    read -r a b <<<"$pair"
    combine roaring set.$a set.$b
  done
  for pair in "wide mixed" "far wide"; do
    read -r a b <<<"$pair"
    combine roaring64 set.$a set.$b
  done
  "$PERHAPS" subtract -k roaring64 b.r b.r -f -o none.r
  "$PERHAPS" build -k roaring64 -o empty.r /dev/null
  cmp none.r empty.r
  for name in dense run sparse; do "$PERHAPS" build -k roaring -o $name.r set.$name; done
  try 0 merge dense.r run.r sparse.r -o all.r --json
  holds ".kind == \"roaring\" and .items == $(sort -u set.dense set.run set.sparse | wc -l)"
  refuses "all.r: exists; give -f" merge dense.r run.r -o all.r
}

@test "add and remove, one batch after another, against sort" {
  sets64
  for kind in roaring roaring64; do
    "$PERHAPS" build -k $kind -o s.$kind set.dense
    try 0 add -k $kind s.$kind set.run --json
    holds ".keys == $(wc -l <set.run) and .items == $(sort -u set.dense set.run | wc -l) and .new == .items - $(wc -l <set.dense)"
    "$PERHAPS" list -k $kind s.$kind | cmp - <(sort -nu set.dense set.run)
    try 0 remove -k $kind s.$kind set.mixed
    says "not found"
    "$PERHAPS" list -k $kind s.$kind | cmp - <(in_order -23 <(sort -u set.dense set.run) set.mixed)
    try 0 remove -k $kind s.$kind set.run --json
    holds '.not_found > 0 and .removed > 0'
    "$PERHAPS" remove -k $kind s.$kind set.dense 2>not-found
    "$PERHAPS" build -k $kind -o e.$kind /dev/null
    cmp s.$kind e.$kind
  done
  "$PERHAPS" build -k roaring64 -o w set.wide
  "$PERHAPS" add -k roaring64 w set.far
  "$PERHAPS" list -k roaring64 w | cmp - <(sort -nu set.wide set.far)
  nothing_left_behind
}

@test "check is exact: printed, inverted, counted, quiet, as JSON, with threads" {
  "$PERHAPS" build -k roaring -o r ids
  seq 0 100000 >queries
  "$PERHAPS" check r queries | cmp - ids
  "$PERHAPS" check -j 2 r queries | cmp - ids
  "$PERHAPS" check -v r queries | cmp - <(in_order -23 queries ids)
  try 0 check -c r queries
  [ "$output" = 335 ]
  try 0 check --json r queries
  holds '.checked == 100001 and .present == 335 and .absent == 99666'
  try 0 check -q r queries
  [ -z "$output" ]
  echo 2 | "$PERHAPS" check -v -q r
  printf '2\n4294967297\n' >absent
  try 1 check r absent
  printf 'x,70000\ny,70001\n' >fields
  try 0 check --field 2 --delimiter , r fields
  [ "$output" = x,70000 ]
}

@test "list begins and ends where it is told" {
  "$PERHAPS" build -k roaring -o r ids
  try 0 list r --from 2 --limit 2
  [ "$output" = "$(printf '4\n7')" ]
  try 0 list r --from 1001
  [ "$output" = 70000 ]
  try 0 list r --from 70001
  [ -z "$output" ]
  try 0 list r --limit 0
  [ -z "$output" ]
  try 0 list r --from 999 --json
  holds '.members == [1000, 70000]'
  printf '5\n4294967296\n18446744073709551615\n' >wide
  "$PERHAPS" build -k roaring64 -o w wide
  try 0 list -k roaring64 w --from 6
  [ "$output" = "$(tail -n 2 wide)" ]
  try 0 list -k roaring64 w --from 18446744073709551615
  [ "$output" = 18446744073709551615 ]
}

@test "info tells what is in it" {
  try 0 build -k roaring -o r ids --json
  holds '.kind == "roaring" and .items == 335 and .smallest == 1 and .largest == 70000 and .fpr_now == 0'
  holds ".bytes == $(stat -c %s r) and .bits_per_key == 8 * .bytes / 335 and .arrays == 2 and (.can | index(\"list\"))"
  try 0 info r
  prints "an exact set of 32-bit ids"
  prints "1 to 70,000"
  try 0 info r --json
  holds '.items == 335'
  "$PERHAPS" build -k roaring64 -o e /dev/null
  [ "$(od -An -tx1 e | tr -d ' \n')" = 0000000000000000 ]
  try 0 info -k roaring64 e --json
  holds '.items == 0 and .bits_per_key == 0 and (has("smallest") | not)'
  try 0 info -k roaring64 e
  prints "an exact set of 64-bit ids"
}

@test "verify reads every byte, and every key must be there" {
  "$PERHAPS" build -k roaring -o r ids
  try 0 verify r
  prints "r: intact"
  try 0 verify r --keys ids --json
  holds ".keys == 335 and .missing == 0 and .bytes_checked == $(stat -c %s r)"
  printf '1\n2\n' >some
  try 2 verify r --keys some
  says "r: 1 of 2 keys is missing, the first on line 2 of some"
}

@test "keys in all the ways that integers are written" {
  for key in u64 int32 int64; do
    "$PERHAPS" build -k roaring --key $key -o $key.r ids
    cmp $key.r u64.r
    try 0 check -c --key $key u64.r ids
    [ "$output" = 335 ]
  done
  printf '\7\0\0\0\0\0\0\0' >raw
  "$PERHAPS" build -k roaring --key u64le -o raw.r raw
  try 0 list raw.r
  [ "$output" = 7 ]
  printf '7\n-5\n' >bad
  refuses "bad: line 2 is below 0" build -k roaring --key int64 -o b.r bad
  refuses "--key: a bitmap holds integers, not hex" build -k roaring --key hex -o b.r ids
  refuses "so --key bytes would find nothing" check --key bytes u64.r ids
  printf '7\n4294967296\n' >large
  refuses "large: line 2 is 4294967296, but -k roaring holds ids below 2^32; build it with -k roaring64" build -k roaring -o b.r large
  [ ! -e b.r ]
  cp u64.r before
  refuses "large: line 2" add u64.r large
  cmp u64.r before
}

@test "what is for filters is refused, in one sentence" {
  "$PERHAPS" build -k roaring -o r ids
  refuses "'perhaps count' is for filters" count r ids
  refuses "'perhaps plan' is for filters" plan -k roaring -n 5
  refuses "'perhaps bench' is for filters" bench -k roaring64
  refuses "-n: does not apply to Roaring bitmaps" build -k roaring -n 5 -o x ids
  refuses "-p: does not apply to Roaring bitmaps" build -k roaring -p 0.1 -o x ids
  refuses "--in-place: does not apply to Roaring bitmaps" add r --in-place ids
  refuses "--fold: does not apply to Roaring bitmaps" merge r --fold 1KiB -o x
  refuses "--confirm: does not apply to Roaring bitmaps" check r --confirm ids ids
  refuses "--at: does not apply to Roaring bitmaps" build -k roaring --at redis://127.0.0.1:1/x ids
  [ ! -e x ]
}

@test "the file tells what it is where it can, and -k where it cannot" {
  "$PERHAPS" build -k roaring -o r ids
  "$PERHAPS" build -k roaring64 -o w ids
  "$PERHAPS" build -k bitmap -o b.ph ids
  for file in r b.ph; do "$PERHAPS" list $file | cmp - ids; done
  "$PERHAPS" list -k roaring64 w | cmp - ids
  refuses "w: is not a filter of perhaps" list w
  refuses "w: is a Roaring bitmap of 64-bit ids; give -k roaring64" list -k roaring w
  refuses "r: is a Roaring bitmap of 32-bit ids; give -k roaring" list -k roaring64 r
  refuses "b.ph: is not a Roaring bitmap of 32-bit ids, or is damaged: it does not begin like a Roaring bitmap" list -k roaring b.ph
  refuses "b.ph: is not a Roaring bitmap" merge r b.ph -o m
  refuses "gone: cannot be read: No such file or directory" list -k roaring gone
  refuses "is not a regular file" list -k roaring .
  refuses "must be in a file" list -k roaring -
}

@test "files are replaced: links stay, permissions stay, and nothing is left behind" {
  "$PERHAPS" build -k roaring -o real ids
  chmod 640 real
  ln -s real link
  echo 5 | "$PERHAPS" add link
  [ -L link ] && [ "$(stat -c %a real)" = 640 ]
  try 0 list link --from 5 --limit 1
  [ "$output" = 5 ]
  "$PERHAPS" build -k roaring -o - ids | cat >piped
  "$PERHAPS" list piped | cmp - ids
  refuses "would mix" build -k roaring -o - --json ids
  refuses "real: exists" build -k roaring -o real ids
  refuses "is missing" build -k roaring ids
  refuses "cannot be created" build -k roaring -o gone/r ids
  cp real before
  run --separate-stderr bash -c 'ulimit -f 1; seq 2 7 100000 | "$PERHAPS" add real'
  [ "$status" -eq 2 ] || wrong "written beyond the limit"
  says "real: cannot write the new file; the old one is as it was: File too large"
  cmp real before
  nothing_left_behind
}

# poke FILE OFFSET HEX: other bytes there.
poke() {
  # shellcheck disable=SC2059 # bytes by their numbers
  printf "$(sed 's/../\\x&/g' <<<"$3")" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

@test "hostile files get a sentence" {
  mkfifo pipe
  refuses "pipe: is not a regular file" info -k roaring pipe
  damaged() {
    refuses "damaged: it $1" info -k "${2:-roaring}" bad
  }
  printf '5\n6\n70000\n' >few
  "$PERHAPS" build -k roaring -o good few # 8 + 2 x 4 + 2 x 4 + 2 x 2 + 2
  for cut in 0 3 4 7 12 20 27 29; do
    head -c $cut good >bad
    damaged "ends too early"
  done
  { cat good; echo; } >bad
  damaged "has more bytes than it should"
  for change in "4 ffffffff:has more containers" "4 00000100:ends too early" "12 0000:has containers that are not in rising" \
    "16 19:has a container elsewhere" "26 0500:has ids that are not in rising" "10 ffff:ends too early" "10 0200:has a container elsewhere"; do
    cp good bad
    read -r offset bytes <<<"${change%%:*}"
    poke bad "$offset" "$bytes"
    damaged "${change#*:}"
  done
  seq 0 2 20000 >even
  "$PERHAPS" build -k roaring -f -o good even
  cp good bad
  poke bad 100 ff
  damaged "has more or fewer ids than it says"
  { seq 10 20; seq 30 40; } >runs
  "$PERHAPS" build -k roaring -f -o good runs # 4 + 1 + 4 + 2 + 2 x 4
  for change in "11 2900:has runs that are not in rising" "15 1500:has runs that are not in rising" "17 ffff:has a run beyond" \
    "17 0b00:has more or fewer" "9 0000:has more or fewer" "9 ffff:ends too early"; do
    cp good bad
    read -r offset bytes <<<"${change%%:*}"
    poke bad "$offset" "$bytes"
    damaged "${change#*:}"
  done
  printf '1\n4294967297\n' >wide
  "$PERHAPS" build -k roaring64 -f -o good wide # 8 + 2 x (4 + 18)
  for change in "0 ffffffffffffffff:ends too early" "0 01:has more bytes" "30 00:has upper halves" "12 00:does not begin"; do
    cp good bad
    read -r offset bytes <<<"${change%%:*}"
    poke bad "$offset" "$bytes"
    damaged "${change#*:}" roaring64
  done
}

@test "info counts what two sets of ids have in common" {
  seq 1 6000 >a
  { seq 4001 10000; echo 5000000000; } >b
  for f in a b; do "$PERHAPS" build -k roaring64 -o $f.r $f; done
  try 0 info -k roaring64 a.r b.r --json
  holds '.overlap | .a == 6000 and .b == 6001 and .intersection == 2000 and .union == 10001 and .exact'
  "$PERHAPS" build -k roaring -o a.roaring a
  "$PERHAPS" build -k roaring -o none.roaring /dev/null
  try 0 info a.roaring none.roaring --json
  holds '.overlap | .a == 6000 and .b == 0 and .intersection == 0 and .jaccard == 0 and .jaccard_error == 0'
  try 0 info none.roaring none.roaring
  [[ $output == *"jaccard   1; "* ]]
  refuses "b.r: is a Roaring bitmap of 64-bit ids; give -k roaring64" info a.roaring b.r
}
