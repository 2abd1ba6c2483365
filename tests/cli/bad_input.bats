# Whatever is wrong with files and streams: a sentence with cause and remedy, exit 2, nothing lost.
load helper

prepare() {
  seq 1 1000 >keys
  "$PERHAPS" build -n 1000 -o f.ph keys
}

# Every command that opens a filter refuses this one with TEXT; and the message has a remedy.
all_refuse() {
  for command in check count list add remove info verify; do
    refuses "$1" "$command" "$2"
    [[ $stderr == *"; "* ]] || wrong "no remedy"
  done
  refuses "$1" add --in-place "$2" keys
  refuses "$1" remove --in-place "$2" keys
  refuses "$1" merge f.ph "$2" -o out.ph
  refuses "$1" intersect "$2" f.ph -o out.ph
  refuses "$1" subtract "$2" f.ph -o out.ph
  refuses "$1" differ f.ph "$2" -o out.ph
  [ ! -e out.ph ]
  nothing_left_behind
}

@test "missing filter" {
  all_refuse "No such file or directory; check the name and its permissions" absent.ph
  [[ $stderr != *disk* ]] || wrong "the disk has nothing to do with it"
}

@test "missing key file" {
  refuses "absent: cannot be opened: No such file" build -o g.ph absent
  refuses "absent: cannot be opened: No such file" build -n 5 -o g.ph keys absent
  refuses "absent" check -c f.ph absent
  refuses "absent" verify f.ph --keys absent
  [ ! -e g.ph ]
}

@test "directory instead of a file" {
  mkdir folder
  all_refuse "folder: is a directory; give a filter file" folder
  refuses "folder: cannot be read: Is a directory; give the files in it" build -o g.ph folder
  refuses "folder: cannot be read: Is a directory" check f.ph folder
  [ ! -e g.ph ]
}

@test "standard input instead of a filter" {
  all_refuse "-: a filter must be a file, since it is mapped" -
}

@test "foreign and empty files" {
  all_refuse "keys: is not a filter of perhaps" keys
  : >empty
  all_refuse "empty" empty
}

@test "newer format version" {
  printf '\377\177' | dd of=f.ph bs=1 seek=8 conv=notrunc status=none
  refuses "newer" check f.ph keys
  refuses "update perhaps" info f.ph
  refuses "newer" add f.ph keys
}

@test "truncated and lengthened files" {
  for length in 1 7 8 50 127 128 200 $(($(stat -c %s f.ph) - 1)); do
    head -c "$length" f.ph >g.ph
    try 2 check g.ph keys
    says "g.ph: "
  done
  cp f.ph g.ph
  echo more >>g.ph
  all_refuse "too long" g.ph
}

@test "a file cut short while it is mapped" {
  seq 100000 >many
  "$PERHAPS" build -n 1000000 -o big.ph many
  mkfifo pipe
  "$PERHAPS" check big.ph pipe >out 2>err &
  pid=$!
  exec 7>pipe # opens when the other side has mapped the filter and opens its input
  truncate -s 4096 big.ph
  cat many >&7 || true
  exec 7>&-
  ended $pid
  [ "$status" -eq 2 ] || wrong "status"
  grep -q '^perhaps: big.ph: changed while it was mapped; ' err
  [ "$(wc -l <err)" -eq 1 ]
}

@test "a file cut short while it is changed in place" {
  seq 100000 >many
  "$PERHAPS" build -n 1000000 -o big.ph many
  mkfifo pipe
  "$PERHAPS" add --in-place big.ph pipe 2>err &
  pid=$!
  exec 7>pipe
  truncate -s 8192 big.ph
  cat many >&7 || true
  exec 7>&-
  ended $pid
  [ "$status" -eq 2 ] || wrong "status"
  grep -q '^perhaps: big.ph: cannot be changed in place any more: .*; ' err
}

@test "full disk under standard output" {
  for command in "check f.ph keys" "check -c f.ph keys" "check -v f.ph /dev/stdin" "info f.ph" "info --json f.ph" "plan -n 5" \
    "verify f.ph" "help" "version" "completions bash" "build -o - keys"; do
    run --separate-stderr bash -c 'seq 5000 6000 | "$0" $1 >/dev/full' "$PERHAPS" "$command"
    [ "$status" -eq 2 ] || wrong "$command"
    says "standard output: cannot be written: No space left on device; "
  done
}

@test "closed standard output" {
  run --separate-stderr bash -c '"$0" check f.ph keys >&-' "$PERHAPS"
  [ "$status" -eq 2 ] || wrong "status"
  says "standard output: cannot be written"
}

@test "full device under -o" {
  refuses "/dev/full: cannot be written: No space left" build -o /dev/full keys
}

@test "no room for the file: the old one stays and nothing is left behind" {
  cp f.ph before
  seq 200000 >many
  run --separate-stderr bash -c 'ulimit -f 16; exec "$0" build -f -o f.ph many' "$PERHAPS"
  [ "$status" -eq 2 ] || wrong "status"
  says "f.ph"
  says "; check its permissions and the room on the disk"
  cmp f.ph before
  nothing_left_behind
  "$PERHAPS" build -n 200000 -o big.ph keys
  cp big.ph before
  run --separate-stderr bash -c 'ulimit -f 16; exec "$0" add big.ph keys' "$PERHAPS"
  [ "$status" -eq 2 ] || wrong "status"
  cmp big.ph before
  nothing_left_behind
}

@test "unreadable standard input" {
  run --separate-stderr bash -c '"$0" build -o g.ph <&-' "$PERHAPS"
  [ "$status" -eq 2 ] || wrong "status"
  says "standard input: cannot be read: Bad file descriptor; "
  [ ! -e g.ph ]
  run --separate-stderr bash -c '"$0" check f.ph <&-' "$PERHAPS"
  [ "$status" -eq 2 ] || wrong "status"
  says "standard input: cannot be read"
  run --separate-stderr bash -c '"$0" add f.ph <.' "$PERHAPS"
  [ "$status" -eq 2 ] || wrong "status"
  says "Is a directory"
}

@test "unreadable files" {
  [ "$(id -u)" -ne 0 ] || skip "root may read everything"
  cp f.ph locked.ph
  cp keys locked
  chmod 0 locked.ph locked
  all_refuse "Permission denied" locked.ph
  refuses "locked: cannot be opened: Permission denied; " check f.ph locked
}

@test "a line of 100 MB" {
  head -c 100000000 /dev/zero | tr '\0' x >long
  (cat long; echo; echo short) >both
  "$PERHAPS" build -n 2 -p 1e-9 -o long.ph both
  try 0 check -c long.ph both
  [ "$output" = 2 ]
  "$PERHAPS" check long.ph both | cmp - both
  head -c 99999999 long | "$PERHAPS" check -c long.ph >count || true
  [ "$(cat count)" = 0 ]
}

@test "binary keys with NUL" {
  printf 'a\0b\n' >binary
  "$PERHAPS" build -n 100 -p 1e-9 -o bin.ph binary
  "$PERHAPS" check bin.ph binary | cmp - binary
  printf 'a\n' >cut
  try 1 check bin.ph cut
  printf 'a\0c\n' >other
  try 1 check bin.ph other
}

@test "Ctrl-C while building leaves the old file whole and nothing else" {
  cp f.ph before
  mkfifo pipe
  env --default-signal=INT "$PERHAPS" build -n 100 -f -o f.ph pipe &
  pid=$!
  exec 7>pipe
  cat keys >&7
  sleep 0.2
  kill -INT $pid
  ended $pid
  exec 7>&-
  [ "$status" -eq 130 ] || wrong "status"
  cmp f.ph before
  nothing_left_behind
}

@test "wrong command lines" {
  refuses "chek: no such command; did you mean check? See 'perhaps help'" chek f.ph
  refuses "did you mean build?" help biuld
  refuses "no such command; see 'perhaps help'" frobnicate
  refuses "no such option of 'perhaps check'" check --frobnicate f.ph
  refuses "no such option of 'perhaps check'" check -x f.ph
  refuses "no such option of 'perhaps info'" info -n 5 f.ph
  refuses "needs a value" build -o
  refuses "needs a value" build --output
  refuses "takes no value" check --count=5 f.ph
  refuses "FILTER is missing; write 'perhaps check FILTER" check
  refuses "perhaps info" info f.ph f.ph f.ph
  refuses "see 'perhaps help'"
}

@test "-- ends the options, and options may follow operands" {
  cp keys ./-v
  try 0 check f.ph -c -- -v
  [ "$output" = 1000 ]
  try 0 check f.ph keys -c
  [ "$output" = 1000 ]
}
