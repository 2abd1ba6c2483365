#!/bin/sh
# tests/install/configured.sh: the first thing that people type, in a folder whose name has spaces,
# with CMake's default generator and without cmocka; what each option installs; and what is said
# where a package is missing.
set -eu
# shellcheck source=tests/install/helper.sh
. "$(dirname "$0")/helper.sh"

source="$folder/a path with spaces"
mkdir "$source"
(cd "$root" && tar c --exclude=./build --exclude=./.git .) | tar x -C "$source"
build=$source/build
configure() {
  cmake -S "$source" -B "$build" "$@"
}
list() {
  (cd "$1" && find . ! -type d | sort)
}

echo 'the default generator, without cmocka'
quietly configure -DCMOCKA_LIBRARY=OFF -DCMAKE_C_FLAGS_RELEASE=-O0
grep -q 'Tests: left out.*libcmocka-dev' "$folder/log" || fail 'nothing is said of the tests that are left out'
[ -e "$build/Makefile" ] || fail "the default generator is not CMake's"
quietly cmake --build "$build" -j "$(nproc)"
expect 'the build type' "$(sed -n 's/^CMAKE_BUILD_TYPE:.*=//p' "$build/CMakeCache.txt")" Release
"$root/script/check-symbols" "$build"
quietly configure # once more, as after a change of CMakeLists.txt

echo 'a changed source changes both libraries'
echo 'int perhaps_new_symbol(void); int perhaps_new_symbol(void) { return 1; }' >>"$source/src/api/shape.c"
sed -i 's/^int perhaps_new/__attribute__((visibility("default"))) &/' "$source/src/api/shape.c"
quietly cmake --build "$build" -j "$(nproc)"
for library in "$build/libperhaps.so" "$build/libperhaps.a"; do
  nm "$library" | grep -q ' T perhaps_new_symbol' || fail "$library was not made anew"
done

echo 'missing packages'
refuse() {
  pattern=$1
  shift
  refused "$pattern" cmake -S "$source" -B "$folder/refused" -DPERHAPS_EXAMPLES=OFF "$@"
}
refuse 'cmocka was not found. Install libcmocka-dev' -DBUILD_TESTING=ON -DCMOCKA_LIBRARY=OFF
refuse 'PERHAPS_HIREDIS is on.* Install libhiredis-dev' -DPERHAPS_HIREDIS=ON -DHIREDIS_LIBRARY=OFF
refuse 'PERHAPS_ROARING is on.* Install libroaring-dev' -DPERHAPS_HIREDIS=OFF -DPERHAPS_ROARING=ON -DROARING_LIBRARY=OFF
refuse 'PERHAPS_BOOST is on.* Install libboost-dev' -DPERHAPS_ROARING=OFF -DPERHAPS_BOOST=ON -DBOOST_BLOOM_INCLUDE_DIR=OFF
refuse 'PERHAPS_MAN is on.* Install scdoc' -DPERHAPS_BOOST=OFF -DPERHAPS_MAN=ON -DSCDOC=OFF
refuse 'needs the header xxhash.h.* Install libxxhash-dev' -DXXHASH_INCLUDE_DIR=OFF

echo 'components'
components='library development tools module documentation'
for component in $components; do
  quietly cmake --install "$build" --prefix "$folder/components" --component "$component"
  list "$folder/components" >"$folder/$component.list"
  rm -rf "$folder/components"
done
quietly cmake --install "$build" --prefix "$folder/all"
(cd "$folder" && for component in $components; do cat "$component.list"; done) | sort >"$folder/parts"
list "$folder/all" | diff - "$folder/parts" || fail 'the components are not the whole installation, each file once'
version=$("$build/cli/perhaps" version | sed 's/[^0-9.]//g')
expect 'what the component library has' "$(sed 's/.*libperhaps/libperhaps/' "$folder/library.list" | tr '\n' ' ')" \
  "libperhaps.so.${version%.*} libperhaps.so.$version "

echo 'one library alone'
for shared in ON OFF; do
  quietly configure -DBUILD_SHARED_LIBS=$shared
  quietly cmake --install "$build" --prefix "$folder/$shared"
  use_package -DCMAKE_PREFIX_PATH="$folder/$shared" -DLANGUAGES=C
  use_pkg_config "$folder/$shared/lib/pkgconfig"
done
[ ! -e "$folder/ON/lib/libperhaps.a" ] || fail 'BUILD_SHARED_LIBS=ON installs a static library'
[ ! -e "$folder/OFF/lib/libperhaps.so" ] || fail 'BUILD_SHARED_LIBS=OFF installs a shared library'
refused "the library 'static' is not installed" \
  cmake -S "$here/consumer" -B "$folder/refused2" -G Ninja -DCMAKE_PREFIX_PATH="$folder/ON" -DCOMPONENTS=static -DLANGUAGES=C
quietly configure -UBUILD_SHARED_LIBS

echo 'absolute folders, inside and outside of the prefix'
for place in inside elsewhere; do
  at=$folder/$place
  quietly configure -DCMAKE_INSTALL_PREFIX="$folder/inside" -DCMAKE_INSTALL_LIBDIR="$at/lib/deep" -DCMAKE_INSTALL_INCLUDEDIR="$at/headers"
  quietly cmake --install "$build"
  use_package -Dperhaps_DIR="$at/lib/deep/cmake/perhaps" -DLANGUAGES=C
  use_pkg_config "$at/lib/deep/pkgconfig"
done
rm -r "$folder/elsewhere" # CMake does not install what seems to be as old as what is there
quietly configure -DCMAKE_INSTALL_INCLUDEDIR=include # only the libraries are elsewhere
quietly cmake --install "$build"
use_package -Dperhaps_DIR="$folder/elsewhere/lib/deep/cmake/perhaps" -DLANGUAGES=C
use_pkg_config "$folder/elsewhere/lib/deep/pkgconfig"

echo 'a staged installation, without hiredis, libroaring and scdoc'
quietly configure -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_INSTALL_LIBDIR=lib/machine \
  -DPERHAPS_HIREDIS=OFF -DPERHAPS_ROARING=OFF -DPERHAPS_MAN=OFF
quietly cmake --build "$build" -j "$(nproc)"
quietly env DESTDIR="$folder/stage" cmake --install "$build"
use_package -Dperhaps_DIR="$folder/stage/usr/lib/machine/cmake/perhaps" -DLANGUAGES=C
use_pkg_config "$folder/stage/usr/lib/machine/pkgconfig"
PKG_CONFIG_SYSROOT_DIR=$folder/stage
export PKG_CONFIG_SYSROOT_DIR
use_pkg_config "$folder/stage/usr/lib/machine/pkgconfig"
if readelf -d "$folder/stage/usr/bin/perhaps" | grep -qE 'hiredis|roaring|RPATH|RUNPATH'; then fail 'perhaps links more than was configured'; fi
[ ! -e "$folder/stage/usr/share/man" ] || fail 'PERHAPS_MAN=OFF installs manual pages'
