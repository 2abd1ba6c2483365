# What every kind of filter must do on the command line, and what a full one says.
load helper

# All kinds to which keys can be added; those that hash them are in the plan.
hashing=$("$PERHAPS" plan --json -n 1000 | jq -r '.kinds[] | select(.can | index("add")).kind')
kinds="$hashing bitmap"

prepare() {
  seq 1 1000 >keys
  seq 1001 1500 >more
}

@test "every kind is built, queried, added to, described, verified and merged" {
  for kind in $kinds; do
    try 0 build -k $kind -n 2000 -p 1e-6 -o f.ph keys --json
    holds ".kind == \"$kind\" and .items == 1000 and .capacity == 2000"
    holds 'has("loss") and has("stuck") and has("stashed") and (.grow | . == "default") and (.can | index("add"))'
    try 0 check -c f.ph keys
    [ "$output" = 1000 ] || wrong "$kind"
    try 0 add f.ph more --json
    holds '.keys == 500 and .new == 500 and .items == 1500'
    try 0 check -c f.ph keys more
    [ "$output" = 1500 ] || wrong "$kind"
    try 0 info f.ph
    prints "f.ph: $kind, "
    try 0 verify f.ph --keys more --json
    holds '.missing == 0 and .fpr_measured < 0.0001'
    "$PERHAPS" build -k $kind -n 2000 -p 1e-6 -o g.ph more
    try 0 merge f.ph g.ph -o m.ph
    try 0 check -c m.ph keys more
    [ "$output" = 1500 ] || wrong "$kind"
    rm ./*.ph
  done
}

@test "every kind takes siphash, except the one that does not hash" {
  echo 00112233445566778899aabbccddeeff >key
  for kind in $hashing; do
    "$PERHAPS" build -k $kind --hash-key key -o $kind.ph keys
    try 0 check -c --hash-key key $kind.ph keys
    [ "$output" = 1000 ]
  done
  try 0 remove --hash-key key cuckoo.ph keys
  refuses "--hash-key: a bitmap" build -k bitmap --hash-key key -o b.ph keys
}

@test "--needs chooses by itself" {
  try 0 build --needs remove -o a.ph keys --json
  holds '.kind == "cuckoo"'
  try 0 build --needs remove,in-place -o b.ph keys --json
  holds '.kind == "counting"'
  try 0 build --needs list -o c.ph keys --json
  holds '.kind == "table"'
  try 0 build --needs grow,remove -o d.ph keys --json
  holds '.kind == "table"'
  try 0 build --needs in-place,intersect -o e.ph keys --json
  holds '.kind == "blocked"'
}

@test "a pipe gives the same filter as a file; without -n, one with the same keys" {
  cat keys more >all
  for kind in $kinds; do
    "$PERHAPS" build -k $kind -n 2000 -o file.ph keys more
    cat all | "$PERHAPS" build -k $kind -n 2000 -o pipe.ph
    cmp file.ph pipe.ph || wrong "$kind"
    cat all | "$PERHAPS" build -k $kind -f -o pipe.ph
    try 0 verify pipe.ph --keys all
    rm ./*.ph
  done
}

@test "a full cuckoo filter refuses the rest, and names the -n to give" {
  refuses "full.ph: full at keys:" build -k cuckoo -n 100 -o full.ph keys
  [[ $stderr == *" of 1,000 keys added). No file was changed. Rebuild it with -n 1000." ]]
  [ ! -e full.ph ]
  run --separate-stderr bash -c 'cat keys | "$0" build -k cuckoo -n 100 -o full.ph' "$PERHAPS"
  [ "$status" -eq 2 ]
  says "full at standard input:"
  says " of 1,000 keys added). No file was changed. Rebuild it with -n 1000."
  try 0 build -k cuckoo -n 1000 -o full.ph keys
  cp full.ph before
  refuses "full.ph: full at more:" add full.ph more
  [[ $stderr == *"Rebuild it with -n 1500." ]] || wrong "another number"
  cmp full.ph before
  nothing_left_behind
}

@test "--preset, --hashes and --bytes, where kinds have them" {
  refuses "is for bloom filters" build -k cuckoo --preset fair -o f.ph keys
  refuses "cuckoo has 4, 5, 6 or 8" build -k cuckoo --hashes 7 -o f.ph keys
  refuses "table has one layout" build -k table --hashes 5 -o f.ph keys
  try 0 build -k counting --hashes 5 -o a.ph keys --json
  holds '.hashes == 5'
  try 0 build -k cuckoo --hashes 6 -o b.ph keys --json
  holds '.hashes == 6'
  try 0 build -k cuckoo --hashes 5 -o five.ph keys --json
  holds '.hashes == 5'
  try 0 build -k table --bits-per-key 100 -o t.ph keys --json
  holds '.capacity == 1000 and .bits_per_key > 90 and .bits_per_key <= 100'
  try 0 build -k table --bytes 1MiB -n 5000 -p 0.01 -o u.ph keys --json
  holds '.capacity == 5000 and .bytes > 1000000'
  try 0 build -k bitmap --bytes 1MiB -n 5000 -p 1e-30 -o v.ph keys --json
  holds '.capacity == 5000'
  refuses "below items/2^64" build -k table -p 1e-30 -o w.ph keys
  try 0 build -k table --bytes 64KiB -o c.ph keys --json
  holds '.bytes <= 65536 and .capacity > 5000'
  try 0 build -k bitmap --bytes 64KiB -o d.ph keys --json
  holds '.bytes == 65536 and .capacity == 524288'
}
