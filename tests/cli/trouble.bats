# --at, when servers die, connections break and shards move.
load at_helper

# slowly FILE: its lines, with pauses.
slowly() {
  split -n l/4 "$1" part.
  for part in part.*; do
    cat "$part"
    sleep 0.4
  done
}

# survives ARGS...: a server is killed and started again while keys are added; all are in it.
survives() {
  try 0 build --at "$at" --shards 4 -n 100000 /dev/null
  seq 100000 >many
  slowly many >pipe &
  "$PERHAPS" add --at "$at" pipe 2>said &
  pid=$!
  sleep 0.6
  stop_server "$port"
  sleep 0.3
  run_server "$port" "$@"
  ended $pid
  [ "$status" -eq 0 ] || wrong "add ended with $status: $(cat said)"
  grep -q "was restarted or replaced" said || wrong "no warning: $(cat said)"
  try 0 check -c --at "$at" many
  [ "$output" = 100000 ] || wrong "keys are missing"
}

@test "a server that is killed and comes back: it goes on" {
  mkfifo pipe
  plain_server --appendonly yes --appendfsync always
  survives --appendonly yes --appendfsync always
}

@test "a server with the module that is killed and comes back: it goes on" {
  mkfifo pipe
  module_server --appendonly yes --appendfsync always
  survives --appendonly yes --appendfsync always --loadmodule "$PERHAPS_MODULE"
}

# breaks_off COMMAND: after a first round of 65,536 keys, others are sent to a server that sleeps,
# so that they are in flight when it is killed.
breaks_off() {
  mkfifo pipe
  seq 1 67536 >keys
  module_server --appendonly yes --appendfsync always --enable-debug-command yes
  try 0 build -k cuckoo --at "$at" --shards 4 -n 100000 keys
  "$PERHAPS" "$1" --patience 10s --at "$at" pipe 2>said &
  pid=$!
  exec 7>pipe
  head -n 66000 keys >&7
  sleep 0.5
  redis debug sleep 10 7>&- &
  while timeout 0.2 redis-cli -p "$port" ping >/dev/null 2>&1; do sleep 0.05; done
  tail -n +66001 keys >&7
  exec 7>&-
  sleep 0.3
  stop_server "$port"
  run_server "$port" --appendonly yes --appendfsync always --loadmodule "$PERHAPS_MODULE"
  ended $pid
}

@test "keys that may have been removed already are not removed twice" {
  breaks_off remove
  [ "$status" -eq 2 ] || wrong "status $status"
  grep -q "which of the last keys were removed is unknown" said || wrong "$(cat said)"
}

@test "keys that may be in a cuckoo filter twice are told of" {
  breaks_off add
  [ "$status" -eq 0 ] || wrong "status $status: $(cat said)"
  grep -q "up to [0-9,]* keys may have been added twice" said || wrong "$(cat said)"
  try 0 check -c --at "$at" keys
  [ "$output" = 67536 ]
}

@test "a server that comes back without its data is found out" {
  mkfifo pipe
  plain_server
  try 0 build --at "$at" --shards 4 -n 100000 /dev/null
  seq 100000 >many
  slowly many >pipe &
  "$PERHAPS" check -c --at "$at" pipe many 2>said &
  pid=$!
  sleep 0.2
  stop_server "$port"
  run_server "$port"
  ended $pid
  [ "$status" -eq 2 ] || wrong "status $status"
  grep -q "is missing" said || wrong "$(cat said)"
}

@test "a server that does not come back: patience ends" {
  mkfifo pipe
  plain_server
  try 0 build --at "$at" -n 100000 /dev/null
  slowly keys >pipe &
  "$PERHAPS" add --patience 1s --at "$at" pipe 2>said &
  pid=$!
  sleep 0.2
  stop_server "$port"
  ended $pid
  [ "$status" -eq 2 ]
  grep -q "no answer for 1s; last error: 127.0.0.1:$port: Connection refused" said || wrong "$(cat said)"
}

@test "a server that is silent: patience ends, and not later" {
  mkfifo pipe
  plain_server --enable-debug-command yes
  try 0 build --at "$at" keys
  "$PERHAPS" check --patience 2s --at "$at" pipe >found 2>said &
  pid=$!
  exec 7>pipe
  echo 5 >&7
  for _ in {1..100}; do
    [ -s found ] && break
    sleep 0.05
  done
  redis debug sleep 8 7>&- &
  sleep 0.3
  echo 6 >&7
  exec 7>&-
  SECONDS=0
  ended $pid
  [ "$status" -eq 2 ] && [ "$SECONDS" -lt 7 ] || wrong "status $status after $SECONDS s"
  grep -q "no answer for 2s; last error: 127.0.0.1:$port: connected, but silent" said || wrong "$(cat said)"
}

@test "a key of many NUL bytes, which takes more than one write" {
  module_server
  (head -c 40000000 /dev/zero | tr '\0' 0; echo) >zeros
  try 0 build --hex -n 10 --patience 5s --at "$at" zeros
  try 0 check -c --patience 5s --at "$at" zeros
  [ "$output" = 1 ] || wrong "$output"
}

@test "check answers a slow pipe as keys come" {
  plain_server
  try 0 build --at "$at" keys
  mkfifo pipe
  "$PERHAPS" check --at "$at" pipe >found &
  pid=$!
  exec 7>pipe
  echo 5 >&7
  for _ in {1..100}; do
    [ -s found ] && break
    sleep 0.05
  done
  [ "$(cat found)" = 5 ] || wrong "no answer"
  exec 7>&-
  ended $pid
  [ "$status" -eq 0 ]
}

# -- A cluster. --

# move_shard KEY FROM TO HOW: half of a migration (HOW = half), so that ASK is answered, or all of
# it.
move_shard() {
  local slot from to
  port=$2 slot=$(redis cluster keyslot "$1") from=$(redis cluster myid)
  to=$(port=$3 && redis cluster myid)
  (port=$3 && redis cluster setslot "$slot" importing "$from")
  redis cluster setslot "$slot" migrating "$to"
  redis migrate 127.0.0.1 "$3" "$1" 0 5000
  [ "$4" = half ] && return 0
  for port in "$3" "$2"; do redis cluster setslot "$slot" node "$to"; done
}

# home KEY: the port of the server that has it.
home() {
  for port in "${ports[@]}"; do
    [ "$(redis exists "$1" 2>/dev/null)" = 1 ] && break
  done
}

# shards_move: sets are used while shards change their servers.
shards_move() {
  at=${at%%:*}://127.0.0.1:${ports[0]}/set
  try 0 build --at "$at" --shards 64 -n 3000 -p 1e-6 keys
  try 0 info --json --at "$at"
  holds '(.nodes | length) == 3 and ([.nodes[].shards] | add) == 64'
  for how in half whole; do
    home set:5
    other=${ports[0]}
    [ "$other" = "$port" ] && other=${ports[1]}
    move_shard set:5 "$port" "$other" $how
    try 0 check --at "$at" queries
    [ "$output" = "$(seq 1901 2000)" ] || wrong "moved $how: wrong answers"
    try 0 add --at "$at" keys
    try 0 info --at "$at"
    [ $how = half ] || break
    port=$other
    slot=$(redis cluster keyslot set:5) id=$(redis cluster myid)
    for port in "${ports[@]}"; do redis cluster setslot "$slot" node "$id"; done
  done
  try 0 add --at "redis+bits://127.0.0.1:${ports[2]}/set" queries
  try 1 check -v --at "$at" queries
}

@test "a cluster of three: plain strings, shards on the move" {
  start_cluster
  at=redis+bits:
  shards_move
}

@test "a cluster of three: filters of the module, shards on the move" {
  [ -e "${PERHAPS_MODULE-}" ] || skip "the module is not built"
  start_cluster --loadmodule "$PERHAPS_MODULE"
  at=redis:
  shards_move
}
