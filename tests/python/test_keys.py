"""Keys: what they may be, what the recipe of a filter makes of them, and what is refused."""

import subprocess

import pytest
from support import KINDS, PERHAPS, filter_of

import perhaps


class Index:
    """Like an integer."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


@pytest.mark.parametrize("kind", KINDS)
def test_equal_keys(kind):
    f = filter_of(kind, 100)
    if kind == "bitmap":
        assert f.add(7) and 7 in f and Index(7) in f and 8 not in f
        return
    f.add("Grüße")
    for key in ("Grüße", "Grüße".encode(), bytearray("Grüße".encode()), memoryview("Grüße".encode())):
        assert key in f
    f.add(b"")
    f.add("a\0b")
    assert "" in f and b"a\0b" in f


@pytest.mark.parametrize("kind", KINDS)
def test_integers(kind):
    f = filter_of(kind, 1000)
    keys = [0, 1, 999] if kind == "bitmap" else [0, 1, 2**63, 2**64 - 1]
    for key in keys:
        assert f.add(key) and key in f and Index(key) in f
    assert f.keys == "u64" and len(f) == len(keys)
    for bad in (-1, 2**64, 10**30, -(10**30)):
        with pytest.raises(ValueError):
            f.add(bad)
        with pytest.raises(ValueError):
            assert bad in f
        with pytest.raises(ValueError, match="key 1"):
            f.add_many([5, bad])
    assert len(f) == len(keys)


@pytest.mark.parametrize("bad", [None, True, 1.5, ["a"], ("a",), {"a"}, object(), 1j])
def test_wrong_types(bad):
    for f in (filter_of("blocked", 100), filter_of("cuckoo", 100)):
        f.add("a")
        for call in (f.add, f.add_absent, f.__contains__, f.count, f.remove):
            with pytest.raises(TypeError):
                call(bad)
        with pytest.raises(TypeError):
            f.add_many(["b", bad])
        assert len(f) == 1 and "b" not in f


def test_surrogates():
    f = filter_of("bloom", 100)
    for call in (f.add, f.__contains__):
        with pytest.raises(UnicodeEncodeError):
            call("\ud800")
    with pytest.raises(UnicodeEncodeError):
        f.add_many(["a", "\udfff"])
    assert len(f) == 0


def test_the_first_key_decides():
    f = perhaps.Filter(100)
    assert f.keys is None and "a" not in f and 1 not in f and f.keys is None
    f.add(1)
    assert f.keys == "u64" and f.info.recipe.form == "u64"
    g = perhaps.Filter(100)
    g.add_many(["a", "b"])
    assert g.keys == "bytes"
    for call in (g.add, g.__contains__, g.remove):
        with pytest.raises(TypeError, match="str\\(key\\)"):
            call(1)
    with pytest.raises(TypeError):
        g.add_many([1, 2])


def test_mixed_batches():
    f = perhaps.Filter(100)
    for batch in (["a", 1], [1, "a"], [b"a", None], [1, True]):
        with pytest.raises(TypeError, match="key 1"):
            f.add_many(batch)
    f.add_many(["a", b"b", bytearray(b"c"), memoryview(b"d")])
    assert f.query_many(["a", "b", "c", "d"]) == 4
    assert f.query_many([memoryview(b"d"), "a"]) == 2


def test_single_keys_are_no_batches():
    f = filter_of("blocked", 100)
    for key in ("text", b"bytes", bytearray(b"bytes"), memoryview(b"bytes")):
        with pytest.raises(TypeError):
            f.add_many(key)
    with pytest.raises(TypeError):
        f.add_many(7)
    assert len(f) == 0


def build(tmp_path, lines, *options):
    path = tmp_path / "built.ph"
    path.unlink(missing_ok=True)
    subprocess.run([PERHAPS, "build", "-n", "100", "-o", path, *options], input="\n".join(lines) + "\n", text=True, check=True)
    return path


def check(path, *lines):
    run = subprocess.run([PERHAPS, "check", path], input="\n".join(lines) + "\n", text=True, capture_output=True)
    return run.stdout.splitlines()


def test_lines_of_numbers_and_numbers(tmp_path):
    """A file of decimal lines and one of integers are told apart."""
    f = perhaps.Filter.open(build(tmp_path, ["10", "20"]))
    assert "10" in f and f.keys == "bytes"
    with pytest.raises(TypeError, match="another"):
        assert 10 in f
    with pytest.raises(TypeError):
        f.contains_many([10])
    f = perhaps.Filter.open(build(tmp_path, ["10", "20"], "--u64"))
    assert 10 in f and "10" in f and b"20" in f and "30" not in f and f.keys == "u64"
    assert list(f.contains_many(["10", "30"])) == [1, 0] and list(f.contains_many([20, 30])) == [1, 0]
    for bad in ("ten", "", "-1", str(2**64)):
        with pytest.raises(ValueError, match="decimal"):
            f.add(bad)
    f.add(30)
    f.save(tmp_path / "more.ph")
    assert check(tmp_path / "more.ph", "10", "30", "40") == ["10", "30"]


@pytest.mark.parametrize(
    "form, added, queries",
    [
        ("hex", "DEADbeef", ["deadbeef", b"DEADBEEF"]),
        ("int32", "-5", [-5, "-5"]),
        ("int64", str(-(2**63)), [-(2**63), str(-(2**63))]),
        ("utf16", "Grüße 🌍", ["Grüße 🌍", "Grüße 🌍".encode()]),
    ],
)
def test_transformations(tmp_path, form, added, queries):
    """Keys of the command line are found here, and the other way round."""
    f = perhaps.Filter.open(build(tmp_path, [added], "--key", form))
    assert f.keys == form
    for query in queries:
        assert query in f
        assert list(f.contains_many([query])) == [1]
    g = perhaps.Filter(100, keys=form)
    assert g.add(queries[0]) and g.add_many([queries[0]]) == 0
    g.save(tmp_path / "own.ph")
    assert check(tmp_path / "own.ph", added) == [added]


def test_transformations_refuse(tmp_path):
    f = perhaps.Filter(100, keys="int32")
    for bad in (2**31, -(2**31) - 1, "2147483648", "x"):
        with pytest.raises(ValueError):
            f.add(bad)
        with pytest.raises(ValueError):
            f.add_many([str(0) if isinstance(bad, str) else 0, bad])
    assert f.add(2**31 - 1) and f.add(-(2**31)) and len(f) == 2
    f = perhaps.Filter(100, keys="hex")
    for bad in ("abc", "zz"):
        with pytest.raises(ValueError, match="hexadecimal"):
            f.add(bad)
    with pytest.raises(TypeError):
        f.add(5)
    f = perhaps.Filter(100, keys="utf16")
    with pytest.raises(ValueError, match="UTF-8"):
        f.add(b"\xff")


def test_ignoring_case(tmp_path):
    f = perhaps.Filter.open(build(tmp_path, ["Word"], "-i"))
    assert "WORD" in f and b"word" in f and list(f.contains_many(["wORD", "no"])) == [1, 0]
    g = perhaps.Filter(100, ignore_case=True)
    g.add("Ünder")
    assert "ÜNDER" in g and "ünder" not in g
    with pytest.raises(TypeError):
        g.add(1)


def test_ngrams_are_refused(tmp_path):
    path = tmp_path / "texts.ph"
    subprocess.run([PERHAPS, "dedup", "--ngram", "3", "--overlap", "0.5", "--state", path], input="a b c d\n", text=True, check=True,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    f = perhaps.Filter.open(path)
    for call in (lambda: f.add("a b c"), lambda: "a b c" in f, lambda: f.add_many(["a"])):
        with pytest.raises(ValueError, match="runs of words"):
            call()


def test_bitmap_takes_no_text():
    f = perhaps.Filter(100, kind="bitmap")
    with pytest.raises(ValueError):
        f.add("x")
    assert f.add("12") and 12 in f
    assert list(f.members()) == [12]


def test_keys_for_a_file_that_does_not_say(tmp_path):
    """A file of integers from a program without a recipe."""
    f = perhaps.Filter(100, keys="bytes")
    f.save(tmp_path / "plain.ph")
    with pytest.raises(TypeError):
        perhaps.Filter.open(tmp_path / "plain.ph").add(1)
    g = perhaps.Filter.open(tmp_path / "plain.ph", keys="u64")
    assert g.add(1) and 1 in g
    f = perhaps.Filter(100, keys="u64")
    f.save(tmp_path / "numbers.ph")
    with pytest.raises(ValueError, match="leave it out"):
        perhaps.Filter.open(tmp_path / "numbers.ph", keys="hex")
