"""Large filters: making one touches no memory; a server that dies, or a replica that takes over, while the next layer is made
loses nothing, and has the same bytes as one that was left alone."""

import contextlib
import os
import socket
import threading

from harness import ServerTest, SharedServerTest, info, items, main, wait_for

HASH_KEY = "00112233445566778899aabbccddeeff"  # of all servers, for equal digests
CAPACITY = 250_000  # large enough for a layer to be made ahead
BATCH = 1000
RESERVE_BF = ["BF.RESERVE", "k", "0.01", CAPACITY]
FAMILIES = {"BF": ("native", RESERVE_BF, ["BF.MADD", "k"], "BF.INFO"),
            "BF of RedisBloom": ("redisbloom", RESERVE_BF, ["BF.MADD", "k"], "BF.INFO"),
            "CF": ("native", ["CF.RESERVE", "k", CAPACITY, "EXPANSION", 2], ["CF.INSERT", "k", "ITEMS"], "CF.INFO")}


class Reserving(SharedServerTest):
    def resident(self):
        with open(f"/proc/{self.shared.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    def used(self):
        return int(info(self.client, "memory", "used_memory"))

    def test_a_large_filter_is_counted_and_not_touched(self):
        commands = (["BF.RESERVE", "k", "0.01", 10**8], ["BF.RESERVE", "k", "0.01", 10**8, "NONSCALING"],
                    ["BF.RESERVE", "k", "0.01", 10**8, "WINDOW", 3], ["CF.RESERVE", "k", 10**8],
                    ["CF.RESERVE", "k", 10**8, "EXPANSION", 0])
        for layout in "native", "redisbloom":
            for command in commands:
                with self.subTest(layout=layout, command=command):
                    self.client.ok("CONFIG", "SET", "perhaps.layout", layout)
                    used, resident = self.used(), self.resident()
                    self.client.ok(*command)
                    self.assertGreater(self.used() - used, 90_000_000)
                    self.assertLess(self.resident() - resident, 10_000_000)
                    self.client.ok(command[0][:2] + ".ADD", "k", "a")
                    self.assertEqual(self.client(command[0][:2] + ".EXISTS", "k", "a"), 1)
                    self.client.ok("FLUSHALL", "SYNC")
                    self.assertLess(self.used() - used, 10_000_000)


class Growing(ServerTest):
    def make(self, *options):
        return self.server("--repl-diskless-sync-delay", 0, *options, arguments=["hash-key", HASH_KEY])

    def reserve(self, client, family):
        layout, command, _, _ = FAMILIES[family]
        client.ok("CONFIG", "SET", "perhaps.layout", layout)
        client.ok(*command)

    def add(self, client, family, first, last):
        """Batches, each with its number, in one step."""
        add = FAMILIES[family][2]
        for number in range(first, last):
            client.ok("MULTI")
            client.ok(*add, *items(number * BATCH, (number + 1) * BATCH))
            client.ok("SET", "batches", number + 1)
            client.ok("EXEC")

    def layers(self, client, family):
        reply = client.ok(FAMILIES[family][3], "k")
        return dict(zip(reply[::2], reply[1::2]))["Number of filters"]

    def batches_until_growth(self, family):
        """A server that is left alone, and by how many batches its filter gets the second layer."""
        server = self.make()
        client = server.client()
        self.reserve(client, family)
        number = CAPACITY // BATCH - 10
        self.add(client, family, 0, number)
        while self.layers(client, family) == 1:
            self.add(client, family, number, number + 1)
            number += 1
        return number

    def assert_as_if_left_alone(self, client, family, more):
        """Has what a server has that got just the batches that came through, and goes on like it."""
        number = int(client.ok("GET", "batches"))
        alone = self.make().client()
        self.reserve(alone, family)
        self.add(alone, family, 0, number)
        self.assertEqual(client.ok("DEBUG", "DIGEST"), alone.ok("DEBUG", "DIGEST"))
        for one in client, alone:
            self.add(one, family, number, number + more)
        self.assertGreater(self.layers(client, family), 1)
        self.assertEqual(client.ok("DEBUG", "DIGEST"), alone.ok("DEBUG", "DIGEST"))
        return number

    def test_kill_while_a_layer_is_made(self):
        for family in FAMILIES:
            growth = self.batches_until_growth(family)
            for fsync in "everysec", "always":
                kill_at = growth - 3 if fsync == "always" else growth
                with self.subTest(family=family, fsync=fsync, kill_at=kill_at):
                    self.check_kill(family, fsync, kill_at)

    def check_kill(self, family, fsync, kill_at):
        server = self.make("--appendonly", "yes", "--appendfsync", fsync, "--auto-aof-rewrite-percentage", 0)
        client = server.client()
        self.reserve(client, family)
        acknowledged = kill_at - 5
        self.add(client, family, 0, acknowledged)

        def go_on():
            nonlocal acknowledged
            with contextlib.suppress(ConnectionError, OSError, ValueError):
                while True:
                    self.add(client, family, acknowledged, acknowledged + 1)
                    acknowledged += 1

        writer = threading.Thread(target=go_on)
        writer.start()
        wait_for(lambda: acknowledged >= kill_at, "the batch is acknowledged")
        server.process.kill()
        writer.join()
        server.restart()
        # The server writes before it replies, so what dies with the process is not acknowledged.
        number = self.assert_as_if_left_alone(server.client(), family, 12)
        self.assertIn(number, (acknowledged, acknowledged + 1))

    def test_promotion_while_a_layer_is_made(self):
        for family in FAMILIES:
            growth = self.batches_until_growth(family)
            # The first shape is sent when the layer is made ahead, the second when it is used.
            for shape, cut in (1, "within"), (1, "after"), (2, "before"), (2, "after"):
                with self.subTest(family=family, shape=shape, cut=cut):
                    self.check_promotion(family, growth, shape, cut)

    def check_promotion(self, family, growth, shape, cut):
        primary, replica = self.make(), self.make()
        wire = Wire(primary.port, b"PERHAPS.RESHAPE", shape, cut)
        self.addCleanup(wire.close)
        client, copy = primary.client(), replica.client()
        copy.ok("REPLICAOF", "127.0.0.1", wire.port)
        wait_for(lambda: info(copy, "replication", "master_link_status") == "up", "the replica is linked")
        self.reserve(client, family)
        self.add(client, family, 0, growth + 2)
        wait_for(lambda: info(copy, "replication", "master_link_status") == "down", "the wire is cut")
        copy.ok("REPLICAOF", "NO", "ONE")
        number = self.assert_as_if_left_alone(copy, family, 20)
        self.assertLess(number, growth + 2)
        client.ok("REPLICAOF", "127.0.0.1", replica.port)
        wait_for(lambda: info(client, "replication", "master_link_status") == "up", "the old primary follows")
        self.assertEqual(copy.ok("WAIT", 1, 10_000), 1)
        self.assertEqual(client.ok("DEBUG", "DIGEST"), copy.ok("DEBUG", "DIGEST"))


class Wire:
    """Between a replica and its primary, until a word has come a number of times: what follows is lost, from just before
    the word, from its midst, or from some way after it."""

    def __init__(self, port, word, times, cut):
        self.word, self.times = word, times
        self.keep = {"before": 0, "within": len(word) // 2, "after": len(word) + 400}[cut]
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.primary = port
        self.ends = [self.listener]
        threading.Thread(target=self.carry, daemon=True).start()

    def carry(self):
        with contextlib.suppress(OSError):
            primary, replica = self.connect()
            threading.Thread(target=self.connect_more, daemon=True).start()
            self.carry_down(primary, replica)
        self.close()

    def connect(self):
        """The two ends of the next connection that a replica makes; what it says goes up."""
        replica, _ = self.listener.accept()
        primary = socket.create_connection(("127.0.0.1", self.primary))
        self.ends += [replica, primary]
        threading.Thread(target=self.carry_all, args=(replica, primary), daemon=True).start()
        return primary, replica

    def connect_more(self):
        """Redis 8 sends the data of the beginning over a connection of their own."""
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self.carry_all, args=self.connect(), daemon=True).start()

    @staticmethod
    def carry_all(one, other):
        with contextlib.suppress(OSError):
            while data := one.recv(1 << 16):
                other.sendall(data)
            other.shutdown(socket.SHUT_WR)

    def carry_down(self, primary, replica):
        seen, sent, at, found = bytearray(), 0, 0, 0
        for _ in range(self.times):
            while (found := seen.find(self.word, at)) < 0:
                held = next(n for n in range(len(self.word), -1, -1) if seen.endswith(self.word[:n]))
                at = len(seen) - held
                replica.sendall(seen[sent:at])
                sent = at
                data = primary.recv(1 << 16)
                if not data:
                    return
                seen += data
            at = found + len(self.word)
        while len(seen) < found + self.keep:
            seen += primary.recv(1 << 16)
        replica.sendall(seen[sent:max(sent, found + self.keep)])

    def close(self):
        for end in self.ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


if __name__ == "__main__":
    main()
