# What changes on a terminal: progress, colours, refusing to print a filter. script(1) makes the
# terminal.
load helper

prepare() {
  seq 1 1000 >keys
  "$PERHAPS" build -n 1000 -o f.ph keys
  export TERM=xterm P=$PERHAPS
}

# on_terminal COMMAND: its output, as a terminal would have got it.
on_terminal() {
  run script -qec "$1" /dev/null
}

slow='(seq 5000; sleep 0.5; seq 5000; sleep 0.5; seq 5000)'

@test "progress on a terminal: keys and rate, wiped at the end" {
  on_terminal "$slow | \$P build -n 20000 -f -o g.ph"
  [ "$status" -eq 0 ]
  [[ $output =~ [0-9],[0-9][0-9][0-9]\ keys,\ [0-9.]+\ k\ keys/s ]] || wrong "no progress"
  [[ $output == *$'\r\033[Kg.ph: 15,000 keys, '* ]] || wrong "not wiped"
  on_terminal "$slow | \$P build -q -n 20000 -f -o g.ph"
  [ "$status" -eq 0 ]
  [ -z "$output" ] || wrong "not quiet"
}

# ends_with PATTERN COMMAND: on a terminal its last line is like this, with a time after it; in a
# pipe and with -q it prints nothing.
ends_with() {
  cp f.ph g.ph
  on_terminal "$2"
  [[ ${lines[-1]} =~ ^$1,\ [0-9.]+\ s.?$ ]] || wrong "another last line than '$1'"
  for way in "$2 -q" "$2 2>&1 | cat"; do
    cp f.ph g.ph
    on_terminal "$way"
    [ -z "$output" ] || wrong "not quiet: $way"
  done
}

@test "commands that write a filter end with a line about it on a terminal" {
  seq 2000 2099 >more
  echo 7 >seven
  local size='[0-9.]+ [KM]iB' odds='1 in [0-9,]+'
  "$PERHAPS" build -f -n 5000 -o f.ph keys
  ends_with "h.ph: 1,000 keys, $size, $odds" "\$P build -f -n 1000 -o h.ph keys"
  ends_with "standard output: 1,000 keys, $size, $odds" "\$P build -n 1000 -o - keys >h.ph"
  ends_with "h.ph: 1,000 keys, [0-9]+ bytes, exact" "\$P build -f -k bitmap -o h.ph keys"
  ends_with "g.ph: 100 keys added, $size, $odds" "\$P add g.ph --in-place more"
  ends_with "h.ph: [0-9,]+ keys, $size, $odds" "\$P merge f.ph g.ph -f -o h.ph"
  "$PERHAPS" build -f --needs remove -n 5000 -o f.ph keys
  ends_with "g.ph: 1 key removed, $size, $odds" "\$P remove g.ph seven"
  on_terminal "\$P build --json -f -o h.ph keys 2>&1 >/dev/null"
  [ -z "$output" ] || wrong "told twice"
}

@test "progress with share and time left when the size is known" {
  head -c 4000000 /dev/zero | tr '\0' '\n' >lines
  on_terminal "\$P build -n 100 -k bloom --hashes 64 -o g.ph lines"
  prints " % [#"
  prints "s left"
}

@test "progress of compressed files has a share of the compressed bytes" {
  for program in gzip zstd; do
    seq 8000000 >lines
    [ $program = gzip ] && suffix=gz || suffix=zst
    $program -1 -c lines >"lines.$suffix"
    on_terminal "\$P build -n 8000000 -k bloom --hashes 64 -f -o g.ph lines.$suffix"
    [[ $output =~ ([0-9]+)\ %\ \[# ]] || wrong "no share"
    prints "s left"
    [[ $output != *" 10"[1-9]" % "* ]] || wrong "more than all"
  done
}

@test "no progress in pipes and files" {
  run --separate-stderr bash -c "$slow | \$P build -n 20000 -f -o g.ph"
  [ "$status" -eq 0 ]
  [ -z "$output$stderr" ] || wrong "not silent"
}

@test "errors are coloured on a terminal, but not under NO_COLOR or TERM=dumb" {
  on_terminal "\$P info absent"
  prints $'\033[1;31mperhaps:\033[0m'
  on_terminal "NO_COLOR=1 \$P info absent"
  prints "perhaps: absent"
  [[ $output != *$'\033'* ]] || wrong "coloured"
  on_terminal "TERM=dumb \$P info absent"
  [[ $output != *$'\033'* ]] || wrong "coloured"
  on_terminal "NO_COLOR= \$P info absent"
  prints $'\033['
}

@test "the recommended kind is coloured on a terminal only" {
  on_terminal "\$P plan -n 1000"
  prints $'\033[1;32m*'
  on_terminal "NO_COLOR=1 \$P plan -n 1000"
  [[ $output != *$'\033'* ]] || wrong "coloured"
  on_terminal "\$P plan -n 1000 | cat"
  [[ $output != *$'\033'* ]] || wrong "coloured"
}

@test "info's bar of a filter with more keys than it is made for is red on a terminal only" {
  "$PERHAPS" build -n 500 -k bloom -o over.ph keys 2>/dev/null
  on_terminal "LC_ALL=C \$P info over.ph"
  prints $'[\033[1;31m####'
  on_terminal "LC_ALL=C \$P info f.ph"
  [[ $output != *$'\033'* ]] || wrong "coloured, although it holds what it should"
  on_terminal "NO_COLOR=1 \$P info over.ph"
  [[ $output != *$'\033'* ]] || wrong "coloured"
  on_terminal "\$P info over.ph | cat"
  [[ $output != *$'\033'* ]] || wrong "coloured"
}

@test "a filter is not written to a terminal" {
  on_terminal "\$P build -o - keys"
  [ "$status" -eq 2 ]
  prints "terminal"
}

@test "reading keys from a terminal says so" {
  run bash -c "printf '5\n\004' | script -qec '\$P check f.ph' /dev/null"
  prints "Ctrl-D"
}

@test "no progress between keys that are printed to the terminal" {
  on_terminal "$slow | \$P check f.ph"
  prints "1000"
  [[ $output != *"keys/s"* ]] || wrong "progress among the keys"
}
