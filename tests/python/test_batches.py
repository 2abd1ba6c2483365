"""Batches: every form of keys answers as single calls do, in every kind and composite filter."""

import array
import ctypes
import itertools

import arrow_producer as arrow
import pytest
from support import COMPOSITES, KINDS, MULTISETS, filter_of, made

import perhaps

np = pytest.importorskip("numpy")

NUMBERS = [0, 1, 5, 77, 200, 255]
OTHERS = [2, 6, 100, 254]
TEXTS = ["", "a", "Grüße", "key 1", "x" * 40, "🌍"]
ASCII = ["a", "bb", "key 1", "x" * 40, "y" * 12, "z" * 13]


def strided(values, dtype):
    """Every other element of an array, from its end."""
    whole = np.zeros(2 * len(values), dtype)
    whole[::-2] = values
    return whole[::-2]


def packed(texts, dtype):
    data = [text.encode() for text in texts]
    return b"".join(data), np.cumsum([0, *map(len, data)], dtype=dtype)


# Each form of a batch, with the keys that it stands for.
FORMS = {
    "list of int": (NUMBERS, NUMBERS),
    "tuple of int": (tuple(NUMBERS), NUMBERS),
    "range": (range(50), list(range(50))),
    "generator": (lambda: (n for n in NUMBERS), NUMBERS),
    "set": (set(NUMBERS), sorted(NUMBERS)),
    "numpy ints in a list": ([np.uint64(n) for n in NUMBERS], NUMBERS),
    "object array of ints": (np.array(NUMBERS, object), NUMBERS),
    **{
        f"array {order}{code}": (np.array(NUMBERS[:3], order + code), NUMBERS[:3])
        for order, code in itertools.product("<>", ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8"])
    },
    **{f"strided {code}": (strided(NUMBERS, code), NUMBERS) for code in ("<u8", ">u8", "u4", "i8", "u1")},
    "every third": (np.repeat(np.array(NUMBERS, "u8"), 3)[::3], NUMBERS),
    "one value, broadcast": (np.broadcast_to(np.uint64(7), 5), [7] * 5),
    "field of records": (np.array([(n, 1.5) for n in NUMBERS], "u8,f4")["f0"], NUMBERS),
    "array.array": (array.array("Q", NUMBERS), NUMBERS),
    "memoryview": (memoryview(array.array("L", NUMBERS)), NUMBERS),
    "ctypes": ((ctypes.c_uint64 * len(NUMBERS))(*NUMBERS), NUMBERS),
    **{f"Arrow {form}": (arrow.Array(NUMBERS[:4], form), NUMBERS[:4]) for form in "cCsSiIlL"},
    "Arrow integers, sliced": (arrow.Array(NUMBERS, "L", 1, 4), NUMBERS[1:4]),
    "Arrow integers of a stream": (arrow.Stream([arrow.Array(NUMBERS[:2], "i"), arrow.Array(NUMBERS, "i", 2)], "i"), NUMBERS),
    "list of str": (TEXTS, TEXTS),
    "list of bytes": ([text.encode() for text in TEXTS], TEXTS),
    "list of other bytes": ([memoryview(TEXTS[0].encode()), bytearray(TEXTS[1].encode()), *TEXTS[2:]], TEXTS),
    "dict": (dict.fromkeys(TEXTS), TEXTS),
    "iterator of str": (lambda: iter(TEXTS), TEXTS),
    "object array of str": (np.array(TEXTS, object), TEXTS),
    "S": (np.array(ASCII, "S"), ASCII),
    "S of one length": (np.array(["abc", "def", "ghi"], "S"), ["abc", "def", "ghi"]),
    "S, strided": (strided(ASCII, "S50"), ASCII),
    "S of one length, strided": (np.array(["abc", "xxx", "def", "xxx"], "S")[::2], ["abc", "def"]),
    "U": (np.array(TEXTS), TEXTS),
    "U of other order": (np.array(TEXTS).astype(">U40"), TEXTS),
    "U, strided": (strided(TEXTS, "U40"), TEXTS),
    "packed, 32 bits": (packed(TEXTS, "i4"), TEXTS),
    "packed, 64 bits": (packed(TEXTS, "u8"), TEXTS),
    **{f"Arrow {form}": (arrow.Array(TEXTS, form), TEXTS) for form in ("u", "U", "z", "Z", "vu", "vz")},
    "Arrow fixed": (arrow.Array(["abc", "def"], "w:3"), ["abc", "def"]),
    "Arrow text, sliced": (arrow.Array(TEXTS, "u", 2, 5), TEXTS[2:5]),
    "Arrow views, sliced": (arrow.Array(ASCII, "vu", 3), ASCII[3:]),
    "Arrow text of a stream": (arrow.Stream([arrow.Array(TEXTS, "U", 0, 3), arrow.Array(TEXTS, "U", 3)], "U"), TEXTS),
    "no keys": ([], []),
    "empty array": (np.array([], "u8"), []),
    "empty S": (np.array([], "S3"), []),
    "empty Arrow": (arrow.Array([], "u"), []),
    "empty stream": (arrow.Stream([], "u"), []),
    "packed, no keys": ((b"", np.zeros(1, "i4")), []),
}


def fresh(batch):
    return batch() if callable(batch) else batch


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("composite", COMPOSITES)
@pytest.mark.parametrize("kind", KINDS)
def test_batches_answer_as_single_calls(kind, composite, form):
    batch, keys = FORMS[form]
    f, single = made(kind, composite, 300), made(kind, composite, 300)
    if f is None or (kind == "bitmap" and keys and isinstance(keys[0], str)):
        return
    if not keys:
        f.add(1 if kind == "bitmap" else "a")
        assert f.add_many(fresh(batch)) == 0 and len(f.contains_many(fresh(batch))) == 0
        return
    new = [single.add(key) for key in keys]
    answers = f.add_many(fresh(batch), answers=True)
    # Of a set the order of keys is another.
    assert answers.dtype == bool and sorted(answers) == sorted(new)
    assert len(f) == len(single) and f.keys == single.keys
    assert all(key in f for key in keys)
    found = f.contains_many(fresh(batch))
    assert found.dtype == bool and found.all() and len(found) == len(keys)
    assert f.query_many(fresh(batch)) == len(keys)
    if kind in MULTISETS and "count" in f.info.can:
        assert sorted(f.count_many(fresh(batch))) == sorted(single.count(key) for key in keys)
    if "remove" in f.info.can:
        removed = len(set(keys)) if kind not in MULTISETS else len(keys)
        assert f.remove_many(fresh(batch)) == removed and len(f) == 0
    if kind not in ("cuckoo", "table"):
        return
    assert f.contains_many(fresh(batch)).sum() == 0 or "remove" not in f.info.can


@pytest.mark.parametrize("threads", [0, 1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_threads(kind, threads):
    f = filter_of(kind, 50_000)
    keys = np.arange(40_000, dtype="u8")
    if f.info.parallel or threads == 1:
        f.add_many(keys, threads=threads)
    else:
        with pytest.raises(ValueError, match="shards|threads"):
            f.add_many(keys, threads=threads)
        f.add_many(keys)
    found = f.contains_many(np.arange(50_000, dtype="u8"), threads=threads)
    assert found[:40_000].all() and found[40_000:].sum() < 10


@pytest.mark.parametrize("form, values", [("u", TEXTS), ("U", TEXTS), ("vu", ASCII), ("l", NUMBERS), ("S", NUMBERS), ("w:3", ["abc", "def", "ghi", "jkl"])])
def test_nulls_are_no_members(form, values):
    with_nulls = [None, *values[:2], None, None, *values[2:], None]
    expected = [value is not None for value in with_nulls]
    for count_nulls in (True, False):
        batch = arrow.Array(with_nulls, form, count_nulls=count_nulls)
        f = filter_of("counting", 1000)
        assert f.add_many(batch, answers=True).tolist() == expected
        assert f.add_many(batch) == len(values)
        assert f.contains_many(batch).tolist() == expected
        assert f.count_many(batch).tolist() == [2 * there for there in expected]
        for start, stop in ((1, 6), (3, 5), (0, 1), (2, 9)):
            stop = min(stop, len(with_nulls))
            piece = arrow.Array(with_nulls, form, start, stop, count_nulls)
            assert f.contains_many(piece).tolist() == expected[start:stop]
        pieces = arrow.Stream([arrow.Array(with_nulls, form, 0, 4), arrow.Array(with_nulls, form, 4)], form)
        assert f.contains_many(pieces).tolist() == expected
        assert f.remove_many(batch, answers=True).tolist() == expected


def test_arrow_arrays_are_given_back():
    f = filter_of("blocked", 100)
    before = arrow.released
    f.add_many(arrow.Array(TEXTS, "u"))
    f.add_many(arrow.Stream([arrow.Array(TEXTS, "u")] * 3, "u"))
    with pytest.raises(ValueError, match="no more"):
        f.add_many(arrow.Stream([arrow.Array(TEXTS, "u")] * 2, "u", fail=b"no more"))
    assert arrow.released == before + 6


def test_arrow_refusals():
    f = filter_of("blocked", 100)
    for form in ("g", "b", "tdD", "+s", "n"):
        array = arrow.Array(NUMBERS, "L")
        array.form = form
        with pytest.raises(TypeError, match="Arrow"):
            f.add_many(array)
    with pytest.raises(ValueError):
        f.add_many(arrow.Array([1, -1], "l"))
    assert len(f) == 0


@pytest.mark.parametrize(
    "batch",
    [
        np.array([1.5]), np.array([True]), np.array(["2020-01-01"], "M8[D]"), np.array([1j]), np.array([(1, 2)], "u8,u8"),
        np.array([None]), np.array([1.5], object), [None], [1.5], 5, None, 1.5, object(), [["a"]], np.array([b"x"], "V1"),
    ],
)  # fmt: skip
def test_other_arrays_are_refused(batch):
    f = filter_of("blocked", 100)
    for call in (f.add_many, f.contains_many, f.query_many):
        with pytest.raises(TypeError):
            call(batch)
    assert len(f) == 0


def test_two_dimensions_are_refused():
    f = filter_of("blocked", 100)
    for batch in (np.zeros((2, 2), "u8"), np.zeros((), "u8")):
        with pytest.raises(ValueError, match="one dimension"):
            f.add_many(batch)


def test_negative_integers():
    f = filter_of("blocked", 100)
    for batch in ([3, -1], np.array([3, -1]), np.array([3, -1], "i1"), np.array([3, -1], ">i4")):
        with pytest.raises(ValueError, match="key 1: .*not -1"):
            f.add_many(batch)
    f = perhaps.Filter(100, keys="int64")
    assert f.add_many([-1, 3]) == 2 and f.contains_many(np.array([3, -1], "i2")).all() and "-1" in f
    with pytest.raises(ValueError):
        f.add_many(np.array([2**63], "u8"))
    with pytest.raises(ValueError):
        f.add_many([-1, 2**63])


def test_surrogates_in_arrays():
    f = filter_of("blocked", 100)
    with pytest.raises(ValueError, match="key 1"):
        f.add_many(np.array(["a", "\ud800"]))
    assert len(f) == 0


@pytest.mark.parametrize("offsets", [[0, 5], [0, 2, 1], [-1, 0], [], [1.0, 2.0], [[0, 1]]])
def test_offsets_are_checked(offsets):
    f = filter_of("blocked", 100)
    with pytest.raises((ValueError, TypeError)):
        f.add_many((b"abc", np.array(offsets, "f8" if 1.0 in offsets and offsets else "i4")))
    assert len(f) == 0


def test_a_pair_of_keys_is_no_packed_batch():
    f = filter_of("blocked", 100)
    assert f.add_many((b"ab", b"cd")) == 2 and f.add_many(("x", "y")) == 2 and b"cd" in f and "y" in f


def test_out():
    f = filter_of("blocked", 100)
    f.add_many(["a", "b"])
    out = np.ones(3, bool)
    assert f.contains_many(["a", "x", "b"], out=out) is out and out.tolist() == [True, False, True]
    buffer = bytearray(b"\7\7")
    f.contains_many(["x", "a"], out=buffer)
    assert buffer == b"\0\1"
    for wrong in (bytearray(1), np.zeros(2, "u8"), b"\0\0"):
        with pytest.raises((ValueError, BufferError, TypeError)):
            f.contains_many(["x", "a"], out=wrong)


def test_a_batch_that_does_not_fit_changes_nothing():
    f = perhaps.Filter(1000, 1e-6, kind="cuckoo", grow=False)
    f.add_many(range(900))
    with pytest.raises(perhaps.Full, match="nothing was added"):
        f.add_many(np.arange(10_000, 40_000, dtype="u8"))
    assert f.contains_many(range(900)).all() and len(f) == 900
    assert f.query_many(np.arange(10_000, 40_000, dtype="u8")) < 5


def test_pandas():
    pd = pytest.importorskip("pandas")
    f = filter_of("blocked", 100)
    series = pd.Series(["a", "b", "c"])
    assert f.add_many(series[1:]) == 2
    assert f.contains_many(series).tolist() == [False, True, True]
    assert f.contains_many(pd.Series(["a", "b"], dtype="string")).tolist() == [False, True]
    with pytest.raises(TypeError):
        f.contains_many(pd.Series(["a", None]))
    g = filter_of("blocked", 100)
    assert g.add_many(pd.Series([5, 6])) == 2 and g.contains_many(pd.Index([6, 7])).tolist() == [True, False]


def test_lists_that_change():
    """A class whose __index__ changes the list that it is in."""

    class Evil:
        def __index__(self):
            keys.clear()
            return 3

    keys = [1, Evil(), 2, 4]
    f = filter_of("blocked", 100)
    assert f.add_many(keys) == 4 and 4 in f


def test_update():
    f = filter_of("blocked", 100_000)
    f.update(["a"], (str(i) for i in range(25_000)), iter([]), np.array(["z"]))
    assert f.query_many([str(i) for i in range(25_000)]) == 25_000 and "z" in f and "a" in f
    with pytest.raises(TypeError):
        f.update(iter(["new", None]))
    assert "new" not in f


def test_long_texts():
    """Chunks of long text are hashed without the GIL."""
    texts = [str(i) * 2000 for i in range(600)]
    f = filter_of("blocked", 1000)
    assert f.add_many(texts) == 600 and all(text in f for text in texts) and f.query_many(texts) == 600
