"""A primary and its replica: the same bytes, nothing superfluous on the wire, nothing lost that was acknowledged."""

import contextlib
import os
import random
import subprocess
import tempfile
import threading
import time

from harness import COMMAND_LINE, LONG, ServerTest, add_all, query_all, image, info, items, main, wait_for
from resp import Error

MIXED = 400  # commands of the mixed load


def mixed_load(client, number, seed):
    """Commands of all sorts on a few keys, some of which fail and some of which change nothing."""
    chance = random.Random(seed)

    def some(count):
        return [b"%d" % chance.randrange(5000) for _ in range(count)]

    commands = []
    for _ in range(number):
        key = chance.choice("abcd")
        commands.append(chance.choice([
            lambda: ["BF.ADD", "b" + key, *some(1)], lambda: ["BF.MADD", "b" + key, *some(30)],
            lambda: ["BF.INSERT", "b" + key, "CAPACITY", 50, "ITEMS", *some(20)],
            lambda: ["BF.RESERVE", "b" + key, "0.001", 50, "EXPANSION", 3],
            lambda: ["BF.RESERVE", "w" + key, "0.01", 200, "WINDOW", 3], lambda: ["BF.MADD", "w" + key, *some(40)],
            lambda: ["BF.RESERVE", "t" + key, "0.01", 200, "WINDOW", 3, "PERIOD", 30],
            lambda: ["BF.MADD", "t" + key, *some(70)],
            lambda: ["BF.RESERVE", "f" + key, "0.01", 300, "NONSCALING"], lambda: ["BF.MADD", "f" + key, *some(20)],
            lambda: ["CF.RESERVE", "c" + key, 64, "EXPANSION", 0], lambda: ["BF.MERGE", "b" + key, "b" + chance.choice("abcd")],
            lambda: ["CF.ADD", "c" + key, *some(1)], lambda: ["CF.INSERT", "c" + key, "ITEMS", *some(20)],
            lambda: ["CF.ADDNX", "c" + key, *some(1)], lambda: ["CF.INSERTNX", "c" + key, "ITEMS", *some(20)],
            lambda: ["CF.DEL", "c" + key, *some(1)], lambda: ["CF.COMPACT", "c" + key],
            lambda: ["COPY", "b" + key, "e" + key, "REPLACE"],
            lambda: ["CONFIG", "SET", "perhaps.layout", chance.choice(["native", "redisbloom"])],
        ])())
        if chance.random() < 0.02:
            commands.append(["DEL", "b" + key, "c" + key, "e" + key])
    return client.pipeline(commands)


class Pair(ServerTest):
    options = ()

    def setUp(self):
        self.primary, self.replica = self.servers(2, *self.options)
        self.client = self.primary.client()
        self.replica.client().ok("REPLICAOF", "127.0.0.1", self.primary.port)
        self.copy = self.replica.client()
        wait_for(lambda: info(self.copy, "replication", "master_link_status") == "up", "the replica is linked")

    def settle(self):
        """Until the replica has everything."""
        self.assertEqual(self.client.ok("WAIT", 1, 10_000), 1)

    def assert_equal_data(self):
        self.settle()
        self.assertEqual(self.copy.ok("DEBUG", "DIGEST"), self.client.ok("DEBUG", "DIGEST"))

    def offset(self):
        return int(info(self.client, "replication", "master_repl_offset"))


class Equality(Pair):
    options = ("--repl-ping-replica-period", "3600", "--repl-diskless-sync-delay", "0")

    def test_mixed_load(self):
        for seed in range(4):
            mixed_load(self.client, MIXED, seed)
            self.assert_equal_data()
        self.assertGreater(len(self.copy.ok("KEYS", "*")), 10)

    def test_growth(self):
        """Every layer that the primary adds, the replica has."""
        for layout in "native", "redisbloom":
            self.client.ok("CONFIG", "SET", "perhaps.layout", layout)
            for start in range(0, 50_000, 500):
                self.client.ok("BF.MADD", "b" + layout, *range(start, start + 500))
                if layout == "native" or start < 30_000:  # where RedisBloom's ends
                    self.client.ok("CF.INSERT", "c" + layout, "ITEMS", *range(start, start + 500))
            self.assert_equal_data()
            for key, command in ("b" + layout, "BF.INFO"), ("c" + layout, "CF.INFO"):
                here, there = self.client.ok(command, key), self.copy.ok(command, key)
                size = here.index("Size") + 1
                self.assertEqual(there[:size - 1] + there[size + 1:], here[:size - 1] + here[size + 1:])
                self.assertAlmostEqual(there[size], here[size], delta=here[size] // 20)
            self.assertEqual(query_all(self.copy, "BF.MEXISTS", "b" + layout, items(0, 50_000)), 50_000)

    def test_batches_that_find_no_room(self):
        """What of a batch was added lies on the replica where it lies here, also when all of it was tried first."""
        for round_ in range(60):
            key = f"full{round_}"
            self.client.ok("CF.RESERVE", key, 64, "EXPANSION", 0)
            for start in range(0, 200, 25):
                replies = self.client.ok("CF.INSERT", key, "ITEMS", *items(start, start + 25))
            self.assertIn(-1, replies)
        self.assert_equal_data()
        self.client.ok("CONFIG", "SET", "perhaps.filter-memory-limit", "40kb")
        for round_ in range(10):
            key = f"limited{round_}"
            self.client.ok("CF.RESERVE", key, 1000)
            for start in range(0, 60_000, 700):
                replies = self.client.ok("CF.INSERT", key, "ITEMS", *items(start, start + 700))
            self.assertIn(-1, replies)
        self.assert_equal_data()

    def test_different_settings(self):
        """What is made depends on the primary's settings alone."""
        for name, value in ("layout", "redisbloom"), ("bf-error-rate", "0.2"), ("bf-initial-size", 7), \
                ("cf-initial-size", 77), ("bf-expansion-factor", 5), ("cf-bucket-size", 5), \
                ("cf-expansion-factor", 3), ("cf-max-expansions", 1), ("hash-key", "0" * 32):
            self.copy.ok("CONFIG", "SET", f"perhaps.{name}", value)
        self.client.ok("BF.MADD", "b", *range(3000))
        self.client.ok("CF.INSERT", "c", "ITEMS", *range(3000))
        self.client.ok("BF.RESERVE", "d", "0.01", 100)
        self.client.ok("CF.RESERVE", "e", 100)
        self.client.ok("CONFIG", "SET", "perhaps.layout", "redisbloom")
        self.client.ok("BF.MADD", "f", *range(3000))
        self.client.ok("CF.INSERT", "g", "ITEMS", *range(6000))
        self.assert_equal_data()

    def test_windows(self):
        """A replica forgets what the primary forgets, and when it does."""
        self.client.ok("BF.RESERVE", "w", "0.001", 300, "WINDOW", 4)
        for start in range(0, 2000, 50):
            self.client.ok("BF.MADD", "w", *range(start, start + 50))
            if start % 500 == 0:
                self.assert_equal_data()
        self.assert_equal_data()
        self.assertEqual(query_all(self.copy, "BF.MEXISTS", "w", items(1700, 2000)), 300)
        self.assertLess(query_all(self.copy, "BF.MEXISTS", "w", items(0, 1000)), 20)

    def test_windows_in_time(self):
        self.client.ok("BF.RESERVE", "w", "0.001", 300, "WINDOW", 3, "PERIOD", 400)
        self.client.ok("BF.MADD", "w", *range(100))
        self.assertEqual(query_all(self.client, "BF.MEXISTS", "w", items(0, 100)), 100)
        self.assert_equal_data()
        time.sleep(0.7)
        self.client.ok("BF.MADD", "w", *range(100, 200))
        self.assert_equal_data()
        for client in self.client, self.copy:
            self.assertLess(query_all(client, "BF.MEXISTS", "w", items(0, 100)), 5)
            self.assertEqual(query_all(client, "BF.MEXISTS", "w", items(100, 200)), 100)
        time.sleep(0.7)
        for client in self.copy, self.client:
            self.assertLess(query_all(client, "BF.MEXISTS", "w", items(100, 200)), 5)
            self.settle()

    def test_a_replica_whose_primary_rests(self):
        """Answers of a replica follow its own clock, and its data the primary's."""
        for key, period in ("w", 1500), ("long", 600_000):
            self.client.ok("BF.RESERVE", key, "0.001", 300, "WINDOW", 3, "PERIOD", period)
            self.client.ok("BF.MADD", key, *range(100))
        self.settle()
        self.assertEqual(query_all(self.copy, "BF.MEXISTS", "w", items(0, 100)), 100)
        stored, offset = self.copy.ok("DEBUG", "DIGEST-VALUE", "w"), self.offset()
        self.assertEqual(self.copy.ok("BF.CARD", "w"), 100)
        wait_for(lambda: not self.copy.ok("BF.EXISTS", "w", 1), "the replica says no")
        self.assertEqual(query_all(self.copy, "BF.MEXISTS", "w", items(0, 100)), 0)
        self.assertEqual(self.copy.ok("BF.CARD", "w"), 0)
        self.assertEqual(self.copy.ok("BF.INFO", "w", "ITEMS"), [0])
        self.assertEqual(query_all(self.copy, "BF.MEXISTS", "long", items(0, 100)), 100)
        self.copy.ok("DEBUG", "RELOAD")
        self.assertEqual(self.copy.ok("BF.EXISTS", "w", 1), 0)
        self.assertEqual(self.copy.ok("DEBUG", "DIGEST-VALUE", "w"), stored)
        self.assertEqual(self.offset(), offset)
        self.assertEqual(self.client.ok("BF.EXISTS", "w", 1), 0)  # now the primary's forgets
        self.assert_equal_data()
        self.assertNotEqual(self.copy.ok("DEBUG", "DIGEST-VALUE", "w"), stored)
        self.client.ok("BF.MADD", "w", *range(200, 250))
        self.assert_equal_data()
        self.assertEqual(query_all(self.copy, "BF.MEXISTS", "w", items(200, 250)), 50)

    def test_a_replica_that_is_promoted(self):
        """What its answers had forgotten stays forgotten, and its data follow."""
        self.client.ok("BF.RESERVE", "w", "0.001", 300, "WINDOW", 3, "PERIOD", 300)
        self.client.ok("BF.MADD", "w", *range(100))
        self.settle()
        stored = self.copy.ok("DEBUG", "DIGEST-VALUE", "w")
        wait_for(lambda: not self.copy.ok("BF.EXISTS", "w", 1), "the replica says no")
        self.copy.ok("REPLICAOF", "NO", "ONE")
        self.assertEqual(self.copy.ok("DEBUG", "DIGEST-VALUE", "w"), stored)
        self.assertEqual(self.copy.ok("BF.ADD", "w", 1), 1)
        self.assertEqual(query_all(self.copy, "BF.MEXISTS", "w", items(0, 100)), 1)

    def test_bursts(self):
        """A window by time keeps its rate when all keys come at once, and a replica has the same generations."""
        self.client.ok("BF.RESERVE", "w", "0.01", 10_000, "WINDOW", 4, "PERIOD", 600_000)
        for start in range(0, 10_000, 500):
            self.client.ok("BF.MADD", "w", *range(start, start + 500))
            if start == 5000:
                self.settle()
                # Of the time, an image has only the beginnings of its generations.
                self.copy.ok("DEBUG", "RELOAD")
        self.assert_equal_data()
        for client in self.client, self.copy:
            self.assertEqual(query_all(client, "BF.MEXISTS", "w", items(0, 10_000)), 10_000)
            self.assertLess(query_all(client, "BF.MEXISTS", "w", items(10**6, 10**6 + 20_000)), 200 + 5 * 14)
        self.assertEqual(self.flooded(), 0)
        for start in range(10_000, 30_000, 500):
            self.client.ok("BF.MADD", "w", *range(start, start + 500))
        self.assert_equal_data()
        self.assertEqual(self.flooded(), 1)
        self.assertEqual(query_all(self.copy, "BF.MEXISTS", "w", items(0, 30_000)), 30_000)

    def flooded(self):
        reply = self.client.ok("PERHAPS.INFO", "w")
        fields = dict(zip(reply[::2], reply[1::2])) if isinstance(reply, list) else reply
        return fields[b"flooded"]

    def test_bursts_while_time_goes_on(self):
        chance = random.Random(1)
        self.client.ok("BF.RESERVE", "w", "0.01", 300, "WINDOW", 4, "PERIOD", 300)
        for start in range(0, 6000, 100):
            self.client.ok("BF.MADD", "w", *range(start, start + chance.choice([1, 5, 100])))
            time.sleep(chance.choice([0, 0, 0.01, 0.05]))
            if start % 500 == 0:
                self.assert_equal_data()
            if start % 1500 == 0:
                # Of the time, an image has only the beginnings of its generations.
                self.copy.ok("DEBUG", "RELOAD")
        self.assert_equal_data()

    def test_tables_that_have_grown_in_a_window(self):
        """A flood makes one generation large; those that begin after it have their quota as before."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "w.ph")
            subprocess.run([COMMAND_LINE, "build", "-k", "table", "--window", "1s", "--generations", "3", "-n", "20", "-o",
                            path, "/dev/null"], check=True, stderr=subprocess.DEVNULL)
            with open(path, "rb") as file:
                whole = file.read()
        self.client.ok("PERHAPS.LOAD", "w", 0, len(whole), whole)
        self.client.ok("BF.MADD", "w", *range(500))
        self.assert_equal_data()
        time.sleep(2)
        for start in range(1000, 1080, 5):
            self.client.ok("BF.MADD", "w", *range(start, start + 5))
            time.sleep(0.07)
            self.assert_equal_data()

    def test_expansions_beyond_the_usual(self):
        """The limit is a setting of the primary; a replica that has loaded the filter takes what the primary took."""
        self.client.ok("CONFIG", "SET", "perhaps.layout", "redisbloom")
        self.client.ok("CONFIG", "SET", "perhaps.cf-max-expansions", 60)
        self.client.ok("CF.RESERVE", "c", 2, "BUCKETSIZE", 1, "EXPANSION", 1)
        self.client.ok("CF.ADD", "c", "a")
        self.settle()
        self.copy.ok("DEBUG", "RELOAD")
        replies = self.client.pipeline(["CF.ADD", "c", "a"] for _ in range(200))
        self.assertEqual(replies[-1], Error("Maximum expansions reached"))
        self.assertEqual(self.client.ok("CF.DEBUG", "c").split()[4], b"filters:60")
        self.client.ok("CONFIG", "SET", "perhaps.layout", "native")
        self.client.ok("CONFIG", "SET", "perhaps.cf-max-expansions", 32)
        self.assert_equal_data()

    def test_a_pause(self):
        """While clients may not write, a query makes no window forget: that would end the server."""
        self.client.ok("BF.RESERVE", "w", "0.01", 1000, "WINDOW", 2, "PERIOD", 50)
        self.client.ok("BF.ADD", "w", "a")
        self.client.ok("CLIENT", "PAUSE", 500, "WRITE")
        time.sleep(0.2)
        self.assertEqual(self.client.ok("BF.EXISTS", "w", "a"), 0)
        self.client.ok("CLIENT", "UNPAUSE")
        self.assertEqual(self.client.ok("BF.EXISTS", "w", "a"), 0)

    def test_loading(self):
        """Images and chunks that are loaded on the primary arrive, as does a merge."""
        self.client.ok("CONFIG", "SET", "perhaps.hash-key", "1" * 32)
        self.client.ok("BF.RESERVE", "a", "0.01", 1000)
        self.client.ok("BF.MADD", "a", *range(1000))
        whole = image(self.client, "a")
        for start in range(0, len(whole), 400):
            self.client.ok("PERHAPS.LOAD", "b", start, len(whole), whole[start:start + 400])
        self.client.ok("BF.RESERVE", "c", "0.01", 1000)
        self.client.ok("BF.MADD", "c", *range(5000, 5500))
        self.client.ok("BF.MERGE", "c", "a", "b")
        self.assert_equal_data()
        self.assertEqual(self.copy.ok("EXISTS", "a", "b", "c"), 3)

    def test_transactions_and_scripts(self):
        """Filters that are made and grow inside of them do so on the replica."""
        script = "for i = 1, 3000 do redis.call('BF.ADD', KEYS[1], i); redis.call('CF.ADD', KEYS[2], i) end"
        self.client.ok("EVAL", script, 2, "b", "c")
        self.client.ok("MULTI")
        for start in range(0, 6000, 500):
            self.client.ok("BF.MADD", "d", *range(start, start + 500))
            self.client.ok("CF.INSERT", "e", "ITEMS", *range(start, start + 500))
        self.client.ok("EXEC")
        self.assert_equal_data()
        self.assertEqual(query_all(self.copy, "BF.MEXISTS", "d", items(0, 6000)), 6000)

    def test_a_replica_that_comes_late(self):
        mixed_load(self.client, MIXED, 7)
        late = self.server(*self.options)
        late.client().ok("REPLICAOF", "127.0.0.1", self.primary.port)
        client = late.client()
        wait_for(lambda: info(client, "replication", "master_link_status") == "up", "the late replica is linked")
        mixed_load(self.client, MIXED, 8)
        self.assertEqual(self.client.ok("WAIT", 2, 10_000), 2)
        self.assertEqual(client.ok("DEBUG", "DIGEST"), self.client.ok("DEBUG", "DIGEST"))


class Silence(Pair):
    options = ("--repl-ping-replica-period", "3600", "--repl-diskless-sync-delay", "0")

    def test_what_changes_nothing_is_not_replicated(self):
        for layout in "native", "redisbloom":
            with self.subTest(layout=layout):
                self.client.ok("CONFIG", "SET", "perhaps.layout", layout)
                self.check_silence()

    def check_silence(self):
        self.client.ok("FLUSHALL")
        self.client.ok("BF.MADD", "k", "a", "b")
        self.client.ok("CF.ADD", "c", "a")
        self.client.ok("BF.RESERVE", "full", "0.01", 1, "NONSCALING")
        self.client.ok("BF.ADD", "full", "a")
        for command in (["BF.ADD", "k", "a"], ["BF.MADD", "k", "a", "b"], ["BF.INSERT", "k", "ITEMS", "a"],
                        ["BF.RESERVE", "k", "0.01", 100], ["BF.EXISTS", "k", "a"], ["BF.INFO", "k"],
                        ["BF.ADD", "full", "b"], ["BF.INSERT", "none", "NOCREATE", "ITEMS", "a"],
                        ["CF.ADDNX", "c", "a"], ["CF.INSERTNX", "c", "ITEMS", "a"], ["CF.DEL", "c", "zzz"],
                        ["CF.DEL", "none", "a"], ["CF.INSERT", "none", "NOCREATE", "ITEMS", "a"],
                        ["BF.LOADCHUNK", "none", 1, "x"], ["PERHAPS.LOAD", "none", 0, 1, "x"],
                        ["BF.MERGE", "k", "none"], ["BF.SCANDUMP", "k", 0], ["PERHAPS.DUMP", "k", 0],
                        ["PERHAPS.INFO", "k"]):
            before = self.offset()
            self.client(*command)
            self.assertEqual(self.offset(), before, f"{command} is replicated")

    def test_creation_goes_out_as_integers(self):
        """The replica need not work out a layout from a rate."""
        watcher = self.replica.client()
        watcher("MONITOR")
        self.client.ok("BF.RESERVE", "k", "0.0123", 12345)
        self.client.ok("CF.RESERVE", "c", 12345)
        self.client.ok("BF.ADD", "new", "a")
        self.client.ok("SET", "end", "1")
        seen = []
        while not seen or '"end"' not in seen[-1]:
            seen.append(str(watcher.read()))
        lines = [line for line in seen if '"k"' in line or '"c"' in line]
        self.assertEqual(len([line for line in lines if "CREATE" in line.upper()]), 2, lines)
        self.assertFalse([line for line in seen if "0.0123" in line])
        self.assert_equal_data()


class Loss(Pair):
    options = ("--repl-diskless-sync-delay", "0",)

    def add_growing(self, pause):
        """Adds small batches to filters that grow from a few items on, and remembers what was acknowledged."""
        with contextlib.suppress(ConnectionError, OSError, ValueError):
            client = self.primary.client()
            while True:
                batch = items(self.added, self.added + 30)
                for key in self.growing:
                    if isinstance(client(f"{key[:2]}.INSERT", key, "NOCREATE", "ITEMS", *batch), Error):
                        return
                self.added += 30
                time.sleep(pause)

    def test_kills_during_growth(self):
        """The primary dies by SIGKILL again and again while filters grow. With appendfsync always, its file has all that it
        acknowledged; with everysec, all that is older than the two seconds for which the server may keep it back."""
        self.growing = [family + layout for layout in ("native", "redisbloom") for family in ("BF", "CF")]
        for fsync, rounds, pause in ("everysec", 1, 0.04), ("always", 3, 0):
            self.primary.options += ["--appendonly", "yes", "--appendfsync", fsync]
            self.primary.restart()
            self.client = self.primary.client()
            self.client.ok("FLUSHALL")
            for key in self.growing:
                self.client.ok("CONFIG", "SET", "perhaps.layout", key[2:])
                self.client.ok(*(["BF.RESERVE", key, "0.01", 10] if key[:2] == "BF" else ["CF.RESERVE", key, 64]),
                               "EXPANSION", 2)
            self.added, known = 0, []
            for kill in range(rounds * (4 if LONG else 1)):
                first, goal = self.added, self.added + 300 * (kill + 1)
                writer = threading.Thread(target=self.add_growing, args=(pause,))
                writer.start()
                wait_for(lambda: self.added > goal, "items are in")
                safe = self.added
                time.sleep(2.5 if fsync == "everysec" else 0)
                self.primary.process.kill()
                writer.join()
                self.primary.restart()
                self.client = self.primary.client()
                known += items(first, safe if fsync == "everysec" else self.added)
                for key in self.growing:
                    self.assertEqual(query_all(self.client, key[:2] + ".MEXISTS", key, known), len(known), key)
                wait_for(lambda: info(self.copy, "replication", "master_link_status") == "up", "the replica is linked")
                self.assert_equal_data()

    def add_until_the_end(self):
        """Adds in batches, and remembers which of them a replica has acknowledged."""
        client, number = self.primary.client(), 0
        try:
            while True:
                batch = items(number, number + 50)
                for command in ["BF.MADD", "k", *batch], ["CF.INSERT", "c", "ITEMS", *batch]:
                    if isinstance(client(*command), Error):
                        return
                if client("WAIT", 1, 1000) == 1:
                    self.acknowledged = number + 50
                number += 50
        except (ConnectionError, OSError, ValueError):
            return

    def test_the_primary_dies(self):
        self.acknowledged = 0
        writer = threading.Thread(target=self.add_until_the_end)
        writer.start()
        wait_for(lambda: self.acknowledged > 3000, "3000 items are acknowledged")
        self.primary.process.kill()
        writer.join()
        self.primary.kill()
        self.copy.ok("REPLICAOF", "NO", "ONE")
        known = items(0, self.acknowledged)
        self.assertEqual(query_all(self.copy, "BF.MEXISTS", "k", known), len(known))
        self.assertEqual(query_all(self.copy, "CF.MEXISTS", "c", known), len(known))
        self.copy.ok("BF.MADD", "k", *range(10**6, 10**6 + 5000))
        self.copy.ok("CF.INSERT", "c", "ITEMS", *range(10**6, 10**6 + 5000))
        self.primary.start()
        old = self.primary.client()
        old.ok("REPLICAOF", "127.0.0.1", self.replica.port)
        wait_for(lambda: info(old, "replication", "master_link_status") == "up", "the old primary follows the new one")
        self.assertEqual(self.copy.ok("WAIT", 1, 10_000), 1)
        self.assertEqual(old.ok("DEBUG", "DIGEST"), self.copy.ok("DEBUG", "DIGEST"))


if __name__ == "__main__":
    main()
