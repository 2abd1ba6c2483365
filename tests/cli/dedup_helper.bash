# Loaded by the tests of dedup.
load helper

modes=("" --exact "--fpr 1e-9" "-n 5000" "--last 1M")

# each_mode FUNCTION ARGS...: calls it for every way of remembering, with the options in $mode.
each_mode() {
  for mode in "${modes[@]}"; do
    echo "with '$mode':"
    "$@"
  done
}

# dedup ARGS...: the program in the mode that is under test.
dedup() {
  # shellcheck disable=SC2086 # two words
  "$PERHAPS" dedup $mode "$@"
}

# on_one ARGS...: the same on one processor.
on_one() {
  # shellcheck disable=SC2086 # two words
  taskset -c 0 "$PERHAPS" dedup $mode "$@"
}

# same FILE: standard input has the same bytes.
same() {
  cmp - "$1" || wrong "differs from $1"
}

# random_lines N DIFFERENT SEED: that many lines, of that many at most.
random_lines() {
  LC_ALL=C awk -v n="$1" -v d="$2" -v seed="$3" 'BEGIN { srand(seed); for (i = 0; i < n; i++) { x = int(rand() * d); print x, substr("abcdefghijklmnopqrstuvwxyz", 1, x % 27) } }'
}

first_copies() {
  LC_ALL=C awk '!seen[$0]++' "$@"
}

repeats() {
  LC_ALL=C awk 'seen[$0]++' "$@"
}
