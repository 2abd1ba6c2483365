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
  [[ $output == *$'\r\033[K' ]] || wrong "not wiped"
}

@test "progress with share and time left when the size is known" {
  head -c 4000000 /dev/zero | tr '\0' '\n' >lines
  on_terminal "\$P build -n 100 -k bloom --hashes 64 -o g.ph lines"
  prints " % [#"
  prints "s left"
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
