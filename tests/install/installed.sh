#!/bin/sh
# tests/install/installed.sh BUILD-FOLDER: installs the build, moves the installation, and uses it
# as others would: with CMake's find_package and with pkg-config, shared and static, from C99 and
# from C++17; with perhaps.hpp; and in a Redis server.
set -eu
# shellcheck source=tests/install/helper.sh
. "$(dirname "$0")/helper.sh"
build=$(cd "$1" && pwd)
prefix=$folder/moved

quietly cmake --install "$build" --prefix "$folder/first"
mv "$folder/first" "$prefix"
library=$prefix/$(cd "$prefix" && find lib* -name libperhaps.so)
libraries=$(dirname "$library")
version=$("$prefix/bin/perhaps" version | sed 's/[^0-9.]//g')
echo "installed version $version"

# Until 1.0 a new minor version may change the interface.
expect 'the SONAME' "$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')" "libperhaps.so.${version%.*}"
for file in "$libraries/libperhaps.so.$version" "$prefix/share/man/man1/perhaps.1" "$prefix/share/doc/perhaps/LICENSE" \
  "$prefix/share/doc/perhaps/README.md" "$prefix/share/doc/perhaps/CHANGELOG.md" "$prefix/share/doc/perhaps/docs/FORMAT.md"; do
  [ -s "$file" ] || fail "not installed: $file"
done
"$root/script/check-symbols" "$libraries"

echo 'each header alone'
warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'
# alone COMPILER LANGUAGE DIALECT...: headers that are not the system's must not warn.
alone() {
  compiler=$1 language=$2
  shift 2
  for header in perhaps.h perhaps_embed.h perhaps_trace.h perhaps_inline.h; do
    for dialect; do
      # shellcheck disable=SC2086 # a list of words
      echo "#include <$header>" | "$compiler" -std="$dialect" $warnings -fsyntax-only -I "$prefix/include" -x "$language" - ||
        fail "$header warns with $compiler -std=$dialect"
    done
  done
}
for compiler in gcc clang; do alone $compiler c c99 c11 c17; done
for compiler in g++ clang++; do alone $compiler c++ c++11 c++17 c++20; done

echo 'perhaps.hpp'
for compiler in g++ clang++; do
  for dialect in c++17 c++20; do
    for exceptions in '-fno-exceptions -fno-rtti' '' -DPERHAPS_EXCEPTIONS; do
      # shellcheck disable=SC2086 # a list of words
      quietly $compiler -std=$dialect $warnings $exceptions -I "$prefix/include" \
        "$here/consumer/wrapped.cpp" "$libraries/libperhaps.a" -lm -pthread -o "$folder/wrapped"
      "$folder/wrapped" || fail "a program with perhaps.hpp ended with $? ($compiler -std=$dialect $exceptions)"
    done
  done
done
refused 'PERHAPS_EXCEPTIONS is defined' g++ -std=c++17 -fno-exceptions -DPERHAPS_EXCEPTIONS -I "$prefix/include" -fsyntax-only \
  "$here/consumer/wrapped.cpp"

echo 'find_package'
use_package -DCMAKE_PREFIX_PATH="$prefix" -DVERSION="$version" '-DLIBRARIES=perhaps;shared;static'
use_package -DCMAKE_PREFIX_PATH="$prefix" -DLANGUAGES=CXX
readelf -d "$folder/consumer/consumer_cpp_perhaps" | grep -q "libperhaps.so.${version%.*}" || fail 'perhaps::perhaps is not shared'

echo 'pkg-config'
use_pkg_config "$libraries/pkgconfig" c c++
expect 'the version in perhaps.pc' "$(pkg-config --modversion perhaps)" "$version"
expect 'the prefix in perhaps.pc' "$(realpath "$(pkg-config --variable=prefix perhaps)")" "$(realpath "$prefix")"

echo 'a server with the installed module'
redis-server --port 0 --unixsocket "$folder/socket" --save '' --dir "$folder" --loadmodule "$libraries/perhaps/perhaps.so" \
  >"$folder/server.log" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null || :; wait $server || :; rm -rf "$folder"' EXIT
tries=0
until [ "$(redis-cli -s "$folder/socket" PING 2>/dev/null)" = PONG ]; do
  tries=$((tries + 1))
  if [ $tries -gt 100 ] || ! kill -0 $server 2>/dev/null; then
    cat "$folder/server.log" >&2
    fail 'the server did not start with the installed module; its messages are above'
  fi
  sleep 0.1
done
expect 'the answer to BF.ADD' "$(redis-cli -s "$folder/socket" BF.ADD phones 13800138000)" 1
expect 'the answer to BF.EXISTS' "$(redis-cli -s "$folder/socket" BF.EXISTS phones 13800138000)" 1
