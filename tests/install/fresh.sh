#!/bin/sh
# tests/install/fresh.sh: a new Debian machine, with what script/bootstrap run installs and nothing
# more. Takes root.
set -eu
# shellcheck source=tests/install/helper.sh
. "$(dirname "$0")/helper.sh"
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
machine=$folder/machine

echo "a fresh Debian $suite"
quietly debootstrap --variant=minbase "$suite" "$machine" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"}
cp /etc/resolv.conf "$machine/etc/"
mkdir "$machine/perhaps"
(cd "$root" && tar c --exclude=./build --exclude=./.git .) | tar x -C "$machine/perhaps"
# shellcheck disable=SC2016 # for the shell there
quietly chroot "$machine" /bin/sh -euc 'cd /perhaps
  script/bootstrap run
  cmake -S . -B build
  cmake --build build -j "$(nproc)"
  cmake --install build
  ldconfig
  echo key | perhaps build -n 1 -o /tmp/f.ph
  echo key | perhaps check /tmp/f.ph
  cc tests/install/consumer/consumer.c -lperhaps -o /tmp/app
  /tmp/app
  test -s /usr/local/share/man/man1/perhaps.1'
