"""What DUMP gives, taken apart and put together again; the checksums of dumps and images; mutations of bytes."""

import struct

SINT, UINT, FLOAT, DOUBLE, STRING = 1, 2, 3, 4, 5
TYPE_MODULE = 7
FOOTER = 10  # two bytes of version and eight of CRC64

INTERESTING = [0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 127, 128, 255, 256, 1023, 4096, 32768, 65535, 65536, 2**20, 2**24 - 1,
               2**30, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**33, 2**40, 2**53, 2**58, 2**61, 2**62, 2**63 - 1, 2**63,
               2**63 + 1, 2**64 - 64, 2**64 - 2, 2**64 - 1]
DOUBLES = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-300, 5e-324, 1e300, 1e-9, 0.9999999, 64.0, float("inf"), float("-inf"),
           float("nan")]


def crc64_table():
    """Reflected, polynomial 0xad93d23594c935a9, as the server has it."""
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x95AC9329AC4BC9B5 if crc & 1 else 0)
        table.append(crc)
    return table


TABLE = crc64_table()


def crc64(data):
    crc = 0
    for byte in data:
        crc = TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc


def sign(body):
    """A dump with the right checksum; `body` ends with the two bytes of version."""
    return body + struct.pack("<Q", crc64(body))


def put_length(number):
    if number < 1 << 6:
        return bytes([number])
    if number < 1 << 14:
        return struct.pack(">H", number | 0x4000)
    if number < 1 << 32:
        return b"\x80" + struct.pack(">I", number)
    return b"\x81" + struct.pack(">Q", number & 2**64 - 1)


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, length):
        self.at += length
        return self.data[self.at - length:self.at]

    def length(self):
        """A number, or a negative one for a string that is kept as an integer."""
        first = self.take(1)[0]
        if first >> 6 == 0:
            return first
        if first >> 6 == 1:
            return (first & 63) << 8 | self.take(1)[0]
        if first == 0x80:
            return struct.unpack(">I", self.take(4))[0]
        if first == 0x81:
            return struct.unpack(">Q", self.take(8))[0]
        return -1 - (first & 63)

    def string(self):
        length = self.length()
        if length >= 0:
            return self.take(length)
        width = {-1: "b", -2: "<h", -3: "<i"}[length]
        return b"%d" % struct.unpack(width, self.take(struct.calcsize(width)))


def take_apart(dump):
    """The module's number and the values that a dump consists of, as [code, value] pairs."""
    reader = Reader(dump[:-FOOTER])
    if reader.take(1)[0] != TYPE_MODULE:
        raise ValueError("not a value of a module")
    module, values = reader.length(), []
    while True:
        code = reader.length()
        if code == 0:
            return module, values
        if code in (SINT, UINT):
            values.append([code, reader.length()])
        elif code == DOUBLE:
            values.append([code, struct.unpack("<d", reader.take(8))[0]])
        elif code == FLOAT:
            values.append([code, struct.unpack("<f", reader.take(4))[0]])
        else:
            values.append([code, reader.string()])


def put_together(module, values, version):
    """A dump of these values, rightly signed."""
    parts = [bytes([TYPE_MODULE]), put_length(module)]
    for code, value in values:
        parts.append(put_length(code))
        if code in (SINT, UINT):
            parts.append(put_length(value))
        elif code in (DOUBLE, FLOAT):
            parts.append(struct.pack("<d" if code == DOUBLE else "<f", value))
        else:
            parts += [put_length(len(value)), value]
    return sign(b"".join(parts + [b"\x00", version]))


def place(chance, data):
    """Somewhere, and more often where the head is."""
    most = len(data) if chance.random() < 0.4 else min(len(data), chance.choice([16, 64, 130, 260]))
    return chance.randrange(most) if most else 0


def mutate_bytes(chance, data):
    """Other bytes, by one of a dozen small accidents or malices."""
    data, at = bytearray(data), place(chance, data)
    way = chance.randrange(11)
    if way == 0 and data:
        data[at] ^= 1 << chance.randrange(8)
    elif way == 1 and data:
        data[at] = chance.choice([0, 1, 127, 128, 255])
    elif way in (2, 3, 4):
        width = chance.choice([2, 4, 8])
        at = at // width * width if chance.random() < 0.7 else at
        data[at:at + width] = (chance.choice(INTERESTING) & 256**width - 1).to_bytes(width, "little")
    elif way == 5:
        at = at // 8 * 8
        old = int.from_bytes(data[at:at + 8], "little")
        data[at:at + 8] = (old + chance.choice([-1, 1, -8, 8, -64, 64, old]) & 2**64 - 1).to_bytes(8, "little")
    elif way == 6:
        del data[at:]
    elif way == 7:
        data += bytes(chance.randrange(256) for _ in range(chance.choice([1, 8, 64])))
    elif way == 8:
        del data[at:at + chance.choice([1, 4, 8, 64])]
    elif way == 9:
        data[at:at] = data[at:at + chance.choice([1, 8, 64])]
    else:
        data[at:at + 8] = struct.pack("<d", chance.choice(DOUBLES))
    return bytes(data)


def mutate_values(chance, values):
    """The same for what a dump consists of: most often one value, sometimes their number or order."""
    values = [list(pair) for pair in values]
    at = chance.randrange(len(values))
    code, value = values[at]
    way = chance.randrange(10)
    if way == 0:
        del values[at]
    elif way == 1:
        values.insert(at, list(chance.choice(values)))
    elif way == 2:
        values[at] = [chance.choice([SINT, UINT]), chance.choice(INTERESTING)]
    elif code in (SINT, UINT):
        changes = [value + 1, max(0, value - 1), value * 2, value // 2, chance.choice(INTERESTING)]
        values[at][1] = chance.choice(changes) & 2**64 - 1
    elif code in (DOUBLE, FLOAT):
        values[at][1] = chance.choice(DOUBLES + [value * 2, value / 2])
    else:
        values[at][1] = mutate_bytes(chance, value)
    return values


def mutate_numbers(chance, number):
    return chance.choice([number, number + 1, max(0, number - 1), chance.choice(INTERESTING), -1, 10**30, "x"])
