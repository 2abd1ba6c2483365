# check --confirm: the answers of a filter that is often wrong, made exact by the keys it was made
# from.
load helper

# Odd numbers are in the filter; all are queried, from the last to the first and then some of them
# again.
prepare() {
  seq 1 2 8000 >numbers
  { seq 8000 -1 1 && seq 1 3 8000; } >queried_numbers
  sed 's/^/key /' numbers >keys
  sed 's/^/key /' queried_numbers >queries
  "$PERHAPS" build -p 0.1 -o f.ph keys
}

# in_both KEYS QUERIES: the lines of QUERIES that are in KEYS, in order; only_queried: those that
# are not.
in_both() {
  awk 'NR == FNR { keys[$0]; next } $0 in keys' "$1" "$2"
}
only_queried() {
  awk 'NR == FNR { keys[$0]; next } !($0 in keys)' "$1" "$2"
}

# The filter alone is wrong about some, or the tests below would show nothing.
has_false_positives() {
  [ "$("$PERHAPS" check "$@" | wc -l)" -gt "$wanted" ] || wrong "no false positive"
}

@test "the answer is exact and in order" {
  in_both keys queries >want
  wanted=$(wc -l <want)
  has_false_positives f.ph queries
  "$PERHAPS" check --confirm keys f.ph queries | cmp - want
  "$PERHAPS" check f.ph queries --confirm=keys -j 2 | cmp - want
  "$PERHAPS" check --confirm keys f.ph <queries | cmp - want
  "$PERHAPS" check --confirm - f.ph queries <keys | cmp - want
  grep -Fxf keys queries | cmp - want
}

@test "-v: definitely absent lines first, then those that the second look found absent, each in order" {
  "$PERHAPS" check -v f.ph queries >first
  grep -vFxf first queries | grep -vFxf keys >second
  [ -s second ]
  "$PERHAPS" check -v --confirm keys f.ph queries >out
  cat first second | cmp - out
  only_queried keys queries | sort >want
  sort out | cmp - want
}

@test "-v prints what is definitely absent before the input ends" {
  mkfifo in out
  "$PERHAPS" check -v --confirm keys f.ph <in >out 3>&- &
  absent=$("$PERHAPS" check -v f.ph queries | head -n 1)
  exec 7>in 8<out
  echo "$absent" >&7
  read -r -t 5 answer <&8
  [ "$answer" = "$absent" ]
  exec 7>&- 8<&-
  wait
}

@test "-c, -q and --json" {
  try 0 check -c --confirm keys f.ph queries
  [ "$output" = "$(in_both keys queries | wc -l)" ]
  try 0 check -cv --confirm keys f.ph queries
  [ "$output" = "$(only_queried keys queries | wc -l)" ]
  all=$("$PERHAPS" check -c f.ph queries)
  try 0 check --json --confirm keys f.ph queries
  holds ".checked == $(wc -l <queries) and .present == $(in_both keys queries | wc -l) and .absent == .checked - .present"
  holds ".false_positives == $all - .present and .false_positives > 0"
  try 0 check --json f.ph queries
  holds 'has("false_positives") | not'
  only_queried keys queries >non_members
  "$PERHAPS" check f.ph non_members | head -n 1 >false_positive
  try 0 check -q f.ph false_positive
  try 1 check -q --confirm keys f.ph false_positive
  try 0 check -qv --confirm keys f.ph false_positive
  try 0 check -q --confirm keys f.ph queries
  [ -z "$output$stderr" ]
  try 1 check -qv --confirm keys f.ph keys
}

@test "numbers are compared as numbers" {
  in_both numbers queried_numbers | sed 's/^/00/' >want
  sed 's/^/00/' queried_numbers >queried_zeros
  wanted=$(wc -l <want)
  for key in u64 int32 int64; do
    "$PERHAPS" build --key $key -p 0.1 -o $key.ph numbers
    has_false_positives $key.ph queried_zeros
    "$PERHAPS" check --confirm numbers $key.ph queried_zeros | cmp - want
  done
  "$PERHAPS" build -k bitmap -o bitmap.ph numbers
  "$PERHAPS" check --confirm numbers bitmap.ph queried_zeros | cmp - want
}

# Raw numbers of 8 bytes, from lines of numbers below 2^16.
records() {
  printf '%b' "$(awk '{ printf "\\x%02x\\x%02x\\0\\0\\0\\0\\0\\0", $1 % 256, $1 / 256 }')"
}

@test "raw records" {
  head -n 500 numbers | records >raw
  seq 1000 | records >queried_raw
  "$PERHAPS" build --key u64le -p 0.1 -o raw.ph raw
  "$PERHAPS" check -c raw.ph queried_raw >count
  [ "$(cat count)" -gt 500 ]
  "$PERHAPS" check --confirm raw raw.ph queried_raw | cmp - raw
}

@test "hex, in large letters and in small" {
  awk '{ printf "%08X\n", $1 * 262139 }' numbers >hex
  { tr A-F a-f <hex && seq 10000000 10003000; } >queried_hex
  in_both <(tr A-F a-f <hex) queried_hex >want
  wanted=$(wc -l <want)
  "$PERHAPS" build --hex -p 0.1 -o hex.ph hex
  has_false_positives hex.ph queried_hex
  "$PERHAPS" check --confirm hex hex.ph queried_hex | cmp - want
}

@test "fields: the key is compared, the line is printed" {
  awk '{ print NR "," $0 ",x" }' keys >table
  awk '{ print -NR "," $0 }' queries >queried_table
  awk -F , 'NR == FNR { keys[$2]; next } $2 in keys' table queried_table >want
  wanted=$(wc -l <want)
  has_false_positives --field 2 --delimiter , f.ph queried_table
  "$PERHAPS" check --field 2 --delimiter , --confirm table --confirm-field 2 --confirm-delimiter , f.ph queried_table | cmp - want
}

@test "-0: lines that end with NUL, with newlines in them" {
  sed 's/ /\n/' keys | awk 'ORS = NR % 2 ? "\n" : "\0"' >nul
  sed 's/ /\n/' queries | awk 'ORS = NR % 2 ? "\n" : "\0"' >queried_nul
  in_both keys queries | sed 's/ /\n/' | awk 'ORS = NR % 2 ? "\n" : "\0"' >want
  "$PERHAPS" build -0 -p 0.1 -o nul.ph nul
  [ "$("$PERHAPS" check -0 -c nul.ph queried_nul)" -gt "$(tr -dc '\0' <want | wc -c)" ]
  "$PERHAPS" check -0 --confirm nul nul.ph queried_nul | cmp - want
}

@test "keys that begin alike, the empty key, and one key many times" {
  printf 'a\n\nabc\n' >few
  "$PERHAPS" build -n 3 -p 0.5 -o few.ph few
  yes $'\nab\nabc\na' | head -n 12000 >many
  in_both few many >want
  "$PERHAPS" check --confirm few few.ph many | cmp - want
}

@test "every kind, and composite filters" {
  in_both keys queries >want
  for kind in "-k bloom" "-k cuckoo" "-k counting" "-k table" "--grow" "--shards 4" "--hash siphash --key-in-file"; do
    # shellcheck disable=SC2086 # words
    "$PERHAPS" build -f $kind -p 0.1 -o kind.ph keys
    "$PERHAPS" check --confirm keys kind.ph queries | cmp - want || wrong "$kind"
  done
}

@test "compressed keys" {
  gzip -k keys
  in_both keys queries >want
  "$PERHAPS" check --confirm keys.gz f.ph queries | cmp - want
  head -c -9 keys.gz >cut.gz
  try 2 check --confirm cut.gz f.ph queries
  [ -z "$output" ]
}

@test "no hits: the keys are not read" {
  "$PERHAPS" check -v f.ph queries >absent
  mkfifo unread
  run --separate-stderr timeout 10 "$PERHAPS" check --confirm unread f.ph absent
  [ "$status" -eq 1 ]
  try 1 check --confirm keys f.ph /dev/null
  [ -z "$output$stderr" ]
}

@test "keys that cannot be read" {
  refuses "absent: cannot be opened: No such file" check --confirm absent f.ph queries
  refuses "cannot be read: Is a directory" check --confirm . f.ph queries
  refuses "standard input has the keys to check already" check --confirm - f.ph
  refuses "standard input has the keys to check already" check --confirm - f.ph queries -
  "$PERHAPS" build --u64 -o u64.ph numbers
  refuses "keys: line 1 " check --confirm keys u64.ph queried_numbers
}

@test "keys that are not those of the filter: a warning, and what is in both" {
  { head -n 100 keys && seq 5000; } >others
  in_both others <(in_both keys queries) >want
  non_members=$("$PERHAPS" check -cv f.ph others)
  run --separate-stderr "$PERHAPS" check --confirm others f.ph queries
  [ "$status" -eq 0 ]
  [ "$output" = "$(cat want)" ]
  says "others: warning: $(sed 's/...$/,&/' <<<"$non_members") of its 5,100 keys are not in f.ph"
  try 0 check --confirm keys f.ph queries
  [ -z "$stderr" ]
}

@test "not with --at" {
  "$PERHAPS" info --at x 2>&1 | grep -q 'without hiredis' && skip "built without hiredis"
  refuses "--confirm: does not apply to a set on servers" check --at redis://localhost/x --confirm keys queries
}
