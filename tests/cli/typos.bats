# Names that are misspelt: options and commands.
load helper

# options_of COMMAND: the long names of its options.
options_of() {
  "$PERHAPS" help "$1" | sed -nE 's/^ {1,8}(-., )?--([a-z0-9-]+).*/\2/p'
}

# typos NAME [AT...]: it with one letter left out, and with two letters swapped; there, or anywhere.
typos() {
  local name=$1 i
  shift
  [ $# -gt 0 ] || set -- $(seq 0 $((${#name} - 1)))
  for i; do
    echo "${name:0:i}${name:i+1}"
    [ "$i" -eq 0 ] || echo "${name:0:i-1}${name:i:1}${name:i-1:1}${name:i+1}"
  done
}

[ "${PERHAPS_TEST_SIZE-}" = long ] || few=yes

# misspelt NAME NAMES...: the typos of NAME that are no other name; only some of them, if $few.
misspelt() {
  local name=$1 typo
  shift
  for typo in $(typos "$name" ${few:+$((${#name} / 2))} | sort -u); do
    [[ " $* " == *" $typo "* ]] || [ "${#typo}" -lt 2 ] || echo "$typo"
  done
}

# means NAME: the message names it; or another that is as near, of which any may be meant.
means() {
  [[ $stderr == *"did you mean $1?"* ]] && return 0
  [[ $stderr =~ "did you mean "(-*)([a-z0-9-]+)"?" ]] || return 1
  typos "${BASH_REMATCH[2]}" | grep -qx -- "$typo" || typos "$typo" | grep -qx -- "${BASH_REMATCH[2]}"
}

@test "every misspelt option is recognised" {
  seen=' '
  for command in $("$PERHAPS" help --names); do
    names=$(options_of "$command")
    [ -n "$names" ] || wrong "no options of $command"
    for name in $names; do
      [ "${PERHAPS_TEST_SIZE-}" = long ] || [[ $seen != *" $name "* ]] || continue
      seen+="$name "
      # shellcheck disable=SC2086 # a list of words
      for typo in $(misspelt "$name" $names); do
        try 2 "$command" "--$typo"
        means "--$name" || wrong "--$typo of $command"
        says "no such option of 'perhaps $command'"
      done
    done
  done
  [ "$(wc -w <<<"$seen")" -gt 60 ] || wrong "where are the options? $seen"
}

@test "every misspelt command is recognised" {
  names=$("$PERHAPS" help --names)
  for name in $names; do
    # shellcheck disable=SC2086 # a list of words
    for typo in $(misspelt "$name" $names); do
      try 2 "$typo"
      means "$name" || wrong "$typo"
    done
  done
}

@test "an option that takes a name or a text is given once" {
  echo '{"a": 1}' >log.jsonl
  refuses "-F: is given twice; several fields are one list, such as 2,3" dedup --csv -F 1 -F 2 log.jsonl
  refuses "--field: is given twice" dedup --csv -F 1 --field 1 log.jsonl
  refuses "--jsonl: is given twice; leave one out" dedup --jsonl .a --jsonl .b log.jsonl
  refuses "-o: is given twice; leave one out" build -o a.ph -o b.ph log.jsonl
  # of numbers the last counts, as with other programs
  try 0 plan -n 5 -n 1000 -k table
  prints "1,000"
}

@test "what is near nothing gets no guess" {
  refuses "--xyzzy: no such option of 'perhaps build'; see 'perhaps help build'" build --xyzzy
  refuses "xyzzy: no such command; see 'perhaps help'" xyzzy
  refuses "--feild: no such option of 'perhaps build'; did you mean --field?" build --feild=2
  long=$(printf 'x%.0s' {1..3000})
  try 2 build "--$long"
  try 2 "$long"
}

@test "values that are none are told what they should be" {
  refuses "--field: 'email' names a column; add --header" dedup --field email
  refuses "-o: '' is an empty file name; give a name" build -o '' /dev/null
  refuses "--output: '' is an empty file name" build --output= /dev/null
  for option in --hash-key --state --plot --confirm --keys; do
    command=$(for c in $("$PERHAPS" help --names); do options_of "$c" | grep -qx -- "${option#--}" && echo "$c"; done | head -n 1)
    refuses "$option: '' is an empty file name" "$command" "$option" ''
  done
  refuses "an argument is empty" check ''
  refuses "an argument is empty" build -o f.ph ''
  [ ! -e f.ph ] || wrong "made"
}
