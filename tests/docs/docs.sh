#!/bin/sh
# tests/docs/docs.sh BUILD-FOLDER: does the documentation tell the truth? Every page has a folder in
# which its blocks are run, in order, with perhaps on the PATH, and build/release is the build.
#
#   ```sh         run
#   ```console    run, and the output compared (console.py); what names port 6379 needs a server:
#                 tests/server/test_docs.py runs it
#   ```python     run if it imports perhaps; test_docs.py runs the others
#   ```c, ```cpp  compiled and run; a C program that begins with its name, "/* NAME.c", is put into
#                 the folder instead, for the commands after it
#
# Blocks without a mark are pictures and output. README.md names every command, and each has its
# manual page. Its promises name tests that exist. docs/bits.svg is what the planner says today.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(cd "$1" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# What a compiler finds after an installation.
PATH=$build/cli:$PATH CPATH=$root/include LIBRARY_PATH=$build LD_LIBRARY_PATH=$build
export PATH CPATH LIBRARY_PATH LD_LIBRARY_PATH

fail() {
  echo "tests/docs: $*" >&2
  exit 1
}

# Splits a page into FOLDER/NN.sh, .console, .c, .cpp and .python.
split_blocks() {
  awk -v folder="$2" '
    /^```/ && file { close(file); file = ""; next }
    /^```(sh|console|c|cpp|python)$/ { file = sprintf("%s/%02d.%s", folder, ++count, substr($0, 4)); printf "" >file; next }
    /^```/ { file = "/dev/null"; next }
    file { print >file }' "$1"
}

# A block without main is the inside of a function, with the names that the pages use.
compile() {
  if ! grep -q 'int main(' "$1"; then
    {
      printf '#include <perhaps_embed.h>\n#include <stdio.h>\n#include <string.h>\n'
      printf 'int main(void) {\n'
      cat "$1"
      printf 'return 0;\n}\n'
    } >"$1.whole.c"
    set -- "$1" "$1.whole.c"
  fi
  gcc -std=c11 -Wall -Wextra -Werror -I "$root/include" "${2:-$1}" "$build/libperhaps.a" -lm -pthread -o "$1.out"
}

# The name that a C program begins with.
name_of() {
  sed -n '1s#^/\* \([a-z_]*\.c\)[: ].*#\1#p' "$1"
}

compile_cpp() {
  if ! grep -q 'int main(' "$1"; then
    {
      printf '#include <perhaps.hpp>\n#include <cstdio>\n#include <string>\n#include <vector>\n'
      printf 'int main() {\n'
      cat "$1"
      printf '}\n'
    } >"$1.whole.cpp"
    set -- "$1" "$1.whole.cpp"
  fi
  g++ -std=c++20 -Wall -Wextra -Werror -I "$root/include" "${2:-$1}" "$build/libperhaps.a" -lm -pthread -o "$1.out"
}

# Is the function NAME defined in FILE? Definitions begin in column 1 and have a body; a macro that
# makes functions is given their names.
defines() {
  awk -v name="$1" '
    /^[A-Za-z_]/ { head = "" }
    /^[A-Za-z_]/, /[;{]/ { head = head " " $0; gsub(/__attribute__\(\([a-z_]*\)\) /, "", head) }
    head ~ "^ [A-Z_0-9]+\\(([A-Za-z_0-9, ]*[, ])?" name "[,)]" || head ~ "^ [^=;(]*[ *]" name "\\([^;]*\\{" { found = 1; exit }
    END { exit !found }' "$2"
}

# docs/architecture.md: the file that a table names beside a function defines it.
# shellcheck disable=SC2016 # the backquotes are those of the page
sed -n 's#^| `\([a-z_0-9]*\)` | `\([a-z]*/[^`]*\)` |.*#\1 \2#p' "$root/docs/architecture.md" >"$folder/functions"
[ "$(wc -l <"$folder/functions")" -ge 50 ] || fail "docs/architecture.md names only $(wc -l <"$folder/functions") functions"
while read -r name file; do
  defines "$name" "$root/$file" || fail "docs/architecture.md: $name is not defined in $file"
done <"$folder/functions"

blocks=0
for page in "$root"/README.md "$root"/docs/*.md; do
  name=$(basename "$page" .md)
  mkdir -p "$folder/$name/blocks" "$folder/$name/here/build"
  ln -s "$build" "$folder/$name/here/build/release"
  split_blocks "$page" "$folder/$name/blocks"
  cd "$folder/$name/here"
  for block in "$folder/$name"/blocks/*; do
    [ -e "$block" ] || continue
    case $block in
    *.sh) sh -eu "$block" ;;
    *.console) grep -q 6379 "$block" || python3 "$here/console.py" "$block" ;;
    *.c) if [ -n "$(name_of "$block")" ]; then cp "$block" "$(name_of "$block")"; else compile "$block" && "$block.out"; fi ;;
    *.python)
      if grep -q '^import .*perhaps' "$block" && [ -d "$build/bindings/python/perhaps" ]; then
        PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$build/bindings/python /usr/bin/python3 "$block"
      fi
      ;;
    *.cpp) compile_cpp "$block" && "$block.out" ;;
    esac >"$folder/output" 2>&1 || {
      cat "$block" "$folder/output"
      fail "$name.md: the block above fails with the message above"
    }
    blocks=$((blocks + 1))
  done
done
[ "$blocks" -ge 4 ] || fail "only $blocks blocks found: the pages have more"
echo "$blocks blocks run"

for command in $(perhaps help --names); do
  grep -q "\`perhaps $command\`" "$root/README.md" || fail "README.md does not name the command $command"
  [ -s "$build/cli/generated/man/perhaps-$command.1" ] || fail "there is no manual page of $command"
done

# What the README promises: every sentence is followed by the tests that hold it, and there are such
# tests.
promises=$(sed -n '/^## What you can rely on/,/^## Limits/p' "$root/README.md")
known=" check-symbols $(cd "$build" && ctest -N | sed -n 's/^ *Test *#[0-9]*: //p' | tr '\n' ' ') "
[ "$(echo "$promises" | grep -c '^- \*\*.*<!-- .* -->$')" -eq "$(echo "$promises" | grep -c '^- ')" ] ||
  fail 'README.md: a promise names no test'
for test in $(echo "$promises" | sed -n 's/.*<!-- \(.*\) -->.*/\1/p'); do
  case $known in
  *" $test "*) ;;
  *) fail "README.md: there is no test called $test" ;;
  esac
done

# Every gnuplot draws a little differently: only pictures of the same one can be compared.
made_by() {
  grep -i 'produced by gnuplot' "$1"
}
perhaps plan --plot "$folder/bits.svg" >/dev/null
if [ "$(made_by "$folder/bits.svg")" = "$(made_by "$root/docs/bits.svg")" ]; then
  cmp "$folder/bits.svg" "$root/docs/bits.svg" || fail "docs/bits.svg is old; make it anew: perhaps plan -f --plot docs/bits.svg"
fi
