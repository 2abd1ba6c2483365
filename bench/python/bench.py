#!/usr/bin/python3
"""What Python costs: batches beside the C call, and single calls beside a loop, a set and pure Python.

    PYTHONPATH=build/release/bindings/python bench/python/bench.py build/release/libperhaps.so

Each line compares in one run: slices of both sides take turns, and the medians of all slices are
divided. They are processor time, which other programs disturb less. A million keys, unless
PERHAPS_BENCH_KEYS says otherwise.
"""

import ctypes
import hashlib
import math
import os
import statistics
import sys
import tempfile
import time

import numpy as np

import perhaps

KEYS = int(float(os.environ.get("PERHAPS_BENCH_KEYS", 1e6)))
SLICES = 15


class PurePython:
    """The Bloom filter that one writes in Python."""

    def __init__(self, items, fpr):
        self.bits = math.ceil(-items * math.log(fpr) / math.log(2) ** 2)
        self.hashes = round(self.bits / items * math.log(2))
        self.array = bytearray((self.bits + 7) // 8)

    def places(self, key):
        digest = hashlib.blake2b(key.encode(), digest_size=16).digest()
        a, b = int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")
        return ((a + i * b) % self.bits for i in range(self.hashes))

    def add(self, key):
        for place in self.places(key):
            self.array[place >> 3] |= 1 << (place & 7)

    def __contains__(self, key):
        return all(self.array[place >> 3] >> (place & 7) & 1 for place in self.places(key))


class Keys(ctypes.Structure):
    """perhaps_keys"""

    _fields_ = [
        ("form", ctypes.c_int), ("n", ctypes.c_size_t), ("data", ctypes.c_void_p), ("lengths", ctypes.c_void_p),
        ("width", ctypes.c_size_t), ("stride", ctypes.c_size_t),
    ]  # fmt: skip


def seconds(work):
    start = time.thread_time()
    work()
    return time.thread_time() - start


def compare(text, first, second, keys, other_keys=None):
    """Nanoseconds a key of both, and how many times as long the first takes. Short slices are more."""
    slices = SLICES if seconds(first) + seconds(second) > 0.02 else 10 * SLICES
    times = [(seconds(first), seconds(second)) for _ in range(slices)]
    a = statistics.median(pair[0] for pair in times) / keys * 1e9
    b = statistics.median(pair[1] for pair in times) / (other_keys or keys) * 1e9
    print(f"{text:<66} {a:8.1f} ns {b:8.1f} ns  ratio {a / b:6.2f}", flush=True)


def loop(container, keys, times=1):
    def run():
        for _ in range(times):
            for key in keys:
                key in container

    return run


def beside_c(library):
    """The same array and the same file, by ctypes and by the extension."""
    c = ctypes.CDLL(library)
    c.perhaps_contains_many.restype = c.perhaps_add_many.restype = ctypes.c_int64
    numbers = np.random.default_rng(1).integers(0, 2**63, KEYS, dtype=np.uint64)
    f = perhaps.Filter(KEYS, 0.01)
    f.add_many(numbers)
    path = os.path.join(tempfile.mkdtemp(), "f.ph")
    f.save(path)
    handle, out = ctypes.c_void_p(), np.zeros(KEYS, bool)
    with perhaps.Filter.open(path, mmap=True) as g:
        assert c.perhaps_open(ctypes.byref(handle), path.encode(), None) == 0
        batch = Keys(3, KEYS, numbers.ctypes.data, None, 8, 0)
        answers = ctypes.c_void_p(out.ctypes.data)

        def call():
            return c.perhaps_contains_many(handle, ctypes.byref(batch), answers)

        compare("contains_many(u64, out=...) : perhaps_contains_many", lambda: g.contains_many(numbers, out=out), call, KEYS)
        compare("contains_many(u64)          : perhaps_contains_many", lambda: g.contains_many(numbers), call, KEYS)


def main():
    print(f"Python {sys.version.split()[0]}, perhaps {perhaps.__version__}, {KEYS:,} keys, blocked at 1 %")
    beside_c(sys.argv[1])

    texts = [f"key-{i * 7919 % KEYS:012d}" for i in range(KEYS)]
    f = perhaps.Filter(KEYS, 0.01)
    f.add_many(texts)
    in_loop = loop(f, texts)
    array = np.array(texts, "S")
    packed = ("".join(texts).encode(), (np.arange(KEYS + 1) * 16).astype("i4"))
    compare("loop of `in` : contains_many(list of str)", in_loop, lambda: f.contains_many(texts), KEYS)
    compare("loop of `in` : contains_many(numpy 'S')", in_loop, lambda: f.contains_many(array), KEYS)
    compare("loop of `in` : contains_many((data, offsets))", in_loop, lambda: f.contains_many(packed), KEYS)
    compare("`in` : `in` of a set, a million keys", in_loop, loop(set(texts), texts), KEYS)

    few = texts[:1000]
    small = perhaps.Filter(1000, 0.01)
    small.add_many(few)
    compare("`in` : `in` of a set, a thousand keys", loop(small, few, 100), loop(set(few), few, 100), 100_000)
    pure = PurePython(1000, 0.01)
    for key in few:
        pure.add(key)
    compare("pure Python : `in`, a thousand keys", loop(pure, few, 3), loop(small, few, 3), 3000)


main()
