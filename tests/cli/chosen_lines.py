"""chosen_lines.py N: N lines of eight bytes whose digests, under xxh3 with seed 0, share both buckets in tables of every size up to
2^20 buckets. See tests/support/chosen.c."""
import sys

MASK = (1 << 64) - 1
INVERSE = pow(0x9FB21C651E98DF25, -1, 1 << 64)
SECRET = 0x1CAD21F72C81017C ^ 0xDB979083E96DD4DE


def rotate(x, by):
    by %= 64
    return (x << by | x >> (64 - by)) & MASK


def key_of(digest):
    h = digest ^ digest >> 28 ^ digest >> 56
    h = h * INVERSE & MASK
    h ^= (h >> 35) + 8
    h = h * INVERSE & MASK
    for power in (1, 2, 4, 8, 16, 32):
        h ^= rotate(h, 49 * power) ^ rotate(h, 24 * power)
    return rotate(h ^ SECRET, 32).to_bytes(8, "little")


lines, i = 0, 0
while lines < int(sys.argv[1]):
    key = key_of((1 + i % 1024) * 1232221121 + i // 1024 * 1080527769)
    i += 1
    if not any(byte in key for byte in b"\0\n\r"):
        sys.stdout.buffer.write(key + b"\n")
        lines += 1
