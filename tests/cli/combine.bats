# merge, intersect, subtract and differ.
load helper

prepare() {
  seq 1 600 >a
  seq 401 1000 >b
  for f in a b; do "$PERHAPS" build -n 1000 -p 1e-6 -o $f.ph $f; done
}

@test "merge makes what adding all keys would have made" {
  try 0 merge a.ph b.ph -o m.ph
  [ -z "$output$stderr" ]
  seq 1 1000 >all
  try 0 check -c m.ph all
  [ "$output" = 1000 ]
  "$PERHAPS" build -n 1000 -p 1e-6 -o all.ph all
  cmp <(tail -c 1024 m.ph) <(tail -c 1024 all.ph)
  nothing_left_behind
}

@test "merge takes more than two, and one twice" {
  seq 2000 2005 >c
  "$PERHAPS" build -n 1000 -p 1e-6 -o c.ph c
  try 0 merge a.ph b.ph c.ph c.ph -o m.ph --json
  holds '.file == "m.ph" and .items > 990 and .items < 1025'
  try 0 check -c m.ph a b c
  [ "$output" = 1206 ]
}

@test "intersect keeps what is in both" {
  try 0 intersect a.ph b.ph -o i.ph --json
  holds '.kind == "blocked"'
  seq 401 600 >both
  try 0 check -c i.ph both
  [ "$output" = 200 ]
  try 0 check -cv i.ph a
  [ "$output" -gt 300 ]
}

@test "filters that do not fit are refused, and the difference is named" {
  "$PERHAPS" build -n 1000 -p 1e-6 --seed 1 -o seed.ph b
  refuses "differ in seed; build both with the same -k, -n, -p (or size), --shards, --hash and --seed" merge a.ph seed.ph -o m.ph
  "$PERHAPS" build -n 1000 -p 1e-6 -k bloom -o bloom.ph b
  refuses "bloom.ph: is a bloom filter, but a.ph is a blocked filter; build both with the same -k" merge a.ph bloom.ph -o m.ph
  "$PERHAPS" build -n 5000 -p 1e-6 -o large.ph b
  refuses "large.ph: was made for 5,000 keys in" intersect a.ph large.ph -o m.ph
  says "build both with the same -n and -p, such as -n 5000 -p 9e-07"
  # Other sizes, in every kind.
  for options in '-k counting' '-k bloom' '-k blocked' '-k parquet' '-k guava' '-k dcso' '-k spark'; do
    # shellcheck disable=SC2086 # a list of words
    "$PERHAPS" build -n 1000 -p 0.01 $options -f -o one.ph a
    # shellcheck disable=SC2086
    "$PERHAPS" build -n 50000 -p 0.01 $options -f -o two.ph b
    kind=
    [[ $options != *guava* && $options != *spark* && $options != *dcso* ]] || kind=$options
    # shellcheck disable=SC2086
    refuses "keys in" merge $kind one.ph two.ph -o m.ph
    says "bytes; build both with the same -n and -p, such as -n "
  done
  "$PERHAPS" build -n 1000 --shards 4 -o four.ph a
  "$PERHAPS" build -n 1000 --shards 8 -o eight.ph a
  refuses "differ in number of shards; build both with the same -k, -n, -p (or size), --shards" merge four.ph eight.ph -o m.ph
  refuses "four.ph: is a sharded filter, but a.ph is a blocked filter; build both with the same --shards" merge a.ph four.ph -o m.ph
  "$PERHAPS" build -p 1e-6 --grow -o grown.ph b
  refuses "grown.ph: is a growing filter, but a.ph is a blocked filter; build both with --grow, or both with -n" merge a.ph grown.ph -o m.ph
  "$PERHAPS" build -n 1000 -p 1e-6 --u64 -o u64.ph b
  refuses "u64.ph: its keys are read as u64, but those of a.ph as bytes" merge a.ph u64.ph -o m.ph
  [ ! -e m.ph ]
}

@test "-o, -f and operands" {
  refuses "B is missing; write 'perhaps merge A B... -o FILE" merge a.ph -o m.ph
  refuses "-o" merge a.ph b.ph
  cp a.ph before
  refuses "exists; give -f" merge a.ph b.ph -o a.ph
  cmp a.ph before
  try 0 merge -f a.ph b.ph -o a.ph
  try 0 check -c a.ph a b
  [ "$output" = 1200 ]
  "$PERHAPS" intersect a.ph b.ph -o - >i.ph
  try 0 verify i.ph
}

@test "merge warns when the union is more than was planned for" {
  seq 10000 11500 >many
  "$PERHAPS" build -n 1000 -p 1e-6 -o many.ph many 2>/dev/null
  try 0 merge a.ph many.ph -o m.ph
  says "m.ph: warning: holds about "
}

bitmaps() {
  for f in a b; do "$PERHAPS" build -k bitmap -o $f-ids.ph $f; done
}

@test "bitmaps: the four combinations are exact, whatever their sizes" {
  bitmaps
  echo 100000 | "$PERHAPS" add b-ids.ph
  for pair in "a-ids.ph b-ids.ph" "b-ids.ph a-ids.ph"; do
    try 0 merge -f $pair -o m.ph
    [ -z "$output$stderr" ]
    [ "$("$PERHAPS" list m.ph)" = "$(seq 1 1000; echo 100000)" ]
    try 0 intersect -f $pair -o m.ph --json
    holds '.items == 200 and .file == "m.ph" and .kind == "bitmap"'
    [ "$("$PERHAPS" list m.ph)" = "$(seq 401 600)" ]
    try 0 differ -f $pair -o m.ph
    [ "$("$PERHAPS" list m.ph)" = "$(seq 1 400; seq 601 1000; echo 100000)" ]
  done
  try 0 subtract -f a-ids.ph b-ids.ph -o m.ph
  [ "$("$PERHAPS" list m.ph)" = "$(seq 1 400)" ]
  try 0 subtract -f b-ids.ph a-ids.ph -o m.ph
  [ "$("$PERHAPS" list m.ph)" = "$(seq 601 1000; echo 100000)" ]
  try 0 verify m.ph
  nothing_left_behind
}

@test "subtract and differ take more than two" {
  bitmaps
  seq 1 10 | "$PERHAPS" build -k bitmap -o c-ids.ph
  try 0 subtract a-ids.ph b-ids.ph c-ids.ph -o s.ph
  [ "$("$PERHAPS" list s.ph)" = "$(seq 11 400)" ]
  try 0 differ a-ids.ph b-ids.ph c-ids.ph -o d.ph
  [ "$("$PERHAPS" list d.ph)" = "$(seq 11 400; seq 601 1000)" ]
  refuses "B is missing; write 'perhaps subtract A B... -o FILE" subtract a-ids.ph -o x.ph
  refuses "exists; give -f" differ a-ids.ph b-ids.ph -o d.ph
}

@test "kinds that cannot say which can" {
  for kind in counting cuckoo table; do
    for f in a b; do "$PERHAPS" build -f -k $kind -n 2000 -o $f.ph $f; done
    refuses "$kind filters cannot be intersected; bloom, blocked" intersect a.ph b.ph -o m.ph
    refuses "$kind filters cannot be subtracted from each other; bitmap can subtract, for keys that are integers: build one with -k bitmap" \
      subtract a.ph b.ph -o m.ph
    refuses "-k bitmap" differ a.ph b.ph -o m.ph
  done
  [ ! -e m.ph ]
}

@test "a composite filter that stands in the way is named" {
  "$PERHAPS" build -k cuckoo --grow -n 100 -o grown.ph a
  refuses "growing filters over cuckoo cannot be merged; build it with -n and without --grow" merge grown.ph grown.ph -o m.ph
  "$PERHAPS" build --window 1000 -o window.ph a
  refuses "window filters over blocked cannot be merged; build it without --window" merge window.ph window.ph -o m.ph
  refuses "window filters over blocked cannot remove keys; counting, cuckoo, table and bitmap can" remove window.ph a
  [ ! -e m.ph ]
}

@test "of multisets the union is the sum" {
  for kind in counting cuckoo; do
    for f in a b; do "$PERHAPS" build -f -k $kind -n 2000 -p 1e-6 -o $f.ph $f; done
    try 0 merge -f a.ph b.ph -o m.ph --json
    holds '.items == 1200'
    printf '1\n500\n1000\n1001\n' >some
    try 0 count m.ph some
    [ "$output" = "$(printf '1\t1\n2\t500\n1\t1000\n0\t1001')" ] || wrong "$kind"
  done
}

@test "tables of any two sizes merge; one that must not grow says what to do" {
  "$PERHAPS" build -k table -o ta.ph a
  seq 5000 9000 | "$PERHAPS" build -k table -o tb.ph
  try 0 merge ta.ph tb.ph -o m.ph --json
  holds '.items == 4601'
  [ -z "$stderr" ] || wrong "a warning"
  "$PERHAPS" build -k table --no-grow -o fixed.ph a
  refuses "tb.ph: the union is full; build all filters with -n 4601 or more, or without --no-grow" \
    merge fixed.ph tb.ph -o n.ph
  [ ! -e n.ph ]
}

@test "two full cuckoo filters do not fit into one" {
  seq 2001 3000 >c
  seq 1001 2000 >d
  for f in c d; do "$PERHAPS" build -k cuckoo -n 1000 -o $f.ph $f; done
  refuses "d.ph: the union is full; build all filters with -n 2000 or more" merge c.ph d.ph -o m.ph
  [ ! -e m.ph ]
  nothing_left_behind
}
