"""What a filter is."""

from __future__ import annotations

import dataclasses
from typing import Any

from ._arguments import EXACT, FORMS, MULTISET, PARALLEL, RECORDS, STATIC, TAKES_BYTES, ability_names, kind_name

_GROW = ("default", "never", "layers")


@dataclasses.dataclass(frozen=True)
class Recipe:
    """How records of some input become keys. The transformation (form, ignore_case) is applied by
    the methods of a filter; the extraction (all else) is for programs that read records."""

    form: str
    ignore_case: bool
    records: str
    field: int
    delimiter: str
    header: bool
    trim: bool
    where: str
    ngram: int
    unknown: int

    @classmethod
    def of(cls, facts: dict[str, Any]) -> Recipe:
        """Of the numbers of the library."""
        named = dict(facts)
        named["form"] = FORMS[facts["form"]] if facts["form"] < len(FORMS) else "unknown"
        known = not facts["unknown"] and facts["records"] < len(RECORDS)
        named["records"] = RECORDS[facts["records"]] if known else "unknown"
        named["delimiter"] = chr(facts["delimiter"]) if facts["delimiter"] else ""
        return cls(**named)

    def to_dict(self) -> dict[str, Any]:
        """As `perhaps info --json` has it."""
        shown: dict[str, Any] = {
            "key": "bytes, ignoring case" if self.ignore_case else self.form,
            "records": self.records,
            "field": self.field,
            "delimiter": self.delimiter,
        }
        for name in ("where", "header", "trim", "ngram"):
            if getattr(self, name):
                shown[name] = getattr(self, name)
        return shown


@dataclasses.dataclass(frozen=True)
class Info:
    """All figures of a filter, at the moment when it was asked for."""

    kind: str  #: its kind, such as "blocked"
    base: str | None  #: of a composite filter: the kind of its children
    can: tuple[str, ...]  #: what it can do besides queries
    exact: bool  #: no false positives, except for keys of equal digest
    static: bool  #: collects keys, is sealed, and is query-only from then on
    multiset: bool  #: stores a copy with each add
    parallel: bool  #: add_many takes threads
    takes_bytes: bool  #: keys may be text or bytes; otherwise only integers
    capacity: int  #: keys it was made for
    items: int  #: adds that answered True, less removes that did
    distinct: float  #: different keys, estimated
    fill: float  #: share of the array in use
    fpr_target: float  #: the false-positive rate of the plan
    fpr_now: float  #: the one it has now, from the bits
    loss: float  #: table: the chance that any two keys share a digest
    stuck: int  #: counting: counters that have reached 15
    stashed: int  #: cuckoo, table: copies or keys kept outside the slots
    bytes: int  #: of the array
    image_bytes: int  #: of a file of it
    bits_per_key: float  #: of the array, per key of capacity
    hashes: int  #: bits set per key
    lines: int  #: cache lines per query, at most
    hash: str  #: "xxh3" or "siphash", or that of a foreign format
    seed: int  #: xxh3: the seed; siphash: a check of the secret key
    format_version: int  #: of the image
    isa: str  #: instruction set
    read_only: bool  #: it cannot be changed
    shared: bool  #: several threads may change it at the same time
    grow: str  #: "default", "never" or "layers"
    max_bytes: int  #: layers: bytes in all, at most
    period: int  #: window: how long keys are remembered
    growth: float  #: layers: how much larger the next is
    clear_at: float  #: window: the fill at which the oldest generation goes
    generations: int  #: window
    since: int  #: a generation of a window by time: when it began
    flooded: bool  #: window by time: more than `capacity` keys in a period
    collecting: bool  #: static and not sealed
    guessed: bool  #: a foreign file does not state capacity and fpr_target
    foreign: bool  #: the format of another program
    recipe: Recipe | None  #: how keys are made; None for children
    children: tuple[Info, ...]  #: layers, generations or shards; the oldest first

    @classmethod
    def of(
        cls, facts: dict[str, Any], foreign: bool, recipe: Recipe | None, children: tuple[Info, ...] = ()
    ) -> Info:
        """Of the numbers of the library."""
        named = dict(facts)
        traits = named.pop("traits")
        can = ability_names(facts["can"])
        if facts["grow"] == 1 and "grow" in can:
            can.remove("grow")
        named["can"] = tuple(can)
        named["base"] = kind_name(facts["base"]) if facts["base"] else None
        named["grow"] = _GROW[facts["grow"]]
        return cls(
            **named,
            exact=bool(traits & EXACT),
            static=bool(traits & STATIC),
            multiset=bool(traits & MULTISET),
            parallel=bool(traits & PARALLEL),
            takes_bytes=bool(traits & TAKES_BYTES),
            foreign=foreign,
            recipe=recipe,
            children=children,
        )

    def _child(self) -> dict[str, Any]:
        names = ("kind", "capacity", "items", "fpr_target", "fpr_now", "bytes", "bits_per_key", "fill", "since")
        return {name: getattr(self, name) for name in names}

    def to_dict(self) -> dict[str, Any]:
        """As `perhaps info --json` has it, without the file."""
        shown: dict[str, Any] = {"kind": self.kind}
        if self.children:
            shown |= {"base": self.base}
            shown |= {name: getattr(self, name) for name in ("max_bytes", "period", "generations", "flooded")}
            shown["clear_at"] = round(self.clear_at * 1e9) / 1e9
        shown["capacity"] = self.capacity
        if self.foreign:
            shown["guessed"] = self.guessed
        names = (
            "items distinct fpr_target fpr_now bytes image_bytes bits_per_key fill loss stuck stashed grow hashes"
        )
        shown |= {name: getattr(self, name) for name in names.split()}
        shown |= {"cache_lines": self.lines, "hash": self.hash}
        if not self.foreign:
            shown["seed"] = self.seed
            shown |= self.recipe.to_dict() if self.recipe else {}
            shown["format_version"] = self.format_version
        shown |= {"isa": self.isa, "can": list(self.can), "children": [child._child() for child in self.children]}
        return shown

    def __str__(self) -> str:
        of = f", {len(self.children)} children of {self.base}" if self.children else ""
        key = self.recipe.to_dict()["key"] if self.recipe else "bytes"
        lines = [
            f"{self.kind}{of}",
            f"  keys      {self.items:,} (made for {self.capacity:,}); about {round(self.distinct):,} distinct keys",
            f"  fill      {self.fill * 100:.1f} %",
            f"  fpr       now {self.fpr_now:.4g}; planned {self.fpr_target:.4g}",
            f"  size      {self.bytes:,} bytes, {self.bits_per_key:.2f} bits per key; the file {self.image_bytes:,} bytes",
            f"  layout    {self.hashes} per key, in at most {self.lines} cache line{'s' if self.lines != 1 else ''}",
            f"  hash      {self.hash}",
            f"  key       {key}",
            f"  can       {', '.join(self.can) or 'nothing but answer: it is static'}",
        ]
        for child in self.children:
            lines.append(f"  {child.items:>14,} of {child.capacity:>14,} keys {child.fill * 100:5.1f} %")
        return "\n".join(lines)


@dataclasses.dataclass(frozen=True)
class Overlap:
    """Different keys of two filters, with standard errors."""

    a: float  #: in the first
    b: float  #: in the second
    both: float
    either: float
    jaccard: float  #: both / either; 1 of two empty filters
    a_error: float
    b_error: float
    both_error: float
    either_error: float
    jaccard_error: float
    exact: bool  #: counted, not estimated
