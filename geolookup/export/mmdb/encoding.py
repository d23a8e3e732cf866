"""Values of the data section of an MMDB file, whole columns at once.

A value begins with a control byte: three bits of type, five of size. Types above 7 have type 0
there and a byte of their own after it; sizes from 29 on have further bytes. The text ``AT`` is
``42 41 54``: type 2 (010), size 2 (00010), then its UTF-8. The Boolean true is ``01 07``: type 14
is 7 + 7, and the size is the value.

A pointer is the position of a value that is written elsewhere, type 1: two bits are its size, then
three bits and one to three bytes hold the position, less the positions that shorter pointers reach.
``28 00 0A`` (001 01 000) is position 2,048 + 10.

Columns are Arrow arrays of bytes, one value each.
Format: https://maxmind.github.io/MaxMind-DB/ ("Output Data Section").
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.dataset.intervals import I64, U8
from geolookup.dataset.runs import factorize
from geolookup.files.column_text import join

#: The numbers of types.
STRING, DOUBLE, UINT16, UINT32, MAP, INT32, UINT64, ARRAY, BOOLEAN = 2, 3, 5, 6, 7, 8, 9, 11, 14
#: The largest type that the control byte holds; others follow in a byte of their own.
_LAST_SHORT_TYPE = 7
#: Sizes from which more bytes hold the size: the control byte's five bits, the number of bytes.
_LONG_SIZES = ((65_821, 31, 3), (285, 30, 2), (29, 29, 1))
#: Positions from which a pointer has more bytes, and its control byte.
_POINTERS = ((0, 0x20), (2_048, 0x28), (526_336, 0x30), (134_744_064, 0x38))
_BASES, _CONTROLS = np.array(_POINTERS).T
BINARY = pa.large_binary()


def header(kind: int, size: int) -> bytes:
    """Return control byte, further bytes of the type and of the size."""
    in_control, more = size, b""
    for least, marker, length in _LONG_SIZES:
        # A text of 300 bytes: 5E 00 0F, size 30 and two bytes with 300 - 285.
        if size >= least:
            in_control, more = marker, (size - least).to_bytes(length, "big")
            break
    if kind <= _LAST_SHORT_TYPE:
        return bytes([kind << 5 | in_control]) + more
    return bytes([in_control, kind - _LAST_SHORT_TYPE]) + more


def headers(kind: int, sizes: I64) -> pa.Array:
    """Return the header of each of n values of a type."""
    codes, first = factorize([sizes])
    return binary(header(kind, int(size)) for size in sizes[first]).take(pa.array(codes))


def binary(values: Iterable[bytes]) -> pa.Array:
    """Return a column of bytes."""
    return pa.array(list(values), BINARY)


def of_matrix(bytes_: U8, lengths: I64) -> pa.Array:
    """Return a column of bytes: of each row of a matrix (n, width) as many as its length."""
    # A mask of each row's first bytes; the selected bytes lie row after row.
    data = bytes_[np.arange(bytes_.shape[1]) < lengths[:, None]]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(BINARY, len(lengths), buffers)


def pointer_sizes(positions: I64) -> I64:
    """Return the bytes of a pointer to each of n positions."""
    return 1 + np.searchsorted(_BASES, positions, side="right")


def pointers(positions: I64) -> pa.Array:
    """Return a pointer to each of n positions in the data section.

    The longest pointer has the position itself in four bytes; the control byte has no bits of it.
    """
    sizes = pointer_sizes(positions)
    bases = np.append(_BASES[:-1], 0)[sizes - 2]
    # Position 2,058 less 2,048 is 10: 28 00 0A, at the beginning of eight bytes.
    words = _CONTROLS[sizes - 2] << 8 * (sizes - 1) | positions - bases
    octets = (words << 8 * (8 - sizes)).astype(">i8").view(np.uint8)
    return of_matrix(octets.reshape(-1, 8), sizes)


def strings(values: pa.Array) -> pa.Array:
    """Encode a column of texts."""
    texts = values.cast(BINARY)
    sizes = pc.binary_length(texts).to_numpy(zero_copy_only=False)
    return join(headers(STRING, sizes), texts)


def _doubles(values: pa.Array) -> pa.Array:
    numbers = np.ascontiguousarray(values.to_numpy(zero_copy_only=False), ">f8")
    matrix = np.empty((len(numbers), 9), np.uint8)
    matrix[:, :1] = np.frombuffer(header(DOUBLE, 8), np.uint8)
    matrix[:, 1:] = numbers.view(np.uint8).reshape(-1, 8)
    return of_matrix(matrix, np.full(len(numbers), 9))


def _whole(kind: int, values: pa.Array) -> pa.Array:
    return binary(encode((kind, number)) for number in values.to_pylist())


def _integers(values: pa.Array) -> pa.Array:
    """Encode a column of integers, all of one type: the only one with a sign has 32 bits."""
    numbers = values.to_pylist()
    if min(numbers, default=0) >= 0:
        return _whole(UINT64, values)
    for number in numbers:
        if not -(1 << 31) <= number < 1 << 31:
            raise OverflowError(f"{number} needs more than 32 bits with a sign")
    start = header(INT32, 4)
    return binary(start + number.to_bytes(4, "big", signed=True) for number in numbers)


def _booleans(values: pa.Array) -> pa.Array:
    return binary(header(BOOLEAN, int(value)) for value in values.to_pylist())


def _lists(values: pa.Array) -> pa.Array:
    return binary(encode(value) for value in values.to_pylist())


#: The encoder of a column of values by its Arrow type; OverflowError for an integer without type.
ENCODERS: Mapping[str, Callable[[pa.Array], pa.Array]] = {
    "string": strings,
    "double": _doubles,
    "uint32": partial(_whole, UINT32),
    "int64": _integers,
    "bool": _booleans,
    "list<item: string>": _lists,
}


def encode(value: Any) -> bytes:
    """Encode one value: a text, a list, a map, or ``(type, integer)``; none is shared."""
    if isinstance(value, str):
        text = value.encode()
        return header(STRING, len(text)) + text
    if isinstance(value, dict):
        members = b"".join(encode(name) + encode(member) for name, member in value.items())
        return header(MAP, len(value)) + members
    if isinstance(value, list):
        return header(ARRAY, len(value)) + b"".join(map(encode, value))
    kind, number = value
    # 0 has no bytes at all.
    size = (number.bit_length() + 7) // 8
    return header(kind, size) + int(number).to_bytes(size, "big")


def lengths(values: pa.Array) -> I64:
    """Return the number of bytes of each value of a column."""
    sizes: I64 = pc.binary_length(values).to_numpy(zero_copy_only=False).astype(np.int64)
    return sizes
