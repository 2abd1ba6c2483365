# Comments end at column 100: prints the lines on which one goes further. Run with LC_ALL=C; columns are characters, not bytes.
function columns(text) {
  gsub(/[\200-\277]/, "", text) # the further bytes of a UTF-8 character
  return length(text)
}

# Whether the line ends with a comment in the manner of C; `inside` is whether the next one begins in it.
function ends_in_comment(line,    was) {
  was = inside
  if (!inside) gsub(/"([^"\\]|\\.)*"|'([^'\\]|\\.)'/, "", line)
  for (;;) {
    if (inside) {
      if (!match(line, /\*\//)) return 1
      inside = 0
    } else {
      if (!match(line, /\/\*|\/\//)) return was && line ~ /^[ \t]*$/
      if (substr(line, RSTART, 2) == "//") return 1
      inside = was = 1
    }
    line = substr(line, RSTART + 2)
  }
}

FNR == 1 {
  inside = 0
  c_like = FILENAME ~ /\.(c|h|cpp|hpp|java|js|mjs|go)$/
}

c_like { comment = ends_in_comment($0) }
!c_like { comment = /^[ \t]*#/ || / # [^"'`]*$/ }

comment && columns($0) > 100 {
  print FILENAME ":" FNR ": " columns($0) " columns"
  bad = 1
}

END { exit bad }
