#!/bin/sh
# tests/install/embedded.sh: perhaps inside another project, which keeps its settings and gets
# nothing but the library. It is built with link-time optimization, which must not show the
# library's own symbols.
set -eu
# shellcheck source=tests/install/helper.sh
. "$(dirname "$0")/helper.sh"

# embed HOW [CMAKE-OPTIONS...]: configures a project around perhaps in $folder/HOW.
embed() {
  how=$1
  shift
  quietly cmake -S "$here/consumer" -B "$folder/$how" -G Ninja -DHOW="$how" -DPERHAPS_SOURCE="$root" "$@"
}

echo 'add_subdirectory, with -flto'
embed add_subdirectory -DCMAKE_C_FLAGS=-flto '-DLIBRARIES=perhaps;shared'
build=$folder/add_subdirectory
build_and_run "$build"
"$root/script/check-symbols" "$build/perhaps/src"
if readelf -d "$build/consumer_c_perhaps" | grep -q libperhaps; then fail 'perhaps::perhaps is not static'; fi
[ ! -e "$build/compile_commands.json" ] || fail 'the project around got a compile_commands.json'
quietly cmake --install "$build" --prefix "$folder/prefix"
[ ! -e "$folder/prefix/include" ] || fail 'perhaps was installed with the project around it'

echo 'FetchContent, shared, with all but the tests'
embed FetchContent -DLANGUAGES=CXX -DBUILD_SHARED_LIBS=ON -DPERHAPS_CLI=ON -DPERHAPS_SERVER=ON -DPERHAPS_EXAMPLES=ON \
  -DPERHAPS_INSTALL=ON
if [ "${PERHAPS_TEST_SIZE-}" = long ]; then
  build=$folder/FetchContent
  build_and_run "$build"
  readelf -d "$build/consumer_cpp_perhaps" | grep -q libperhaps || fail 'perhaps::perhaps is not shared'
  quietly cmake --install "$build" --prefix "$folder/prefix"
  use_package -DCMAKE_PREFIX_PATH="$folder/prefix" -DLANGUAGES=C
fi
