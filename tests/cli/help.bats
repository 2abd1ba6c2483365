# help, manual pages and completions: all from one table.
load helper

@test "help lists every command, and explains each" {
  try 0 help
  overview=$output
  for command in $("$PERHAPS" help --names); do
    grep -q "^  $command " <<<"$overview" || wrong "$command is not listed"
    try 0 help "$command"
    prints "Usage: perhaps $command"
    explained=$output
    try 0 "$command" --help
    [ "$output" = "$explained" ]
  done
  try 0 --help
  [ "$output" = "$overview" ]
  refuses "no such command" help nonsense
}

@test "-h is on one screen: at most 40 lines, with the usage, options, two examples and where the rest is" {
  for command in $("$PERHAPS" help --names); do
    try 0 "$command" -h
    [ "$(wc -l <<<"$output")" -le 40 ] || wrong "more than 40 lines"
    prints "Usage: perhaps $command"
    prints $'\nOptions:\n  '
    [ "$(sed -n '/^Examples:/,/^$/p' <<<"$output" | grep -cE '^  [^#]')" -eq 2 ] || wrong "not two examples"
    [ "$(tail -n 1 <<<"$output")" = "'perhaps help $command' or 'man perhaps-$command' has everything." ] || wrong "no last line"
    brief=$output
    # Options and examples are those of the full help, and main options come first there.
    try 0 help "$command"
    [ "$(options_in "$brief")" = "$(options_in "$(sed -n '/^Main options:/,/^$/p' <<<"$output")")" ] || wrong "other options"
    [ "$(grep -E '^[A-Z][a-z -]*:$' <<<"$output" | head -n 1)" = "Main options:" ] || wrong "they are not the first"
  done
}

options_in() {
  grep -oE '^  (-.,|   ) --[a-z0-9-]+' <<<"$1"
}

@test "help fits a terminal of 80 columns" {
  for command in $("$PERHAPS" help --names); do
    long=$({ "$PERHAPS" help "$command" && "$PERHAPS" "$command" -h; } | grep -E '^.{81}' || true)
    [ -z "$long" ] || wrong "too wide: $long"
  done
}

@test "what an option does fits three lines; more is said in sections" {
  for command in $("$PERHAPS" help --names); do
    "$PERHAPS" help "$command" | awk '
      /^  (-.,|   ) --/ { name = $0; sub(/^ *(-.,)? */, "", name); lines = 0; text = substr($0, 27) }
      /^$/ || /^[A-Z]/ { name = "" }
      name && /^ {26}|^  (-.,|   ) --[^ ]+( [^ ]+)?  / { if (++lines > 3) print name }' >long
    [ ! -s long ] || wrong "long: $(cat long)"
  done
}

@test "the commands are those of the design" {
  for command in plan build add remove check count list info explain merge intersect subtract differ verify rdb bench version help completions; do
    "$PERHAPS" help --names | grep -qx "$command"
  done
}

@test "the page of remove warns of removing what was never added" {
  try 0 help remove
  [[ $(tr -s '\n ' ' ' <<<"$output") == *"Remove only what was added."*"table and bitmap can"* ]]
}

@test "every command but help and completions takes --json" {
  for command in $("$PERHAPS" help --names); do
    case $command in help | completions) continue ;; esac
    "$PERHAPS" help "$command" | grep -q -- --json || wrong "$command"
  done
}

options_of() {
  "$PERHAPS" help "$1" | grep -oE '^  (-.,|   ) --[a-z0-9-]+' | grep -oE -- '--[a-z0-9-]+'
}

@test "manual pages for every command have every option" {
  command -v scdoc >/dev/null || skip "scdoc is not installed"
  for command in $("$PERHAPS" help --names); do
    "$PERHAPS" help --scdoc "$command" | scdoc >page
    for option in $(options_of "$command"); do
      sed 's/\\f[BIR]//g; s/\\//g' page | grep -qE -- "(^|[^a-z-])$option([^a-z-]|\$)" || wrong "$option is missing in the page of $command"
    done
    for section in NAME SYNOPSIS DESCRIPTION OPTIONS "EXIT STATUS" EXAMPLES "SEE ALSO"; do
      grep -q "^.SH $section" page || wrong "$section is missing"
    done
  done
  "$PERHAPS" help --scdoc | scdoc | grep -q perhaps
}

@test "the build made a page for every command" {
  [ -d "${PERHAPS_PAGES-}/man" ] || skip "pages were not made in this build"
  [ -n "$(ls "$PERHAPS_PAGES/man")" ] || skip "scdoc is not installed"
  [ -s "$PERHAPS_PAGES/man/perhaps.1" ]
  for command in $("$PERHAPS" help --names); do
    [ -s "$PERHAPS_PAGES/man/perhaps-$command.1" ]
  done
}

@test "completions are sound scripts" {
  for shell in bash zsh fish; do
    "$PERHAPS" completions $shell >script
    [ -s script ]
    for command in $("$PERHAPS" help --names); do
      grep -q "$command" script
      for option in $(options_of "$command"); do
        grep -qE -- "(--|-l )${option#--}" script || wrong "$shell does not know $option"
      done
    done
    if command -v $shell >/dev/null; then $shell -n script; fi
  done
  refuses "bash, zsh or fish" completions csh
  refuses "bash|zsh|fish is missing" completions
}

# complete WORDS...: what bash offers for the last word.
complete_words() {
  bash -c 'source <("$0" completions bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _perhaps; echo "${COMPREPLY[*]}"' \
    "$PERHAPS" "$@"
}

@test "bash completes commands, options, words and files" {
  touch some.file
  [ "$(complete_words perhaps int)" = intersect ]
  [ "$(complete_words perhaps build --pre)" = --preset ]
  [ "$(complete_words perhaps build -k bl)" = "bloom blocked" ]
  [ "$(complete_words perhaps build --needs in)" = "intersect in-place" ]
  [ "$(complete_words perhaps remove --in)" = --in-place ]
  [ "$(complete_words perhaps list --fr)" = --from ]
  [ "$(complete_words perhaps build --preset f)" = "fair fine" ]
  [ "$(complete_words perhaps check some)" = some.file ]
  [ "$(complete_words perhaps check --preset)" = "" ]
  [ "$(complete_words perhaps help ver)" = "verify version" ]
  [ "$(complete_words perhaps completions z)" = zsh ]
}

# The files that the examples name.
prepare_examples() {
  seq 1000 >phones.txt
  seq 500 >wanted.txt
  seq 2000 2100 | tee other.txt >new.txt
  seq 3000 3100 | tee urls.txt log | gzip >urls.gz
  { echo id,name,city && sed 's/.*/&,name &,Rome/' wanted.txt; } >people.csv
  { echo id,user && sed 's/.*/&,&/' wanted.txt; } >orders.csv
  sed 's/.*/{"id": &, "user": {"id": "u&"}}/' wanted.txt >log.jsonl
  sed 's/.*/{"text": "page &"}/' wanted.txt >pages.jsonl
  tee names.txt expired.txt <wanted.txt >logins.txt
  printf 'apple\npear\n' >fruit.txt
  tee gone.txt users.txt <wanted.txt >days.txt
  "$PERHAPS" build -n 5000 -o phones.ph phones.txt
  "$PERHAPS" build -k bloom --bytes 2 --hashes 6 -o tiny.ph fruit.txt
  "$PERHAPS" build --needs remove -n 5000 -o logins.ph logins.txt
  "$PERHAPS" build -k parquet -n 100000 -o names.parquet names.txt
  "$PERHAPS" build -o users.ph users.txt
  # one key, and no checksum
  printf 'REDIS0010\0\001k\001v\377\0\0\0\0\0\0\0\0' >dump.rdb
  for name in days today yesterday; do "$PERHAPS" build -k bitmap -o $name.ph days.txt; done
  for name in seen monday tuesday wednesday customers visitors; do cp phones.ph $name.ph; done
}

# run_example LINE: as a user's shell would run it, in a folder where those files are.
run_example() {
  rm -rf try
  [ -d prepared ] || { mkdir prepared && (cd prepared && prepare_examples); }
  cp -r prepared try
  case $1 in *" build "*) rm -f try/*.ph ;; esac
  run --separate-stderr bash -c 'perhaps() { "$PERHAPS" "$@"; }; set -o pipefail; cd try; eval "$1"' bash "$1"
  [ "$status" -le 1 ] && [ -z "$stderr" ] || wrong "example: $1"
}

@test "every example of the help works as it stands" {
  export PERHAPS
  for command in $("$PERHAPS" help --names) ""; do
    "$PERHAPS" help $command | sed -n '/^Examples:/,$s/^  //p' >examples
    [ -s examples ] || wrong "no example for $command"
    while IFS= read -r line <&3; do
      case $line in *" --at "*) continue ;; esac # takes a server: at.bats
      # Takes libroaring.
      case $line in *" -k roaring "*) "$PERHAPS" build -k roaring -o /dev/null /dev/null || continue ;; esac
      case $line in "perhaps bench"*) continue ;; esac # take their time; look.bats has shorter ones
      run_example "$line"
    done 3<examples
  done
}

@test "--json is explained for each command as it is there" {
  try 0 help check
  prints "in place of the keys"
  try 0 help info
  prints "children[]"
  [[ $output != *"in place of the keys"* ]] || wrong "the text of another command"
}
