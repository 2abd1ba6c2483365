load helper

prepare() {
  seq 1 1000 >keys
  seq 5001 5100 >more
  "$PERHAPS" build -n 2000 -p 1e-6 -o f.ph keys
}

# Waits until the program in the background has put all keys of `more` into the file.
until_added() {
  for _ in $(seq 200); do
    [ "$("$PERHAPS" check -c --recover f.ph more)" != 100 ] || return 0
    sleep 0.05
  done
  wrong "the keys never arrived"
}

@test "add adds, atomically" {
  inode=$(stat -c %i f.ph)
  try 0 add f.ph more
  [ -z "$output$stderr" ]
  try 0 check -c f.ph keys more
  [ "$output" = 1100 ]
  [ "$(stat -c %i f.ph)" != "$inode" ]
  nothing_left_behind
}

@test "add reads standard input and several files" {
  head -n 50 more >half
  tail -n 50 more | "$PERHAPS" add f.ph half -
  try 0 check -c f.ph more
  [ "$output" = 100 ]
}

@test "add --json counts what was new" {
  try 0 add f.ph keys more --json
  holds '.keys == 1100 and .new == 100 and .items == 1100 and .capacity == 2000'
  holds 'has("fpr_now") and has("fpr_target")'
}

@test "add --in-place changes the file itself" {
  cp f.ph g.ph
  inode=$(stat -c %i f.ph)
  try 0 add f.ph --in-place more
  [ "$(stat -c %i f.ph)" = "$inode" ]
  "$PERHAPS" add g.ph more
  cmp f.ph g.ph
}

@test "add warns once when the filter holds more than it was made for" {
  seq 10000 15000 >many
  try 0 add f.ph many
  says "f.ph: warning: holds about "
  says " keys but was made for 2,000; its false-positive rate is now"
  named=$(grep -o '[0-9]* or more' <<<"$stderr")
  [ "${named% or more}" -ge 5800 ] && [ "${named% or more}" -le 6001 ] || wrong "a poor estimate"
  try 0 check -c f.ph keys many
  [ "$output" = 6001 ]
}

@test "the warning counts what was read when nearly all bits are set" {
  "$PERHAPS" build -n 100 -o full.ph more
  seq 100001 110000 >many
  try 0 add full.ph many
  says "holds about 10,"
  says "Rebuild it with -n 10"
}

@test "a line that cannot be read as a key changes nothing" {
  seq 10 | "$PERHAPS" build --u64 -o n.ph
  cp n.ph before
  printf '11\nx\n' >bad
  refuses "bad: line 2 is not a decimal number" add n.ph bad
  cmp n.ph before
  nothing_left_behind
}

@test "killed in place, the file is refused until --recover" {
  mkfifo pipe
  "$PERHAPS" add f.ph --in-place pipe &
  pid=$!
  exec 7>pipe
  cat more >&7
  until_added
  kill -KILL $pid
  wait $pid || true
  exec 7>&-
  refuses "--recover" check f.ph more
  refuses "--recover" add f.ph more
  try 0 check -c f.ph more --recover
  [ "$output" = 100 ]
  try 0 info f.ph --recover
  try 0 add f.ph --recover --in-place /dev/null
  try 0 verify f.ph
  try 0 check -c f.ph keys more
  [ "$output" = 1100 ]
}

@test "add --recover without --in-place writes a clean copy" {
  mkfifo pipe
  "$PERHAPS" add f.ph --in-place pipe &
  pid=$!
  exec 7>pipe
  cat more >&7
  until_added
  kill -KILL $pid
  wait $pid || true
  exec 7>&-
  try 0 add f.ph --recover /dev/null
  try 0 verify f.ph
}

@test "two writers in place: the second is refused" {
  mkfifo pipe
  "$PERHAPS" add f.ph --in-place pipe &
  exec 7>pipe
  refuses "another process" add --patience 0s f.ph --in-place more
  exec 7>&-
  wait
  try 0 add f.ph --in-place more
}

@test "Ctrl-C while adding leaves the old file whole" {
  cp f.ph before
  mkfifo pipe
  env --default-signal=INT "$PERHAPS" add f.ph pipe &
  pid=$!
  exec 7>pipe
  cat more >&7
  sleep 0.2
  kill -INT $pid
  ended $pid
  exec 7>&-
  [ "$status" -eq 130 ] || wrong "status"
  cmp f.ph before
  nothing_left_behind
}

@test "Ctrl-C while adding in place finishes the file" {
  mkfifo pipe
  env --default-signal=INT "$PERHAPS" add f.ph --in-place pipe &
  pid=$!
  exec 7>pipe
  cat more >&7
  until_added
  kill -INT $pid
  ended $pid
  exec 7>&-
  [ "$status" -eq 130 ] || wrong "status"
  try 0 verify f.ph
  try 0 check -c f.ph keys more
  [ "$output" = 1100 ]
}
