# Loaded by every test file. $PERHAPS is the program under test; each test runs in an empty folder
# of its own.

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

# try STATUS ARGS...: runs the program and compares its exit status; $output and $stderr have what
# it said.
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

# -- Servers: redis-server on free ports of 127.0.0.1, each with a folder of its own. --

# start_server [ARGS...]: starts one and sets $port.
start_server() {
  local folder
  for _ in {1..20}; do
    port=$((20000 + RANDOM % 12000))
    folder=$BATS_TEST_TMPDIR/server-$port
    [ ! -e "$folder" ] && run_server "$port" "$@" && return 0
  done
  echo "no server would start"
  return 1
}

# sanitizers_of MODULE: the libraries that it was built to run with, and that a server has not.
sanitizers_of() {
  ldd "$1" | awk '/lib(a|ub)san/ { print $3 }' | paste -sd:
}

# run_server PORT [ARGS...]: starts one on this port, in the folder that it had before if there is
# one.
run_server() {
  local number=$1 folder=$BATS_TEST_TMPDIR/server-$1 sanitizers=
  shift
  [[ $* != *--loadmodule* ]] || sanitizers=$(sanitizers_of "$PERHAPS_MODULE")
  mkdir -p "$folder"
  rm -f "$folder/log" # of the last time, which says that it is ready
  LD_PRELOAD=$sanitizers ASAN_OPTIONS=detect_leaks=0 redis-server --port "$number" --bind 127.0.0.1 --dir "$folder" --save '' --daemonize no "$@" \
    >"$folder/log" 2>&1 3>&- 4>&- &
  echo $! >"$folder/pid"
  disown
  for _ in {1..100}; do
    grep -qs 'Ready to accept connections' "$folder/log" && return 0
    kill -0 "$(cat "$folder/pid")" 2>/dev/null || break
    sleep 0.05
  done
  stop_server "$number"
  return 1
}

# stop_server PORT: as a crash would.
stop_server() {
  local pid
  pid=$(cat "$BATS_TEST_TMPDIR/server-$1/pid") || return 0
  kill -9 "$pid" 2>/dev/null || true
  while kill -0 "$pid" 2>/dev/null; do sleep 0.01; done
}

# For teardown: every server of this test.
stop_servers() {
  local folder
  for folder in "$BATS_TEST_TMPDIR"/server-*/; do
    [ -e "$folder/pid" ] && stop_server "$(basename "$folder" | tr -dc 0-9)"
  done
  return 0
}

# start_cluster [ARGS...]: three primaries, $ports, each with a third of the slots.
start_cluster() {
  local i first=(0 5461 10923) last=(5460 10922 16383)
  ports=()
  for i in 0 1 2; do
    start_server --cluster-enabled yes --cluster-node-timeout 2000 "$@" || return 1
    ports+=("$port")
    redis-cli -p "$port" cluster addslotsrange "${first[i]}" "${last[i]}" >/dev/null
    redis-cli -p "$port" cluster set-config-epoch $((i + 1)) >/dev/null
    redis-cli -p "$port" cluster meet 127.0.0.1 "${ports[0]}" >/dev/null
  done
  for i in {1..200}; do
    [ "$(for port in "${ports[@]}"; do redis-cli -p "$port" cluster info; done | grep -cE 'cluster_state:ok|cluster_known_nodes:3')" = 6 ] && return 0
    sleep 0.05
  done
  echo "no cluster would form"
  return 1
}
