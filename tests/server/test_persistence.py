"""What is kept: files, copies, memory, and what the server is told about it."""

import contextlib
import os
import subprocess
import threading

from harness import (ServerTest, SharedServerTest, add_all, query_all, chunks, image, info, items, main,
                     server_version, wait_for)
from resp import Error

MANY = 20_000


def pairs(flat):
    return dict(zip(flat[::2], flat[1::2]))


def fill(client):
    """One of everything: layouts, kinds, small and large, empty and full, one layer and many. Returns their keys."""
    keys = items(0, MANY)
    client.ok("CONFIG", "SET", "perhaps.layout", "native")
    client.ok("BF.RESERVE", "empty", "0.01", 100)
    client.ok("BF.MADD", "small", *keys[:50])
    client.ok("BF.RESERVE", "fixed", "0.001", MANY, "NONSCALING")
    client.ok("BF.RESERVE", "reserved", "0.001", MANY)
    client.ok("BF.RESERVE", "window", "0.01", 1000, "WINDOW", 4)
    client.ok("BF.RESERVE", "timed", "0.01", MANY, "WINDOW", 4, "PERIOD", 3600_000)
    client.ok("CF.RESERVE", "cuckoo", MANY, "BUCKETSIZE", 4, "MAXITERATIONS", 30, "EXPANSION", 2, "ERROR", "0.001")
    for key in "grown", "fixed", "reserved", "window", "timed":
        add_all(client, "BF.MADD", key, keys[:MANY // 2] if key == "fixed" else keys)
    for key in "cuckoo", "grown cuckoo":
        client.ok("CF.INSERT", key, "ITEMS", *keys)
        client.pipeline(["CF.DEL", key, item] for item in keys[:100])
        client.ok("CF.INSERT", key, "ITEMS", *([b"often"] * 50))
    client.ok("CONFIG", "SET", "perhaps.layout", "redisbloom")
    client.ok("BF.RESERVE", "old fixed", "0.001", MANY, "NONSCALING")
    for key in "old grown", "old fixed":
        add_all(client, "BF.MADD", key, keys)
    client.ok("CF.RESERVE", "old cuckoo", 1000, "EXPANSION", 2)
    client.ok("CF.INSERT", "old cuckoo", "ITEMS", *keys)
    client.pipeline(["CF.DEL", "old cuckoo", item] for item in keys[:100])
    client.ok("CONFIG", "SET", "perhaps.layout", "native")
    return sorted(client.ok("KEYS", "*"))


def answers(client, keys=None):
    """What a server says about everything."""
    shown = []
    probes = items(MANY - 500, MANY + 1500)
    for key in keys or sorted(client.ok("KEYS", "*")):
        kind = "CF" if b"cuckoo" in key else "BF"
        facts = client.ok(f"{kind}.INFO", key)
        del facts[facts.index("Size") + 1]  # lists of layers that have grown have spare room
        shown.append((key, facts, client.ok(f"{kind}.MEXISTS", key, *probes)))
    return shown


class Files(ServerTest):
    def check_same(self, server, again):
        client = server.client()
        fill(client)
        before, digest = answers(client), client.ok("DEBUG", "DIGEST")
        again(server)
        client = server.client()
        self.assertEqual(client.ok("DEBUG", "DIGEST"), digest)
        self.assert_same(answers(client), before)
        self.go_on(client)
        server.check_log()

    def go_on(self, client):
        """What was loaded can be used further."""
        more = items(MANY, MANY + 3000)
        for key in "small", "grown", "reserved", "old grown":
            add_all(client, "BF.MADD", key, more)
            self.assertEqual(query_all(client, "BF.MEXISTS", key, more), len(more))
        for key in "cuckoo", "grown cuckoo", "old cuckoo":
            client.ok("CF.INSERT", key, "ITEMS", *more)
            self.assertEqual(query_all(client, "CF.MEXISTS", key, more), len(more))
        self.assertEqual(client.ok("CF.COUNT", "cuckoo", "often"), 50)

    def test_rdb(self):
        self.check_same(self.server(), lambda server: server.restart(save=True))

    def test_aof_and_kill(self):
        server = self.server("--appendonly", "yes", "--appendfsync", "always")
        self.check_same(server, lambda server: server.restart())

    def test_as_many_layers_as_there_may_be(self):
        """Filters in RedisBloom's layout that have grown to the end are saved and loaded, and are full as before."""
        server = self.server()
        client = server.client()
        client.ok("CONFIG", "SET", "perhaps.layout", "redisbloom")
        client.ok("CONFIG", "SET", "perhaps.cf-max-expansions", 1000)
        client.ok("BF.RESERVE", "b", "0.01", 1, "EXPANSION", 1)
        client.ok("CF.RESERVE", "c", 2, "BUCKETSIZE", 1, "EXPANSION", 1)
        full = {"b": "ERR problem inserting into filter", "c": "Maximum expansions reached"}
        replies = {key: client.pipeline([f"{key.upper()}F.ADD", key, n] for n in range(600)) for key in full}
        too_many = {key: next(n for n, reply in enumerate(replies[key]) if isinstance(reply, Error)) for key in full}
        digest = client.ok("DEBUG", "DIGEST")
        server.restart(save=True)
        client = server.client()
        self.assertEqual(client.ok("DEBUG", "DIGEST"), digest)
        for key in full:
            command = key.upper() + "F"
            self.assertEqual(client.ok(f"{command}.INFO", key)[5], 256)
            known = [n for n, reply in enumerate(replies[key]) if reply in (0, 1)]
            self.assertEqual(query_all(client, f"{command}.MEXISTS", key, known), len(known))
            again = client.pipeline([[f"{command}.ADD", key, too_many[key]]])[0]
            self.assertEqual([str(replies[key][too_many[key]]), str(again)], [full[key]] * 2)
        server.check_log()

    def test_kill_while_items_come(self):
        """What was acknowledged is there after a kill at any moment."""
        server = self.server("--appendonly", "yes", "--appendfsync", "always")
        acknowledged = 0

        def add():
            nonlocal acknowledged
            with contextlib.suppress(ConnectionError, OSError, ValueError):
                client = server.client()
                while True:
                    batch = items(acknowledged, acknowledged + 20)
                    client.ok("BF.MADD", "k", *batch)
                    client.ok("CF.INSERT", "c", "ITEMS", *batch)
                    acknowledged += 20

        writer = threading.Thread(target=add)
        writer.start()
        wait_for(lambda: acknowledged > 2000, "2000 items are in")
        server.process.kill()
        writer.join()
        server.restart()
        known = items(0, acknowledged)
        self.assertEqual(query_all(server.client(), "BF.MEXISTS", "k", known), len(known))
        self.assertEqual(query_all(server.client(), "CF.MEXISTS", "c", known), len(known))

    def test_half_loaded_filters(self):
        """A filter that is being loaded is kept like any other, and loading goes on."""
        server = self.server("--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble", "no")
        client = server.client()
        client.ok("BF.MADD", "k", *range(3000))
        client.ok("CONFIG", "SET", "perhaps.layout", "redisbloom")
        client.ok("BF.MADD", "old", *range(3000))
        whole, pieces = image(client, "k"), chunks(client, "BF.SCANDUMP", "old")
        third = len(whole) // 3
        client.ok("PERHAPS.LOAD", "l", 0, len(whole), whole[:third])
        client.ok("BF.LOADCHUNK", "new", *pieces[0])
        server.restart()
        client = server.client()
        client.ok("PERHAPS.LOAD", "l", third, len(whole), whole[third:2 * third])
        client.ok("BF.LOADCHUNK", "new", *pieces[1])
        self.rewrite(server)
        client = server.client()
        self.assertEqual(client("BF.CARD", "l"), "ERR filter is still being loaded")
        client.ok("PERHAPS.LOAD", "l", 2 * third, len(whole), whole[2 * third:])
        for cursor, piece in pieces[2:]:
            client.ok("BF.LOADCHUNK", "new", cursor, piece)
        for key in "l", "new":
            self.assertEqual(query_all(client, "BF.MEXISTS", key, items(0, 3000)), 3000)

    def rewrite(self, server):
        client = server.client()
        client.ok("BGREWRITEAOF")
        wait_for(lambda: info(client, "persistence", "aof_rewrite_in_progress") == "0" and
                 info(client, "persistence", "aof_rewrite_scheduled") == "0", "the AOF is rewritten")
        self.assertEqual(info(client, "persistence", "aof_last_bgrewrite_status"), "ok")
        client.ok("BF.MADD", "small", "after", "the", "rewrite")
        client.ok("CF.ADD", "cuckoo", "after the rewrite")
        self.digest = client.ok("DEBUG", "DIGEST")
        server.restart()
        self.assertEqual(server.client().ok("DEBUG", "DIGEST"), self.digest)

    def test_rewritten_aof_with_and_without_rdb(self):
        for preamble in "no", "yes":
            with self.subTest(preamble=preamble):
                server = self.server("--appendonly", "yes", "--appendfsync", "always",
                                     "--aof-use-rdb-preamble", preamble)
                fill(server.client())
                self.rewrite(server)
                self.go_on(server.client())

    def test_rdb_with_a_large_value_in_an_aof_rewrite(self):
        """Larger than one command of the rewritten file."""
        server = self.server("--appendonly", "yes", "--aof-use-rdb-preamble", "no")
        client = server.client()
        client.ok("BF.RESERVE", "small", "0.01", 40_000_000)
        client.ok("CONFIG", "SET", "perhaps.layout", "redisbloom")
        client.ok("BF.RESERVE", "large", "0.01", 40_000_000)
        client.ok("CF.RESERVE", "cuckoo", 20_000_000)
        for key in "small", "large":
            client.ok("BF.MADD", key, *range(1000))
        client.ok("CF.INSERT", "cuckoo", "ITEMS", *range(1000))
        self.rewrite(server)


class Copies(SharedServerTest):
    def test_copy(self):
        for key in fill(self.client):
            with self.subTest(key=key):
                copy = b"copy of cuckoo" if b"cuckoo" in key else b"copy"
                self.assertEqual(self.client.ok("COPY", key, copy, "REPLACE"), 1)
                one, two = self.client.ok("DEBUG", "DIGEST-VALUE", key, copy)
                self.assertEqual(one, two)
                command = "CF.ADD" if b"cuckoo" in key else "BF.ADD"
                self.client(command, copy, "something new")
                self.assertEqual(self.client.ok("DEBUG", "DIGEST-VALUE", key), [one], "the original changed")
        self.assertEqual(self.client.ok("COPY", "grown", "grown", "DB", 3), 1)

    def test_dump_and_restore(self):
        for key in fill(self.client):
            with self.subTest(key=key):
                dumped = self.client.ok("DUMP", key)
                before = self.client.ok("DEBUG", "DIGEST-VALUE", key)
                self.client.ok("RESTORE", key, 0, dumped, "REPLACE")
                self.assertEqual(self.client.ok("DEBUG", "DIGEST-VALUE", key), before)
                self.assertTrue(self.client.ok("DUMP", key) == dumped, "the dumps differ")

    def test_chunks(self):
        """SCANDUMP and LOADCHUNK carry every filter to another server."""
        other = self.server().client()
        for key in fill(self.client):
            if key in (b"window", b"timed"):
                continue
            kind = "CF" if b"cuckoo" in key else "BF"
            with self.subTest(key=key):
                pieces = chunks(self.client, f"{kind}.SCANDUMP", key)
                self.assertTrue(pieces)
                for cursor, piece in pieces:
                    self.assertEqual(other.ok(f"{kind}.LOADCHUNK", key, cursor, piece), "OK")
                self.assertEqual(other.ok("DEBUG", "DIGEST-VALUE", key), self.client.ok("DEBUG", "DIGEST-VALUE", key))

    def test_images(self):
        """PERHAPS.DUMP and PERHAPS.LOAD carry every filter, in pieces of any size."""
        other = self.server().client()
        for key in fill(self.client):
            with self.subTest(key=key):
                whole = image(self.client, key)
                self.assertTrue(image(self.client, key, 1000) == whole, "the images differ")
                for start in range(0, len(whole), 10_000):
                    piece = whole[start:start + 10_000]
                    self.assertEqual(other.ok("PERHAPS.LOAD", key, start, len(whole), piece), "OK")
                self.assertTrue(image(other, key) == whole, "the images differ")

    def test_half_an_image(self):
        self.client.ok("BF.MADD", "k", *range(1000))
        whole = image(self.client, "k")
        self.client.ok("PERHAPS.LOAD", "l", 0, len(whole), whole[:500])
        unfinished = "ERR filter is still being loaded"
        for command in (["BF.ADD", "l", "a"], ["BF.EXISTS", "l", "a"], ["BF.INFO", "l"], ["PERHAPS.INFO", "l"],
                        ["PERHAPS.DUMP", "l", 0], ["BF.CARD", "l"], ["BF.SCANDUMP", "l", 0], ["BF.MERGE", "k", "l"]):
            self.assertEqual(self.client(*command), unfinished, command)
        for start in 400, 501:
            self.assertIsInstance(self.client("PERHAPS.LOAD", "l", start, len(whole), whole[start:]), Error)
        self.assertIsInstance(self.client("PERHAPS.LOAD", "l", 500, len(whole) + 1, whole[500:]), Error)
        self.assertIsInstance(self.client("PERHAPS.LOAD", "l", 500, len(whole), whole[500:] + b"x"), Error)
        self.client("DEL", "l")
        self.client.ok("PERHAPS.LOAD", "l", 0, len(whole), whole[:500])
        self.client.ok("PERHAPS.LOAD", "l", 500, len(whole), whole[500:])
        self.assertEqual(query_all(self.client, "BF.MEXISTS", "l", items(0, 1000)), 1000)

    def test_what_is_refused_leaves_no_key(self):
        self.client.ok("BF.MADD", "k", *range(100))
        whole = bytearray(image(self.client, "k"))
        whole[-1] ^= 1
        self.assertIsInstance(self.client("PERHAPS.LOAD", "l", 0, len(whole), bytes(whole)), Error)
        self.assertIsInstance(self.client("PERHAPS.LOAD", "l", 0, 5, b"bytes"), Error)
        self.assertIsInstance(self.client("BF.LOADCHUNK", "l", 1, b"bytes"), Error)
        self.assertIsInstance(self.client("CF.LOADCHUNK", "l", 1, b"bytes"), Error)
        self.assertEqual(self.client.ok("EXISTS", "l"), 0)

    def test_expiry_is_kept(self):
        """By growth, by a union, and when the last chunk turns what was being loaded into a filter of another type."""
        self.client.ok("CONFIG", "SET", "perhaps.hash-key", "00112233445566778899aabbccddeeff")
        for key in "a", "b":
            self.client.ok("BF.ADD", key, key)
            self.client.ok("EXPIRE", key, 1000)
        self.client.ok("CONFIG", "SET", "perhaps.hash-key", "")
        self.client.ok("BF.MERGE", "a", "b")
        self.client.ok("BF.MADD", "a", *range(1000))
        self.client.ok("CONFIG", "SET", "perhaps.layout", "redisbloom")
        self.client.ok("BF.ADD", "old", "x")
        self.client.ok("CONFIG", "SET", "perhaps.layout", "native")
        (_, header), (end, data) = chunks(self.client, "BF.SCANDUMP", "old")
        self.client.ok("BF.LOADCHUNK", "l", 1, header)
        self.client.ok("EXPIRE", "l", 1000)
        self.client.ok("BF.LOADCHUNK", "l", end, data)
        for key in "a", "b", "l":
            self.assertGreater(self.client.ok("TTL", key), 900, key)

    def test_merge(self):
        self.client.ok("CONFIG", "SET", "perhaps.hash-key", "00112233445566778899aabbccddeeff")
        for key, first in ("a", 0), ("b", 5000), ("c", 10_000):
            self.client.ok("BF.RESERVE", key, "0.01", 20_000)
            self.client.ok("BF.MADD", key, *range(first, first + 5000))
        self.client.ok("CONFIG", "SET", "perhaps.hash-key", "")
        self.assertEqual(self.client("BF.MERGE", "a", "b", "c"), "OK")
        self.assertEqual(query_all(self.client, "BF.MEXISTS", "a", items(0, 15_000)), 15_000)
        self.assertLess(query_all(self.client, "BF.MEXISTS", "a", items(20_000, 30_000)), 200)
        self.assertEqual(self.client("BF.MERGE", "new", "b"), "OK")
        self.assertEqual(query_all(self.client, "BF.MEXISTS", "new", items(5000, 10_000)), 5000)
        self.client.ok("BF.RESERVE", "other", "0.01", 20_000)
        before = self.client.ok("DEBUG", "DIGEST")
        self.assertIsInstance(self.client("BF.MERGE", "a", "other"), Error)
        self.assertIsInstance(self.client("BF.MERGE", "a", "b", "nothing"), Error)
        self.client.ok("SET", "s", "1")
        self.assertTrue(self.client("BF.MERGE", "a", "s").startswith("WRONGTYPE"))
        self.client.ok("DEL", "s")
        self.assertEqual(self.client.ok("DEBUG", "DIGEST"), before)


def foreign_dump(name):
    """An RDB file with a key of a module's type that nobody here has."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    number = 0
    for letter in name:
        number = number << 6 | letters.index(letter)
    value = b"\x81" + (number << 10).to_bytes(8, "big") + b"\x00"
    return b"REDIS0009\xfe\x00\x07\x03key" + value + b"\xff" + bytes(8)


class OtherTypes(ServerTest):
    def test_keys_of_types_that_are_not_filters(self):
        """What docs/server-redisbloom.md says of the other types of RedisBloom: the server ends, tells which, and leaves the file alone."""
        server = self.server()
        path = os.path.join(server.folder, "dump.rdb")
        server.stop()
        for name in "CMSk-TYPE", "TopK-TYPE", "TDIS-TYPE":
            dump = foreign_dump(name)
            with open(path, "wb") as file:
                file.write(dump)
            done = subprocess.run(server.command(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  cwd=server.folder, env=server.environment(), timeout=60)
            self.assertIn(f"The RDB file contains module data I can't load: no matching module type '{name}'", done.stdout)
            self.assertNotIn("Ready to accept connections", done.stdout)
            with open(path, "rb") as file:
                self.assertEqual(file.read(), dump)
        os.unlink(path)
        server.start()


class Memory(SharedServerTest):
    def used(self):
        return int(info(self.client, "memory", "used_memory"))

    def resident(self):
        with open(f"/proc/{self.shared.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def test_a_small_filter_is_small(self):
        self.client.ok("BF.RESERVE", "k", "0.01", 100)
        self.assertLessEqual(self.client.ok("MEMORY", "USAGE", "k"), 400)

    def test_usage_is_the_truth(self):
        """What MEMORY USAGE says of thousands of filters is what the server's memory grew by, within a few per cent. Of
        large ones the server also counts addresses that its allocator keeps in reserve, without memory behind them; they
        are compared with what the system says, after items have come to all their pages."""
        self.client.ok("MEMORY", "PURGE")
        for layout in "native", "redisbloom":
            for create in (["BF.RESERVE", None, "0.01", 100], ["BF.RESERVE", None, "0.001", 20_000],
                           ["CF.RESERVE", None, 5000], ["BF.RESERVE", None, "0.01", 5000, "NONSCALING"]):
                with self.subTest(layout=layout, create=create):
                    self.client.ok("FLUSHALL", "SYNC")
                    self.client.ok("CONFIG", "SET", "perhaps.layout", layout)
                    self.check_usage(create)
        self.client.ok("CONFIG", "SET", "perhaps.layout", "native")

    def check_usage(self, create):
        small = create[2:] == ["0.01", 100]
        names = [b"filter-%05d" % i for i in range(20_000 if small else 1000)]
        # The table of keys has its room before and after, so only what belongs to the keys
        # themselves is measured.
        self.client.pipeline(["SET", name, ""] for name in names)
        strings = sum(self.client.pipeline(["MEMORY", "USAGE", name] for name in names))
        self.client.pipeline(["EXISTS", name] for name in names)  # each a step of the table's growth, until it is done
        before, resident = self.used(), self.resident()
        command, _, *rest = create
        self.client.pipeline(["DEL", name] for name in names)
        self.client.pipeline([command, name, *rest] for name in names)
        self.client.pipeline(["BF.ADD" if command[0] == "B" else "CF.ADD", name, "a"] for name in names)
        grown = self.used() - before
        said = sum(self.client.pipeline(["MEMORY", "USAGE", name] for name in names)) - strings
        # Valkey 8.1 counts names of strings, and not those of a module's values; Valkey 9 counts an
        # object that the module counts.
        said += {("valkey", (8, 1)): 16, ("valkey", (9, 1)): -16}.get(server_version(), 0) * len(names)
        self.assertGreater(said, 0)
        if 20_000 in create and said < grown:
            self.client.pipeline(["BF.MADD", name, *range(400)] for name in names)
            grown = self.resident() - resident
        self.assertLess(abs(said - grown) / grown, 0.08, f"{said} said, {grown} measured")

    def test_unlink_gives_memory_back(self):
        before = self.used()
        for number in range(5):
            self.client.ok("BF.RESERVE", f"k{number}", "0.01", 10_000_000)
        self.client.ok("BF.MADD", "grown", *range(100_000))
        self.assertGreater(self.used(), before + 50_000_000)
        self.client.ok("UNLINK", *self.client.ok("KEYS", "*"))
        wait_for(lambda: self.used() < before + 1_000_000, "the memory is free again")
        wait_for(lambda: info(self.client, "memory", "lazyfree_pending_objects") == "0", "nothing is left to free")

    def test_no_memory(self):
        self.client.ok("BF.ADD", "k", "a")
        self.client.ok("CF.ADD", "c", "a")
        self.client.ok("CONFIG", "SET", "maxmemory", 100_000)
        try:
            for command in (["BF.ADD", "k", "b"], ["BF.MADD", "k", "b"], ["BF.INSERT", "k", "ITEMS", "b"],
                            ["BF.RESERVE", "l", "0.01", 100], ["CF.ADD", "c", "b"], ["CF.RESERVE", "d", 100],
                            ["BF.LOADCHUNK", "l", 1, "x"], ["PERHAPS.LOAD", "l", 0, 1, "x"], ["BF.MERGE", "l", "k"]):
                self.assertTrue(self.client(*command).startswith("OOM "), command)
            self.assertEqual(self.client("BF.EXISTS", "k", "a"), 1)
            self.assertEqual(self.client("CF.DEL", "c", "a"), 1)
        finally:
            self.client.ok("CONFIG", "SET", "maxmemory", 0)

    def test_memory_that_cannot_be_had(self):
        """Under maxmemory, a filter that would take far more is refused, and the server lives."""
        self.client.ok("CONFIG", "SET", "maxmemory", 50_000_000)
        try:
            reply = self.client("BF.RESERVE", "k", "0.0001", 1_000_000_000)
            self.assertIn("ERR Insufficient memory to create filter: ", reply)
            reply = self.client("CF.RESERVE", "k", 1_000_000_000)
            self.assertIn("ERR Insufficient memory to create filter: ", reply)
            self.assertEqual(self.client("EXISTS", "k"), 0)
        finally:
            self.client.ok("CONFIG", "SET", "maxmemory", 0)

    def test_active_defragmentation(self):
        """Filters that the server moves while it packs its memory stay as they are."""
        if isinstance(self.client("CONFIG", "SET", "activedefrag", "yes"), Error):
            self.skipTest("this server is built without its own jemalloc, and moves nothing")
        self.client.ok("CONFIG", "SET", "activedefrag", "no")
        for name, value in ("ignore-bytes", 1), ("threshold-lower", 0), ("cycle-min", 60), ("cycle-max", 75):
            self.client.ok("CONFIG", "SET", f"active-defrag-{name}", value)
        keys = fill(self.client)
        self.client.pipeline(["BF.RESERVE", f"small {i}", "0.01", 100 + i % 50] for i in range(20_000))
        self.client.pipeline(["DEL", f"small {i}"] for i in range(20_000) if i % 8)
        before, digest = answers(self.client, keys), self.client.ok("DEBUG", "DIGEST")
        self.client.ok("CONFIG", "SET", "activedefrag", "yes")
        wait_for(lambda: int(info(self.client, "stats", "active_defrag_key_hits")) > 1000, "values have been moved")
        self.client.ok("CONFIG", "SET", "activedefrag", "no")
        self.assertEqual(self.client.ok("DEBUG", "DIGEST"), digest)
        self.assert_same(answers(self.client, keys), before)
        for command in ["BF.MADD", "grown"], ["CF.INSERT", "grown cuckoo", "ITEMS"]:
            self.client.ok(*command, *range(MANY, 2 * MANY))


class Events(SharedServerTest):
    options = ("--notify-keyspace-events", "KEA")

    def test_keyspace_events(self):
        """Changes are announced, adding always as bf.add or cf.add, and what changes nothing is not."""
        listener = self.shared.client()
        listener("PSUBSCRIBE", "__keyspace@0__:k*")
        for command in (["BF.RESERVE", "k1", "0.01", 100], ["BF.ADD", "k1", "a"], ["BF.ADD", "k1", "a"],
                        ["BF.MADD", "k1", "a", "b"], ["BF.INSERT", "k1", "ITEMS", "c"], ["BF.EXISTS", "k1", "a"],
                        ["CF.ADD", "k2", "a"], ["CF.ADDNX", "k2", "a"], ["CF.DEL", "k2", "a"], ["CF.DEL", "k2", "a"],
                        ["DEL", "k1"]):
            self.client.ok(*command)
        seen = []
        while not seen or seen[-1] != (b"k1", b"del"):
            _, _, channel, event = listener.read()
            seen.append((channel.split(b":", 1)[1], event.lower()))
        seen = [event for event in seen if not event[1].startswith(b"new")]
        self.assertEqual(seen, [(b"k1", b"bf.reserve"), (b"k1", b"bf.add"), (b"k1", b"bf.add"), (b"k1", b"bf.add"),
                                (b"k2", b"cf.add"), (b"k2", b"cf.del"), (b"k1", b"del")])

    def test_watch_sees_changes(self):
        self.client.ok("BF.ADD", "k", "a")
        for command, expected in (["BF.ADD", "k", "b"], None), (["BF.EXISTS", "k", "b"], ["PONG"]):
            with self.shared.client() as other:
                self.client.ok("WATCH", "k")
                other.ok(*command)
                self.client.ok("MULTI")
                self.client.ok("PING")
                self.assertEqual(self.client("EXEC"), expected, command)


if __name__ == "__main__":
    main()
