"""RedisBloom's layout: byte for byte that of an independent implementation, in dumps, chunks and RDB payloads."""

import random

from harness import SharedServerTest, chunks, main
from payloads import DOUBLE, FOOTER, STRING, UINT, put_together, take_apart
from redisbloom_model import Bloom, Cuckoo
from resp import Error

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
MOST_OF_A_CHUNK = 16 << 20


def type_number(name, version):
    """How an RDB file names a module's type."""
    number = 0
    for letter in name:
        number = number << 6 | LETTERS.index(letter)
    return number << 10 | version


def some_items(seed, number):
    """Items of all lengths, some of them twice."""
    chance = random.Random(seed)
    return [b"%d" % chance.randrange(number * 2) + b"x" * chance.randrange(30) for _ in range(number)]


def bloom_values(model, version=4):
    """What BF keeps in an RDB file."""
    values = [[UINT, model.size], [UINT, len(model.layers)]]
    if version >= 2:
        values.append([UINT, 5 if model.scales else 13])
    if version >= 4:
        values.append([UINT, model.growth])
    for layer in model.layers:
        values += [[UINT, layer.entries], [DOUBLE, layer.error], [UINT, layer.hashes], [DOUBLE, layer.bpe],
                   [UINT, layer.bits], [UINT, 0], [STRING, bytes(layer.array)], [UINT, layer.size]]
    return values


def cuckoo_values(model):
    values = [[UINT, number] for number in (len(model.filters), model.buckets, model.items, model.deletes, model.size,
                                            model.steps, model.expansion)]
    for sub in model.filters:
        values += [[UINT, len(sub)], [STRING, b"".join(bytes(bucket) for bucket in sub)]]
    return values


def pairs(flat):
    return dict(zip(flat[::2], flat[1::2]))


# error, capacity, expansion; and how many items come. Then: capacity, size of buckets, iterations,
# expansion; items.
BLOOMS = [("0.01", 100, 2, 3000), ("0.001", 10, 1, 200), ("0.25", 1, 4, 400), ("1e-6", 50, 3, 2000),
          ("0.9", 20, 2, 300)]
CUCKOOS = [(1000, 2, 20, 1, 5000), (64, 1, 5, 2, 800), (500, 4, 500, 4, 6000), (300, 7, 20, 3, 2500),
           (128, 2, 20, 0, 200)]


class Layout(SharedServerTest):
    options = ("--rdbcompression", "no")
    layout = "redisbloom"

    def check_chunks(self, command, key, model):
        """Header and data as the model has them, and cursors as documented."""
        pieces = chunks(self.client, command, key)
        header, data = model.dump()
        self.assertEqual(pieces[0], (1, header))
        self.assertTrue(b"".join(piece for _, piece in pieces[1:]) == data, "the bytes differ")
        at = 1
        for cursor, piece in pieces[1:]:
            at += len(piece)
            self.assertEqual(cursor, at)
            self.assertLessEqual(len(piece), MOST_OF_A_CHUNK)

    def test_as_many_items_as_in_redisbloom(self):
        """A command that finds as many parts as there may be adds nothing, even if there is room; one that finds fewer adds
        all of its items."""
        for capacity, arguments, most in ((4, (), 32), (4, ("EXPANSION", 2), 5), (64, ("BUCKETSIZE", 1), 7)):
            with self.subTest(capacity=capacity, arguments=arguments, most=most):
                self.client.ok("DEL", "k")
                self.client.ok("CONFIG", "SET", "perhaps.cf-max-expansions", most)
                self.client.ok("CF.RESERVE", "k", capacity, *arguments)
                options = dict(zip(arguments[::2], arguments[1::2]))
                model = Cuckoo(capacity, options.get("BUCKETSIZE", 2), 20, options.get("EXPANSION", 1), 10**6)
                number = 0
                while len(model.filters) < most:
                    self.assertEqual(self.client("CF.ADD", "k", number), model.add(b"%d" % number))
                    number += 1
                full = Error("Maximum expansions reached")
                for command in ["CF.ADD", "k", 1], ["CF.ADDNX", "k", 1], ["CF.ADDNX", "k", "new"], \
                        ["CF.INSERT", "k", "ITEMS", 1, 2], ["CF.INSERTNX", "k", "ITEMS", 1, 2]:
                    self.assertEqual(self.client(*command), full)
                self.check_chunks("CF.SCANDUMP", "k", model)
        self.client.ok("DEL", "k")
        self.client.ok("CF.RESERVE", "k", 4)
        model = Cuckoo(4, most=10**6)
        self.assertEqual(self.client.ok("CF.INSERT", "k", "ITEMS", *range(200)), [model.add(b"%d" % i) for i in range(200)])
        self.assertGreater(len(model.filters), 7)
        self.check_chunks("CF.SCANDUMP", "k", model)
        self.client.ok("CONFIG", "SET", "perhaps.cf-max-expansions", 32)

    def check_dump(self, key, name, values):
        module, shown = take_apart(self.client.ok("DUMP", key))
        self.assertEqual(module, type_number(name, 4))
        self.assert_same(shown, values)

    def blooms(self):
        """Filters in the server and beside it, with the same items."""
        for number, (error, capacity, growth, count) in enumerate(BLOOMS):
            model = Bloom(min(float(error), 0.25), capacity, growth)
            key = f"b{number}"
            self.client.ok("BF.RESERVE", key, error, capacity, "EXPANSION", growth)
            yield key, model, some_items(number, count)
        model = Bloom(0.01, 200, 2, True)
        self.client.ok("BF.RESERVE", "fixed", "0.01", 200, "NONSCALING")
        yield "fixed", model, some_items(99, 200)

    def cuckoos(self):
        for number, (capacity, size, steps, expansion, count) in enumerate(CUCKOOS):
            model = Cuckoo(capacity, size, steps, expansion)
            key = f"c{number}"
            self.client.ok("CF.RESERVE", key, capacity, "BUCKETSIZE", size, "MAXITERATIONS", steps,
                           "EXPANSION", expansion)
            yield key, model, some_items(number, count)

    def test_bloom(self):
        for key, model, some in self.blooms():
            with self.subTest(key=key):
                self.assert_same(self.client.ok("BF.MADD", key, *some), [model.add(item) for item in some])
                self.check_chunks("BF.SCANDUMP", key, model)
                self.check_dump(key, "MBbloom--", bloom_values(model))
                probes = some_items(1234, 1000)
                self.assert_same(self.client.ok("BF.MEXISTS", key, *probes), [model.exists(item) for item in probes])
                info = pairs(self.client.ok("BF.INFO", key))
                self.assertEqual(info["Capacity"], sum(layer.entries for layer in model.layers))
                self.assertEqual(info["Number of filters"], len(model.layers))
        self.assertGreaterEqual(len(model.layers), 1)

    def test_bloom_debug(self):
        for key, model, some in self.blooms():
            self.client.ok("BF.MADD", key, *some)
            for item in some:
                model.add(item)
            shown = self.client.ok("BF.DEBUG", key)
            self.assertEqual(shown[0], b"size:%d" % model.size)
            for line, layer in zip(shown[1:], model.layers):
                expected = (f"bytes:{len(layer.array)} bits:{layer.bits} hashes:{layer.hashes} hashwidth:64 "
                            f"capacity:{layer.entries} size:{layer.size} ratio:{layer.error:g}")
                self.assertEqual(line.decode(), expected)

    def test_cuckoo(self):
        for key, model, some in self.cuckoos():
            with self.subTest(key=key):
                self.assert_same(self.client.ok("CF.INSERT", key, "ITEMS", *some), [model.add(item) for item in some])
                self.check_cuckoo(key, model)
                gone = some[::3]
                replies = self.client.pipeline(["CF.DEL", key, item] for item in gone)
                self.assert_same(replies, [model.delete(item) for item in gone])
                self.check_cuckoo(key, model)
                self.client.ok("CF.COMPACT", key)
                model.compact()
                self.check_cuckoo(key, model)

    def check_cuckoo(self, key, model):
        self.check_chunks("CF.SCANDUMP", key, model)
        self.check_dump(key, "MBbloomCF", cuckoo_values(model))
        probes = some_items(1234, 500)
        replies = self.client.pipeline(["CF.COUNT", key, item] for item in probes)
        self.assert_same(replies, [model.count(item) for item in probes])
        info = pairs(self.client.ok("CF.INFO", key))
        self.assertEqual([info["Number of buckets"], info["Number of filters"], info["Number of items inserted"],
                          info["Number of items deleted"]],
                         [model.buckets, len(model.filters), model.items, model.deletes])

    def test_chunks_go_to_another_server(self):
        # Native is its layout for new filters; what is loaded keeps its layout.
        other = self.server().client()
        for source, family, verb in (self.blooms, "BF", "BF.MADD"), (self.cuckoos, "CF", "CF.INSERT"):
            for key, model, some in source():
                with self.subTest(key=key):
                    half = len(some) // 2
                    words = [verb, key] + (["ITEMS"] if family == "CF" else [])
                    self.client.ok(*words, *some[:half])
                    for cursor, piece in chunks(self.client, f"{family}.SCANDUMP", key):
                        other.ok(f"{family}.LOADCHUNK", key, cursor, piece)
                    self.assertEqual(other.ok("TYPE", key), "MBbloom--" if family == "BF" else "MBbloomCF")
                    for client in self.client, other:
                        client.ok(*words, *some[half:])
                    one, two = (client.ok("DEBUG", "DIGEST-VALUE", key) for client in (self.client, other))
                    self.assertEqual(one, two)

    def test_foreign_chunks_and_dumps(self):
        """What the model makes, the server takes, and goes on with."""
        version = self.client.ok("DUMP", self.blooms().__next__()[0])[-FOOTER:-8]
        self.client.ok("FLUSHALL")
        for number, (model, name, values, family) in enumerate(self.models()):
            header, _ = model.dump()
            key = f"f{number}"
            with self.subTest(key=key, name=name):
                self.client.ok(f"{family}.LOADCHUNK", key, 1, header)
                self.load_parts(family, key, self.parts(model))
                dump = put_together(type_number(name, 4), values, version)
                self.client.ok("RESTORE", key + "r", 0, dump)
                one, two = self.client.ok("DEBUG", "DIGEST-VALUE", key, key + "r")
                self.assertEqual(one, two)
                self.assertTrue(self.client.ok("DUMP", key + "r") == dump, "the dumps differ")
                for item in b"one", b"two", b"three":
                    self.assertEqual(self.client(f"{family}.ADD", key, item), model.add(item))
                self.check_chunks(f"{family}.SCANDUMP", key, model)

    def models(self):
        for error, capacity, growth, count in BLOOMS[:4]:
            model = Bloom(float(error), capacity, growth)
            for item in some_items(5, count):
                model.add(item)
            yield model, "MBbloom--", bloom_values(model), "BF"
        for capacity, size, steps, expansion, count in CUCKOOS[:4]:
            model = Cuckoo(capacity, size, steps, expansion)
            for item in some_items(6, count):
                model.add(item)
            yield model, "MBbloomCF", cuckoo_values(model), "CF"

    @staticmethod
    def parts(model):
        if isinstance(model, Bloom):
            return [bytes(layer.array) for layer in model.layers]
        return [b"".join(bytes(bucket) for bucket in sub) for sub in model.filters]

    def load_parts(self, family, key, parts):
        at = 1
        for part in parts:
            at += len(part)
            self.client.ok(f"{family}.LOADCHUNK", key, at, part)

    def test_older_versions(self):
        """RDB payloads of RedisBloom 1 and 2 load."""
        version = self.client.ok("DUMP", self.blooms().__next__()[0])[-FOOTER:-8]
        model = Bloom(0.01, 100, 2)
        some = some_items(8, 1000)
        for item in some:
            model.add(item)
        for encoding in 2, 3, 4:
            with self.subTest(encoding=encoding):
                dump = put_together(type_number("MBbloom--", encoding), bloom_values(model, encoding), version)
                self.client.ok("RESTORE", "k", 0, dump, "REPLACE")
                self.assertEqual(sum(self.client.ok("BF.MEXISTS", "k", *some)), len(some))
                self.check_chunks("BF.SCANDUMP", "k", model)
        newer = put_together(type_number("MBbloom--", 5), bloom_values(model), version)
        self.assertTrue(self.client("RESTORE", "k", 0, newer, "REPLACE").startswith("ERR"))

    def test_the_largest_chunk(self):
        self.client.ok("BF.RESERVE", "k", "0.001", 12_000_000, "NONSCALING")
        self.client.ok("BF.MADD", "k", *range(100))
        pieces = chunks(self.client, "BF.SCANDUMP", "k")
        lengths = [len(piece) for _, piece in pieces[1:]]
        self.assertEqual(lengths[0], MOST_OF_A_CHUNK)
        self.assertEqual(len(lengths), 2)
        for cursor, piece in pieces:
            self.client.ok("BF.LOADCHUNK", "l", cursor, piece)
        one, two = self.client.ok("DEBUG", "DIGEST-VALUE", "k", "l")
        self.assertEqual(one, two)

    def test_bad_chunks(self):
        self.client.ok("BF.RESERVE", "k", "0.01", 100)
        (_, header), (end, data) = chunks(self.client, "BF.SCANDUMP", "k")
        self.client.ok("BF.LOADCHUNK", "l", 1, header)
        self.assertEqual(self.client("BF.LOADCHUNK", "l", end + 1, data + b"x"),
                         "ERR invalid chunk - Too big for current filter")
        self.assertEqual(self.client("BF.LOADCHUNK", "l", end + 10_000_000, data), "ERR invalid offset - no link found")
        self.client.ok("BF.LOADCHUNK", "l", end, data)
        self.client.ok("CF.RESERVE", "c", 1000)
        self.client.ok("CF.ADD", "c", "a")
        (_, header), (end, data) = chunks(self.client, "CF.SCANDUMP", "c")
        self.assertEqual(self.client("CF.LOADCHUNK", "d", 1, header[:-1]), "Invalid header")
        self.client.ok("CF.LOADCHUNK", "d", 1, header)
        self.assertEqual(self.client("CF.LOADCHUNK", "d", 1, header), "ERR item exists")
        self.assertEqual(self.client("CF.LOADCHUNK", "d", end + 1, data + b"x"), "Couldn't load chunk!")
        self.client.ok("CF.LOADCHUNK", "d", end, data)


if __name__ == "__main__":
    main()
