# --key: how keys are written.
load helper

# same_array A B: two filters hold the same bits, whatever their headers say.
same_array() {
  cmp <(tail -c 64 "$1") <(tail -c 64 "$2")
}

one() { # one ENCODING FILE OUT: a filter of one cache line, so that its array is the last 64 bytes
  "$PERHAPS" build -n 8 -k blocked --key "$1" -o "$3" "$2"
}

@test "hex spells bytes" {
  printf '616263\n00fF\n' >hex
  printf 'abc\n\0\377\n' >bytes
  one hex hex h.ph
  one bytes bytes b.ph
  same_array h.ph b.ph
  try 0 check h.ph hex
  [ "$output" = "$(cat hex)" ]
  try 0 build --hex -o short.ph hex --json
  holds '.key == "hex"'
}

@test "int32 and int64 are hashed as little-endian bytes" {
  printf -- '-1\n258\n' >ints
  printf 'ffffffff\n02010000\n' >hex32
  printf 'ffffffffffffffff\n0201000000000000\n' >hex64
  one int32 ints i32.ph
  one int64 ints i64.ph
  one hex hex32 h32.ph
  one hex hex64 h64.ph
  same_array i32.ph h32.ph
  same_array i64.ph h64.ph
  try 0 check i32.ph ints
  [ "$output" = "$(cat ints)" ]
}

@test "int32 and int64 know their ranges" {
  printf -- '-2147483648\n2147483647\n' >ok
  one int32 ok f.ph
  printf -- '-9223372036854775808\n9223372036854775807\n' >ok
  one int64 ok g.ph
  for bad in 2147483648 -2147483649 1.5 '' - +1 ' 1' 0x1; do
    echo "$bad" >bad
    refuses "bad: line 1 is not a decimal number from -2^31" build --key int32 -o h.ph bad
  done
  echo 9223372036854775808 >bad
  refuses "2^63" build --key int64 -o h.ph bad
}

@test "utf16 is hashed as UTF-16LE" {
  printf 'é😀a\n' >utf8
  echo e9003dd800de6100 >hex
  one utf16 utf8 u.ph
  one hex hex h.ph
  same_array u.ph h.ph
  try 0 check u.ph utf8
  for bad in '\xff' '\xc3' '\xed\xa0\x80' '\xc0\x80' '\xf4\x90\x80\x80'; do
    printf "ok\n$bad\n" >bad
    refuses "bad: line 2 is not UTF-8" build --key utf16 -o v.ph bad
  done
}

@test "u64 and raw u64le are the same keys" {
  printf '1\n18446744073709551615\n' >numbers
  printf '\1\0\0\0\0\0\0\0\377\377\377\377\377\377\377\377' >raw
  one u64 numbers n.ph
  one u64le raw r.ph
  same_array n.ph r.ph
  "$PERHAPS" check r.ph raw | cmp - raw
  try 0 check --u64 r.ph numbers
  [ "$output" = "$(cat numbers)" ]
  try 0 check -c --key u64le n.ph raw
  [ "$output" = 2 ]
  try 0 build --key u64le -o s.ph raw --json
  holds '.capacity == 2'
  cat raw | "$PERHAPS" build --key u64le -n 2 -o t.ph
  cmp s.ph t.ph
  head -c 11 raw >cut
  refuses "cut: ends 3 bytes after" check -c --key u64le n.ph cut
  refuses "no lines or fields" build --key u64le -0 -o x.ph raw
}

@test "u64 refuses what is no such number, naming file and line" {
  for bad in 18446744073709551616 -1 abc '' 1e3; do
    printf '1\n2\n%s\n' "$bad" >bad
    refuses "bad: line 3 is not a decimal number from 0 to 2^64-1" build --u64 -o f.ph bad
    [ ! -e f.ph ]
  done
  printf '1\r\n' >dos
  refuses "carriage return" build --u64 -o f.ph dos
}

@test "line numbers count over batches and blocks" {
  (seq 100000; echo x) >many
  refuses "many: line 100001 is not" build --u64 -o f.ph many
  refuses "line 100001 is not" build --u64 -n 5 -o f.ph many
}

@test "hex refuses what is not hexadecimal" {
  echo abc >odd
  refuses "odd: line 1 has an odd number" build --hex -o f.ph odd
  echo 0g >bad
  refuses "bad: line 1 is not hexadecimal: '0g'" build --hex -o f.ph bad
}

@test "the filter remembers the encoding; a contradicting one is refused" {
  seq 10 >numbers
  "$PERHAPS" build --u64 -p 1e-9 -o f.ph numbers
  try 0 check -c f.ph numbers
  [ "$output" = 10 ]
  try 0 check -c --u64 f.ph numbers
  refuses "f.ph: was made with --key u64, so --key bytes would find nothing" check --key bytes f.ph numbers
  refuses "f.ph: was made with --key u64, so --key hex" add --hex f.ph numbers
  refuses "was made with --key u64" verify --key int64 f.ph --keys numbers
  echo 11 | "$PERHAPS" add f.ph
  echo 11 >eleven
  try 0 check f.ph eleven
  try 0 verify f.ph --keys numbers
  refuses "choose one of --key, --u64 and --hex" check --u64 --hex f.ph numbers
  refuses "choose from: bytes hex u64 u64le int32 int64 utf16" check --key ascii f.ph numbers
}

@test "fields are encoded too" {
  printf 'a,7,x\nb,8,y\n' >csv
  "$PERHAPS" build --u64 --field 2 --delimiter , -p 1e-9 -o f.ph csv
  printf '7\n' >seven
  try 0 check --field 0 f.ph seven
  try 0 check f.ph csv
  try 0 check --field 2 --delimiter , f.ph csv
  [ "$output" = "$(cat csv)" ]
}

@test "the first wrong line is named, whatever is wrong with later ones" {
  printf 'a,1\na,2\na,x\nb\n' >csv
  refuses "csv: line 3 is not a decimal number" build --u64 --field 2 --delimiter , -n 9 -o f.ph csv
  printf 'a,1\nb\na,x\n' >csv
  refuses "csv: line 2 has only 1 field" build --u64 --field 2 --delimiter , -n 9 -o f.ph csv
}
