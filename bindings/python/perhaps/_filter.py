"""The filter."""

from __future__ import annotations

import builtins
import copy
import datetime
import itertools
import os
import time
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Any, TypeVar, cast

from . import _arguments, _perhaps
from ._arguments import kind_number
from ._info import Info, Overlap, Recipe
from ._types import Buffer, Keys

_Self = TypeVar("_Self", bound="Filter")

_COPY, _WRITE, _NO_VERIFY, _RECOVER, _SHARED = 1, 2, 4, 8, 16
_UNDECIDED = -1
_UPDATE = 10_000  # keys of an iterable that are added together
# What is a batch as it is has one of these.
_WHOLE = ("__len__", "__array__", "__arrow_c_array__", "__arrow_c_stream__")

_numpy: Any = None


def system_clock() -> int:
    """The time in milliseconds, as the command line tells it to windows."""
    return time.time_ns() // 1_000_000


def _array(answers: bytearray, dtype: str, without: Callable[[bytearray], Any]) -> Any:
    """A numpy array over the answers; what `without` makes of them where numpy cannot be imported."""
    global _numpy
    if _numpy is None:
        try:
            import numpy as _numpy
        except ImportError:
            _numpy = False
    return _numpy.frombuffer(answers, dtype=dtype) if _numpy else without(answers)


def _counts(answers: bytearray) -> memoryview:
    return memoryview(answers).cast("Q")


class Filter(_perhaps.Filter):
    """A membership filter: definitely not, or perhaps.

    Fix two of items, fpr and memory (bits_per_key or bytes); the third follows. Without fpr and
    memory the rate is 1 %. Keys are str (as UTF-8), bytes-like or int (0 to 2**64-1), all of one
    sort: the first key decides, or `keys`.

    >>> phones = perhaps.Filter(items=5_000_000, fpr=0.01)
    >>> phones.add("13800138000")
    True
    >>> "13800138000" in phones
    True
    """

    __slots__ = ("__weakref__",)

    def __init__(
        self,
        items: float | None = None,
        fpr: float | None = None,
        *,
        kind: str | None = None,
        needs: str | Iterable[str] | None = None,
        keys: str | None = None,
        ignore_case: bool | None = None,
        bits_per_key: float | None = None,
        bytes: int | None = None,
        grow: str | bool | None = None,
        growth: float | None = None,
        max_bytes: int | None = None,
        generations: int | None = None,
        period: int | datetime.timedelta | None = None,
        clear_at: float | None = None,
        clock: bool | Callable[[], int] | None = None,
        shards: int | None = None,
        shared: bool | None = None,
        hashes: int | None = None,
        lines: int | None = None,
        hash: str | None = None,
        seed: int | None = None,
        hash_key: Buffer | None = None,
        key_in_file: bool | None = None,
        max_scratch: int | None = None,
        scratch_dir: str | os.PathLike[str] | None = None,
    ) -> None:
        """Makes an empty filter.

        kind: "blocked", "bloom", "cuckoo", "counting", "table", "bitmap", "fuse" or "ribbon";
            without it the planner chooses by `needs`, a set of "remove", "count", "merge", ...
        keys: "bytes" (text as it is), "u64", "hex", "int32", "int64" or "utf16": how the command
            line makes keys of lines; ignore_case folds ASCII letters.
        grow=True: layers, for sets of unknown size. growth and max_bytes bound them.
        generations=g: a window over the last `items` keys; with `period`, over the last
            milliseconds (or timedelta), told by `clock` or advance(); with clear_at, until a fill.
        shards=N, shared=True: for several threads.
        hash_key=os.urandom(16): SipHash with a secret key, for attacker-chosen keys.
        """
        arguments = _arguments.want(
            items=items, fpr=fpr, kind=kind, needs=needs, keys=keys, ignore_case=ignore_case,
            bits_per_key=bits_per_key, bytes=bytes, grow=grow, growth=growth, max_bytes=max_bytes,
            generations=generations, period=period, clear_at=clear_at, shards=shards, shared=shared,
            hashes=hashes, lines=lines, hash=hash, seed=seed, hash_key=hash_key, key_in_file=key_in_file,
            max_scratch=max_scratch, scratch_dir=scratch_dir,
        )  # fmt: skip
        self._create(_arguments.settled(arguments))
        if clock is None and isinstance(period, datetime.timedelta):
            clock = True
        self._use_clock(clock)

    # ---- open and save ----

    @classmethod
    def open(
        cls: type[_Self],
        path: str | os.PathLike[str],
        mode: str = "r",
        *,
        mmap: bool = False,
        shared: bool = False,
        verify: bool = True,
        recover: bool = False,
        kind: str | None = None,
        keys: str | None = None,
        hash_key: Buffer | None = None,
        clock: bool | Callable[[], int] | None = None,
    ) -> _Self:
        """Opens a file of this library, or of another program.

        "r" reads a copy into memory, which can be changed and saved. With mmap=True the file is
        mapped: nothing is read before it is needed, processes share the memory, and the filter is
        read-only. "r+" maps the file for changes in place; close() or `with` makes them durable.

        verify=False skips the checksums of the payload; recover=True opens a file whose writer has
        not ended. kind names a foreign format whose bytes do not tell it. keys="u64" says that the
        keys are integers, where the file does not say how they are made.
        """
        if mode not in ("r", "r+"):
            raise ValueError(f"mode is 'r' or 'r+', not {mode!r}")
        flags = _WRITE if mode == "r+" else 0 if mmap else _COPY
        flags |= (_SHARED if shared else 0) | (0 if verify else _NO_VERIFY) | (_RECOVER if recover else 0)
        form = _UNDECIDED if keys is None else _arguments.form_number(keys)
        secret = None if hash_key is None else _arguments.hash_key(hash_key)
        self = cls.__new__(cls)
        self._open(path, os.fsencode(path), flags, kind_number(kind), secret, form)
        self._use_clock(clock)
        return self

    @classmethod
    def from_bytes(
        cls: type[_Self],
        data: Buffer,
        *,
        copy: bool = True,
        shared: bool = False,
        verify: bool = True,
        kind: str | None = None,
        keys: str | None = None,
        hash_key: Buffer | None = None,
    ) -> _Self:
        """Opens what bytes(f), memoryview(f) or a file has.

        With copy=False the filter is read-only and uses the memory of `data`, which must not change
        meanwhile: shared memory, for instance.
        """
        flags = (_COPY if copy else 0) | (_SHARED if shared else 0) | (0 if verify else _NO_VERIFY)
        form = _UNDECIDED if keys is None else _arguments.form_number(keys)
        secret = None if hash_key is None else _arguments.hash_key(hash_key)
        self = cls.__new__(cls)
        self._open_memory(data, flags, kind_number(kind), secret, form)
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file, atomically and durably: after a crash there is the old one or the new one."""
        self._save(path, os.fsencode(path))

    def __enter__(self: _Self) -> _Self:
        """Ends the filter at the end of the block, as close() does."""
        if self.closed:
            raise ValueError("the filter is closed")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Calls close()."""
        self.close()

    # ---- batches ----

    def add_many(self, keys: Keys, *, threads: int = 1, answers: bool = False) -> Any:
        """Adds a batch of keys, all of them or none. Returns how many were new.

        keys: a numpy array of integers, bytes ('S'), text ('U') or objects; a list or any iterable;
        an Arrow array; a pandas Series; a buffer of integers; or (data, offsets). With answers=True:
        for each key whether it was new, as contains_many gives it. threads=0 takes one for each
        processor. The GIL is released.
        """
        result = self._add_many(keys, threads=threads, answers=answers)
        return _array(result, "?", builtins.bytes) if answers else result

    def contains_many(self, keys: Keys, *, threads: int = 1, out: Buffer | None = None) -> Any:
        """For each key of a batch whether it is perhaps a member.

        A numpy array of bool; bytes of 0 and 1 where numpy cannot be imported. With `out`, a
        writable buffer of a byte for each key, the answers go there. Nulls of Arrow are no members.
        """
        result = self._contains_many(keys, threads=threads, out=out)
        return result if out is not None else _array(result, "?", builtins.bytes)

    def query_many(self, keys: Keys, *, threads: int = 1) -> int:
        """How many keys of a batch are perhaps members."""
        found: int = self._query_many(keys, threads=threads)
        return found

    def remove_many(self, keys: Keys, *, answers: bool = False) -> Any:
        """Removes a batch of keys. Returns how many were there; or the answers, as add_many does."""
        result = self._remove_many(keys, answers=answers)
        return _array(result, "?", builtins.bytes) if answers else result

    def count_many(self, keys: Keys) -> Any:
        """How many copies of each key there are: a numpy array of uint64, or a memoryview of it."""
        return _array(self._count_many(keys), "u8", _counts)

    def update(self, *iterables: Keys) -> None:
        """Adds the keys of iterables, as set.update does; without end, if they have none.

        What has no length and is no array is added in pieces. If one fails, those before it stay.
        """
        for keys in iterables:
            if any(hasattr(keys, name) for name in _WHOLE) or not isinstance(keys, Iterable):
                self._add_many(keys)
                continue
            rest = iter(keys)
            while piece := list(itertools.islice(rest, _UPDATE)):
                self._add_many(piece)

    # ---- whole filters ----

    def copy(self: _Self) -> _Self:
        """A copy in memory, changeable even if this one is not."""
        new = type(self).__new__(type(self))
        new._clone(self)
        _note(new, self._notes())
        return new

    __copy__ = copy

    def __deepcopy__(self: _Self, memo: dict[int, Any]) -> _Self:
        """A copy, and copies of what a subclass has noted."""
        memo[id(self)] = new = self.copy()
        _note(new, copy.deepcopy(self._notes(), memo))
        return new

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle: all of the filter, with its secret key."""
        state = self._notes()
        if self._form == _UNDECIDED and not self.closed:
            return _restore, (type(self), None, self._arguments, self._form, self._clock), state
        try:
            image = memoryview(cast(Any, self))
        except _perhaps.Damaged:
            raise
        except ValueError:
            if self.closed:
                raise
            image = memoryview(cast(Any, self.copy()))  # of a file that is not in this library's format
        with image:
            return _restore, (type(self), builtins.bytes(image), None, self._form, self._clock, self._shared), state

    def __eq__(self, other: object) -> bool:
        """Whether both are the same: kind, layout, hash and array.

        In cuckoo filters and tables the array depends on the order in which keys were added.
        """
        if not isinstance(other, Filter):
            return NotImplemented
        return self._equal(other)

    __hash__ = None  # type: ignore[assignment]

    def __ior__(self: _Self, other: Filter) -> _Self:
        """Adds the keys of another filter."""
        if not isinstance(other, Filter):
            return NotImplemented
        self._merge(other)
        return self

    def __iand__(self: _Self, other: Filter) -> _Self:
        """Keeps what the other perhaps contains, too."""
        if not isinstance(other, Filter):
            return NotImplemented
        self._intersect(other)
        return self

    def __isub__(self: _Self, other: Filter) -> _Self:
        """Removes from this bitmap what is in the other."""
        if not isinstance(other, Filter):
            return NotImplemented
        self._subtract(other)
        return self

    def __ixor__(self: _Self, other: Filter) -> _Self:
        """Keeps what is in one of two bitmaps, not in both."""
        if not isinstance(other, Filter):
            return NotImplemented
        self._differ(other)
        return self

    def __or__(self: _Self, other: Filter) -> _Self:
        """The union."""
        return self.copy().__ior__(other)

    def __and__(self: _Self, other: Filter) -> _Self:
        """What both perhaps contain."""
        return self.copy().__iand__(other)

    def __sub__(self: _Self, other: Filter) -> _Self:
        """What is in this bitmap and not in the other."""
        return self.copy().__isub__(other)

    def __xor__(self: _Self, other: Filter) -> _Self:
        """What is in one of two bitmaps, not in both."""
        return self.copy().__ixor__(other)

    def overlap(self, other: Filter) -> Overlap:
        """How many different keys two filters have, alone, together and in common."""
        return Overlap(*self._overlap(other))

    def members(self) -> Iterator[int]:
        """The integers of a bitmap, rising, or the digests of a table, in no order."""
        at: int | None = 0
        while at is not None:
            some, at = self._list(at, 1000)
            yield from some

    # ---- facts ----

    @property
    def info(self) -> Info:
        """All figures, at this moment. It reads the whole array."""
        facts = self._info()
        recipe = Recipe.of(self._recipe())
        children = tuple(Info.of(child, False, None) for child in facts[1:])
        kind = facts[0]["kind"]
        foreign = any(known.foreign and known.name == kind for known in _arguments.KINDS)
        return Info.of(facts[0], foreign, recipe, children)

    @property
    def keys(self) -> str | None:
        """How keys are made: "bytes", "u64", ...; None while the first key is to decide."""
        return None if self._form == _UNDECIDED else _arguments.FORMS[self._form]

    def __repr__(self) -> str:
        """Its kind, its file and how many keys it has."""
        if self.closed:
            return "<perhaps.Filter, closed>"
        where = "" if self.path is None else f" of {os.fspath(self.path)!r}"
        info = self._info()[0]
        return f"<perhaps.Filter {info['kind']}{where}, {len(self):,} of {info['capacity']:,} keys>"

    def _notes(self) -> object:
        """What a subclass has noted."""
        return None if type(self) is Filter else cast(Any, self).__getstate__()

    def _use_clock(self, clock: bool | Callable[[], int] | None) -> None:
        if clock and clock is not True and not callable(clock):
            raise TypeError(f"clock is a function without arguments, or True, not {clock!r}")
        if clock:
            self._set_clock(system_clock if clock is True else clock)


def _note(f: Filter, state: Any) -> None:
    """What a subclass has noted, as object.__getstate__ gives it."""
    notes, slots = state if isinstance(state, tuple) else (state, None)
    for name, value in {**(notes or {}), **(slots or {})}.items():
        setattr(f, name, value)


def _restore(
    cls: type[_Self],
    image: bytes | None,
    arguments: dict[str, Any] | None,
    form: int,
    clock: Callable[[], int] | None,
    shared: bool = False,
) -> _Self:
    """What pickle calls."""
    self = cls.__new__(cls)
    if image is None:
        assert arguments is not None
        self._create(arguments)
    else:
        self._open_memory(image, _COPY | (_SHARED if shared else 0), 0, None, form)
    if clock is not None:
        self._set_clock(clock)
    return self


def build_static(
    keys: Keys,
    fpr: float | None = None,
    *,
    kind: str = "fuse",
    threads: int = 1,
    **given: Any,
) -> Filter:
    """A sealed static filter of all keys: smaller than others, and query-only.

    kind="ribbon" is the smallest, "fuse" is built and queried faster. Takes arguments of Filter.
    """
    f = Filter(fpr=fpr, kind=kind, **given)
    f.update(keys)
    f.seal(threads=threads)
    return f
