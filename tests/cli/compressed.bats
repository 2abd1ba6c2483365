# Input that is compressed, by its name: decompressed by the system's own programs.
load helper

suffixes='gz zst xz bz2 lz4'

# The program that makes and reads files with this suffix.
program_for() {
  case $1 in
  gz) echo gzip ;;
  zst) echo zstd ;;
  bz2) echo bzip2 ;;
  *) echo "$1" ;;
  esac
}

# compress SUFFIX: from standard input to standard output.
compress() {
  "$(program_for "$1")" -c 2>/dev/null
}

prepare() {
  seq 1 1000 >keys
  "$PERHAPS" build -p 1e-9 -o f.ph keys
}

# damaged TEXT ARGS...: exit status 2, nothing on standard output; the program's own message comes
# before ours, which has TEXT.
damaged() {
  local text=$1
  shift
  try 2 "$@"
  [ -z "$output" ] || wrong "output where there should be none"
  [ "$(grep -c . <<<"$stderr")" -ge 2 ] || wrong "the program's own message is missing"
  [[ $(tail -n 1 <<<"$stderr") == "perhaps: $text"* ]] || wrong "the last line does not begin with '$text'"
}

@test "build, check, add, count and verify read every sort" {
  for suffix in $suffixes; do
    compress "$suffix" <keys >"keys.$suffix"
    seq 1001 1200 | compress "$suffix" >"more.$suffix"
    try 0 build -k cuckoo -n 2000 -p 1e-6 -o "$suffix.ph" "keys.$suffix"
    try 0 add "$suffix.ph" "more.$suffix"
    try 0 check "$suffix.ph" "more.$suffix"
    [ "$output" = "$(seq 1001 1200)" ] || wrong "$suffix"
    try 0 count "$suffix.ph" "keys.$suffix"
    [ "$(grep -c '^1	' <<<"$output")" = 1000 ] || wrong "$suffix"
    try 0 verify "$suffix.ph" --keys "keys.$suffix" --json
    holds '.keys == 1000 and .missing == 0'
    [ -z "$stderr" ]
  done
}

@test "without -n it is as from a pipe: the filter grows" {
  gzip -k keys
  try 0 build --json -o g.ph keys.gz
  holds '.kind == "growing" and .items == 1000'
  gzip -dc keys.gz | "$PERHAPS" build -o piped.ph
  cmp g.ph piped.ph
}

@test "several files of different sorts in one command, in order" {
  for suffix in $suffixes; do compress "$suffix" <keys >"keys.$suffix"; done
  try 0 check f.ph keys.gz keys keys.zst - keys.xz keys.bz2 keys.lz4 <keys
  [ "$output" = "$(for _ in 1 2 3 4 5 6 7; do cat keys; done)" ]
  try 0 check -c -j 2 f.ph keys.gz keys.xz keys
  [ "$output" = 3000 ]
}

@test "dedup reads them in turn" {
  for suffix in $suffixes; do { cat keys && echo "$suffix"; } | compress "$suffix" >"keys.$suffix"; done
  try 0 dedup keys.gz keys keys.zst keys.xz keys.bz2 keys.lz4
  [ "$output" = "$(cat keys && tr ' ' '\n' <<<"$suffixes")" ]
  seq 30000 | gzip -c | head -c -5 >cut.gz
  try 2 dedup keys.gz cut.gz
  [[ $stderr == *"perhaps: cut.gz: "* ]]
}

@test "large files, whatever the threads" {
  seq 300000 >many
  compress zst <many >many.zst
  try 0 build -j 2 -p 1e-9 -n 300000 -o m.ph many.zst
  "$PERHAPS" check m.ph many.zst | cmp - many
  "$PERHAPS" check -j 2 m.ph many.zst | cmp - many
}

@test "fields, NULs and raw records are read from compressed files, too" {
  sed 's/^/x,/' keys | gzip -c >fields.gz
  try 0 check -c --field 2 --delimiter , f.ph fields.gz
  [ "$output" = 1000 ]
  tr '\n' '\0' <keys | gzip -c >nul.gz
  try 0 check -c -0 f.ph nul.gz
  [ "$output" = 1000 ]
  printf '\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0' | gzip -c >raw.gz
  try 0 build --key u64le -p 1e-9 -o raw.ph raw.gz
  printf '1\n2\n3\n' >numbers
  try 0 check -c --key u64 raw.ph numbers
  [ "$output" = 2 ]
}

@test "a last line without its end, nothing at all, and several members in one file" {
  printf 7 | gzip -c >last.gz
  try 0 check f.ph last.gz
  [ "$output" = 7 ]
  for suffix in $suffixes; do
    compress "$suffix" </dev/null >"empty.$suffix"
    try 1 check f.ph "empty.$suffix"
    [ -z "$output$stderr" ]
    { seq 5 | compress "$suffix" && seq 6 9 | compress "$suffix"; } >"two.$suffix"
    try 0 check f.ph "two.$suffix"
    [ "$output" = "$(seq 9)" ] || wrong "$suffix"
  done
}

@test "damaged and truncated files fail, by their names; build writes nothing" {
  seq 30000 >many
  for suffix in $suffixes; do
    compress "$suffix" <many >whole
    head -c -5 whole >"cut.$suffix"
    damaged "cut.$suffix: cannot be decompressed: $(program_for "$suffix") failed" build -o x.ph "cut.$suffix"
    cp many "plain.$suffix"
    damaged "plain.$suffix: " build -o x.ph keys "plain.$suffix"
    [ ! -e x.ph ]
  done
  gzip -c many | { head -c 20000; printf 'zzzz'; } >bad.gz
  cp f.ph before.ph
  damaged "bad.gz: " add f.ph bad.gz
  cmp f.ph before.ph
  mkdir folder.gz
  damaged "folder.gz: " check f.ph folder.gz
  refuses "absent.gz: cannot be opened: No such file" check f.ph absent.gz
  nothing_left_behind
}

@test "the line at which a file was cut is no key" {
  printf 1234567 | gzip -c >whole.gz
  head -c -8 whole.gz >cut.gz
  gzip -dc cut.gz 2>/dev/null | grep -q 1234 || skip "this gzip holds back what it has not verified"
  "$PERHAPS" build -p 1e-9 -n 1000 -o g.ph keys
  try 2 add --in-place g.ph cut.gz
  "$PERHAPS" info --json g.ph | jq -e '.items == 1000'
}

@test "a missing program is named, with its package" {
  for suffix in $suffixes; do compress "$suffix" <keys >"keys.$suffix"; done
  run --separate-stderr env PATH=/nowhere "$PERHAPS" check f.ph keys.gz
  [ "$status" -eq 2 ]
  says "keys.gz: needs the program gzip"
  says "(Debian's package gzip)"
  run --separate-stderr env PATH=/nowhere "$PERHAPS" build -o x.ph keys.xz
  [ "$status" -eq 2 ]
  says "Debian's package xz-utils"
  [ ! -e x.ph ]
  run --separate-stderr env PATH=/nowhere "$PERHAPS" check -c f.ph keys
  [ "$output" = 1000 ]
}

@test "names that look like options" {
  for suffix in $suffixes; do
    compress "$suffix" <keys >"./--help.$suffix"
    try 0 check -c f.ph -- "--help.$suffix"
    [ "$output" = 1000 ]
  done
}

@test "standard input and other names are not decompressed, but recognised" {
  declare -A reader=([gz]=zcat [zst]=zstdcat [xz]=xzcat [bz2]=bzcat [lz4]=lz4cat)
  for suffix in $suffixes; do
    compress "$suffix" <keys >"keys.$suffix"
    run --separate-stderr "$PERHAPS" check f.ph <"keys.$suffix"
    [ "$status" -eq 2 ] && [ -z "$output" ] || wrong "$suffix"
    says "standard input: looks like $(program_for "$suffix"); pipe it through ${reader[$suffix]}"
    run --separate-stderr bash -c "cat keys.$suffix | \"\$PERHAPS\" dedup"
    [ "$status" -eq 2 ] && [ -z "$output" ] || wrong "$suffix"
    [ "$("${reader[$suffix]}" "keys.$suffix" | "$PERHAPS" check -c f.ph)" = 1000 ]
    cp "keys.$suffix" unnamed
    refuses "unnamed: looks like $(program_for "$suffix"); give it a name that ends in .$suffix" build -o x.ph unnamed
    [ ! -e x.ph ]
  done
  # records of 8 bytes may begin with anything
  printf '\x1f\x8b\x08\0\0\0\0\0' >raw
  "$PERHAPS" build --key u64le -n 10 -o raw.ph raw
  echo $((0x088b1f)) | "$PERHAPS" check -q --key u64 raw.ph
}

@test "check -q stops early, quietly, and leaves nothing behind" {
  seq 2000000 >large
  for suffix in gz zst bz2 lz4; do
    head -n 300000 large | compress "$suffix" >"large.$suffix"
    try 0 check -q f.ph "large.$suffix"
    [ -z "$output$stderr" ] || wrong "$suffix"
  done
  gzip -1 -c large >large.gz
  try 0 check -q f.ph large.gz
  [ -z "$output$stderr" ]
  for process in /proc/[0-9]*; do
    [ "$(readlink "$process/cwd")" != "$PWD" ] || [[ $(cat "$process/comm") != gzip ]] || wrong "gzip is still there"
  done
}

@test "no dead program is left waiting" {
  for suffix in $suffixes; do compress "$suffix" <keys >"keys.$suffix"; done
  mkfifo pipe
  "$PERHAPS" check -c f.ph keys.gz keys.zst keys.xz keys.bz2 keys.lz4 pipe >count 3>&- &
  pid=$!
  exec 7>pipe
  children=$(ps -o comm= --ppid $pid || true)
  exec 7>&-
  ended $pid
  [ "$(cat count)" = 5000 ]
  [ -z "$children" ] || wrong "children: $children"
}

@test "a program that waits for more is ended, too" {
  mkfifo slow.gz
  seq 400000 | gzip -c >large
  (exec 7>slow.gz && head -c 400000 large >&7 && exec sleep 20) 3>&- &
  writer=$!
  SECONDS=0
  try 0 check -q f.ph slow.gz
  [ "$SECONDS" -lt 10 ] || wrong "it waited"
  kill $writer 2>/dev/null || true
}

@test "whatever signals are ignored by whoever started it, failures are seen and ends are quiet" {
  seq 300000 | gzip -c >large.gz
  head -c -5 large.gz >cut.gz
  run --separate-stderr env --ignore-signal=CHLD "$PERHAPS" check -c f.ph cut.gz
  [ "$status" -eq 2 ] || wrong "the failure was not seen"
  run --separate-stderr env --ignore-signal=PIPE "$PERHAPS" check -q f.ph large.gz
  [ "$status" -eq 0 ] && [ -z "$stderr" ]
}

@test "every command that reads keys says so" {
  for command in build add remove check count explain dedup verify; do
    "$PERHAPS" help "$command" | grep -q '\.zst' || wrong "$command"
    "$PERHAPS" help --scdoc "$command" | grep -q '\.zst' || wrong "the page of $command"
  done
  run ! grep -q '\.zst' <("$PERHAPS" help plan)
}
