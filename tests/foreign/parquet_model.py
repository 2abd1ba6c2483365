"""Parquet's split-block Bloom filters, as the format's description has them: an implementation that shares nothing with the library.

Run as a program it compares the command line with it, byte for byte, in both directions:

    parquet_model.py PERHAPS
"""
import os
import random
import subprocess
import sys
import tempfile

MASK = (1 << 64) - 1
P1, P2, P3, P4, P5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63,
                      0x27D4EB2F165667C5)
SALTS = (0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31)


def rotate(x, bits):
    return (x << bits | x >> (64 - bits)) & MASK


def stir(lane, word):
    return rotate((lane + word * P2) & MASK, 31) * P1 & MASK


def xxh64(data):
    """With seed 0."""
    words = [int.from_bytes(data[i:i + 8], "little") for i in range(0, len(data) // 8 * 8, 8)]
    h, stripes = P5, len(data) // 32
    if stripes:
        lanes = [(P1 + P2) & MASK, P2, 0, -P1 & MASK]
        for i in range(4 * stripes):
            lanes[i % 4] = stir(lanes[i % 4], words[i])
        h = sum(rotate(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            h = ((h ^ stir(0, lane)) * P1 + P4) & MASK
    h = (h + len(data)) & MASK
    for word in words[4 * stripes:]:
        h = (rotate(h ^ stir(0, word), 27) * P1 + P4) & MASK
    at = 8 * len(words)
    if len(data) - at >= 4:
        h = (rotate(h ^ int.from_bytes(data[at:at + 4], "little") * P1 & MASK, 23) * P2 + P3) & MASK
        at += 4
    for byte in data[at:]:
        h = rotate(h ^ byte * P5 & MASK, 11) * P1 & MASK
    h = (h ^ h >> 33) * P2 & MASK
    h = (h ^ h >> 29) * P3 & MASK
    return h ^ h >> 32


def varint(x):
    return bytes([x]) if x < 128 else bytes([x & 127 | 128]) + varint(x >> 7)


class Filter:
    def __init__(self, blocks, keys=()):
        self.blocks = [[0] * 8 for _ in range(blocks)]
        for key in keys:
            self.add(key)

    def add(self, key):
        h = xxh64(key)
        block = self.blocks[(h >> 32) * len(self.blocks) >> 32]
        for i, salt in enumerate(SALTS):
            block[i] |= 1 << ((h & 0xFFFFFFFF) * salt & 0xFFFFFFFF) // 2**27

    def file(self):
        union = bytes([0x1C, 0x1C, 0, 0])
        head = bytes([0x15]) + varint(2 * 32 * len(self.blocks)) + 3 * union + bytes([0])
        return head + b"".join(word.to_bytes(4, "little") for block in self.blocks for word in block)


def perhaps(*arguments, given=b""):
    return subprocess.run([sys.argv[1], *arguments], input=given, check=True, stdout=subprocess.PIPE).stdout


def read(path):
    with open(path, "rb") as file:
        return file.read()


def lines(keys):
    return b"".join(key + b"\n" for key in keys)


def compare_build(blocks, keys):
    perhaps("build", "-f", "-k", "parquet", "-n", str(10 * blocks), "--bytes", str(32 * blocks), "-o", "made", given=lines(keys))
    assert read("made") == Filter(blocks, keys).file(), f"{len(keys)} keys in {blocks} blocks"


def compare_fold(blocks, smaller, keys):
    with open("theirs", "wb") as file:
        file.write(Filter(blocks, keys).file())
    perhaps("merge", "-f", "theirs", "--fold", str(32 * smaller), "-o", "made")
    assert read("made") == Filter(smaller, keys).file(), f"{blocks} blocks folded to {smaller}"


def compare_reading(blocks, keys, more):
    """Files that the library would not make: it reads them, and adds to them."""
    with open("theirs", "wb") as file:
        file.write(Filter(blocks, keys).file())
    assert perhaps("check", "theirs", given=lines(keys)) == lines(keys), f"keys are missing in {blocks} blocks"
    perhaps("add", "theirs", given=lines(more))
    assert read("theirs") == Filter(blocks, keys + more).file(), f"{blocks} blocks, added to"


def some_keys(count):
    alphabet = [byte for byte in range(256) if byte != 10]
    return [bytes(random.choices(alphabet, k=random.randrange(100))) for _ in range(count)]


def main():
    random.seed(1)
    assert xxh64(b"") == 0xEF46DB3751D8E999
    words = [b"hello", b"parquet", b"bloom", b"filter"]
    assert Filter(32).file()[:16] == bytes.fromhex("1580101c1c00001c1c00001c1c000000")
    compare_build(32, words)
    # What parquet-mr under Spark makes of a column of a0 .. a9.
    assert Filter(1, [f"a{i}".encode() for i in range(10)]).file()[-32:] == bytes.fromhex(
        "c80150144044086d0625044390506020" "08842b21000563410200e02c404e6004")
    for blocks in (1, 2, 64, 512, 4096):
        compare_build(blocks, some_keys(500))
    for blocks in (1, 3, 33, 1000):
        compare_reading(blocks, some_keys(300), some_keys(100))
    for blocks, smaller in ((64, 64), (64, 1), (512, 32), (24, 3), (1000, 125)):
        compare_fold(blocks, smaller, some_keys(300))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        sys.argv[1] = os.path.abspath(sys.argv[1])
        os.chdir(folder)
        main()
