"""What filters take in the server's memory: no more than RedisBloom's, and what INFO commands say of it.

RedisBloom's memory follows from its structs, its arrays and the steps in which the server's allocator gives memory.
"""
import math

from harness import Error, SharedServerTest, info, main, wait_for
from payloads import FOOTER, put_together
from redisbloom_model import Bloom, Cuckoo
from test_layout import bloom_values, cuckoo_values, type_number

COUNT = 4000
SLACK = 24  # bytes for each filter: what the server's table of keys takes comes in steps


def step(size):
    """What the allocator gives: multiples of 16 up to 128, then four steps for each doubling."""
    if size <= 128:
        return (size + 15) // 16 * 16
    unit = 1 << max((size - 1).bit_length() - 3, 4)
    return (size + unit - 1) // unit * unit


def bloom_pieces(model):
    return [32, 64 * len(model.layers), *(len(layer.array) for layer in model.layers)]


def cuckoo_pieces(model):
    return [40, 16 * len(model.filters), *(len(sub) * model.size for sub in model.filters)]


def taken(pieces):
    """With the two objects of the server that each value of a module has."""
    return sum(map(step, pieces)) + 16 + 16


class Memory(SharedServerTest):
    options = ("--slowlog-max-len", "0")  # its entries take memory too

    def used(self):
        return int(info(self.client, "memory", "used_memory"))

    def each(self, *commands, count=COUNT):
        """By how much used_memory rises for each of many filters, beyond a key with a number."""
        self.client.ok("FLUSHALL", "SYNC")
        wait_for(lambda: info(self.client, "memory", "lazyfree_pending_objects") == "0", "all is free")
        before = self.used()
        with self.shared.client() as client:  # whose buffers end with it
            for start in range(0, count, 100):
                replies = client.pipeline([command[0], f"key:{i:06}", *command[1:]]
                                          for i in range(start, start + 100) for command in commands)
                self.assertFalse([reply for reply in replies if isinstance(reply, Error)])
        wait_for(lambda: info(self.client, "clients", "connected_clients") == "1", "the other client is gone")
        return (self.used() - before) / count

    def check(self, most, *commands):
        key = self.each(("SET", "1"))
        for layout in "native", "redisbloom":
            with self.subTest(layout=layout, command=commands[0][0]):
                self.client.ok("CONFIG", "SET", "perhaps.layout", layout)
                self.assertLessEqual(self.each(*commands) - key, most + SLACK)

    def test_of_one_item(self):
        """Less than half of what RedisBloom's take, which have all their bits from the beginning."""
        self.check(taken(bloom_pieces(Bloom(0.01, 100))) / 2, ("BF.ADD", "a"))
        self.check(taken(cuckoo_pieces(Cuckoo(1024))) / 4, ("CF.ADD", "a"))

    def test_full(self):
        items = list(range(100))
        self.check(taken(bloom_pieces(Bloom(0.01, 100))), ("BF.INSERT", "ITEMS", *items))
        self.check(taken(bloom_pieces(Bloom(0.001, 100))), ("BF.INSERT", "ERROR", "0.001", "ITEMS", *items))
        self.check(taken(bloom_pieces(Bloom(0.01, 1000))), *(("BF.INSERT", "CAPACITY", 1000, "ITEMS", *range(i, i + 100)) for i in range(0, 1000, 100)))

    def restored(self, name, values):
        """By how much used_memory rises for each filter that is restored from what RedisBloom saves."""
        self.client.ok("SET", "s", "")
        version = self.client.ok("DUMP", "s")[-FOOTER:-FOOTER + 2]
        return self.each(("RESTORE", 0, put_together(type_number(name, 4), values, version)))

    def test_restored(self):
        """Also in the middle of their growth; there a little more, as the arrays of all layers are one piece."""
        key = self.each(("SET", "1"))
        for count in 1, 100, 101, 700, 1500:
            model = Bloom(0.01, 100)
            for item in range(count):
                model.add(b"%d" % item)
            with self.subTest(layers=len(model.layers), items=count):
                self.assertLessEqual(self.restored("MBbloom--", bloom_values(model)) - key, 1.07 * taken(bloom_pieces(model)) + SLACK)
        for count in 1, 900, 1900:
            model = Cuckoo(1024)
            for item in range(count):
                model.add(b"%d" % item)
            with self.subTest(filters=len(model.filters), items=count):
                self.assertLessEqual(self.restored("MBbloomCF", cuckoo_values(model)) - key, taken(cuckoo_pieces(model)) + SLACK)

    def grown(self, family, capacity, error, items):
        """MEMORY USAGE of a native filter with that many items, without the key."""
        self.client.ok("DEL", "k")
        self.client.ok("SET", "s", 1)
        reserve = ("BF.RESERVE", "k", error, capacity) if family == "BF" else ("CF.RESERVE", "k", capacity, "ERROR", error)
        self.client.ok(*reserve)
        for start in range(0, items, 1000):
            some = range(start, min(items, start + 1000))
            self.client.ok(*(("BF.MADD", "k") if family == "BF" else ("CF.INSERT", "k", "ITEMS")), *some)
        return self.client.ok("MEMORY", "USAGE", "k") - self.client.ok("MEMORY", "USAGE", "s")

    def test_reserved(self):
        """No more than RedisBloom's of the same error rate; a hundredth and a page are for what is no bit."""
        for capacity in 1000, 3000, 20_000, 100_000, 1_000_000, 10_000_000:
            for error in 0.1, 0.02, 0.01, 0.005, 0.001, 0.0001:
                other = 32 + 64 + capacity * -math.log(error / 2) / math.log(2) ** 2 / 8
                other = step(int(other)) if other < 16384 else other
                with self.subTest(capacity=capacity, error=error):
                    self.assertLessEqual(self.grown("BF", capacity, error, 0), other * 1.01 + 4096)

    def test_grown(self):
        """To ten times the capacity, in the same steps as RedisBloom's: up to so much more, at a rate that holds."""
        for capacity, error, most in (100, 0.01, 1.25), (1000, 0.001, 1.4), (10_000, 0.01, 1.3), (10_000, 0.001, 1.2):
            other = sum(2**i * capacity * -math.log(error / 2**(i + 1)) / math.log(2) ** 2 / 8 for i in range(4))
            with self.subTest(capacity=capacity, error=error):
                self.assertLessEqual(self.grown("BF", capacity, error, 10 * capacity), most * other)
        self.assertLessEqual(self.grown("CF", 10_000, 0.01, 100_000), 230_000)

    def test_reports(self):
        """MEMORY USAGE, BF.INFO and CF.INFO say what used_memory rises by."""
        for layout in "native", "redisbloom":
            self.client.ok("CONFIG", "SET", "perhaps.layout", layout)
            for name, commands in (("BF", [("BF.ADD", "a")]), ("CF", [("CF.ADD", "a")]),
                                   ("BF", [("BF.INSERT", "ITEMS", *range(300))]),
                                   ("CF", [("CF.INSERT", "CAPACITY", 100, "ITEMS", *range(300))]),
                                   ("BF", [("BF.INSERT", "CAPACITY", 20_000, "ITEMS", "a")]),
                                   ("CF", [("CF.INSERT", "CAPACITY", 20_000, "ITEMS", "a")])):
                with self.subTest(layout=layout, command=commands[0][:2]):
                    each = self.each(*commands, count=1000)
                    usage = self.client.ok("MEMORY", "USAGE", "key:000001")
                    fields = self.client.ok(f"{name}.INFO", "key:000001")
                    size = dict(zip(fields[::2], fields[1::2]))["Size"]
                    # Large pieces end in pages that are not used.
                    self.assertLessEqual(abs(usage - each), 60 + each // 8)
                    self.assertLessEqual(size, usage)
                    self.assertGreaterEqual(size, usage - 120)

    def test_sizes_follow_items(self):
        """A filter takes more memory as it gets items, never more than it has bits, and answers alike all the time."""
        for family, add in ("BF", "BF.ADD"), ("CF", "CF.ADD"):
            before = 0
            for i in range(300):
                self.client.ok(add, family, i)
                self.assertEqual(self.client.ok(f"{family}.MEXISTS", family, *range(i + 1)), [1] * (i + 1))
                now = self.client.ok("MEMORY", "USAGE", family)
                self.assertGreaterEqual(now, before)
                before = now
            copy = self.client.ok("DUMP", family)
            self.client.ok("RESTORE", family + "2", 0, copy)
            self.assertEqual(self.client.ok(f"{family}.MEXISTS", family + "2", *range(300)), [1] * 300)


if __name__ == "__main__":
    main()
