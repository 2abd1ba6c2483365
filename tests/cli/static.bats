# Static filters: built of all keys at once, with --static and --smallest, and query-only
# afterwards.
load helper

prepare() {
  seq 1 1000 >keys
  seq 1001 101000 >others
}

# The static kinds there are.
kinds() {
  "$PERHAPS" plan -n 1M --json | jq -r '.kinds[] | select(.can == []).kind'
}

# alone NAME...: nothing but these is in this folder, hidden files included (and what bats keeps
# there).
alone() {
  [ "$(find . -mindepth 1 ! -name 'separate-stderr-*' | sort)" = "$(printf './%s\n' "$@" | sort)" ] || wrong "$(ls -A)"
}

@test "every static kind is built from files and pipes, without -n, and finds all keys" {
  [ -n "$(kinds)" ]
  for kind in $(kinds); do
    try 0 build -k "$kind" -p 0.001 -o f.ph keys --json
    [ -z "$stderr" ] || wrong "$kind is not silent"
    holds ".kind == \"$kind\" and .items == 1000 and .capacity == 1000 and .fpr_target <= 0.001 and .can == []"
    seq 1 1000 | "$PERHAPS" build -k "$kind" -p 0.001 -o - >g.ph
    cmp f.ph g.ph
    "$PERHAPS" build -k "$kind" -n 7 -p 0.001 -o /dev/stdout keys | cmp f.ph
    try 0 check -c f.ph keys
    [ "$output" = 1000 ] || wrong "$kind"
    try 0 check f.ph others
    [ "$(wc -l <<<"$output")" -lt 200 ] || wrong "$kind: too many false positives"
    rm f.ph g.ph
  done
  alone keys others
}

@test "--static is fuse, of three places or four, and --smallest is ribbon" {
  try 0 build --static -o a.ph keys --json
  holds '.kind == "fuse" and .hashes == 3 and .fpr_target <= 0.01'
  try 0 build --static -k fuse --hashes 4 --bits-per-key 16 -o b.ph keys --json
  holds '.hashes == 4 and .fpr_target < 0.001'
  try 0 build --smallest -p 1e-6 -o c.ph others --json
  holds '.kind == "ribbon" and .bits_per_key < 21'
  try 0 build --static -k ribbon -p 1e-6 -o d.ph others
  cmp c.ph d.ph
  try 0 build --static --smallest -p 1e-6 -o e.ph others
  cmp c.ph e.ph
}

@test "0, 1, 2 and 3 keys, and keys that are all equal" {
  for kind in $(kinds); do
    for n in 0 1 2 3; do
      head -n $n keys >few
      try 0 build -k "$kind" -f -p 1e-6 -o f.ph few --json
      holds ".items == $n and .fpr_now <= 1e-6"
      try $((n == 0)) check f.ph keys
      [ "$output" = "$(cat few)" ] || wrong "$kind"
    done
    yes | head -n 100000 >same
    try 0 build -k "$kind" -p 1e-6 -o g.ph same --json
    holds '.items == 1 and .bytes < 1000'
    try 0 check -c g.ph same
    [ "$output" = 100000 ]
    try 1 check -q g.ph keys
    rm g.ph
  done
}

@test "half of the keys are there twice: a filter of the same size as without them" {
  for kind in $(kinds); do
    "$PERHAPS" build -k "$kind" -o f.ph others
    try 0 build -k "$kind" -o g.ph others others --json
    holds '.items == 100000'
    [ "$(stat -c %s f.ph)" = "$(stat -c %s g.ph)" ] || wrong "$kind: another size"
    try 0 check -c g.ph others
    [ "$output" = 100000 ]
    rm f.ph g.ph
  done
}

@test "keys of all sorts, a secret hash, and more than one thread" {
  echo 00112233445566778899aabbccddeeff >secret
  try 0 build --static --hash-key secret -j 2 -o a.ph keys others
  try 0 build --static --hash-key secret -o b.ph keys others
  cmp a.ph b.ph
  try 0 check -c --hash-key secret a.ph keys
  [ "$output" = 1000 ]
  try 0 build --static --field 2 --delimiter : -i -o c.ph <(printf 'x:ONE\ny:two\n')
  try 0 check -c --field 0 c.ph <(printf 'one\nTWO\n')
  [ "$output" = 2 ]
}

@test "keys beyond --scratch wait in a file: the same filter, with one thread and two" {
  seq 2100000 >many
  for kind in $(kinds); do
    "$PERHAPS" build -k "$kind" --u64 -j 2 -o f.ph many
    "$PERHAPS" build -k "$kind" --u64 --scratch 1MiB -o g.ph many
    cmp f.ph g.ph
    "$PERHAPS" build -k "$kind" --u64 --scratch 16MiB -j 2 -o h.ph many
    cmp f.ph h.ph
    rm ./*.ph
  done
  alone keys many others
}

@test "no room for the file in which keys wait" {
  seq 2100000 >many
  mkdir folder
  run --separate-stderr bash -c 'ulimit -f 4096; exec "$0" build --static --u64 --scratch 1MiB -o folder/f.ph many' "$PERHAPS"
  [ "$status" -eq 2 ] && [ -z "$output" ]
  says "folder: cannot write the temporary file for keys that wait there: File too large; check the room and permissions there, or keep"
  alone keys others many folder
  run --separate-stderr bash -c 'ulimit -f 4096; exec "$0" build --static --u64 -o folder/f.ph many' "$PERHAPS"
  [ "$status" -eq 0 ] || wrong "the filter itself has room"
}

@test "a build that is killed leaves nothing behind, not even while keys wait in a file" {
  mkfifo pipe
  "$PERHAPS" build --static --u64 --scratch 1MiB -o f.ph pipe &
  pid=$!
  exec 7>pipe
  seq 2100000 >&7
  ls -l "/proc/$pid/fd" | grep -q deleted || wrong "no keys wait in a file"
  alone keys others pipe
  kill -9 $pid
  ended $pid
  exec 7>&-
  alone keys others pipe
}

@test "what is sealed cannot be changed or combined" {
  try 0 build --static -o f.ph keys
  cp f.ph g.ph
  for command in "add f.ph others" "add --in-place f.ph others" "add f.ph absent" "remove f.ph keys" \
    "remove --in-place f.ph keys" "merge f.ph g.ph -o m.ph" "intersect f.ph g.ph -o m.ph" "merge b.ph f.ph -o m.ph"; do
    [ -e b.ph ] || "$PERHAPS" build -k bloom -o b.ph keys
    refuses "f.ph: is a static filter, which cannot be changed or combined; build it again from all keys" $command
  done
  refuses "f.ph: is a static fuse filter, which takes no more lines; give another --state" dedup --state f.ph others
  refuses " can list" list f.ph
  refuses " can count" count f.ph keys
  cmp f.ph g.ph
  alone keys others b.ph f.ph g.ph
}

@test "what does not go together is told" {
  for option in --grow "--growth 2" "--max-bytes 1M" --no-grow "--window 5" "--clear-at 0.5" "--shards 4"; do
    refuses "${option% *}: fuse filters are static and never change" \
      build --static $option -o f.ph keys
  done
  refuses "--static: bloom filters are not static; leave out -k" build --static -k bloom -o f.ph keys
  refuses "--smallest: makes a ribbon filter, not what -k says" build --smallest -k fuse -o f.ph keys
  refuses "--scratch: is for static filters" build --scratch 1G -o f.ph keys
  refuses "--scratch: 0 bytes" build --static --scratch 0 -o f.ph keys
  refuses "--needs: fuse cannot remove; counting, cuckoo" build --static --needs remove -o f.ph keys
  refuses "--preset: is for bloom filters" build --static --preset good -o f.ph keys
  refuses "--bytes: the size of a static filter follows from its keys" build --static --bytes 1M -o f.ph keys
  refuses "--hashes: fuse has 3 or 4" build --static --hashes 5 -o f.ph keys
  refuses "too much is given" build --static -p 0.1 --bits-per-key 8 -o f.ph keys
  refuses "fuse has no layout for this" build --static -p 1e-15 -o f.ph keys
  refuses "--static: does not apply to a set on servers" build --static --at redis://127.0.0.1/x keys
  alone keys others
}

@test "plan marks static kinds, and recommends them only on request" {
  try 0 plan -n 1M
  [[ $(grep '^  fuse ' <<<"$output") == *" static" ]] || wrong "not marked"
  [[ $(grep '^\*' <<<"$output") == "* blocked "* ]] || wrong "another kind is recommended"
  prints "see --static and --smallest"
  try 0 plan -n 1M --smallest --json
  holds '[.kinds[] | select(.recommended).kind] == ["ribbon"]'
  holds '.kinds[] | select(.kind == "ribbon") | .can == [] and .fpr <= 0.01 and .bits_per_key < 7'
  try 0 plan -n 1M --static --json
  holds '[.kinds[] | select(.recommended).kind] == ["fuse"]'
  holds '.kinds[] | select(.kind == "fuse") | .can == [] and .fpr <= 0.01 and .bits_per_key < 8 and .items == 1000000'
  try 0 plan -n 1M --needs add
  prints "fuse       cannot add"
  try 0 plan --static -p 0.001 --bytes 1MiB --json
  holds '.kinds[] | select(.kind == "fuse") | .items > 700000 and .bytes <= 1048576'
  refuses "--grow: fuse filters are static" plan --static --grow
}

@test "info tells that it is sealed" {
  "$PERHAPS" build --static -o f.ph keys
  LC_ALL=C try 0 info f.ph
  prints "f.ph: fuse, "
  prints "keys      1,000 distinct; static, so no more can be added"
  prints "] 100.0 % of the keys it was made for"
  prints "fpr       now 0.007813 (1 in 128); planned 0.007813 (1 in 128)"
  prints "can       nothing but answer: it is static"
}

@test "verify finds every key, measures the rate, and finds out damage and other keys" {
  try 0 build --static -o f.ph others
  try 0 verify f.ph --keys others --json
  holds '.keys == 100000 and .missing == 0 and .fpr_trials == 1000000'
  holds '(.fpr_measured - .fpr_target | fabs) < 3 * (.fpr_target / .fpr_trials | sqrt)'
  (cat others keys) >both
  try 2 verify f.ph --keys both
  prints "f.ph: intact"
  prints " of 101,000 found"
  prints " 1,000,000 random keys that were never added"
  [[ $stderr == *" of 101,000 keys are missing, the first on line 10000"* ]] || wrong "not told"
  printf X | dd of=f.ph bs=1 seek=5000 conv=notrunc status=none
  refuses "f.ph" verify f.ph
}

@test "check, check -v and check --confirm" {
  (cat keys others) >both
  for kind in $(kinds); do
    try 0 build -k "$kind" -f -o f.ph keys
    try 0 check --confirm keys f.ph both
    [ "$output" = "$(cat keys)" ]
    try 0 check --confirm keys -v -c -j 2 f.ph both
    [ "$output" = 100000 ]
  done
}

@test "progress on a terminal, of reading and of sealing" {
  head -c 128000000 /dev/urandom >raw # enough for one thread to be seen sealing
  export TERM=xterm P=$PERHAPS
  run script -qec "(head -c 800000 raw; sleep 0.3; cat raw) | \$P build -j 1 --smallest -p 1e-9 --key u64le -o f.ph" /dev/null
  [ "$status" -eq 0 ]
  [[ $output =~ K[0-9,]+\ keys, ]] || wrong "nothing of reading"
  [[ $output =~ %\ \[#+\.*\]\ sealing\ [0-9,]+\ of\ 16,100,000\ keys, ]] || wrong "nothing of sealing"
  [[ $output == *$'\r\033[Kf.ph: 16,100,000 keys, '* ]] || wrong "not wiped"
}
