#!/bin/sh
# tests/install/variants.sh: the library with other compilers, generators and flags. Its symbols
# must be the same, and a program that uses it must work.
set -eu
# shellcheck source=tests/install/helper.sh
. "$(dirname "$0")/helper.sh"

# variant WHERE-THE-LIBRARIES-ARE CMAKE-OPTIONS...
variant() {
  where=$folder/build/$1
  shift
  echo "$*"
  rm -rf "$folder/build"
  quietly cmake -S "$root" -B "$folder/build" -DBUILD_TESTING=OFF -DPERHAPS_CLI=OFF -DPERHAPS_SERVER=OFF -DPERHAPS_EXAMPLES=OFF \
    -DCMAKE_C_FLAGS_RELEASE=-O0 "$@"
  quietly cmake --build "$folder/build" -j "$(nproc)"
  "$root/script/check-symbols" "$where"
}
use() {
  quietly gcc -I "$root/include" "$here/consumer/consumer.c" "$where/libperhaps.a" -lm -pthread -o "$folder/use"
  "$folder/use" || fail "a program with the static library ended with $?"
}

variant . -G Ninja -DCMAKE_C_FLAGS=-flto -DCMAKE_BUILD_TYPE=Debug && use
variant . -G Ninja -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON && use
variant . -G Ninja -DCMAKE_C_COMPILER=clang -DCMAKE_C_FLAGS=-flto=thin && use
variant . -G 'Unix Makefiles' -DCMAKE_C_COMPILER=clang -DCMAKE_INTERPROCEDURAL_OPTIMIZATION_RELEASE=ON && use
variant Debug -G 'Ninja Multi-Config' && use
# Flags for programs that a relocatable object cannot take.
variant . -G Ninja -DCMAKE_UNITY_BUILD=ON '-DCMAKE_EXE_LINKER_FLAGS=-pie -Wl,--gc-sections -s -Wl,-z,defs' && use
# Packages for 32 bits on this machine do not go with those for other machines. Its headers are the
# same, except one.
if [ "$(uname -m)" = x86_64 ]; then
  mkdir -p "$folder/headers/gnu"
  touch "$folder/headers/gnu/stubs-32.h"
  variant libperhaps.a -G Ninja "-DCMAKE_C_FLAGS=-m32 -I$folder/headers -I/usr/include/$(gcc -print-multiarch)" \
    -DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY -DBUILD_SHARED_LIBS=OFF
  readelf -h "$where" | grep -q ELF32 || fail 'with -m32 the static library is not one of 32 bits'
fi

echo 'cmake . && make'
mkdir "$folder/source"
(cd "$root" && tar c --exclude=./build --exclude=./.git .) | tar x -C "$folder/source"
cd "$folder/source"
quietly cmake . -DBUILD_TESTING=OFF -DCMAKE_C_FLAGS_RELEASE=-O0
quietly make -j "$(nproc)"
