# What the tests of --at have in common.
load helper

prepare() {
  "$PERHAPS" info --at x 2>&1 | grep -q 'without hiredis' && skip "built without hiredis"
  command -v redis-server redis-cli >/dev/null || skip "redis-server is not installed"
  unset REDISCLI_AUTH
  seq 1 2000 >keys
  seq 1901 2100 >queries
}

teardown() {
  stop_servers
}

plain_server() {
  start_server "$@"
  at=redis+bits://127.0.0.1:$port/set
}

module_server() {
  [ -e "${PERHAPS_MODULE-}" ] || skip "the module is not built"
  start_server --loadmodule "$PERHAPS_MODULE" "$@"
  at=redis://127.0.0.1:$port/set
}

redis() {
  redis-cli -p "$port" "$@"
}
