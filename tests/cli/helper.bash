# Loaded by every test file. $PERHAPS is the program under test; each test runs in an empty folder of its own.

bats_require_minimum_version 1.5.0

: "${PERHAPS:?set PERHAPS to the program under test}"

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  unset NO_COLOR PERHAPS_ISA
  if declare -F prepare >/dev/null; then prepare; fi
}

# Fails with what came out.
wrong() {
  echo "$*"
  echo "status: $status"
  echo "stdout: $output"
  echo "stderr: ${stderr-}"
  return 1
}

# try STATUS ARGS...: runs the program and compares its exit status; $output and $stderr have what it said.
try() {
  local wanted=$1
  shift
  run --separate-stderr "$PERHAPS" "$@"
  [ "$status" -eq "$wanted" ] || wrong "perhaps $*: wanted status $wanted"
}

# says TEXT: standard error is one sentence from perhaps that contains TEXT.
says() {
  [[ $stderr == "perhaps: "* ]] || wrong "the message does not begin with the program's name"
  [[ $stderr == *"$1"* ]] || wrong "the message does not contain '$1'"
  [ "$(grep -c . <<<"$stderr")" -eq 1 ] || wrong "more than one line"
}

# refuses TEXT ARGS...: exit status 2, nothing on standard output, and a message with TEXT.
refuses() {
  local text=$1
  shift
  try 2 "$@"
  [ -z "$output" ] || wrong "output where there should be none"
  says "$text"
}

# prints TEXT: standard output contains TEXT.
prints() {
  [[ $output == *"$1"* ]] || wrong "the output does not contain '$1'"
}

# holds EXPRESSION: the JSON on standard output fulfils the jq expression.
holds() {
  jq -e "$1" <<<"$output" >/dev/null || wrong "not so: $1"
}

# ended PID: waits for a program in the background and keeps its exit status in $status.
ended() {
  status=0
  wait "$1" || status=$?
}

# No temporary file of a save is left in this folder.
nothing_left_behind() {
  local left
  left=$(find . -name '.*.tmp*' -o -name '*.tmp-*')
  [ -z "$left" ] || wrong "left behind: $left"
}
