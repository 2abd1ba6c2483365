"""A small producer of Arrow arrays and streams, with the C data interface in ctypes.

Array(values, format) has __arrow_c_array__; Stream([arrays]) has __arrow_c_stream__. `released`
counts the arrays that a consumer has given back.
"""

import ctypes
import struct

released = 0


class Schema(ctypes.Structure):
    pass


class CArray(ctypes.Structure):
    pass


class CStream(ctypes.Structure):
    pass


RELEASE_SCHEMA = ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))
RELEASE_ARRAY = ctypes.CFUNCTYPE(None, ctypes.POINTER(CArray))
RELEASE_STREAM = ctypes.CFUNCTYPE(None, ctypes.POINTER(CStream))
GET_SCHEMA = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(CStream), ctypes.POINTER(Schema))
GET_NEXT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(CStream), ctypes.POINTER(CArray))
LAST_ERROR = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(CStream))

Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64), ("children", ctypes.c_void_p),
    ("dictionary", ctypes.c_void_p), ("release", RELEASE_SCHEMA), ("private_data", ctypes.c_void_p),
]  # fmt: skip
CArray._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.c_void_p), ("dictionary", ctypes.c_void_p), ("release", RELEASE_ARRAY),
    ("private_data", ctypes.c_void_p),
]  # fmt: skip
CStream._fields_ = [
    ("get_schema", GET_SCHEMA), ("get_next", GET_NEXT), ("get_last_error", LAST_ERROR),
    ("release", RELEASE_STREAM), ("private_data", ctypes.c_void_p),
]  # fmt: skip

_new = ctypes.pythonapi.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_alive = {}
_formats = {}


@RELEASE_SCHEMA
def _release_schema(schema):
    schema.contents.release = RELEASE_SCHEMA()


@RELEASE_ARRAY
def _release_array(array):
    global released
    released += 1
    array.contents.release = RELEASE_ARRAY()


@RELEASE_STREAM
def _release_stream(stream):
    stream.contents.release = RELEASE_STREAM()


_raw_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


_destroy_schema = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(
    lambda capsule: _end(capsule, Schema, b"arrow_schema")
)
_destroy_array = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(lambda capsule: _end(capsule, CArray, b"arrow_array"))
_destroy_stream = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(
    lambda capsule: _end(capsule, CStream, b"arrow_array_stream")
)


def _end(capsule, struct_class, name):
    address = _raw_pointer(capsule, name)
    content = struct_class.from_address(address)
    if content.release:
        content.release(ctypes.byref(content))
    _alive.pop(address, None)


def _capsule(content, name, destroy):
    address = ctypes.addressof(content)
    _alive[address] = content
    return _new(address, name, ctypes.cast(destroy, ctypes.c_void_p))


INTEGERS = dict(zip("cCsSiIlL", "bBhHiIqQ", strict=True))


class Array:
    """Values (None = null) in one of Arrow's formats; of them the slice [start:stop]."""

    def __init__(self, values, form, start=0, stop=None, count_nulls=True):
        self.form, self.values = form, values
        self.start, self.stop = start, len(values) if stop is None else stop
        self.pointers = []
        self.buffers = [self._validity(), *self._data()]
        shown = values[self.start : self.stop]
        self.nulls = sum(value is None for value in shown) if count_nulls else -1

    def _validity(self):
        if None not in self.values:
            return None
        bits = bytearray((len(self.values) + 7) // 8)
        for i, value in enumerate(self.values):
            bits[i // 8] |= (value is not None) << i % 8
        return bytes(bits)

    def _data(self):
        form, values = self.form, self.values
        if form in INTEGERS:
            return [struct.pack(f"={len(values)}{INTEGERS[form]}", *(0 if value is None else value for value in values))]
        # What stands at a null is anything.
        texts = [b"junk" if value is None else value.encode() if isinstance(value, str) else value for value in values]
        if form.startswith("w:"):
            width = int(form[2:])
            return [b"".join(text.ljust(width, b"?")[:width] for text in texts)]
        if form.startswith("v"):
            views, long = b"", b""
            for text in texts:
                if len(text) <= 12:
                    views += struct.pack("=i12s", len(text), text)
                else:
                    views += struct.pack("=i4sii", len(text), text[:4], 0, len(long))
                    long += text
            return [views, long, struct.pack("=q", len(long))]
        offsets, at = [0], 0
        for text in texts:
            at += len(text)
            offsets.append(at)
        return [struct.pack(f"={len(offsets)}{'q' if form in 'UZ' else 'i'}", *offsets), b"".join(texts)]

    def c_array(self, array=None):
        array = CArray() if array is None else array
        pointers = (ctypes.c_void_p * len(self.buffers))(
            *(None if data is None else ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value for data in self.buffers)
        )
        array.length, array.null_count, array.offset = self.stop - self.start, self.nulls, self.start
        array.n_buffers, array.buffers = len(self.buffers), pointers
        array.release = _release_array
        self.pointers.append(pointers)
        return array

    def c_schema(self, schema=None):
        schema = Schema() if schema is None else schema
        schema.format = _formats.setdefault(self.form, self.form.encode())
        schema.release = _release_schema
        return schema

    def __arrow_c_array__(self, requested_schema=None):
        return (
            _capsule(self.c_schema(), b"arrow_schema", _destroy_schema),
            _capsule(self.c_array(), b"arrow_array", _destroy_array),
        )


class Stream:
    """A stream of arrays of one format."""

    def __init__(self, arrays, form, fail=None):
        self.arrays, self.form, self.fail = arrays, form, fail

    def __arrow_c_stream__(self, requested_schema=None):
        left = iter(self.arrays)
        why = ctypes.cast(ctypes.c_char_p(self.fail), ctypes.c_void_p).value if self.fail else None

        def get_schema(stream, schema):
            Array([], self.form).c_schema(schema.contents)
            return 0

        def get_next(stream, array):
            following = next(left, None)
            if following is None and self.fail:
                return 5
            if following is None:
                array.contents.release = RELEASE_ARRAY()
            else:
                following.c_array(array.contents)
            return 0

        stream = CStream(
            GET_SCHEMA(get_schema), GET_NEXT(get_next), LAST_ERROR(lambda stream: why), _release_stream, None
        )
        return _capsule(stream, b"arrow_array_stream", _destroy_stream)
