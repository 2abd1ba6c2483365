# remove: keys out of filters that can forget.
load helper

forgetful="counting cuckoo table bitmap"

prepare() {
  seq 1 1000 >keys
  seq 1 400 >gone
  seq 401 1000 >kept
  for kind in $forgetful; do "$PERHAPS" build -k $kind -n 2000 -p 1e-6 -o $kind.ph keys; done
}

@test "remove takes keys out, atomically, and is silent when all were there" {
  for kind in $forgetful; do
    inode=$(stat -c %i $kind.ph)
    try 0 remove $kind.ph gone
    [ -z "$output$stderr" ] || wrong "$kind is not silent"
    [ "$(stat -c %i $kind.ph)" != "$inode" ]
    try 0 check -c $kind.ph kept
    [ "$output" = 600 ] || wrong "$kind has lost keys"
    try 1 check -c $kind.ph gone
    try 0 verify $kind.ph
    try 0 info --json $kind.ph
    holds '.items == 600'
  done
  nothing_left_behind
}

@test "what is not there is counted, and nothing else is lost" {
  seq 901 1100 >some
  for kind in $forgetful; do
    try 0 remove $kind.ph some
    says "$kind.ph: 100 removed, 100 not found"
    [ -z "$output" ]
    try 0 remove $kind.ph some
    says "$kind.ph: 0 removed, 200 not found"
    try 0 check -c $kind.ph keys
    [ "$output" = 900 ]
  done
}

@test "remove --json counts" {
  seq 901 1100 >some
  for kind in $forgetful; do
    try 0 remove --json $kind.ph some
    holds '.keys == 200 and .removed == 100 and .not_found == 100 and .items == 900'
    holds 'has("capacity") and has("fpr_now") and has("fpr_target")'
    [ -z "$stderr" ]
  done
}

@test "every add has its remove in multisets; sets have a key once" {
  for kind in $forgetful; do "$PERHAPS" add $kind.ph keys; done
  for kind in counting cuckoo; do
    try 0 remove $kind.ph keys
    try 0 check -c $kind.ph keys
    [ "$output" = 1000 ] || wrong "$kind has lost copies"
    try 0 remove $kind.ph keys
    try 1 check -c $kind.ph keys
  done
  for kind in table bitmap; do
    try 0 remove $kind.ph keys
    try 1 check -c $kind.ph keys
  done
}

@test "a filter that has forgotten everything is empty again" {
  for kind in counting cuckoo table bitmap; do
    "$PERHAPS" build -k $kind -n 2000 -p 1e-6 -o empty.ph /dev/null
    "$PERHAPS" remove $kind.ph keys
    try 1 check -q $kind.ph keys
    try 0 info --json $kind.ph
    holds '.items == 0 and .fill == 0'
    cmp empty.ph $kind.ph || wrong "$kind is not what it was"
    rm empty.ph
  done
}

@test "remove --in-place changes the file itself, for kinds that can" {
  for kind in counting bitmap; do
    cp $kind.ph copy.ph
    inode=$(stat -c %i $kind.ph)
    try 0 remove --in-place $kind.ph gone
    [ "$(stat -c %i $kind.ph)" = "$inode" ]
    "$PERHAPS" remove copy.ph gone
    cmp $kind.ph copy.ph
  done
  for kind in cuckoo table; do
    cp $kind.ph before
    refuses "$kind filters cannot be changed in place; leave out --in-place" remove --in-place $kind.ph gone
    refuses "$kind filters cannot be changed in place; leave out --in-place" add --in-place $kind.ph gone
    cmp $kind.ph before
  done
}

@test "killed while removing in place, the file is refused until --recover" {
  mkfifo pipe
  "$PERHAPS" remove counting.ph --in-place pipe &
  pid=$!
  exec 7>pipe
  cat gone >&7
  for _ in $(seq 200); do
    [ "$("$PERHAPS" check -c --recover counting.ph gone)" != 0 ] || break
    sleep 0.05
  done
  kill -KILL $pid
  wait $pid || true
  exec 7>&-
  refuses "--recover" remove counting.ph gone
  refuses "--recover" count counting.ph gone
  try 0 count --recover --json counting.ph keys
  holds '.present == 600'
  try 0 remove --recover counting.ph /dev/null
  try 0 verify counting.ph
}

@test "Ctrl-C while removing leaves the old file whole; in place it finishes the file" {
  cp table.ph before
  mkfifo pipe
  env --default-signal=INT "$PERHAPS" remove table.ph pipe &
  pid=$!
  exec 7>pipe
  cat gone >&7
  sleep 0.2
  kill -INT $pid
  ended $pid
  exec 7>&-
  [ "$status" -eq 130 ] || wrong "status"
  cmp table.ph before
  env --default-signal=INT "$PERHAPS" remove bitmap.ph --in-place pipe &
  pid=$!
  exec 7>pipe
  sleep 0.2
  kill -INT $pid
  ended $pid
  exec 7>&-
  [ "$status" -eq 130 ] || wrong "status"
  try 0 verify bitmap.ph
  nothing_left_behind
}

@test "kinds that cannot forget say which can, before anything is read" {
  for kind in bloom blocked; do
    "$PERHAPS" build -k $kind -o $kind.ph keys
    cp $kind.ph before
    refuses "$kind filters cannot remove keys; counting, cuckoo, table" \
      remove $kind.ph absent
    refuses "cannot remove keys" remove --in-place $kind.ph absent
    cmp $kind.ph before
    try 0 verify $kind.ph
  done
}

@test "bad input changes nothing" {
  cp bitmap.ph before
  printf '1\nx\n' >bad
  refuses "bad: line 2 is not a decimal number" remove bitmap.ph bad
  refuses "absent: cannot be opened: No such file" remove bitmap.ph absent
  refuses "No such file or directory; check the name" remove absent.ph keys
  refuses "FILTER is missing" remove
  cmp bitmap.ph before
  nothing_left_behind
}

@test "a file that may not be written is refused in place" {
  [ "$(id -u)" -ne 0 ] || skip "root may write everything"
  chmod 444 bitmap.ph
  refuses "bitmap.ph: " remove --in-place bitmap.ph gone
  [[ $stderr == *"Permission denied"* ]]
}

@test "a folder that may not be written keeps its filter" {
  [ "$(id -u)" -ne 0 ] || skip "root may write everything"
  mkdir folder
  cp table.ph folder/f.ph
  chmod 555 folder
  refuses "Permission denied; check its permissions" remove folder/f.ph gone
  chmod 755 folder
  cmp table.ph folder/f.ph
}

@test "remove takes fields, encodings and -0, like add" {
  printf 'x,5\nx,6\n' >csv
  try 0 remove --field 2 --delimiter , cuckoo.ph csv
  [ -z "$stderr" ]
  printf '7\0008\0' >nul
  try 0 remove -0 bitmap.ph nul
  printf '\11\0\0\0\0\0\0\0' >raw
  try 0 remove --key u64le bitmap.ph raw
  try 0 list bitmap.ph --from 6 --limit 2
  [ "$output" = "$(printf '6\n10')" ]
}
