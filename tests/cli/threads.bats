# -j changes nothing but time and memory: the same bytes, output, messages and exit status with any
# number of threads, from files, pipes and compressed files. Inputs have several blocks of 256 KiB.
load helper

prepare() {
  # With line lengths of 1 to 26 bytes, some repeats, and in no order.
  LC_ALL=C awk 'BEGIN { srand(5); for (i = 0; i < 60000; i++) { x = int(rand() * 50000); print x * 7919 substr("abcdefghijklmnop", 1, x % 17) } }' >keys
  tr -d 'a-p' <keys >numbers
  for of in keys numbers; do
    split -n l/3 --additional-suffix=.part $of $of-
    gzip -1 <$of >$of.gz
  done
}

# With ThreadSanitizer, which looks for races, there is nothing to compare.
case ${TSAN_OPTIONS+small}${PERHAPS_TEST_SIZE-} in
small*) counts=(3) ;;
long) counts=(1 2 3 8) ;;
*) counts=(1 2 8) ;;
esac

first=j-${counts[0]}

# alike ARGS...: runs the program with each -j, in a folder of its own, where it finds a copy of
# what is in `before`. Standard input is from a pipe, of the file that $piped names.
alike() {
  local j
  rm -rf j-*
  for j in "${counts[@]}"; do
    mkdir "j-$j"
    [ ! -e before ] || cp before/* "j-$j"
    (
      cd "j-$j" || exit
      status=0
      cat "../${piped:-numbers-aa.part}" | "$PERHAPS" "$@" -j "$j" >out 2>err || status=$?
      echo "$status" >status
    )
    diff -r "j-${counts[0]}" "j-$j" || wrong "perhaps $*: -j $j does not do the same as -j ${counts[0]}"
  done
}

# from_everywhere NAME ARGS...: the same with the keys in a file, three files, a compressed file, or
# a pipe, in turn; with PERHAPS_TEST_SIZE=long all of them.
turn=0
from_everywhere() {
  local keys=$1 from
  shift
  turn=$((turn + 1))
  for from in 0 1 2 3; do
    [ "${PERHAPS_TEST_SIZE-}" = long ] || [ $((turn % 4)) = $from ] || continue
    case $from in
    0) alike "$@" "../$keys" ;;
    1) alike "$@" "../$keys-aa.part" "../$keys-ab.part" "../$keys-ac.part" ;;
    2) alike "$@" "../$keys.gz" ;;
    3) piped=$keys alike "$@" ;;
    esac
  done
}

# ends STATUS: that was the exit status.
ends() {
  [ "$(cat $first/status)" = "$1" ] || wrong "$way: status $(cat $first/status), $(cat $first/err)"
}

@test "build makes the same filter of every kind" {
  for way in "-k bloom" "-k blocked" "-k counting" "-k cuckoo" "-k table" "-k fuse" "-k ribbon" "-k guava" "-k dcso" \
    "-k parquet" "-k spark" "-k blocked --grow" "-k cuckoo --grow" "-k counting --grow" "-k bloom --clear-at 0.1" \
    "-k table --shards 16" "-k cuckoo --shards 16" "-k blocked --shards 5 --grow" "--window 10k" "-k table --window 10k" \
    "-k blocked --hash siphash --hash-key ../secret" "--needs remove -i" "--json"; do
    [[ $way == *--window* ]] || way+=" -n 70000"
    [[ $way != *--grow* ]] || way+=" -n 1000"
    head -c 16 keys >secret
    # shellcheck disable=SC2086 # options
    from_everywhere keys build -o f.ph $way
    ends 0
  done
  for way in "-k bitmap" "-k roaring64" "-k table --u64" "--static --key int64"; do
    # shellcheck disable=SC2086
    from_everywhere numbers build -o f.ph $way
    ends 0
  done
}

@test "build makes the same filter of a pipe of unknown length" {
  for way in "" "-k bloom" "-k cuckoo" "-k table" "--needs remove" "--shards 4" "--static"; do
    # shellcheck disable=SC2086 # options
    from_everywhere keys build -o f.ph $way
    ends 0
  done
  piped=keys alike build -o f.ph --json
  run jq -r .kind $first/out
  [ "$output" = growing ]
}

@test "add, also in place" {
  for kind in bloom blocked counting cuckoo table; do
    rm -rf before
    mkdir before
    "$PERHAPS" build -k $kind -n 80000 -o before/f.ph keys-aa.part
    from_everywhere keys add f.ph --json
    [[ $kind =~ cuckoo|table ]] || from_everywhere keys add f.ph --in-place --json
  done
}

@test "check" {
  mkdir before
  "$PERHAPS" build -n 50000 -o before/f.ph keys-ab.part
  for way in "" -v -c --json -q "-v --confirm ../keys-ab.part" "--confirm ../keys-ab.part --json"; do
    # shellcheck disable=SC2086 # options
    from_everywhere keys check f.ph $way
  done
}

@test "dedup, and its states" {
  for way in "--seed 3 --last 500" "--seed 3 --state s.ph" "--seed 3 --fpr 0.01 -d" "--exact -d" "--seed 3 --fpr 0.1 --state s.ph -o o"; do
    # shellcheck disable=SC2086 # options
    from_everywhere keys dedup $way
    ends 0
  done
}

@test "what is wrong is told once, and is the first" {
  { cat numbers-aa.part && echo oops && cat numbers numbers && echo more && cat numbers; } >wrong
  for input in "../wrong ../missing" "../numbers ../missing ../wrong" "../numbers.gz ../wrong" "../wrong ../wrong"; do
    # shellcheck disable=SC2086 # paths
    for command in "build --u64 -n 5 -o f.ph" "build --u64 -o f.ph -k bitmap" "dedup --u64 -o o" "dedup --u64 --fpr 0.1 --seed 1 --state s"; do
      alike $command $input
      [ "$(cat $first/status)" = 2 ] && [ "$(wc -l <$first/err)" = 1 ] || wrong "$command $input: $(cat $first/err)"
    done
  done
  head -c 1000003 keys numbers >cut
  alike build --key u64le -n 5 -o f.ph ../cut
  alike build -o f.ph -n 5 --field 2 ../keys
  ends 2
}

@test "what is decided does not wait for more input" {
  mkfifo pipe
  "$PERHAPS" build -n 50000 -o f.ph keys
  for j in "${counts[@]}"; do
    try 0 check -q -j "$j" f.ph keys pipe
    refuses "line 1 has only 1 field" build --u64 --field 2 -n 5 -o g.ph -j "$j" numbers-aa.part pipe
  done
}

@test "a filter that is full refuses the same key" {
  for way in "-k cuckoo --no-grow -n 20000" "-k cuckoo --no-grow --shards 4 -n 30000" "-k table --no-grow -n 20000" \
    "-k blocked --grow -n 1000 --max-bytes 40000" "-k cuckoo --grow -n 1000 --max-bytes 40000"; do
    # shellcheck disable=SC2086 # options
    from_everywhere keys build -o f.ph $way
    ends 2
    grep -q "f.ph: full at .*:[0-9]* (.* keys added)" $first/err || wrong "$way: $(cat $first/err)"
  done
  from_everywhere numbers build -o f.ph -k bitmap -n 300000000 --no-grow
  grep -q " (line [0-9]* of .*) is not below 300,*000,*000" $first/err || wrong "$(cat $first/err)"
}
