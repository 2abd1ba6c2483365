# dedup --ngram and --overlap, beside an exact model.
load helper

prepare() {
  MODEL=$BATS_TEST_DIRNAME/ngrams.py
  python3 "$MODEL" text 1 3000 >text
}

teardown() {
  [ -z "${pid-}" ] || kill -9 "$pid" 2>/dev/null || true
}

# prints_what N R [FILE...]: what the model keeps is in `want`, and what it drops in `rest`.
prints_what() {
  local n=$1 share=$2
  shift 2
  python3 "$MODEL" dedup "$n" "$share" "$@" >want
}

same() {
  cmp - "${1:-want}" || wrong "differs from ${1:-the model}"
}

@test "it keeps what an exact model keeps, with any number of threads" {
  for seed in 2 3; do
    python3 "$MODEL" text $seed 3000 >text
    for how in "1 0.5" "2 0.8" "3 1" "5 0.2" "13 0.8" "1000 0.01"; do
      # shellcheck disable=SC2086 # two words
      prints_what $how text
      for j in 1 2 8; do "$PERHAPS" dedup --ngram "${how% *}" --overlap "${how#* }" -j $j text | same; done
      "$PERHAPS" dedup --ngram "${how% *}" --overlap "${how#* }" --fpr 1e-9 --hash siphash --key-in-file <text | same
      [ "${PERHAPS_TEST_SIZE-}" = long ] || [ $seed = 2 ] || break
    done
  done
}

@test "one of the options gives the other its usual value" {
  prints_what 13 0.8 text
  "$PERHAPS" dedup --ngram 13 text | same
  "$PERHAPS" dedup --overlap 80% text | same
  prints_what 13 1 text
  "$PERHAPS" dedup --overlap 1 text | same
  "$PERHAPS" dedup --overlap 100% text | same
}

@test "a share that is reached exactly drops the line, which then adds nothing" {
  printf '%s\n' "a b c d e f g h i j" "a b c d e f g X Y Z" "X" "a b c d e f U V W T" >ten
  "$PERHAPS" dedup --ngram 1 --overlap 0.7 ten | same <(sed 2d ten)
  "$PERHAPS" dedup --ngram 1 --overlap 0.71 ten | same <(sed 3d ten)
  printf '%s\n' "a b" "a a a x" >twice # three of its four words
  "$PERHAPS" dedup --ngram 1 --overlap 0.75 twice | same <(head -n 1 twice)
}

@test "no words, few words, one word, long lines, and no line at all" {
  printf '\n \n\t\n' | "$PERHAPS" dedup --ngram 3 | same <(echo)
  printf 'a b\na  b\nb\na b c' | "$PERHAPS" dedup --ngram 3 | same <(printf 'a b\nb\na b c\n')
  [ -z "$("$PERHAPS" dedup --ngram 3 </dev/null)" ]
  (seq 700000 | tr '\n' ' '; echo; seq 2 700000 | tr '\n' ' '; echo; seq 350000 1000000 | tr '\n' ' '; echo) >long
  "$PERHAPS" dedup --ngram 13 long | cut -c1-7 | same <(printf '1 2 3 4\n350000 \n')
}

@test "-d prints what is dropped, -c and --json count, -i folds" {
  prints_what 5 0.8 text
  "$PERHAPS" dedup --ngram 5 -d text >dropped
  [ $(($(wc -l <want) + $(wc -l <dropped))) -eq 3000 ]
  sort -m <(sort want) <(sort dropped) | same <(sort text)
  try 0 dedup --ngram 5 -c -o out text
  [[ $stderr == *"3,000 lines: $(wc -l <want | sed 's/\(.*\)\(...\)/\1,\2/') unique"*"any N-gram was taken for another: "* ]] || wrong "summary"
  try 0 dedup --ngram 5 -c --fpr 0.001 -o out -f text
  [[ $stderr == *"of the new N-grams may have been taken for repeats"* ]] || wrong "summary"
  try 0 dedup --ngram 5 --json text
  holds ".lines == 3000 and .unique == $(wc -l <want) and .ngram == 5"
  tr a-z A-Z <text | cat text - | "$PERHAPS" dedup --ngram 5 -i >out
  prints_what 5 0.8 <(tr A-Z a-z <text)
  tr A-Z a-z <out | same
}

@test "words of a field, of JSON lines, and of a table" {
  nl -ba text >numbered
  prints_what 5 0.8 <(tr -d '\t\0' <text)
  tr -d '\t\0' <text | awk '{ print NR "\t" $0 }' | "$PERHAPS" dedup --ngram 5 --field 2 | cut -f 2- | same
  LC_ALL=C grep -av '[^ -~]' text >plain
  prints_what 5 0.8 plain
  jq -cR '{id: input_line_number, text: .}' plain | "$PERHAPS" dedup --ngram 5 --jsonl .text | jq -r .text | same
  (echo id,text && awk '{ print NR ",\"" $0 "\"" }' plain) | "$PERHAPS" dedup --ngram 5 --csv --header --field text |
    tail -n +2 | sed 's/^[0-9]*,"\(.*\)"$/\1/' | same
}

@test "the same seed, the same lines" {
  "$PERHAPS" dedup --ngram 5 -n 1000 --fpr 0.3 --seed 5 text >one
  "$PERHAPS" dedup --ngram 5 -n 1000 --fpr 0.3 --seed 5 -j 1 <text | same one
  "$PERHAPS" dedup --ngram 5 -n 1000 --fpr 0.3 --seed 6 text >other
  ! cmp -s one other || wrong "the seed makes no difference"
}

@test "several runs with a state are one run" {
  split -n l/4 text part-
  prints_what 4 0.6 text
  for how in "" "--fpr 1e-9" "-n 100000 --fpr 1e-9" "-j 1"; do
    rm -f s.ph
    for part in part-*; do
      # shellcheck disable=SC2086 # options
      "$PERHAPS" dedup --state s.ph --overlap 0.6 $([ -e s.ph ] || echo --ngram 4 $how) $part
    done | same
    [ ! -e s.ph.journal ]
    try 0 dedup --state s.ph --ngram 4 --overlap 0.6 -o out -f text
    [ ! -s out ] || wrong "some were new"
  done
}

@test "a state says what it holds, and N cannot change" {
  "$PERHAPS" dedup --state s.ph --ngram 5 text >/dev/null
  try 0 info s.ph
  prints "as --ngram 5 says"
  try 0 info --json s.ph
  holds '.ngram == 5'
  refuses "s.ph: was made with --ngram 5, which --ngram 6 contradicts" dedup --state s.ph --ngram 6 text
  cp s.ph before.ph
  for command in "check s.ph text" "add s.ph text" "remove s.ph text" "verify s.ph --keys text"; do
    # shellcheck disable=SC2086 # words
    refuses "s.ph: holds N-grams of 5 words, not whole keys" $command
  done
  cmp s.ph before.ph
  echo "one two three four five six" | "$PERHAPS" dedup --state s.ph >/dev/null
  printf '%s\n' "one two three four five" "two three four five six" "three four five six seven" |
    "$PERHAPS" check --field 0 s.ph | same <(printf '%s\n' "one two three four five" "two three four five six")
  "$PERHAPS" dedup --state lines.ph text >/dev/null
  refuses "lines.ph: was made of whole keys, which --ngram contradicts" dedup --state lines.ph --ngram 5 text
  refuses "lines.ph: was made of whole keys, which --overlap contradicts" dedup --state lines.ph --overlap 0.5 text
  "$PERHAPS" dedup --state a.ph --seed 1 --ngram 5 text >/dev/null
  "$PERHAPS" dedup --state b.ph --seed 1 --ngram 6 text >/dev/null
  "$PERHAPS" dedup --state one.ph --seed 1 --ngram 1 text >/dev/null
  refuses "b.ph: its keys are N-grams of 6 words, but those of a.ph are N-grams of 5 words" merge a.ph b.ph -o c.ph
  refuses "lines.ph: its keys are whole, but those of one.ph are N-grams of 1 word; combine only" merge one.ph lines.ph -o c.ph
  "$PERHAPS" dedup --state d.ph --seed 1 --ngram 5 <(python3 "$MODEL" text 9 500) >/dev/null
  "$PERHAPS" merge a.ph d.ph -o c.ph
  try 0 dedup --state c.ph -o out text
  [ ! -s out ] || wrong "a merged state has forgotten something"
}

@test "killed: the state knows the N-grams in its journal, and nothing else" {
  mkfifo pipe
  python3 "$MODEL" text 7 16000 >many
  prints_what 5 0.8 many
  "$PERHAPS" dedup --ngram 5 --state s.ph pipe >out 2>err &
  pid=$!
  exec 7>pipe
  cat many >&7
  for _ in {1..1000}; do
    [ "$(stat -c %s out)" -eq "$(stat -c %s want)" ] && break
    sleep 0.02
  done
  cmp out want
  kill -9 $pid
  ended $pid
  exec 7>&-
  pid=
  known=$((($(stat -c %s s.ph.journal) - 64) / (24 + 8 * 65536) * 65536))
  [ $known -gt 0 ] || wrong "nothing in the journal"
  python3 "$MODEL" again 5 0.8 $known many >want
  [ -s want ]
  "$PERHAPS" dedup --state s.ph many | same
}

@test "what makes no sense is refused" {
  for other in --exact "--last 10" "--last 1h" "--at redis://127.0.0.1:1/x"; do
    for option in "--ngram 5" "--overlap 0.5"; do
      # shellcheck disable=SC2086 # words
      refuses "does not go with" dedup $option $other text
    done
  done
  for key in "--u64" "--hex" "--key utf16" "--key u64le"; do
    # shellcheck disable=SC2086
    refuses "--ngram: only keys of bytes have words" dedup --ngram 5 $key text
  done
  refuses "--ngram: takes the words of one field" dedup --ngram 5 --field 2,3 text
  refuses "--ngram: an N-gram has 1 to 1,000 words" dedup --ngram 0 text
  refuses "--ngram: an N-gram has 1 to 1,000 words" dedup --ngram 1001 text
  refuses "'0' is not a share above 0 and up to 1" dedup --overlap 0 text
  refuses "'1.01' is not a share above 0 and up to 1" dedup --overlap 1.01 text
}
