"""What every command says, word for word, in both protocols and both layouts."""

from harness import SharedServerTest, main
from resp import Error

WRONG_TYPE = Error("WRONGTYPE Operation against a key holding the wrong kind of value")
NOT_FOUND = Error("ERR not found")
EXISTS = Error("ERR item exists")
FULL = Error("ERR non scaling filter is full")
BIGGEST = 1073741824


class Truth:
    """A number in RESP2, a boolean in RESP3."""

    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return f"Truth({self.value})"


YES, NO = Truth(1), Truth(0)


class Map(dict):
    """A flat array in RESP2, a map in RESP3."""


class One(dict):
    """One field: an array of its value in RESP2, a map in RESP3."""


class Any:
    """Whatever passes the test."""

    def __init__(self, test, words):
        self.test, self.words = test, words

    def __repr__(self):
        return self.words


def starts(text):
    return Any(lambda reply: isinstance(reply, type(text)) and reply.startswith(text), f"starts with {text!r}")


def is_a(kind):
    return Any(lambda reply: type(reply) is kind, f"a {kind.__name__}")


ARITY = starts(Error("ERR wrong number of arguments for '"))
NUMBER = is_a(int)


def matches(reply, expected, protocol):
    """Is the reply what is expected, types included?"""
    if isinstance(expected, Any):
        return expected.test(reply)
    if isinstance(expected, Truth):
        return repr(reply) == repr(bool(expected.value) if protocol == 3 else expected.value)
    if isinstance(expected, (Map, One)) and protocol == 3:
        return isinstance(reply, dict) and same_list(list(reply), list(expected), protocol) and \
            same_list(list(reply.values()), list(expected.values()), protocol)
    if isinstance(expected, One):
        expected = list(expected.values())
    if isinstance(expected, Map):
        expected = [word for pair in expected.items() for word in pair]
    if isinstance(expected, list):
        return type(reply) is list and same_list(reply, expected, protocol)
    return repr(reply) == repr(expected)


def same_list(reply, expected, protocol):
    return len(reply) == len(expected) and all(matches(r, e, protocol) for r, e in zip(reply, expected))


def bf_info(capacity=NUMBER, size=NUMBER, filters=1, items=0, expansion=2):
    return Map({"Capacity": capacity, "Size": size, "Number of filters": filters,
                "Number of items inserted": items, "Expansion rate": expansion})


def cf_info(size=NUMBER, buckets=NUMBER, filters=1, items=0, deleted=0, bucket=2, expansion=1, iterations=20):
    return Map({"Size": size, "Number of buckets": buckets, "Number of filters": filters,
                "Number of items inserted": items, "Number of items deleted": deleted, "Bucket size": bucket,
                "Expansion rate": expansion, "Max iterations": iterations})


# Each story begins with an empty server. A string is split at its blanks; '' stands for an empty
# item.
BOTH = {
    "empty filters": [
        ("BF.RESERVE b 0.01 100", "OK"), ("BF.MERGE b b", "OK"), ("BF.MERGE new b", "OK"), ("BF.CARD new", 0),
        ("CF.RESERVE c 100", "OK"), ("CF.COMPACT c", "OK"), ("CF.DEL c a", Truth(0)), ("CF.ADD c a", Truth(1)),
    ],
    "reserve": [
        ("BF.RESERVE k 0.01 100", "OK"),
        ("BF.RESERVE k 0.01 100", EXISTS),
        ("BF.INFO k", bf_info(Any(lambda n: n >= 100, "at least 100"))),
        ("BF.RESERVE l 0.9 100", "OK"),
        ("BF.RESERVE m 1e-6 1000 EXPANSION 4", "OK"),
        ("BF.INFO m EXPANSION", One({"Expansion rate": 4})),
        ("BF.RESERVE n 0.01 100 NONSCALING", "OK"),
        ("BF.INFO n", bf_info(100, expansion=None)),
        ("BF.RESERVE o 0.01 100 EXPANSION 0", "OK"),
        ("BF.INFO o EXPANSION", One({"Expansion rate": None})),
        ("bf.reserve p 0.01 100 expansion 3", "OK"),
        ("BF.INFO p expansion", One({"Expansion rate": 3})),
        ("EXISTS k l m n o p", 6),
    ],
    "reserve, badly": [
        ("BF.RESERVE k 0.01", ARITY),
        ("BF.RESERVE k x 100", Error("ERR bad error rate")),
        ("BF.RESERVE k nan 100", Error("ERR bad error rate")),
        ("BF.RESERVE k '' 100", Error("ERR bad error rate")),
        ("BF.RESERVE k 0 100", Error("ERR error rate must be in the range (0.000000, 1.000000)")),
        ("BF.RESERVE k 1 100", Error("ERR error rate must be in the range (0.000000, 1.000000)")),
        ("BF.RESERVE k -0.5 100", Error("ERR error rate must be in the range (0.000000, 1.000000)")),
        ("BF.RESERVE k inf 100", Error("ERR error rate must be in the range (0.000000, 1.000000)")),
        ("BF.RESERVE k -inf 100", Error("ERR error rate must be in the range (0.000000, 1.000000)")),
        ("BF.RESERVE k 0.01 x", Error("ERR bad capacity")),
        ("BF.RESERVE k 0.01 1.5", Error("ERR bad capacity")),
        ("BF.RESERVE k 0.01 nan", Error("ERR bad capacity")),
        ("BF.RESERVE k 0.01 99999999999999999999", Error("ERR bad capacity")),
        ("BF.RESERVE k 0.01 0", Error("ERR capacity must be in the range [1, 1073741824]")),
        ("BF.RESERVE k 0.01 -1", Error("ERR capacity must be in the range [1, 1073741824]")),
        ("BF.RESERVE k 0.01 1073741825", Error("ERR capacity must be in the range [1, 1073741824]")),
        ("BF.RESERVE k 0.01 9223372036854775807", Error("ERR capacity must be in the range [1, 1073741824]")),
        ("BF.RESERVE k 0.01 100 EXPANSION", Error("ERR no expansion")),
        ("BF.RESERVE k 0.01 100 EXPANSION x", Error("ERR bad expansion")),
        ("BF.RESERVE k 0.01 100 EXPANSION -1", Error("ERR expansion must be in the range [0, 32768]")),
        ("BF.RESERVE k 0.01 100 EXPANSION 32769", Error("ERR expansion must be in the range [0, 32768]")),
        ("BF.RESERVE k 0.01 100 NONSCALING EXPANSION 2", Error("Nonscaling filters cannot expand")),
        ("EXISTS k", 0),
        ("SET s 1", "OK"),
        ("BF.RESERVE s 0.01 100", WRONG_TYPE),
        ("GET s", b"1"),
    ],
    "a very small rate": [
        ("BF.RESERVE k 1e-300 1", Any(lambda r: r == "OK" or isinstance(r, Error), "OK or an error")),
        ("PING", "PONG"),
    ],
    "add": [
        ("BF.ADD k a", YES),
        ("BF.ADD k a", NO),
        ("BF.ADD k ''", YES),
        ("BF.ADD k ''", NO),
        ("BF.EXISTS k ''", YES),
        ("BF.MADD k a b c b", [NO, YES, YES, NO]),
        ("BF.EXISTS k b", YES),
        ("BF.MEXISTS k a b '' zzz", [YES, YES, YES, NO]),
        ("BF.CARD k", 4),
        ("BF.INFO k ITEMS", One({"Number of items inserted": 4})),
        ("BF.INFO k FILTERS", One({"Number of filters": 1})),
        ("BF.INFO k CAPACITY", One({"Capacity": Any(lambda n: n >= 100, "at least 100")})),
        ("BF.INFO k SIZE", One({"Size": NUMBER})),
        ("BF.INFO k size", One({"Size": NUMBER})),
        ("BF.INFO k", bf_info(Any(lambda n: n >= 100, "at least 100"), items=4)),
        ("BF.INFO k nothing", Error("Invalid information value")),
        ("BF.INFO k SIZE ITEMS", ARITY),
        ("BF.ADD k", ARITY),
        ("BF.ADD k a b", ARITY),
        ("BF.MADD k", ARITY),
        ("BF.EXISTS k", ARITY),
        ("BF.EXISTS k a b", ARITY),
        ("BF.MEXISTS k", ARITY),
        ("BF.CARD", ARITY),
        ("BF.CARD k l", ARITY),
        ("BF.DEBUG k l", ARITY),
    ],
    "no such key": [
        ("BF.EXISTS k a", NO),
        ("BF.MEXISTS k a b", [NO, NO]),
        ("BF.CARD k", 0),
        ("BF.INFO k", NOT_FOUND),
        ("BF.INFO k SIZE", NOT_FOUND),
        ("BF.DEBUG k", NOT_FOUND),
        ("BF.SCANDUMP k 0", NOT_FOUND),
        ("BF.INSERT k NOCREATE ITEMS a", NOT_FOUND),
        ("CF.EXISTS k a", NO),
        ("CF.MEXISTS k a b", [NO, NO]),
        ("CF.COUNT k a", 0),
        ("CF.DEL k a", Error("Not found")),
        ("CF.COMPACT k", Error("Cuckoo filter was not found")),
        ("CF.INFO k", NOT_FOUND),
        ("CF.DEBUG k", NOT_FOUND),
        ("CF.INSERT k NOCREATE ITEMS a", NOT_FOUND),
        ("CF.INSERTNX k NOCREATE ITEMS a", NOT_FOUND),
        ("PERHAPS.INFO k", NOT_FOUND),
        ("PERHAPS.DUMP k 0", NOT_FOUND),
        ("EXISTS k", 0),
    ],
    "another type": [
        ("SET s 1", "OK"),
        ("BF.ADD s a", WRONG_TYPE),
        ("BF.MADD s a b", WRONG_TYPE),
        ("BF.INSERT s ITEMS a", WRONG_TYPE),
        ("BF.EXISTS s a", NO),
        ("BF.MEXISTS s a b", [NO, NO]),
        ("BF.CARD s", WRONG_TYPE),
        ("BF.INFO s", WRONG_TYPE),
        ("BF.DEBUG s", WRONG_TYPE),
        ("BF.SCANDUMP s 0", WRONG_TYPE),
        ("BF.LOADCHUNK s 1 x", WRONG_TYPE),
        ("CF.RESERVE s 100", WRONG_TYPE),
        ("CF.ADD s a", WRONG_TYPE),
        ("CF.ADDNX s a", WRONG_TYPE),
        ("CF.INSERT s ITEMS a", WRONG_TYPE),
        ("CF.INSERTNX s ITEMS a", WRONG_TYPE),
        ("CF.EXISTS s a", NO),
        ("CF.MEXISTS s a b", [NO, NO]),
        ("CF.COUNT s a", 0),
        ("CF.DEL s a", Error("Not found")),
        ("CF.COMPACT s", Error("Cuckoo filter was not found")),
        ("CF.INFO s", WRONG_TYPE),
        ("CF.DEBUG s", WRONG_TYPE),
        ("PERHAPS.INFO s", WRONG_TYPE),
        ("PERHAPS.DUMP s 0", WRONG_TYPE),
        ("GET s", b"1"),
        ("BF.ADD b a", YES),
        ("CF.ADD b a", WRONG_TYPE),
        ("CF.EXISTS b a", NO),
        ("CF.ADD c a", YES),
        ("BF.ADD c a", WRONG_TYPE),
        ("BF.EXISTS c a", NO),
        ("GET b", WRONG_TYPE),
    ],
    "insert": [
        ("BF.INSERT k ITEMS a b a", [YES, YES, NO]),
        ("BF.INSERT k NOCREATE ITEMS a c", [NO, YES]),
        ("BF.INSERT l CAPACITY 1000 ERROR 0.001 EXPANSION 3 ITEMS a", [YES]),
        ("BF.INFO l EXPANSION", One({"Expansion rate": 3})),
        ("BF.INSERT m NONSCALING CAPACITY 2 ITEMS a b c d", [YES, YES, FULL]),
        ("BF.INFO m", bf_info(2, items=2, expansion=None)),
        ("bf.insert n capacity 500 items ITEMS NOCREATE", [YES, YES]),
        ("BF.INSERT o ERROR x ITEMS a", Error("Bad error rate")),
        ("BF.INSERT o CAPACITY x ITEMS a", Error("Bad capacity")),
        ("BF.INSERT o EXPANSION x ITEMS a", Error("Bad expansion")),
        ("BF.INSERT o SOMETHING ITEMS a", Error("Unknown argument received")),
        ("BF.INSERT o ITEMS", ARITY),
        ("BF.INSERT o NOCREATE ITEMS", ARITY),
        ("BF.INSERT o CAPACITY 100 ERROR", is_a(Error)),
        ("BF.INSERT o CAPACITY 100 a", is_a(Error)),
        ("EXISTS o", 0),
    ],
    "full": [
        ("BF.RESERVE k 0.01 3 NONSCALING", "OK"),
        ("BF.MADD k a b a", [YES, YES, NO]),
        ("BF.MADD k c a d e", [YES, NO, FULL]),
        ("BF.ADD k a", NO),
        ("BF.ADD k d", FULL),
        ("BF.CARD k", 3),
        ("BF.MEXISTS k a b c", [YES, YES, YES]),
    ],
    "chunks, badly": [
        ("BF.ADD k a", YES),
        ("BF.SCANDUMP k x", Error("Second argument must be numeric")),
        ("BF.SCANDUMP k", ARITY),
        ("BF.LOADCHUNK l x y", Error("ERR Second argument must be numeric")),
        ("BF.LOADCHUNK l 1 y", Error("ERR received bad data")),
        ("BF.LOADCHUNK l 1 ''", Error("ERR received bad data")),
        ("BF.LOADCHUNK l 2 y", NOT_FOUND),
        ("BF.LOADCHUNK l 1", ARITY),
        ("CF.ADD c a", YES),
        ("CF.SCANDUMP c x", Error("Invalid position")),
        ("CF.SCANDUMP c", ARITY),
        ("CF.LOADCHUNK d x y", Error("Invalid position")),
        ("CF.LOADCHUNK d 1 y", Error("Invalid header")),
        ("CF.LOADCHUNK d 1 ''", Error("Invalid header")),
        ("CF.LOADCHUNK d 2 y", NOT_FOUND),
        ("CF.LOADCHUNK d 1", ARITY),
        ("EXISTS l d", 0),
    ],
    "cuckoo": [
        ("CF.RESERVE k 1000", "OK"),
        ("CF.RESERVE k 1000", EXISTS),
        ("CF.INFO k", cf_info()),
        ("CF.ADD k a", YES),
        ("CF.ADD k a", YES),
        ("CF.ADDNX k a", NO),
        ("CF.ADDNX k b", YES),
        ("CF.ADD k ''", YES),
        ("CF.COUNT k ''", 1),
        ("CF.COUNT k a", 2),
        ("CF.COUNT k zzz", 0),
        ("CF.EXISTS k a", YES),
        ("CF.EXISTS k zzz", NO),
        ("CF.MEXISTS k a b zzz", [YES, YES, NO]),
        ("CF.DEL k a", YES),
        ("CF.COUNT k a", 1),
        ("CF.DEL k a", YES),
        ("CF.DEL k a", NO),
        ("CF.EXISTS k a", NO),
        ("CF.INFO k", cf_info(items=2, deleted=2)),
        ("CF.COMPACT k", "OK"),
        ("CF.MEXISTS k a b ''", [NO, YES, YES]),
        ("CF.RESERVE l 1000 BUCKETSIZE 4 MAXITERATIONS 30 EXPANSION 2", "OK"),
        ("CF.INFO l", cf_info(bucket=4, expansion=2, iterations=30)),
        ("CF.DEBUG l", starts(b"bktsize:4 buckets:")),
        ("CF.RESERVE m 4", "OK"),
    ],
    "cuckoo, badly": [
        ("CF.RESERVE k", ARITY),
        ("CF.RESERVE k x", Error("Bad capacity")),
        ("CF.RESERVE k 1.5", Error("Bad capacity")),
        ("CF.RESERVE k nan", Error("Bad capacity")),
        ("CF.RESERVE k 99999999999999999999", Error("Bad capacity")),
        ("CF.RESERVE k 0", Error("Capacity must be in the range [2 * BUCKETSIZE, 1073741824]")),
        ("CF.RESERVE k 3", Error("Capacity must be in the range [2 * BUCKETSIZE, 1073741824]")),
        ("CF.RESERVE k -1", Error("Capacity must be in the range [2 * BUCKETSIZE, 1073741824]")),
        ("CF.RESERVE k 1073741825", Error("Capacity must be in the range [2 * BUCKETSIZE, 1073741824]")),
        ("CF.RESERVE k 100 BUCKETSIZE 51", Error("Capacity must be in the range [2 * BUCKETSIZE, 1073741824]")),
        ("CF.RESERVE k 100 BUCKETSIZE x", Error("Couldn't parse BUCKETSIZE")),
        ("CF.RESERVE k 100 BUCKETSIZE 0", Error("BUCKETSIZE: value must be in the range [1, 255]")),
        ("CF.RESERVE k 1000 BUCKETSIZE 256", Error("BUCKETSIZE: value must be in the range [1, 255]")),
        ("CF.RESERVE k 100 MAXITERATIONS x", Error("Couldn't parse MAXITERATIONS")),
        ("CF.RESERVE k 100 MAXITERATIONS 0", Error("MAXITERATIONS: value must be in the range [1, 65535]")),
        ("CF.RESERVE k 100 MAXITERATIONS 65536", Error("MAXITERATIONS: value must be in the range [1, 65535]")),
        ("CF.RESERVE k 100 EXPANSION x", Error("Couldn't parse EXPANSION")),
        ("CF.RESERVE k 100 EXPANSION -1", Error("EXPANSION: value must be in the range [0, 32768]")),
        ("CF.RESERVE k 100 EXPANSION 32769", Error("EXPANSION: value must be in the range [0, 32768]")),
        ("EXISTS k", 0),
        ("CF.ADD k", ARITY),
        ("CF.ADDNX k a b", ARITY),
        ("CF.INSERT k ITEMS", ARITY),
        ("CF.EXISTS k", ARITY),
        ("CF.MEXISTS k", ARITY),
        ("CF.COUNT k", ARITY),
        ("CF.DEL k", ARITY),
        ("CF.COMPACT", ARITY),
        ("CF.INFO", ARITY),
        ("CF.DEBUG", ARITY),
    ],
    "cuckoo, many": [
        ("CF.INSERT k ITEMS a b a", [YES, YES, YES]),
        ("CF.COUNT k a", 2),
        ("CF.INSERTNX k ITEMS a c", [0, 1]),
        ("CF.INSERT k NOCREATE ITEMS d", [YES]),
        ("CF.INSERT l CAPACITY 5000 ITEMS a", [YES]),
        ("CF.INSERTNX m CAPACITY 5000 ITEMS a a", [1, 0]),
        ("CF.INSERT n CAPACITY x ITEMS a", Error("Bad capacity")),
        ("CF.INSERT n CAPACITY 1 ITEMS a", Error("Capacity must be in the range [cf-bucket-size * 2, 1073741824]")),
        ("CF.INSERT n CAPACITY 1073741825 ITEMS a",
         Error("Capacity must be in the range [cf-bucket-size * 2, 1073741824]")),
        ("CF.INSERT n SOMETHING ITEMS a", Error("Unknown argument received")),
        ("CF.INSERT n NOCREATE ITEMS", ARITY),
        ("EXISTS n", 0),
    ],
}

REDISBLOOM = {
    "sizes": [
        ("BF.RESERVE k 0.01 100", "OK"),
        ("BF.INFO k", bf_info(100)),
        ("BF.DEBUG k",
         [b"size:0", starts(b"bytes:144 bits:1152 hashes:8 hashwidth:64 capacity:100 size:0 ratio:0.005")]),
        ("CF.RESERVE c 1000", "OK"),
        ("CF.INFO c", cf_info(buckets=512)),
        ("CF.DEBUG c", b"bktsize:2 buckets:512 items:0 deletes:0 filters:1 max_iterations:20 expansion:1"),
        ("TYPE k", "MBbloom--"),
        ("TYPE c", "MBbloomCF"),
    ],
    "an empty cuckoo filter has no chunks": [
        ("CF.RESERVE k 100", "OK"),
        ("CF.SCANDUMP k 0", [0, None]),
        ("CF.SCANDUMP k 1", [0, None]),
        ("CF.ADD k a", YES),
        ("CF.SCANDUMP k 0", Any(lambda r: r[0] == 1 and len(r[1]) == 38, "a header")),
    ],
    "full cuckoo filters": [
        ("CF.RESERVE k 2 BUCKETSIZE 1 EXPANSION 0", "OK"),
        ("CF.INSERT k ITEMS c c c c", Any(lambda r: r[-1] == -1 and r[0] == 1, "in the end full")),
        ("CF.ADD k c", Error("Filter is full")),
        ("CF.ADDNX k c", NO),
        ("CF.INFO k", cf_info(buckets=2, items=2, bucket=1, expansion=0)),
    ],
}

NATIVE = {
    "debugging": [
        ("BF.ADD k a", YES),
        ("BF.DEBUG k", Any(lambda r: r[0] == b"size:1" and r[1].startswith(b"bytes:"), "size and a layer")),
        ("TYPE k", "perhapsBF"),
        ("CF.ADD c a", YES),
        ("TYPE c", "perhapsCF"),
        ("SCAN 0 COUNT 1000 TYPE perhapsBF", [b"0", [b"k"]]),
        ("SCAN 0 COUNT 1000 TYPE perhapsCF", [b"0", [b"c"]]),
        ("PERHAPS.LOAD l 0 1000 x", "OK"),
        ("TYPE l", "perhaps--"),
    ],
    "cuckoo filters of a rate": [
        ("CF.RESERVE k 1000 ERROR 0.0001", "OK"),
        ("CF.RESERVE l 1000 ERROR 0.01", "OK"),
        ("CF.RESERVE m 1000 ERROR x", is_a(Error)),
        ("CF.RESERVE m 1000 ERROR 0", is_a(Error)),
        ("CF.RESERVE m 1000 ERROR nan", is_a(Error)),
        ("CF.RESERVE m 1000 ERROR 1", is_a(Error)),
        ("EXISTS m", 0),
    ],
    "windows": [
        ("BF.RESERVE k 0.01 100 WINDOW 4", "OK"),
        ("BF.MADD k a b a", [YES, YES, NO]),
        ("BF.MEXISTS k a b zzz", [YES, YES, NO]),
        ("BF.RESERVE l 0.01 100 WINDOW 4 PERIOD 60000", "OK"),
        ("BF.ADD l a", YES),
        ("BF.RESERVE m 0.01 100 WINDOW", is_a(Error)),
        ("BF.RESERVE m 0.01 100 WINDOW x", is_a(Error)),
        ("BF.RESERVE m 0.01 100 WINDOW 0", is_a(Error)),
        ("BF.RESERVE m 0.01 100 WINDOW 65", is_a(Error)),
        ("BF.RESERVE m 0.01 100 WINDOW 4 PERIOD", is_a(Error)),
        ("BF.RESERVE m 0.01 100 WINDOW 4 PERIOD 0", is_a(Error)),
        ("BF.RESERVE m 0.01 100 WINDOW 4 PERIOD x", is_a(Error)),
        ("EXISTS m", 0),
    ],
}


def words(text):
    return ["" if word == "''" else word for word in text.split(" ")]


class Stories(SharedServerTest):
    """With one hash key for all filters: with a random one, now and then an item would seem to be there already."""

    def setUp(self):
        super().setUp()
        self.client.ok("CONFIG", "SET", "perhaps.hash-key", "0" * 32)

    def tell(self, stories, layout):
        self.client.ok("CONFIG", "SET", "perhaps.layout", layout)
        for name, steps in stories.items():
            for protocol in (2, 3):
                with self.subTest(story=name, layout=layout, protocol=protocol):
                    self.tell_one(steps, protocol)

    def tell_one(self, steps, protocol):
        wrong = []
        with self.shared.client(protocol) as client:
            client.ok("FLUSHALL")
            for text, expected in steps:
                reply = client(*words(text))
                if not matches(reply, expected, protocol):
                    wrong.append(f"{text}\n    says {reply!r}\n    not  {expected!r}")
        if wrong:
            self.fail("\n".join([""] + wrong))

    def test_native(self):
        self.tell({**BOTH, **NATIVE}, "native")

    def test_redisbloom(self):
        self.tell({**BOTH, **REDISBLOOM}, "redisbloom")


class BigThings(SharedServerTest):
    def test_an_item_of_100_megabytes(self):
        big = b"x" * 100_000_000
        for layout in "native", "redisbloom":
            self.client.ok("CONFIG", "SET", "perhaps.layout", layout)
            self.client.ok("FLUSHALL")
            self.assertEqual(self.client("BF.ADD", "b", big), 1)
            self.assertEqual(self.client("BF.EXISTS", "b", big), 1)
            self.assertEqual(self.client("CF.ADD", "c", big), 1)
            self.assertEqual(self.client("CF.COUNT", "c", big), 1)
        self.assertEqual(self.client("BF.EXISTS", "b", big[:-1]), 0)

    def test_many_items_in_one_command(self):
        many = [b"%d" % i for i in range(100_000)]
        self.assertGreater(sum(self.client("BF.MADD", "k", *many)), 98_000)  # 2 % may seem known
        self.assertEqual(sum(self.client("BF.MEXISTS", "k", *many)), 100_000)
        self.assert_same(self.client("CF.INSERT", "c", "ITEMS", *many), [1] * 100_000)
        self.assertEqual(sum(self.client("CF.MEXISTS", "c", *many)), 100_000)

    def test_the_largest_capacity(self):
        for layout in "native", "redisbloom":
            self.client.ok("CONFIG", "SET", "perhaps.layout", layout)
            reply = self.client("BF.RESERVE", "k" + layout, "0.25", BIGGEST)
            self.assertRegex(str(reply), "^(OK|ERR Insufficient memory to create filter: .*)$")
            self.client.ok("UNLINK", "k" + layout)
        self.assertEqual(self.client("PING"), "PONG")

    def test_binary_items(self):
        strange = [bytes([i]) * n for i in (0, 10, 13, 255) for n in (1, 2, 63, 64, 65)]
        self.assertEqual(self.client("BF.MADD", "k", *strange), [1] * len(strange))
        self.assertEqual(self.client("CF.INSERT", "c", "ITEMS", *strange), [1] * len(strange))


class Transactions(SharedServerTest):
    def test_multi_and_scripts(self):
        for command in (["MULTI"], ["BF.ADD", "k", "a"], ["CF.ADD", "c", "a"], ["BF.EXISTS", "k", "a"]):
            self.client.ok(*command)
        self.assert_reply(self.client("EXEC"), [1, 1, 1])
        script = "return {redis.call('BF.ADD', KEYS[1], 'b'), redis.call('BF.MEXISTS', KEYS[1], 'a', 'b', 'zzz')}"
        self.assert_reply(self.client("EVAL", script, 1, "k"), [1, [1, 1, 0]])


if __name__ == "__main__":
    main()
