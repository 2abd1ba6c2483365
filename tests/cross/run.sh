#!/bin/sh
# Builds the library for another machine and runs the tests there, under qemu's user emulation:
#
#     tests/cross/run.sh aarch64|s390x|armhf [BUILD_FOLDER]
#
# aarch64 brings NEON, s390x big-endian words, armhf 32-bit sizes. The golden files must come out
# the same on all.
set -eu

usage() {
    echo "usage: $0 aarch64|s390x|armhf [BUILD_FOLDER]" >&2
    exit 2
}

[ $# -ge 1 ] || usage
case $1 in
aarch64) triplet=aarch64-linux-gnu processor=aarch64 emulator=aarch64 ;;
s390x) triplet=s390x-linux-gnu processor=s390x emulator=s390x ;;
armhf) triplet=arm-linux-gnueabihf processor=armv7l emulator=arm ;;
*) usage ;;
esac

source=$(cd "$(dirname "$0")/../.." && pwd)
build=${2:-$source/build/cross-$1}
qemu=$(command -v "qemu-$emulator" || command -v "qemu-$emulator-static") || {
    echo "$0: qemu-$emulator is missing; install the package qemu-user" >&2
    exit 2
}
command -v "$triplet-gcc" >/dev/null || {
    echo "$0: $triplet-gcc is missing; install the package gcc-$triplet" >&2
    exit 2
}

# xxHash is used as headers only. They go to a folder of their own: the rest of /usr/include is for
# this machine.
mkdir -p "$build/xxhash"
cp /usr/include/xxhash.h /usr/include/xxh3.h "$build/xxhash/"

# What is wrong with the order of bytes or with sizes is so at any optimisation, and building would
# take most of the time.
cmake -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE='-O1 -DNDEBUG' \
    -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="$processor" -DCMAKE_C_COMPILER="$triplet-gcc" \
    -DCMAKE_CROSSCOMPILING_EMULATOR="$qemu;-L;/usr/$triplet" -DXXHASH_INCLUDE_DIR="$build/xxhash" \
    -DPERHAPS_CLI=OFF -DPERHAPS_EXAMPLES=OFF -DPERHAPS_WERROR=ON
cd "$build"
tier=${PERHAPS_TEST_SIZE:-normal}
export PERHAPS_TEST_SIZE=small
if [ "$tier" = long ]; then
    cmake --build .
    exec ctest --output-on-failure -j "$(nproc)" -E 'test_(large|rates|crash)'
fi
cmake --build . --target "tests_$1"
ctest --output-on-failure -j "$(nproc)" -L "^$1\$"
