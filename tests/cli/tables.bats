# Tables and logs: CSV and its like, JSON lines, headers, several fields, records without a key, and
# exact joins.

load helper

people() {
  printf 'id,name,"the city"\r\n1,"Smith, J",Rome\r\n2,"said ""hi""\nand went",Oslo\r\n\r\n3,Lee,Rome\r\n'
}

@test "keys and records are those of Python's csv and json" {
  local files=250
  [ "${PERHAPS_TEST_SIZE-}" != long ] || files=10000
  python3 "$BATS_TEST_DIRNAME/tables.py" "$PERHAPS" "$files"
}

@test "a semi-join and an anti-join are what awk and comm say" {
  seq 1 7 20000 >list
  seq 1 30000 | awk '{ print "o" NR "," $1 * 3 % 20011 "," NR % 7 }' >orders.csv
  awk -F, 'NR == FNR { in_list[$1]; next } $2 in in_list' list orders.csv >semi
  awk -F, 'NR == FNR { in_list[$1]; next } !($2 in in_list)' list orders.csv >anti
  "$PERHAPS" build -p 0.2 -o f.ph list
  for format in "--csv -F 2" "-t , -F 2" "--csv -F 2 -j 2"; do
    # shellcheck disable=SC2086
    "$PERHAPS" check --confirm list $format f.ph orders.csv | cmp - semi
    # shellcheck disable=SC2086
    "$PERHAPS" check --confirm list -v $format f.ph orders.csv | LC_ALL=C sort | cmp - <(LC_ALL=C sort anti)
  done
  LC_ALL=C sort -u list >sorted
  cut -d, -f2 orders.csv | LC_ALL=C sort -u >wanted
  "$PERHAPS" check --confirm sorted f.ph wanted | cmp - <(LC_ALL=C comm -12 sorted wanted)
  "$PERHAPS" check --confirm sorted -v f.ph wanted | LC_ALL=C sort | cmp - <(LC_ALL=C comm -13 sorted wanted)
}

@test "the file of --confirm has options of its own; without any its lines are keys" {
  people >people.csv
  printf 'user;what\nLee;a\nSmith, J;b\nnobody;c\n' >log.csv
  printf '{"who": "Smith, J"}\n' >who.jsonl
  printf 'Lee\n' >names
  "$PERHAPS" build -p 0.3 --csv --header -F name -o f.ph people.csv
  "$PERHAPS" build -p 0.3 -o names.ph <(printf 'Lee\nSmith, J\n')
  local log=(--csv -t ';' --header -F user)
  try 0 check --elsewhere "${log[@]}" --confirm people.csv f.ph log.csv
  [ "$output" = $'user;what\nLee;a\nSmith, J;b' ]
  try 0 check --elsewhere "${log[@]}" --confirm names --confirm-field 0 f.ph log.csv
  [ "$output" = $'user;what\nLee;a' ]
  try 0 check "${log[@]}" --confirm names names.ph log.csv
  [ "$output" = $'user;what\nLee;a' ]
  try 0 check "${log[@]}" --confirm who.jsonl --confirm-jsonl .who names.ph log.csv
  [ "$output" = $'user;what\nSmith, J;b' ]
  try 0 check "${log[@]}" --confirm people.csv --confirm-csv --confirm-header --confirm-field name names.ph log.csv
  [ "$output" = $'user;what\nLee;a\nSmith, J;b' ]
  try 0 check "${log[@]}" --confirm <(printf ' Lee \n') --confirm-trim names.ph log.csv
  [ "$output" = $'user;what\nLee;a' ]
  try 0 check "${log[@]}" --confirm <(printf '1\tLee\n') --confirm-tsv --confirm-field 2 names.ph log.csv
  [ "$output" = $'user;what\nLee;a' ]
  try 2 check "${log[@]}" --confirm people.csv --confirm-tsv --confirm-field 2 names.ph log.csv
  says "people.csv: line 1 has only 1 field; correct it, or choose another --confirm-field or --confirm-delimiter"
  try 2 check "${log[@]}" --confirm people.csv --confirm-csv --confirm-header --confirm-field nom names.ph log.csv
  says "its columns are: id, name, the city; correct --confirm-field"
  try 2 check "${log[@]}" --confirm who.jsonl --confirm-jsonl .whom names.ph log.csv
  says "correct it, or choose another --confirm-jsonl"
  printf 'id,name\n1\n' >short.csv
  try 2 check --elsewhere "${log[@]}" --confirm short.csv f.ph log.csv
  says "give --confirm-field 0 if lines are keys: the filter was made with fields"
  "$PERHAPS" build --u64 -p 0.3 -o numbers.ph <(seq 5)
  refuses "--confirm-field: several fields" check --confirm people.csv --confirm-csv --confirm-field 1,2 numbers.ph <(seq 5)
  refuses "--confirm-csv: needs --confirm" check --confirm-csv f.ph log.csv
  refuses "--confirm-field: 'name' names a column; add --header" check --confirm people.csv --confirm-field name f.ph log.csv
  refuses "--confirm-delimiter: needs --confirm-field" check --confirm names --confirm-delimiter , names.ph log.csv
}

@test "a header is read, printed once, and never a key" {
  people >a.csv
  printf 'name,extra,id\nLee,x,9\nKim,y,1\n' >b.csv
  try 0 dedup --csv --header -F name a.csv b.csv
  [ "$output" = $'id,name,"the city"\r\n1,"Smith, J",Rome\r\n2,"said ""hi""\nand went",Oslo\r\n3,Lee,Rome\r\nKim,y,1' ]
  try 0 dedup -d --csv --header -F name a.csv b.csv
  [ "$output" = $'id,name,"the city"\r\nLee,x,9' ]
  try 0 dedup --header <(printf 'h\nh\nh\n')
  [ "$output" = $'h\nh' ]
  "$PERHAPS" build --csv --header -F 'the city' -o f.ph a.csv
  try 0 info --json f.ph
  holds '.where == "the city" and .header'
  try 0 check --elsewhere --csv --header -F 3 f.ph a.csv
  [ "$output" = "$(tr -d '\r' <a.csv | grep -v '^$' | sed 's/$/\r/; s/hi""\r/hi""/')" ] || wrong "other records"
  try 0 check -c f.ph a.csv
  [ "$output" = 3 ]
  try 0 check -q f.ph a.csv
  [ -z "$output" ]
  try 1 check -v f.ph a.csv
  [ "$output" = $'id,name,"the city"\r' ]
  try 0 dedup --csv --header -F id -o out.csv a.csv
  cmp <(head -n 1 out.csv) <(head -n 1 a.csv)
  try 0 dedup --header --json <(printf 'h\nx\n')
  holds '.lines == 1'
}

@test "blank lines before a header are none, and are not printed" {
  printf '\n\r\n\nid,x\n1,2\n' | "$PERHAPS" dedup --csv --header -F id | cmp - <(printf 'id,x\n1,2\n')
  printf '\xef\xbb\xbf\nid,x\n1,2\n' | "$PERHAPS" dedup --csv --header -F id | cmp - <(printf 'id,x\n1,2\n')
  printf '  \n \t\r\nid x\n1 2\n' | "$PERHAPS" dedup --whitespace --header -F id | cmp - <(printf 'id x\n1 2\n')
  try 0 dedup --csv --header -F id <(printf '\n\n')
  [ -z "$output" ]
  fails_at "line 3 has no column 'id'" "" dedup --csv --header -F id <(printf '\n\nno\n1\n')
  fails_at "line 5 has only 1 field" "a b" dedup --whitespace --header -F 2 <(printf '\n \n\na b\n1\n')
}

@test "a mark before UTF-8 is no part of the first name, and stays in the output" {
  printf '\xef\xbb\xbf"id",name\n7,x\n7,y\n' >a.csv
  "$PERHAPS" dedup --csv --header -F id a.csv | cmp - <(head -n 2 a.csv)
  printf '\xef\xbb\xbf"7",x\n7,y\n' >b.csv
  "$PERHAPS" dedup --csv -F 1 b.csv | cmp - <(head -n 1 b.csv)
  (printf '\xef' && sleep 0.1 && printf '\xbb' && sleep 0.1 && printf '\xbf{"k":1}\n') | "$PERHAPS" dedup --jsonl .k | cmp - <(printf '\xef\xbb\xbf{"k":1}\n')
}

@test "records are counted for a filter, not lines" {
  { echo id,text && seq 100 | sed 's/.*/&,"a\n\nb"/'; } >a.csv
  try 0 build --json --csv --header -F id -o f.ph a.csv
  holds '.items == 100 and .capacity == 100'
  try 0 build --json --csv --header -F id -n 7 -o g.ph <(printf 'id\n')
  try 0 build --json -f --csv --header -F id -o g.ph <(cat a.csv)
  holds '.items == 100'
  printf '"id\n' >open.csv
  try 2 build --csv --header -F 1 -o h.ph open.csv
  [[ $stderr == *"open.csv: line 1 has a header with a quote that is never closed; correct it" ]]
}

@test "several fields make one key, which other programs can make, too" {
  printf 'a,bc\nab,c\na,"b,c"\n' >pairs
  "$PERHAPS" dedup --csv -F 1,2 pairs | cmp - pairs
  "$PERHAPS" build -p 1e-9 --csv -F 1,2 -o f.ph pairs
  try 0 check --field 0 f.ph <(printf '1:a,2:bc,\n2:ab,1:c,\n1:a,3:b,c,\n2:bc,1:a,\n1:a2:bc\n')
  [ "$output" = $'1:a,2:bc,\n2:ab,1:c,\n1:a,3:b,c,' ]
  try 0 info f.ph
  prints "records   as --csv --field '1,2' says"
  try 0 check --csv -F 1,2 f.ph pairs
  refuses "was made with --csv --field '1,2', which --field contradicts" check -F 2,1 f.ph pairs
  refuses "several fields make a key of bytes, not of --key u64" build --u64 -F 1,2 -o x.ph pairs
  refuses "several fields make a key of bytes" build -k bitmap --csv -F 1,2 -o x.ph pairs
}

@test "a filter remembers the place of its keys, and what contradicts it is refused" {
  people >a.csv
  "$PERHAPS" build -k cuckoo -p 1e-6 -n 10 --csv --header -F name,2 --trim -o f.ph a.csv
  try 0 info --json f.ph
  holds '.records == "csv" and .where == "name,2" and .header and .trim and .delimiter == "," and .field == 0'
  try 0 check f.ph a.csv
  cmp <(printf '%s\n' "$output") <(grep -v $'^\r' a.csv)
  refuses "--header --field 'name,2' --trim, which --field contradicts" check --csv --header -F id f.ph a.csv
  refuses "which --delimiter contradicts" check --csv -t ';' f.ph a.csv
  refuses "which --tsv contradicts" add f.ph --tsv a.csv
  refuses "which --jsonl contradicts" remove f.ph --jsonl .id a.csv
  "$PERHAPS" dedup --state s.ph --jsonl .id <(printf '{"id":1}\n') >out
  try 0 info s.ph
  prints "records   as --jsonl '.id' says"
  refuses "which --jsonl contradicts" dedup --state s.ph --jsonl .user a.csv
  try 0 dedup --state s.ph <(printf '{"id":1}\n{"id":"2"}\n')
  [ "$output" = '{"id":"2"}' ]
  try 0 dedup --state s.ph --elsewhere --csv -F 1 <(printf '1,x\n3,x\n')
  [ "$output" = 3,x ]
}

@test "wrong options are refused with what to do" {
  refuses "--csv: does not go with --tsv" dedup --csv --tsv
  refuses "--field: does not go with --jsonl" dedup --jsonl .a -F 1
  refuses "--header: does not go with --jsonl" dedup --jsonl .a --header
  refuses "--delimiter: does not go with --tsv" dedup --tsv -t ,
  refuses "--null: does not go with --csv" dedup --csv -0
  refuses "a quote or a line end has a meaning in CSV" dedup --csv -t '"'
  refuses "u64le reads raw records, which have no lines or fields; leave out --csv" build --key u64le --csv -o x.ph
  refuses "--field: '1,,2' has an empty name" dedup --csv --header -F 1,,2
  refuses "--field: '0,1' is not a list of fields" dedup --csv -F 0,1
  refuses "--field: '\"a' has a name whose quotes are not right" dedup --csv --header -F '"a'
  refuses "--field: '4294967295' has a number that is too large; give less than 2^32-1" dedup --csv -F 4294967295
  printf 'name\nx\n' | "$PERHAPS" build -n 9 -p 0.01 --csv --header -F name -o f.ph
  refuses "say which field is the key, with --elsewhere if the filter" check -t ';' f.ph
  refuses "say which field is the key" dedup -t ';'
  [[ $stderr != *--elsewhere* ]]
  refuses "--jsonl: 'id'" dedup --jsonl id
  refuses "--missing: 'drop' is not one of the choices; choose from: error skip empty" dedup --missing drop
}

# fails_at TEXT PRINTED ARGS...: exit status 2 with this message, after these records.
fails_at() {
  local text=$1 printed=$2
  shift 2
  try 2 "$@"
  says "$text"
  [ "$output" = "$printed" ] || wrong "other output than '$printed'"
}

@test "bad records are told by file and line, what was printed stays, and --missing skip goes on" {
  printf 'a,b\n1,"x\ny"\n2,"x\n3,z\n' >open.csv
  fails_at "open.csv: line 4 begins a record with a quote that is never closed" $'a,b\n1,"x\ny"' dedup --csv -F 2 open.csv
  try 0 dedup --csv -F 2 --missing skip open.csv
  [ "$output" = $'a,b\n1,"x\ny"\n3,z' ]
  [[ $stderr == *"open.csv: 1 invalid record was skipped"* ]]

  printf '{"k":1}\n\n{"k":2}\n{"k":}\n{"x":3}\n{"k":4}\n' >bad.jsonl
  fails_at "bad.jsonl: line 4 is not JSON" $'{"k":1}\n{"k":2}' dedup --jsonl .k bad.jsonl
  try 0 dedup --jsonl .k --missing skip bad.jsonl
  [ "$output" = $'{"k":1}\n{"k":2}\n{"k":4}' ]
  [[ $stderr == *"bad.jsonl: 1 record has no .k and was skipped"*"bad.jsonl: 1 invalid record was skipped"* ]]

  printf '"x\ny",1\nz\nw,2\n' >short.csv
  fails_at "short.csv: line 3 has only 1 field" $'"x\ny",1' dedup --csv -F 2 short.csv
  try 0 dedup --csv -F 2 --missing skip short.csv
  [ "$output" = $'"x\ny",1\nw,2' ]
  try 0 dedup --csv -F 2 --missing empty short.csv
  [ "$output" = $'"x\ny",1\nz\nw,2' ]
  [[ $stderr == *"short.csv: 1 record has no field 2; its key is empty"* ]]

  printf '\na\n1:a,0:,\nb\n' >some
  "$PERHAPS" build -p 1e-9 -n 9 --csv -F 1,2 --missing empty -o some.ph some 2>some.said
  grep -q "some: 2 records have only some of the fields '1,2'; those they lack are empty$" some.said
  try 0 check --field 0 some.ph some
  [ "$output" = 1:a,0:, ]
  try 0 check --missing empty some.ph <(printf 'b\n')
  [[ $stderr == *"1 record has only some of the fields '1,2'; those it lacks are empty" ]]

  printf 'id,name\n1,x\n' >a.csv
  printf 'id,nom\n1,x\n' >b.csv
  fails_at "b.csv: line 1 has no column 'name'; its columns are: id, nom" $'id,name\n1,x' dedup --csv --header -F name a.csv b.csv
  try 0 dedup --csv --header -F name --missing skip b.csv a.csv
  [ "$output" = $'id,nom\n1,x' ]
  [[ $stderr == *"b.csv: warning: has no column 'name'"*"1 record has no field 'name' and was skipped"* ]]
  refuses "line 1 names a column of --field twice; give its number instead" dedup --csv --header -F x <(printf 'x,x\n')

  printf 'a,1\nb\0,2\nc,3\n' >nul.csv
  fails_at "nul.csv: line 2 has a NUL byte, as text in UTF-16 does" a,1 dedup --csv -F 1 nul.csv
  try 0 dedup --csv -F 1 --missing skip nul.csv
  [ "$output" = $'a,1\nc,3' ]
  try 2 dedup --csv --header -F id <(printf 'a\033[31m\x9b,\xc2\x9b,Stra\xc3\x9fe\n1,2,3\n')
  says $'its columns are: a?[31m?, ?, Stra\xc3\x9fe; correct --field'
  try 0 dedup --csv --header -F id --missing empty <(printf 'a\033[31m\n1\n')
  [[ $stderr == *"has no column 'id'; its columns are: a?[31m"* ]]
  refuses "line 1 has a NUL byte, as text in UTF-16 does; convert it to UTF-8" dedup --csv --header -F c <(printf 'a\0,c\n1,2\n')
  refuses "line 1 has a NUL byte" dedup --csv --header -F 1 --missing skip <(printf 'a\0,c\n1,2\n')
  iconv -f utf-8 -t utf-16 a.csv >wide.csv
  fails_at "wide.csv: line 1 has a NUL byte" "" dedup --csv --header -F id wide.csv
  fails_at "wide.csv: line 1 has a NUL byte" "" dedup --tsv wide.csv

  printf '1,x\n2,"b\nc"\n3,y\n' >numbers.csv
  refuses "line 4 is not a decimal number" build --u64 --csv -F 1 -n 9 -o x.ph <(printf '1,"\n\n"\nx,y\n')
  "$PERHAPS" build -p 1e-9 --csv -F 2 -o f.ph <(head -n 1 numbers.csv; printf '3,y\n')
  try 2 verify f.ph --keys numbers.csv
  says "1 of 3 keys is missing, the first on line 2 of numbers.csv"
}

@test "a record of 100 MB is a record" {
  { printf '1,"' && head -c 50000000 /dev/zero | tr '\0' '\n' && head -c 50000000 /dev/zero | tr '\0' x && printf '"\n1,y\n2,z\n'; } >large.csv
  [ "$("$PERHAPS" dedup --csv -F 1 large.csv | md5sum)" = "$(sed '/^1,y/d' large.csv | md5sum)" ]
  try 2 check -c --csv -F 3 --elsewhere <(:) large.csv
  "$PERHAPS" build -p 1e-9 -n 9 -o f.ph <(printf 'y\n')
  try 0 check --csv -F 2 f.ph large.csv
  [ "$output" = 1,y ]
  printf '3\n' >>large.csv
  run --separate-stderr "$PERHAPS" check -c --csv -F 2 f.ph large.csv
  says "large.csv: line 50000004 has only 1 field"
}

@test "every format with every command" {
  local format made
  printf 'k1,a\nk2,b\n' >csv
  tr , '\t' <csv >tsv
  tr , ' ' <csv >whitespace
  printf '{"k": "k1"}\n{"k": "k2"}\n' >jsonl
  printf 'k2\n' >two
  for format in csv tsv whitespace jsonl; do
    made="--$format -F 1"
    [ $format != jsonl ] || made="--jsonl .k"
    for kind in cuckoo counting table; do
      # shellcheck disable=SC2086
      "$PERHAPS" build -f -k $kind -n 10 -p 1e-6 $made -o f.ph $format
      try 0 check f.ph $format
      [ "$output" = "$(cat $format)" ]
      "$PERHAPS" verify f.ph --keys $format >out
      [ $kind = table ] || [ "$("$PERHAPS" count f.ph $format | cut -f1 | tr '\n' ' ')" = "1 1 " ]
      "$PERHAPS" remove f.ph --field 0 two
      try 1 check --field 0 f.ph two
      "$PERHAPS" add f.ph $format
      try 0 check --field 0 f.ph two
    done
    # Foreign formats cannot remember it: the options are given each time.
    # shellcheck disable=SC2086
    "$PERHAPS" build -f -k guava -n 10 -p 1e-6 $made -o f.guava $format
    # shellcheck disable=SC2086
    try 0 check -k guava $made f.guava $format
    [ "$output" = "$(cat $format)" ]
  done
  printf 'n,7\nn,8\n' >numbers
  "$PERHAPS" build -k bitmap --csv -F 2 -o b.ph numbers
  try 0 list b.ph
  [ "$output" = $'7\n8' ]
  try 0 check b.ph numbers
  "$PERHAPS" build -k roaring --csv -F 2 -o b.roaring numbers
  try 0 check --csv -F 2 b.roaring numbers
  [ "$output" = $'n,7\nn,8' ]
}
