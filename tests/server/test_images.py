"""Images go from the command line to the server and back: a file that one has built, the other serves."""

import json
import os
import subprocess
import tempfile

from harness import COMMAND_LINE, SharedServerTest, query_all, image, items, main
from payloads import FOOTER, put_together, take_apart

NUMBER = 5000
BUILDS = {
    "bloom": ["--kind", "bloom"],
    "blocked": ["--kind", "blocked"],
    "growing": ["--kind", "bloom", "--grow", "-n", "100"],
    "window": ["--window", str(2 * NUMBER)],
    "sharded": ["--kind", "blocked", "--shards", "4"],
    "table": ["--kind", "table"],
    "cuckoo": ["--kind", "cuckoo"],
    "counting": ["--kind", "counting"],
    "growing cuckoo": ["--kind", "cuckoo", "--grow", "-n", "100"],
}


class Images(SharedServerTest):
    def setUp(self):
        super().setUp()
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.write("keys", b"".join(item + b"\n" for item in items(0, NUMBER)))

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)

    def perhaps(self, *words):
        done = subprocess.run([COMMAND_LINE, *words], cwd=self.folder.name, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=60)
        self.assertIn(done.returncode, (0, 1), done.stderr.decode())
        return done.stdout

    def load(self, key, whole, size=100_000):
        for start in range(0, len(whole), size):
            self.client.ok("PERHAPS.LOAD", key, start, len(whole), whole[start:start + size])

    def build(self, *words):
        self.perhaps("build", "-f", "-o", "filter.ph", *words)
        with open(self.path("filter.ph"), "rb") as file:
            return file.read()

    def restore(self, key, whole, family="BF"):
        """RESTORE of a value whose image is this one: what an RDB file would have, too."""
        self.client.ok("CONFIG", "SET", "rdbcompression", "no")
        self.client.ok(f"{family}.INSERT", "plain", "ITEMS", "a")
        dump = self.client.ok("DUMP", "plain")
        module, values = take_apart(dump)
        self.client.ok("DEL", "plain")
        places = [i for i, (_, value) in enumerate(values) if isinstance(value, bytes)]
        first = [i for i in places if values[i][1]][0]
        values = values[:first] + [(values[first][0], whole), (values[places[-1]][0], b"")]
        return self.client("RESTORE", key, 0, put_together(module, values, dump[-FOOTER:-8]))

    def test_transformed_keys_are_refused(self):
        """A command sends "0A"; what was built of the byte 10, or of "0a", would never be found."""
        self.write("numbers", b"0A\n17\n")
        self.write("decimal", b"5\n6\n")
        refused = {("--kind", "bitmap"): "integers", ("--kind", "bitmap", "--u64"): "integers", ("-i",): "--ignore-case",
                   ("--hex",): "--hex", ("--u64",): "--key u64", ("--key", "int32"): "--key int32",
                   ("--key", "int64"): "--key int64", ("--key", "utf16"): "--key utf16"}
        for options, word in refused.items():
            for more in [], ["--grow"], ["--shards", "2"]:
                if "bitmap" in options and more:
                    continue
                with self.subTest(options=options, more=more):
                    keys = "numbers" if word in ("--hex", "--ignore-case", "--key utf16") else "decimal"
                    whole = self.build(*options, *more, keys)
                    reply = self.client("PERHAPS.LOAD", "u", 0, len(whole), whole)
                    self.assertIn(word, reply)
                    self.assertIn("build", reply)
                    self.assertEqual(self.client.ok("EXISTS", "u"), 0)
                    self.assertIn("Bad data format", self.restore("u", whole))
                    self.assertEqual(self.client.ok("EXISTS", "u"), 0)

    def test_extraction_does_not_matter(self):
        """Where the key stood in its record is nothing to a server, which keeps it for those who dump the filter."""
        self.write("table", b"".join(b"x;" + item + b";y\0" for item in items(0, 100)))
        for kind in ["--kind", "bloom", "-n", "200"], ["--kind", "bloom", "--grow", "-n", "100"], ["--kind", "cuckoo"], ["--shards", "2"]:
            with self.subTest(kind=kind):
                whole = self.build(*kind, "-0", "--field", "2", "--delimiter", ";", "table")
                self.client.ok("DEL", "key", "copy", "other")
                self.load("key", whole)
                family = "CF" if "cuckoo" in kind else "BF"
                self.assertEqual(self.restore("other", whole, family), "OK")
                self.client.ok("COPY", "key", "copy")
                self.client.ok("DEBUG", "RELOAD")
                for key in "key", "copy", "other":
                    self.assertEqual(query_all(self.client, f"{family}.MEXISTS", key, items(0, 100)), 100)
                    self.assertTrue(image(self.client, key) == whole, "the image is another")
                self.client.ok(f"{family}.ADD", "key", "something new")
                with self.shared.client(3) as client:
                    told = {str(word): value for word, value in client.ok("PERHAPS.INFO", "key").items()}
                told = {word.strip("b'"): value for word, value in told.items()}
                self.assertEqual(told["field"], 2)
                self.write("filter.ph", image(self.client, "key"))
                self.write("new", b"x;something new;y\0")
                self.assertEqual(self.perhaps("check", "filter.ph", "new"), b"x;something new;y\0")

    def test_from_the_command_line(self):
        for name, options in BUILDS.items():
            with self.subTest(kind=name):
                self.perhaps("build", "-f", "-o", "filter.ph", *options, "keys")
                with open(self.path("filter.ph"), "rb") as file:
                    whole = file.read()
                self.load(name, whole, 3000)
                family = "CF" if "cuckoo" in name or name == "counting" else "BF"
                self.assertEqual(self.client.ok("TYPE", name), f"perhaps{family}")
                self.assertEqual(query_all(self.client, f"{family}.MEXISTS", name, items(0, NUMBER)), NUMBER)
                self.assertLess(query_all(self.client, f"{family}.MEXISTS", name, items(10**6, 10**6 + 5000)), 150)
                self.assertTrue(image(self.client, name) == whole, "the image is another")
                self.assertEqual(self.client.ok(f"{family}.ADD", name, "something new"), 1)

    def test_windows_by_time_go_both_ways(self):
        """The command line and the server have one unit of time: what is young to one is young to the other."""
        for kind in "blocked", "bloom", "table":
            with self.subTest(kind=kind):
                self.client.ok("DEL", "timed")
                self.load("timed", self.build("--kind", kind, "--window", "10m", "-n", str(2 * NUMBER), "keys"))
                self.client.ok("BF.ADD", "timed", "something new")
                self.assertEqual(query_all(self.client, "BF.MEXISTS", "timed", items(0, NUMBER)), NUMBER)
                self.write("filter.ph", image(self.client, "timed"))
                self.assertEqual(len(self.perhaps("check", "filter.ph", "keys").split()), NUMBER)
        self.client.ok("BF.RESERVE", "hours", "0.01", NUMBER, "WINDOW", 4, "PERIOD", 3_600_000)
        self.client.ok("BF.MADD", "hours", *items(0, NUMBER))
        self.write("filter.ph", image(self.client, "hours"))
        self.assertEqual(len(self.perhaps("check", "filter.ph", "keys").split()), NUMBER)
        self.assertIn(b"what is older than 1h", self.perhaps("info", "filter.ph"))

    def test_static_filters(self):
        """A server queries them, and says why it does not add to them."""
        for name in "fuse", "ribbon":
            with self.subTest(kind=name):
                self.perhaps("build", "-f", "-o", "filter.ph", "--kind", name, "keys")
                with open(self.path("filter.ph"), "rb") as file:
                    whole = file.read()
                self.load(name, whole, 3000)
                self.assertEqual(query_all(self.client, "BF.MEXISTS", name, items(0, NUMBER)), NUMBER)
                self.assertLess(query_all(self.client, "BF.MEXISTS", name, items(10**6, 10**6 + 5000)), 150)
                for command in (["BF.ADD", name, "new"], ["BF.MADD", name, "new"],
                                ["BF.INSERT", name, "ITEMS", "new"]):
                    reply = self.client(*command)
                    reply = reply[0] if isinstance(reply, list) else reply
                    self.assertIn("sealed", str(reply), command)
                self.assertEqual(self.client.ok("BF.CARD", name), NUMBER)
                self.assertTrue(image(self.client, name) == whole, "the image is another")
                self.client.ok("COPY", name, "copy", "REPLACE")
                self.client.ok("DEBUG", "RELOAD")
                self.assertEqual(query_all(self.client, "BF.MEXISTS", "copy", items(0, NUMBER)), NUMBER)
                self.assertTrue(image(self.client, name) == whole, "the image is another after a restart")

    def test_foreign_files(self):
        """Files of other programs are served if they were built of the bytes that clients send."""
        for kind, grows in ("guava", False), ("dcso", True), ("parquet", True), ("spark", False):
            with self.subTest(kind=kind):
                self.load(kind, self.build("--kind", kind, "keys"), 3000)
                self.assertEqual(self.client.ok("TYPE", kind), "perhapsBF")
                self.assertEqual(query_all(self.client, "BF.MEXISTS", kind, items(0, NUMBER)), NUMBER)
                self.assertLess(query_all(self.client, "BF.MEXISTS", kind, items(10**6, 10**6 + 5000)), 150)
                reply = self.client("BF.ADD", kind, "something new")
                self.assertEqual(reply, 1 if grows else "ERR non scaling filter is full")

    def test_to_the_command_line(self):
        """And what the command line says of the file, PERHAPS.INFO says of the key."""
        self.client.ok("BF.RESERVE", "small", "0.001", 100, "NONSCALING")
        self.client.ok("BF.ADD", "small", "0")
        for name, command in ("grown", ["BF.MADD"]), ("grown cuckoo", ["CF.INSERT", "ITEMS"]):
            self.client.ok(command[0], name, *command[1:], *items(0, NUMBER))
        for name in "small", "grown", "grown cuckoo":
            with self.subTest(key=name):
                self.write("filter.ph", image(self.client, name))
                found = self.perhaps("check", "filter.ph", "keys").split()
                self.assertGreaterEqual(len(found), 1 if name == "small" else NUMBER)
                shown = json.loads(self.perhaps("info", "--json", "filter.ph"))
                with self.shared.client(3) as client:
                    told = client.ok("PERHAPS.INFO", name)
                told = {word if isinstance(word, str) else word.decode(): value for word, value in told.items()}
                self.assertEqual(set(told) - {"memory", "layout"}, set(shown) - {"file"})
                for word in "kind", "items", "capacity", "bytes":
                    value = told[word].decode() if isinstance(told[word], bytes) else told[word]
                    self.assertEqual(value, shown[word], word)

    def test_integers_are_refused(self):
        """Keys of a server are strings, so a bitmap makes no sense there."""
        self.perhaps("build", "-f", "-o", "filter.ph", "--kind", "bitmap", "-n", str(NUMBER), "keys")
        with open(self.path("filter.ph"), "rb") as file:
            whole = file.read()
        reply = self.client("PERHAPS.LOAD", "k", 0, len(whole), whole)
        self.assertIn("integers", reply)

    def test_secret_keys(self):
        """A file without its secret key cannot be queried, and is refused."""
        self.write("secret", bytes(range(16)))
        self.perhaps("build", "-f", "-o", "filter.ph", "--hash-key", "secret", "keys")
        with open(self.path("filter.ph"), "rb") as file:
            whole = file.read()
        self.assertTrue(self.client("PERHAPS.LOAD", "k", 0, len(whole), whole).startswith("ERR"))


if __name__ == "__main__":
    main()
