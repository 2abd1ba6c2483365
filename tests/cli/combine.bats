# merge and intersect.
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
  refuses "differ in seed; build both with the same -k, -n, -p (or size), --hash and --seed" merge a.ph seed.ph -o m.ph
  "$PERHAPS" build -n 1000 -p 1e-6 -k bloom -o bloom.ph b
  refuses "kind" merge a.ph bloom.ph -o m.ph
  "$PERHAPS" build -n 5000 -p 1e-6 -o large.ph b
  refuses "differ" intersect a.ph large.ph -o m.ph
  "$PERHAPS" build -n 1000 -p 1e-6 --u64 -o u64.ph b
  refuses "u64.ph: its keys are written as u64, those of a.ph as bytes" merge a.ph u64.ph -o m.ph
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
