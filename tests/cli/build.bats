load helper

prepare() {
  seq 1 1000 >keys
}

@test "build makes a filter that has every key" {
  try 0 build -n 1000 -p 0.001 -o f.ph keys
  [ -z "$output$stderr" ]
  try 0 check -c f.ph keys
  [ "$output" = 1000 ]
  nothing_left_behind
}

@test "without -n, files are counted first" {
  seq 2001 2500 >more
  try 0 build -o f.ph keys more --json
  holds '.capacity == 1500 and .items > 1400 and .fpr_target <= 0.01 and .file == "f.ph"'
  "$PERHAPS" build -o g.ph <keys
  try 0 info g.ph --json
  holds '.capacity == 1000'
}

@test "without -n, a pipe makes a filter that grows" {
  cat keys | "$PERHAPS" build -o g.ph
  try 0 check -c g.ph keys
  [ "$output" = 1000 ]
  cat keys | "$PERHAPS" build -o h.ph - --u64
  try 0 info h.ph --json
  holds '.kind == "growing" and .key == "u64"'
  try 0 check -c h.ph keys
  [ "$output" = 1000 ]
}

@test "no keys at all make an empty filter" {
  : >nothing
  try 0 build -o f.ph nothing
  try 1 check -c f.ph keys
  [ "$output" = 0 ]
  "$PERHAPS" build -o g.ph </dev/null
  cat nothing | "$PERHAPS" build -o h.ph
  try 1 check -q h.ph keys
}

@test "empty lines are keys, and the last line may lack its end" {
  printf 'a\n\nb' >few
  try 0 build -o f.ph few --json
  holds '.capacity == 3 and .items == 3'
  printf '\n' >empty
  try 0 check -c f.ph empty
  printf 'b\n' >b
  try 0 check f.ph b
  [ "$output" = b ]
}

@test "a carriage return is part of the key" {
  printf 'a\r\n' >dos
  "$PERHAPS" build -n 100 -p 1e-6 -o f.ph dos
  printf 'a\n' >unix
  try 1 check f.ph unix
  try 0 check -c f.ph dos
}

@test "-k, --hashes, --lines, --bits-per-key, --bytes and --preset" {
  try 0 build -k bloom --hashes 4 -o a.ph keys --json
  holds '.kind == "bloom" and .hashes == 4'
  try 0 build -k blocked -p 1e-4 --lines 1 -o b.ph keys --json
  holds '.kind == "blocked" and .cache_lines == 1'
  try 0 build --bits-per-key 16 -o c.ph keys --json
  holds '.bits_per_key >= 15 and .bits_per_key <= 16.6'
  try 0 build --bytes 2KiB -o d.ph keys --json
  holds '.bytes <= 2048 and .bytes > 1900 and .capacity == 1000'
  try 0 build --bytes 2KiB -p 0.01 -o e.ph keys --json
  holds '.bytes <= 2048 and .capacity > 1000'
  try 0 build --preset fair -o g.ph keys --json
  holds '.kind == "bloom" and .hashes == 6 and .capacity == 1000'
  for f in a b c d e g; do
    try 0 check -c $f.ph keys
    [ "$output" = 1000 ]
  done
}

@test "too much or too little is told in the words of the command line" {
  refuses "give only two of -n, -p and a size" build -n 1000 -p 0.1 --bytes 2KiB -o f.ph keys
  refuses "since the keys are counted; give only two of" build -p 0.1 --bits-per-key 8 -o f.ph keys
  refuses "both fix the size" build --bytes 2KiB --bits-per-key 8 -o f.ph keys
  [ ! -e f.ph ]
}

@test "--needs picks a kind that can, or says what kinds can" {
  try 0 build --needs add,merge -o f.ph keys
  refuses "no kind can do all of that; counting and cuckoo can count; bloom, blocked" \
    build --needs count,intersect -o g.ph keys
  refuses "only bitmap can subtract; give -k bitmap, if the keys are integers" build --needs subtract -o g.ph keys
  refuses "only bitmap can do all of that" build --needs subtract,remove -o g.ph keys
  refuses "bloom cannot remove; counting, cuckoo, table" \
    build -k bloom --needs add,remove -o g.ph keys
  [ ! -e g.ph ]
}

@test "-o refuses to overwrite without -f, before any work" {
  echo precious >f.ph
  refuses "exists; give -f" build -o f.ph keys
  [ "$(cat f.ph)" = precious ]
  try 0 build -f -o f.ph keys
  try 0 verify f.ph
}

@test "-o must be given and must be possible" {
  refuses "-o" build keys
  refuses "is a directory" build -o . keys
  refuses "No such file" build -o nowhere/f.ph keys
}

@test "-o - writes the filter to standard output" {
  "$PERHAPS" build -o f.ph keys
  "$PERHAPS" build -o - keys >g.ph
  cmp f.ph g.ph
  "$PERHAPS" build -o /dev/stdout keys | cmp f.ph -
  refuses "standard output" build -o - --json keys
}

@test "-o to a device writes to it and leaves it a device" {
  try 0 build -o /dev/null keys
  [ -c /dev/null ]
  mkfifo pipe
  cat pipe >g.ph &
  "$PERHAPS" build -o pipe keys
  wait
  "$PERHAPS" build -o f.ph keys
  cmp f.ph g.ph
}

@test "--seed makes another filter" {
  "$PERHAPS" build -o f.ph keys
  try 0 build --seed 18446744073709551615 -o g.ph keys --json
  prints '"seed": 18446744073709551615'
  run ! cmp -s f.ph g.ph
  "$PERHAPS" build --seed 0 -o h.ph keys
  cmp f.ph h.ph
}

@test "--hash siphash with --hash-key" {
  head -c 16 /dev/urandom >raw
  od -An -tx1 raw | tr -d ' ' >hex
  try 0 build --hash siphash --hash-key raw -o f.ph keys
  try 0 build --hash-key hex -o g.ph keys --json
  holds '.hash == "siphash"'
  cmp f.ph g.ph
  refuses "--hash-key FILE" check f.ph keys
  try 0 check -c --hash-key hex f.ph keys
  [ "$output" = 1000 ]
  echo 00112233445566778899aabbccddeeff >other
  refuses "another hash key" check --hash-key other f.ph keys
  "$PERHAPS" build -o plain.ph keys
  try 0 check -c --hash-key raw plain.ph keys
  says "plain.ph: warning: uses xxh3; --hash-key has no effect"
  try 0 info --hash-key raw f.ph
  [ -z "$stderr" ] || wrong "a warning"
  try 0 verify --hash-key raw f.ph
  try 0 merge --hash-key raw f.ph g.ph -o m.ph
  try 0 add --hash-key raw f.ph keys
}

@test "siphash needs a key: given, or random and kept in the file" {
  refuses "--hash-key FILE, or --key-in-file" build --hash siphash -o f.ph keys
  [ ! -e f.ph ]
  try 0 build --hash siphash --key-in-file -o f.ph keys
  try 0 check -c f.ph keys
  [ "$output" = 1000 ]
  try 0 build --hash siphash --key-in-file -o g.ph keys
  run ! cmp -s f.ph g.ph
}

@test "hash options that contradict one another are refused" {
  echo 00112233445566778899aabbccddeeff >key
  refuses "xxh3 takes no key" build --hash xxh3 --hash-key key -o f.ph keys
  refuses "xxh3 takes no key" build --key-in-file -o f.ph keys
  refuses "siphash takes --hash-key" build --hash siphash --seed 3 --hash-key key -o f.ph keys
  refuses "16 bytes or 32 hexadecimal digits" build --hash-key keys -o f.ph keys
  refuses "cannot be read" build --hash-key absent -o f.ph keys
  refuses "choose from: xxh3 siphash" build --hash md5 -o f.ph keys
}

@test "-n too small: everything is found, and a warning tells the live rate and the remedy" {
  try 0 build -n 10 -o f.ph keys
  says "f.ph: warning: got 1,000 keys but was made for 10; its false-positive rate is now"
  [[ $stderr == *". Rebuild it with -n 1000" ]] || wrong "another number"
  try 0 check -c f.ph keys
  [ "$output" = 1000 ]
}
