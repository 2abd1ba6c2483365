#!/bin/sh
# tests/install/install.sh BUILD-FOLDER: installs the build into a temporary prefix and uses it as others would:
# with CMake's find_package and with pkg-config, shared and static, from C99 and from C++17.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
prefix=$folder/prefix

fail() {
  echo "tests/install: $*" >&2
  exit 1
}

# expect WHAT ACTUAL WANTED
expect() {
  [ "$2" = "$3" ] || fail "$1 is '$2', not '$3'"
}

cmake --install "$build" --prefix "$prefix" >"$folder/install.log"
library=$prefix/$(cd "$prefix" && find lib* -name libperhaps.so)
libraries=$(dirname "$library")
version=$("$prefix/bin/perhaps" version | sed 's/[^0-9.]//g')
echo "installed version $version"

expect 'the SONAME' "$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')" "libperhaps.so.${version%%.*}"
[ -e "$libraries/libperhaps.so.$version" ] || fail "no libperhaps.so.$version"
[ -e "$prefix/share/man/man1/perhaps.1" ] || fail 'no man page perhaps.1'
"$here/../../script/check-symbols" "$libraries"

echo 'the header alone'
for dialect in c99 c11 c17; do
  echo '#include <perhaps.h>' | gcc -std=$dialect -Wall -Wextra -pedantic -Werror -fsyntax-only -I "$prefix/include" -x c -
done
for dialect in c++11 c++17 c++20; do
  echo '#include <perhaps.h>' | g++ -std=$dialect -Wall -Wextra -pedantic -Werror -fsyntax-only -I "$prefix/include" -x c++ -
done

echo 'find_package'
cmake -S "$here/consumer" -B "$folder/cmake" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >"$folder/cmake.log"
cmake --build "$folder/cmake" >>"$folder/cmake.log" || {
  cat "$folder/cmake.log"
  fail 'building with find_package'
}
for program in consumer_c_perhaps consumer_cpp_perhaps consumer_c_static consumer_cpp_static; do
  "$folder/cmake/$program" || fail "$program ended with $?"
done

echo 'pkg-config'
export PKG_CONFIG_PATH="$libraries/pkgconfig"
expect 'the version in perhaps.pc' "$(pkg-config --modversion perhaps)" "$version"
expect 'the prefix in perhaps.pc' "$(realpath "$(pkg-config --variable=prefix perhaps)")" "$prefix"
shared=$(pkg-config --cflags --libs perhaps)
static=$(pkg-config --static --cflags --libs perhaps | sed 's/-lperhaps/-l:libperhaps.a/')
# shellcheck disable=SC2086 # lists of flags
{
  gcc -std=c99 -pedantic -Werror "$here/consumer/consumer.c" -o "$folder/c_shared" $shared
  g++ -std=c++17 -pedantic -Werror "$here/consumer/consumer.cpp" -o "$folder/cpp_shared" $shared
  gcc -std=c99 -pedantic -Werror "$here/consumer/consumer.c" -o "$folder/c_static" $static
  g++ -std=c++17 -pedantic -Werror "$here/consumer/consumer.cpp" -o "$folder/cpp_static" $static
}
for program in c_shared cpp_shared; do
  LD_LIBRARY_PATH=$libraries "$folder/$program" || fail "$program ended with $?"
done
for program in c_static cpp_static; do
  "$folder/$program" || fail "$program ended with $?"
  if readelf -d "$folder/$program" | grep -q libperhaps; then fail "$program needs libperhaps.so"; fi
done
echo 'all good'
