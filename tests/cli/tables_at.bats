# Tables and logs with sets on servers.

load at_helper

@test "a set on a server remembers where its keys stand" {
  local format options
  printf 'name,id\nx,k1\n"y ""z""",k2\n' >csv
  printf 'x\tk1\ny\tk2\n' >tsv
  printf ' x k1\n y k2\n' >whitespace
  printf '{"id":"k1"}\n{"id":"k\\u0032"}\n' >jsonl
  printf 'k1\nk2\nk3\n' >lines
  module_server
  for format in csv tsv whitespace jsonl; do
    options=(--$format -F 2)
    [ $format != csv ] || options=(--csv --header -F id --trim)
    [ $format != jsonl ] || options=(--jsonl .id)
    "$PERHAPS" build -f --at "$at" -n 100 -p 1e-6 "${options[@]}" $format
    try 0 check --at "$at" $format
    [ "$output" = "$(cat $format)" ] || wrong "other records of $format"
    try 0 check --at "$at" --field 0 lines
    [ "$output" = $'k1\nk2' ]
    try 0 check --at "$at" --elsewhere "${options[@]}" $format
    try 0 info --at "$at"
    prints "--$format"
    refuses "contradicts" check --at "$at" --jsonl .x $format
    "$PERHAPS" add --at "$at" --field 0 <(tail -n 1 lines)
    redis DEL set >out
    redis --scan | xargs -r redis-cli -p "$port" DEL >out
  done
}

@test "dedup and a filter that a server has loaded read tables" {
  printf 'id,name\n1,x\n1,y\n2,z\n' >a.csv
  module_server
  "$PERHAPS" dedup --at "$at" --csv --header -F id -n 100 a.csv | cmp - <(sed 3d a.csv)
  try 0 dedup --at "$at" a.csv
  [ "$output" = id,name ]
  try 0 dedup --at "$at" --missing skip --elsewhere --csv -F 2 <(printf 'q\nr,2\nr,9\n')
  [ "$output" = r,9 ]
  "$PERHAPS" build -k bloom -n 10 -p 1e-6 --csv --header -F id,name --trim -o f.ph a.csv
  redis -x PERHAPS.LOAD one 0 "$(stat -c %s f.ph)" <f.ph
  [ "$(redis PERHAPS.INFO one | grep -A1 -x where | tail -n 1)" = id,name ]
  try 0 check --at "${at%set}one" a.csv
  [ "$output" = "$(cat a.csv)" ]
}
