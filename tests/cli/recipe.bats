# The recipe of keys: a filter remembers the options that made its keys, every command that reads
# keys uses them without being told again, and options that contradict them are refused. Held for
# each transformation, each extraction and each command.

load helper

# Options; how they change the two members of the set, and a third key; what contradicts them.
declare -gA transformation=(
  [plain]="" [case]="-i" [hex]="--hex" [u64]="--u64" [int32]="--key int32" [int64]="--key int64" [utf16]="--key utf16"
)
declare -gA members=(
  [plain]="Alpha beta" [case]="Alpha BETA" [hex]="0aFF 00" [u64]="17 18446744073709551615" [int32]="-5 12"
  [int64]="-5 9223372036854775807" [utf16]="grüße 𝄞"
)
declare -gA third=(
  [plain]=gamma [case]=Gamma [hex]=beef [u64]=4 [int32]=4 [int64]=4 [utf16]=drei
)
declare -gA extraction=(
  [lines]="" [tab]="--field 2" [comma]="--field 2 --delimiter ," [zero]="-0" [zero_field]="-0 --field 2 --delimiter ;"
  [csv]="--csv --field 2" [jsonl]="--jsonl .k"
)

# records NAME KEY...: records of this extraction, with each key in its place.
records() {
  local key name=$1
  shift
  for key; do
    case $name in
    lines) printf '%s\n' "$key" ;;
    tab) printf 'x\t%s\ty\n' "$key" ;;
    comma) printf 'x,%s,y\n' "$key" ;;
    zero) printf '%s\0' "$key" ;;
    zero_field) printf 'x;%s;y\0' "$key" ;;
    csv) printf '"x,""\n",%s,"y"\r\n' "$key" ;;
    jsonl) printf '{"a": ["]"], "k": "%s"}\n' "$key" ;;
    esac
  done
}

# succeeds FILE ARGS...: exit status 0, and standard output is FILE, byte for byte.
succeeds() {
  local wanted=$1 status=0
  shift
  "$PERHAPS" "$@" >out 2>err || status=$?
  [ "$status" -eq 0 ] && cmp -s out "$wanted" && return 0
  echo "perhaps $*: status $status"
  cat err
  od -c out | head
  return 1
}

# What contradicts a filter of this transformation and extraction, a line each.
contradictions() {
  if [ "$1" = hex ]; then echo "--u64"; else echo "--hex"; fi
  if [ "$1" != case ]; then echo "-i"; fi
  if [ "$1" = int32 ]; then echo "--key int64"; else echo "--key int32"; fi
  case $2 in
  tab) printf '%s\n' "--field 3" "--field 1" "--field 2 --delimiter ," "-0" "--field 2 -0" ;;
  comma) printf '%s\n' "--field 3" "--field 2 --delimiter ;" "-0" ;;
  zero) printf '%s\n' "--field 2" "-0 --field 1" ;;
  zero_field) printf '%s\n' "--field 3" "--field 2 --delimiter ," ;;
  csv) printf '%s\n' "--tsv" "--csv -F 1" "-F 2,3" "--csv -t ;" "--header" "--trim" "-0" "--jsonl .k" ;;
  jsonl) printf '%s\n' "--jsonl .x" "--csv" "-F 1" "--trim" ;;
  esac
}

# All that reads keys, with these options in addition.
use_filter() {
  succeeds some check "$@" f.ph all
  succeeds some check "$@" --confirm some f.ph all
  succeeds counts count "$@" f.ph some
  "$PERHAPS" verify "$@" --keys some f.ph >out
  run "$PERHAPS" verify "$@" --keys all f.ph
  [ "$status" -ne 0 ]
  cp f.ph g.ph
  "$PERHAPS" add "$@" g.ph one
  succeeds all check "$@" g.ph all
  "$PERHAPS" remove "$@" g.ph one
  succeeds some check "$@" g.ph all
  cp state.ph s.ph
  succeeds one dedup "$@" --state s.ph all all
  cp state.ph s.ph
  succeeds some dedup -d "$@" --state s.ph all
}

# All that reads keys refuses these options, and changes nothing; unless thorough, check alone.
refuse_all() {
  local text=$1
  shift
  cp state.ph s.ph
  refuses "$text" check "$@" f.ph all
  [ -n "$thorough" ] || return 0
  refuses "$text" count "$@" f.ph all
  refuses "$text" verify "$@" --keys all f.ph
  refuses "$text" add "$@" f.ph one
  refuses "$text" remove "$@" f.ph one
  refuses "$text" dedup "$@" --state s.ph all
  cmp state.ph s.ph
  cmp f.ph kept.ph
}

held=0
thorough=
[ "${PERHAPS_TEST_SIZE-}" != long ] || thorough=yes

# hold TRANSFORMATION EXTRACTION
hold() {
  local t=$1 e=$2 options keys contradiction
  echo "$t keys, extraction $e" # shown if it fails
  read -ra options <<<"${transformation[$t]} ${extraction[$e]}"
  read -ra keys <<<"${members[$t]}"
  records "$e" "${keys[@]}" >some
  records "$e" "${third[$t]}" >one
  cat some one >all
  rm -f f.ph state.ph
  "$PERHAPS" build -k cuckoo -p 1e-6 -n 100 "${options[@]}" -o f.ph some
  "$PERHAPS" dedup "${options[@]}" --state state.ph some >out
  cp f.ph kept.ph
  "$PERHAPS" count f.ph some >counts
  [ "$(tr '\0' '\n' <counts | grep -c '^1')" = 2 ]
  use_filter
  if [ -n "$thorough" ]; then use_filter "${options[@]}"; fi
  succeeds some check "${options[@]}" f.ph all
  while read -ra contradiction; do
    refuse_all " made with" "${contradiction[@]}"
  done < <(contradictions "$t" "$e")
  held=$((held + 1))
  # Lines that are keys, whatever the filter was made from.
  records lines "${keys[@]}" >whole
  succeeds whole check --field 0 f.ph whole
}

@test "every transformation, in a field: used by every command without being repeated" {
  local t
  for t in "${!transformation[@]}"; do hold "$t" comma; done
  [ "$held" -eq 7 ]
}

@test "every extraction: used by every command without being repeated" {
  local e
  for e in "${!extraction[@]}"; do hold plain "$e"; done
  [ "$held" -eq 7 ]
}

@test "every command takes the same options again, and refuses others" {
  thorough=yes
  hold case zero_field
}

@test "every transformation with every extraction" {
  [ -n "$thorough" ] || skip "only with PERHAPS_TEST_SIZE=long"
  local t e
  for t in "${!transformation[@]}"; do
    for e in "${!extraction[@]}"; do hold "$t" "$e"; done
  done
}

@test "raw records and lines of numbers are the same keys" {
  printf '\x11\0\0\0\0\0\0\0\x12\0\0\0\0\0\0\0' >raw
  printf '17\n18\n' >lines
  printf 'x,17\nx,18\n' >table
  "$PERHAPS" build --key u64le -p 1e-6 -o raw.ph raw
  "$PERHAPS" build --u64 -p 1e-6 -o lines.ph lines
  succeeds raw check raw.ph raw
  succeeds lines check lines.ph lines
  succeeds lines check --u64 raw.ph lines
  succeeds lines check --field 0 raw.ph lines
  succeeds table check --field 2 --delimiter , raw.ph table
  succeeds raw check --key u64le lines.ph raw
  "$PERHAPS" merge -o both.ph raw.ph lines.ph
  succeeds raw check both.ph raw
  "$PERHAPS" dedup --key u64le --state s.ph raw >out
  succeeds /dev/null dedup --state s.ph raw
  succeeds /dev/null dedup --u64 --state s.ph lines
}

@test "a dedup that forgot its field would take every line for new: it does not forget" {
  printf '1,a,x\n2,b,x\n' >day1
  printf '3,a,x\n4,c,x\n' >day2
  "$PERHAPS" dedup --field 2 --delimiter , --state s.ph day1 >out
  printf '4,c,x\n' >new
  succeeds new dedup --state s.ph day2
  try 0 info --json s.ph
  holds '.items == 3 and .field == 2 and .delimiter == "," and .records == "lines" and .key == "bytes"'
}

@test "filters of other extraction combine, of another transformation they do not" {
  printf 'x,a\nx,b\n' >table
  printf 'b\nc\n' >lines
  "$PERHAPS" build -k bloom -n 100 -p 1e-6 --field 2 --delimiter , -o table.ph table
  "$PERHAPS" build -k bloom -n 100 -p 1e-6 -o lines.ph lines
  "$PERHAPS" build -k bloom -n 100 -p 1e-6 -i -o folded.ph lines
  "$PERHAPS" merge -o both.ph table.ph lines.ph
  try 0 info --json both.ph
  holds '.field == 2'
  try 0 check -c --field 0 both.ph <(printf 'a\nb\nc\n')
  [ "$output" = 3 ]
  "$PERHAPS" merge -o other.ph lines.ph table.ph
  try 0 info --json other.ph
  holds '.field == 0'
  "$PERHAPS" intersect -o common.ph table.ph lines.ph
  try 0 check -c common.ph table
  refuses "folded.ph: its keys are read as bytes, ignoring case, but those of lines.ph as bytes" merge -o x.ph lines.ph folded.ph
  refuses "its keys are read as bytes, but those of folded.ph as bytes, ignoring case" intersect -o x.ph folded.ph lines.ph
  [ ! -e x.ph ]
}

@test "info shows the recipe" {
  printf 'x;A\0' >table
  "$PERHAPS" build -i -0 --field 2 --delimiter ';' -o f.ph table
  try 0 info f.ph
  prints "  key       bytes, ignoring case"
  prints "  records   as -0 --field 2 --delimiter ';' says"
  try 0 info --json f.ph
  holds '.key == "bytes, ignoring case" and .records == "zero-terminated" and .field == 2 and .delimiter == ";"'
  echo a >lines
  "$PERHAPS" build -o plain.ph lines
  try 0 info --json plain.ph
  holds '.key == "bytes" and .records == "lines" and .field == 0 and .delimiter == ""'
  try 0 info plain.ph
  [[ $output != *records* ]]
}

@test "the original keys of --confirm stand where the filter's did" {
  printf 'x,a\nx,b\n' >table
  printf 'a\nz\n' >lines
  "$PERHAPS" build --field 2 --delimiter , -p 0.5 -o f.ph table
  try 0 check --field 0 --confirm table f.ph lines
  [ "$output" = a ]
}

@test "whole lines have no recipe, and a line without the field says what to do" {
  printf 'x,a\n' >table
  echo a >lines
  "$PERHAPS" build -k bloom -n 10 -p 0.1 -o plain.ph lines
  "$PERHAPS" build -k bloom -n 10 -p 0.1 --field 2 --delimiter , -o table.ph table
  [ "$(od -An -tu1 -j13 -N1 plain.ph | tr -d ' ')" = 0 ]
  [ $(($(stat -c %s table.ph) - $(stat -c %s plain.ph))) -le 64 ]
  refuses "line 1 has only 1 field; correct it, or give --field 0 if lines are keys" check table.ph lines
  try 0 check --field 2 --delimiter , plain.ph table
}
