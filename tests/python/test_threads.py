"""Threads, forks and processes."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from support import filter_of

import perhaps

np = pytest.importorskip("numpy")


def in_threads(*works):
    """Runs functions at the same time; the first exception is raised."""
    errors = []

    def guarded(work):
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


@pytest.mark.parametrize("kind", ["blocked", "cuckoo", "table", "counting"])
def test_one_filter_in_many_threads(kind):
    """Without shared=True: calls wait for one another where they must, and no key is lost."""
    f = filter_of(kind, 300_000)

    def adds(first):
        def work():
            for start in range(first, first + 50_000, 10_000):
                f.add_many(np.arange(start, start + 10_000, dtype="u8"))
                assert f.add(1_000_000 + start) in (True, False)

        return work

    def queries():
        for i in range(200):
            f.contains_many(np.arange(1000, dtype="u8"))
            assert (5 in f) in (True, False) and len(f) >= 0

    def reads():
        for _ in range(20):
            assert f.info.items <= 300_000
            f.copy()
            bytes(f)

    in_threads(adds(0), adds(50_000), adds(100_000), queries, queries, reads)
    assert f.contains_many(np.arange(150_000, dtype="u8")).all()
    if kind in ("cuckoo", "counting", "table"):
        assert len(f) == 150_015


@pytest.mark.parametrize("given", [{"kind": "blocked"}, {"kind": "counting"}, {"kind": "cuckoo", "shards": 8}, {"kind": "table", "shards": 8}])
def test_shared(given):
    f = perhaps.Filter(300_000, 1e-6, shared=True, keys="u64", **given)

    def work(first):
        def run():
            f.add_many(np.arange(first, first + 50_000, dtype="u8"))
            assert f.contains_many(np.arange(first, first + 50_000, dtype="u8")).all()
            f.add(first + 200_000)

        return run

    def reads():
        for _ in range(10):
            assert f.info.shared and len(f) >= 0

    in_threads(work(0), work(50_000), work(100_000), reads)
    assert f.contains_many(np.arange(150_000, dtype="u8")).all() and len(f) >= 150_000


def test_merging_both_ways():
    """Two threads that merge a pair of filters in opposite order do not wait for each other."""
    a, b = filter_of("blocked", 100_000), filter_of("blocked", 100_000)
    a.add(1)
    b.add(2)

    def work(into, source):
        def run():
            for _ in range(300):
                into.__ior__(source)
                into.add_many(np.arange(100, dtype="u8"))

        return run

    in_threads(work(a, b), work(b, a))
    assert 1 in b and 2 in a


@pytest.mark.parametrize("shared", [False, True])
def test_pairs_in_all_directions(shared):
    """Threads that each need two of three filters do not stop one another."""
    filters = [filter_of("blocked", 10_000, shared=shared, keys="u64") for _ in range(3)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)

    def work(first):
        def run():
            for i in range(200):
                a, b = filters[(first + i) % 3], filters[(first + 2 * i + 1) % 3]
                a.__ior__(b)
                a.overlap(b)
                b.info, a == b
                a.add_many(np.arange(100, dtype="u8"))

        return run

    try:
        in_threads(*map(work, range(6)))
    finally:
        sys.setswitchinterval(before)
    assert all(f.query_many(range(100)) == 100 for f in filters)


def test_the_gil_is_released():
    """While a batch runs, other Python code does."""
    f = perhaps.Filter(1_000_000, 1e-9, kind="bloom", keys="u64")
    keys = np.arange(1_000_000, dtype="u8")
    ticks, done = [0], threading.Event()

    def tick():
        while not done.is_set():
            ticks[0] += 1
            time.sleep(0.0001)

    thread = threading.Thread(target=tick)
    thread.start()
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # nobody is asked for the GIL: it is given away, or not
    try:
        for _ in range(20):
            started = ticks[0]
            f.add_many(keys)
            ended = ticks[0]
            if ended > started:
                break
    finally:
        sys.setswitchinterval(before)
        done.set()
        thread.join()
    assert ended > started


def test_an_array_that_changes():
    """Answers may be of old or new keys; nothing worse happens."""
    f = filter_of("blocked", 1000)
    f.add_many(range(500))
    keys = np.arange(200_000, dtype="u8") % 500
    stop = threading.Event()

    def changes():
        while not stop.is_set():
            keys[:] = keys[::-1].copy()

    def queries():
        for _ in range(30):
            assert f.contains_many(keys).all()
        stop.set()

    in_threads(changes, queries)
    strings = [str(i) for i in range(20_000)]
    g = filter_of("blocked", 1000)

    def shrinks():
        while strings:
            strings.pop()

    def adds():
        while strings:
            try:
                g.query_many(strings)
            except RuntimeError as error:
                assert "changed" in str(error)

    in_threads(shrinks, adds)


def test_closing_while_others_query():
    """A call finds the filter, or is told that it is closed."""
    texts = [str(i) for i in range(2000)]
    for _ in range(30):
        f = perhaps.Filter(300_000, 1e-6)
        f.add_many(texts)

        def queries(f=f):
            while True:
                try:
                    assert f.query_many(texts) == 2000 and "5" in f and len(f) <= 2000
                except ValueError as error:
                    assert "closed" in str(error)
                    return

        in_threads(queries, queries, f.close)


def test_fork():
    """A child has a copy of its own; a file is made whole by the process that opened it."""
    f = filter_of("cuckoo", 1000)
    f.add_many(range(500))
    child = os.fork()
    if child == 0:
        fine = f.add(600) and all(f.contains_many(range(500))) and len(f) == 501
        os._exit(0 if fine else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert len(f) == 500


def test_fork_while_threads_work(tmp_path):
    f = perhaps.Filter(3_000_000, 1e-9, kind="bloom", keys="u64")
    keys = np.arange(3_000_000, dtype="u8")
    f.add_many(keys[:1000])
    busy = threading.Thread(target=lambda: f.contains_many(keys))
    busy.start()
    statuses = []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            os._exit(0 if f.contains_many(keys[:1000]).all() and f.add(5_000_000) is True else 1)
        statuses.append(os.waitpid(child, 0)[1])
    busy.join()
    assert statuses == [0] * 3
    busy = threading.Thread(target=lambda: f.add_many(keys))
    busy.start()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            f.add(5_000_001)
        except RuntimeError as error:
            os._exit(0 if "forked" in str(error) else 1)
        os._exit(0)  # the batch had ended
    status = os.waitpid(child, 0)[1]
    busy.join()
    assert status == 0


def test_fork_with_an_open_file(tmp_path):
    path = tmp_path / "f.ph"
    filter_of("blocked", 100, keys="bytes").save(path)
    f = perhaps.Filter.open(path, "r+")
    f.add("a")
    child = os.fork()
    if child == 0:
        f.close()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    with pytest.raises(ValueError):
        perhaps.Filter.open(path)  # still being changed
    f.add("b")
    f.close()
    assert "a" in perhaps.Filter.open(path) and "b" in perhaps.Filter.open(path)


def query(path, keys):
    with perhaps.Filter.open(path, mmap=True) as f:
        return f.query_many(keys)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_share_a_file(tmp_path, method):
    f = filter_of("blocked", 10_000)
    f.add_many(range(10_000))
    f.save(tmp_path / "f.ph")
    with multiprocessing.get_context(method).Pool(2) as pool:
        parts = [(tmp_path / "f.ph", range(start, start + 2000)) for start in range(0, 10_000, 2000)]
        assert pool.starmap(query, parts) == [2000] * 5
        assert pool.apply(len, (f,)) == 10_000


def test_shared_memory():
    from multiprocessing import shared_memory

    f = filter_of("blocked", 100)
    f.add("a")
    image = bytes(f)
    memory = shared_memory.SharedMemory(create=True, size=len(image))
    try:
        memory.buf[: len(image)] = image
        with perhaps.Filter.from_bytes(memory.buf[: len(image)], copy=False) as g:
            assert "a" in g and g.info.read_only
    finally:
        memory.close()
        memory.unlink()


def test_waiting_can_be_interrupted():
    """Ctrl-C ends a call that waits for another thread's batch."""
    code = """
import threading, time, _thread, signal, perhaps, numpy as np
f = perhaps.Filter(20_000_000, 1e-9, kind="bloom", keys="u64")
keys = np.arange(20_000_000, dtype="u8")
thread = threading.Thread(target=f.add_many, args=(keys,))
thread.start()
time.sleep(0.05)
signal.setitimer(signal.ITIMER_REAL, 0.05)
signal.signal(signal.SIGALRM, lambda *_: 1 / 0)
try:
    while thread.is_alive():
        f.add(1)
except ZeroDivisionError:
    print("interrupted" if thread.is_alive() else "late")
thread.join()
"""
    started = time.monotonic()
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert run.stdout.strip() == "interrupted", run.stdout + run.stderr
    assert time.monotonic() - started < 120


def test_a_handler_of_signals_uses_the_filter():
    """Also while the call that it interrupts waits to be alone."""
    code = """
import signal, threading, time, numpy as np, perhaps
f = perhaps.Filter(2_000_000, 1e-9, kind="bloom", keys="u64")
keys = np.arange(4_000_000, dtype="u8")
done = []
def handler(*_):
    done.append(f.query_many([1, 2, 3]) >= 0 and f.info.items >= 0 and f.add(7))
signal.signal(signal.SIGALRM, handler)
inside = threading.Event()
def work():
    inside.set()
    f.add_many(keys)
thread = threading.Thread(target=work)
thread.start()
inside.wait()
time.sleep(0.01)
signal.setitimer(signal.ITIMER_REAL, 0.02)
f.clear()
thread.join()
while not done: time.sleep(0.01)
print("fine")
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert run.stdout.strip() == "fine", run.stderr


def test_nobody_waits_forever():
    """A thread that adds without a pause lets others pass who must be alone."""
    f = perhaps.Filter(1_000_000, keys="u64")
    keys = np.arange(200_000, dtype="u8")
    inside = threading.Event()

    def adds():
        try:
            for _ in range(2000):
                f.add_many(keys)
                inside.set()
        except ValueError as error:
            assert "closed" in str(error)
            return
        raise AssertionError("the filter was never closed")

    def closes():
        inside.wait()
        f.close()

    in_threads(adds, closes)


@pytest.mark.parametrize("busy", ["add_many", "contains_many"])
def test_everyone_has_a_turn(busy):
    """Three threads that add, or query, without a pause do not keep one out that does the other."""
    f = perhaps.Filter(1_000_000, keys="u64")
    keys = np.arange(100_000, dtype="u8")
    stop = threading.Event()

    def works():
        while not stop.is_set():
            getattr(f, busy)(keys)

    threads = [threading.Thread(target=works, daemon=True) for _ in range(3)]
    for thread in threads:
        thread.start()

    def other():
        for _ in range(10):
            f.contains_many(keys) if busy == "add_many" else f.add_many(keys)

    thread = threading.Thread(target=other, daemon=True)
    thread.start()
    thread.join(60)
    stop.set()
    assert not thread.is_alive()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("given", [{"kind": "cuckoo", "shards": 2}, {"kind": "blocked"}])
def test_fork_while_a_shared_filter_is_used(given):
    """A lock may be held by a thread that the child does not have: it is told, and does not wait."""
    f = perhaps.Filter(1_000_000, 1e-6, shared=True, keys="u64", **given)
    keys = np.arange(200_000, dtype="u8")
    f.add_many(keys)
    stop = threading.Event()

    def works():
        while not stop.is_set():
            f.contains_many(keys)
            f.add_many(keys[:1000])
            f.remove_many(keys[:1000]) if "shards" in given else None

    threads = [threading.Thread(target=works) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(30):
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                for call in (lambda: 5 in f, lambda: f.add(5), lambda: f.contains_many(keys), lambda: len(f)):
                    try:
                        call()
                    except RuntimeError as error:
                        if "forked" not in str(error):
                            os._exit(1)
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()
