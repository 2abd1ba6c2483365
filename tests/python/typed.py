"""A program that uses the package, for mypy --strict."""

import datetime
import pathlib

import perhaps


def main() -> None:
    f = perhaps.Filter(items=1000, fpr=0.01, needs={"remove"}, keys="bytes")
    new: bool = f.add("key") and f.add(b"key")
    there: bool = "key" in f
    removed: bool = f.remove("key")
    copies: int = f.count("key")
    found: int = f.query_many(["a", "b"], threads=2)
    g: perhaps.Filter = f | f.copy()
    with perhaps.Filter.open(pathlib.Path("f.ph"), mmap=True, keys="u64") as opened:
        length: int = len(opened)
    figures: perhaps.Info = g.info
    rate: float = figures.fpr_now
    best: perhaps.PlanRow | None = perhaps.plan(1000, 0.01).best
    window = perhaps.Filter(100, period=datetime.timedelta(minutes=10))
    members: list[int] = list(window.members())
    print(new, there, removed, copies, found, length, rate, best, members, f == g)
    try:
        f.add_many(range(10))
    except (perhaps.Full, perhaps.Mismatch, perhaps.Damaged) as error:
        print(error)


main()
