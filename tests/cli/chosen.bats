# Lines that someone chose so that their digests share their places in a table: none is lost, and
# none stops the rest.
load dedup_helper

chosen() {
  /usr/bin/python3 "$BATS_TEST_DIRNAME/chosen_lines.py" "$1"
}

# seed_of FILE
seed_of() {
  "$PERHAPS" info --json "$1" | sed -n 's/.*"seed": \([0-9]*\).*/\1/p'
}

dedup_of_chosen() {
  dedup mixed | same firsts
  dedup -d mixed | same repeated
  cat mixed | dedup | same firsts
  dedup --seed 0 mixed | same firsts
  dedup --seed 0 -d mixed | same repeated
  cat mixed | dedup --seed 0 | same firsts
  on_one --seed 0 mixed | same firsts
}

@test "dedup of 20 chosen lines among others" {
  random_lines 3000 1000 1 >others
  chosen 20 >bad
  head -n 1500 others | cat - bad <(tail -n 1500 others) bad >mixed
  first_copies mixed >firsts
  repeats mixed >repeated
  each_mode dedup_of_chosen
}

@test "dedup of thousands of chosen lines, before and after the table becomes shards" {
  random_lines 200000 400000 2 >others
  chosen 3000 >bad
  cat bad others <(tail -n 1000 bad) <(chosen 4000) others >mixed
  first_copies mixed >firsts
  for mode in "" --exact; do
    dedup --seed 0 mixed | same firsts
    dedup mixed | same firsts
  done
}

@test "what is printed does not depend on the seed" {
  random_lines 50000 20000 3 >lines
  first_copies lines >firsts
  for seed in 0 1 7 18446744073709551615; do
    for mode in "" --exact "-n 5000" "--last 1M" "--state s$seed.ph"; do
      dedup --seed $seed lines | same firsts
    done
  done
}

@test "states with chosen lines, in several runs" {
  chosen 3000 >bad
  for seed in "" "--seed 0"; do
    rm -f s.ph
    # shellcheck disable=SC2086 # two words
    head -n 1000 bad | "$PERHAPS" dedup --state s.ph $seed | same <(head -n 1000 bad)
    "$PERHAPS" dedup --state s.ph bad | same <(tail -n 2000 bad)
    "$PERHAPS" dedup --state s.ph bad | same /dev/null
    "$PERHAPS" check -v s.ph bad | same /dev/null
    "$PERHAPS" verify s.ph --keys bad
  done
}

@test "a new state has a random seed and keeps it; --seed makes states that can be merged" {
  printf 'a\nb\n' >ab
  for state in one two; do "$PERHAPS" dedup --state $state.ph ab; done
  [ "$(seed_of one.ph)" != "$(seed_of two.ph)" ]
  before=$(seed_of one.ph)
  "$PERHAPS" dedup --state one.ph ab | same /dev/null
  [ "$(seed_of one.ph)" = "$before" ]
  refuses "--seed" merge one.ph two.ph -o both.ph
  for state in three four; do printf '%s\n' $state | "$PERHAPS" dedup --state $state.ph --seed 5; done
  [ "$(seed_of three.ph)" = 5 ]
  "$PERHAPS" merge three.ph four.ph -o both.ph
  [ "$(printf 'three\nfour\nfive\n' | "$PERHAPS" check -c both.ph)" = 2 ]
  "$PERHAPS" build -o built.ph ab
  [ "$(seed_of built.ph)" = 0 ]
}

@test "tables of chosen lines: build, add, remove, merge, list" {
  chosen 2000 >bad
  random_lines 5000 100000 4 | sort -u >others
  cat bad others >all
  for kind in "-k table" "-k table --shards 4" "-k table -n 10"; do
    rm -f ./*.ph
    # shellcheck disable=SC2086 # several words
    "$PERHAPS" build $kind -o t.ph all
    "$PERHAPS" verify t.ph --keys all
    [ "$("$PERHAPS" check -c t.ph all)" -eq "$(wc -l <all)" ]
    [ "$("$PERHAPS" list t.ph | sort -u | wc -l)" -eq "$(wc -l <all)" ]
    "$PERHAPS" remove t.ph <(head -n 1000 bad)
    "$PERHAPS" check -v t.ph all | same <(head -n 1000 bad)
    # shellcheck disable=SC2086 # several words
    "$PERHAPS" build $kind -o u.ph <(head -n 1000 bad)
    "$PERHAPS" merge t.ph u.ph -o both.ph
    "$PERHAPS" check -v both.ph all | same /dev/null
  done
  # Sixteen share two buckets; a table that may not grow has no room for a seventeenth, and says so.
  refuses "f.ph: full at bad:17 (16 of 2,000 keys added). No file was changed. Too many keys share their places. Rebuild it without --no-grow, or with --hash siphash." \
    build -k table --no-grow -n 10000 -o f.ph bad
  [ ! -e f.ph ]
}
