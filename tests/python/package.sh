#!/bin/sh
# tests/python/package.sh EXTENSION: the source distribution, the wheel that is built of it, and
# what a user has who installs that in a fresh environment far from the sources. The extension uses
# only the limited API, and exports only its entrance. The stubs hold for mypy.
set -eu
extension=$1
here=$(cd "$(dirname "$0")" && pwd)
python=$PERHAPS_PYTHON
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset PYTHONPATH

fail() {
  echo "tests/python: $*" >&2
  exit 1
}

# What Python.h does not declare for the limited API of 3.11 is not in it.
check_symbols() {
  exported=$(nm -D --defined-only "$1" | awk '{ print $NF }' | grep -v '^_\(init\|fini\)$' || :)
  [ "$exported" = PyInit__perhaps ] || fail "$1 exports $exported"
  nm -D --undefined-only "$1" | awk '{ print $NF }' | grep -E '^_?Py' | sort -u >"$folder/used"
  printf '#define PY_SSIZE_T_CLEAN\n#include <Python.h>\n' | cc -E -DPy_LIMITED_API=0x030B0000 "-I$("$python" -c \
    'import sysconfig; print(sysconfig.get_path("include"))')" - | grep -oE '\b_?Py[A-Za-z_0-9]+' | sort -u >"$folder/limited"
  others=$(comm -23 "$folder/used" "$folder/limited")
  [ -z "$others" ] || fail "$1 uses what is not in the limited API: $others"
  [ "$(wc -l <"$folder/used")" -gt 40 ] || fail "$1 uses nearly nothing of Python: is it the extension?"
}

check_symbols "$extension"

# Built of copies, so that nothing is left in the repository.
mkdir -p "$folder/repository/bindings"
cp -r "$PERHAPS_SOURCE/src" "$PERHAPS_SOURCE/include" "$PERHAPS_SOURCE/LICENSE" "$folder/repository"
cp -r "$PERHAPS_SOURCE/bindings/python" "$folder/repository/bindings/python"
cd "$folder/repository/bindings/python"
# Quick to compile; how fast it is, is not looked at.
CFLAGS=-O0 "$python" -m build --no-isolation --outdir "$folder/dist" . >"$folder/log" 2>&1 || {
  cat "$folder/log"
  fail 'the build fails'
}
cd "$folder"
tar -tzf dist/perhaps-*.tar.gz >files
for file in library/src/kind/bloom/bloom.c library/include/perhaps.h library/LICENSE src/binding.h perhaps/py.typed LICENSE; do
  grep -q "/$file\$" files || [ "$file" = library/LICENSE ] || fail "the source distribution has no $file"
done
ls dist/perhaps-*-cp311-abi3-linux_*.whl >/dev/null || fail "$(ls dist) has no wheel for all versions from 3.11 on"

# In a fresh environment, and with other versions of Python where they are.
"$python" -m venv environment
environment/bin/pip install --quiet --no-index --no-deps dist/*.whl
mkdir elsewhere
cd elsewhere
../environment/bin/python -I "$here/smoke.py"
check_symbols "$(echo ../environment/lib/python3*/site-packages/perhaps/_perhaps.abi3.so)"
if [ "${PERHAPS_TEST_SIZE-}" = long ]; then
  for other in "${PYENV_ROOT-$HOME/.pyenv}"/versions/3.1[1-9]*/bin/python3 /usr/bin/python3.1[2-9]; do
    [ -x "$other" ] || continue
    echo "with $("$other" --version)"
    PYTHONPATH=$(echo "$folder"/environment/lib/python3*/site-packages) "$other" "$here/smoke.py"
  done
fi

# Types.
if "$python" -c 'import mypy' 2>/dev/null; then
  cp "$here/typed.py" .
  "$python" -m mypy --strict --python-executable ../environment/bin/python --cache-dir ../mypy typed.py ||
    fail 'mypy complains about a program that uses the package'
  if "$python" -m mypy --strict --python-executable ../environment/bin/python --cache-dir ../mypy \
    -c 'import perhaps; x: int = perhaps.Filter(10).add(1.5)' >/dev/null; then
    fail 'mypy sees no error where there is one'
  fi
  cd "$PERHAPS_SOURCE/bindings/python"
  "$python" -m mypy --strict --cache-dir "$folder/mypy-own" -p perhaps || fail 'mypy complains about the package'
fi
echo 'all good'
