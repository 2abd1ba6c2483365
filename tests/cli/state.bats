# dedup --state: a memory that outlasts the run, and whatever may end it.
load helper

# A journal has a head of 64 bytes, and blocks of up to 65,536 digests with 24 bytes each before
# them: blocks are written when they are full, which needs no waiting.
HEAD=64 BLOCK=$((24 + 8 * 65536))

# The three sorts of memory for which states differ.
SORTS=("" "--last 1000000" "--last 1h")

prepare() {
  mkfifo pipe
}

teardown() {
  [ -z "${pid-}" ] || kill -9 "$pid" 2>/dev/null || true
}

# until_so COMMAND...: waits for it to succeed, for 20 seconds at most.
until_so() {
  for _ in {1..1000}; do
    "$@" && return 0
    sleep 0.02
  done
  echo "not so after a long time: $*"
  return 1
}

bytes_of() {
  stat -c %s "$1" 2>/dev/null || echo 0
}

# has FILE BYTES: it has at least that many.
has() {
  [ "$(bytes_of "$1")" -ge "$2" ]
}

has_lines() {
  [ "$(wc -l <"$1")" -ge "$2" ]
}

# start ARGS...: dedup in the background, $pid, from a pipe that stays open, descriptor 7, to the
# file `out`.
start() {
  : >out
  env --default-signal=INT "$PERHAPS" dedup --state s.ph "$@" pipe >out 2>err &
  pid=$!
  exec 7>pipe
}

# stop SIGNAL: ends it.
stop() {
  kill "-$1" $pid
  ended $pid
  exec 7>&-
  pid=
}

# knows N M: the state s.ph has the lines 1 to N, and of those up to M no others.
knows() {
  (seq $(($1 > 5 ? $1 - 5 : 1)) "$1"; seq $(($1 + 1)) "$2") >probe
  seq $(($1 + 1)) "$2" >new
  status=0
  "$PERHAPS" dedup --state s.ph probe >found 2>err || status=$?
  [ "$status" -eq 0 ] || wrong "dedup ended with $status: $(cat err)"
  cmp found new || wrong "not the lines from $1 to $2: $(wc -l <found) of them; $(cat err)"
  [ ! -e s.ph.journal ] || wrong "the journal is left"
}

# killed_run [ARGS...]: 140,000 lines into a new state s.ph, and then a kill, when two blocks are in
# the journal and nothing else. A window by time begins another block with each second: then it is
# tried again.
killed_run() {
  rm -f s.ph s.ph.journal
  start "$@"
  seq 140000 >&7
  until_so has_lines out 140000
  for _ in {1..50}; do
    has s.ph.journal $((HEAD + 2 * BLOCK)) && break
    sleep 0.02
  done
  stop KILL
  [ "$(bytes_of s.ph.journal)" -eq $((HEAD + 2 * BLOCK)) ]
}

# left_by_a_kill [ARGS...]: an empty state s.ph, and 131,072 lines in its journal; copies are f.ph
# and f.journal.
left_by_a_kill() {
  # shellcheck disable=SC2086 # options
  until_so killed_run $1
  cp s.ph f.ph
  cp s.ph.journal f.journal
}

put_back() {
  cp f.ph s.ph
  cp f.journal s.ph.journal
}

@test "two runs print each line once, whatever the memory is" {
  for how in "" "-n 100" "--fpr 1e-6" "--last 1000" "--last 1001 --fpr 1e-6" "--last 10s" "--last 1h --fpr 1e-6 -n 1000" "-i" \
    "--u64" "--hash siphash --key-in-file" "--seed 7"; do
    rm -f s.ph
    # shellcheck disable=SC2086 # options
    {
      [ "$(seq 5 | "$PERHAPS" dedup --state s.ph $how | paste -sd' ')" = "1 2 3 4 5" ] || wrong "$how: first run"
      [ "$(seq 3 7 | "$PERHAPS" dedup --state s.ph $how | paste -sd' ')" = "6 7" ] || wrong "$how: second run"
      [ "$(seq 8 | "$PERHAPS" dedup --state s.ph | paste -sd' ')" = 8 ] || wrong "$how: third run, without options"
    }
    [ "$(echo s*)" = s.ph ] || wrong "$how: left behind: $(echo s*)"
  done
  nothing_left_behind
}

@test "states that were built: bitmap, blocked, growing, table, a key of one's own" {
  head -c 16 /dev/urandom >key
  for how in "-k bitmap" "-k blocked -p 1e-6" "--grow -p 1e-6" "-k table" "-k table --hash-key key" "-k bloom -p 1e-6 --shards 4"; do
    secret=
    [[ $how != *key ]] || secret="--hash-key key"
    # shellcheck disable=SC2086 # options
    {
      seq 5 | "$PERHAPS" build -f -n 100 $how -o s.ph
      [ "$(seq 3 9 | "$PERHAPS" dedup --state s.ph $secret | paste -sd' ')" = "6 7 8 9" ] || wrong "$how"
      [ "$(seq 10 | "$PERHAPS" check -c $secret s.ph)" = 9 ] || wrong "$how: not saved"
    }
  done
}

@test "-d, -i and fields go on, too" {
  [ "$(printf 'A b\nc B\n' | "$PERHAPS" dedup -i --field 2 --delimiter ' ' --state s.ph)" = "A b" ]
  [ "$(printf 'x b\nc D\n' | "$PERHAPS" dedup -d --field 2 --delimiter ' ' --state s.ph)" = "x b" ]
}

@test "nothing new: the file is not written" {
  seq 5 | "$PERHAPS" dedup --state s.ph
  touch -d 2001-01-01 s.ph
  seq 5 | "$PERHAPS" dedup --state s.ph
  [ "$(stat -c %Y s.ph)" -lt 1000000000 ] || wrong "it was"
}

@test "a built state that gets too many lines says so" {
  "$PERHAPS" build -k blocked -n 100 -o s.ph /dev/null
  seq 500 | "$PERHAPS" dedup --state s.ph >/dev/null 2>err
  grep -q "s.ph: warning: holds about .* but was made for 100" err || wrong "$(cat err)"
}

@test "killed: what was written to the journal is known, and nothing else" {
  for sort in "${SORTS[@]}"; do
    left_by_a_kill "$sort"
    knows 131072 140001
    knows 140001 140002
  done
}

@test "killed between replacing the file and removing the journal" {
  for sort in "${SORTS[@]}"; do
    left_by_a_kill "$sort"
    "$PERHAPS" dedup --state s.ph /dev/null
    cp f.journal s.ph.journal
    cp s.ph whole.ph
    "$PERHAPS" dedup --state s.ph /dev/null 2>err
    grep -q "s.ph.journal: does not belong to s.ph as it is now" err || wrong "$(cat err)"
    cmp s.ph whole.ph
    knows 131072 131080
  done
}

# with_journal LENGTH N: of the journal only LENGTH bytes are left, and the state then knows N
# lines.
with_journal() {
  put_back
  truncate -s "$1" s.ph.journal
  knows "$2" $(($2 + 3))
}

@test "journals that are torn, or hardly begun" {
  left_by_a_kill
  for length in $((HEAD + BLOCK)) $((HEAD + BLOCK + 20)) $((HEAD + BLOCK + 24)) $((HEAD + 2 * BLOCK - 1)); do
    with_journal "$length" 65536
    [ ! -s err ] || wrong "$(cat err)"
  done
  for length in 0 7 30 $HEAD $((HEAD + 20)) $((HEAD + BLOCK - 1)); do with_journal "$length" 0; done
  put_back
  head -c $HEAD /dev/zero >s.ph.journal
  knows 0 5
  put_back
  (cat f.journal; head -c 5000 /dev/zero) >s.ph.journal
  knows 131072 131075
}

# damaged_at OFFSET: all bits of one byte are the other way round.
damaged_at() {
  local byte
  put_back
  byte=$(od -An -tu1 -j "$1" -N 1 s.ph.journal)
  # shellcheck disable=SC2059 # an octal escape
  printf "\\$(printf %03o $((byte ^ 255)))" | dd of=s.ph.journal bs=1 seek="$1" conv=notrunc status=none
}

@test "journals that are damaged" {
  left_by_a_kill
  for at in $((HEAD + BLOCK + 4)) $((HEAD + BLOCK + 8)) $((HEAD + BLOCK + 16)) $((HEAD + BLOCK + 1000)) $((HEAD + 2 * BLOCK - 1)); do
    damaged_at "$at"
    knows 65536 65540
    grep -q "s.ph.journal: warning: is damaged after 65536 lines" err || wrong "$(cat err)"
  done
  for at in 20 50 $((HEAD + 1000)); do
    damaged_at "$at"
    knows 0 5
  done
}

@test "torn journals of windows" {
  for sort in "${SORTS[@]:1}"; do
    left_by_a_kill "$sort"
    with_journal $((HEAD + 2 * BLOCK - 1)) 65536
    with_journal 0 0
  done
}

@test "killed again and again: the journal goes on" {
  left_by_a_kill
  start
  seq 131073 210000 >&7
  until_so has s.ph.journal $((HEAD + 3 * BLOCK))
  stop KILL
  knows 196608 200000
}

@test "a state that is gone takes its journal with it" {
  left_by_a_kill
  rm s.ph
  "$PERHAPS" dedup --state s.ph /dev/null 2>err
  grep -q "s.ph: is missing, so its journal is discarded" err || wrong "$(cat err)"
  knows 0 5
}

# one_kill FOLDER SECONDS OPTIONS: a stream that takes about half a second, killed after SECONDS,
# and run again.
one_kill() {
  mkdir "$1"
  cd "$1" || return 1
  # shellcheck disable=SC2086 # options
  for i in {0..19}; do seq $((3500 * i + 1)) $((3500 * i + 3500)) && sleep 0.02; done 2>/dev/null |
    timeout -s KILL "$2" "$PERHAPS" dedup --state s.ph $3 >out 2>/dev/null || true
  # shellcheck disable=SC2086 # options
  seq 70000 | "$PERHAPS" dedup --state s.ph $3 >again 2>err || echo "did not run again: $(cat err)" >trouble
  [ ! -e s.ph.journal ] || echo "journal left" >>trouble
  sort -u out again | LC_ALL=C comm -13 - <(seq 70000 | sort) >lost
  [ ! -s lost ] || echo "lost $(wc -l <lost) lines" >>trouble
  sort again | uniq -d >twice
  [ ! -s twice ] || echo "printed twice: $(wc -l <twice) lines" >>trouble
  [ "$(seq 70000 | "$PERHAPS" dedup --state s.ph | wc -l)" -eq 0 ] || echo "forgotten" >>trouble
}

@test "killed at any moment: the state opens, and no line is lost" {
  export LC_ALL=C
  for i in {0..14}; do
    one_kill "$i" "0.$(printf %03d $((10 + i * 45)))" "${SORTS[i % 3]}" &
  done
  wait
  [ -z "$(cat [0-9]*/trouble 2>/dev/null)" ] || wrong "$(tail [0-9]*/trouble)"
  [ -e 14/again ]
}

@test "SIGTERM, SIGINT and SIGHUP save, also while nothing comes" {
  for signal in TERM INT HUP; do
    rm -f s.ph
    start
    seq 100 >&7
    until_so has_lines out 100
    stop $signal
    [ "$status" -eq $((128 + $(kill -l $signal))) ] || wrong "$signal: status $status"
    [ "$(echo s.*)" = s.ph ] || wrong "$signal: left: $(echo s.*)"
    knows 100 105
  done
}

@test "saved every second, also while nothing comes and there is one processor" {
  one=$(awk '/^Cpus_allowed_list/ { split($2, list, "[-,]"); print list[1] }' /proc/self/status)
  : >out
  taskset -c "$one" "$PERHAPS" dedup --state s.ph --save-every 1s pipe >out &
  pid=$!
  exec 7>pipe
  seq 10 >&7
  until_so has s.ph.journal $((HEAD + 24 + 80))
  seq 11 15 >&7
  until_so has s.ph.journal $((HEAD + 2 * 24 + 120))
  stop KILL
  knows 15 20
}

@test "lines from the journal are as old as they are" {
  left_by_a_kill "--last 1h"
  then=$(($(date +%s) + 1))000 # noted in whole seconds, rounded up
  sleep 2.1
  try 0 dedup --state s.ph /dev/null
  try 0 info --json s.ph
  holds ".items == 131072 and all(.children[]; .since <= $then)"
}

@test "two processes on one state: the second is refused, the first undisturbed" {
  start
  seq 10 >&7
  until_so has_lines out 10
  refuses "s.ph: is in use by another dedup, process $pid; wait until it has ended" dedup --patience 0s --state s.ph /dev/null
  ln -s s.ph link.ph
  refuses "link.ph: is in use by another dedup, process $pid" dedup --patience 0s --state link.ph /dev/null
  seq 11 20 >&7
  exec 7>&-
  ended $pid
  [ "$status" -eq 0 ] || wrong "status $status"
  pid=
  knows 20 25
}

@test "a journal larger than the filter is folded in, and the lock stays" {
  start --fpr 0.01 --key u64le
  before=$(bytes_of s.ph)
  head -c 18M /dev/urandom >random
  cat random >&7
  until_so has s.ph $((before + 1000000))
  head -c 1M /dev/urandom >&7
  until_so has s.ph.journal $((HEAD + BLOCK))
  [ "$(bytes_of s.ph.journal)" -lt 16000000 ] || wrong "the journal was not begun anew"
  refuses "is in use by another dedup, process $pid" dedup --patience 0s --state s.ph /dev/null
  stop KILL
  [ "$("$PERHAPS" dedup --state s.ph random | wc -c)" -eq 0 ] || wrong "forgotten"
  [ ! -e s.ph.journal ]
}

@test "a reader that goes away: what was printed is known, and not much else" {
  seq 100000 >all
  "$PERHAPS" dedup --state s.ph all 2>said | head -n 1 >first
  grep -q "s.ph: the output was closed before its end, and only lines that were printed are remembered" said
  [ ! -e s.ph.journal ]
  "$PERHAPS" dedup --state s.ph all >rest
  has_lines rest 1
  tail -n "$(wc -l <rest)" all | cmp - rest
}

@test "a full disk under the output: the state has what was there before" {
  seq 10 | "$PERHAPS" dedup --state s.ph >/dev/null
  cp s.ph before.ph
  run --separate-stderr bash -c 'seq 20 | "$0" dedup --state s.ph >/dev/full' "$PERHAPS"
  [ "$status" -eq 2 ] || wrong "status"
  says "standard output: cannot be written: No space left"
  cmp s.ph before.ph
  knows 10 20
}

@test "a full disk in the midst of the output: no line is lost" {
  seq -f %049.0f 70000 >all
  for sort in "" "--last 100000" "--last 1h"; do
    rm -f s.ph
    run --separate-stderr bash -c 'ulimit -f 2048; exec "$0" dedup --state s.ph $1 all >out' "$PERHAPS" "$sort"
    [ "$status" -eq 2 ] || wrong "status"
    says "standard output: cannot be written: File too large"
    [ ! -e s.ph.journal ]
    "$PERHAPS" dedup --state s.ph all >again
    sort -u out again | grep -cx '[0-9]\{49\}' >found
    [ "$(cat found)" -eq 70000 ] || wrong "$sort: only $(cat found) of 70,000 lines were printed"
    [ "$(wc -l <again)" -lt 70000 ] || wrong "$sort: nothing was saved"
  done
}

@test "a window that is made anew from its journal is the same, repeats included" {
  printf '%s\n' a b c a d e >some
  try 0 dedup --last 3 --seed 5 --state fine.ph some
  try 2 dedup --last 3 --seed 5 --state s.ph some missing
  cmp s.ph fine.ph
}

@test "a full disk under a new state: nothing is left" {
  run --separate-stderr bash -c 'ulimit -f 16; seq 20 | "$0" dedup --state s.ph' "$PERHAPS"
  [ "$status" -eq 2 ] && [ -z "$output" ] || wrong "status"
  says "s.ph: "
  says "File too large; check its permissions and the room on the disk"
  [ ! -e s.ph ] && [ ! -e s.ph.journal ]
  nothing_left_behind
}

@test "a full disk under the journal: the state is as it was" {
  seq 10 | "$PERHAPS" dedup --fpr 1e-6 --state s.ph >/dev/null
  run --separate-stderr bash -c 'ulimit -f 64; seq 100000 | "$0" dedup --state s.ph >/dev/null' "$PERHAPS"
  [ "$status" -eq 2 ] || wrong "status"
  says "s.ph.journal: cannot be written: File too large; "
  knows 10 20
}

@test "a full disk at the end: the journal keeps what the file has no room for" {
  seq 10 | "$PERHAPS" dedup --state s.ph >/dev/null
  cp s.ph before.ph
  run --separate-stderr bash -c 'ulimit -f 200; seq 20000 | "$0" dedup --state s.ph | tail -n 1' "$PERHAPS"
  says "File too large; check its permissions and the room on the disk"
  [ "$output" = 20000 ] || wrong "not all was printed"
  cmp s.ph before.ph
  has s.ph.journal $((8 * 19000))
  knows 20000 20005
}

@test "a line that is no key: those that were printed before it are known" {
  (seq 2000; echo x; seq 2001 3000) >bad
  run --separate-stderr "$PERHAPS" dedup --u64 --state s.ph bad
  [ "$status" -eq 2 ] || wrong "status"
  says "bad: line 2001 is not a decimal number"
  last=$(tail -n 1 <<<"$output")
  [ "$last" -ge 1000 ]
  knows "$last" 2001
}

@test "input that cannot be read: what came before is known" {
  seq 5 >some
  run --separate-stderr "$PERHAPS" dedup --state s.ph some missing
  [ "$status" -eq 2 ] || wrong "status"
  says "missing: cannot be opened"
  knows 5 8
}

@test "what is no state" {
  refuses ".: is a directory; " dedup --state . /dev/null
  refuses "/dev/null: is not a regular file; " dedup --state /dev/null /dev/null
  refuses "no/s.ph.journal: cannot be created: No such file or directory; " dedup --state no/s.ph /dev/null
  echo text >text
  refuses "text: " dedup --state text /dev/null
  : >empty
  refuses "empty: " dedup --state empty /dev/null
  seq 5 | "$PERHAPS" dedup --state s.ph
  head -c 1000 s.ph >cut
  refuses "cut: " dedup --state cut /dev/null
  [ ! -e text.journal ] && [ ! -e empty.journal ] && [ ! -e cut.journal ]
  for how in "-k cuckoo" "-k counting" "-k counting --grow" "-k cuckoo --shards 4"; do
    # shellcheck disable=SC2086 # options
    seq 5 | "$PERHAPS" build -f $how -n 100 -o m.ph
    refuses "m.ph: is a multiset (" dedup --state m.ph /dev/null
  done
  for text in "a diary" "a diary, and a long one at that, which nobody wants to see overwritten by a program"; do
    echo "$text" >s.ph.journal
    refuses "s.ph.journal: is not a journal of perhaps" dedup --state s.ph /dev/null
    [ "$(cat s.ph.journal)" = "$text" ]
  done
}

@test "-o is left alone if the state is not to be had, and is not the state" {
  echo precious >out
  echo text >text
  refuses "text: " dedup --state text -f -o out /dev/null
  [ "$(cat out)" = precious ]
  seq 5 | "$PERHAPS" dedup --state s.ph >/dev/null
  refuses "s.ph: is also read, and would be lost" dedup --state s.ph -f -o s.ph /dev/null
  refuses "s.ph.journal: is also read, and would be lost" dedup --state s.ph -f -o s.ph.journal /dev/null
  knows 5 8
}

@test "a folder that cannot be written" {
  [ "$(id -u)" -ne 0 ] || skip "root may write everywhere"
  mkdir locked
  seq 5 | "$PERHAPS" dedup --state locked/s.ph
  chmod 500 locked
  refuses "locked/s.ph.journal: cannot be created: Permission denied; " dedup --state locked/s.ph /dev/null
  chmod 700 locked
}

@test "options that contradict a state" {
  seq 5 | "$PERHAPS" dedup --state all.ph
  refuses "all.ph: remembers all lines, not what --last says" dedup --state all.ph --last 10 /dev/null
  refuses "all.ph: is a table, which loses practically no lines" dedup --state all.ph --fpr 0.1 /dev/null
  refuses "without --ignore-case" dedup --state all.ph -i /dev/null
  refuses "was made with --key bytes" dedup --state all.ph --u64 /dev/null
  refuses "was made with another --seed" dedup --state all.ph --seed 7 /dev/null
  refuses "was made with --hash xxh3" dedup --state all.ph --hash siphash --key-in-file /dev/null
  try 0 dedup --state all.ph -n 1000000 /dev/null
  try 0 dedup --state last.ph --last 1000 /dev/null
  refuses "last.ph: remembers the last 1,000 lines" dedup --state last.ph --last 10m /dev/null
  refuses "last.ph: remembers the last 1,000 lines" dedup --state last.ph --last 2000 /dev/null
  try 0 dedup --state time.ph --last 10m --fpr 0.01 -n 500 /dev/null
  refuses "time.ph: remembers the lines of the last 10m" dedup --state time.ph --last 500 /dev/null
  refuses "time.ph: was made for 500 lines" dedup --state time.ph -n 600 /dev/null
  refuses "time.ph: was made for a rate of" dedup --state time.ph --fpr 1e-6 /dev/null
  refuses "--state; name the file to save to" dedup --save-every 5s /dev/null
}

@test "the journal is for those who may read the state" {
  (umask 077 && "$PERHAPS" dedup --state s.ph /dev/null)
  start
  until_so has s.ph.journal $HEAD
  [ "$(stat -c %a s.ph.journal)" = 600 ] || wrong "$(stat -c %a s.ph.journal)"
  stop TERM
}

@test "while there is a journal, others only look" {
  left_by_a_kill
  "$PERHAPS" build -k table -n 10 -o other.ph /dev/null
  seq 5 >keys
  for command in "add s.ph keys" "add --in-place s.ph keys" "remove s.ph keys" "build -f -o s.ph keys" \
    "merge -f other.ph other.ph -o s.ph"; do
    # shellcheck disable=SC2086 # words
    refuses "s.ph: has a journal, s.ph.journal, of a dedup that is running or was killed; 'perhaps dedup --state s.ph < /dev/null' takes it in" $command
  done
  for command in "check s.ph keys" "info s.ph" "list s.ph" "verify s.ph" "merge s.ph s.ph -o union.ph"; do
    # shellcheck disable=SC2086 # words
    run --separate-stderr "$PERHAPS" $command
    [[ $stderr == "perhaps: s.ph: warning: lacks the lines in s.ph.journal"* ]] || wrong "$command"
    [ "$status" -lt 2 ] || wrong "$command"
  done
  cmp s.ph f.ph
  cmp s.ph.journal f.journal
  bash -c '"$0" dedup --state s.ph < /dev/null' "$PERHAPS"
  try 0 add s.ph keys
  try 0 check -c s.ph keys
  [ -z "$stderr" ]
}
