load helper

prepare() {
  seq 1 1000 >keys
  seq 901 1100 >queries
  "$PERHAPS" build -n 1000 -p 1e-9 -o f.ph keys
}

@test "check prints keys perhaps present, in order, and exits 0" {
  try 0 check f.ph queries
  [ "$output" = "$(seq 901 1000)" ]
  [ -z "$stderr" ]
}

@test "check -v prints keys definitely absent" {
  try 0 check -v f.ph queries
  [ "$output" = "$(seq 1001 1100)" ]
  try 1 check -v f.ph keys
  [ -z "$output" ]
}

@test "check exits 1 if there is none" {
  seq 5000 5010 >none
  try 1 check f.ph none
  [ -z "$output$stderr" ]
}

@test "check -c counts, with -v the absent ones" {
  try 0 check -c f.ph queries
  [ "$output" = 100 ]
  try 0 check -cv f.ph queries queries
  [ "$output" = 200 ]
  try 1 check -c f.ph /dev/null
  [ "$output" = 0 ]
}

@test "check --json has the counts" {
  try 0 check -c --json f.ph queries
  [ "$output" = '{"checked": 200, "present": 100, "absent": 100}' ]
  try 0 check --json f.ph queries
  holds '.checked == 200 and .present == 100 and .absent == 100'
  try 1 check --json -v f.ph keys
  holds '.absent == 0'
}

@test "check -q is silent and stops at the first hit" {
  try 0 check -q f.ph queries
  [ -z "$output$stderr" ]
  seq 5000 5010 >none
  try 1 check -q f.ph none
  mkfifo pipe
  timeout 20 "$PERHAPS" check -q f.ph pipe &
  pid=$!
  exec 7>pipe
  echo 5 >&7
  ended $pid
  exec 7>&-
  [ "$status" -eq 0 ] || wrong "it read on"
}

@test "check reads standard input, '-' and several files" {
  run --separate-stderr "$PERHAPS" check f.ph <queries
  [ "$output" = "$(seq 901 1000)" ]
  run --separate-stderr "$PERHAPS" check f.ph queries - <<<7
  [ "$output" = "$(seq 901 1000; echo 7)" ]
}

@test "check answers a slow pipe as its lines come" {
  mkfifo in out
  "$PERHAPS" check f.ph <in >out &
  exec 7>in 8<out
  echo 17 >&7
  read -r -t 5 answer <&8
  [ "$answer" = 17 ]
  echo 18 >&7
  read -r -t 5 answer <&8
  [ "$answer" = 18 ]
  exec 7>&- 8<&-
  wait
}

@test "a last line without its end is printed with one" {
  printf '7' >last
  "$PERHAPS" check f.ph last >out
  printf '7\n' | cmp - out
}

@test "-0: NUL ends lines, in and out" {
  printf 'a\nb\0c\0' >nul
  "$PERHAPS" build -0 -p 1e-9 -o n.ph nul
  "$PERHAPS" check -0 n.ph nul | cmp - nul
  printf 'a\n' >line
  try 1 check n.ph line
}

@test "--field takes a field and prints the whole line" {
  printf 'x\t5\ty\nx\t5000\ty\n' >tabs
  try 0 check --field 2 f.ph tabs
  [ "$output" = "$(printf 'x\t5\ty')" ]
  printf 'x,5\nx,6000\n7,x\n' >commas
  try 0 check --field 2 --delimiter , f.ph commas
  [ "$output" = "x,5" ]
  try 0 check --field 1 --delimiter , f.ph commas
  [ "$output" = "7,x" ]
  try 0 check --field 2 --delimiter '\t' f.ph tabs
  refuses "line 1 has only 2 fields" check --field 3 --delimiter , f.ph commas
  try 1 check --field 0 f.ph commas
  refuses "needs --field" check --delimiter , f.ph commas
  refuses "not one byte" check --field 1 --delimiter ab f.ph commas
}

@test "check --no-verify skips the checksums" {
  seq 200000 | "$PERHAPS" build -n 200000 -o big.ph
  printf 'zzzz' | dd of=big.ph bs=1 seek=100000 conv=notrunc status=none
  refuses "checksum" check big.ph keys
  try 0 check -c --no-verify big.ph keys
}

@test "check --no-verify does not load a large filter to answer one key" {
  echo 5 | "$PERHAPS" build -k blocked --bytes 256MiB -n 1 -o big.ph
  [ "$(stat -c %s big.ph)" -gt 268000000 ]
  mkfifo in
  "$PERHAPS" check --no-verify big.ph in >out &
  pid=$!
  exec 7>in
  resident=$(awk '/^VmRSS/ { print $2 }' /proc/$pid/status)
  echo 5 >&7
  exec 7>&-
  ended $pid
  [ "$(cat out)" = 5 ]
  [ "$resident" -lt 100000 ] || wrong "$resident KiB in memory"
}

@test "all batches and blocks fit together: many lines of many lengths" {
  awk 'BEGIN { for (i = 0; i < 60000; i++) { s = sprintf("%0*d", 1 + i % 97, i); print s } }' >long
  "$PERHAPS" build -p 1e-9 -o long.ph long
  "$PERHAPS" check long.ph long | cmp - long
  awk 'NR % 3 == 0' long >third
  "$PERHAPS" build -p 1e-9 -o third.ph third
  sort -u third >wanted
  "$PERHAPS" check third.ph long | sort -u | cmp - wanted
  cat long | "$PERHAPS" check long.ph | cmp - long
}

@test "EPIPE is quiet" {
  seq 1000000 >million
  "$PERHAPS" build -o m.ph million
  run bash -c '"$1" check m.ph million 2>err | head -n 1; echo ${PIPESTATUS[0]}; cat err' _ "$PERHAPS"
  [ "$output" = "$(printf '1\n141')" ] || wrong "not quiet"
  run bash -c 'env --ignore-signal=PIPE "$1" check m.ph million 2>err | head -n 1; echo ${PIPESTATUS[0]}; cat err' _ "$PERHAPS"
  [ "$output" = "$(printf '1\n2')" ] || wrong "not quiet"
}
