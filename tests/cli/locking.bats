# Several processes that change one file: nothing that any of them did is lost, whatever the command
# and the kind of file.
load helper

EACH=20 # keys of each of the eight
exact='bitmap roaring roaring64' # whose combinations are exact
forgetful='counting cuckoo table bitmap roaring roaring64'

prepare() {
  for i in {1..8}; do seq $(((i - 1) * EACH + 1)) $((i * EACH)) >part.$i; done
  cat part.* | sort -n >all
  readarray -t kinds < <("$PERHAPS" plan -n 1000 --json | jq -r '.kinds[] | select(.can | contains(["add"])) | .kind')
  kinds+=(bitmap grow window shards guava dcso dcso.gz parquet spark)
  if "$PERHAPS" build -k roaring -o probe /dev/null 2>/dev/null; then
    kinds+=(roaring roaring64)
  else
    exact=bitmap forgetful='counting cuckoo table bitmap'
  fi
}

# made KIND FILE [KEYS...]: a filter of this kind for all the keys.
made() {
  local how=("-k$1" -n 1000) kind=$1 file=$2
  shift 2
  case $kind in
  roaring*) how=(-k "$kind") ;;
  grow) how=(--grow -n 30) ;;
  window) how=(--window 100000) ;;
  shards) how=(-k table --shards 4 -n 1000) ;;
  dcso.gz) how=(-k dcso -n 1000) ;;
  esac
  "$PERHAPS" build "${how[@]}" -f -o "$file" "$@"
}

# opens KIND: sets $opens, the option without which the file does not tell what it is.
opens() {
  opens=()
  case $1 in
  guava | spark | roaring | roaring64) opens=(-k "$1") ;;
  dcso*) opens=(-k dcso) ;;
  esac
}

# at_once COMMAND: runs it eight times at once, with $i from 1 to 8; all must end well.
at_once() {
  local i pids=()
  for i in {1..8}; do
    (eval "$1") 2>"said.$i" &
    pids+=($!)
  done
  for i in {1..8}; do
    ended "${pids[i - 1]}"
    [ "$status" -eq 0 ] || wrong "$kind: process $i ended with $status: $(cat "said.$i")"
  done
}

# has_all / has_none: what the file holds after that.
has_all() {
  try 0 check -c "${opens[@]}" "$file" all
  [ "$output" = $((8 * EACH)) ] || wrong "$kind: $output of $((8 * EACH)) keys are left"
}

has_none() {
  try 1 check -c "${opens[@]}" "$file" all
  [ "$output" = 0 ] || wrong "$kind: $output keys should not be there"
}

# Each of them holds the file for a moment, so that without a lock all would begin with the same
# one.
slowly='(sleep 0.02; cat part.$i)'

@test "add: eight at once lose no key, in any kind of file" {
  for kind in "${kinds[@]}"; do
    file=f.$kind
    opens "$kind"
    made "$kind" "$file" /dev/null
    at_once "$slowly"' | "$PERHAPS" add "${opens[@]}" "$file"'
    has_all
  done
  nothing_left_behind
}

@test "remove: eight at once, in every kind that can" {
  for kind in $forgetful; do
    file=f.$kind
    opens "$kind"
    made "$kind" "$file" all
    at_once "$slowly"' | "$PERHAPS" remove "${opens[@]}" "$file"'
    has_none
  done
}

@test "merge onto an input: eight at once, in every kind that can" {
  for kind in "${kinds[@]}"; do
    [ "$kind" != window ] || continue
    [ "${PERHAPS_TEST_SIZE-}" = long ] || [[ $kind =~ ^(blocked|cuckoo|guava|dcso.gz|roaring)$ ]] || continue
    file=f.$kind
    opens "$kind"
    made "$kind" "$file" /dev/null
    for i in {1..8}; do made "$kind" "other.$i.$kind" part.$i; done
    at_once '"$PERHAPS" merge "${opens[@]}" -f -o "$file" "$file" "other.$i.$kind"'
    has_all
    made "$kind" "$file" /dev/null
    at_once '"$PERHAPS" merge "${opens[@]}" -f -o "$file" "other.$i.$kind" "$file"'
    has_all
  done
}

@test "intersect, subtract and differ onto an input: eight at once" {
  for kind in $exact; do
    opens "$kind"
    for i in {1..8}; do
      made "$kind" "part.$i.$kind" part.$i
      grep -vxFf part.$i all >rest
      made "$kind" "rest.$i.$kind" rest
    done
    for how in 'intersect rest' 'subtract part' 'differ part'; do
      file=f.$kind
      made "$kind" "$file" all
      command=${how% *} other=${how#* }
      at_once '"$PERHAPS" $command "${opens[@]}" -f -o "$file" "$file" "$other.$i.$kind"'
      has_none
    done
  done
}

@test "in place and by replacement, adds and removes: eight at once" {
  kind=counting file=f.ph opens=()
  made counting f.ph part.1 part.2 part.3 part.4
  at_once '
    how= verb=add
    [ $((i % 2)) = 1 ] || how=--in-place
    [ "$i" -gt 4 ] || verb=remove
    (sleep 0.02; cat part.$i) | "$PERHAPS" $verb $how "$file"'
  try 0 info --json f.ph
  holds ".items == 4 * $EACH"
  cat part.5 part.6 part.7 part.8 >left
  try 0 check -c f.ph left
  [ "$output" = $((4 * EACH)) ]
}

@test "dedup --state: eight at once print each line once, and know all" {
  for kind in table blocked; do
    file=s.$kind opens=()
    how=$([ $kind = table ] || echo --fpr 1e-9)
    at_once '(sleep 0.02; cat all) | "$PERHAPS" dedup $how --state "$file" >out.$i'
    cat out.? | sort -n | cmp - all || wrong "$kind: not each line once"
    has_all
    [ ! -e "$file.journal" ]
  done
}

@test "dedup --state and add on one file: nothing is lost, and who cannot go on says so" {
  made table s.ph /dev/null
  for i in {1..8}; do
    if [ $((i % 2)) = 0 ]; then
      "$PERHAPS" dedup --state s.ph part.$i >/dev/null 2>said.$i &
    else
      (sleep 0.02; cat part.$i) | "$PERHAPS" add s.ph 2>said.$i &
    fi
    pids[i]=$!
  done
  for i in {1..8}; do
    ended "${pids[i]}"
    [ "$status" -eq 0 ] && continue
    grep -q 'has a journal, ' said.$i || wrong "$i ended with $status: $(cat said.$i)"
    refused+=" part.$i"
  done
  # shellcheck disable=SC2086 # a list of words
  [ -z "${refused-}" ] || "$PERHAPS" add s.ph $refused
  file=s.ph opens=()
  has_all
  [ ! -e s.ph.journal ]
}

@test "add and merge finish their work while a dedup waits for them" {
  for i in 1 2; do seq "$i" >part.$i; "$PERHAPS" build -k table -n 100 -o $i.ph part.$i; done
  (sleep 1; echo 50) | "$PERHAPS" add 1.ph 3>&- &
  local adding=$!
  sleep 0.3
  echo 60 | "$PERHAPS" dedup --state 1.ph >new
  wait $adding
  [ "$(cat new)" = 60 ]
  printf '%s\n' 1 50 60 >members
  try 0 check -c 1.ph members
  [ "$output" = 3 ]
}

@test "what was moved onto a file meanwhile is not lost" {
  echo old >part
  "$PERHAPS" build -n 100 -o f.ph part
  "$PERHAPS" build -n 100 -o moved.ph part
  cp moved.ph kept.ph
  (sleep 0.8; echo 50) | { "$PERHAPS" add f.ph 2>err || echo $? >code; } 3>&- &
  sleep 0.3
  mv moved.ph f.ph
  wait
  [ "$(cat code)" = 2 ]
  grep -q "another process has replaced or removed it meanwhile" err
  cmp f.ph kept.ph
}

@test "build without -f: of eight at once, one makes the file" {
  for kind in table roaring; do
    [[ $kind != roaring || " ${kinds[*]} " == *roaring* ]] || continue
    pids=()
    for i in {1..8}; do
      (sleep 0.1; cat part.$i) | "$PERHAPS" build -k $kind -o new.$kind 2>said.$i &
      pids+=($!)
    done
    made=
    for i in {1..8}; do
      ended "${pids[i - 1]}"
      if [ "$status" -eq 0 ]; then
        made+=$i
      else
        grep -qE 'another process has made it meanwhile|exists; give -f' said.$i || wrong "$(cat said.$i)"
      fi
    done
    [ ${#made} -eq 1 ] || wrong "made by: $made"
    opens $kind
    try 0 check -c "${opens[@]}" new.$kind part.$made
    [ "$output" = $EACH ]
  done
}

# ------------------------------------------------------------------------------------- patience ---

# hold COMMAND...: a perhaps that has begun to change f.ph and waits for more keys, which descriptor
# 7 gives.
hold() {
  mkfifo pipe
  "$PERHAPS" "$@" pipe 2>held &
  pid=$!
  exec 7>pipe
  cat part.1 >&7
  for _ in {1..200}; do
    "$PERHAPS" add --patience 0s f.ph /dev/null 2>/dev/null || return 0
    sleep 0.02
  done
  wrong "it never locked the file"
}

let_go() {
  exec 7>&-
  ended $pid
  [ "$status" -eq 0 ] || wrong "the first ended with $status: $(cat held)"
}

teardown() {
  [ -z "${pid-}" ] || kill -9 "$pid" 2>/dev/null || true
}

@test "patience ends: every command that would change the file says so, and readers go on" {
  for how in add 'add --in-place'; do
    rm -f pipe
    made blocked f.ph /dev/null
    cp f.ph other.ph
    hold $how f.ph
    for command in 'add f.ph part.2' 'add --in-place f.ph part.2' 'merge -f -o f.ph f.ph other.ph' \
      'merge -f -o f.ph other.ph other.ph' 'intersect -f -o f.ph other.ph f.ph' 'build -f -o f.ph part.2' \
      'build -f -k parquet -n 100 --u64 -o f.ph part.2' 'dedup --state f.ph part.2'; do
      # Dirty.
      [[ $how != *in-place* || $command != *' f.ph other'* && $command != *'other.ph f.ph' ]] || continue
      refuses "f.ph: another process was changing it for more than 0s; try again" ${command%% *} --patience 0s ${command#* }
    done
    SECONDS=0
    refuses "for more than 1s" add --patience 1s f.ph part.2
    [ "$SECONDS" -ge 1 ] || wrong "it did not wait"
    if [ "$how" = add ]; then
      try 1 check -c f.ph all
      try 0 info f.ph
      try 0 verify f.ph
    fi
    let_go
    try 0 check -c f.ph part.1
    [ "$output" = $EACH ]
  done
  [ ! -e f.ph.journal ]
  nothing_left_behind
}

@test "who waits goes on as soon as the other ends, and says on a terminal that it waits" {
  made blocked f.ph /dev/null
  hold add f.ph
  TERM=xterm script -qefc '"$PERHAPS" add f.ph part.2' said >/dev/null 7>&- &
  waiting=$!
  for _ in {1..200}; do
    grep -qs 'waiting up to' said && break
    sleep 0.02
  done
  grep -q 'f.ph: another process is changing it; waiting up to 1m' said || wrong "silent: $(cat said)"
  let_go
  ended $waiting
  [ "$status" -eq 0 ] || wrong "status $status: $(cat said)"
  try 0 check -c f.ph all
  [ "$output" = $((2 * EACH)) ]
}

@test "a lock ends with its process, and a signal ends the waiting" {
  made blocked f.ph /dev/null
  hold add f.ph
  for how in 'add f.ph part.2' 'add --in-place f.ph part.2' 'dedup --state f.ph part.2'; do
    # shellcheck disable=SC2086 # a list of words
    "$PERHAPS" $how 2>said 7>&- &
    waiting=$!
    sleep 0.1
    kill -TERM $waiting
    ended $waiting
    [ "$status" -eq 143 ] || wrong "$how: status $status: $(cat said)"
    [ ! -e f.ph.journal ] || wrong "a journal is left"
  done
  kill -9 $pid
  ended $pid
  try 0 add --patience 0s f.ph part.3
  try 0 check -c f.ph part.3
  nothing_left_behind
}

@test "a state that is held by another dedup is waited for" {
  mkfifo pipe
  "$PERHAPS" dedup --state s.ph pipe >out.1 &
  pid=$!
  exec 7>pipe
  cat part.1 >&7
  for _ in {1..200}; do
    [ -s out.1 ] && break
    sleep 0.02
  done
  "$PERHAPS" dedup --state s.ph part.1 part.2 >out.2 7>&- &
  waiting=$!
  sleep 0.1
  [ ! -s out.2 ] || wrong "it did not wait"
  exec 7>&-
  ended $pid
  ended $waiting
  [ "$status" -eq 0 ] || wrong "status $status"
  cmp out.2 part.2
}
