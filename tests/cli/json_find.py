#!/usr/bin/python3
"""json_find.py PROGRAM [DOCUMENTS [SEED]]: what json_find (cli/input) finds in generated JSON records beside what Python's
json module finds: valid ones in many spellings, mutated and cut ones. PROGRAM is built from json_answers.c. The seed and
the record of a difference are printed; 600 documents without a number, 30,000 with PERHAPS_TEST_SIZE=long."""
import json
import os
import random
import re
import subprocess
import sys

ODD = ['"', '\\', '/', '\b', '\f', '\n', '\r', '\t', '\0', '\x1f', ' ', '\x7f', 'é', 'ß', '\u0800', '€', '\ud800', '\udfff',
       '\ufeff', '\uffff', '𝄞', '\U0010ffff', '{', '}', '[', ']', ':', ',', '0', 'x']
NAMES = ['a', 'b', 'id', 'user', 'odd name', '', 'a.b', 'é', 'q"', 'back\\n', 'new\n', 'long' * 9, '0', 'nul\0', '𝄞']
SPACES = [''] * 12 + [' ', '\n', '\t', '\r\n', '  ', ' ' * 17]
PIECES = [b'"', b'\\', b'{', b'}', b'[', b']', b':', b',', b'0', b'-', b'.', b'e', b'+', b'\\u', b'\\ud800', b'u', b'null', b'true',
          b'NaN', b'Infinity', b'-Infinity', b' ', b'\n', b'\0', b'\x1f', b'\x7f', b'\x80', b'\xc3', b'\xed\xa0\x80', b'\xf4\x90\x80\x80',
          b'\xef\xbb\xbf', b'\xc2\xa0', b'//', b"'", b'1.', b'.5', b'01', b'1e', b'""', b'{}', b'[]', b'"a":', b',"a":1']


class Number(str):
    """A number as it is written."""


class Raw:
    """Writes values in many spellings, and keeps where they begin and end."""

    def __init__(self, chance):
        self.chance = chance

    def space(self):
        return self.chance.choice(SPACES)

    def text(self):
        letters = ''.join(self.chance.choice('abcdefghijklmnop ') for _ in range(self.chance.choice([0, 1, 3, 8, 15, 16, 17, 31, 33, 70])))
        for _ in range(self.chance.choice([0, 0, 0, 1, 2, 9])):
            at = self.chance.randint(0, len(letters))
            letters = letters[:at] + self.chance.choice(ODD) + letters[at:]
        return letters

    def string(self, text):
        return '"' + ''.join(map(self.character, text)) + '"'

    def character(self, c):
        short = {'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't', '/': '/'}
        spellings = []
        if c >= ' ' and c not in '"\\' and not '\ud800' <= c <= '\udfff':
            spellings += [c] * 20
        if c in short:
            spellings += ['\\' + short[c]] * 5
        units = c.encode('utf-16-be', 'surrogatepass').hex()
        escaped = ''.join('\\u' + units[i:i + 4] for i in range(0, len(units), 4))
        spellings += [escaped, '\\u'.join(p.upper() for p in escaped.split('\\u'))]
        return self.chance.choice(spellings)

    def number(self):
        chance = self.chance
        digits = lambda most: ''.join(chance.choice('0123456789') for _ in range(chance.randint(1, most)))
        whole = chance.choice(['0', chance.choice('123456789'), chance.choice('123456789') + digits(25)])
        return (chance.choice(['', '', '-']) + whole + chance.choice(['', '', '.' + digits(20)]) +
                chance.choice(['', '', chance.choice('eE') + chance.choice(['', '+', '-']) + digits(4)]))

    def value(self, depth):
        kind = self.chance.random()
        if depth and kind < 0.35:
            return self.object(depth - 1)
        if depth and kind < 0.5:
            return self.array(depth - 1)
        if kind < 0.75:
            return self.string(self.text())
        return self.number() if kind < 0.9 else self.chance.choice(['true', 'false', 'null'])

    def join(self, opening, items, closing):
        return opening + self.space() + (self.space() + ',' + self.space()).join(items) + self.space() + closing

    def object(self, depth):
        # Few, so that some come twice.
        names = self.chance.sample(NAMES, self.chance.choice([1, 2, 3]))
        return self.join('{', [self.string(self.chance.choice(names)) + self.space() + ':' + self.space() + self.value(depth)
                               for _ in range(self.chance.choice([0, 1, 2, 4]))], '}')

    def array(self, depth):
        return self.join('[', [self.value(depth) for _ in range(self.chance.choice([0, 1, 2, 4]))], ']')

    def document(self):
        value = self.chance.choice([self.object, self.object, self.array, self.value])(self.chance.randint(0, 5))
        return (self.space() + value + self.space()).encode()


def mutate(chance, record):
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        at, other = chance.randint(0, len(record)), chance.randint(0, len(record))
        record = chance.choice([
            lambda: record[:at],
            lambda: record[at:],
            lambda: record[:at] + record[at + 1:],
            lambda: record[:at] + chance.choice(PIECES) + record[at:],
            lambda: record[:at] + chance.choice(PIECES) + record[at + 1:],
            lambda: record[:min(at, other)] + record[max(at, other):],
            lambda: record[:at] + bytes([chance.randrange(256)]) + record[at + 1:],
            lambda: record[:at] + record[other:other + 9] + record[at:],
        ])()
    return record


def refuse(word):
    raise ValueError(word)


def parse(record):
    """The value, with numbers as written; ValueError if this is not JSON in UTF-8."""
    return json.loads(record.decode('utf-8'), parse_int=Number, parse_float=Number, parse_constant=refuse)


def steps_in(chance, value):
    """A way into the value, as far as chance goes."""
    steps = []
    while isinstance(value, (dict, list)) and value and chance.random() < 0.85:
        step = chance.choice(list(value)) if isinstance(value, dict) else chance.randrange(len(value))
        steps.append(step)
        value = value[step]
    return steps


def some_steps(chance):
    return [chance.choice(NAMES + [0, 1, 2]) for _ in range(chance.choice([0, 1, 1, 2, 3]))]


def spell(chance, writer, steps):
    text = ''
    for step in steps:
        if isinstance(step, int):
            text += chance.choice(['', '.'] if text else ['.']) + f'[{step}]'
        elif re.fullmatch(r'[^\x00-\x20\x7f."\\\[\]\ud800-\udfff]+', step) and chance.random() < 0.5:
            text += '.' + step
        else:
            text += '.' + writer.string(step)
    return (text or '.').encode()


def follow(value, steps):
    for step in steps:
        if isinstance(step, int) != isinstance(value, list) or not isinstance(value, (dict, list)):
            return None
        if isinstance(value, dict) and step not in value or isinstance(value, list) and step >= len(value):
            return None
        value = value[step]
    return value


def wrong(record, steps, answer):
    """What is wrong with the answer, or None."""
    kind, _, rest = answer.partition(' ')
    try:
        value = follow(parse(record), steps)
    except ValueError as error:
        return None if kind == 'invalid' else f'Python: {error}'
    if value is None:
        return None if answer == 'missing' else 'Python: nothing is there'
    if kind != 'found':
        return f'Python: {value!r}'
    key = bytes.fromhex(rest)
    if isinstance(value, (dict, list)):
        same = key in record and key[:1] in b'{[' and key[-1:] in b'}]' and parse(key) == value
    elif isinstance(value, bool):
        same = key == (b'true' if value else b'false')
    else:
        same = key == value.encode('utf-8', 'surrogatepass')
    return None if same else f'Python: {value!r}'


def questions(seed, documents):
    """Pairs of a record and steps; half of the records are damaged."""
    for i in range(documents):
        chance = random.Random(f'{seed}/{i}')
        writer = Raw(chance)
        record = writer.document()
        steps = steps_in(chance, parse(record)) if chance.random() < 0.8 else some_steps(chance)
        if i % 2:
            record = mutate(chance, record)
        yield record, steps, spell(chance, writer, steps)


def main():
    long = os.environ.get('PERHAPS_TEST_SIZE') == 'long'
    documents = int(sys.argv[2]) if len(sys.argv) > 2 else 30000 if long else 600
    seed = sys.argv[3] if len(sys.argv) > 3 else '24'
    asked = list(questions(seed, documents))
    text = b''.join(b'%d %d\n%b%b' % (len(path), len(record), path, record) for record, _, path in asked)
    answers = subprocess.run([sys.argv[1]], input=text, stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
    if len(answers) != len(asked):
        sys.exit(f'{len(asked)} questions, {len(answers)} answers')
    differences = 0
    for i, ((record, steps, path), answer) in enumerate(zip(asked, answers)):
        why = wrong(record, steps, answer)
        if why:
            differences += 1
            print(f'seed {seed}, document {i}: {path!r} in {record!r}: {answer}; {why}')
    kinds = {kind: sum(answer.startswith(kind) for answer in answers) for kind in ('found', 'missing', 'invalid', 'path')}
    print(f'{documents} documents of seed {seed}: {kinds}, {differences} differences')
    if differences or min(kinds[kind] for kind in ('found', 'missing', 'invalid')) < documents // 50:
        sys.exit(1)


main()
