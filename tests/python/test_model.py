"""Random sequences of calls, beside set and Counter: every kind, alone and in composite filters, keys
of each sort, single and in batches."""

import copy
import pickle
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import COMPOSITES, KINDS, LONG, MULTISETS, made

import perhaps

NUMBERS = st.integers(0, 2**64 - 1) | st.integers(0, 30)
SMALL = st.integers(0, 99)
TEXTS = st.text(max_size=8) | st.sampled_from(["a", "b", "ß", "🌍", "key"])
SINGLE = ["add", "query", "remove"]
MANY = ["add_many", "query_many", "remove_many", "update"]
WHOLE = ["copy", "pickle", "bytes", "clear", "merge"]


def steps(keys):
    return st.lists(
        st.tuples(st.sampled_from(SINGLE), keys)
        | st.tuples(st.sampled_from(MANY), st.lists(keys, max_size=12))
        | st.tuples(st.sampled_from(WHOLE), st.lists(keys, max_size=6)),
        max_size=30,
    )


def batch_form(keys, i):
    """Equal batches in different forms."""
    if keys and isinstance(keys[0], str):
        data = [key.encode() for key in keys]
        offsets = [0]
        for text in data:
            offsets.append(offsets[-1] + len(text))
        import array

        return [keys, tuple(data), (b"".join(data), array.array("q", offsets)), iter(keys)][i % 4]
    return [keys, tuple(keys), iter(keys)][i % 3]


class Model:
    """A filter and what it must have."""

    def __init__(self, kind, composite):
        self.kind, self.composite = kind, composite
        self.f = made(kind, composite, 1000)
        if self.f is None:
            pytest.skip("there is no such filter")
        self.can = set(self.f.info.can)
        self.multiset = kind in MULTISETS
        self.members = Counter()

    def note(self, key):
        self.members[key] = self.members[key] + 1 if self.multiset else 1

    def forget(self, key):
        """Only what was added may be removed."""
        self.members[key] -= 1
        if not self.members[key]:
            del self.members[key]

    def step(self, name, argument, i):
        f = self.f
        if name == "add":
            new = f.add(argument)
            assert new is True if self.multiset else not (new and argument in self.members)
            self.note(argument)
        elif name == "query":
            assert (argument in f) or argument not in self.members
        elif name == "remove":
            if "remove" in self.can and argument in self.members:
                assert f.remove(argument) is True
                self.forget(argument)
        elif name in ("add_many", "update"):
            if name == "update":
                f.update(batch_form(argument, i))
            else:
                assert 0 <= f.add_many(batch_form(argument, i)) <= len(argument)
            for key in argument:
                self.note(key)
        elif name == "query_many":
            answers = f.contains_many(batch_form(argument, i))
            assert all(answer or key not in self.members for key, answer in zip(argument, answers, strict=True))
            assert [key in f for key in argument] == [bool(answer) for answer in answers]
        elif name == "remove_many":
            chosen = list((Counter(argument) & self.members).elements())
            if "remove" in self.can:
                assert f.remove_many(batch_form(chosen, i)) == len(chosen)
                for key in chosen:
                    self.forget(key)
        elif name == "copy":
            self.f = copy.deepcopy(f)
            f.clear()
        elif name == "pickle":
            self.f = pickle.loads(pickle.dumps(f))
        elif name == "bytes":
            if f.keys is not None:
                self.f = perhaps.Filter.from_bytes(bytes(f))
                assert self.f == f
        elif name == "clear":
            f.clear()
            self.members.clear()
        elif name == "merge" and "merge" in self.can:
            other = made(self.kind, self.composite, 1000)
            other.add_many(argument)
            self.f |= other
            for key in argument if self.multiset else set(argument):
                self.note(key)

    def check(self):
        f, keys = self.f, list(self.members)
        assert all(key in f for key in keys)
        assert all(f.contains_many(keys))
        assert len(f) <= sum(self.members.values())
        if self.kind == "cuckoo" and "count" in self.can:
            assert all(count >= self.members[key] for key, count in zip(keys, f.count_many(keys), strict=True))
        if self.kind == "counting" and "count" in self.can:
            assert all(f.count(key) >= min(self.members[key], 15) for key in keys)
        if self.kind in ("table", "bitmap") and self.composite != "window":
            assert len(f) == len(keys)
        if self.kind == "bitmap":
            assert list(f.members()) == sorted(keys)


def run(kind, composite, sequence):
    model = Model(kind, composite)
    for i, (name, argument) in enumerate(sequence):
        model.step(name, argument, i)
    model.check()


EXAMPLES = settings(
    max_examples=400 if LONG else 20, deadline=None, derandomize=not LONG, database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)  # fmt: skip


@pytest.mark.parametrize("composite", COMPOSITES)
@pytest.mark.parametrize("kind", KINDS)
def test_numbers(kind, composite):
    @EXAMPLES
    @given(steps(SMALL if kind == "bitmap" else NUMBERS))
    def holds(sequence):
        run(kind, composite, sequence)

    holds()


@pytest.mark.parametrize("composite", COMPOSITES)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "bitmap"])
def test_texts(kind, composite):
    @EXAMPLES
    @given(steps(TEXTS))
    def holds(sequence):
        run(kind, composite, sequence)

    holds()


@pytest.mark.parametrize("kind", ["fuse", "ribbon"])
def test_static(kind):
    @EXAMPLES
    @given(st.lists(TEXTS, max_size=100) | st.lists(NUMBERS, max_size=100))
    def holds(keys):
        f = perhaps.build_static(keys, 1e-4, kind=kind)
        assert len(f) == len(set(keys)) and all(key in f for key in keys) and all(f.contains_many(keys))
        g = pickle.loads(pickle.dumps(f))
        assert f == g
        with pytest.raises(ValueError, match="sealed"):
            f.add(keys[0] if keys else "a")

    holds()
