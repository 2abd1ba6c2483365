# Read by the scripts beside it: a temporary folder, and how to complain.
# shellcheck shell=sh
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck disable=SC2034 # for whoever reads this
root=$(cd "$here/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
unset CMAKE_GENERATOR DESTDIR # each test says what it wants

fail() {
  echo "tests/install: $*" >&2
  exit 1
}

# expect WHAT ACTUAL WANTED
expect() {
  [ "$2" = "$3" ] || fail "$1 is '$2', not '$3'"
}

# quietly COMMAND...: shows what it printed only if it fails. Its output is in $folder/log.
quietly() {
  "$@" >"$folder/log" 2>&1 || {
    tail -n 100 "$folder/log" >&2
    fail "this failed, with the messages above: $*"
  }
}

# refused PATTERN COMMAND...: the command fails, and says PATTERN. Lines are joined, since CMake
# breaks them.
refused() {
  pattern=$1
  shift
  if "$@" >"$folder/log" 2>&1; then fail "this should have failed: $*"; fi
  tr -s '\n ' ' ' <"$folder/log" | grep -q "$pattern" || {
    cat "$folder/log" >&2
    fail "the messages above do not say '$pattern': $*"
  }
}

# use_package CMAKE-OPTIONS...: builds and runs the programs of consumer/ with find_package.
use_package() {
  rm -rf "$folder/consumer"
  quietly cmake -S "$here/consumer" -B "$folder/consumer" -G Ninja "$@"
  build_and_run "$folder/consumer"
}

# build_and_run BUILD-FOLDER: of consumer/
build_and_run() {
  quietly cmake --build "$1"
  for program in "$1"/consumer_*; do
    "$program" || fail "$program ended with $?"
  done
}

# use_pkg_config FOLDER-OF-PC [c|c++]...: builds and runs the programs with pkg-config, shared and
# static as far as installed.
use_pkg_config() {
  pc=$1
  shift
  libraries=$(dirname "$pc")
  for language in "${@:-c}"; do
    case $language in
    c) compile="gcc -std=c99 -pedantic -Werror $here/consumer/consumer.c" ;;
    c++) compile="g++ -std=c++17 -pedantic -Werror $here/consumer/consumer.cpp" ;;
    esac
    # shellcheck disable=SC2046,SC2086 # lists of words
    PKG_CONFIG_PATH=$pc && export PKG_CONFIG_PATH &&
      quietly $compile -o "$folder/linked" $(pkg-config --cflags --libs perhaps) &&
      quietly $compile -o "$folder/linked_static" $(pkg-config --static --cflags --libs perhaps |
        if [ -e "$libraries/libperhaps.a" ]; then sed 's/-lperhaps/-l:libperhaps.a/'; else cat; fi)
    for program in linked linked_static; do
      LD_LIBRARY_PATH=$libraries "$folder/$program" || fail "$program ended with $?"
    done
    if [ -e "$libraries/libperhaps.a" ] && readelf -d "$folder/linked_static" | grep -q libperhaps; then
      fail "a program linked with pkg-config --static needs libperhaps.so"
    fi
  done
}
