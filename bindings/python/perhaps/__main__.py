"""python3 -m perhaps: the commands `plan` and `info` of the command line."""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import os
import sys
from typing import Any

from . import Filter, __version__, plan

_SUFFIXES = {"k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


def _number(text: str) -> int:
    """Digits with a fraction, an exponent or a suffix, or a power of two: 5000000, 5e6, 2.5M, 2^20."""
    if text.isdigit():
        return int(text)
    if text.startswith("2^"):
        return 1 << int(text[2:])
    suffix = next((suffix for suffix in _SUFFIXES if text.endswith(suffix)), "")
    value = float(text.removesuffix(suffix)) * _SUFFIXES.get(suffix, 1)
    if not value.is_integer() or value < 0:
        raise ValueError(text)
    return int(value)


def _rate(text: str) -> float:
    return float(text[:-1]) / 100 if text.endswith("%") else float(text)


_number.__name__, _rate.__name__ = "number", "rate"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python3 -m perhaps", description="Membership filters.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    p = commands.add_parser("plan", help="shows what each kind of filter would cost, and the best one")
    p.add_argument("-n", "--items", type=_number, metavar="N", help="keys, such as 5e6")
    p.add_argument("-p", "--fpr", type=_rate, metavar="P", help="false-positive rate, such as 0.01 or 1%%")
    p.add_argument("--bits-per-key", type=float, metavar="B")
    p.add_argument("--bytes", type=_number, metavar="BYTES")
    p.add_argument("-k", "--kind", metavar="KIND")
    p.add_argument("--needs", metavar="LIST", help="what it must be able to do, such as remove,count")
    p.add_argument("--grow", action="store_true", default=None)
    p.add_argument("--shards", type=_number, metavar="N")
    p.add_argument("--json", action="store_true")
    i = commands.add_parser("info", help="shows what a filter is and how full; or what two have in common")
    i.add_argument("file")
    i.add_argument("other", nargs="?")
    i.add_argument("--json", action="store_true")
    return parser


def _real(value: Any) -> Any:
    """JSON has no infinities."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _overlap(a: Filter, b: Filter, names: list[str], as_json: bool) -> str:
    overlap = a.overlap(b)
    if as_json:
        renamed = {"both": "intersection", "either": "union", "both_error": "intersection_error"}
        renamed["either_error"] = "union_error"
        figures = {renamed.get(name, name): _real(value) for name, value in dataclasses.asdict(overlap).items()}
        return json.dumps({"files": names, "overlap": figures})
    lines = [f"{names[0]} and {names[1]}, {'exactly' if overlap.exact else 'with standard errors'}"]
    for label, name in (("first", "a"), ("second", "b"), ("shared", "both"), ("union", "either")):
        lines.append(f"  {label:<9} {getattr(overlap, name):,.0f} +- {getattr(overlap, name + '_error'):,.0f} keys")
    lines.append(f"  jaccard   {overlap.jaccard:.4g} +- {overlap.jaccard_error:.2g}")
    return "\n".join(lines)


def _run(options: argparse.Namespace) -> str:
    if options.command == "plan":
        given = {name: value for name, value in vars(options).items() if name not in ("command", "json")}
        if options.items is None and not (options.bytes or options.grow):
            raise ValueError("too little is given; give -n, or --bytes with -p")
        made = plan(**given)
        return json.dumps(made.to_dict()) if options.json else str(made)
    with Filter.open(options.file, mmap=True) as f:
        if options.other is not None:
            with Filter.open(options.other, mmap=True) as g:
                return _overlap(f, g, [options.file, options.other], options.json)
        figures = {name: _real(value) for name, value in f.info.to_dict().items()}
        return json.dumps({"file": options.file} | figures) if options.json else f"{options.file}: {f.info}"


def main(arguments: list[str] | None = None) -> int:
    """Runs a command; the exit status is 0, or 2 with a sentence on standard error."""
    options = _parser().parse_args(arguments)
    try:
        print(_run(options), flush=True)
    except BrokenPipeError:
        # What reads has seen enough; nothing is left for Python to flush at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (ValueError, OSError) as error:
        print(f"perhaps: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
