# --at: sets on servers. Each test starts its own.
load at_helper

# -- Every kind of set: what a file can do. --

# works OPTIONS...: build, check, add and info, with any number of shards.
works() {
  try 0 build --at "$at" -n 3000 -p 1e-6 "$@" keys
  [ -z "$output$stderr" ] || wrong "not silent"
  try 0 check --at "$at" queries
  [ "$output" = "$(seq 1901 2000)" ] || wrong "not those keys, in order"
  try 0 check -v --at "$at" queries
  [ "$output" = "$(seq 2001 2100)" ] || wrong "not the others"
  try 0 check -c --at "$at" queries
  [ "$output" = 100 ]
  try 0 check --json --at "$at" queries
  [ "$output" = '{"checked": 200, "present": 100, "absent": 100}' ]
  seq 5000 5010 >none
  try 1 check --at "$at" none
  try 1 check -q --at "$at" none
  try 0 check -q --at "$at" queries
  [ -z "$output$stderr" ] || wrong "not silent"
  try 0 add --json --at "$at" queries
  holds '.keys == 200 and (.items - 2150 | fabs) < 80 and .fpr_target == 1e-6'
  try 1 check -v --at "$at" queries
}

@test "plain strings: one shard, and 16" {
  plain_server
  works
  try 0 info --json --at "$at"
  holds '.kind == "bits" and .shards == 1 and .capacity == 3000 and .nodes[0].shards == 1'
  redis flushall
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
  redis flushall
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
  try 0 remove --json --at "$at" queries
  holds '.keys == 200 and .removed == 200 and .not_found == 0 and .items == 0'
}

@test "a filter that another client made is a set, too" {
  module_server
  redis bf.reserve set 0.001 1000
  redis cf.reserve other 1000
  for name in set other; do
    at=redis://127.0.0.1:$port/$name
    try 0 add --at "$at" keys
    try 0 check -c --at "$at" keys
    [ "$output" = 2000 ]
    try 0 info --json --at "$at"
    holds '.single and .shards == 1'
  done
  redis bf.exists set 77 | grep -x 1
  redis cf.exists other 77 | grep -x 1
  try 0 remove --at "$at" keys
  refuses "cannot remove keys" remove --at "redis://127.0.0.1:$port/set" keys
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
  seq 1000 | tee phones.txt names.txt wanted.txt urls.txt >new.txt
  for command in build check add dedup info; do
    "$PERHAPS" help $command | sed -n '/^Examples:/,$s/^  perhaps \(.*--at redis.*\)/\1/p' | sed "s/localhost/127.0.0.1:$port/; s/1e9/1e6/" >examples
    [ -s examples ] || wrong "no example for $command"
    while read -r -a words; do try 0 "${words[@]}"; done <examples
  done
}

# -- What other programs find. --

@test "the hash describes the set, and keys are where CRC16 says" {
  plain_server
  try 0 build --at "$at" -n 2000 -p 0.01 --shards 8 --seed 7 keys
  [ "$(redis hget set shards)$(redis hget set kind)$(redis hget set key)$(redis hget set seed)" = "8bitsbytes7" ]
  bits=$(redis hget set bits) hashes=$(redis hget set hashes)
  for key in 1 44 1999; do
    digest=$(printf '7%s' "$key" | sha256sum)
    x=$((0x${digest:0:12} % bits)) y=$((0x${digest:12:12} % bits))
    shard=$(/usr/bin/python3 -c 'import binascii, sys; print(binascii.crc_hqx(sys.argv[1].encode(), 0) % 8)' "$key")
    for ((i = 1; i <= hashes; i++)); do
      [ "$(redis getbit "set:$shard" "$x")" = 1 ] || wrong "bit $i of $key is not set"
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
  redis hset set key bytes
  echo foo | "$PERHAPS" check -q --at "$at"
}

# remembers OPTIONS KEY OTHER WRONG...: a set made with OPTIONS of table finds KEY's line without
# them, adds OTHER's, and refuses each WRONG option.
remembers() {
  local options=$1 key=$2 other=$3 wrong words
  shift 3
  read -ra words <<<"$options"
  redis flushall >/dev/null
  printf 'x,%s\n' "$key" >table
  printf 'x,%s\n' "$other" >more
  echo "$key" >line
  try 0 build --at "$at" -n 100 -p 1e-9 "${words[@]}" table
  try 0 check --at "$at" "${words[@]}" table
  try 0 check --at "$at" table more
  [ "$output" = "x,$key" ]
  try 0 add --at "$at" more
  try 0 check -c --at "$at" table more
  [ "$output" = 2 ]
  try 0 dedup --at "$at" table more
  [ -z "$output" ]
  try 0 check --field 0 --at "$at" line
  for wrong; do
    read -ra words <<<"$wrong"
    refuses " made with" check --at "$at" "${words[@]}" table
    refuses " made with" add --at "$at" "${words[@]}" table
    refuses " made with" dedup --at "$at" "${words[@]}" table
  done
}

@test "a set remembers how its keys are made, and refuses what contradicts that" {
  plain_server
  remembers "--field 2 --delimiter ," Alpha beta --hex -i "--field 1" "--field 2 --delimiter ;" -0
  remembers "-i --field 2 --delimiter ," Alpha beta --hex "--field 1"
  remembers "--hex --field 2 --delimiter ," 0aFF beef --u64 -i "--field 1"
  remembers "--u64 --field 2 --delimiter ," 17 18 --hex "--key int32" "--field 1"
  remembers "--key int32 --field 2 --delimiter ," -17 18 --u64
  remembers "--key utf16 --field 2 --delimiter ," grüße drei --u64
  try 0 info --json --at "$at"
  holds '.key == "utf16" and .records == "lines" and .field == 2 and .delimiter == ","'
  redis hset set key rot13
  refuses "pdate perhaps" check --at "$at" table
  redis hset set key utf16
  redis hset set records xml
  refuses "pdate perhaps" check --at "$at" table
  try 0 check --field 0 --at "$at" line
}

@test "a filter that the server has from a file finds its keys where they stood" {
  module_server
  printf 'x,Alpha\nx,beta\n' >table
  "$PERHAPS" build --field 2 --delimiter , -p 1e-6 -o f.ph table
  size=$(stat -c %s f.ph)
  redis -x perhaps.load set 0 "$size" <f.ph
  try 0 check -c --at "$at" table
  [ "$output" = 2 ]
  refuses "was made with --field 2 --delimiter ','" check --at "$at" --field 1 table
  try 0 check -c --field 0 --at "$at" <(printf 'beta\n')
  [ "$output" = 1 ]
  # Nobody knows how the keys of a filter are written that clients made.
  redis bf.add other foo
  try 0 check --hex --at "redis://127.0.0.1:$port/other" <(echo 666f6f)
}

@test "dedup --at goes on with the field that the set was made with" {
  plain_server
  printf 'x;1\0x;2\0' >day1
  printf 'y;2\0y;3\0' >day2
  "$PERHAPS" dedup --at "$at" -n 100 -0 --field 2 --delimiter ';' day1 >out
  cmp out day1
  "$PERHAPS" dedup --at "$at" day2 | tr '\0' '\n' >out
  [ "$(cat out)" = "y;3" ]
}

# -- Refusals. --

@test "URLs that are none" {
  refuses "not the URL of a set" info --at localhost
  refuses "not the URL of a set" info --at http://localhost/x
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
  REDISCLI_AUTH='s:e@t' redis acl setuser reader on '>pw' '~*' +@read +@connection
  refuses "NOPERM" add --at "redis+bits://reader:pw@127.0.0.1:$port/set" keys
  try 0 check -c --at "redis+bits://reader:pw@127.0.0.1:$port/set" keys
}

@test "a name that would put all shards on one server" {
  plain_server
  refuses "all shards on one server" build --at "redis+bits://127.0.0.1:$port/a{b}" -n 1000 --shards 4 keys
  try 0 build --at "redis+bits://127.0.0.1:$port/a{b}" -n 1000 --shards 1 keys
}

@test "what stands there already" {
  plain_server
  try 0 build --at "$at" --shards 8 keys
  refuses "exists; give -f" build --at "$at" keys
  try 0 build -f --at "$at" --shards 2 queries
  [ "$(redis exists set:0 set:1 set:2 set:7)" = 2 ] || wrong "old shards are left, or new ones lack"
  redis set text hello
  redis hset table a b
  for name in text table; do
    at=redis+bits://127.0.0.1:$port/$name
    try 2 build -f --at "$at" keys
    try 2 check --at "$at" keys
    try 2 info --at "$at"
  done
  [ "$(redis get text)" = hello ]
  refuses "no such set" add --at "redis+bits://127.0.0.1:$port/nothing" keys
}

@test "a shard that is gone is no 'absent'" {
  plain_server
  try 0 build --at "$at" --shards 4 keys
  redis del set:2
  refuses "set:2 is missing" check --at "$at" keys
  refuses "set:2 is missing" add --at "$at" keys
  [ "$(redis exists set:2)" = 0 ] || wrong "add made it anew, without its keys"
  redis lpush set:2 x
  refuses "WRONGTYPE" check --at "$at" keys
}

@test "a shard of the module that is gone is no 'absent'" {
  module_server
  try 0 build --at "$at" --shards 4 keys
  redis del set:2
  refuses "set:2 is missing" check --at "$at" keys
  refuses "build it again with -f" add --at "$at" keys
}

@test "a server without the module says what is missing" {
  plain_server
  refuses "load the module perhaps.so" build --at "redis://127.0.0.1:$port/set" keys
}

@test "options that do not go with --at" {
  plain_server
  refuses "-o: does not apply" build --at "$at" -o x keys
  refuses "--in-place: does not apply" add --at "$at" --in-place keys
  refuses "-j: does not apply" check --at "$at" -j 2 keys
  refuses "power of two" build --at "$at" --shards 3 keys
  refuses "power of two" build --at "$at" --shards 65536 keys
  refuses "give 4 or more" build --at "$at" -n 1e6 --shards 2 --shard-bytes 500k keys
  refuses "servers have no table filters" build --at "$at" -k table keys
  refuses "cannot remove" build --at "$at" --needs remove keys
  refuses "makes no sense" build --at "$at" -n 0 keys
  refuses "is not a time" build --at "$at" --patience 5 keys
  refuses "sets on servers are not compared" info --at "$at" keys
}

@test "the default number of shards keeps each below the limit" {
  plain_server
  try 0 build --at "$at" -n 1e6 -p 0.01 --shard-bytes 100k --json keys
  holds '.shards == 16 and .most_bytes <= 100000 and .capacity == 1000000'
}
