"""perhaps rdb beside the server: what it says of the server's own files, with every type of value in every encoding,
and that a server loads a file exactly if it says so.

PERHAPS_FOREIGN_TYPES is a module that has the types of other modules.
"""

import json
import os
import random
import resource
import struct
import subprocess

from harness import COMMAND_LINE, MODULE, Server, ServerTest, image, main, wait_for
from payloads import crc64

FOREIGN = os.environ.get("PERHAPS_FOREIGN_TYPES") or os.path.join(os.path.dirname(os.path.dirname(MODULE)),
                                                                  "tests/server/foreign_types.so")
OTHERS = ["CMSk-TYPE:0", "TopK-TYPE:0", "TDIS-TYPE:0", "bloomfltr:1", "TSDB-TYPE:8", "ReJSON-RL:3", "someThing:1023"]
CHANCE = random.Random(9)


def noise(length):
    return bytes(CHANCE.randrange(256) for _ in range(length))


def fill_plain(client):
    """Every type of the server's own, small and large, with everything else that is in its files."""
    many = [b"member %d" % i for i in range(2000)]
    client.ok("SET", "short", "abc")
    client.ok("SET", "empty", "")
    for number in -129, -128, 127, 128, 32767, 32768, 2**31 - 1, 2**31, -2**63:
        client.ok("SET", number, number)
    client.ok("SET", "packed " * 40, "x" * 100_000)
    client.ok("SET", "incompressible", noise(70_000))
    client.ok("SET", noise(3000), noise(63))
    client.ok("SETRANGE", "bits", 20_000, "x")
    for key, members in ("small", many[:5]), ("large", many):
        client.ok("RPUSH", f"list {key}", *members)
        client.ok("SADD", f"set {key}", *members)
        client.ok("SADD", f"integers {key}", *range(len(members) if key == "small" else 400))
        client.ok("ZADD", f"sorted {key}", *[x for i, m in enumerate(members) for x in (i / 3, m)])
        client.ok("HSET", f"hash {key}", *[x for m in members for x in (m, m)])
        for member in members:
            client.ok("XADD", f"stream {key}", "*", "field", member, "other", "1")
        client.ok("PFADD", f"log {key}", *members)
        client.ok("GEOADD", f"places {key}", *[x for i, m in enumerate(members) for x in (i / 50, i / 50, m)])
    client.ok("ZADD", "infinite", "+inf", "a", "-inf", "b")
    client.ok("RPUSH", "list of long", noise(20_000), "x" * 20_000, "1")
    client.ok("XGROUP", "CREATE", "stream large", "group", 0)
    for consumer in "one", "two":
        client.ok("XREADGROUP", "GROUP", "group", consumer, "COUNT", 50, "STREAMS", "stream large", ">")
    client.ok("XGROUP", "CREATECONSUMER", "stream large", "group", "idle")
    client.ok("XGROUP", "CREATE", "stream small", "group", 0)
    client.ok("XDEL", "stream small", client.ok("XRANGE", "stream small", "-", "+")[0][0])
    client("HPEXPIRE", "hash small", 10**9, "FIELDS", 1, "member 1")  # where servers have it
    client("HPEXPIRE", "hash large", 10**9, "FIELDS", 1, "member 1")
    client.ok("PEXPIRE", "short", 10**9)
    client.ok("FUNCTION", "LOAD", "#!lua name=mine\nredis.register_function('f', function(keys) return keys end)")


def fill_filters(client):
    """Filters of every layout, with the types that they have as values."""
    for layout in "native", "redisbloom":
        client.ok("CONFIG", "SET", "perhaps.layout", layout)
        client.ok("BF.RESERVE", f"bloom {layout}", "0.01", 1000)
        client.ok("BF.MADD", f"grown {layout}", *range(5000))
        client.ok("CF.RESERVE", f"cuckoo {layout}", 1000)
        client.ok("CF.INSERT", f"cuckoo {layout}", "ITEMS", *range(500))
    client.ok("CONFIG", "SET", "perhaps.layout", "native")
    client.ok("BF.RESERVE", "window", "0.01", 1000, "WINDOW", 4)
    whole = image(client, "bloom native")
    client.ok("PERHAPS.LOAD", "half", 0, len(whole), whole[:len(whole) // 2])
    client.ok("BF.ADD", b"\xff\x00binary\n", "a")
    client.ok("BF.ADD", "repeated " * 30, "a")
    client.ok("BF.ADD", "long " * 2000, "a")
    client.ok("BF.ADD", 12345, "a")
    client.ok("PEXPIRE", "window", 10**9)


class Files(ServerTest):
    def look(self, path, *options, status=None, text=None):
        """What perhaps rdb says, as text or JSON."""
        done = subprocess.run([COMMAND_LINE, "rdb", *options, path], input=text, capture_output=True, timeout=60)
        if status is not None:
            self.assertEqual(done.returncode, status, done.stderr)
        return json.loads(done.stdout) if "--json" in options and done.returncode < 2 else done

    def saved(self, server, name="dump.rdb"):
        server.client().ok("SAVE")
        return os.path.join(server.folder, name)

    def starts(self, path):
        """Does a server with this module alone load the file?"""
        with open(path, "rb") as file:
            content = file.read()
        server = Server(module=None)  # nothing stops it but this, since it may end by itself
        server.kill()
        with open(os.path.join(server.folder, "dump.rdb"), "wb") as file:
            file.write(content)
        server.module = MODULE
        server.start(wait=False)
        wait_for(lambda: not server.is_running() or "DB loaded from disk" in server.log(), "it has the file, or ended")
        loaded = server.is_running()
        server.kill()
        return loaded

    def check(self, server, found, path):
        """Is what was found what is there?"""
        expected = {}
        for database in range(16):
            client = server.client()
            client.ok("SELECT", database)
            for key in client.ok("KEYS", "*"):
                name = str(client.ok("TYPE", key))
                if name not in ("string", "list", "set", "zset", "hash", "stream"):
                    expected[database, key[:4096]] = name
        shown = {(line["database"], bytes.fromhex(line["key_hex"]) if "key_hex" in line else line["key"].encode()):
                 line["type"] for line in found["needs"] if line["need"] == "key"}
        self.assertEqual(shown, expected)
        self.assertEqual(found["keys"], sum(database.ok("DBSIZE") for database in self.databases(server)))
        self.assertEqual(found["bytes_read"], os.path.getsize(path))
        self.assertTrue(found["checksum"])
        self.assertEqual(sum(kind["count"] for kind in found["types"]), len(found["needs"]))
        self.assertEqual(sum(kind["bytes"] for kind in found["types"]), sum(line["bytes"] for line in found["needs"]))

    def databases(self, server):
        for database in range(16):
            client = server.client()
            client.ok("SELECT", database)
            yield client

    def test_all_types(self):
        """The server's own types are skipped, and every filter is found and can be loaded."""
        server = self.server()
        client = server.client()
        fill_plain(client)
        path = self.saved(server)
        found = self.look(path, "--json", status=0)
        self.check(server, found, path)
        self.assertEqual(found["needs"], [])
        fill_filters(client)
        client.ok("SELECT", 7)
        fill_filters(client)
        path = self.saved(server)
        found = self.look(path, "--json", status=0)
        self.check(server, found, path)
        self.assertEqual(found["lost"], 0)
        self.assertTrue(all(line["loads"] for line in found["needs"]))
        self.assertTrue(self.starts(path))
        with open(path, "rb") as file:
            content = file.read()
        from_input = self.look("-", "--json", status=0, text=content)
        self.assertEqual({**from_input, "file": path}, found)
        lines = self.look(path, status=0).stdout.decode().splitlines()
        self.assertEqual(sum(line.endswith("  window") for line in lines), 2)
        self.assertIn("perhaps.so can load all of them.", lines)
        self.assertNotIn("window", self.look(path, "-c", status=0).stdout.decode())
        self.damage(content)

    def damage(self, content):
        """A file that was cut off or changed anywhere is refused, with the byte."""
        for length in [*range(12), *CHANCE.sample(range(len(content)), 100), len(content) - 9, len(content) - 1]:
            done = self.look("-", status=2, text=content[:length])
            self.assertIn(f"beyond byte {length:,}: it ends there", done.stderr.decode())
        for _ in range(150):
            changed = bytearray(content)
            changed[CHANCE.randrange(len(content))] ^= 1 << CHANCE.randrange(8)
            self.assertRegex(self.look("-", status=2, text=bytes(changed)).stderr.decode(), "beyond byte [0-9,]+: ")

    def test_other_modules(self):
        """Keys of other modules, and their data beside the keys: a server without them does not start."""
        for kinds in [[kind] for kind in OTHERS[:3]] + [["aux:ft_index0:1"], OTHERS + ["aux:ft_index0:1"]]:
            with self.subTest(kinds):
                server = self.foreign_server(kinds)
                client = server.client()
                fill_plain(client)
                fill_filters(client)
                names = [kind for kind in kinds if not kind.startswith("aux:")]
                for kind in names:
                    client.ok("FOREIGN.SET", f"key of {kind}", kind[:9])
                path = self.saved(server)
                found = self.look(path, "--json", status=1)
                self.check(server, found, path)
                self.assertEqual(found["lost"], len(names) + 2 * (len(names) < len(kinds)))
                lost = {(line["type"], line["version"], line["need"]) for line in found["needs"] if not line["loads"]}
                expected = {tuple(kind.removeprefix("aux:").split(":")) + ("aux" if kind.startswith("aux:") else "key",)
                            for kind in kinds}
                self.assertEqual(lost, {(name, int(version), need) for name, version, need in expected})
                self.assertFalse(self.starts(path))

    def foreign_server(self, kinds):
        """With perhaps.so and a module that has these types."""
        return self.server("--loadmodule", FOREIGN, *kinds)

    def test_compressed_and_without_checksum(self):
        server = self.server("--rdbchecksum", "no", "--rdbcompression", "no")
        client = server.client()
        fill_plain(client)
        fill_filters(client)
        path = self.saved(server)
        found = self.look(path, "--json", status=0)
        self.assertFalse(found["checksum"])
        self.assertIn("the checksum is not there", self.look(path, "-c", status=0).stdout.decode())
        subprocess.run(["gzip", "-k", path], check=True)
        self.assertEqual({**self.look(path + ".gz", "--json", status=0), "file": path}, found)

    def test_little_memory(self):
        """However large the file, the values and the names are."""
        server = self.server("--rdbcompression", "no")
        client = server.client()
        client.ok("DEBUG", "POPULATE", 100, "key", 500_000)
        client.ok("BF.RESERVE", "large", "0.01", 20_000_000)
        client.ok("BF.ADD", b"n" * 20_000_000, "a")
        path = self.saved(server)
        self.assertGreater(os.path.getsize(path), 80_000_000)
        least = (8 << 20, 8 << 20)
        done = subprocess.run([COMMAND_LINE, "rdb", "--json", path], capture_output=True, timeout=60,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, least))
        self.assertEqual(done.returncode, 0, done.stderr)
        needs = {line["key"][:5]: line for line in json.loads(done.stdout)["needs"]}
        self.assertEqual(sorted(needs), ["large", "nnnnn"])
        self.assertEqual((len(needs["nnnnn"]["key"]), needs["nnnnn"]["key_length"]), (4096, 20_000_000))

    def test_base_of_an_append_only_file(self):
        """It is an RDB file. In the old way commands follow it, which are not looked at."""
        server = self.server("--appendonly", "yes")
        client = server.client()
        fill_filters(client)
        client.ok("BGREWRITEAOF")
        folder = os.path.join(server.folder, "appendonlydir")
        base = wait_for(lambda: [name for name in os.listdir(folder) if name.endswith(".2.base.rdb")], "it is rewritten")
        path = os.path.join(folder, base[0])
        found = self.look(path, "--json", status=0)
        self.assertEqual(len(found["needs"]), len(client.ok("KEYS", "*")))
        with open(path, "ab") as file:
            file.write(b"*1\r\n$4\r\nPING\r\n")
        done = self.look(path, status=0)
        self.assertRegex(done.stderr.decode(), "commands of an append-only file follow, from byte [0-9,]+ on")

    def test_versions_of_our_types(self):
        """A newer version of a type is not loaded, and said not to be."""
        server = self.server()
        fill_filters(server.client())
        path = self.saved(server)
        with open(path, "rb") as file:
            content = file.read()
        found = self.look(path, "--json", status=0)
        for kind in {(line["type"], line["version"]) for line in found["needs"]}:
            with self.subTest(kind):
                old, new = (b"\x81" + struct.pack(">Q", type_id(kind[0], version)) for version in (kind[1], kind[1] + 1))
                self.assertIn(old, content)
                body = content[:-8].replace(old, new)
                with open(path, "wb") as file:
                    file.write(body + struct.pack("<Q", crc64(body)))
                again = self.look(path, "--json", status=1)
                self.assertEqual({(line["type"], line["version"]) for line in again["needs"] if not line["loads"]},
                                 {(kind[0], kind[1] + 1)})
                self.assertFalse(self.starts(path))


def type_id(name, version):
    """As a server makes it."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    number = 0
    for letter in name:
        number = number << 6 | letters.index(letter)
    return number << 10 | version


if __name__ == "__main__":
    main()
