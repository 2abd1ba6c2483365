"""What 'perhaps dedup --ngram' must print, by an exact model, and texts to try it on.

ngrams.py text SEED LINES          lines of which many repeat others in part
ngrams.py dedup N R [FILE...]      the lines that are kept, of the files one after another
ngrams.py again N R COUNT FILE     the same, if the first COUNT N-grams of FILE were seen before
"""

import random
import re
import sys

WORDS = [b"w%d" % i for i in range(60)] + ["é".encode(), "日本".encode(), b"A", b"\xff\xfe", "x\u00a0y".encode(), b"\0"]
GAPS = [b" ", b" ", b" ", b"  ", b"\t", b" \r", b"\v\f"]


def change(rng, words):
    words = list(words)
    for _ in range(rng.randrange(4)):
        if words and rng.random() < 0.5:
            words[rng.randrange(len(words))] = rng.choice(WORDS)
        elif words:
            del words[rng.randrange(len(words))]
    return words


def text(seed, lines):
    rng = random.Random(seed)
    made = []
    for _ in range(lines):
        if made and rng.random() < 0.5:
            words = change(rng, rng.choice(made))
        else:
            words = [rng.choice(WORDS) for _ in range(rng.choice([0, 1, 2, 3, 5, 13, 14, 30, 60]))]
        made.append(words)
        yield rng.choice(GAPS + [b""] * 20) + b"".join(word + rng.choice(GAPS) for word in words)


def ngrams(line, n):
    words = [word for word in re.split(rb"[ \t\n\v\f\r]+", line) if word]
    n = min(n, len(words))
    return [b" ".join(words[i : i + n]) for i in range(len(words) - n + 1)]


def lines_of(paths):
    for path in paths:
        with open(path, "rb") as file:
            lines = file.read().split(b"\n")
        yield from lines if lines[-1] else lines[:-1]


def dedup(lines, n, share, seen):
    for line in lines:
        those = ngrams(line, n)
        if sum(one in seen for one in those) / len(those) < share:
            seen.update(dict.fromkeys(those))
            yield line


def main(what, *arguments):
    if what == "text":
        lines = text(int(arguments[0]), int(arguments[1]))
    else:
        n, share = int(arguments[0]), float(arguments[1])
        if what == "dedup":
            lines = dedup(lines_of(arguments[2:]), n, share, {})
        else:
            seen = {}
            for _ in dedup(lines_of(arguments[3:]), n, share, seen):
                pass
            known = dict.fromkeys(list(seen)[: int(arguments[2])])
            lines = dedup(lines_of(arguments[3:]), n, share, known)
    for line in lines:
        sys.stdout.buffer.write(line + b"\n")


main(*sys.argv[1:])
