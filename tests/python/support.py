"""What the tests share."""

import os

import perhaps

#: The command line of this build.
PERHAPS = os.environ["PERHAPS"]

LONG = os.environ.get("PERHAPS_TEST_SIZE") == "long"

KINDS = ["bloom", "blocked", "counting", "cuckoo", "table", "bitmap"]
MULTISETS = {"counting", "cuckoo"}
REMOVING = {"counting", "cuckoo", "table", "bitmap"}
COMPOSITES = {
    "plain": {},
    "growing": {"grow": True},
    "sharded": {"shards": 4},
    "window": {"generations": 3},
}


def filter_of(kind, items, **given):
    """A filter in which false positives are rare."""
    return perhaps.Filter(items, 1e-6, kind=kind, **given)


def made(kind, composite, items, **given):
    """A composite filter; None where there is none of that kind."""
    try:
        return filter_of(kind, items, **COMPOSITES[composite], **given)
    except ValueError as error:
        assert composite != "plain", error
        return None
