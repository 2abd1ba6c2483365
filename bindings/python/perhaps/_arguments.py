"""Names and numbers: what programs write becomes the arguments of the library."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from . import _perhaps

#: Abilities, in the order of their bits in the library.
ABILITIES = ("add", "remove", "count", "merge", "intersect", "subtract", "grow", "list", "in-place")

#: Forms of keys, in the order of their numbers.
FORMS = ("bytes", "hex", "u64", "int32", "int64", "utf16")

RECORDS = ("lines", "zero-terminated", "raw", "csv", "tsv", "whitespace", "jsonl")

HASHES = {"xxh3": 1, "siphash": 2, "identity": 3}

GROWTH = {None: 0, "default": 0, False: 1, "never": 1, True: 2, "layers": 2}

# Traits of kinds.
TAKES_BYTES, EXACT, STATIC, MULTISET, PARALLEL = 1, 4, 8, 16, 32

REDIS_KINDS = {"redis_bloom": 10, "redis_cuckoo": 11}


class Kind(NamedTuple):
    """A kind of filter: its name, what it can do, and a summary for people."""

    number: int
    name: str
    can: frozenset[str]
    traits: int
    summary: str
    foreign: bool


def abilities(bits: int) -> frozenset[str]:
    """The names of abilities."""
    return frozenset(ability_names(bits))


def ability_names(bits: int) -> list[str]:
    """The names of abilities, in the order in which they are printed."""
    return [name for i, name in enumerate(ABILITIES) if bits >> i & 1]


KINDS = tuple(Kind(row[0], row[1], abilities(row[2]), row[3], row[4], row[5]) for row in _perhaps.kinds())
_NUMBERS = {kind.name: kind.number for kind in KINDS} | REDIS_KINDS
_NAMES = {number: name for name, number in _NUMBERS.items()} | {7: "growing", 8: "window", 9: "sharded"}
BITMAP = _NUMBERS["bitmap"]


def kind_number(name: str | None) -> int:
    """The number of a kind; 0 for None."""
    return 0 if name is None else one_of(name, _NUMBERS, "kind")


def kind_name(number: int) -> str:
    """The name of a kind that a filter has."""
    return _NAMES.get(number, str(number))


def one_of(value: Any, names: dict[str, int] | dict[Any, int], what: str) -> int:
    """The number behind a name."""
    try:
        return names[value]
    except (KeyError, TypeError):
        known = ", ".join(repr(name) for name in names)
        raise ValueError(f"{what} is one of {known}, not {value!r}") from None


def ability_bits(needs: str | Iterable[str]) -> int:
    """A set of abilities, of their names."""
    names = {name: 1 << i for i, name in enumerate(ABILITIES)}
    names["in_place"] = names["in-place"]
    bits = 0
    for name in (needs.replace(",", " ").split() if isinstance(needs, str) else needs):
        bits |= one_of(name, names, "needs")
    return bits


def hash_key(value: Any) -> bytes:
    """The 16 bytes of a secret key."""
    key = bytes(memoryview(value))
    if len(key) != 16:
        raise ValueError(f"hash_key is 16 secret bytes, such as os.urandom(16) gives, not {len(key)}")
    return key


def form_number(name: str) -> int:
    """The number of a form of keys."""
    return one_of(name, {form: i for i, form in enumerate(FORMS)}, "keys")


def milliseconds(period: int | datetime.timedelta) -> int:
    """A period in milliseconds, the unit of the command line, if it is a timedelta."""
    return period // datetime.timedelta(milliseconds=1) if isinstance(period, datetime.timedelta) else period


def want(**given: Any) -> dict[str, Any]:
    """The arguments of _perhaps.Filter._create, of those of perhaps.Filter that are not None."""
    arguments: dict[str, Any] = {}
    takers: dict[str, Callable[[Any], Any]] = {
        "kind": kind_number,
        "needs": ability_bits,
        "grow": lambda grow: one_of(grow, GROWTH, "grow"),
        "period": milliseconds,
        "shared": int,
        "hash": lambda name: one_of(name, HASHES, "hash"),
        "hash_key": hash_key,
        "key_in_file": int,
        "scratch_dir": os.fsencode,
        "ignore_case": int,
    }
    keys = given.pop("keys", None)
    for name, value in given.items():
        if value is not None:
            arguments[name] = takers[name](value) if name in takers else value
    if "hash_key" in arguments and "hash" not in arguments:
        arguments["hash"] = HASHES["siphash"]
    if keys is not None:
        arguments["form"] = form_number(keys)
    elif arguments.get("kind") == BITMAP:
        arguments["form"] = FORMS.index("u64")
    elif arguments.get("ignore_case"):
        arguments["form"] = FORMS.index("bytes")
    return arguments


DEFAULT_FPR = 0.01


def settled(arguments: dict[str, Any]) -> dict[str, Any]:
    """With the false-positive rate of the command line, 1 %, where nothing says how large the filter
    is to be."""
    size = arguments.get("bits_per_key") or arguments.get("bytes")
    if "fpr" not in arguments and (not size or ("items" not in arguments and arguments.get("bytes"))):
        arguments["fpr"] = DEFAULT_FPR
    return arguments
