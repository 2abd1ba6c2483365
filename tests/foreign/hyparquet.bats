#!/usr/bin/env bats
# hyparquet and hyparquet-writer of npm beside -k parquet: the same files, byte for byte, and the
# same answers to every query, in both directions; and the JavaScript of docs/interoperability.md.

load ../cli/helper

packages=${PERHAPS_NPM_PARQUET_FOLDER:-$BATS_TEST_DIRNAME/../../build/npm-parquet}

# Fetches both as package-lock.json says, unless they are there already.
setup_file() {
  local lock=$BATS_TEST_DIRNAME/npm/package-lock.json
  [ -e "$packages/node_modules/.package-lock.json" ] && cmp -s "$lock" "$packages/package-lock.json" && return
  mkdir -p "$packages"
  cp "$lock" "$BATS_TEST_DIRNAME/npm/package.json" "$packages"
  (cd "$packages" && timeout 120 npm ci --no-audit --no-fund) >"$BATS_FILE_TMPDIR/npm" 2>&1 && return
  echo "hyparquet cannot be tested, since npm ci failed (no network?):"
  cat "$BATS_FILE_TMPDIR/npm"
  return 1
}

# Modules are looked for beside the program. Of 20,000 keys of each type, every other one is a
# member.
prepare() {
  ln -s "$(realpath "$packages")/node_modules" .
  cp "$BATS_TEST_DIRNAME/npm/parquet.mjs" .
  {
    seq 1 5000
    seq -f 'Schlüssel %.0f' 1 5000
    seq -f '鍵 %.0f 🔑' 1 5000
    seq -f 'a key that is longer than the 32 bytes which XXH64 takes at once: %.0f' 1 5000
  } >bytes
  seq -2147483648 214748 2147483647 | head -n 20000 >int32
  seq -9000000000000000000 900000000000001 9000000000000000000 | head -n 20000 >int64
  for key in bytes int32 int64; do sed -n 'p;n' "$key" >"$key".members; done
}

# same_file OURS THEIRS
same_file() {
  cmp "$1" "$2" || wrong "$1 and $2 differ"
}

# same_answers FILTER KEY: to 20,000 queries, and yes to all 10,000 members and to some non-members.
same_answers() {
  [ "$("$PERHAPS" check -c --key "$2" "$1" "$2".members)" -eq 10000 ] || wrong "$1: members are missing"
  "$PERHAPS" check -k parquet --key "$2" "$1" "$2" >ours.answers
  node parquet.mjs query "$1" "$2" "$2" >theirs.answers
  same_file ours.answers theirs.answers
  local yes
  yes=$(wc -l <ours.answers)
  [ "$yes" -gt 10000 ] && [ "$yes" -lt 12000 ] || wrong "$yes of 20,000 are said to be in $1"
}

# example LANGUAGE NUMBER: one of the blocks that the page has in its section on Parquet.
example() {
  sed -n '/^## Apache Parquet/,/^## Apache Spark/p' "$BATS_TEST_DIRNAME/../../docs/interoperability.md" |
    awk -v first="\`\`\`$1" -v wanted="$2" '/^```$/ { on = 0 } on; $0 == first { on = ++n == wanted }'
}

@test "the same keys make the same file, and either side answers from it alike" {
  for key in bytes int32 int64; do
    try 0 build -k parquet -n 10000 --bytes 8192 --key "$key" -o ours."$key" "$key".members
    node parquet.mjs make theirs."$key" "$key" 8192 "$key".members
    same_file ours."$key" theirs."$key"
    same_answers theirs."$key" "$key"
  done
}

@test "four words in 1,024 bytes" {
  printf '%s\n' hello parquet bloom filter >words
  try 0 build -k parquet -n 100 --bytes 1024 -o ours words
  node parquet.mjs make theirs bytes 1024 words
  same_file ours theirs
}

@test "a filter out of a whole Parquet file, of a size that perhaps would not choose, as the page says" {
  for key in bytes int32 int64; do
    node parquet.mjs whole ids.parquet "$key" "$key".members
    example js 2 | node --input-type=module -
    same_answers column.sbbf "$key"
    try 0 info --json column.sbbf
    holds '.kind == "parquet" and .bytes == 12128'
    { head -c -12128 column.sbbf && head -c 12128 /dev/zero; } >ours
    try 0 add --key "$key" ours "$key".members
    same_file ours column.sbbf
  done
}

@test "the page's reader of a filter that the page makes" {
  PATH=$(dirname "$PERHAPS"):$PATH sh -eu <(example sh 1)
  [ "$(example js 1 | node --input-type=module -)" = "true false" ]
}
