# count: how often each key is in a filter that counts.
load helper

prepare() {
  printf 'once\ntwice\ntwice\n' >keys
  printf 'twice\nnever\nonce\n' >queries
  for kind in counting cuckoo; do "$PERHAPS" build -k $kind -n 100 -p 1e-6 -o $kind.ph keys; done
}

@test "count prints count, tab and key, in order, and exits 0" {
  for kind in counting cuckoo; do
    try 0 count $kind.ph queries
    [ "$output" = "$(printf '2\ttwice\n0\tnever\n1\tonce')" ] || wrong "$kind"
    [ -z "$stderr" ]
    run --separate-stderr "$PERHAPS" count $kind.ph <queries
    [ "$output" = "$(printf '2\ttwice\n0\tnever\n1\tonce')" ]
  done
}

@test "count exits 1 if there is none" {
  echo never >none
  try 1 count cuckoo.ph none
  [ "$output" = "$(printf '0\tnever')" ]
  try 1 count cuckoo.ph /dev/null
  [ -z "$output" ]
}

@test "count --json has the totals" {
  try 0 count --json cuckoo.ph queries
  [ "$output" = '{"checked": 3, "present": 2, "absent": 1, "copies": 3}' ]
  try 1 count --json counting.ph /dev/null
  holds '.checked == 0 and .copies == 0'
}

@test "adds and removes are counted" {
  for kind in counting cuckoo; do
    "$PERHAPS" add $kind.ph keys
    echo once | "$PERHAPS" remove $kind.ph
    try 0 count $kind.ph queries
    [ "$output" = "$(printf '4\ttwice\n0\tnever\n1\tonce')" ]
  done
}

@test "counting counts to 15, and info tells how many counters are stuck; cuckoo counts on" {
  yes often | head -n 1000 >many
  for kind in counting cuckoo; do "$PERHAPS" add $kind.ph many; done
  echo often >often
  try 0 count counting.ph often
  [ "$output" = "$(printf '15\toften')" ]
  try 0 count cuckoo.ph often
  [ "$output" = "$(printf '1000\toften')" ]
  try 0 info --json counting.ph
  holds '.stuck > 0 and .stashed == 0'
  try 0 info --json cuckoo.ph
  holds '.stashed > 900 and .stuck == 0'
  "$PERHAPS" info counting.ph | grep -q "stuck .* counters have reached 15"
  "$PERHAPS" info cuckoo.ph | grep -q "stashed .* copies are kept outside"
}

@test "copies of a key are no cause for a warning" {
  yes often | head -n 1000 >many
  for kind in counting cuckoo; do
    try 0 add $kind.ph many
    [ -z "$stderr" ] || wrong "$kind warns"
  done
}

@test "-0, fields and raw records" {
  printf 'a\nb\0c\0a\nb\0' >nul
  "$PERHAPS" build -0 --needs count -p 1e-6 -o n.ph nul
  "$PERHAPS" count -0 n.ph nul >out
  printf '2\ta\nb\0001\tc\0002\ta\nb\0' | cmp - out
  printf 'x,once\n' >csv
  try 0 count --field 2 --delimiter , cuckoo.ph csv
  [ "$output" = "$(printf '1\tx,once')" ]
  printf '\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0' >raw
  "$PERHAPS" build --key u64le -k cuckoo -p 1e-6 -o r.ph raw
  try 0 count r.ph raw
  [ "$output" = "$(printf '2\t1\n1\t2\n2\t1')" ]
}

@test "count answers a slow pipe as its lines come" {
  mkfifo in out
  "$PERHAPS" count cuckoo.ph <in >out &
  exec 7>in 8<out
  echo twice >&7
  read -r -t 5 answer <&8
  [ "$answer" = "$(printf '2\ttwice')" ]
  exec 7>&- 8<&-
  wait
}

@test "kinds that cannot count say which can" {
  seq 10 >numbers
  for kind in bloom blocked table bitmap; do
    "$PERHAPS" build -k $kind -o $kind.ph numbers
    refuses "$kind filters cannot count copies of a key; counting" \
      count $kind.ph absent
  done
}

@test "full disk under count and list" {
  seq 10 >numbers
  "$PERHAPS" build -k table -o t.ph numbers
  for command in "count cuckoo.ph keys" "count --json cuckoo.ph keys" "list t.ph" "list --json t.ph"; do
    run --separate-stderr bash -c '"$0" $1 >/dev/full' "$PERHAPS" "$command"
    [ "$status" -eq 2 ] || wrong "$command"
    says "standard output: cannot be written: No space left on device; "
  done
}
