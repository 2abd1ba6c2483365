"""What keys and batches of them may be, for type checkers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, SupportsIndex, TypeAlias, Union

#: An object with the buffer protocol: before Python 3.12 there is no type for it.
Buffer: TypeAlias = Any
Key: TypeAlias = Union[str, bytes, bytearray, memoryview, SupportsIndex]
#: An array, an iterable of keys, an Arrow array, or (data, offsets).
Keys: TypeAlias = Union[Iterable[Any], Buffer]
