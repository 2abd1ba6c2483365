"""RedisBloom's filters, as their documentation describes the algorithms: an implementation that shares nothing with the library.

Bloom and Cuckoo have the commands' verbs, and dump() gives what SCANDUMP gives: the header chunk, then the data of all layers
(or sub-filters) in one piece. Run as a program it compares the library with them, byte for byte:

    redisbloom_model.py PROGRAM      PROGRAM is foreign_bytes, which reads orders and writes dumps
"""
import math
import random
import struct
import subprocess
import sys

MASK = (1 << 64) - 1
MULTIPLIER = 0xC6A4A7935BD1E995


def murmur64a(data, seed):
    h = seed ^ (len(data) * MULTIPLIER & MASK)
    whole = len(data) // 8 * 8
    for (k,) in struct.iter_unpack("<Q", data[:whole]):
        k = k * MULTIPLIER & MASK
        k ^= k >> 47
        k = k * MULTIPLIER & MASK
        h = (h ^ k) * MULTIPLIER & MASK
    tail = data[whole:]
    if tail:
        h = (h ^ int.from_bytes(tail, "little")) * MULTIPLIER & MASK
    h ^= h >> 47
    h = h * MULTIPLIER & MASK
    return h ^ h >> 47


class Layer:
    def __init__(self, entries, error):
        self.entries, self.error, self.size = entries, error, 0
        self.bpe = -(math.log(error) / 0.480453013918201)
        self.bits = (max(1, int(entries * self.bpe)) + 63) // 64 * 64
        self.hashes = math.ceil(0.693147180559945 * self.bpe)
        self.array = bytearray(self.bits // 8)

    def places(self, a, b):
        return (((a + i * b) & MASK) % self.bits for i in range(self.hashes))

    def contains(self, a, b):
        return all(self.array[p >> 3] >> (p & 7) & 1 for p in self.places(a, b))

    def add(self, a, b):
        for p in self.places(a, b):
            self.array[p >> 3] |= 1 << (p & 7)
        self.size += 1

    def header(self):
        return struct.pack("<QQQddIQB", len(self.array), self.bits, self.size, self.error, self.bpe, self.hashes,
                           self.entries, 0)


class Bloom:
    """BF.RESERVE error capacity [EXPANSION growth] [NONSCALING]; error above 0.25 is the command's business."""

    def __init__(self, error, capacity, growth=2, nonscaling=False):
        self.growth = growth
        self.scales = not nonscaling and growth != 0
        self.layers = [Layer(capacity, error * 0.5 if self.scales else error)]

    @staticmethod
    def _words(item):
        a = murmur64a(item, MULTIPLIER)
        return a, murmur64a(item, a)

    def exists(self, item):
        a, b = self._words(item)
        return int(any(layer.contains(a, b) for layer in reversed(self.layers)))

    def add(self, item):
        """1 new, 0 seen, -2 full."""
        if self.exists(item):
            return 0
        newest = self.layers[-1]
        if newest.size >= newest.entries:
            if not self.scales:
                return -2
            newest = Layer(newest.entries * self.growth, newest.error * 0.5)
            self.layers.append(newest)
        newest.add(*self._words(item))
        return 1

    @property
    def size(self):
        return sum(layer.size for layer in self.layers)

    def dump(self):
        options = 5 if self.scales else 13
        header = struct.pack("<QIII", self.size, len(self.layers), options, self.growth)
        header += b"".join(layer.header() for layer in self.layers)
        return header, b"".join(bytes(layer.array) for layer in self.layers)


def power_of_two(n):
    power = 1
    while power < n:
        power *= 2
    return power


class Cuckoo:
    """CF.RESERVE capacity [BUCKETSIZE size] [MAXITERATIONS steps] [EXPANSION expansion]."""

    def __init__(self, capacity, size=2, steps=20, expansion=1, most=32):
        self.size, self.steps, self.most = size, steps, most
        self.expansion = power_of_two(expansion) if expansion else 0
        self.buckets = power_of_two(capacity // size)
        self.items = self.deletes = 0
        self.filters = []
        self._grow()

    def _grow(self):
        buckets = self.buckets * self.expansion ** len(self.filters)
        self.filters.append([bytearray(self.size) for _ in range(buckets)])

    @staticmethod
    def _alternative(home, print_):
        return home ^ (print_ * 0x5BD1E995)

    def _key(self, item):
        h = murmur64a(item, 0)
        return h % 255 + 1, h, self._alternative(h, h % 255 + 1)

    @staticmethod
    def _buckets(sub, homes):
        return [sub[home % len(sub)] for home in homes]

    def _place(self, sub, homes, content, value):
        """Replaces the first `content` of the two buckets by `value`."""
        for bucket in self._buckets(sub, homes):
            at = bucket.find(content)
            if at >= 0:
                bucket[at] = value
                return True
        return False

    def exists(self, item):
        return int(self.count(item) > 0)

    def count(self, item):
        print_, *homes = self._key(item)
        return sum(bucket.count(print_) for sub in self.filters for bucket in self._buckets(sub, homes))

    def add(self, item):
        """1 added, -1 full."""
        print_, *homes = self._key(item)
        while True:
            if any(self._place(sub, homes, 0, print_) for sub in reversed(self.filters)):
                break
            if self._evict(self.filters[-1], homes[0], print_):
                break
            if self.expansion == 0 or len(self.filters) >= self.most:
                return -1
            self._grow()
        self.items += 1
        return 1

    def add_absent(self, item):
        return 0 if self.exists(item) else self.add(item)

    def _evict(self, sub, home, print_):
        trail, at = [], home % len(sub)
        for step in range(self.steps):
            slot = step % self.size
            trail.append((at, slot, sub[at][slot]))
            print_, sub[at][slot] = sub[at][slot], print_
            at = self._alternative(at, print_) % len(sub)
            empty = sub[at].find(0)
            if empty >= 0:
                sub[at][empty] = print_
                return True
        for at, slot, before in reversed(trail):
            sub[at][slot] = before
        return False

    def delete(self, item):
        print_, *homes = self._key(item)
        if not any(self._place(sub, homes, print_, 0) for sub in reversed(self.filters)):
            return 0
        self.items -= 1
        self.deletes += 1
        if len(self.filters) > 1 and self.deletes > self.items * 0.10:
            self.compact(False)
        return 1

    def compact(self, go_on=True):
        """CF.COMPACT goes on where a sub-filter could not be emptied; what follows a delete does not."""
        for i in range(len(self.filters) - 1, 0, -1):
            emptied = self._empty(i)
            if emptied and i == len(self.filters) - 1:
                self.filters.pop()
            if not emptied and not go_on:
                break
        self.deletes = 0
        return 0

    def _empty(self, i):
        emptied = True
        for home, bucket in enumerate(self.filters[i]):
            for slot, print_ in enumerate(bucket):
                if print_ == 0:
                    continue
                homes = (home, self._alternative(home, print_))
                if any(self._place(sub, homes, 0, print_) for sub in self.filters[:i]):
                    bucket[slot] = 0
                else:
                    emptied = False
        return emptied

    def dump(self):
        header = struct.pack("<QQQQHHH", self.items, self.buckets, self.deletes, len(self.filters), self.size,
                             self.steps, self.expansion)
        return header, b"".join(bytes(bucket) for sub in self.filters for bucket in sub)


# ---- beside the library ----

def orders(rng, n, deletes):
    """Adds of keys of all lengths, a quarter of them again. With deletes, they come in waves, so that a filter gets smaller and
    larger again; one in ten is of a key that is not in. Some orders are to compact."""
    known = [b""]
    for i in range(n):
        if deletes and rng.random() < 0.005:
            yield b"c", b""
        elif deletes and i * 5 // n % 2 and rng.random() < 0.8:
            absent = rng.random() < 0.1 or len(known) < 2
            yield b"d", b"absent %d" % i if absent else known.pop(rng.randrange(len(known)))
        elif rng.random() < 0.25:
            yield b"a", rng.choice(known)
        else:
            key = b"%x-" % i + bytes(rng.randrange(256) for _ in range(rng.randrange(20)))
            known.append(key.replace(b"\n", b" "))
            yield b"a", known[-1]


def compare(program, arguments, model, n, deletes=False):
    """The program answers every order with a line, and ends with the dump in hexadecimal."""
    rng = random.Random(repr(arguments))
    lines, expected = [], []
    for verb, key in orders(rng, n, deletes):
        lines.append(verb + key)
        expected.append(model.add(key) if verb == b"a" else model.delete(key) if verb == b"d" else model.compact())
    run = subprocess.run([program, *map(str, arguments)], input=b"\n".join(lines) + b"\n", stdout=subprocess.PIPE,
                         check=True)
    *answers, dump = run.stdout.decode().split("\n")[:-1]
    wrong = [i for i, (a, b) in enumerate(zip(answers, expected)) if int(a) != b]
    if len(answers) != len(expected) or wrong:
        sys.exit(f"{arguments}: {len(answers)} of {len(expected)} answers; the first that differs: {wrong[:1]}")
    if bytes.fromhex(dump) != b"".join(model.dump()):
        sys.exit(f"{arguments}: the bytes differ")
    print(*arguments, len(dump) // 2, "bytes equal")


def main(program):
    for error in (0.25, 0.01, 1e-6):
        for capacity, growth, n in ((1, 2, 300), (100, 1, 900), (100, 2, 3000), (64, 4, 3000), (2, 32768, 300)):
            compare(program, ("bloom", error, capacity, growth), Bloom(error, capacity, growth), n)
    for capacity in (1, 100, 2000):
        compare(program, ("fixed", 0.01, capacity, 2), Bloom(0.01, capacity, 2, True), 800)
    compare(program, ("fixed", 0.01, 500, 0), Bloom(0.01, 500, 0), 800)
    for size in (1, 2, 4, 255):
        for expansion in (0, 1, 2, 3, 4):
            for capacity, steps, deletes in ((2 * size, 20, False), (100, 20, True), (256, 60, False), (30, 3, True)):
                model = Cuckoo(capacity, size, steps, expansion)
                compare(program, ("cuckoo", capacity, size, steps, expansion), model, 1200, deletes)


if __name__ == "__main__":
    main(sys.argv[1])
