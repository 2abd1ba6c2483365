# Growing filters: --grow, and pipes of unknown length.
load helper

prepare() {
  seq 1 20000 >keys
  seq 100001 150000 >non_members
}

# Fewer than one non-member in 50 is taken for a key: the rate was to be 1 in 100.
few_false_positives() {
  run "$PERHAPS" check -c "$1" non_members
  [ "$output" -lt 1000 ] || wrong "too many non_members"
}

@test "a pipe without -n makes a growing filter that has every key at the rate" {
  cat keys | "$PERHAPS" build -o f.ph
  try 0 info --json f.ph
  holds '.kind == "growing" and .base == "blocked" and .grow == "layers"'
  holds '(.children | length) > 1 and .items > 19500 and .fpr_target <= 0.01 and .fpr_now <= 0.01'
  try 0 check -c f.ph keys
  [ "$output" = 20000 ]
  few_false_positives f.ph
  try 0 verify f.ph --keys keys
}

@test "-k and --needs say what the layers of a pipe are made of" {
  cat keys | "$PERHAPS" build -k bloom -p 0.001 -o bloom.ph
  try 0 info --json bloom.ph
  holds '.base == "bloom" and .fpr_target <= 0.001 and all(.children[]; .kind == "bloom")'
  cat keys | "$PERHAPS" build --needs remove -o cuckoo.ph
  try 0 info --json cuckoo.ph
  holds '.base == "cuckoo" and (.can | contains(["remove"])) and .items == 20000'
  try 0 remove cuckoo.ph keys
  try 0 info --json cuckoo.ph
  holds '.items == 0'
}

@test "kinds that grow by themselves take a pipe as they are" {
  cat keys | "$PERHAPS" build -k table -o table.ph
  try 0 info --json table.ph
  holds '.kind == "table" and .items == 20000 and .children == []'
  cat keys | "$PERHAPS" build -k bitmap -o bitmap.ph
  try 0 info --json bitmap.ph
  holds '.kind == "bitmap" and .items == 20000'
}

@test "what cannot grow must know how many keys a pipe will bring" {
  run --separate-stderr "$PERHAPS" build --no-grow -o f.ph < <(cat keys)
  [ "$status" -eq 2 ]
  says "--no-grow: the number of keys in a pipe is unknown; give -n"
  run --separate-stderr "$PERHAPS" build --bytes 64KiB -o f.ph < <(cat keys)
  [ "$status" -eq 2 ]
  says "--bytes: the number of keys in a pipe is unknown; give -n, or -p instead of the size"
  [ ! -e f.ph ]
}

@test "--grow makes -n a first guess" {
  try 0 build --grow -n 500 -o f.ph keys --json
  holds '.kind == "growing" and .children[0].capacity >= 500 and (.children | length) > 2'
  [ -z "$stderr" ] || wrong "a warning"
  try 0 check -c f.ph keys
  [ "$output" = 20000 ]
  few_false_positives f.ph
  try 0 build --grow -o g.ph keys --json
  holds '(.children | length) == 1 and .children[0].capacity >= 20000'
}

@test "add grows it further, again and again" {
  head -n 5000 keys | "$PERHAPS" build --grow -n 500 -o f.ph
  layers=$("$PERHAPS" info --json f.ph | jq '.children | length')
  seq 5001 99999 | "$PERHAPS" add f.ph
  try 0 info --json f.ph
  holds "(.children | length) > $layers"
  seq 1 99999 >all
  try 0 check -c f.ph all
  [ "$output" = 99999 ]
  few_false_positives f.ph
}

@test "--growth and --max-bytes imply --grow" {
  try 0 build --growth 8 -n 100 -o f.ph keys --json
  holds '.kind == "growing" and .children[1].capacity >= 690'
  try 0 build --max-bytes 1MiB -n 100 -o g.ph keys --json
  holds '.kind == "growing" and .max_bytes == 1048576'
}

@test "--max-bytes: what does not fit is refused, with the remedy" {
  refuses "larger --max-bytes" build --max-bytes 4KiB -n 100 -o f.ph keys
  [ ! -e f.ph ]
}

@test "--grow contradicts --no-grow, and numbers beyond its range are refused" {
  refuses "--no-grow: is the opposite of --grow" build --grow --no-grow -o f.ph keys
  refuses "growth is 1.2; it may be 1.5 to 16" build --growth 1.2 -o f.ph keys
  refuses "--max-bytes: 0 bytes hold no filter" build --max-bytes 0 -o f.ph keys
  [ ! -e f.ph ]
}

@test "info shows every layer with a bar" {
  "$PERHAPS" build --grow -n 1000 -o f.ph keys
  LC_ALL=C try 0 info f.ph
  prints "f.ph: growing, "
  prints "layers of blocked"
  rows=$(grep -c '^ *[0-9].*\[#*\.*\].*%' <<<"$output")
  [ "$rows" -eq "$("$PERHAPS" info --json f.ph | jq '.children | length')" ] || wrong "not a row for each layer"
  LC_ALL=C.UTF-8 try 0 info f.ph
  prints "█"
}

@test "plan --grow plans layers" {
  try 0 plan --grow -n 1M
  prints "blocked"
  try 0 plan --grow -n 1M --json
  holds '[.kinds[] | select(.recommended)] | length == 1'
  holds '.kinds[] | select(.kind == "blocked") | .bytes > 1000000'
}
