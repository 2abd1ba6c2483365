# dedup --at: a memory that machines share.
load at_helper

# lines N SEED: N lines, of which about half are repeats of others.
lines() {
  awk -v n="$1" -v seed="$2" 'BEGIN { srand(seed); for (i = 0; i < n; i++) print "line " int(rand() * n * 0.6) }'
}

firsts() {
  awk '!seen[$0]++' "$@"
}

repeats() {
  awk 'seen[$0]++' "$@"
}

# dedups OPTIONS...: one run prints what awk does, the next nothing.
dedups() {
  lines 8000 1 >input
  firsts input >wanted
  try 0 dedup --at "$at" -n 20k -p 1e-8 "$@" -o found input
  [ -z "$output$stderr" ] || wrong "not silent"
  cmp found wanted
  try 0 dedup --at "$at" input
  [ -z "$output$stderr" ] || wrong "known lines are printed again"
  try 0 dedup --at "$at" -d -o known input
  cmp known input
  lines 8000 2 >more
  cat input more | firsts | tail -n +$(($(wc -l <wanted) + 1)) >wanted
  "$PERHAPS" dedup --at "$at" <more | cmp - wanted
}

# -- What it prints. --

@test "plain strings: as awk does, and nothing twice" {
  plain_server
  dedups --shards 8
}

@test "filters of the module: as awk does, and nothing twice" {
  module_server
  dedups
}

@test "a cluster: as awk does, and nothing twice" {
  [ -e "${PERHAPS_MODULE-}" ] || skip "the module is not built"
  start_cluster --loadmodule "$PERHAPS_MODULE"
  at=redis://127.0.0.1:${ports[1]}/set
  dedups --shards 64
  try 0 info --json --at "$at"
  holds '.shards == 64 and (.nodes | length) == 3'
}

@test "cuckoo filters get no copies" {
  module_server
  try 0 build --at "$at" --needs remove -n 20k -p 1e-8 --shards 4 /dev/null
  dedups
  try 0 info --json --at "$at"
  holds ".kind == \"CF\" and .items == $(cat input more | firsts | wc -l)"
}

@test "a single filter that another client made" {
  module_server
  redis bf.reserve set 1e-8 1000
  dedups
}

@test "-d, -c and --json" {
  plain_server
  lines 5000 3 >input
  repeats input >wanted
  "$PERHAPS" dedup --at "$at" -n 5000 -p 1e-6 -d input | cmp - wanted
  redis flushall
  try 0 dedup --at "$at" -n 5000 -p 1e-6 -c -o found input
  [[ $stderr == *"5,000 lines: $(firsts input | wc -l | sed 's/\(.*\)\(...\)/\1,\2/') unique"* ]] || wrong "-c"
  [[ $stderr == *"(1 in 1,000,000) of the new lines"* ]] || wrong "the rate"
  echo new >>input
  try 0 dedup --at "$at" --json input
  holds '.lines == 5001 and .unique == 1 and .duplicates == 5000 and .loss == 0 and .fpr == 1e-6 and .memory_bytes > 1e5'
}

@test "numbers, fields, NULs, and letters of both cases" {
  plain_server
  printf '7\n007\n8\n' >numbers
  try 0 dedup --at "$at" -n 100 -p 1e-6 --u64 numbers
  [ "$output" = $'7\n8' ] || wrong "numbers"
  refuses "was made with --key u64" dedup --at "$at" --hex numbers
  refuses "was made without --ignore-case" dedup --at "$at" -i numbers
  redis flushall
  printf 'One\nONE\ntwo\n' >words
  try 0 dedup --at "$at" -n 100 -p 1e-6 -i words
  [ "$output" = $'One\ntwo' ] || wrong "-i"
  printf 'TWO\nThree\n' >words
  try 0 check --at "$at" words
  [ "$output" = TWO ] || wrong "the set does not remember -i"
  try 0 dedup --at "$at" words
  [ "$output" = Three ] || wrong "the set does not remember -i"
  [ "$(redis hget set key)" = "bytes, ignoring case" ]
  redis flushall
  printf 'a\tx\0b\tx\0c\ny\tz\0' | "$PERHAPS" dedup --at "$at" -n 100 -p 1e-6 -0 --field 2 | tr '\0' '|' >found
  [ "$(cat found)" = $'a\tx|c\ny\tz|' ] || wrong "$(cat found)"
}

@test "--ignore-case of build holds for add and check" {
  module_server
  echo One | "$PERHAPS" build --at "$at" -i
  echo TWO | "$PERHAPS" add --at "$at"
  printf 'oNE\ntwo\nthree\n' >words
  try 0 check --at "$at" words
  [ "$output" = $'oNE\ntwo' ] || wrong "case is not ignored"
  try 0 info --at "$at"
  prints "ignoring case"
}

@test "a slow pipe is answered as lines come" {
  module_server
  mkfifo pipe
  "$PERHAPS" dedup --at "$at" pipe >found &
  pid=$!
  exec 7>pipe
  for line in a b a c; do
    echo $line >&7
    for _ in {1..100}; do
      grep -qx $line found && break
      sleep 0.02
    done
  done
  [ "$(cat found)" = $'a\nb\nc' ] || wrong "no answer"
  kill -TERM $pid
  ended $pid
  [ "$status" -eq 143 ] || wrong "not ended by the signal"
  exec 7>&-
}

# -- Sets that are made. --

@test "a set that does not exist is made, and then stays as it is" {
  module_server
  try 0 dedup --at "$at" -n 1000 -p 1e-4 keys
  try 0 info --json --at "$at"
  holds '.kind == "BF" and .shards == 1 and .capacity == 1000 and .fpr_target == 1e-4'
  [ "$(redis hexists set making)" = 0 ] || wrong "it is not finished"
  try 0 dedup --at "$at" -n 5 -p 0.1 --json keys
  holds '.unique == 0 and .fpr == 1e-4'
  at=redis://127.0.0.1:$port/other
  try 0 dedup --at "$at" --json keys
  holds '.unique == 2000 and .fpr == 1e-6'
  try 0 info --json --at "$at"
  holds '.shards == 64'
}

@test "two at the same time: the set is made once, and each line is printed by one of them" {
  module_server
  lines 40000 1 >one
  lines 40000 2 >two
  cat one two | sort -u >wanted
  for name in a b c; do
    at=redis://127.0.0.1:$port/$name
    "$PERHAPS" dedup --at "$at" -p 1e-9 --shards 8 one >found1 2>said1 &
    first=$!
    "$PERHAPS" dedup --at "$at" -p 1e-9 --shards 16 two >found2 2>said2 &
    second=$!
    for pid in $first $second; do
      ended $pid
      [ "$status" -eq 0 ] || wrong "$(cat said1 said2)"
    done
    sort found1 found2 | cmp - wanted
  done
}

@test "a set whose maker was broken off is finished by the next" {
  plain_server
  try 0 dedup --at "$at" -n 3000 -p 1e-6 --shards 4 keys
  fields=$(for field in shards kind items fpr key bits hashes seed; do echo "$field $(redis hget set $field)"; done)
  redis del set set:1 set:2
  redis hset set making "$fields"$'\n'
  refuses "is not finished" check --at "$at" keys
  try 0 dedup --at "$at" --json keys
  holds '.unique > 900 and .unique < 1100'
  try 1 check -v --at "$at" keys
  [ "$(redis hexists set making)" = 0 ] || wrong "it is not finished"
}

@test "what does not go" {
  refuses "no connection to 127.0.0.1:1: Connection refused" dedup --at redis://127.0.0.1:1/x keys
  refuses "needs --at" dedup --shards 4 keys
  refuses "--state" dedup --at redis://127.0.0.1:1/x --state y keys
  refuses "--last" dedup --at redis://127.0.0.1:1/x --last 5 keys
  refuses "--exact" dedup --at redis://127.0.0.1:1/x --exact keys
  plain_server
  refuses "say how many keys" dedup --at "$at" keys
  refuses "load the module" dedup --at "redis://127.0.0.1:$port/set" keys
  [ "$(redis exists set)" = 0 ] || wrong "a trace of a set that cannot be made"
  redis set set:0 x
  refuses "set:0 exists" dedup --at "$at" -n 100 keys
  redis flushall
  try 0 dedup --at "$at" -n 2000 -p 1e-6 -o out keys
  refuses "exists; give -f" dedup --at "$at" -o out keys
  try 0 dedup --at "$at" -f -o out keys
  [ ! -s out ] || wrong "-f replaced the set"
}

# -- Accidents. --

# cut_off FILE: dedups a file, while the server does what it is told but some answers do not arrive.
cut_off() {
  rm -f proxy
  /usr/bin/python3 "$BATS_TEST_DIRNAME/lossy_proxy.py" "$port" 3 >proxy 2>/dev/null 3>&- &
  proxy=$!
  until [ -s proxy ]; do sleep 0.02; done
  "$PERHAPS" dedup --at "${at/$port/$(cat proxy)}" "$1" >found 2>said || wrong "$(cat said)"
  kill $proxy
  doubted=$(sed -n 's/.*answers for \([0-9,]*\) lines were lost.*/\1/p' said | tr -d ,)
  [ -n "$doubted" ] || wrong "no warning"
}

# answers_get_lost: no line does. Known ones come out again, but not twice.
answers_get_lost() {
  lines 20000 1 >input
  firsts input >wanted
  cut_off input
  cmp found wanted
  [ "$doubted" -ge 500 ] || wrong "$(cat said)"
  cut_off input
  [ "$doubted" = "$(wc -l <found)" ] || wrong "$(cat said)"
  [ -z "$(sort found | uniq -d)" ] || wrong "a line came out twice"
}

@test "answers get lost, lines do not: plain strings" {
  plain_server
  try 0 dedup --at "$at" -n 100k -p 1e-9 --shards 4 /dev/null
  answers_get_lost
}

@test "answers get lost, lines do not: filters of the module" {
  module_server
  try 0 dedup --at "$at" -n 100k -p 1e-9 --shards 4 /dev/null
  answers_get_lost
}

@test "the server dies and comes back: every line is printed" {
  module_server --appendonly yes --appendfsync always
  lines 40000 1 >input
  firsts input | sort >wanted
  mkfifo pipe
  "$PERHAPS" dedup --at "$at" -n 100k -p 1e-9 pipe >found 2>said &
  pid=$!
  exec 7>pipe
  head -n 20000 input >&7
  stop_server "$port"
  tail -n +20001 input >&7 &
  exec 7>&-
  run_server "$port" --loadmodule "$PERHAPS_MODULE" --appendonly yes --appendfsync always
  ended $pid
  [ "$status" -eq 0 ] || wrong "$(cat said)"
  sort -u found | cmp - wanted
  grep -q "was restarted or replaced" said || wrong "no warning"
}

@test "the server dies for good: another run prints the rest" {
  plain_server --appendonly yes --appendfsync always
  try 0 dedup --at "$at" -n 100k -p 1e-9 --shards 4 /dev/null
  lines 20000 1 >input
  firsts input | sort >wanted
  mkfifo pipe
  "$PERHAPS" dedup --at "$at" --patience 1s pipe >found 2>said &
  pid=$!
  exec 7>pipe
  head -n 10000 input >&7
  stop_server "$port"
  tail -n +10001 input >&7 || true
  exec 7>&-
  ended $pid
  [ "$status" -eq 2 ] || wrong "no error"
  grep -q "no answer for" said || wrong "$(cat said)"
  run_server "$port" --appendonly yes --appendfsync always
  "$PERHAPS" dedup --at "$at" input >>found
  sort -u found | cmp - wanted
}
