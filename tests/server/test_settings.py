"""How the module presents itself: its commands and their descriptions, its settings, its loading."""

import os
import re
import shutil
import tempfile
import time

from harness import MODULE, Server, ServerTest, SharedServerTest, info, main, server_version
from resp import Error

# name: arity, flags (besides module), categories, last key
WRITE, READ = {"write", "denyoom"}, {"readonly", "fast"}
COMMANDS = {
    "BF.RESERVE": (-4, WRITE, "write fast bloom", 1),
    "BF.ADD": (3, WRITE, "write bloom", 1),
    "BF.MADD": (-3, WRITE, "write bloom", 1),
    "BF.INSERT": (-4, WRITE, "write bloom", 1),
    "BF.EXISTS": (3, READ, "read bloom", 1),
    "BF.MEXISTS": (-3, READ, "read bloom", 1),
    "BF.CARD": (2, READ, "read fast bloom", 1),
    "BF.INFO": (-2, READ, "read fast bloom", 1),
    "BF.DEBUG": (2, READ, "read bloom", 1),
    "BF.SCANDUMP": (3, READ, "read bloom", 1),
    "BF.LOADCHUNK": (4, WRITE, "write bloom", 1),
    "BF.MERGE": (-3, WRITE, "write bloom", -1),
    "CF.RESERVE": (-3, WRITE, "write fast cuckoo", 1),
    "CF.ADD": (3, WRITE, "write cuckoo", 1),
    "CF.ADDNX": (3, WRITE, "write cuckoo", 1),
    "CF.INSERT": (-4, WRITE, "write cuckoo", 1),
    "CF.INSERTNX": (-4, WRITE, "write cuckoo", 1),
    "CF.EXISTS": (3, READ, "read cuckoo", 1),
    "CF.MEXISTS": (-3, READ, "read cuckoo", 1),
    "CF.COUNT": (3, READ, "read cuckoo", 1),
    "CF.DEL": (3, {"write", "fast"}, "write cuckoo", 1),
    "CF.COMPACT": (2, {"write"}, "write cuckoo", 1),
    "CF.INFO": (2, READ, "read fast cuckoo", 1),
    "CF.DEBUG": (2, READ, "read cuckoo", 1),
    "CF.SCANDUMP": (3, READ, "read cuckoo", 1),
    "CF.LOADCHUNK": (4, WRITE, "write cuckoo", 1),
    "PERHAPS.INFO": (2, {"readonly"}, "read", 1),
    "PERHAPS.DUMP": (-3, {"readonly"}, "read", 1),
    "PERHAPS.LOAD": (-5, WRITE, "write", 1),
    "PERHAPS.CREATE": (6, WRITE, "write", 1),
    "PERHAPS.RESHAPE": (3, WRITE, "write", 1),
    "PERHAPS.ADVANCE": (3, {"write"}, "write", 1),
}

# What COMMAND DOCS says of the arguments: type and name of each, [] = may be left out,
# .. = repeats.
ADD, ADD_MANY, INSERT = "key:key string:item", "key:key string:item..", "pure-token:items=ITEMS string:item.."
CHUNK = "key:key integer:iterator string:data"
CF_INSERT = f"key:key [integer:capacity=CAPACITY] [pure-token:nocreate=NOCREATE] {INSERT}"
ARGUMENTS = {
    "BF.RESERVE": "key:key double:error_rate integer:capacity [integer:expansion=EXPANSION] [pure-token:nonscaling=NONSCALING] "
                  "[block:window(integer:generations=WINDOW [integer:milliseconds=PERIOD])]",
    "BF.ADD": ADD, "BF.MADD": ADD_MANY,
    "BF.INSERT": "key:key [integer:capacity=CAPACITY] [double:error=ERROR] [integer:expansion=EXPANSION] "
                 f"[pure-token:nocreate=NOCREATE] [pure-token:nonscaling=NONSCALING] {INSERT}",
    "BF.EXISTS": ADD, "BF.MEXISTS": ADD_MANY, "BF.CARD": "key:key",
    "BF.INFO": "key:key [oneof:single_value(pure-token:capacity=CAPACITY pure-token:size=SIZE pure-token:filters=FILTERS "
               "pure-token:items=ITEMS pure-token:expansion=EXPANSION)]",
    "BF.DEBUG": "key:key", "BF.SCANDUMP": "key:key integer:iterator", "BF.LOADCHUNK": CHUNK,
    "BF.MERGE": "key:destination key:source..",
    "CF.RESERVE": "key:key integer:capacity [integer:bucketsize=BUCKETSIZE] [integer:maxiterations=MAXITERATIONS] "
                  "[integer:expansion=EXPANSION] [double:error=ERROR]",
    "CF.ADD": ADD, "CF.ADDNX": ADD, "CF.INSERT": CF_INSERT, "CF.INSERTNX": CF_INSERT,
    "CF.EXISTS": ADD, "CF.MEXISTS": ADD_MANY, "CF.COUNT": ADD, "CF.DEL": ADD, "CF.COMPACT": "key:key",
    "CF.INFO": "key:key", "CF.DEBUG": "key:key", "CF.SCANDUMP": "key:key integer:iterator", "CF.LOADCHUNK": CHUNK,
    "PERHAPS.INFO": "key:key", "PERHAPS.DUMP": "key:key integer:offset [integer:bytes=COUNT]",
    "PERHAPS.LOAD": "key:key integer:offset integer:total string:data "
                    "[block:reported(integer:bucketsize integer:iterations integer:expansion integer:deleted)]",
    "PERHAPS.CREATE": "key:key string:shape integer:bucketsize integer:iterations integer:expansion",
    "PERHAPS.RESHAPE": "key:key string:shape", "PERHAPS.ADVANCE": "key:key integer:now",
}

# What the command lines of servers make of it.
HELP = {
    "BF.ADD": "key item",
    "BF.RESERVE": "key error_rate capacity [EXPANSION expansion] [NONSCALING] [WINDOW generations [PERIOD milliseconds]]",
    "BF.INFO": "key [CAPACITY|SIZE|FILTERS|ITEMS|EXPANSION]",
    "CF.INSERT": "key [CAPACITY capacity] [NOCREATE] ITEMS item [item ...]",
}

SQUATTER = os.environ.get("PERHAPS_SQUATTER") or os.path.join(os.path.dirname(os.path.dirname(MODULE)),
                                                             "tests/server/squatter.so")
SERVER_NAME, SERVER_VERSION = server_version()
# Redis has them from version 8.0 on, Valkey has none.
HAS_ALIASES = SERVER_NAME == "redis" and SERVER_VERSION >= (8, 0)

DEFAULTS = {
    "layout": "native", "hash-key": "", "huge-pages": "no", "filter-memory-limit": "0",
    "bf-error-rate": "0.01", "bf-initial-size": "100", "bf-expansion-factor": "2",
    "cf-error-rate": "0.01", "cf-bucket-size": "2", "cf-initial-size": "1024", "cf-max-iterations": "20",
    "cf-expansion-factor": "1", "cf-max-expansions": "32",
}

BAD_VALUES = {
    "layout": ["", "other"], "hash-key": ["12", "z" * 32], "huge-pages": ["", "maybe"], "filter-memory-limit": ["-1", "x"],
    "bf-error-rate": ["0", "1", "nan", "x"], "bf-initial-size": ["0", "1073741825", "x"], "bf-expansion-factor": ["-1", "32769"],
    "cf-error-rate": ["0", "1", "nan", "x"], "cf-bucket-size": ["0", "256"], "cf-initial-size": ["0", "1073741825"],
    "cf-max-iterations": ["0", "65536"], "cf-expansion-factor": ["-1", "32769"], "cf-max-expansions": ["0"],
}


def huge_pages_are_advised():
    try:
        with open("/sys/kernel/mm/transparent_hugepage/enabled", encoding="ascii") as file:
            return "[madvise]" in file.read()
    except FileNotFoundError:
        return False


def pairs(flat):
    return dict(zip(flat[::2], flat[1::2]))


def text(reply):
    return reply.decode() if isinstance(reply, bytes) else str(reply)


def shown_argument(argument):
    """An argument of COMMAND DOCS as ARGUMENTS writes it."""
    fields = pairs(argument)
    flags = {text(flag) for flag in fields.get(b"flags", [])}
    shown = f"{text(fields[b'type'])}:{text(fields[b'name'])}"
    if b"token" in fields:
        shown += f"={text(fields[b'token'])}"
    if b"arguments" in fields:
        shown += f"({' '.join(map(shown_argument, fields[b'arguments']))})"
    shown += ".." if "multiple" in flags else ""
    return f"[{shown}]" if "optional" in flags else shown


class Commands(SharedServerTest):
    def described(self, name):
        reply = self.client.ok("COMMAND", "INFO", name)[0]
        self.assertIsNotNone(reply, f"{name} does not exist")
        return reply

    def known_categories(self):
        """Commands of modules have categories from version 7.2 on, and new ones from Redis 7.4 and Valkey 8 on."""
        if SERVER_VERSION < (7, 2):
            return set()  # not even the server's own
        if SERVER_VERSION >= ((8, 0) if SERVER_NAME == "valkey" else (7, 4)):
            return {"write", "read", "fast", "bloom", "cuckoo"}
        return {"write", "read", "fast"}

    def test_arity_flags_and_keys(self):
        for name, (arity, flags, _, last) in COMMANDS.items():
            with self.subTest(command=name):
                reply = self.described(name)
                self.assertEqual(reply[1], arity)
                self.assertEqual(set(reply[2]) - {"module", "movablekeys"}, flags)
                self.assertEqual(reply[3:6], [1, last, 1])

    def test_key_specifications(self):
        for name, (_, flags, _, _) in COMMANDS.items():
            with self.subTest(command=name):
                specifications = self.described(name)[8]
                self.assertTrue(specifications)
                first = set(pairs(specifications[0])[b"flags"])
                if "readonly" in flags:
                    self.assertIn("RO", first)
                else:
                    self.assertTrue(first & {"RW", "OW", "RM"}, first)
        keys = self.client.ok("COMMAND", "GETKEYS", "BF.MERGE", "a", "b", "c")
        self.assertEqual(keys, [b"a", b"b", b"c"])
        self.assertEqual(self.client.ok("COMMAND", "GETKEYS", "BF.INSERT", "a", "ITEMS", "b"), [b"a"])

    def test_categories(self):
        known = self.known_categories()
        for name, (_, _, categories, _) in COMMANDS.items():
            with self.subTest(command=name):
                shown = {category.lstrip("@") for category in self.described(name)[6]}
                self.assertLessEqual(set(categories.split()) & known, shown)

    def test_rules_for_users(self):
        may = "+@read" if self.known_categories() else "+bf.exists"
        self.client.ok("ACL", "SETUSER", "reader", "on", ">secret", "~mine:*", may)
        with self.shared.client() as reader:
            reader.ok("AUTH", "reader", "secret")
            self.assertEqual(reader("BF.EXISTS", "mine:1", "a"), 0)
            self.assertTrue(reader("BF.EXISTS", "yours:1", "a").startswith("NOPERM"))
            self.assertTrue(reader("BF.ADD", "mine:1", "a").startswith("NOPERM"))
        self.client.ok("ACL", "DELUSER", "reader")

    def documents(self):
        documents = pairs(self.client.ok("COMMAND", "DOCS", *COMMANDS))
        return {name.decode().upper(): pairs(document) for name, document in documents.items()}

    def test_documentation(self):
        documents = self.documents()
        for name in COMMANDS:
            with self.subTest(command=name):
                document = documents[name]
                self.assertTrue(document.get(b"summary"), "no summary")
                self.assertRegex(text(document.get(b"complexity")), "^O[(].* for ")
                self.assertTrue(document.get(b"since"), "no version")
                shown = " ".join(map(shown_argument, document[b"arguments"]))
                self.assertEqual(shown, ARGUMENTS[name])

    def test_names_to_display(self):
        """Servers from Redis 7.2 on have one for each argument that is neither a group nor a word: its name."""
        def check(arguments):
            for argument in map(pairs, arguments):
                self.assertIn(argument.get(b"display_text"), (None, argument[b"name"]))
                check(argument.get(b"arguments", []))

        for document in self.documents().values():
            check(document[b"arguments"])

    def test_complexities(self):
        """Queries of one item, of many, adds, and chunks do not cost alike."""
        documents = self.documents()
        said = {name: document[b"complexity"] for name, document in documents.items()}
        self.assertEqual(len({said[name] for name in ("BF.ADD", "BF.MADD", "CF.ADD", "CF.INSERT", "BF.SCANDUMP",
                                                      "BF.LOADCHUNK", "BF.MERGE", "CF.EXISTS", "CF.MEXISTS")}), 9)

    def test_help_of_the_command_line(self):
        for name, usage in HELP.items():
            with self.subTest(command=name):
                shown = re.sub(r"\x1b\[[0-9;]*m", "", self.shared.cli("help", name))
                self.assertIn(f"{name} {usage}\n", shown)

    def test_all_commands_are_known(self):
        listed = {name.decode() for name in self.client.ok("COMMAND", "LIST", "FILTERBY", "MODULE", "perhaps")}
        self.assertEqual(listed, {name.lower() for name in COMMANDS})

    def test_names_in_statistics(self):
        """As RedisBloom has them, so that what is drawn from them stays."""
        self.client.ok("CONFIG", "RESETSTAT")
        self.client.ok("BF.ADD", "k", "a")
        self.client.ok("CF.ADD", "c", "a")
        statistics = self.client.ok("INFO", "commandstats").decode()
        self.assertIn("cmdstat_bf.add:calls=1,", statistics)
        self.assertIn("cmdstat_cf.add:calls=1,", statistics)

    def test_info_section(self):
        text = self.client.ok("INFO", "everything").decode()
        self.assertIn("\r\n# perhaps", text)
        self.client.ok("BF.ADD", "k", "a")
        self.assertIn("\r\nperhaps_", self.client.ok("INFO", "perhaps").decode())


class Settings(SharedServerTest):
    def tearDown(self):
        for name, value in DEFAULTS.items():
            self.client("CONFIG", "SET", f"perhaps.{name}", value)
        super().tearDown()

    def get(self, name):
        return pairs(self.client.ok("CONFIG", "GET", f"perhaps.{name}"))[f"perhaps.{name}".encode()].decode()

    def test_defaults(self):
        names = {name.decode()[len("perhaps."):] for name in pairs(self.client.ok("CONFIG", "GET", "perhaps.*"))}
        self.assertLessEqual(set(DEFAULTS), names)
        for name, value in DEFAULTS.items():
            with self.subTest(setting=name):
                self.assertEqual(self.get(name), value)

    def test_bad_values_are_refused(self):
        for name, values in BAD_VALUES.items():
            for value in values:
                with self.subTest(setting=name, value=value):
                    reply = self.client("CONFIG", "SET", f"perhaps.{name}", value)
                    self.assertIsInstance(reply, Error)
                    self.assertEqual(self.get(name), DEFAULTS[name])

    def test_bloom_defaults_for_new_filters(self):
        for name, value in ("bf-initial-size", 5000), ("bf-expansion-factor", 7), ("bf-error-rate", "0.0001"):
            self.client.ok("CONFIG", "SET", f"perhaps.{name}", value)
        self.client.ok("BF.ADD", "k", "a")
        shown = pairs(self.client.ok("BF.INFO", "k"))
        self.assertGreaterEqual(shown["Capacity"], 5000)
        self.assertEqual(shown["Expansion rate"], 7)
        self.assertGreaterEqual(shown["Size"] * 8 / 5000, 18)
        self.client.ok("CONFIG", "SET", "perhaps.bf-expansion-factor", 0)
        self.client.ok("BF.ADD", "l", "a")
        self.assertIsNone(pairs(self.client.ok("BF.INFO", "l"))["Expansion rate"])

    def test_cuckoo_defaults_for_new_filters(self):
        for name, value in ("cf-initial-size", 100_000), ("cf-bucket-size", 4), ("cf-max-iterations", 50), \
                ("cf-expansion-factor", 2):
            self.client.ok("CONFIG", "SET", f"perhaps.{name}", value)
        self.client.ok("CF.ADD", "k", "a")
        shown = pairs(self.client.ok("CF.INFO", "k"))
        self.assertEqual([shown["Bucket size"], shown["Max iterations"], shown["Expansion rate"]], [4, 50, 2])
        self.assertGreaterEqual(shown["Size"], 100_000)

    def huge_bytes(self):
        """What the server has in huge pages now."""
        with open(f"/proc/{self.shared.process.pid}/smaps_rollup", encoding="ascii") as file:
            return sum(int(line.split()[1]) for line in file if line.startswith("AnonHugePages:")) * 1024

    def test_huge_pages(self):
        if not huge_pages_are_advised():
            self.skipTest("the system gives no huge pages, or gives them to everyone and the server refuses them")
        before = self.huge_bytes()
        self.client.ok("BF.RESERVE", "small pages", 0.01, 20_000_000)
        self.client.ok("BF.MADD", "small pages", *range(1000))
        self.assertEqual(self.huge_bytes(), before)
        self.client.ok("CONFIG", "SET", "perhaps.huge-pages", "yes")
        self.client.ok("BF.RESERVE", "huge pages", 0.01, 20_000_000)
        self.client.ok("BF.MADD", "huge pages", *range(1000))
        self.assertGreater(self.huge_bytes(), before)
        self.assertEqual(self.client.ok("BF.MEXISTS", "huge pages", "7", "b"), [1, 0])
        self.client.ok("DEL", "huge pages", "small pages")
        self.client.ok("BF.RESERVE", "again", 0.01, 1000)

    def test_maximum_expansions(self):
        self.client.ok("CONFIG", "SET", "perhaps.layout", "redisbloom")
        self.client.ok("CONFIG", "SET", "perhaps.cf-max-expansions", 3)
        self.client.ok("CF.RESERVE", "k", 4)
        replies = self.client.pipeline(["CF.ADD", "k", "a"] for _ in range(100))
        self.assertEqual(replies[-1], "Maximum expansions reached")
        self.assertEqual(pairs(self.client.ok("CF.INFO", "k"))["Number of filters"], 3)

    def test_hash_key(self):
        self.client.ok("CONFIG", "SET", "perhaps.hash-key", "00112233445566778899aabbccddeeff")
        for key in "a", "b":
            self.client.ok("BF.RESERVE", key, "0.01", 1000, "NONSCALING")
            self.client.ok("BF.MADD", key, *range(500))
        self.client.ok("CONFIG", "SET", "perhaps.hash-key", "")
        self.client.ok("BF.RESERVE", "c", "0.01", 1000, "NONSCALING")
        self.client.ok("BF.MADD", "c", *range(500))
        a, b, c = self.client.ok("DEBUG", "DIGEST-VALUE", "a", "b", "c")
        self.assertEqual(a, b)
        self.assertNotEqual(a, c)


class Loading(ServerTest):
    def test_settings_at_load(self):
        server = self.server(arguments=["layout", "redisbloom", "bf-initial-size", 500, "BF-ERROR-RATE", "0.001",
                                        "cf-initial-size", 5000])
        client = server.client()
        client.ok("BF.ADD", "k", "a")
        self.assertEqual(client("TYPE", "k"), "MBbloom--")
        self.assertEqual(pairs(client.ok("BF.INFO", "k"))["Capacity"], 500)

    def test_old_names_at_load(self):
        server = self.server(arguments=["ERROR_RATE", "0.001", "INITIAL_SIZE", 700, "CF_MAX_EXPANSIONS", 5])
        shown = pairs(server.client().ok("CONFIG", "GET", "perhaps.*"))
        self.assertEqual(shown[b"perhaps.bf-error-rate"], b"0.001")
        self.assertEqual(shown[b"perhaps.bf-initial-size"], b"700")
        self.assertEqual(shown[b"perhaps.cf-max-expansions"], b"5")

    def test_settings_of_the_server_at_load(self):
        with tempfile.NamedTemporaryFile("w", delete=False) as file:
            self.addCleanup(os.remove, file.name)
            file.write(f"loadmodule {MODULE}\nperhaps.layout redisbloom\nperhaps.bf-initial-size 123\n")
        server = self.server(module=False, config=file.name)
        shown = pairs(server.client().ok("CONFIG", "GET", "perhaps.*"))
        self.assertEqual(shown[b"perhaps.layout"], b"redisbloom")
        self.assertEqual(shown[b"perhaps.bf-initial-size"], b"123")

    def refused(self, *arguments, **settings):
        """The log of a server that does not start because of the module."""
        server = Server(arguments=arguments, wait=False, **settings)
        end = time.monotonic() + 20
        while server.is_running() and time.monotonic() < end:
            time.sleep(0.01)
        self.assertFalse(server.is_running(), f"the server runs with {arguments}")
        server.check_log()
        return server.log()

    def test_bad_arguments_are_refused(self):
        for arguments in (["layout"], ["layout", "other"], ["nonsense", 1], ["bf-initial-size", "x"],
                          ["hash-key", "1"], ["PREFIX"], ["bf-error-rate", "7"]):
            with self.subTest(arguments=arguments):
                self.assertIn("perhaps", self.refused(*arguments))

    def test_prefix(self):
        client = self.server(arguments=["PREFIX", "my"]).client()
        self.assertEqual(client("my.BF.ADD", "k", "a"), 1)
        self.assertEqual(client("MY.bf.exists", "k", "a"), 1)
        self.assertEqual(client("my.CF.ADD", "c", "a"), 1)
        self.assertTrue(client("BF.ADD", "k", "a").startswith("ERR unknown command"))

    def test_a_prefix_replicates_and_reloads(self):
        server = self.server("--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble", "no",
                             arguments=["PREFIX", "my"])
        client = server.client()
        client.ok("my.BF.MADD", "k", *range(5000))
        client.ok("my.CF.INSERT", "c", "ITEMS", *range(5000))
        before = client.ok("DEBUG", "DIGEST")
        server.restart()
        self.assertEqual(server.client().ok("DEBUG", "DIGEST"), before)

    def test_settings_without_a_prefix(self):
        """As RedisBloom has them from Redis 8.0 on: an alias of the same setting, in the configuration, too."""
        with tempfile.NamedTemporaryFile("w", delete=False) as file:
            self.addCleanup(os.remove, file.name)
            file.write(f"loadmodule {MODULE}\n" + ("cf-bucket-size 7\nbf-error-rate 0.125\n" if HAS_ALIASES else ""))
        server = self.server(module=False, config=file.name)
        client = server.client()
        if not HAS_ALIASES:
            self.assertEqual(client.ok("CONFIG", "GET", "bf-*", "cf-*"), [])
            return
        names = {name.decode() for name in pairs(client.ok("CONFIG", "GET", "[bc]f-*"))}
        self.assertEqual(names, {name for name in DEFAULTS if name[:3] in ("bf-", "cf-") and name != "cf-error-rate"})
        for name, value in ("cf-bucket-size", b"7"), ("bf-error-rate", b"0.125"):
            self.assertEqual(client.ok("CONFIG", "GET", f"perhaps.{name}")[1], value)
        client.ok("CONFIG", "SET", "bf-initial-size", 4321)
        client.ok("CONFIG", "SET", "perhaps.cf-bucket-size", 5)
        client.ok("BF.ADD", "k", "a")
        self.assertGreaterEqual(pairs(client.ok("BF.INFO", "k"))["Capacity"], 4321)
        client.ok("CONFIG", "REWRITE")
        server.restart()
        client = server.client()
        for name, value in ("cf-bucket-size", b"5"), ("bf-error-rate", b"0.125"), ("bf-initial-size", b"4321"):
            for prefix in "perhaps.", "":
                self.assertEqual(client.ok("CONFIG", "GET", prefix + name)[1], value)

    def test_a_setting_of_another_module(self):
        server = self.server(before=SQUATTER, arguments=["PREFIX", "my"])
        client = server.client()
        self.assertEqual(client.ok("CONFIG", "GET", "perhaps.bf-error-rate")[1], b"0.01")
        if HAS_ALIASES:
            self.assertEqual(client.ok("CONFIG", "GET", "bf-error-rate")[1], b"1")  # the other's
            self.assertEqual(client.ok("CONFIG", "GET", "cf-bucket-size")[1], b"2")

    def test_twice_is_refused(self):
        server = self.server("--enable-module-command", "yes")
        copy = os.path.join(server.folder, "copy.so")
        shutil.copy(MODULE, copy)
        client = server.client()
        for path in MODULE, copy:
            self.assertIsInstance(client("MODULE", "LOAD", path), Error)
        self.assertEqual(client("BF.ADD", "k", "a"), 1)
        self.assertEqual(info(client, "modules", "module") is not None, True)

    def test_commands_of_another_module(self):
        log = self.refused(before=SQUATTER)
        self.assertRegex(log, "(?i)BF\\.")
        self.assertRegex(log, "PREFIX")
        server = self.server(before=SQUATTER, arguments=["PREFIX", "my"])
        self.assertEqual(server.client()("my.BF.ADD", "k", "a"), 1)

    def test_unloading(self):
        """A module with data types cannot be unloaded; trying must do no harm."""
        client = self.server("--enable-module-command", "yes").client()
        client.ok("BF.ADD", "k", "a")
        self.assertIsInstance(client("MODULE", "UNLOAD", "perhaps"), Error)
        self.assertEqual(client("BF.EXISTS", "k", "a"), 1)


if __name__ == "__main__":
    main()
