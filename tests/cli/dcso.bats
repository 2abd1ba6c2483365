load helper

# The real program judges: DCSO's bloom, from Debian's golang-github-dcso-bloom-cli.
needs_bloom() {
  command -v bloom >/dev/null || skip "DCSO's bloom is not installed"
}

prepare() {
  seq 1 3 300000 >keys
  seq 1 300000 >queries
}

# header N P K M ITEMS: the 48 bytes before the bits.
header() {
  python3 -c 'import struct, sys
n, k, m, items = (int(sys.argv[i]) for i in (1, 3, 4, 5))
sys.stdout.buffer.write(struct.pack("<QQdQQQ", 1, n, float(sys.argv[2]), k, m, items))' "$@"
}

@test "files are those of bloom, byte for byte, and both answer alike" {
  needs_bloom
  bloom create -n 100000 -p 0.01 theirs.bloom
  bloom insert theirs.bloom <keys
  try 0 build -k dcso -n 100000 -p 0.01 -o ours.bloom keys
  cmp ours.bloom theirs.bloom
  try 0 check theirs.bloom queries
  bloom check ours.bloom <queries >found
  [ "$output" = "$(cat found)" ] || wrong "other answers"
  [ "$(wc -l <found)" -gt 100000 ] || wrong "no false positives at all"
}

@test "any size and rate makes the same empty file" {
  needs_bloom
  for p in 0.3 0.05 0.001 1e-7; do
    for n in 1 2 63 1000 77777; do
      bloom create -n $n -p $p theirs.bloom
      try 0 build -k dcso -n $n -p $p -f -o ours.bloom /dev/null
      cmp ours.bloom theirs.bloom
    done
  done
}

@test "many hashes, and every instruction set" {
  needs_bloom
  head -n 3000 keys >few
  head -n 6000 queries >some
  for p in 0.6 0.2 1e-12; do
    bloom create -n 3000 -p $p theirs.bloom
    bloom insert theirs.bloom <few
    for isa in scalar ""; do
      PERHAPS_ISA=$isa "$PERHAPS" build -k dcso -n 3000 -p $p -f -o ours.bloom few
      cmp ours.bloom theirs.bloom
      cmp <(PERHAPS_ISA=$isa "$PERHAPS" check ours.bloom some) <(bloom check ours.bloom <some)
    done
  done
}

@test "compressed files, both ways" {
  needs_bloom
  bloom --gzip create -n 100000 -p 0.01 theirs.gz
  bloom --gzip insert theirs.gz <keys
  try 0 build -k dcso -n 100000 -p 0.01 -o ours.gz keys
  [ "$(head -c 2 ours.gz | od -An -tx1)" = " 1f 8b" ]
  cmp <(gzip -dc ours.gz) <(gzip -dc theirs.gz)
  try 0 check -c theirs.gz queries
  [ "$output" = "$(bloom --gzip check ours.gz <queries | wc -l)" ]
  seq 400000 400010 >more
  bloom --gzip insert theirs.gz <more
  try 0 add ours.gz more
  cmp <(gzip -dc ours.gz) <(gzip -dc theirs.gz)
  nothing_left_behind
}

@test "what follows the bits is kept" {
  needs_bloom
  bloom create -n 1000 -p 0.01 a.bloom
  printf 'made on a monday' | bloom set-data a.bloom
  head -n 300 keys | bloom insert a.bloom
  head -n 600 keys | tail -n 300 >more
  try 0 build -k dcso -n 1000 -p 0.01 -o b.bloom more
  cp a.bloom theirs.bloom
  bloom insert theirs.bloom <more
  try 0 merge a.bloom b.bloom -o merged.bloom
  [ "$(bloom get-data merged.bloom)" = "made on a monday" ]
  cmp <(tail -c +49 merged.bloom) <(tail -c +49 theirs.bloom)
  try 0 add a.bloom more
  cmp a.bloom theirs.bloom
  gzip a.bloom
  try 0 add a.bloom.gz more
  cmp <(gzip -dc a.bloom.gz) theirs.bloom
}

@test "info, plan, verify and intersect" {
  head -n 1000 keys >few
  try 0 build -k dcso -n 1000 -p 0.01 -o f.bloom few
  try 0 info f.bloom
  prints "f.bloom: dcso, "
  prints "format    dcso, without checksums"
  [[ $output != *seed* && $output != *version* ]] || wrong "what the file does not have"
  try 0 info --json f.bloom
  holds '.kind == "dcso" and .capacity == 1000 and .hashes == 7 and .fpr_target == 0.01 and (has("seed") | not)'
  try 0 plan -k dcso -n 1000
  prints "* dcso "
  try 0 plan -n 1000
  [[ $output != *dcso* ]] || wrong "listed without a request"
  try 0 verify f.bloom --keys few
  prints "no checksums"
  prints "1,000 of 1,000 found"
  try 2 verify f.bloom --keys queries
  tail -n 700 few | "$PERHAPS" build -k dcso -n 1000 -p 0.01 -o g.bloom
  try 0 intersect f.bloom g.bloom -o both.bloom
  tail -n 700 few >common
  try 0 verify both.bloom --keys common
}

@test "how keys are written is said each time" {
  try 0 build -k dcso -n 100000 --key int32 -o f.bloom keys
  try 0 check -c --key int32 f.bloom keys
  [ "$output" = 100000 ]
  try 0 check -c f.bloom keys
  [ "$output" -lt 3000 ]
  refuses "cannot remember it" build -k dcso -n 1000 --ignore-case -o g.bloom keys
}

@test "dedup goes on with such a file" {
  head -n 1000 keys >few
  seq 1 2000 >more
  try 0 build -k dcso -n 10000 -p 1e-6 -o f.bloom.gz few
  try 0 dedup --state f.bloom.gz more
  [ "$(wc -l <<<"$output")" -eq $((2000 - 667)) ]
  gzip -t f.bloom.gz
  try 0 verify f.bloom.gz --keys more
}

@test "what such files cannot do is said in a sentence" {
  head -n 100 keys >few
  try 0 build -k dcso -n 100 -o f.bloom few
  refuses "leave out --in-place" add --in-place f.bloom few
  refuses "cannot remove keys" remove f.bloom few
  refuses "prescribes the hash" build -k dcso --seed 5 -n 100 -o g.bloom few
  refuses "is not a foreign format" check -k bloom f.bloom few
  refuses "name its foreign format with -k: " check few few
  run --separate-stderr bash -c 'cat few | "$0" build -k dcso -o g.bloom' "$PERHAPS"
  [ "$status" -eq 2 ]
  says "give -n"
  try 0 build -n 100 -o f.ph few
  refuses "or correct -k" check -k dcso f.ph few
  [ ! -e g.bloom ]
}

@test "a file of a gibibyte is mapped, not read" {
  command -v time >/dev/null || skip "time is not installed"
  header 896000000 0.01 7 8589934208 0 >large.bloom
  truncate -s 1G large.bloom
  echo key >few
  run --separate-stderr command time -f %M "$PERHAPS" check -c large.bloom few
  [ "$output" = 0 ]
  # A program with sanitizers takes more memory for itself.
  most=16384
  ! grep -q __asan_init "$PERHAPS" || most=131072
  [ "$(tail -n 1 <<<"$stderr")" -lt $most ] || wrong "too much memory"
}

@test "hostile files are refused, without much memory" {
  echo key >few
  header 1000 0.01 4000000000 9586 0 >k.bloom
  header 1000 0.01 7 0 0 >zero.bloom
  header 1000 0.01 7 18446744073709551615 0 >huge.bloom
  header 1000 0.01 7 4611686018427387904 0 >long.bloom
  header 1000 1.5 7 9586 0 >rate.bloom
  for f in k zero huge long rate; do
    head -c 1200 /dev/zero >>$f.bloom
    refuses "$f.bloom: as a file of dcso it has " check -k dcso $f.bloom few
    gzip -c $f.bloom >$f.gz
    refuses "$f.gz: " check -k dcso $f.gz few
  done
  header 1000 0.01 7 9586 0 >short.bloom
  for bytes in 0 1 47 48 1247; do
    (cat short.bloom && head -c 1200 /dev/zero) | head -c $bytes >cut.bloom
    refuses "cut.bloom: " check -k dcso cut.bloom few
  done
}

@test "gzip that is cut short, lies or never ends" {
  echo key >few
  head -n 1000 keys >some
  "$PERHAPS" build -k dcso -n 1000 -o f.gz some
  for bytes in 3 20 300 1000; do
    head -c $bytes f.gz >cut.gz
    try 2 check cut.gz few
    [[ $stderr == *"cut.gz: "* ]]
  done
  header 1000000000000 0.01 7 9585058377367 0 | gzip >lies.gz
  refuses "more than " check lies.gz few
  (header 1000 0.01 7 9586 0 && head -c 200000000 /dev/zero) | gzip -1 >bomb.gz
  refuses "has more than 16 MiB after its filter" check bomb.gz few
  (header 1000 0.01 7 9586 0 && head -c 100 /dev/zero) | gzip >less.gz
  refuses "less.gz: is shorter than its header says" check less.gz few
  gzip -c keys >keys.gz
  refuses "its content does not tell the format" check keys.gz few
  refuses "leave out --in-place" add --in-place f.gz few
}
