# list: the members of bitmaps and tables.
load helper

prepare() {
  printf '700\n5\n6\n100000\n' >ids
  "$PERHAPS" build -k bitmap -o b.ph ids
}

@test "list prints the integers of a bitmap in rising order" {
  try 0 list b.ph
  [ "$output" = "$(printf '5\n6\n700\n100000')" ]
  [ -z "$stderr" ]
}

@test "--from and --limit" {
  try 0 list b.ph --from 6
  [ "$output" = "$(printf '6\n700\n100000')" ]
  try 0 list b.ph --from 7 --limit 1
  [ "$output" = 700 ]
  try 0 list b.ph --limit 0
  [ -z "$output" ]
  for beyond in 100001 1e9 18446744073709551615; do
    try 0 list b.ph --from $beyond
    [ -z "$output" ] || wrong "beyond the end"
  done
  refuses "is not a number" list b.ph --from x
}

@test "list --json" {
  try 0 list --json b.ph
  holds '.file == "b.ph" and .members == [5, 6, 700, 100000]'
  try 0 list --json b.ph --from 101k
  holds '.members == []'
  try 0 list --json b.ph --from 6 --limit 1
  holds '.members == [6]'
}

@test "list prints the digests of a table, each once, in 16 hexadecimal digits" {
  seq 3000 >keys
  "$PERHAPS" build -k table -o t.ph keys keys
  try 0 list t.ph
  [ "$(sort -u <<<"$output" | wc -l)" -eq 3000 ]
  [ "$(grep -cE '^[0-9a-f]{16}$' <<<"$output")" -eq 3000 ]
  try 0 list t.ph --limit 7
  [ "$(wc -l <<<"$output")" -eq 7 ]
  try 0 list t.ph --json --limit 2
  holds '.members | length == 2 and all(test("^[0-9a-f]{16}$"))'
  refuses "--from: is for bitmaps" list t.ph --from 5
  "$PERHAPS" build -k table -o none.ph /dev/null
  try 0 list none.ph
  [ -z "$output" ]
}

@test "a large list arrives whole, and EPIPE is quiet" {
  seq 0 199999 >many
  "$PERHAPS" build -k bitmap -o m.ph many
  "$PERHAPS" list m.ph | cmp - many
  run bash -c '"$1" list m.ph 2>err | head -n 1; cat err' _ "$PERHAPS"
  [ "$output" = 0 ]
}

@test "kinds that cannot list say which can" {
  for kind in bloom blocked counting cuckoo; do
    "$PERHAPS" build -k $kind -o $kind.ph ids
    refuses "$kind filters cannot list their members; table and bitmap can list: build one with --needs list" \
      list $kind.ph
    refuses "cannot list" list $kind.ph --from 5
    refuses "cannot list" list $kind.ph --json
  done
  refuses "one argument too many" list b.ph b.ph
}
