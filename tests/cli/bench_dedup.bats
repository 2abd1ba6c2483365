# bench/dedup/run, with so few lines that it is only seen to work.
load helper

prepare() {
  run_file=$BATS_TEST_DIRNAME/../../bench/dedup/run
}

# measured ARGS...: its JSON in $output, and nothing left behind.
measured() {
  mkdir files
  run --separate-stderr "$run_file" "$@" --folder files --program "$PERHAPS" --json
  [ "$status" -eq 0 ] && [ -z "$stderr" ] || wrong "bench/dedup/run $*"
  rmdir files
}

@test "bench/dedup/run compares dedup with awk, sort and wc" {
  measured --lines 3000 --rounds 1
  holds '[.results[].program] | contains(["wc", "dedup", "exact", "awk", "sort"])'
  holds 'all(.results[]; .seconds > 0 and .peak_bytes > 0)'
  holds '[.checks[].input] | unique | length == 3'
  holds 'all(.checks[]; .value > 0 and .goal > 0)'
}

@test "bench/dedup/run memory measures eight times" {
  measured memory --lines 1000
  holds '[.results[].input] | unique | length == 6'
  holds '[.checks[].name] | contains(["dedup --fpr 1e-3, a file, MiB", "dedup --fpr 1e-3, a pipe, MiB"])'
  holds '.checks | length == 8'
}

@test "bench/dedup/run does not go on after a failure" {
  run --separate-stderr "$run_file" --lines 100 --program false
  [ "$status" -eq 2 ] || wrong "went on"
  [[ $stderr == *"dedup failed"* ]] || wrong "did not say so"
}
