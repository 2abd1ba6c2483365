# bench, with so few keys that it is only seen to work: its options and what it prints.
load helper

@test "bench --kind --items --json has the promised names, and --plot draws them" {
  try 0 bench --kind blocked --items 20000 --json --goals --plot speed.svg
  [ -z "$stderr" ] || wrong "gnuplot is not content"
  python3 -c 'import xml.etree.ElementTree as tree; tree.parse("speed.svg")'
  grep -q 'blocked contains_many' speed.svg
  holds 'has("machine") and has("limit") and has("results") and has("ratios")'
  holds 'all(.results[]; .kind == "blocked" and .items == 20000 and (.ns_per_key_quartiles | length) == 2)'
  holds '[.results[].op] | contains(["add_many", "contains_many"])'
  holds 'all(.ratios[]; .ratio_quartiles[0] <= .ratio and .ratio <= .ratio_quartiles[1])'
  holds '[.ratios[].to] | contains(["limit", "multi-block 32", "multi-block 64"])'
  holds '.checks | length > 0 and all(has("goal"))'
}

@test "bench has rivals for each kind, fills for those that forget, and a line of summary" {
  try 0 bench -k cuckoo --items 10000 --json
  holds '[.ratios[] | select(.to == "textbook").op] | unique == ["contains", "fill", "fill_many"]'
  try 0 bench -k table --items 10000 --json
  holds '[.ratios[] | select(.to == "flat set").op] | unique == ["contains", "fill", "fill_many"]'
  try 0 bench -k fuse --items 10000 --goals
  prints "fuse 8 bits 12"
  prints "x plain fuse; single query"
  prints "contains_many / plain fuse"
}

@test "bench --isa measures another instruction set, and says which" {
  try 0 bench -k bitmap --items 10000 --isa scalar
  prints "measured with scalar"
  PERHAPS_ISA=scalar try 0 bench -k bitmap --items 10000 --json
  holds '.machine.isa == "scalar"'
  refuses "choose from: scalar avx2 avx512 neon" bench --isa sse
  case $(uname -m) in x86_64) absent=neon ;; *) absent=avx512 ;; esac
  refuses "$absent: this machine has no such instructions" bench --isa $absent
}

@test "bench --compare shows an earlier run beside this one" {
  "$PERHAPS" bench -k bitmap --items 10000 --json >before.json
  sed -i '/"to": "limit"/s/"op": "contains_many", "hits": 50\(.*\)"ratio": [0-9.]*, "ratio_quartiles": [^]]*/"op": "contains_many", "hits": 50\1"ratio": 0.001, "ratio_quartiles": [0.001, 0.001/' before.json
  try 0 bench -k bitmap --items 10000 --compare before.json
  prints "Beside before.json"
  grep -q 'bitmap, .* MiB: contains_many, 50 % hits / limit .* slower$' <<<"$output"
  prints "ratios are slower by more than 10 %"
  echo '{}' >empty.json
  refuses "empty.json: no ratios in it" bench --compare empty.json
  refuses "absent.json: No such file" bench --compare absent.json
}

@test "bench --small measures batches of 1 to 64 keys" {
  try 0 bench --small --items 10000 --json
  holds '[.combined[] | select(.part == "small").case] | contains(["bloom", "blocked", "cuckoo", "fuse"])'
  holds 'all(.combined[]; has("1") and has("64") and has("64_quartiles"))'
  try 0 bench --small -k table --items 10000
  prints "  table  "
}

@test "bench --foreign measures foreign formats" {
  try 0 bench --foreign --items 10000 --json
  holds 'has("checks") | not'
  grep -q '"part": "foreign", "case": "dcso, 50 % hits"' <<<"$output"
}

@test "bench --static builds static filters, and -k queries one of them" {
  try 0 bench --static --items 20000 --json
  holds '[.combined[].part] | unique == ["static_build", "static_size"]'
  holds 'all(.combined[] | select(.part == "static_size"); .ratio < 1.6 and .sigmas < 6)'
  try 0 bench -k ribbon --items 20000 --json
  holds 'all(.results[]; .kind == "ribbon" and .items == 20000 and .limit_lines == 2)'
  refuses "static kinds do not go with" bench -k fuse --full
  refuses "not a static one" bench --static -k bloom
}

@test "bench --combined measures composite filters" {
  try 0 bench --combined --items 20000 --json
  holds '[.combined[].part] | contains(["growing", "sharded", "sharded_rate", "parallel", "peak"])'
  holds 'all(.combined[] | select(.part == "growing" or .part == "sharded_rate"); .fpr < 0.011)'
  refuses "do not go with --combined" bench --combined --full
  refuses "give only one of them" bench --combined --small
}

@test "bench --plot says before the work why there cannot be a picture" {
  refuses "absent/a.svg: the picture cannot be written: No such file" bench --plot absent/a.svg
  refuses "no file that could be replaced" bench --plot /dev/null
  refuses "give a name that ends in .svg" bench --plot a.png
  echo old >old.svg
  refuses "it exists; give -f" bench --plot old.svg
  run --separate-stderr env PATH=/absent "$PERHAPS" bench --plot a.svg
  says "gnuplot is not installed"
}

@test "bench refuses a kind that is none" {
  refuses "choose from: bloom blocked" bench --kind blum
  refuses "bench" bench extra
}
