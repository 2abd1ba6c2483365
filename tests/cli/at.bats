# --at: sets on servers. Each test starts its own.
load helper

prepare() {
  "$PERHAPS" info --at x 2>&1 | grep -q 'without hiredis' && skip "built without hiredis"
  command -v redis-server redis-cli >/dev/null || skip "redis-server is not installed"
  unset REDISCLI_AUTH
  seq 1 2000 >keys
  seq 1901 2100 >asked
}

teardown() {
  stop_servers
}

plain_server() {
  start_server "$@"
  at=redis+bits://127.0.0.1:$port/set
}

module_server() {
  [ -e "${PERHAPS_MODULE-}" ] || skip "the module is not built"
  start_server --loadmodule "$PERHAPS_MODULE" "$@"
  at=redis://127.0.0.1:$port/set
}

ask() {
  redis-cli -p "$port" "$@"
}

# -- Every kind of set: what a file can do. --

# works OPTIONS...: build, check, add and info, with any number of shards.
works() {
  try 0 build --at "$at" -n 3000 -p 1e-6 "$@" keys
  [ -z "$output$stderr" ] || wrong "not silent"
  try 0 check --at "$at" asked
  [ "$output" = "$(seq 1901 2000)" ] || wrong "not those keys, in order"
  try 0 check -v --at "$at" asked
  [ "$output" = "$(seq 2001 2100)" ] || wrong "not the others"
  try 0 check -c --at "$at" asked
  [ "$output" = 100 ]
  try 0 check --json --at "$at" asked
  [ "$output" = '{"checked": 200, "present": 100, "absent": 100}' ]
  seq 5000 5010 >none
  try 1 check --at "$at" none
  try 1 check -q --at "$at" none
  try 0 check -q --at "$at" asked
  [ -z "$output$stderr" ] || wrong "not silent"
  try 0 add --json --at "$at" asked
  holds '.keys == 200 and (.items - 2150 | fabs) < 80 and .fpr_target == 1e-6'
  try 1 check -v --at "$at" asked
}

@test "plain strings: one shard, and 16" {
  plain_server
  works
  try 0 info --json --at "$at"
  holds '.kind == "bits" and .shards == 1 and .capacity == 3000 and .nodes[0].shards == 1'
  ask flushall
  works --shards 16
  try 0 info --json --at "$at"
  holds '.shards == 16 and .most_items > .least_items and .bytes == ([.nodes[].bytes] | add)'
  try 0 info --at "$at"
  prints "16 shards on 1 server"
  prints "127.0.0.1:$port"
}

@test "filters of the module: one shard, and 16" {
  module_server
  works
  ask flushall
  works --shards 16
  try 0 info --json --at "$at"
  holds '.kind == "BF" and .shards == 16 and .capacity == 3000 and .fpr_now < 1e-5 and (.nodes | length) == 1'
}

@test "cuckoo filters of the module forget" {
  module_server
  works --needs remove --shards 4
  try 0 info --json --at "$at"
  holds '.kind == "CF" and .shards == 4'
  try 0 remove --at "$at" keys
  [ -z "$stderr" ] || wrong "not silent"
  try 1 check -q --at "$at" none
  seq 9000 9009 >never
  try 0 remove --at "$at" never
  says "0 removed, 10 not found"
  try 0 remove --json --at "$at" asked
  holds '.keys == 200 and .removed == 200 and .not_found == 0 and .items == 0'
}

@test "a filter that another client made is a set, too" {
  module_server
  ask bf.reserve set 0.001 1000
  ask cf.reserve other 1000
  for name in set other; do
    at=redis://127.0.0.1:$port/$name
    try 0 add --at "$at" keys
    try 0 check -c --at "$at" keys
    [ "$output" = 2000 ]
    try 0 info --json --at "$at"
    holds '.single and .shards == 1'
  done
  ask bf.exists set 77 | grep -x 1
  ask cf.exists other 77 | grep -x 1
  try 0 remove --at "$at" keys
  refuses "cannot forget" remove --at "redis://127.0.0.1:$port/set" keys
}

@test "keys from a pipe of unknown length: filters grow" {
  module_server
  run bash -c "seq 100000 | '$PERHAPS' build --at '$at' -p 0.01"
  [ "$status" -eq 0 ] || wrong "build"
  seq 100000 >many
  try 0 check -c --at "$at" many
  [ "$output" = 100000 ]
  try 0 info --json --at "$at"
  holds '.shards == 64 and .fpr_now < 0.01'
}

@test "plain strings cannot grow, and need -n for a pipe" {
  plain_server
  run --separate-stderr bash -c "seq 10 | '$PERHAPS' build --at '$at'"
  [ "$status" -eq 2 ]
  says "say how many keys"
  try 0 build --at "$at" -n 100 keys
  says "was made for 100"
}

@test "the examples of the help" {
  module_server
  seq 1000 | tee phones.txt names.txt wanted.txt >new.txt
  for command in build check add info; do
    "$PERHAPS" help $command | sed -n '/^Examples:/,$s/^  perhaps \(.*--at redis.*\)/\1/p' | sed "s/localhost/127.0.0.1:$port/; s/1e9/1e6/" >examples
    [ -s examples ] || wrong "no example for $command"
    while read -r -a words; do try 0 "${words[@]}"; done <examples
  done
}

# -- What other programs find. --

@test "the hash describes the set, and keys are where CRC16 says" {
  plain_server
  try 0 build --at "$at" -n 2000 -p 0.01 --shards 8 --seed 7 keys
  [ "$(ask hget set shards)$(ask hget set kind)$(ask hget set key)$(ask hget set seed)" = "8bitsbytes7" ]
  bits=$(ask hget set bits) hashes=$(ask hget set hashes)
  for key in 1 44 1999; do
    digest=$(printf '7%s' "$key" | sha256sum)
    x=$((0x${digest:0:12} % bits)) y=$((0x${digest:12:12} % bits))
    shard=$(/usr/bin/python3 -c 'import binascii, sys; print(binascii.crc_hqx(sys.argv[1].encode(), 0) % 8)' "$key")
    for ((i = 1; i <= hashes; i++)); do
      [ "$(ask getbit "set:$shard" "$x")" = 1 ] || wrong "bit $i of $key is not set"
      x=$(((x + y) % bits)) y=$(((y + i) % bits))
    done
  done
}

@test "numbers are sent as decimal text, other keys as their bytes" {
  plain_server
  printf '007\n8\n' >numbers
  try 0 build --at "$at" --u64 -n 10 -p 1e-6 numbers
  printf '7\n' >seven
  try 0 check --at "$at" seven
  refuses "was made with --key u64" check --at "$at" --hex seven
  try 0 build -f --at "$at" --hex -n 10 -p 1e-6 --seed 1 /dev/null
  echo 666f6f | "$PERHAPS" add --at "$at"
  ask hset set key bytes
  echo foo | "$PERHAPS" check -q --at "$at"
}

# -- Refusals. --

@test "URLs that are none" {
  refuses "not a URL" info --at localhost
  refuses "not a URL" info --at http://localhost/x
  refuses "name of the set is missing" info --at redis://localhost
  refuses "name of the set is missing" info --at redis://localhost/
  refuses "host or port" info --at redis://localhost:0/x
  refuses "host or port" info --at redis://localhost:99999/x
  refuses "host or port" info --at "redis://[::1/x"
  refuses "user or password" info --at redis://a:%zz@localhost/x
  for url in redis://user:1234/secret@localhost/x redis://user:pw/secret@localhost/x redis://localhost/secret@x; do
    refuses "must be written as %XX" info --at "$url"
    [[ $stderr != *secret* ]] || wrong "the password is shown: $stderr"
  done
  refuses "TLS" info --at rediss://localhost/x
  [[ $stderr != *secret* ]]
}

@test "no server there" {
  refuses "no connection to 127.0.0.1:1: Connection refused" check --at redis://127.0.0.1:1/x keys
  refuses "check host and port" build --at redis+bits://nosuchhost.invalid/x keys
}

@test "passwords, users, and who gives none" {
  plain_server --requirepass 's:e@t'
  refuses "refuses the login: NOAUTH" build --at "$at" keys
  refuses "refuses the login: WRONGPASS" build --at "redis+bits://:wrong@127.0.0.1:$port/set" keys
  try 0 build --at "redis+bits://:s%3ae%40t@127.0.0.1:$port/set" keys
  try 0 check -q --at "redis+bits://default:s%3Ae%40t@127.0.0.1:$port/set" keys
  REDISCLI_AUTH='s:e@t' try 0 info --json --at "$at"
  [[ $output != *'e@t'* ]] || wrong "shows the password"
  REDISCLI_AUTH='s:e@t' ask acl setuser reader on '>pw' '~*' +@read +@connection
  refuses "NOPERM" add --at "redis+bits://reader:pw@127.0.0.1:$port/set" keys
  try 0 check -c --at "redis+bits://reader:pw@127.0.0.1:$port/set" keys
}

@test "what stands there already" {
  plain_server
  try 0 build --at "$at" --shards 8 keys
  refuses "exists; give -f" build --at "$at" keys
  try 0 build -f --at "$at" --shards 2 asked
  [ "$(ask exists set:0 set:1 set:2 set:7)" = 2 ] || wrong "old shards are left, or new ones lack"
  ask set text hello
  ask hset table a b
  for name in text table; do
    at=redis+bits://127.0.0.1:$port/$name
    try 2 build -f --at "$at" keys
    try 2 check --at "$at" keys
    try 2 info --at "$at"
  done
  [ "$(ask get text)" = hello ]
  refuses "no such set" add --at "redis+bits://127.0.0.1:$port/nothing" keys
}

@test "a shard that is gone is no 'absent'" {
  plain_server
  try 0 build --at "$at" --shards 4 keys
  ask del set:2
  refuses "set:2 is missing" check --at "$at" keys
  refuses "set:2 is missing" add --at "$at" keys
  [ "$(ask exists set:2)" = 0 ] || wrong "add made it anew, without its keys"
  ask lpush set:2 x
  refuses "WRONGTYPE" check --at "$at" keys
}

@test "a shard of the module that is gone is no 'absent'" {
  module_server
  try 0 build --at "$at" --shards 4 keys
  ask del set:2
  refuses "set:2 is missing" check --at "$at" keys
  refuses "build it again with -f" add --at "$at" keys
}

@test "a server without the module says what is missing" {
  plain_server
  refuses "load the module perhaps.so" build --at "redis://127.0.0.1:$port/set" keys
}

@test "options that do not go with --at" {
  plain_server
  refuses "--output: means nothing" build --at "$at" -o x keys
  refuses "--in-place: means nothing" add --at "$at" --in-place keys
  refuses "--threads: means nothing" check --at "$at" -j 2 keys
  refuses "power of two" build --at "$at" --shards 3 keys
  refuses "power of two" build --at "$at" --shards 65536 keys
  refuses "give 4 or more" build --at "$at" -n 1e6 --shards 2 --shard-bytes 500k keys
  refuses "not to be had on a server" build --at "$at" -k table keys
  refuses "cannot remove" build --at "$at" --needs remove keys
  refuses "makes no sense" build --at "$at" -n 0 keys
  refuses "is not a time" build --at "$at" --patience 5 keys
  refuses "one argument too many" info --at "$at" keys
}

@test "the default number of shards keeps each below the limit" {
  plain_server
  try 0 build --at "$at" -n 1e6 -p 0.01 --shard-bytes 100k --json keys
  holds '.shards == 16 and .most_bytes <= 100000 and .capacity == 1000000'
}

# -- Accidents. --

# slowly FILE: its lines, with pauses.
slowly() {
  split -n l/4 "$1" part.
  for part in part.*; do
    cat "$part"
    sleep 0.4
  done
}

# survives ARGS...: a server is killed and started anew while keys are added; all of them are in it.
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
  grep -q "started anew" said || wrong "no warning: $(cat said)"
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

# breaks_off COMMAND: after a first round of 65,536 keys, others are sent to a server that sleeps, so that they are on their way
# when it is killed.
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
  ask debug sleep 10 7>&- &
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
  grep -q "nobody knows which" said || wrong "$(cat said)"
}

@test "keys that may be in a cuckoo filter twice are told of" {
  breaks_off add
  [ "$status" -eq 0 ] || wrong "status $status: $(cat said)"
  grep -q "up to 2,000 keys may have been added twice" said || wrong "$(cat said)"
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
  grep -q "no answer for 1s; last, 127.0.0.1:$port: Connection refused" said || wrong "$(cat said)"
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
  ask debug sleep 8 7>&- &
  sleep 0.3
  echo 6 >&7
  exec 7>&-
  SECONDS=0
  ended $pid
  [ "$status" -eq 2 ] && [ "$SECONDS" -lt 7 ] || wrong "status $status after $SECONDS s"
  grep -q "no answer for 2s; last, 127.0.0.1:$port: connected, but silent" said || wrong "$(cat said)"
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

# move_shard KEY FROM TO HOW: half of a migration (HOW = half), so that ASK is answered, or all of it.
move_shard() {
  local slot from to
  port=$2 slot=$(ask cluster keyslot "$1") from=$(ask cluster myid)
  to=$(port=$3 && ask cluster myid)
  (port=$3 && ask cluster setslot "$slot" importing "$from")
  ask cluster setslot "$slot" migrating "$to"
  ask migrate 127.0.0.1 "$3" "$1" 0 5000
  [ "$4" = half ] && return 0
  for port in "$3" "$2"; do ask cluster setslot "$slot" node "$to"; done
}

# home KEY: the port of the server that has it.
home() {
  for port in "${ports[@]}"; do
    [ "$(ask exists "$1" 2>/dev/null)" = 1 ] && break
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
    try 0 check --at "$at" asked
    [ "$output" = "$(seq 1901 2000)" ] || wrong "moved $how: wrong answers"
    try 0 add --at "$at" keys
    try 0 info --at "$at"
    [ $how = half ] || break
    port=$other
    slot=$(ask cluster keyslot set:5) id=$(ask cluster myid)
    for port in "${ports[@]}"; do ask cluster setslot "$slot" node "$id"; done
  done
  try 0 add --at "redis+bits://127.0.0.1:${ports[2]}/set" asked
  try 1 check -v --at "$at" asked
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
