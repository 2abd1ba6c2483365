"""Whole filters: made, saved, opened, combined, closed; facts and plans."""

import datetime
import errno
import io
import json
import os
import pickle
import subprocess
import sys

import pytest
from support import COMPOSITES, KINDS, PERHAPS, filter_of, made

import perhaps


def command(*arguments, status=0):
    run = subprocess.run([PERHAPS, *arguments], capture_output=True, text=True)
    assert run.returncode == status, run.stderr
    return run.stdout


@pytest.mark.parametrize("composite", COMPOSITES)
@pytest.mark.parametrize("kind", KINDS)
def test_files(tmp_path, kind, composite):
    """In every way of opening, the same filter; and the command line says the same of it."""
    f = made(kind, composite, 1000)
    if f is None:
        return
    f.add_many(range(500))
    path = tmp_path / "f.ph"
    f.save(path)
    assert path.read_bytes() == bytes(f) and len(bytes(f)) == f.info.image_bytes
    for g in (
        perhaps.Filter.open(path), perhaps.Filter.open(str(path), mmap=True), perhaps.Filter.open(os.fsencode(path)),
        perhaps.Filter.from_bytes(bytes(f)), perhaps.Filter.from_bytes(memoryview(f)),
        perhaps.Filter.from_bytes(bytes(f), copy=False), pickle.loads(pickle.dumps(f)), f.copy(),
    ):  # fmt: skip
        assert g == f and len(g) == len(f) and g.keys == "u64" and all(g.contains_many(range(500)))
        assert pickle.loads(pickle.dumps(g)) == f
        g.close()
    shown = json.loads(command("info", "--json", path))
    own = json.loads(subprocess.run([sys.executable, "-m", "perhaps", "info", "--json", path], capture_output=True, check=True).stdout)
    assert own == shown
    assert json.loads(command("check", "--json", "-c", path, "/dev/null", status=1))["present"] == 0
    command("verify", path)


def test_plain_info_prints():
    f = filter_of("cuckoo", 1000, grow=True)
    f.add("a")
    assert "growing, 1 children of cuckoo" in str(f.info) and f.info.children[0].kind == "cuckoo"
    with pytest.raises(AttributeError):
        f.info.kind = "x"
    assert f.info == f.copy().info


@pytest.mark.parametrize(
    "options",
    ["-n 5e6 -p 0.01", "-n 1000 --needs remove", "-n 1e5 --needs count,merge -p 1%", "--bytes 10000 -p 0.01", "-n 1000 --bits-per-key 8",
     "-n 1000 -k table", "-n 1000 -k bitmap", "-n 5e5 --shards 16", "-n 1000 --grow -p 0.001", "-n 2^20 -k ribbon", "-n 100 -k dcso"],
)  # fmt: skip
def test_plans_are_those_of_the_command_line(options):
    theirs = json.loads(command("plan", *options.split(), "--json"))
    run = subprocess.run([sys.executable, "-m", "perhaps", "plan", *options.split(), "--json"], capture_output=True, check=True)
    assert json.loads(run.stdout) == theirs


def test_plan():
    plan = perhaps.plan(5_000_000, 0.01, needs={"remove"})
    assert plan.best.kind == "cuckoo" and "* cuckoo" in str(plan) and "cannot remove" in str(plan)
    assert [row.kind for row in plan][:2] == ["bloom", "blocked"]
    f = perhaps.Filter(5_000_000, 0.01, needs={"remove"})
    assert f.info.kind == plan.best.kind and f.info.bytes == plan.best.bytes
    with pytest.raises(ValueError):
        perhaps.plan(1000, 2.0)


def test_command_errors(tmp_path):
    (tmp_path / "bad.ph").write_bytes(b"no filter")
    for arguments in (["info", tmp_path / "none.ph"], ["info", tmp_path / "bad.ph"], ["plan", "-n", "10", "-k", "odd"], ["plan"]):
        run = subprocess.run([sys.executable, "-m", "perhaps", *arguments], capture_output=True, text=True)
        assert run.returncode == 2 and run.stderr.startswith("perhaps: ") and "Traceback" not in run.stderr


@pytest.mark.parametrize(
    "arguments, error",
    [
        ({"items": -1}, ValueError), ({"items": 2**64}, ValueError), ({"items": "x"}, TypeError), ({"items": 1.5}, TypeError),
        ({"items": 10, "fpr": 2}, ValueError), ({"items": 10, "fpr": "x"}, TypeError), ({"items": 10, "kind": "odd"}, ValueError),
        ({"items": 10, "needs": {"odd"}}, ValueError), ({"items": 10, "hash_key": b"short"}, ValueError), ({}, ValueError),
        ({"items": 10, "keys": "odd"}, ValueError), ({"items": 10, "grow": "odd"}, ValueError), ({"odd": 1}, TypeError),
        ({"items": 2**62, "fpr": 1e-9}, (ValueError, MemoryError)), 
        ({"items": 10, "shards": 2**40}, ValueError),
    ],
)  # fmt: skip
def test_nonsense_is_refused(arguments, error):
    with pytest.raises(error) as caught:
        perhaps.Filter(**arguments)
    assert str(caught.value)


def test_files_that_cannot_be(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        perhaps.Filter.open(tmp_path / "none.ph")
    assert caught.value.errno == errno.ENOENT and caught.value.filename == tmp_path / "none.ph"
    f = filter_of("blocked", 100)
    with pytest.raises(OSError) as caught:
        f.save(tmp_path / "none" / "f.ph")
    assert caught.value.errno == errno.ENOENT
    for mode in ("w", "rb", ""):
        with pytest.raises(ValueError, match="mode"):
            perhaps.Filter.open("x", mode)


@pytest.mark.parametrize("kind", KINDS)
def test_damage(tmp_path, kind):
    f = filter_of(kind, 1000)
    f.add_many(range(500))
    image = bytes(f)
    for at in (9, 20, 64, len(image) // 2, len(image) - 1):
        damaged = bytearray(image)
        damaged[at] ^= 1
        (tmp_path / "f.ph").write_bytes(damaged)
        path = tmp_path / "f.ph"
        opens = [
            lambda: perhaps.Filter.from_bytes(damaged),
            lambda: perhaps.Filter.open(path),
            lambda: perhaps.Filter.open(path, mmap=True),
        ]
        for call in opens:
            with pytest.raises(ValueError) as caught:
                call()
            assert isinstance(caught.value, perhaps.Damaged) or "version" in str(caught.value) or at < 16
    for cut in (image[:-1], image[:10], image + b"x"):
        with pytest.raises(perhaps.Damaged):
            perhaps.Filter.from_bytes(cut)
    for foreign in (b"", b"no filter at all" * 10):
        with pytest.raises(ValueError):
            perhaps.Filter.from_bytes(foreign)


def test_closed():
    f = filter_of("table", 100)
    f.add("a")
    f.close()
    f.close()
    assert f.closed and "closed" in repr(f)
    calls = [
        lambda: f.add("a"), lambda: "a" in f, lambda: len(f), lambda: f.add_many(["a"]), lambda: f.contains_many(["a"]), lambda: f.copy(),
        lambda: bytes(f), lambda: memoryview(f), lambda: f.info, lambda: f.save("x"), lambda: f == f.copy(), lambda: f.clear(), lambda: f.sync(),
        lambda: list(f.members()), lambda: f.__enter__(), lambda: pickle.dumps(f), lambda: f.count_many([]), lambda: f.seal(), lambda: f.advance(1),
        lambda: f.__ior__(filter_of("table", 100)), lambda: f.update(iter(["b"])), lambda: f.remove("a"), lambda: f.count("a"),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(ValueError, match="closed"):
            call()
    g = perhaps.Filter.__new__(perhaps.Filter)
    with pytest.raises(ValueError, match="closed"):
        g.add("x")


def test_in_place(tmp_path):
    path = tmp_path / "f.ph"
    filter_of("blocked", 1000, keys="u64").save(path)
    with perhaps.Filter.open(path, "r+") as f:
        assert f.add_many(range(500)) == 500
        with pytest.raises(OSError) as caught:
            perhaps.Filter.open(path, "r+")
        assert caught.value.errno == errno.EBUSY and caught.value.filename == path
        mapped = memoryview(f)
        with pytest.raises(BufferError):
            f.add(1000)
        with pytest.raises(BufferError):
            f.close()
        mapped.release()
    assert f.closed
    with perhaps.Filter.open(path, mmap=True) as g:
        assert all(g.contains_many(range(500))) and g.info.read_only
        for call in (lambda: g.add(1), lambda: g.add_many([1]), lambda: g.clear()):
            with pytest.raises(ValueError, match="opened for reading"):
                call()
        assert g.copy().add(10_000)
    command("verify", path)
    for kind in ("cuckoo", "table"):
        filter_of(kind, 100).save(path)
        with pytest.raises(ValueError, match="in place"):
            perhaps.Filter.open(path, "r+")


def test_recover(tmp_path):
    path = tmp_path / "f.ph"
    filter_of("bloom", 1000, keys="bytes").save(path)
    code = "import os, sys, perhaps\nf = perhaps.Filter.open(sys.argv[1], 'r+')\nf.add('a')\nos._exit(0)"
    subprocess.run([sys.executable, "-c", code, path], check=True)
    with pytest.raises(ValueError):
        perhaps.Filter.open(path)
    assert "a" in perhaps.Filter.open(path, recover=True)


def test_memoryview():
    f = filter_of("bloom", 100)
    f.add("a")
    first, second = memoryview(f), memoryview(f)
    assert first == second and first.readonly and "a" in f and len(f) == 1
    for call in (lambda: f.add("b"), lambda: f.add_many(["b"]), lambda: f.clear(), lambda: f.close()):
        with pytest.raises(BufferError):
            call()
    first.release()
    with pytest.raises(BufferError):
        f.add("b")
    second.release()
    assert f.add("b")
    io.BytesIO().write(f)


@pytest.mark.parametrize("kind", KINDS)
def test_combinations(kind):
    a, b = filter_of(kind, 1000), filter_of(kind, 1000)
    a.add_many(range(0, 600))
    b.add_many(range(400, 1000))
    can = a.info.can
    union = a | b
    assert all(union.contains_many(range(1000))) and len(a) == 600
    if "intersect" in can:
        common = a & b
        assert all(common.contains_many(range(400, 600))) and sum(common.contains_many(range(400))) < 10
    else:
        with pytest.raises(ValueError):
            a & b
    if "subtract" in can:
        assert list((a - b).members()) == list(range(400))
        assert list((a ^ b).members()) == [*range(400), *range(600, 1000)]
    overlap = a.overlap(b)
    assert abs(overlap.both - 200) < 60 and abs(overlap.either - 1000) < 60
    c = a
    c |= b
    assert c is a and a == a.copy() and a != b
    assert (a == 5) is False
    for bad in (5, {1}, None):
        with pytest.raises(TypeError):
            a | bad
    with pytest.raises(TypeError):
        hash(a)
    a |= a


def test_mismatch():
    f = perhaps.Filter(1000, 0.01)
    f.add("a")
    for other in (perhaps.Filter(2000, 0.01), perhaps.Filter(1000, 0.01, kind="bloom"), perhaps.Filter(1000, 0.01, seed=5)):
        with pytest.raises(perhaps.Mismatch):
            f |= other
    g = perhaps.Filter(1000, 0.01)
    g.add(1)
    with pytest.raises(perhaps.Mismatch):
        f |= g
    assert len(f) == 1


def test_empty_ones_combine():
    """An empty filter goes with text as with integers."""
    for key in ("a", 1):
        f = perhaps.Filter(1000)
        f.add(key)
        empty = perhaps.Filter(1000)
        f |= empty
        assert empty.keys is None and len(f) == 1
        empty |= f
        assert key in empty and empty.keys == f.keys and empty == f


def test_siphash(tmp_path):
    secret = os.urandom(16)
    f = perhaps.Filter(100, hash_key=secret)
    f.add("a")
    assert f.info.hash == "siphash" and "a" in pickle.loads(pickle.dumps(f)) and "a" in f.copy()
    f.save(tmp_path / "f.ph")
    assert secret not in (tmp_path / "f.ph").read_bytes()
    with pytest.raises(ValueError, match="secret key"):
        perhaps.Filter.open(tmp_path / "f.ph")
    with pytest.raises(ValueError, match="another"):
        perhaps.Filter.open(tmp_path / "f.ph", hash_key=b"x" * 16)
    assert "a" in perhaps.Filter.open(tmp_path / "f.ph", hash_key=secret)
    g = perhaps.Filter(100, hash_key=secret, key_in_file=True)
    assert g.add("a")
    assert "a" in perhaps.Filter.from_bytes(bytes(g))


def test_windows():
    f = perhaps.Filter(100, generations=4, keys="u64")
    for i in range(1000):
        f.add(i)
    assert all(f.contains_many(range(900, 1000))) and sum(f.contains_many(range(500))) < 50
    now = [1000]
    f = perhaps.Filter(100, period=300, generations=4, clock=lambda: now[0])
    f.add("old")
    now[0] = 1250
    f.add_many(["young"])
    assert "old" in f and "young" in f
    now[0] = 1450
    f.add("new")
    assert "old" not in f and "young" in f
    assert f.advance(5000) == 2 and "new" not in f
    g = pickle.loads(pickle.dumps(perhaps.Filter(100, period=datetime.timedelta(minutes=10))))
    assert g.info.period == 600_000 and g.add("x")
    assert "x" in pickle.loads(pickle.dumps(g))
    f = perhaps.Filter(100, period=300, clock=lambda: "odd")
    with pytest.raises(TypeError):
        f.add("x")
    f = perhaps.Filter(100, period=300, clock=lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        f.add_many(["x"])
    assert len(f) == 0
    f = perhaps.Filter(100, clear_at=0.5, generations=1)
    f.add_many(range(10_000))
    assert len(f) < 200


def test_static(tmp_path):
    f = perhaps.build_static((str(i) for i in range(3000)), 0.001, kind="ribbon", threads=0)
    assert f.info.static and not f.info.collecting and f.query_many([str(i) for i in range(3000)]) == 3000
    f.save(tmp_path / "f.ph")
    g = perhaps.Filter.open(tmp_path / "f.ph", mmap=True)
    assert g == f
    f = perhaps.Filter(fpr=0.01, kind="fuse")
    f.add_many(["a", "b"])
    for call in (lambda: f.save(tmp_path / "x"), lambda: "a" in f, lambda: bytes(f), lambda: pickle.dumps(f)):
        with pytest.raises(ValueError, match="seal()"):
            call()
    f.seal()
    assert "a" in f
    f.clear()
    f.add("c")
    f.seal()
    assert "c" in f


def test_foreign(tmp_path):
    """Files of other programs, made and read."""
    for kind in ("guava", "dcso", "spark", "parquet"):
        f = perhaps.Filter(1000, 0.001, kind=kind)
        f.add_many(["a", "b"])
        f.save(tmp_path / "f")
        g = perhaps.Filter.open(tmp_path / "f", kind=None if kind in ("dcso",) else kind)
        assert "a" in g and list(g.contains_many(["b", "c"])) == [True, False]
        m = perhaps.Filter.open(tmp_path / "f", mmap=True, kind=kind)
        assert "a" in m and "a" in pickle.loads(pickle.dumps(m))
        (tmp_path / "keys").write_text("a\nc\n")
        assert command("check", "-k", kind, str(tmp_path / "f"), str(tmp_path / "keys")) == "a\n"
    f = perhaps.Filter(100, 0.01, kind="redis_bloom", grow=True)
    assert f.add("apple") and "apple" in f and "pear" not in f


class Mine(perhaps.Filter):
    pass


def test_subclasses():
    f = Mine(100)
    f.note = "of this one"
    f.add("a")
    assert type(f.copy()) is Mine and type(pickle.loads(pickle.dumps(f))) is Mine
    assert isinstance(f | f, Mine)


def test_docstrings():
    for name in dir(perhaps.Filter):
        special = name.startswith("__") and name in vars(perhaps.Filter) and callable(getattr(perhaps.Filter, name))
        if special or not name.startswith("_"):
            assert getattr(perhaps.Filter, name).__doc__, name
    for name in perhaps.__all__:
        assert name == "__version__" or getattr(perhaps, name).__doc__, name
