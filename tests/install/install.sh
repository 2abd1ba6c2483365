#!/bin/sh
# tests/install/install.sh BUILD-FOLDER: does building, embedding and installing work as people try
# it? With PERHAPS_TEST_SIZE=long in the environment also with other compilers, flags and
# generators, and on a fresh Debian.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
"$here/installed.sh" "$1"
"$here/configured.sh"
"$here/embedded.sh"
if [ "${PERHAPS_TEST_SIZE-}" = long ]; then
  "$here/variants.sh"
  "$here/fresh.sh"
fi
echo 'all good'
