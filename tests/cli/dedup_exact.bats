# dedup --exact: its temporary file, and files that it reads again. What it does with equal digests
# is in tests/unit.
load dedup_helper

@test "--exact compares what compressed files have in them" {
  random_lines 30000 9000 3 >a
  random_lines 30000 12000 4 >b
  gzip -k a b
  "$PERHAPS" dedup --exact a.gz b a b.gz | cmp - <(first_copies a b)
  "$PERHAPS" dedup --exact b a.gz | cmp - <(first_copies b a)
}

@test "--exact needs a folder for its temporary file, for pipes only" {
  seq 300000 >a
  TMPDIR=/nowhere "$PERHAPS" dedup --exact a | cmp - a
  run --separate-stderr env TMPDIR=/nowhere "$PERHAPS" dedup --exact < <(cat a)
  [ "$status" -eq 2 ]
  says "/nowhere: cannot hold the temporary file of --exact"
  [[ $stderr == *"set TMPDIR"* ]]
}

@test "--exact leaves no file behind, and tells if there is no room for its temporary file" {
  seq 300000 >a
  mkdir temporary
  (
    ulimit -f 1000
    trap '' XFSZ
    TMPDIR=$PWD/temporary "$PERHAPS" dedup --exact < <(cat a) 2>said | tail -n 1 >/dev/null
    [ "${PIPESTATUS[0]}" -eq 2 ]
  )
  grep -q "^perhaps: .*/temporary: the temporary file of --exact cannot be written: File too large; set TMPDIR" said
  TMPDIR=$PWD/temporary "$PERHAPS" dedup --exact < <(cat a a) | cmp - a
  [ -z "$(ls -A temporary)" ]
}

@test "--exact goes on when its input loses its name, and tells if it is cut" {
  seq 200000 >a
  cp a b
  mkfifo pipe
  "$PERHAPS" dedup --exact -d b pipe >out &
  exec 7>pipe
  rm b
  cat a >&7
  exec 7>&-
  ended $!
  [ "$status" -eq 0 ]
  cmp a out
  cp a b
  "$PERHAPS" dedup --exact -d b pipe >out 2>said &
  exec 7>pipe
  echo 1 >&7
  for _ in {1..200}; do
    [ -s out ] && break
    sleep 0.05
  done
  truncate -s 1000 b
  cat a >&7 || true
  exec 7>&-
  ended $!
  [ "$status" -eq 2 ]
  grep -q "^perhaps: b: has become shorter while it was read" said
}

@test "--exact tells once if a file is cut that two threads compare with" {
  seq 300000 >a
  cp a b
  mkfifo pipe
  "$PERHAPS" dedup --exact -d b pipe a >out 2>said &
  exec 7>pipe
  echo 1 >&7
  for _ in {1..200}; do
    [ -s out ] && break
    sleep 0.05
  done
  truncate -s 1000 b
  exec 7>&-
  ended $!
  [ "$status" -eq 2 ]
  [ "$(cat said)" = "perhaps: b: has become shorter while it was read, so its lines can no longer be compared; give it through a pipe" ]
}

@test "--exact takes more files than may be open" {
  for i in {1..300}; do printf '%s\n%s\n' "$i" "$((i - 1))" >"part$i"; done
  cat part{1..300} part{1..300} >all
  first_copies all >firsts
  (
    ulimit -n 32
    "$PERHAPS" dedup --exact part{1..300} part{1..300} | cmp - firsts
  )
  "$PERHAPS" dedup --exact part{1..300} part{1..300} | cmp - firsts
}
