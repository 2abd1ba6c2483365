"""What a filter would cost."""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Iterator
from typing import Any

from . import _arguments, _perhaps
from ._arguments import BITMAP, KINDS, ability_names
from ._filter import Filter


@dataclasses.dataclass(frozen=True)
class PlanRow:
    """What one kind would cost, or why it cannot."""

    kind: str
    error: str | None = None  #: why there is no such filter
    bits_per_key: float = 0  #: of the array
    bytes: int = 0  #: of the array
    bytes_in_bursts: int | None = None  #: window by time: of the array in the worst rhythm
    image_bytes: int = 0  #: of a file of it
    items: int = 0  #: keys it is for
    fpr: float = 0  #: with that many keys
    loss: float = 0  #: table: the chance that any two keys share a digest
    hashes: int = 0  #: bits set per key
    lines: int = 0  #: cache lines per query, at most
    can: tuple[str, ...] = ()  #: what it can do besides queries
    recommended: bool = False

    def to_dict(self) -> dict[str, Any]:
        """As `perhaps plan --json` has it."""
        shown: dict[str, Any] = {"kind": self.kind}
        if self.error is not None:
            shown["error"] = self.error
        else:
            shown |= {"bits_per_key": self.bits_per_key, "bytes": self.bytes}
            if self.bytes_in_bursts is not None:
                shown["bytes_in_bursts"] = self.bytes_in_bursts
            shown |= {name: getattr(self, name) for name in ("image_bytes", "items", "fpr", "loss", "hashes")}
            shown["cache_lines"] = self.lines
        return shown | {"can": list(self.can), "recommended": self.recommended}

    def __str__(self) -> str:
        if self.error is not None:
            return f"  {self.kind:<10} {self.error}"
        return (
            f"{'*' if self.recommended else ' '} {self.kind:<10} {self.bits_per_key:9.2f} {self.bytes:16,} "
            f"{self.items:14,} {self.fpr:10.4g} {self.hashes:4} {self.lines:6}  {' '.join(self.can) or 'static'}"
        )


@dataclasses.dataclass(frozen=True)
class Plan:
    """The kinds that could be made. Iterates over its rows, and prints as a table."""

    rows: tuple[PlanRow, ...]
    items: int  #: keys
    fpr: float
    limit_bits_per_key: float  #: theoretical minimum
    classic_hashes: int  #: of the formula of the textbooks, for a Bloom filter
    classic_bits: int

    def __iter__(self) -> Iterator[PlanRow]:
        return iter(self.rows)

    @property
    def best(self) -> PlanRow | None:
        """The one that Filter(...) makes of the same arguments."""
        return next((row for row in self.rows if row.recommended), None)

    def to_dict(self) -> dict[str, Any]:
        """As `perhaps plan --json` has it."""
        return {
            "items": self.items,
            "fpr": self.fpr,
            "limit_bits_per_key": self.limit_bits_per_key,
            "classic": {"hashes": self.classic_hashes, "bits": self.classic_bits},
            "kinds": [row.to_dict() for row in self.rows],
        }

    def __str__(self) -> str:
        head = f"  {'kind':<10} {'bits/key':>9} {'bytes':>16} {'keys':>14} {'fpr':>10} {'k':>4} {'lines':>6}  can"
        limit = f"  minimum: {self.limit_bits_per_key:.2f} bits per key at a false-positive rate of {self.fpr:.4g}"
        return "\n".join([head, *map(str, self.rows), "", "  * recommended", *([limit] if self.fpr else [])])


def _classic(want: dict[str, Any]) -> tuple[int, int]:
    """k and bits of the formula of the textbooks."""
    keys, rate, ln2 = float(want.get("items", 0)), float(want.get("fpr", 0)), math.log(2)
    bits = want.get("bytes", 0) * 8.0
    if want.get("bits_per_key"):
        bits = math.floor(keys * want["bits_per_key"])
    if not bits:
        bits = math.floor(-keys * math.log(rate) / (ln2 * ln2))
    if not keys:
        keys = math.floor(bits * ln2 * ln2 / -math.log(rate))
    bits = min(bits, 2.0**63)
    keys = min(max(keys, 1), 2.0**63)
    per_key = bits / keys * ln2
    hashes = math.floor(per_key + 0.5)
    return min(max(hashes, 1), 1000000), int(bits)


def _row(want: dict[str, Any], kind: _arguments.Kind, best: dict[str, Any], free: bool) -> PlanRow:
    lacking = [name for name in ability_names(want.get("needs", 0)) if name not in kind.can]
    try:
        plan = _perhaps.plan({**want, "kind": kind.number, "needs": 0})
    except ValueError as error:
        sentence = f"cannot {', '.join(lacking)}" if lacking else str(error)
        return PlanRow(kind.name, error=sentence, can=tuple(n for n in _arguments.ABILITIES if n in kind.can))
    can = ability_names(plan["can"])
    lacking = [name for name in ability_names(want.get("needs", 0)) if name not in can]
    if lacking:
        return PlanRow(kind.name, error=f"cannot {', '.join(lacking)}", can=tuple(can))
    same = all(plan[name] == best[name] for name in ("kind", "bytes", "hashes", "lines", "items"))
    generations = want.get("generations", 4)
    bursts = plan["bytes"] // generations * (2 * generations - 2) if want.get("period") else None
    shown = {name: plan[name] for name in "bits_per_key bytes image_bytes items fpr loss hashes lines".split()}
    return PlanRow(kind.name, **shown, can=tuple(can), recommended=free and same, bytes_in_bursts=bursts)


def plan(items: float | None = None, fpr: float | None = None, **given: Any) -> Plan:
    """What each kind of filter would cost. Takes the arguments of Filter; prints as a table.

    >>> perhaps.plan(5_000_000, 0.01, needs={"remove"}).best.kind
    'cuckoo'
    """
    # Refuses what Filter does not take.
    inspect.signature(Filter.__init__).bind(None, items, fpr, **given)
    want = _arguments.settled(_arguments.want(items=items, fpr=fpr, **given))
    if given.get("keys") is None:
        want.pop("form", None)  # a recipe takes room in the image
    best = _perhaps.plan(want)
    chosen = [kind for kind in KINDS if kind.number == want.get("kind")]
    rows: list[PlanRow] = []
    for kind in chosen or [kind for kind in KINDS if not kind.foreign and kind.number != BITMAP]:
        rows.append(_row(want, kind, best, not any(row.recommended for row in rows)))
    rate = want.get("fpr") if want.get("fpr") and best["fpr"] else best["fpr"]
    limit = math.log2(1 / rate) if rate else best["limit_bits_per_key"]
    hashes, bits = _classic(want)
    return Plan(tuple(rows), want.get("items") or best["items"], rate, limit, hashes, bits)


