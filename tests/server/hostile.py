"""Hostile input: dumps, chunks and images that somebody has changed, half of them with right checksums again.

Each is refused or harmless: what is taken is then used in every way. The server must go on, without a word of ASan
(if the module has it inside), and without a command that takes long.

PERHAPS_FIX_CHECKSUMS is the program fix_checksums. PERHAPS_HOSTILE_SEED begins another sequence of payloads, and
PERHAPS_HOSTILE_FIRST begins it later.
"""

import functools
import glob
import os
import random
import signal
import struct
import subprocess

from harness import LONG, MODULE, PRELOAD, ROOT, SharedServerTest, chunks, image, main
from payloads import mutate_bytes, mutate_numbers, mutate_values, put_together, sign, take_apart, FOOTER, STRING
from resp import Error

FIRST = int(os.environ.get("PERHAPS_HOSTILE_FIRST", "0"))
TOTAL = 400_000 if LONG else 21_500
BATCH = 250
# Microseconds that a command may take; sanitizers mark gigabytes slowly.
SLOWEST = 5_000_000 if PRELOAD else 250_000
SEED = int(os.environ.get("PERHAPS_HOSTILE_SEED", "1"))
FIXER = os.environ.get("PERHAPS_FIX_CHECKSUMS") or os.path.join(os.path.dirname(os.path.dirname(MODULE)),
                                                                "tests/server/fix_checksums")
MAGIC, CAPACITY_AT = b"\x8fperhaps", 56
GOLDEN = ("table-siphash-with-key", "table-2x2", "counting-4x4", "cuckoo-8x4", "growing-counting", "window-table",
          "window-blocked-period", "window-bloom-clear-at", "sharded-cuckoo", "sharded-table", "sharded-growing-cuckoo",
          "bitmap-1x1", "blocked-16x2")


def fix_checksums(images):
    """The images with checksums as they should be."""
    data = b"".join(struct.pack("<I", len(image)) + image for image in images)
    done = subprocess.run([FIXER], input=data, stdout=subprocess.PIPE, check=True, timeout=120).stdout
    fixed, at = [], 0
    while at < len(done):
        length = struct.unpack_from("<I", done, at)[0]
        fixed.append(done[at + 4:at + 4 + length])
        at += 4 + length
    return fixed


def fill(client):
    """Small filters of every layout and kind. Their keys, with the family of commands for each."""
    client.ok("CONFIG", "SET", "perhaps.layout", "native")
    client.ok("CONFIG", "SET", "perhaps.hash-key", f"{SEED:032x}")  # the same payloads in every run
    client.ok("BF.RESERVE", "plain", "0.01", 100, "NONSCALING")
    client.ok("BF.RESERVE", "small", "0.01", 100)
    client.ok("BF.RESERVE", "grown", "0.01", 20)
    client.ok("BF.RESERVE", "window", "0.01", 100, "WINDOW", 3)
    client.ok("BF.RESERVE", "timed", "0.01", 100, "WINDOW", 3, "PERIOD", 60000)
    client.ok("CF.RESERVE", "cuckoo", 100)
    client.ok("CF.RESERVE", "grown cuckoo", 20)
    client.ok("CONFIG", "SET", "perhaps.layout", "redisbloom")
    client.ok("BF.RESERVE", "old", "0.01", 30)
    client.ok("BF.RESERVE", "old plain", "0.01", 200, "NONSCALING")
    client.ok("CF.RESERVE", "old cuckoo", 64, "EXPANSION", 2)
    client.ok("CONFIG", "SET", "perhaps.layout", "native")
    families = {}
    for key in sorted(client.ok("KEYS", "*")):
        families[key] = "CF" if b"cuckoo" in key else "BF"
        command = ["CF.INSERT", key, "ITEMS"] if b"cuckoo" in key else ["BF.MADD", key]
        client.ok(*command, *range(80))
    return families


def use(key):
    """Everything that can be done with a filter."""
    some = [b"%d" % i for i in range(70, 110)]
    for command in (["BF.INFO"], ["BF.CARD"], ["BF.DEBUG"], ["BF.EXISTS", "1"], ["BF.MEXISTS", *some],
                    ["BF.ADD", "new"], ["BF.MADD", *some], ["BF.INSERT", "NOCREATE", "ITEMS", *some],
                    ["BF.SCANDUMP", 0], ["BF.SCANDUMP", 1], ["CF.INFO"], ["CF.DEBUG"], ["CF.EXISTS", "1"],
                    ["CF.MEXISTS", *some], ["CF.COUNT", "1"], ["CF.ADD", "new"], ["CF.ADDNX", "newer"],
                    ["CF.INSERT", "NOCREATE", "ITEMS", *some], ["CF.DEL", "1"], ["CF.DEL", "75"], ["CF.COMPACT"],
                    ["CF.SCANDUMP", 0], ["CF.SCANDUMP", 1], ["PERHAPS.INFO"], ["PERHAPS.DUMP", 0],
                    ["COPY", key + b" copy", "REPLACE"], ["DUMP"]):
        yield [command[0], key, *command[1:]]
    yield ["MEMORY", "USAGE", key]
    yield ["DEBUG", "DIGEST-VALUE", key]
    yield ["BF.MERGE", key + b" copy", key]
    yield ["BF.MERGE", key, "grown"]
    yield ["BF.ADD", key + b" copy", "newest"]
    yield ["CF.ADD", key + b" copy", "newest"]
    yield ["UNLINK", key, key + b" copy"]


class Attack:
    """Makes payloads from all their sources. One is a list of commands for a key, of which the last completes it."""

    def __init__(self, client, families):
        self.families = families
        self.version = client.ok("DUMP", "plain")[-FOOTER:-8]
        self.dumps = {key: client.ok("DUMP", key) for key in families}
        self.chunks = {key: chunks(client, f"{family}.SCANDUMP", key) for key, family in families.items()}
        self.images = {key: image(client, key) for key in families}
        client.ok("PERHAPS.LOAD", "half", 0, len(self.images[b"grown"]), self.images[b"grown"][:700])
        self.dumps[b"half"] = client.ok("DUMP", "half")
        self.types = {}  # the dumps of each type
        for key, dump in self.dumps.items():
            self.types.setdefault(client.ok("TYPE", key), []).append(dump)
        self.restored = dict.fromkeys(self.types, 0)
        for name in GOLDEN:
            for path in glob.glob(os.path.join(ROOT, "tests/golden", name + ".ph")):
                with open(path, "rb") as file:
                    self.images[name.encode()] = file.read()
        self.to_fix = []

    def fix_later(self, image, then):
        """`then` gets the image, fixed with those of the whole batch."""
        self.to_fix.append((image, then))

    def fix_now(self):
        if self.to_fix:
            fixed = fix_checksums([image for image, _ in self.to_fix])
            for (_, then), whole in zip(self.to_fix, fixed):
                then(whole)
        self.to_fix = []

    def restore(self, type_, chance, key, repaired):
        """RESTORE of a dump of a type, changed in its values or in its bytes."""
        dump, commands = chance.choice(self.types[type_]), []
        self.restored[type_] += 1
        if not repaired and chance.random() < 0.3:
            commands.append(["RESTORE", key, 0, mutate_bytes(chance, dump)])
            return commands
        if not repaired and chance.random() < 0.3:
            commands.append(["RESTORE", key, 0, sign(mutate_bytes(chance, dump[:-8]))])
            return commands
        module, values = take_apart(dump)
        values = mutate_values(chance, values)
        whole = b"".join(value for code, value in values if code == STRING)
        if repaired and whole.startswith(MAGIC):
            self.fix_later(whole, lambda fixed: commands.append(
                ["RESTORE", key, 0, put_together(module, self.spread(values, fixed), self.version)]))
        else:
            commands.append(["RESTORE", key, 0, put_together(module, values, self.version)])
        return commands

    @staticmethod
    def spread(values, whole):
        """The values with the bytes of `whole` in place of those of their strings."""
        result, at = [], 0
        for code, value in values:
            if code == STRING:
                value, at = whole[at:at + len(value)], at + len(value)
            result.append([code, value])
        return result

    def load(self, chance, key, repaired):
        """PERHAPS.LOAD of an image, in one piece or several, with changed bytes, offsets or totals."""
        whole = mutate_bytes(chance, chance.choice(list(self.images.values())))
        commands = []

        def send(whole):
            total, step = len(whole), chance.choice([1, 2, 3])
            size = len(whole) // step + 1
            for at in range(0, len(whole) + 1, size):
                commands.append(["PERHAPS.LOAD", key, at, total, whole[at:at + size]])
            if chance.random() < 0.1:
                piece = chance.choice(commands)
                which = chance.choice([2, 3])
                piece[which] = mutate_numbers(chance, piece[which])

        if repaired:
            self.fix_later(whole, send)
        else:
            send(whole)
        return commands

    def loadchunk(self, chance, key, repaired):
        """LOADCHUNK of chunks that are changed, of which one is missing, or that come in another order."""
        source = chance.choice(list(self.chunks))
        family = self.families[source]
        pieces = [list(piece) for piece in self.chunks[source]]
        commands = []

        def send():
            where = family if chance.random() < 0.97 else chance.choice(["BF", "CF"])
            commands.extend([f"{where}.LOADCHUNK", key, cursor, piece] for cursor, piece in pieces)

        at = chance.randrange(len(pieces))
        way = chance.randrange(12)
        if way == 0:
            chance.shuffle(pieces)
        elif way == 1:
            del pieces[at]
        elif way == 2:
            pieces[at][0] = mutate_numbers(chance, pieces[at][0])
        elif way == 3:
            pieces.append(list(chance.choice(pieces)))
        else:
            pieces[at][1] = mutate_bytes(chance, pieces[at][1])
        image = [piece for piece in pieces if piece[0] != 1]  # without the header chunk
        whole = b"".join(piece for _, piece in image)
        if not repaired or not whole.startswith(MAGIC):
            send()
            return commands

        def cut(fixed):
            start = 0
            for piece in image:
                piece[1], start = fixed[start:start + len(piece[1])], start + len(piece[1])
            send()

        self.fix_later(whole, cut)
        return commands


class Hostile(SharedServerTest):
    options = ("--rdbcompression", "no", "--slowlog-log-slower-than", SLOWEST, "--maxmemory", "2gb")

    def test_changed_payloads(self):
        families = fill(self.client)
        attack = Attack(self.client, families)
        self.shapes(attack)
        self.client.ok("SLOWLOG", "RESET")
        ways = [functools.partial(attack.restore, type_) for type_ in sorted(attack.types)]
        ways += [attack.load, attack.loadchunk]
        taken, refused = 0, 0
        for number in range(FIRST, FIRST + TOTAL, BATCH):
            payloads = []
            for i in range(number, number + BATCH):
                chance = random.Random(SEED * 1_000_003 + i)
                payloads.append(ways[i // 2 % len(ways)](chance, b"h%d" % (i % BATCH), i % 2 == 0))
            attack.fix_now()
            good = self.send(payloads, number)
            taken, refused = taken + good, refused + BATCH - good
        self.assertEqual(self.client.ok("SLOWLOG", "LEN"), 0, self.client.ok("SLOWLOG", "GET", 5))
        self.shared.check_log()
        print(f"{taken + refused} payloads, {taken} taken and used, {refused} refused; of types: {attack.restored}")
        self.assertEqual(set(attack.restored), {"perhapsBF", "perhapsCF", "perhaps--", "MBbloom--", "MBbloomCF"})
        self.assertGreaterEqual(min(attack.restored.values()), 3000)
        self.assertGreater(refused, TOTAL // 10)
        self.assertGreater(taken, TOTAL // 100)

    def test_a_layer_that_claims_too_much(self):
        """The next layer's size comes from the capacity of the last: a small image must not make a giant of it."""
        fill(self.client)
        for key in b"grown", b"grown cuckoo":
            whole = bytearray(image(self.client, key))
            newest = whole.rindex(MAGIC)
            whole[newest + CAPACITY_AT:newest + CAPACITY_AT + 8] = struct.pack("<Q", 2**33)
            whole, = fix_checksums([bytes(whole)])
            self.assertIn("far less memory", self.client("PERHAPS.LOAD", b"giant", 0, len(whole), whole))
            self.client.ok("DEL", b"giant")
        (_, header), *_ = chunks(self.client, "BF.SCANDUMP", "old")
        header = header[:-9] + struct.pack("<QB", 2**33, 0)  # the entries of the last layer
        self.assertEqual(self.client("BF.LOADCHUNK", "giant", 1, header), "ERR received bad data")

    def test_types_of_the_other_family(self):
        """A dump of a Bloom filter with the number of the type of cuckoo filters, and the other way, is refused."""
        families = fill(self.client)
        dumps = {key: self.client.ok("DUMP", key) for key in families}
        apart = {key: take_apart(dump) for key, dump in dumps.items()}
        types = {module for module, _ in apart.values()}
        self.assertEqual(len(types), 4)
        for key, (own, values) in apart.items():
            for module in types:
                whole = put_together(module, values, dumps[key][-FOOTER:-8])
                reply = self.client("RESTORE", "changed", 0, whole)
                self.assertEqual(reply, "OK" if module == own else Error("ERR Bad data format"), (key, module))
                self.client.ok("DEL", "changed")

    def shapes(self, attack):
        """PERHAPS.CREATE, RESHAPE and ADVANCE are for replicas, but anybody can send them."""
        for i in range(600):
            chance = random.Random(i)
            junk = mutate_bytes(chance, chance.choice(list(attack.images.values())))
            self.client.pipeline([["PERHAPS.CREATE", "s", junk[:chance.randrange(300)], 2, 20, 1],
                                  ["PERHAPS.RESHAPE", "grown", junk[:chance.randrange(300)]],
                                  ["PERHAPS.ADVANCE", "timed", mutate_numbers(chance, 1)], ["DEL", "s"]])

    def send(self, payloads, number):
        """How many of these payloads are taken. Says which one it was when the server dies."""
        commands = [command for payload in payloads for command in payload]
        try:
            replies = iter(self.client.pipeline(commands))
            good = [payload[0][1] for payload in payloads
                    if not isinstance([next(replies) for _ in payload][-1], Error)]
            left = [payload[0][1] for payload in payloads]
            self.client.pipeline(command for key in good for command in use(key))
            self.client.ok("UNLINK", *left)
        except (ConnectionError, OSError) as error:
            self.show_place()
            self.find(payloads, number)
            raise AssertionError(f"the server died of one of the payloads {number} to {number + BATCH - 1}") from error
        return len(good)

    def show_place(self):
        """A server that is still there is busy: this signal makes it write into its log where."""
        if self.shared.is_running():
            self.shared.end(signal.SIGSEGV)
        print(self.shared.log()[-6000:])

    def find(self, payloads, number):
        """Says which of the payloads a server dies of, or is busy with forever."""
        self.shared.restart()
        fill(self.shared.client())
        for i, payload in enumerate(payloads):
            client = self.shared.client(timeout=5)
            for command in payload + list(use(payload[0][1])):
                try:
                    client(*command)
                except (ConnectionError, OSError) as error:
                    print(f"payload {number + i}: {error} after {command!r}"[:400], f"of {payload!r}"[:3000])
                    self.shared.kill()
                    return


if __name__ == "__main__":
    main()
