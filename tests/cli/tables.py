#!/usr/bin/env python3
"""Tables with all the ugly cases, read by perhaps and by Python's csv and json: both must find the
same keys in the same records, and what perhaps prints are the records byte for byte.

tables.py PERHAPS FILES [SEED]: that many files, of each format in turn. A failure says which file.
"""

import csv
import json
import os
import random
import re
import subprocess
import sys
import tempfile

csv.field_size_limit(1 << 30)
BLANKS = b" \t\n\r\x0b\x0c"
NAMES = ["id", "name", "the city", "last, first", 'a "b"', "ü"]


class Unfit(Exception):
    """Python has no answer for this file."""


# ---- files ----


def word(rng):
    return "".join(rng.choice("abcXYZ01 é𝄞.-") for _ in range(rng.choice([0, 1, 1, 2, 3, 9])))


def csv_field(rng, delimiter):
    kind = rng.random()
    if kind < 0.5:
        return word(rng).strip()
    if kind < 0.7:
        return '"%s"' % word(rng)
    if kind < 0.9:
        inside = [word(rng), delimiter, "\n", "\r\n", '""', '""""', "\r", " "]
        return '"%s"' % "".join(rng.choice(inside) for _ in range(rng.randrange(6)))
    if kind < 0.93:
        return word(rng) + 'x"' + word(rng)  # a quote that opens nothing
    if kind < 0.96:
        return '"%s"%s"%s' % (word(rng), word(rng), word(rng))  # text after a quote
    return " \t"[rng.randrange(2)].replace(delimiter, " ") + word(rng) + " "


def csv_file(rng, delimiter, header):
    ends = rng.choice([["\n"], ["\r\n"], ["\n", "\r\n"]])
    lines = []
    if header:
        quoted = ['"%s"' % name.replace('"', '""') for name in header]
        lines.append(delimiter.join(quoted) + rng.choice(ends))
    for _ in range(rng.choice([0, 1, 5, 40, 200])):
        width = rng.choice([1, 2, 3, 3, 3, 4])
        blank = rng.random() < 0.05
        lines.append("" if blank else delimiter.join(csv_field(rng, delimiter) for _ in range(width)))
        lines.append(rng.choice(ends))
    if rng.random() < 0.03:
        lines.append('"never closed' + delimiter + "x")
    text = "".join(lines)
    if text and rng.random() < 0.3:
        text = text.rstrip("\r\n")
    if rng.random() < 0.02 and not header:
        text = text * (1 + 400000 // (len(text) + 1))
    return text.encode()


def plain_file(rng, delimiter, header):
    lines = [delimiter.join(header)] if header else []
    for _ in range(rng.choice([0, 1, 5, 40, 200])):
        fields = [word(rng).replace(delimiter, "_") + rng.choice(["", "", '"']) for _ in range(rng.choice([1, 2, 3, 4]))]
        lines.append(delimiter.join(fields) if rng.random() > 0.05 else "")
    end = rng.choice(["\n", "\r\n"])
    return (end.join(lines) + rng.choice(["", end])).encode()


def words_file(rng):
    blank = [" ", "\t", "  ", " \t "]
    lines = []
    for _ in range(rng.choice([0, 1, 5, 40, 200])):
        words = [word(rng).replace(" ", "") for _ in range(rng.choice([0, 1, 2, 3, 4]))]
        lines.append(rng.choice(["", " "]) + rng.choice(blank).join(words) + rng.choice(["", "\t"]))
    return ("\n".join(lines) + "\n").encode()


def json_value(rng, depth=0):
    kind = rng.randrange(9 if depth < 3 else 6)
    if kind < 3:
        return "".join(rng.choice('ab"\\/\n\t\x01é𝄞 {}[]:,') for _ in range(rng.randrange(8)))
    if kind == 3:
        return rng.choice([0, -1, 12, 1.5, -2e10, 1e-7, 10**20])
    if kind == 4:
        return rng.choice([True, False, None])
    if kind == 5:
        return rng.choice(["", "\ud800", "\udc00x", "\ud834\udd1e"])
    if kind == 6:
        return [json_value(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {rng.choice(["k", "id", "user", "a b", ""]): json_value(rng, depth + 1) for _ in range(rng.randrange(4))}


def json_file(rng):
    lines = []
    for _ in range(rng.choice([0, 1, 5, 40, 200])):
        value = {"x": json_value(rng), "user": {"id": json_value(rng)}, "tags": [json_value(rng), json_value(rng)]}
        value = rng.choice([value, value, value, json_value(rng)])
        separators = rng.choice([(",", ":"), (", ", ": "), (" ,\t", " : ")])
        text = json.dumps(value, ensure_ascii=rng.random() < 0.5, separators=separators)
        line = text.encode("utf-8", "surrogatepass")
        if b"\xed" in line and any(0xA0 <= b for b in line[line.index(b"\xed") + 1 :][:1]):
            line = json.dumps(value).encode()  # half a surrogate pair is no UTF-8
        if rng.random() < 0.1 and line:
            at = rng.randrange(len(line))
            line = line[:at] + rng.choice([b"", b'"', b"}", b"\\", b"\x00", b"\xff", b"1", b",", b"\x1f"]) + line[at + 1 :]
        if rng.random() < 0.05:
            line = rng.choice([b"", b"  ", b"\t", b" \r"])
        lines.append(line)
    return rng.choice([b"\n", b"\r\n"]).join(lines) + rng.choice([b"", b"\n"])


# ---- what Python finds: (record with its line end, fields), ... ----


def whole_lines(data):
    lines = data.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    return [line + b"\n" for line in lines]


def closes(text, delimiter):
    """Is no quote open at the end?"""
    place = "begin"
    for c in text:
        if place == "quoted":
            place = "after" if c == '"' else "quoted"
        elif c == "\n" or c == delimiter:
            place = "begin"
        else:
            place = "quoted" if c == '"' and place != "field" else "field"
    return place != "quoted"


def csv_records(data, delimiter):
    lines = [line.decode() for line in whole_lines(data)]
    whole = closes("".join(lines), delimiter)
    reader = csv.reader(iter(lines), delimiter=delimiter)
    before, records = 0, []
    try:
        for row in reader:
            raw = "".join(lines[before : reader.line_num]).encode()
            before = reader.line_num
            records.append((raw, [field.encode() for field in row]))
    except csv.Error as error:
        raise Unfit from error
    if not whole:
        records.pop()
    return [(raw, fields) for raw, fields in records if fields], whole


def plain_records(data, delimiter):
    records = [(line, line[:-1].rstrip(b"\r")) for line in whole_lines(data)]
    return [(line, text.split(delimiter.encode())) for line, text in records if text]


def words_records(data):
    records = [(line, line[:-1].rstrip(b"\r").strip(b" \t")) for line in whole_lines(data)]
    return [(line, re.split(rb"[ \t]+", text)) for line, text in records if text]


def refuse_constant(name):
    raise ValueError(name)


def json_key(line, path):
    """None: it is missing; ValueError: this is no JSON."""
    value = json.loads(line.decode(), parse_int=str, parse_float=str, parse_constant=refuse_constant)
    as_written = json.loads(line.decode())
    for step in path:
        if not isinstance(value, list if isinstance(step, int) else dict):
            return None
        try:
            value, as_written = value[step], as_written[step]
        except (KeyError, IndexError):
            return None
    if as_written is None:
        return None
    if isinstance(as_written, bool):
        return b"true" if as_written else b"false"
    if isinstance(as_written, (dict, list)):
        raise Unfit
    return value.encode("utf-8", "surrogatepass")


# ---- one file ----


def run(command, **arguments):
    return subprocess.run(command, capture_output=True, check=False, **arguments)


def netstrings(fields):
    return b"".join(b"%d:%s," % (len(field), field) for field in fields)


class Table:
    """A file, the options it is read with, and its records: raw, key or None."""

    def __init__(self, rng):
        self.rng, self.header, self.whole, self.invalid = rng, b"", True, 0
        self.missing = rng.choice(["error", "skip", "empty"])
        self.trim, self.fold = rng.random() < 0.2, rng.random() < 0.2
        self.options = ["--missing", self.missing] + ["--trim"] * self.trim
        kind = rng.choice(["csv", "csv", "csv", "tsv", "whitespace", "lines", "jsonl"])
        getattr(self, "make_" + kind)()

    def names(self):
        return self.rng.sample(NAMES, 3) if self.rng.random() < 0.3 else []

    def make_csv(self):
        delimiter, names = self.rng.choice(",,;\t|"), self.names()
        self.data = csv_file(self.rng, delimiter, names)
        records, self.whole = csv_records(self.data, delimiter)
        self.options += ["--csv"] + (["-t", delimiter] if delimiter != "," or self.rng.random() < 0.1 else [])
        self.take_fields(records, names)

    def make_tsv(self):
        names = [name for name in self.names() if "," not in name]
        self.data = plain_file(self.rng, "\t", names)
        self.options += ["--tsv"]
        self.take_fields(plain_records(self.data, "\t"), names)

    def make_whitespace(self):
        self.data = words_file(self.rng)
        self.options += ["--whitespace"]
        self.take_fields(words_records(self.data), [])

    def make_lines(self):
        names = [name for name in self.names() if "," not in name]
        self.data = plain_file(self.rng, ";", names).replace(b"\r", b"")
        self.options += ["-t", ";"]
        lines = whole_lines(self.data)
        self.take_fields([(line, line[:-1].split(b";")) for line in lines], names, True)

    def take_fields(self, records, names, always=False):
        rng = self.rng
        if names:
            self.options.append("--header")
            if records:
                first = records[0][0]
                self.header = self.data[: self.data.index(first[:-1])] + first
                records = records[1:]
        wanted = [rng.randrange(4) for _ in range(rng.choice([1, 1, 2, 3]))]
        if not always and rng.random() < 0.1:
            self.records = [(raw, raw[:-1].rstrip(b"\r")) for raw, _ in records]
            self.records = [(raw, key.strip(BLANKS) if self.trim else key) for raw, key in self.records]
            return
        texts = []
        for field in wanted:
            name = names[field] if field < len(names) and rng.random() < 0.7 else None
            quoted = name and (rng.random() < 0.5 or re.search('[,"]', name))
            texts.append(str(field + 1) if not name else '"%s"' % name.replace('"', '""') if quoted else name)
        self.options += ["-F", ",".join(texts)]
        self.records = [(raw, self.key(fields, wanted)) for raw, fields in records]

    def key(self, fields, wanted):
        missing = any(field >= len(fields) for field in wanted)
        if missing and self.missing != "empty":
            return None
        found = [fields[field] if field < len(fields) else b"" for field in wanted]
        found = [field.strip(BLANKS) if self.trim else field for field in found]
        return found[0] if len(found) == 1 else netstrings(found)

    def make_jsonl(self):
        path, text = self.rng.choice([(["x"], ".x"), (["user", "id"], ".user.id"), (["tags", 1], ".tags[1]"), (["k"], '."k"')])
        self.data, self.records = json_file(self.rng), []
        self.options += ["--jsonl", text]
        for line in whole_lines(self.data):
            if not line.strip(b" \t\r\n"):
                continue
            try:
                key = json_key(line, path)
            except ValueError:
                self.invalid += 1
                self.whole = self.whole and self.missing == "skip"
                if not self.whole:
                    return
                continue
            if key is None and self.missing == "error":
                self.whole = False
                return
            key = b"" if key is None and self.missing == "empty" else key
            self.records.append((line, key if key is None or not self.trim else key.strip(BLANKS)))

    def folded(self, key):
        return key.lower() if self.fold else key


def expect(what, table, result, output, status):
    if result.stdout == output and result.returncode == status:
        return
    os.write(2, b"%s: status %d, not %d; options %r\n" % (what.encode(), result.returncode, status, table.options))
    os.write(2, b"input:    %r\nwanted:   %r\nprinted:  %r\n%s" % (table.data[:3000], output[:3000], result.stdout[:3000], result.stderr))
    sys.exit(1)


def check(perhaps, table, folder):
    rng, records = table.rng, table.records
    stops = next((i for i, (_, key) in enumerate(records) if key is None), None) if table.missing == "error" else None
    bad = stops is not None or (not table.whole and table.missing != "skip")
    shown = [(raw, key) for raw, key in records[:stops] if key is not None]
    if not table.whole and table.missing == "skip" and "--csv" in table.options:
        return  # what follows such a line is read anew, which Python does not do
    path, filter_path = os.path.join(folder, "table"), os.path.join(folder, "f.ph")
    with open(path, "wb") as file:
        file.write(table.data)
    fold = ["-i"] * table.fold
    seen, first = set(), []
    for raw, key in shown:
        if table.folded(key) not in seen:
            first.append(raw)
        seen.add(table.folded(key))
    if rng.random() < 0.5:
        more = rng.choice([[], [], ["--exact"]])
        result = run([perhaps, "dedup", *more, *fold, *table.options, path])
        expect("dedup", table, result, table.header + b"".join(first), 2 if bad else 0)
    chosen = {key for _, key in shown if rng.random() < 0.5 and b"\0" not in key}
    keys = b"".join(key + b"\0" for key in chosen)
    made = run([perhaps, "build", "-f", "-0", *fold, "-k", "table", "-n", "10", "-o", filter_path], input=keys)
    assert made.returncode == 0, made.stderr
    invert = rng.random() < 0.3
    members = {table.folded(key) for key in chosen}
    wanted = [raw for raw, key in shown if (table.folded(key) in members) != invert]
    options = ["-v"] * invert + rng.choice([[], [], ["-j", "2"]])
    command = [perhaps, "check", *options, "--elsewhere", *table.options, filter_path]
    piped = rng.random() < 0.3
    result = run(command, input=table.data) if piped else run([*command, path])
    expect("check", table, result, table.header + b"".join(wanted), 2 if bad else 0 if wanted else 1)


def main():
    perhaps, files = sys.argv[1], int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    held = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(files):
            try:
                check(perhaps, Table(random.Random(seed * 1000003 + number)), folder)
                held += 1
            except Unfit:
                pass
            except SystemExit:
                print("file %d of seed %d" % (number, seed), file=sys.stderr)
                raise
    print("%d of %d files compared" % (held, files))
    return held < files * 0.8


sys.exit(main())
