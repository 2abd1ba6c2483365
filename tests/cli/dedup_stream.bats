# dedup of streams that are slow, that nobody reads on, or of which only the end counts.
load dedup_helper

# prompt COMMAND: a line comes out of it soon, in the best of some tries.
prompt() {
  local line before took best=10000000 pid
  coproc STREAM { "$1"; }
  pid=$STREAM_PID
  for i in 1 2 3 4; do
    sleep 0.05
    before=${EPOCHREALTIME/./}
    printf 'line %s\nline %s\nline %s' "$i" "$i" "$i" >&"${STREAM[1]}"
    read -r -t 10 line <&"${STREAM[0]}"
    took=$((${EPOCHREALTIME/./} - before))
    [ "$line" = "line $i" ] || wrong "another line: $line"
    [ "$took" -ge "$best" ] || best=$took
    echo >&"${STREAM[1]}"
  done
  eval "exec ${STREAM[1]}>&-"
  ended "$pid"
  [ "$status" -eq 0 ] || wrong "it failed"
  [ "$best" -lt 50000 ] || wrong "$best microseconds"
}

@test "a line of a slow stream is printed within 50 ms, also on one processor" {
  each_mode prompt dedup
  modes=("" --exact)
  each_mode prompt on_one
}

pauses() {
  dedup pipe >out &
  exec 8>pipe
  cat lines >&8
  for _ in {1..200}; do
    [ "$(wc -l <out)" -eq 40000 ] && break
    sleep 0.05
  done
  cmp out lines
  exec 8>&-
  ended $!
  [ "$status" -eq 0 ]
}

@test "the output is complete whenever the input pauses" {
  mkfifo pipe
  seq 40000 >lines
  each_mode pauses
}

# dedup with a limit of time, from which one line is read.
one_line_of() {
  # shellcheck disable=SC2086 # two words
  timeout 10 "$PERHAPS" dedup $mode "$@" 2>said 7>&- | head -n 1 >out
  status=${PIPESTATUS[0]}
}

ends() {
  one_line_of < <(yes)
  [ "$status" -eq 0 ] || wrong "repeats: $(cat said)"
  same y <out
  one_line_of < <(seq 100000000)
  [ "$status" -ne 124 ] || wrong "new lines"
  same 1 <out
  echo x >&7
  one_line_of pipe
  [ "$status" -eq 0 ] || wrong "nothing: $(cat said)"
  same x <out
  [ ! -s said ]
}

@test "it ends when nobody reads on: while new lines come, repeats, or nothing" {
  mkfifo pipe
  exec 7<>pipe
  echo y >y
  echo 1 >1
  echo x >x
  each_mode ends
  exec 7>&-
}

@test "SIGTERM ends it, also while it waits for someone to read what it printed last" {
  mkfifo pipe
  exec 7<>pipe
  seq 300000 >a
  run timeout -k 5 0.5 "$PERHAPS" dedup -o pipe a
  exec 7>&-
  [ "$status" -eq 124 ] || wrong "status $status"
}

# Lines are "KEY NUMBER". A key that was in one of the last N lines is a repeat; one that 4/3 N
# different ones came after, or that never came, is new; between the two it may be either.
as_promised() {
  LC_ALL=C awk -v n="$1" 'NR == FNR { printed[$2] = 1; next }
    {
      different = 0
      delete seen
      for (i = FNR - 1; i > 0 && key[i] != $1; i--) if (!(key[i] in seen)) { seen[key[i]]; different++ }
      if (i > 0 && FNR - i <= n && $2 in printed) { print "repeat printed: " $0; exit 1 }
      if ((i == 0 || different >= n * 4 / 3) && !($2 in printed)) { print "new line lost: " $0; exit 1 }
      key[FNR] = $1
    }' "$2" lines || wrong "--last $1"
}

@test "--last N remembers N lines, and no more than a third more" {
  awk 'BEGIN { srand(7); for (i = 1; i <= 3000; i++) print int(rand() * rand() * 60), i }' >lines
  for n in 3 6 30; do
    "$PERHAPS" dedup --last $n --field 1 --delimiter ' ' lines >out
    as_promised $n out
    "$PERHAPS" dedup --last $n --field 1 --delimiter ' ' <lines >again
    cmp out again
  done
  "$PERHAPS" dedup --last 3 --field 1 --delimiter ' ' -d lines >repeated
  "$PERHAPS" dedup --last 3 --field 1 --delimiter ' ' lines >out
  sort -k2n out repeated | cmp - lines
}

@test "--last TIME forgets by the clock" {
  { echo a; echo a; sleep 0.5; echo a; sleep 4.1; echo a; echo b; } | "$PERHAPS" dedup --last 2s >out
  printf 'a\na\nb\n' | cmp - out
}

@test "-o - is standard output" {
  printf 'a\nb\na\n' >lines
  try 0 dedup -o - lines
  [ "$output" = $'a\nb' ]
  [ ! -e ./- ]
}
