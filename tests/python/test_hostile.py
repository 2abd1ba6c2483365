"""Keys and batches that lie, change what they are in, or call the filter back; what is no batch."""

import array
import copy
import ctypes
import gc
import mmap
import pickle
import subprocess
import sys

import pytest
from support import filter_of

import perhaps


def run(code):
    """In an interpreter of its own: what hangs or crashes is seen from outside."""
    made = subprocess.run([sys.executable, "-c", "import perhaps\n" + code], capture_output=True, text=True, timeout=60)
    assert made.returncode == 0 and not made.stderr, made.stderr
    return made.stdout.split()


class Text(str):
    def __len__(self):
        return 10**9

    def __hash__(self):
        raise RuntimeError

    def __str__(self):
        return "another"


class Bytes(bytes):
    def __len__(self):
        return 10**9

    def __bytes__(self):
        return b"another"


def test_keys_that_lie():
    """A key is what the object is, not what its methods say."""
    f = filter_of("blocked", 100)
    assert f.add(Text("a")) and f.add(Bytes(b"b")) and f.add_many([Text("c"), Bytes(b"d")]) == 2
    assert f.query_many(["a", "b", "c", "d"]) == 4 and "another" not in f
    liar = type("Liar", (list,), {"__len__": lambda self: 10**12})(["e", "f"])
    assert f.add_many(liar) == 2 and "f" in f


@pytest.mark.parametrize("first", ["int", "text"])
def test_keys_that_empty_their_list(first):
    class Evil:
        def __index__(self):
            keys.clear()
            gc.collect()
            return 3

    keys = [1 if first == "int" else "a"] * 500
    keys += [Evil() for _ in range(500)]
    f = filter_of("blocked", 1000)
    if first == "int":
        assert f.add_many(keys) == 2
    else:
        with pytest.raises(TypeError, match="key 500"):
            f.add_many(keys)
        assert len(f) == 0


def test_keys_that_close_the_filter():
    class Closing:
        def __index__(self):
            f.close()
            return 5

    for call in ("add", "__contains__", "count", "remove"):
        f = filter_of("cuckoo", 100)
        with pytest.raises(ValueError, match="closed"):
            getattr(f, call)(Closing())
    for keys in ([Closing()], (Closing(), 1)):
        f = filter_of("cuckoo", 100)
        with pytest.raises(ValueError, match="closed"):
            f.add_many(keys)
    f = filter_of("blocked", 100)
    with pytest.raises(ValueError, match="closed"):
        f.update(f.close() or str(i) if i == 15_000 else str(i) for i in range(30_000))


def test_a_filter_is_made_once():
    f = filter_of("blocked", 100)
    f.close()
    with pytest.raises(ValueError, match="before"):
        f.__init__(100, kind="bitmap")


def test_arguments_that_call_back():
    """The arguments are read when the filter is made, not again when the first key decides."""

    class Items:
        asked = 0

        def __index__(self):
            self.asked += 1
            if f is not None:
                f.add("text")
            gc.collect()
            return 100

    f, items = None, Items()
    f = perhaps.Filter(items, 0.01, hash_key=bytearray(b"0123456789abcdef"))
    asked = items.asked
    assert f.add(5) and f.keys == "u64" and 5 in f and items.asked == asked
    f = None
    assert pickle.loads(pickle.dumps(perhaps.Filter(items, 0.01))).info.capacity == 100


def test_garbage_that_calls_back():
    """The collector of garbage may run in the middle of a call, and objects use the filter as they die."""
    code = """
import gc
f = perhaps.Filter(1000, kind="cuckoo", shards=500)
class Last:
    def __del__(self):
        f.add("dying")
for call in (lambda: f.info, lambda: f.overlap(f), lambda: bytes(f), lambda: f == f.copy(), lambda: f.add_many([str(i) for i in range(50)])):
    f.clear()
    gc.disable()
    gc.collect()
    last = Last()
    last.itself = last
    del last
    gc.set_threshold(100)
    gc.enable()
    call()
    gc.collect()
    print("dying" in f)
"""
    assert run(code) == ["True"] * 5


def test_iterators_that_change_the_filter():
    f = filter_of("blocked", 1000)
    assert f.add_many(f.add(f"own {i}") and f"key {i}" for i in range(100)) == 100 and len(f) == 200
    table = filter_of("table", 3000)
    table.add_many(range(2500))
    members = table.members()
    next(members)
    table.close()
    with pytest.raises(ValueError, match="closed"):
        list(members)


def test_what_is_no_batch():
    """What has the bytes of something else is not taken for an array of small integers."""
    f, other = filter_of("blocked", 1000), filter_of("blocked", 1000)
    other.add_many(["a", "b"])
    with mmap.mmap(-1, 4096) as mapping:
        for batch in (mapping, other, bytearray(8), b"12345678", memoryview(b"12345678"), "text"):
            for call in (f.add_many, f.contains_many, f.query_many, f.update):
                with pytest.raises(TypeError):
                    call(batch)
    with pytest.raises(TypeError, match=r"\|="):
        f.update(other)
    for call in (f.add, f.__contains__):
        with pytest.raises(TypeError, match="filter"):
            call(other)
    with pytest.raises(TypeError, match="filter"):
        f.add(f)
    assert len(f) == 0 and f.keys is None


class Pair(ctypes.Structure):
    _fields_ = [("a", ctypes.c_int), ("b", ctypes.c_int)]


def test_ctypes():
    f = filter_of("blocked", 100)
    assert f.add((ctypes.c_ubyte * 2)(97, 98)) and "ab" in f and (ctypes.c_char * 2)(b"a", b"b") in f
    with pytest.raises(TypeError):
        f.add((ctypes.c_uint16 * 2)(97, 98))
    g = filter_of("blocked", 100)
    assert g.add_many((ctypes.c_uint64 * 3)(1, 2, 3)) == 3
    assert g.query_many((ctypes.c_uint32.__ctype_be__ * 3)(1, 2, 4)) == 2
    for batch in ((Pair * 2)(), ((ctypes.c_int * 2) * 2)(), memoryview(array.array("d", [1.0]))):
        with pytest.raises((TypeError, ValueError)):
            g.add_many(batch)
    assert len(g) == 3


def test_numpy_oddities():
    np = pytest.importorskip("numpy")
    f = filter_of("blocked", 100)
    for key in (np.datetime64("2020-01-01"), np.timedelta64(5, "s"), np.float64(5), np.void(b"abc"), np.array([5])):
        with pytest.raises(TypeError):
            f.add(key)
        with pytest.raises(TypeError):
            f.add_many([key])
    masked = np.ma.array([1, 2, 3], mask=[0, 1, 0])
    with pytest.raises(TypeError, match="mask"):
        f.add_many(masked)
    assert f.keys is None and f.add_many(masked.compressed()) == 2
    records = np.zeros(5, [("x", "u1"), ("key", "<u8"), ("y", "u2")])
    records["key"] = [1, 2, 3, 4, 5]
    for keys in (records["key"], records["key"][::-1], np.frombuffer(b"x" + records["key"].tobytes(), "u1")[1:].view("u8")):
        g = filter_of("blocked", 100)
        assert g.add_many(keys, threads=2) == 5 and g.query_many([1, 2, 3, 4, 5]) == 5
    h = filter_of("blocked", 100)
    for keys, different in ((np.zeros(3, "S0"), 1), (np.zeros(3, "U0"), 0), (np.zeros(0, "S4"), 0), (np.broadcast_to(np.array(["ab"]), 4), 1)):
        assert h.add_many(keys) == different and h.contains_many(keys).all()
    k = filter_of("blocked", 100)
    assert k.add_many(np.broadcast_to(np.uint64(7), 4)) == 1 and k.add_many(np.zeros(0, ">i4")[::-1]) == 0 and 7 in k


def test_arrays_that_show_no_bytes():
    """They are read like lists, and the error is theirs or tells which key is wrong."""
    np = pytest.importorskip("numpy")
    f = filter_of("blocked", 100)
    released = memoryview(array.array("Q", [1, 2]))
    released.release()
    with pytest.raises(ValueError, match="released"):
        f.add_many(released)
    with pytest.raises(TypeError, match="key 0: .*datetime64"):
        f.add_many(np.array(["2020-01-01"], "M8[D]"))
    if hasattr(np, "dtypes") and hasattr(np.dtypes, "StringDType"):
        assert f.add_many(np.array(["a", "Grüße"], np.dtypes.StringDType())) == 2 and "Grüße" in f


@pytest.mark.parametrize("threads", [-1, 2**32, 2**64, 1.5, "2", None])
def test_threads_that_make_no_sense(threads):
    f = filter_of("blocked", 100)
    static = perhaps.Filter(100, 0.01, kind="fuse")
    for call in (f.add_many, f.contains_many, f.query_many, lambda _, threads: static.seal(threads=threads)):
        with pytest.raises((ValueError, TypeError), match="threads"):
            call(range(10), threads=threads)
    assert len(f) == 0


class Noted(perhaps.Filter):
    pass


def test_copies_are_whole():
    """What a copy or a pickle of a filter must not lose."""
    f = Noted(100, shared=True)
    f.note = ["of this one"]
    for decided in (False, True):
        if decided:
            f.add("a")
        for g in (copy.copy(f), pickle.loads(pickle.dumps(f)), copy.deepcopy(f), f.copy()):
            assert g == f and g.info.shared and g.note == ["of this one"] and g.keys == f.keys
    assert copy.copy(f).note is f.note and copy.deepcopy(f).note is not f.note
    closed = perhaps.Filter(100)
    closed.close()
    for call in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(ValueError, match="closed"):
            call(closed)


def test_what_pickles_could_say():
    """Arguments of a pickle are checked like those of a program."""
    restore = perhaps._filter._restore
    for arguments in ({"hash": 2, "hash_key": b"short"}, {"scratch_dir": b"a\0b"}, {"kind": 99}, {"grow": 7}, {"items": "10"}, {"form": 99}):
        with pytest.raises((ValueError, TypeError)):
            restore(perhaps.Filter, None, {"items": 10, "fpr": 0.1} | arguments, -1, None)
    with pytest.raises(TypeError, match="clock"):
        perhaps.Filter(10, period=10, clock=5)


def test_endless_without_length():
    """What has no length is added in pieces, also if it is no iterator itself."""
    f = filter_of("blocked", 100_000)

    class Lines:
        def __iter__(self):
            for i in range(25_000):
                yield str(i)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        f.update(Lines())
    assert len(f) == 20_000
    with pytest.raises(KeyboardInterrupt):
        f.add_many(Lines())
    assert len(f) == 20_000


def test_an_interpreter_that_ends():
    code = """
import atexit, builtins, sys, threading
class User:
    def __init__(self): self.f = perhaps.Filter(10)
    def __del__(self): self.f.add("x"); self.f | self.f; self.f.info; self.f.close()
user = User(); user.itself = user
builtins.kept = User(); sys.kept = User()
f = perhaps.Filter(1000)
atexit.register(lambda: f.add("y"))
keys = [str(i) for i in range(100_000)]
def work():
    while True: f.add_many(keys)
for _ in range(3): threading.Thread(target=work, daemon=True).start()
print("end")
"""
    assert run(code) == ["end"]


def test_subinterpreters():
    """Those that share the GIL."""
    code = """
try:
    import _interpreters as interpreters
    other = interpreters.create("legacy")
except ImportError:
    import _xxsubinterpreters as interpreters
    other = interpreters.create(isolated=False)
f = perhaps.Filter(10)
interpreters.run_string(other, '''
import perhaps
f = perhaps.Filter(10)
f.add("a")
try: perhaps.Filter.from_bytes(bytes(f)[:-1])
except perhaps.Damaged: print("a" in f)
''')
interpreters.destroy(other)
print(f.add("a"))
"""
    assert run(code) == ["True", "True"]
