# Files that are replaced: owner and permissions stay, nothing is left behind whatever ends the
# program, and no input is lost.
load helper

prepare() {
  seq 1 100 >keys
  seq 101 200 >more
  writers=(add remove build merge state gzip plot)
  if "$PERHAPS" build -k roaring -o probe /dev/null 2>/dev/null; then writers+=(roaring roaring_build); fi
  export ASAN_OPTIONS=detect_leaks=0 # which cannot be done under strace
}

# before WRITER: makes $file, which that will replace.
before() {
  file=$1.file
  rm -f "$file"
  case $1 in
  remove) "$PERHAPS" build -k table -o "$file" keys ;;
  gzip) file=gzip.gz && "$PERHAPS" build -k dcso -n 1000 -f -o "$file" keys ;;
  roaring*) "$PERHAPS" build -k roaring -o "$file" keys ;;
  plot) file=plot.svg && rm -f "$file" && "$PERHAPS" plan -k bloom --plot "$file" >/dev/null ;;
  *) "$PERHAPS" build -n 1000 -o "$file" keys ;;
  esac
}

# command_of WRITER: sets $command, which replaces $file.
command_of() {
  case $1 in
  add) command=(add "$file" more) ;;
  remove) command=(remove "$file" keys) ;;
  build) command=(build -n 1000 -f -o "$file" more) ;;
  merge) command=(merge -f -o "$file" "$file" "$file") ;;
  state) seq $((++states * 1000)) $((states * 1000 + 50)) >fresh && command=(dedup --state "$file" -f -o lines fresh) ;;
  gzip) command=(add -k dcso "$file" more) ;;
  plot) command=(plan -k bloom -n 5000 -f --plot "$file") ;;
  roaring) command=(add -k roaring "$file" more) ;;
  roaring_build) command=(build -k roaring -f -o "$file" more) ;;
  esac
}

# ------------------------------------------------------------------------------------- owner and
# permissions ---

owner_and_mode() {
  stat -c '%u:%g %a' "$1"
}

@test "root keeps the owner, the group and the permissions" {
  [ "$(id -u)" -eq 0 ] || skip "not root"
  for writer in "${writers[@]}"; do
    before "$writer"
    command_of "$writer"
    chown 12345:54321 "$file"
    chmod 640 "$file"
    try 0 "${command[@]}"
    [ "$(owner_and_mode "$file")" = "12345:54321 640" ] || wrong "$writer: $(owner_and_mode "$file")"
  done
}

# A folder that a user without rights can get at, and write to.
users_folder() {
  [ "$(id -u)" -eq 0 ] || skip "not root"
  folder=$(mktemp -d /tmp/perhaps-user-XXXXXX)
  cp keys more "$folder"
  cd "$folder"
  chown 12345:12345 . keys more
  chmod 755 .
  PATH=$PATH:$(dirname "$PERHAPS")
  as_user true || skip "the program cannot be run by another user"
}

as_user() {
  setpriv --reuid 12345 --regid 12345 --groups 54321 test -x "$PERHAPS" || return 1
  run --separate-stderr setpriv --reuid 12345 --regid 12345 --groups 54321 env HOME="$folder" TMPDIR="$folder" "$@"
}

teardown() {
  [ -z "${folder-}" ] || rm -rf "$folder"
}

@test "a user keeps the group, if it is one of theirs, and gives no other group its rights" {
  users_folder
  for writer in "${writers[@]}"; do
    before "$writer"
    command_of "$writer"
    chown 0:54321 "$file"
    chmod 664 "$file"
    as_user "$PERHAPS" "${command[@]}"
    [ "$status" -eq 0 ] || wrong "$writer"
    [ "$(owner_and_mode "$file")" = "12345:54321 664" ] || wrong "$writer: $(owner_and_mode "$file")"
    chown 0:0 "$file"
    chmod 6774 "$file"
    command_of "$writer"
    as_user "$PERHAPS" "${command[@]}"
    [ "$status" -eq 0 ] || wrong "$writer, of root"
    [[ $(owner_and_mode "$file") == "12345:12345 744" ]] || wrong "$writer: $(owner_and_mode "$file")"
    rm -f lines
  done
}

@test "a file that cannot be read is not replaced" {
  users_folder
  for writer in "${writers[@]}"; do
    before "$writer"
    command_of "$writer"
    chmod 600 "$file"
    sum=$(md5sum "$file")
    as_user "$PERHAPS" "${command[@]}"
    [ "$status" -eq 2 ] || wrong "$writer"
    [[ $stderr == *"$file: "*"Permission denied"* ]] || wrong "$writer: no reason"
    [ "$(md5sum "$file")" = "$sum" ] && [ "$(owner_and_mode "$file")" = "0:0 600" ] || wrong "$writer: changed"
  done
  nothing_left_behind
}

# -------------------------------------------------------------------------------------- signals ---

# struck AT SIGNAL COMMAND...: runs it, and sends the signal when it comes to the system call AT.
# dedup comes to fsync before that, for its journal.
struck() {
  local at=$1 signal=$2 when=1
  shift 2
  [ "$1" != dedup ] || when=2
  status=0
  strace -f -o strace.out -e trace="$at" -e inject="$at":signal="$signal":when=$when "$PERHAPS" "$@" >/dev/null 2>said || status=$?
  grep -q "$at" strace.out || wrong "it never came to $at: $(cat said)"
}

can_strace() {
  strace -o /dev/null true 2>/dev/null || skip "strace may not trace here"
}

# What is in it, however it was written.
content_of() {
  case $1 in
  *.gz) zcat "$1" | md5sum ;;
  *) md5sum <"$1" ;;
  esac
}

@test "kill -9 while the new file is written to disk leaves the old one, and nothing else" {
  can_strace
  for writer in "${writers[@]}"; do
    before "$writer"
    sum=$(content_of "$file")
    command_of "$writer"
    struck fsync SIGKILL "${command[@]}"
    [ "$status" -eq 137 ] || wrong "$writer: status $status"
    [ "$(content_of "$file")" = "$sum" ] || wrong "$writer: the old file has changed"
    nothing_left_behind
    rm -f lines ./*.journal
  done
}

@test "SIGTERM, SIGINT and SIGHUP while it is written: the new file is whole, and nothing else is there" {
  can_strace
  for writer in "${writers[@]}"; do
    for signal in TERM INT HUP; do
      before "$writer"
      command_of "$writer"
      sum=$(content_of "$file")
      struck fsync SIG$signal "${command[@]}"
      [ "$status" -eq $((128 + $(kill -l $signal))) ] || wrong "$writer: status $status after $signal: $(cat said)"
      [ "$writer" = merge ] || [ "$(content_of "$file")" != "$sum" ] || wrong "$writer: the old file is still there"
      nothing_left_behind
      rm -f lines ./*.journal
    done
  done
}

@test "new files: killed at any step there is nothing, or all of it" {
  can_strace
  "$PERHAPS" build -n 1000 -o whole keys
  for at in pwrite64 fsync linkat; do
    struck $at SIGKILL build -n 1000 -o new.ph keys
    [ "$status" -eq 137 ] || wrong "$at: status $status"
    [ ! -e new.ph ] || cmp new.ph whole
    nothing_left_behind
    rm -f new.ph
  done
}

# without_unnamed COMMAND...: on a system without files that have no name, or without /proc to name
# them by.
without_unnamed() {
  strace -f -o strace.out -e trace=access,faccessat,faccessat2 -e inject=access,faccessat,faccessat2:error=ENOENT "$@"
}

@test "where files need a name: what a kill leaves is removed by the next save" {
  can_strace
  without_unnamed true || skip "the system cannot run like that"
  for at in fsync rename; do
    "$PERHAPS" build -f -n 1000 -o f.ph keys
    without_unnamed -e trace=access,faccessat,faccessat2,$at -e inject=$at:signal=SIGKILL "$PERHAPS" add f.ph more || true
    [ -e .f.ph.tmp-0 ] || wrong "$at: it has had no name: $(ls -A)"
    run -0 without_unnamed "$PERHAPS" add f.ph more
    try 0 check -c f.ph keys more
    [ "$output" = 200 ]
    nothing_left_behind
  done
  struck rename SIGKILL add f.ph more # with a name only for this moment
  [ -e .f.ph.tmp-0 ] || wrong "not named yet"
  try 0 add f.ph more
  nothing_left_behind
}

# ------------------------------------------------------------------------------------- inputs that
# are outputs ---

# lost COMMAND...: it is refused, and the keys are as they were.
lost() {
  try 2 "$@"
  [[ $stderr == *"is also read"* || $stderr == *"is the filter itself"* ]] || wrong "not refused for that: $*"
  [ "$(md5sum <keys)" = "$sum" ] || wrong "the keys are lost: $*"
}

@test "no command writes what it reads, whatever its name" {
  "$PERHAPS" build -k table -o f.ph keys
  head -c 16 /dev/urandom >secret
  ln -s keys symbolic
  ln keys hard
  mkdir folder
  sum=$(md5sum <keys)
  for name in keys ./keys "$PWD/keys" folder/../keys symbolic hard; do
    lost build -f -o "$name" keys
    lost build -f -o keys more "$name"
    lost build -k bitmap -f -o "$name" keys
    lost build --static -f -o "$name" keys
    lost dedup -f -o "$name" keys
    lost dedup --state "$name" keys
    [ ! -e keys.journal ] || wrong "a journal is left"
    if [[ " ${writers[*]} " == *" roaring "* ]]; then
      lost build -k roaring -f -o "$name" keys
    fi
  done
  if [[ " ${writers[*]} " == *" roaring "* ]]; then
    "$PERHAPS" build -k roaring -o ids keys
    refuses "ids: is the filter itself" add ids ids
    refuses "ids: is the filter itself" remove ids ./ids
  fi
  run --separate-stderr bash -c '"$PERHAPS" build -f -o keys <keys'
  [ "$status" -eq 2 ] || wrong "standard input"
  says "keys: is also read, and would be lost"
  run --separate-stderr bash -c '"$PERHAPS" build -f -o symbolic - <hard'
  [ "$status" -eq 2 ] || wrong "standard input, by a link"
  [ "$(md5sum <keys)" = "$sum" ]
}

@test "a filter is not read as a file of its own keys" {
  "$PERHAPS" build -k counting -n 1000 -o keys.ph keys
  mv keys.ph keys
  ln -s keys symbolic
  ln keys hard
  sum=$(md5sum <keys)
  for name in keys ./keys symbolic hard; do
    lost add "$name" keys
    lost remove keys more "$name"
    lost add --in-place keys "$name"
    lost dedup --state keys "$name"
  done
  run --separate-stderr bash -c '"$PERHAPS" add keys <symbolic'
  [ "$status" -eq 2 ] || wrong "standard input"
}

@test "a secret key is not overwritten by what it is the key of" {
  head -c 16 /dev/urandom >secret
  sum=$(md5sum <secret)
  "$PERHAPS" build --hash-key secret -n 100 -o f.ph keys
  refuses "secret: is also read" build --hash-key secret -n 100 -f -o secret keys
  refuses "secret: is also read" merge --hash-key secret -f -o ./secret f.ph f.ph
  refuses "secret: is also read" dedup --hash-key secret -f -o secret keys
  [ "$(md5sum <secret)" = "$sum" ]
}

@test "lines are not appended to what they are read from" {
  "$PERHAPS" build -k cuckoo -n 1000 -o f.ph keys
  sum=$(md5sum <keys)
  for command in 'check f.ph keys' 'check -v f.ph more keys' 'count f.ph keys' 'dedup -d keys keys' \
    'check f.ph - <keys' 'check --confirm keys f.ph more'; do
    run --separate-stderr timeout 20 bash -c "\"\$PERHAPS\" $command >>keys"
    [ "$status" -eq 2 ] || wrong "$command"
    says "standard output: is also read"
    [ "$(md5sum <keys)" = "$sum" ] || wrong "$command: appended"
  done
  run bash -c '"$PERHAPS" check -c f.ph keys >>keys'
  [ "$status" -eq 0 ] || wrong "a number at the end is no line"
}

@test "an output that is no input may be one of the filters" {
  "$PERHAPS" build -n 1000 -o a.ph keys
  "$PERHAPS" build -n 1000 -o b.ph more
  try 0 merge -f -o a.ph a.ph b.ph
  try 0 build -f -n 1000 -o b.ph keys
  try 0 check -c a.ph keys more
  [ "$output" = 200 ]
}
