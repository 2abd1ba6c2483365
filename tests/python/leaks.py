"""Does anything leak? Every call, right and wrong, is repeated; references and memory must not grow.

With the debug interpreter (sys.gettotalrefcount) references are counted, with others the bytes that
tracemalloc sees. It needs neither numpy nor pytest.
"""

import array
import copy
import gc
import os
import pickle
import sys
import tempfile
import tracemalloc

import arrow_producer as arrow

import perhaps

COUNTED = hasattr(sys, "gettotalrefcount")
if COUNTED:
    # It is not compiled for this interpreter, and its references go uncounted.
    sys.modules["numpy"] = None

TEXTS = ["a", "Grüße", "key", "🌍" * 20]
if not COUNTED:
    TEXTS *= 400  # a batch that is not given back is then larger than what free lists take
path = os.path.join(tempfile.mkdtemp(), "f.ph")


class Odd:
    def __index__(self):
        raise KeyError("odd")


class Noted(perhaps.Filter):
    pass


class Many:
    def __index__(self):
        return 100


def attempt(call, *arguments, **named):
    try:
        return call(*arguments, **named)
    except (ValueError, TypeError, OSError, KeyError, BufferError, OverflowError):
        return None


def keys():
    for kind in ("blocked", "cuckoo", "table", "bitmap"):
        f = perhaps.Filter(100, kind=kind)
        for key in ("a", b"b", bytearray(b"c"), memoryview(b"d"), 5, 2**64 - 1, -1, 2**70, None, 1.5, True, "\ud800", Odd()):
            for call in (f.add, f.add_absent, f.__contains__, f.count, f.remove):
                attempt(call, key)
    for form in ("hex", "int32", "int64", "utf16", "u64"):
        f = perhaps.Filter(100, keys=form)
        for key in ("ab", "12", b"\xff", 5, -5, 2**33):
            attempt(f.add, key)
            attempt(f.add_many, [key])


def batches():
    good = [
        TEXTS, tuple(TEXTS), set(TEXTS), [b"x", bytearray(b"y"), memoryview(b"z")], (b"abc", array.array("i", [0, 1, 3])),
        arrow.Array(TEXTS, "u"), arrow.Array([None, *TEXTS], "U"), arrow.Array(TEXTS, "vu"), arrow.Stream([arrow.Array(TEXTS, "u")] * 2, "u"),
    ]  # fmt: skip
    many = [1, 2] * (len(TEXTS) // 2)
    numbers = [range(len(TEXTS)), array.array("Q", many), array.array("h", many), arrow.Array([None, *many], "i"), arrow.Array(many, "L")]
    bad = ["text", b"bytes", 5, None, [None], ["a", 1], [1, "a"], ["a", "\ud800"], [Odd()], [2**70], array.array("d", [1.0]), (b"a", array.array("i", [0, 5])),
           arrow.Array(["a"], "x"), arrow.Stream([], "u", fail=b"no"), [1, -1], array.array("q", [-1])]
    for some in (good, numbers):
        f = perhaps.Filter(100_000, kind="cuckoo")
        for batch in [*some, *bad, f]:
            for call in (f.add_many, f.contains_many, f.query_many, f.count_many, f.remove_many, f.update):
                attempt(call, batch)
        attempt(f.add_many, some[0], answers=True)
        attempt(f.contains_many, some[0], out=bytearray(len(some[0])))
        attempt(f.contains_many, some[0], out=b"")
        attempt(f.add_many, some[0], threads=-1)
        attempt(f.add, f)
    full = perhaps.Filter(100, 1e-6, kind="cuckoo", grow=False)
    attempt(full.add_many, range(5000))


def whole():
    for given in ({}, {"grow": True}, {"shards": 4}, {"generations": 3}, {"kind": "table"}, {"hash_key": bytes(16)}):
        f = perhaps.Filter(100, 0.01, **given)
        pickle.loads(pickle.dumps(f))
        f.update(TEXTS)
        g = f.copy()
        pickle.loads(pickle.dumps(f))
        attempt(f.__ior__, g)
        attempt(f.__iand__, g)
        attempt(f.__ior__, 5)
        attempt(f.overlap, g)
        assert f == f.copy() and f != 5
        repr(f), str(f.info), f.info.to_dict(), bytes(f), len(f)
        f.save(path)
        with perhaps.Filter.open(path, mmap=True, hash_key=given.get("hash_key")) as m:
            view = memoryview(m)
            attempt(m.close)
            attempt(m.add, "x")
            del view
        with perhaps.Filter.from_bytes(bytes(f), copy=False, hash_key=given.get("hash_key")) as m:
            assert "a" in m
        attempt(perhaps.Filter.from_bytes, b"no filter")
        attempt(perhaps.Filter.from_bytes, bytes(f)[:-1])
        attempt(perhaps.Filter.open, path + "none")
        attempt(perhaps.Filter.open, path, "r+")
        attempt(lambda f=f: list(f.members()))
        noted = Noted(100, 0.01, **given)
        noted.note = [noted]
        copy.copy(noted), copy.deepcopy(noted), pickle.loads(pickle.dumps(noted))
        f.clear()
        f.close()
        attempt(f.__init__, 100)
        attempt(pickle.dumps, f)
        attempt(f.add, "x")
    for bad in ({"items": -1}, {"fpr": "x", "items": 5}, {"items": 5, "kind": "odd"}, {"items": 2**63, "fpr": 1e-9}):
        attempt(perhaps.Filter, **bad)
    perhaps.Filter(Many(), seed=Many()).add(5)
    f = perhaps.Filter(100, period=100, clock=lambda: 5)
    f._set_clock(lambda: len(f))  # a cycle
    f.add("a")
    perhaps.build_static(TEXTS, 0.01)
    str(perhaps.plan(1000, 0.01))


def counted():
    gc.collect()
    return sys.gettotalrefcount() if COUNTED else tracemalloc.get_traced_memory()[0]


def main():
    if not COUNTED:
        tracemalloc.start()
    unit, most = ("references", 40) if COUNTED else ("bytes", 100_000)
    for work in (keys, batches, whole):
        for _ in range(3):
            work()
        before = counted()
        for _ in range(20):
            work()
        grown = counted() - before
        print(f"{work.__name__}: {grown} {unit} more after 20 rounds")
        if grown >= most:
            sys.exit(f"{work.__name__} leaks: {grown} {unit} in 20 rounds")


main()
