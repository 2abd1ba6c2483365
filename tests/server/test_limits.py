"""The largest filter that there may be, what commands say of it, and what INFO counts."""

import random

from harness import ServerTest, SharedServerTest, add_all, chunks, image, info, items, main, query_all, wait_for
from resp import Error
from test_replication import Pair, mixed_load

LIMIT = 30_000


def too_large(limit=LIMIT):
    return f"^ERR the filter would take [0-9]+ bytes, and perhaps.filter-memory-limit is {limit}$"


def pairs(flat):
    return dict(zip(flat[::2], flat[1::2]))


class Limit(SharedServerTest):
    def setUp(self):
        super().setUp()
        self.limit(0)

    def limit(self, bytes_, client=None):
        (client or self.client).ok("CONFIG", "SET", "perhaps.filter-memory-limit", bytes_)

    def assert_too_large(self, reply, limit=LIMIT):
        self.assertIsInstance(reply, Error)
        self.assertRegex(reply, too_large(limit))

    def test_creating(self):
        self.limit(LIMIT)
        for layout in "native", "redisbloom":
            self.client.ok("CONFIG", "SET", "perhaps.layout", layout)
            for command in (["BF.RESERVE", "k", 0.01, 1_000_000], ["BF.RESERVE", "k", 0.01, 1_000_000, "NONSCALING"],
                            ["CF.RESERVE", "k", 1_000_000], ["BF.INSERT", "k", "CAPACITY", 1_000_000, "ITEMS", "a"],
                            ["CF.INSERT", "k", "CAPACITY", 1_000_000, "ITEMS", "a"],
                            ["BF.RESERVE", "k", 0.01, 2**30], ["BF.RESERVE", "k", 0.01, 100_000, "WINDOW", 4]):
                with self.subTest(layout=layout, command=command):
                    self.assert_too_large(self.client(*command))
                    self.assertEqual(self.client.ok("EXISTS", "k"), 0)
            self.client.ok("BF.RESERVE", "b" + layout, 0.01, 10_000)
            self.client.ok("CF.RESERVE", "c" + layout, 10_000)
        self.limit(0)
        self.client.ok("BF.RESERVE", "k", 0.01, 1_000_000)

    def test_growing(self):
        """What finds room is added and kept; the rest is refused, and may be added once the limit is gone."""
        self.limit(LIMIT)
        for layout in "native", "redisbloom":
            self.client.ok("CONFIG", "SET", "perhaps.layout", layout)
            self.client.ok("CONFIG", "SET", "perhaps.cf-max-expansions", 65535)
            for family in "BF", "CF":
                key, command = f"{family}{layout}", [f"{family}.ADD"]
                with self.subTest(key=key):
                    if key == "CFredisbloom":
                        self.client.ok("CF.RESERVE", key, 8192)
                    some = items(0, 34_000 if key == "CFredisbloom" else 20_000)
                    replies = self.client.pipeline([*command, key, item] for item in some)
                    added = sum(reply == 1 for reply in replies)
                    self.assertGreater(added, 1000)
                    self.assert_too_large(replies[-1])
                    known = [item for item, reply in zip(some, replies) if not isinstance(reply, Error)]
                    self.assertEqual(query_all(self.client, f"{family}.MEXISTS", key, known), len(known))
                    self.assertLessEqual(pairs(self.client.ok("PERHAPS.INFO", key))[b"bytes"], LIMIT)
                    if family == "BF":  # what has room first, then the error
                        batch = self.client.ok("BF.MADD", key, known[0], *items(10**6, 10**6 + 500))
                        self.assert_too_large(batch[-1])
                        self.assertLess(len(batch), 400)
                    else:
                        batch = self.client.ok("CF.INSERT", key, "ITEMS", *items(10**6, 10**6 + 500))
                        self.assertGreater(batch.count(-1), 100)
                    self.limit(0)
                    if layout == "native" or family == "BF":
                        add_all(self.client, f"{family}.INSERT", key, ["ITEMS", *items(10**6, 10**6 + 900)], 1000)
                    self.limit(LIMIT)
        self.client.ok("CONFIG", "SET", "perhaps.cf-max-expansions", 32)

    def test_loading_and_restoring(self):
        self.client.ok("BF.RESERVE", "native", 0.01, 200_000)
        self.client.ok("CONFIG", "SET", "perhaps.layout", "redisbloom")
        self.client.ok("BF.RESERVE", "b", 0.01, 200_000)
        self.client.ok("CF.RESERVE", "c", 200_000)
        self.client.ok("CF.ADD", "c", "a")
        dumps = {key: self.client.ok("DUMP", key) for key in ("native", "b", "c")}
        whole = image(self.client, "native")
        heads = {key: chunks(self.client, command, key)[0][1]
                 for key, command in (("native", "BF.SCANDUMP"), ("b", "BF.SCANDUMP"), ("c", "CF.SCANDUMP"))}
        self.limit(LIMIT)
        self.assert_too_large(self.client("PERHAPS.LOAD", "k", 0, len(whole), whole[:1000]))
        for key, command in ("native", "BF.LOADCHUNK"), ("b", "BF.LOADCHUNK"), ("c", "CF.LOADCHUNK"):
            self.assert_too_large(self.client(command, "k", 1, heads[key]))
        for key, dump in dumps.items():
            self.assertEqual(self.client("RESTORE", "k", 0, dump), "ERR Bad data format")
            self.assertIn("larger than perhaps.filter-memory-limit", self.shared.log())
        self.assertEqual(self.client.ok("EXISTS", "k"), 0)
        self.limit(10 * LIMIT)
        for dump in dumps.values():
            self.client.ok("RESTORE", "k", 0, dump, "REPLACE")

    def test_merging(self):
        for key in "b", "c":
            self.client.ok("CONFIG", "SET", "perhaps.hash-key", "1" * 32)
            self.client.ok("BF.RESERVE", key, 0.01, 200_000)
        self.client.ok("CONFIG", "SET", "perhaps.hash-key", "")
        self.limit(LIMIT)
        self.assert_too_large(self.client("BF.MERGE", "new", "b", "c"))
        self.assertEqual(self.client.ok("EXISTS", "new"), 0)

    def test_units(self):
        for text, number in ("3kb", 3072), ("2mb", 2 << 20), ("1gb", 1 << 30), ("5", 5):
            self.limit(text)
            self.assertEqual(self.client.ok("CONFIG", "GET", "perhaps.filter-memory-limit")[1], b"%d" % number)
        for text in "x", "-1", "1tb":
            self.assertIsInstance(self.client("CONFIG", "SET", "perhaps.filter-memory-limit", text), Error)

    def test_reasons(self):
        """An error names what was requested and why it cannot be."""
        for command in (["BF.RESERVE", "k", "1e-18", 100], ["CF.RESERVE", "k", 100, "ERROR", "1e-18"],
                        ["BF.RESERVE", "k", "1e-18", 100, "NONSCALING"]):
            self.assertRegex(self.client(*command), "^ERR could not create filter: fpr .* with 100 items")
        self.client.ok("CONFIG", "SET", "maxmemory", 50_000_000)
        reply = self.client("BF.RESERVE", "k", "0.0001", 1_000_000_000)
        self.client.ok("CONFIG", "SET", "maxmemory", 0)
        self.assertRegex(reply, "^ERR Insufficient memory to create filter: it would take [0-9]+ bytes")


class LimitElsewhere(Pair):
    options = ("--repl-diskless-sync-delay", "0")

    def test_a_limit_is_for_clients(self):
        """A replica takes what its primary took, and a server loads what it had; a refusal goes nowhere."""
        self.copy.ok("CONFIG", "SET", "perhaps.filter-memory-limit", 10_000)
        for layout in "native", "redisbloom":
            self.client.ok("CONFIG", "SET", "perhaps.layout", layout)
            add_all(self.client, "BF.MADD", "b" + layout, items(0, 30_000))
            for batch in range(0, 30_000, 500):
                self.client.ok("CF.INSERT", "c" + layout, "ITEMS", *range(batch, batch + 500))
        self.client.ok("RESTORE", "d", 0, self.client.ok("DUMP", "bnative"))
        self.assert_equal_data()
        self.copy.ok("DEBUG", "RELOAD")
        self.assert_equal_data()
        self.client.ok("CONFIG", "SET", "perhaps.filter-memory-limit", 60_000)
        for layout in "native", "redisbloom":
            self.client.pipeline(["BF.ADD", "b" + layout, item] for item in items(30_000, 60_000))
            self.client.pipeline(["CF.ADD", "c" + layout, item] for item in items(30_000, 60_000))
        self.assertGreater(int(info(self.client, "perhaps", "perhaps_refusals")), 10_000)
        self.assert_equal_data()

    def test_at_load(self):
        client = self.server(arguments=["filter-memory-limit", "64kb"]).client()
        self.assertRegex(client("BF.RESERVE", "k", 0.01, 1_000_000), too_large(65536))
        client = self.server("--perhaps.filter-memory-limit", "64kb").client()
        self.assertRegex(client("BF.RESERVE", "k", 0.01, 1_000_000), too_large(65536))


class Counts(Pair):
    options = ("--repl-diskless-sync-delay", "0")

    def number(self, name, client=None):
        return int(info(client or self.client, "perhaps", f"perhaps_{name}"))

    def check_totals(self, client):
        """INFO has the sums of what every filter says of itself."""
        keys = [key for key in client.ok("KEYS", "*") if client.ok("TYPE", key) != "perhaps--"]
        every = [pairs(client.ok("PERHAPS.INFO", key)) for key in keys]
        self.assertEqual(self.number("filters", client), len(every))
        self.assertEqual(self.number("items", client), sum(one[b"items"] for one in every))
        self.assertEqual(self.number("layers", client), sum(len(one[b"children"]) or 1 for one in every))
        self.assertEqual(self.number("bytes", client), sum(one[b"memory"] for one in every))

    def test_totals(self):
        for seed in range(3):
            mixed_load(self.client, 400, seed)
            self.check_totals(self.client)
            self.settle()
            self.check_totals(self.copy)
        self.assertGreater(self.number("growths"), 5)
        self.assertGreater(self.number("growths", self.copy), 5)
        self.client.ok("DEBUG", "RELOAD")
        self.check_totals(self.client)
        for key in self.client.ok("KEYS", "*")[::2]:
            self.client.ok("UNLINK", key)
        self.check_totals(self.client)
        self.client.ok("FLUSHALL", "ASYNC")
        for name in "filters", "items", "layers", "bytes":
            wait_for(lambda: self.number(name) == 0, f"there are no {name}")

    def test_windows_that_forget(self):
        self.client.ok("BF.RESERVE", "w", "0.01", 200, "WINDOW", 3, "PERIOD", 200)
        chance = random.Random(3)
        for start in range(0, 3000, 100):
            self.client.ok("BF.MADD", "w", *range(start, start + chance.choice([1, 50, 300])))
            self.check_totals(self.client)
        wait_for(lambda: self.client.ok("BF.EXISTS", "w", "a") == 0 and self.number("items") == 0, "all is forgotten")
        self.check_totals(self.client)
        self.settle()
        self.check_totals(self.copy)

    def test_answers_and_refusals(self):
        self.client.ok("BF.RESERVE", "b", "0.001", 4, "NONSCALING")
        self.client.ok("BF.MADD", "b", 1, 2)
        self.client.ok("BF.MEXISTS", "b", 1, 2, "x")
        self.client.ok("BF.EXISTS", "b", 1)
        self.client.ok("BF.EXISTS", "none", 1)
        self.client.ok("CF.ADD", "c", 1)
        self.client.ok("CF.MEXISTS", "c", 1, "y", "z")
        answers = [self.number(f"{family}_answers_{what}") for family in ("bf", "cf") for what in ("positive", "negative")]
        self.assertEqual(answers, [3, 2, 1, 2])
        self.assertEqual(self.number("refusals"), 0)
        self.client.ok("BF.MADD", "b", *range(10))
        self.assertEqual(self.number("refusals"), 1)
        self.assertIsInstance(self.client("BF.RESERVE", "new", "1e-18", 100), Error)
        self.assertEqual(self.number("refusals"), 2)

    def test_the_fullest(self):
        self.assertEqual(info(self.client, "perhaps", "perhaps_fullest_filter"), "")
        for key, count in ("half", 50), ("most", 90), ("little", 10):
            self.client.ok("BF.RESERVE", key, "0.001", 100, "NONSCALING")
            self.client.ok("BF.MADD", key, *range(count))
        self.client.ok("BF.RESERVE", "grows", "0.001", 100)
        self.client.ok("BF.MADD", "grows", *range(100))
        self.assertEqual(info(self.client, "perhaps", "perhaps_fullest_filter"), "most")
        self.assertIn(self.number("fullest_filter_percent"), range(85, 91))
        self.client.ok("DEL", "most")
        self.assertEqual(info(self.client, "perhaps", "perhaps_fullest_filter"), "")
        self.client.ok("BF.ADD", "half", "x")
        self.assertEqual(info(self.client, "perhaps", "perhaps_fullest_filter"), "half")


del Pair  # its tests are those of test_replication.py

if __name__ == "__main__":
    main()
