"""One large set over a cluster: 64 shards on 3 primaries, with slots moving while items come in."""

import os
import subprocess
import tempfile
import threading
import time
import unittest

from harness import CLI, MODULE, ServerTest, items, main, server_version, start_all, wait_for
from resp import Client, Error

SHARDS = 64
MIGRATES = server_version() >= ("valkey", (9, 0))
COMMAND_LINE = os.environ.get("PERHAPS", os.path.join(os.path.dirname(os.path.dirname(MODULE)), "cli/perhaps"))


def crc16_table():
    table = []
    for byte in range(256):
        crc = byte << 8
        for _ in range(8):
            crc = (crc << 1) ^ 0x1021 if crc & 0x8000 else crc << 1
        table.append(crc & 0xFFFF)
    return table


TABLE = crc16_table()


def crc16(data):
    """The cluster's CRC16 (XMODEM)."""
    crc = 0
    for byte in data:
        crc = (crc << 8 & 0xFFFF) ^ TABLE[crc >> 8 ^ byte]
    return crc


class ClusterClient:
    """Sends every command to the node that has its key; follows MOVED and ASK."""

    def __init__(self, port):
        self.nodes = {}
        self.slots = {}
        self.first = port

    def node(self, port):
        if port not in self.nodes:
            self.nodes[port] = Client(port)
        return self.nodes[port]

    def __call__(self, command, key, *rest):
        slot = crc16(key.encode()) % 16384
        port, words = self.slots.get(slot, self.first), [command, key, *rest]
        asking = False
        for _ in range(1000):
            node = self.node(port)
            if asking:
                node("ASKING")
            reply = node(*words)
            word = str(reply).split(" ")[0] if isinstance(reply, Error) else ""
            if word in ("MOVED", "ASK"):
                port, asking = int(reply.rsplit(":", 1)[1]), word == "ASK"
                if word == "MOVED":
                    self.slots[slot] = port
            elif word in ("TRYAGAIN", "CLUSTERDOWN"):
                time.sleep(0.02)
            else:
                return reply
        raise AssertionError(f"{command} {key} does not find its node")

    def close(self):
        for node in self.nodes.values():
            node.close()


class ShardedSet:
    """What any language does in five lines: the item's shard is its CRC16 modulo their number."""

    def __init__(self, cluster, name):
        self.cluster, self.name = cluster, name

    def by_shard(self, everything):
        shards = {}
        for item in everything:
            shards.setdefault(crc16(item) % SHARDS, []).append(item)
        return shards.items()

    def add(self, command, everything, *before):
        for shard, some in self.by_shard(everything):
            reply = self.cluster(command, f"{self.name}:{shard}", *before, *some)
            if isinstance(reply, Error):
                raise AssertionError(f"{command} of shard {shard}: {reply}")

    def count(self, command, everything):
        return sum(sum(self.cluster(command, f"{self.name}:{shard}", *some))
                   for shard, some in self.by_shard(everything))


class Cluster(ServerTest):
    @classmethod
    def setUpClass(cls):
        cls.nodes = start_all(3, "--cluster-enabled", "yes", "--cluster-node-timeout", "15000")
        for node in cls.nodes:
            cls.addClassCleanup(node.stop)
        addresses = [f"127.0.0.1:{node.port}" for node in cls.nodes]
        cls.command("create", *addresses, "--cluster-yes", "--cluster-replicas", "0")
        wait_for(lambda: all(cls.is_well(node) for node in cls.nodes), "the cluster is one")

    @staticmethod
    def command(*words):
        done = subprocess.run(CLI + ["--cluster", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=120, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise AssertionError(f"--cluster {' '.join(words)}:\n{done.stdout[-3000:]}")
        return done.stdout

    @staticmethod
    def is_well(node):
        text = node.cli("cluster", "info")
        return "cluster_state:ok" in text and "cluster_known_nodes:3" in text

    def setUp(self):
        self.cluster = ClusterClient(self.nodes[0].port)
        self.addCleanup(self.cluster.close)

    def reshard(self, number, source=0, target=1):
        """Moves that many slots from one primary to another."""
        names = [node.client().ok("CLUSTER", "MYID").decode() for node in self.nodes]
        self.command("reshard", f"127.0.0.1:{self.nodes[0].port}", "--cluster-from", names[source], "--cluster-to",
                     names[target], "--cluster-slots", str(number), "--cluster-yes")

    def migrate(self):
        """Valkey 9 moves slots in one step: here 500 of the first node to the second."""
        one = self.nodes[0].client()
        first, target = self.first_slot(), self.nodes[1].client().ok("CLUSTER", "MYID")
        one.ok("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", first, first + 499, "NODE", target)

        def state():
            newest = one.ok("CLUSTER", "GETSLOTMIGRATIONS")[0]
            return dict(zip(newest[::2], newest[1::2]))[b"state"]

        wait_for(lambda: state() in (b"success", b"failed"), "the slots are moved")
        self.assertEqual(state(), b"success")

    def first_slot(self):
        """The first slot of the first node."""
        nodes = self.nodes[0].client().ok("CLUSTER", "NODES").decode().splitlines()
        mine = next(line for line in nodes if "myself" in line)
        return int(mine.split()[8].split("-")[0])

    def test_resharding_in_the_middle_of_adding(self):
        self.check_moving("resharded", lambda: self.reshard(3000))

    @unittest.skipUnless(MIGRATES, "only Valkey from 9 on has atomic migration")
    def test_atomic_migration_in_the_middle_of_adding(self):
        self.check_moving("migrated", self.migrate)

    @unittest.skipUnless(MIGRATES, "only Valkey from 9 on has atomic migration")
    def test_atomic_migration_obeys_no_limit(self):
        """The limit is for clients: a filter that moves is taken, and is the same afterwards."""
        first, target = self.first_slot(), self.nodes[1].client()
        keys = [key for key in map(str, range(10_000)) if first <= crc16(key.encode()) % 16384 < first + 500][:6]
        known = items(0, 5000)
        for i, key in enumerate(keys):
            self.nodes[0].client().ok("CONFIG", "SET", "perhaps.layout", "redisbloom" if i % 2 else "native")
            self.cluster(*(["BF.MADD", key] if i < 3 else ["CF.INSERT", key, "ITEMS"]), *known)
        digests = self.nodes[0].client().ok("DEBUG", "DIGEST-VALUE", *keys)
        target.ok("CONFIG", "SET", "perhaps.filter-memory-limit", "1kb")
        self.migrate()
        target.ok("CONFIG", "SET", "perhaps.filter-memory-limit", 0)
        self.assertEqual(target.ok("DEBUG", "DIGEST-VALUE", *keys), digests)

    def check_moving(self, name, move_some):
        bloom, cuckoo = ShardedSet(self.cluster, f"{name}: numbers"), ShardedSet(self.cluster, f"{name}: cuckoos")
        known = items(0, 30_000)
        errors = []

        def move():
            try:
                move_some()
            except AssertionError as error:
                errors.append(error)

        bloom.add("BF.MADD", known[:10_000])
        cuckoo.add("CF.INSERT", known[:10_000], "ITEMS")
        mover = threading.Thread(target=move)
        mover.start()
        done = 10_000
        while done < len(known) and (mover.is_alive() or done < 20_000):
            bloom.add("BF.MADD", known[done:done + 500])
            cuckoo.add("CF.INSERT", known[done:done + 500], "ITEMS")
            done += 500
        mover.join()
        self.assertFalse(errors, errors)
        bloom.add("BF.MADD", known[done:])
        cuckoo.add("CF.INSERT", known[done:], "ITEMS")
        self.assertEqual(bloom.count("BF.MEXISTS", known), len(known))
        self.assertEqual(cuckoo.count("CF.MEXISTS", known), len(known))
        absent = items(10**6, 10**6 + 20_000)
        self.assertLess(bloom.count("BF.MEXISTS", absent), 300)
        self.assertLess(cuckoo.count("CF.MEXISTS", absent), 300)
        for node in self.nodes:
            self.assertGreater(node.client().ok("DBSIZE"), 0)

    def test_merge_within_a_slot(self):
        self.cluster("BF.ADD", "{x}a", "1")
        self.assertEqual(self.cluster("BF.MERGE", "{x}b", "{x}a"), "OK")
        with Client(self.nodes[0].port) as client:
            self.assertTrue(client("BF.MERGE", "{x}b", "{y}a").startswith("CROSSSLOT"))

    def perhaps(self, *words, check=True, **settings):
        done = subprocess.run([COMMAND_LINE, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=120, **settings)
        if check and done.returncode:
            raise AssertionError(f"perhaps {' '.join(map(str, words))}: {done.stderr.decode()}")
        return done.stdout

    def test_the_command_line(self):
        """build, add and check with --at, slots moving meanwhile, see the same shards as the five lines above."""
        if b"--at" not in self.perhaps("help", "build", check=False) + self.perhaps("build", "--help", check=False):
            self.skipTest("this command line has no --at")
        at = f"redis://127.0.0.1:{self.nodes[0].port}/phones"
        known = items(0, 40_000)
        with tempfile.TemporaryDirectory() as folder:
            for name, some in ("first", known[:20_000]), ("second", known[20_000:]):
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(b"\n".join(some) + b"\n")
            self.perhaps("build", "--at", at, "--shards", SHARDS, "-n", 40_000, "-p", 0.01, "first", cwd=folder)
            mover = threading.Thread(target=self.reshard, args=(1500, 1, 2))
            mover.start()
            self.perhaps("add", "--at", at, "second", cwd=folder)
            mover.join()
            with open(os.path.join(folder, "all"), "wb") as file:
                file.write(b"\n".join(known) + b"\n")
            found = self.perhaps("check", "--at", at, "all", cwd=folder, check=False).split()
        self.assertEqual(len(found), len(known))
        self.assertEqual(ShardedSet(self.cluster, "phones").count("BF.MEXISTS", known), len(known))


if __name__ == "__main__":
    main()
