"""Membership filters: is the key in the set? Definitely not, or perhaps.

A filter answers in a few bits per key. It never misses a key that was added. For a key that was
never added it says "perhaps" with a small chance, the false-positive rate.

    import perhaps

    phones = perhaps.Filter(items=5_000_000, fpr=0.01)
    phones.update(line.rstrip() for line in open("known.txt"))
    "13800138000" in phones
    phones.save("phones.ph")

The files are those of the C library, the command line and the Redis module.
"""

from ._filter import Filter, build_static
from ._info import Info, Overlap, Recipe
from ._perhaps import Damaged, Full, Mismatch
from ._perhaps import version as __version__
from ._plan import Plan, PlanRow, plan

__all__ = [
    "Damaged",
    "Filter",
    "Full",
    "Info",
    "Mismatch",
    "Overlap",
    "Plan",
    "PlanRow",
    "Recipe",
    "__version__",
    "build_static",
    "plan",
]
