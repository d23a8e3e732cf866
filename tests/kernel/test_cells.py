"""Records of CSV and joined columns: both kernels, Arrow's reader, and the ``csv`` module."""

from __future__ import annotations

import ctypes
import mmap
import sys
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.internals.kernel import python
from tests.kernel.modules import MODULES, compiled, needs_compiled

_TEXTS = st.text(st.sampled_from('x",;\n\r\té'), max_size=40).map(str.encode)
_CELLS = st.none() | _TEXTS | st.sampled_from([b"x" * size for size in (7, 15, 16, 17, 33)])
_Split = tuple[list[bytes], list[list[bytes | None]]]


def split(
    module: Any, data: Any, columns: int, keys: list[int], delimiters: bytes = b",,"
) -> _Split | None:
    """Return the lines and the texts of the keys, None if the records are refused."""
    text = np.frombuffer(data, np.uint8) if isinstance(data, bytes) else data
    rows = len(text) // columns + 1
    lines, offsets = np.full(3 * len(text) + 3, 7, np.uint8), np.full(rows + 1, 7)
    texts = np.full((len(keys), len(text)), 7, np.uint8)
    bounds, valid = np.full((len(keys), rows + 1), 7), np.full((len(keys), rows), 7, np.uint8)
    marks, numbers = np.frombuffer(delimiters, np.uint8), np.array(keys, np.int64)
    count = module.split_records(
        text, marks, columns, numbers, lines, offsets, texts, bounds, valid
    )
    if count < 0:
        return None
    cells = [
        [
            cell if is_valid else None
            for cell, is_valid in zip(parts(texts[at], bounds[at], count), valid[at], strict=False)
        ]
        for at in range(len(keys))
    ]
    return parts(lines, offsets, count), cells


def parts(data: Any, offsets: Any, count: int) -> list[bytes]:
    text = data.tobytes()
    return [text[offsets[at] : offsets[at + 1]] for at in range(count)]


def line(cells: list[bytes | None], delimiter: bytes) -> bytes:
    """Return a record by the rule: an empty text is quoted, null is empty."""
    special = (b'"', b"\n", b"\r", delimiter)
    quoted = (
        b""
        if cell is None
        else b'"' + cell.replace(b'"', b'""') + b'"'
        if not cell or any(mark in cell for mark in special)
        else cell
        for cell in cells
    )
    return delimiter.join(quoted)


def read(data: bytes, columns: int, delimiter: str) -> list[list[bytes | None]] | None:
    """Return the cells as Arrow reads them."""
    names = [str(at) for at in range(columns)]
    data += b"" if data.endswith((b"\n", b"\r")) else b"\n"
    try:
        table = arrow_csv.read_csv(
            pa.py_buffer(data),
            arrow_csv.ReadOptions(use_threads=False, block_size=len(data) + 1, column_names=names),
            arrow_csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=columns > 1
            ),
            arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.binary()),
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                null_values=[""],
            ),
        )
    except pa.ArrowInvalid:
        return None
    return [list(row.values()) for row in table.to_pylist()]


@needs_compiled
@example(b'5" pipe,"a"\n', 2, ",,")
@example(b'"a\tb",\r\n\r\n"",c\r', 2, ",\t")
@example(b"\n\nx", 1, ",,")
@given(_TEXTS, st.integers(1, 3), st.sampled_from([",,", ";,", ",\t", "xx", ",\n"]))
def test_records_are_those_of_arrow(data: bytes, columns: int, delimiters: str) -> None:
    keys = [*range(columns)][-2:]
    results = [
        split(module, data, columns, keys, delimiters.encode()) for module in (compiled, python)
    ]
    assert results[0] == results[-1]
    result = results[0]
    records = read(data, columns, delimiters[0]) if data else []
    if result is not None:
        assert records is not None
        assert result[0] == [line(record, delimiters[1].encode()) for record in records]
        assert result[1] == [[record[key] for record in records] for key in keys]
    else:
        # Refused: another number of cells, or a form that no program writes.
        assert records is None or b'"' in data


def part(cells: list[bytes | None], kind: str) -> Any:
    """Return a column for ``join_texts``: cells, texts, or a dictionary of them."""
    array = pa.array([b"skipped", *cells], pa.large_binary())[1:]
    indices = None
    if kind == "dictionary":
        encoded = array.dictionary_encode()
        indices = encoded.indices.fill_null(-1).to_numpy()
        array = encoded.dictionary
    validity, offsets, data = array.buffers()
    bits = np.frombuffer(validity, np.uint8) if array.null_count else None
    bounds = np.frombuffer(offsets, np.int64, len(array) + 1, 8 * array.offset)
    return (
        np.frombuffer(data or b"", np.uint8),
        bounds,
        bits,
        array.offset,
        indices,
        kind != "texts",
    )


@pytest.mark.parametrize("module", MODULES)
@given(
    st.lists(st.tuples(_CELLS, _CELLS, _CELLS), min_size=1, max_size=20),
    st.sampled_from([b",", b"\t", b"x"]),
    st.sampled_from([b"", b"null"]),
)
def test_joined_rows(
    module: Any, rows: list[tuple[bytes | None, ...]], delimiter: bytes, null: bytes
) -> None:
    kinds = ("texts", "cells", "dictionary")
    columns = [part([row[at] for row in rows], kind) for at, kind in enumerate(kinds)]
    between: list[Any] = [columns[0], delimiter, columns[1], delimiter, columns[2], b"\n"]
    wanted = [
        delimiter.join(
            [
                null if row[0] is None else row[0],
                *(null if cell is None else line([cell], delimiter) for cell in row[1:]),
            ]
        )
        + b"\n"
        for row in rows
    ]
    offsets, done, size = np.zeros(len(rows) + 1, np.int64), 0, 1
    out = np.empty(size, np.uint8)
    while done < len(rows):
        former = done
        done = module.join_texts(between, done, delimiter.decode(), null, offsets, out)
        if done == former:
            out = np.concatenate([out, np.empty_like(out)])
    assert parts(out, offsets, len(rows)) == wanted


@pytest.mark.parametrize("module", MODULES)
def test_arrays_that_do_not_fit(module: ModuleType) -> None:
    kernel: Any = module
    data, bounds = np.frombuffer(b"abc", np.uint8), np.array([0, 1, 3])
    offsets, out = np.zeros(3, np.int64), np.empty(99, np.uint8)
    bits = np.zeros(1, np.uint8)

    def join(*column: Any, first: int = 0) -> int:
        done: int = kernel.join_texts([column], first, ",", b"", offsets, out)
        return done

    assert join(data, bounds, None, 0, None, False) == 2
    for wrong in ([0, 1, 4], [-1, 1, 2], [0, 2, 1]):
        with pytest.raises(ValueError, match="outside"):
            join(data, np.array(wrong), None, 0, None, False)
    with pytest.raises(ValueError, match="outside"):
        join(data, bounds, None, 0, np.array([0, 2], np.int32), False)
    with pytest.raises(ValueError, match="outside"):
        join(data, bounds, None, 0, None, False, first=3)
    for column in (
        (data, bounds[:2], None, 0, None, False),
        (data, bounds, None, 0, np.zeros(1, np.int32), False),
        (data, bounds, bits, 7, None, False),
        (data, bounds, bits, -1, None, False),
    ):
        with pytest.raises(ValueError, match="length"):
            join(*column)
    good: list[Any] = [data, np.frombuffer(b",,", np.uint8), 1, np.array([0])]
    good += [np.empty(12, np.uint8), np.empty(5, np.int64)]
    good += [np.empty((1, 3), np.uint8), np.empty((1, 5), np.int64), np.empty((1, 4), np.uint8)]
    assert kernel.split_records(*good) == 1
    for at, value in (
        *((1, data), (2, 0), (3, np.array([0, 0])), (4, np.empty(11, np.uint8))),
        *((5, np.empty(4, np.int64)), (6, np.empty((1, 2), np.uint8))),
        *((7, np.empty((1, 4), np.int64)), (8, np.empty((2, 4), np.uint8))),
    ):
        with pytest.raises(ValueError, match="fit"):
            kernel.split_records(*good[:at], value, *good[at + 1 :])
    assert kernel.split_records(*good[:3], np.array([1]), *good[4:]) == -1


@needs_compiled
@pytest.mark.skipif(sys.platform != "linux", reason="mprotect of Linux")
def test_nothing_after_the_last_byte_is_read() -> None:
    """The page after the text cannot be read."""
    size = mmap.PAGESIZE
    pages = mmap.mmap(-1, 2 * size)
    whole = np.frombuffer(pages, np.uint8)
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    assert protect(whole.ctypes.data + size, size, 0) == 0  # 0: PROT_NONE
    try:
        for length in range(1, 40):
            for text in (b"x" * length, b'"' + b"x" * (length - 1), b"x," * length):
                data = whole[size - len(text) : size]
                data[:] = np.frombuffer(text, np.uint8)
                assert split(compiled, data, 1, [0], b";;") == split(python, text, 1, [0], b";;")
            bounds, offsets = np.array([0, length]), np.zeros(2, np.int64)
            column = (whole[size - length : size], bounds, None, 0, None, True)
            out = np.empty(3 * length, np.uint8)
            assert compiled.join_texts([column], 0, ";", b"", offsets, out) == 1
    finally:
        assert protect(whole.ctypes.data + size, size, mmap.PROT_READ | mmap.PROT_WRITE) == 0
