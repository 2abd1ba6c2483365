#!/bin/sh
# tests/python/leaks.sh LIBRARY FOLDER: the debug interpreter counts references. The extension is
# compiled for it, since inlined counting counts for one of both only. Blocks of memory are counted
# too, in the package of FOLDER.
set -eu
library=$1
package=$2
cd "$(dirname "$0")"
python=$PERHAPS_PYTHON
if [ -x "$python-dbg" ]; then
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  python=$python-dbg
  include=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
  cp -r "$PERHAPS_SOURCE/bindings/python/perhaps" "$folder/perhaps"
  cc -std=c11 -O1 -fPIC -shared -fvisibility=hidden -D_GNU_SOURCE "-I$include" "-I$PERHAPS_SOURCE/include" \
    "$PERHAPS_SOURCE"/bindings/python/src/*.c "$library" -lm -pthread -o "$folder/perhaps/_perhaps.abi3.so"
  PYTHONPATH=$folder "$python" leaks.py
fi
PYTHONPATH=$package "$PERHAPS_PYTHON" leaks.py
