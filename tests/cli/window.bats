# Windows: the last N keys, or those of a time.
load helper

@test "--window N remembers the last N keys and forgets those long before" {
  seq 1 20000 >keys
  try 0 build --window 1000 -p 0.001 -o f.ph keys --json
  holds '.kind == "window" and (.children | length) == 4 and .period == 0'
  [ -z "$stderr" ] || wrong "a warning"
  tail -n 1000 keys >last
  try 0 check -c f.ph last
  [ "$output" = 1000 ]
  head -n 15000 keys >first
  run "$PERHAPS" check -c f.ph first
  [ "$output" -lt 100 ] || wrong "the first keys are still remembered"
}

@test "--window N goes on where it was when keys are added" {
  seq 1 1000 | "$PERHAPS" build --window 1k -k table -o f.ph
  seq 1001 1900 | "$PERHAPS" add f.ph
  seq 901 1900 >last
  try 0 check -c f.ph last
  [ "$output" = 1000 ]
  seq 1 500 >first
  try 1 check -c f.ph first
}

@test "--window TIME remembers by the clock" {
  seq 1 100 >keys
  try 0 build --window 1h30m -n 1000 -o f.ph keys --json
  holds '.kind == "window" and .period == 5400000 and all(.children[-1:][]; .items > 90)'
  holds "all(.children[-1:][]; .since > 1600000000000 and .since <= $(date +%s%3N))"
  try 0 check -c f.ph keys
  [ "$output" = 100 ]
  LC_ALL=C try 0 info f.ph
  prints "forgets   what is older than 1h30m"
  prints "since"
}

@test "a window by time has forgotten after its time, though its file is as it was" {
  seq 1 100 >keys
  "$PERHAPS" build --window 1s --generations 2 -n 1000 -k table -o f.ph keys
  cp f.ph before.ph
  sleep 2.2
  try 1 check -c f.ph keys
  cmp f.ph before.ph
  echo new | "$PERHAPS" add f.ph
  try 0 info --json f.ph
  holds '.items == 1'
}

@test "lines that come late are as young as they are" {
  for how in table; do
    : >none
    "$PERHAPS" build --window 2s -n 1000 -k $how -f -o f.ph none
    (echo first; sleep 3.5; echo last) | "$PERHAPS" add f.ph
    echo last | try 0 check f.ph
    (echo first; sleep 3.5; echo last) | "$PERHAPS" build --window 2s -n 1000 -k $how -f -o f.ph
    echo last | try 0 check f.ph
  done
}

@test "verify knows that a window forgets" {
  seq 1 100 >keys
  "$PERHAPS" build --window 1s --generations 2 -n 1000 -k table -o f.ph keys
  "$PERHAPS" build --window 30 -k table -o g.ph keys
  sleep 2.2
  for name in f g; do
    try 2 verify $name.ph --keys keys
    says "a window forgets old keys"
  done
  tail -n 30 keys >last
  try 0 verify g.ph --keys last
}

@test "times: a unit is required, and M is not m" {
  : >none
  for time in 30s:30 10m:600 12h:43200 7d:604800 1d2h3m3s:93783; do
    try 0 build --window "${time%:*}" -n 100 -f -o f.ph none --json
    holds ".period == ${time#*:}000"
  done
  try 0 build --window 1M -f -o f.ph none --json
  holds '.period == 0'
  for bad in 0 0s m 10x 10m5 -5 1.5h 99999999999999999999d; do
    refuses "is neither a number of keys" build --window="$bad" -f -o f.ph none
  done
}

@test "--generations and --clear-at" {
  seq 1 5000 >keys
  try 0 build --window 1000 --generations 10 -o f.ph keys --json
  holds '(.children | length) == 10'
  try 0 build -n 1000 --clear-at 80% -k bloom -o g.ph keys --json
  holds '.kind == "window" and (.children | length) == 1 and .clear_at == 0.8 and .fill < 0.8'
  refuses "needs --window" build --generations 4 -n 1000 -o h.ph keys
  refuses "is not a share between 0 and 1; write 0.8 or 80%" build --clear-at 2 -n 1000 -o h.ph keys
  try 2 build --window 1000 --generations 65 -o h.ph keys
  says "64"
  try 2 build --window 1000 --generations 1 -o h.ph keys
  [ ! -e h.ph ]
}

@test "windows that make no sense are refused in the words of the command line" {
  seq 1 100 >keys
  refuses "--window: a number of keys takes the place of -n; leave out -n" build --window 100 -n 5 -o f.ph keys
  refuses "cuckoo" build --window 100 -k cuckoo -o f.ph keys
  try 2 build --window 100 --grow -o f.ph keys
  run --separate-stderr "$PERHAPS" build --window 10m -o f.ph < <(cat keys)
  [ "$status" -eq 2 ]
  says "--window: the number of keys in a pipe is unknown; give -n, the number of keys to remember"
  [ ! -e f.ph ]
}

@test "plan --window plans a window" {
  try 0 plan --window 1M -k blocked --json
  holds '.kinds[0].bytes > 1000000 and .kinds[0].recommended'
}

# How many of 100,000 numbers that were never added FILTER finds.
false_positives() { # FILTER
  seq 10000001 10100000 >never
  run "$PERHAPS" check -c "$1" never
}

@test "--window TIME keeps its rate when all keys come at once" {
  seq 1 100000 >keys
  try 0 build --window 10m -n 1e5 -p 0.01 -o f.ph keys --json
  [ -z "$stderr" ] || wrong "a warning"
  holds '.generations == 4 and (.flooded | not) and .fpr_now < 0.0105'
  try 0 check -c f.ph keys
  [ "$output" = 100000 ]
  false_positives f.ph
  [ "$output" -lt 1100 ] || wrong "$output of 100,000 false positives"
}

@test "more keys than -n in the time of a window are found, and a warning says what that costs" {
  seq 1 300000 >keys
  LC_ALL=C try 0 build --window 10m -n 1e5 -p 0.01 -o f.ph keys
  says "got 300,000 keys but was made for 100,000 in 10m; its false-positive rate is now"
  says "Rebuild it with -n 300000"
  try 0 check -c f.ph keys
  [ "$output" = 300000 ]
  try 0 info --json f.ph
  holds '.flooded and .fpr_now > .fpr_target and (.children | length) <= 8'
  LC_ALL=C try 0 info f.ph
  prints "flooded   more keys came in that time than it is made for; build it again with a larger -n"
  echo one-more >extra
  LC_ALL=C try 0 add f.ph extra
  says "but was made for 100,000 in 10m"
}

@test "a window by time that a burst has filled goes on when keys are added" {
  seq 1 50000 >first
  seq 50001 100000 >second
  try 0 build --window 10m -n 1e5 -p 0.01 -o f.ph first
  try 0 add f.ph second
  [ -z "$stderr" ] || wrong "a warning"
  try 0 check -c f.ph first second
  [ "$output" = 100000 ]
  false_positives f.ph
  [ "$output" -lt 1100 ] || wrong "$output of 100,000 false positives"
}

@test "plan --window TIME says what bursts take" {
  LC_ALL=C try 0 plan --window 10m -n 1e6 -k blocked
  prints "in bursts it has up to 6 generations in place of 4: "
  try 0 plan --window 10m -n 1e6 --generations 8 -k blocked --json
  holds '.kinds[0] | .bytes_in_bursts / .bytes > 1.7 and .bytes_in_bursts / .bytes < 1.76'
  try 0 plan --window 1M -k blocked --json
  holds '.kinds[0] | has("bytes_in_bursts") | not'
}

@test "a period is kept as it was given" {
  echo a >keys
  try 0 build --window 100s -n 1000 -o f.ph keys --json
  holds '.period == 100000'
  try 0 dedup --last 100s --state s.ph keys
  try 0 dedup --last 100s --state s.ph keys
  [ -z "$output" ]
}
