"""Whole lines of CSV: the bytes of the output are those of all columns, read and written apart."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from geolookup.errors import TableFileError
from geolookup.files import delimited
from geolookup.files.byte_streams import InputStream
from geolookup.files.delimited import CellSink, DelimitedText
from geolookup.files.row_streams import LINE, ReadOptions, Rows
from tests.kernel.test_cells import line

_OPTIONS = ReadOptions("a.csv", ("ip",), "as_is")
_NEW = ["x", None, '"', ""]


def rows_of(text: bytes, options: ReadOptions) -> Rows:
    stream = InputStream(options.name, io.BytesIO(text), None, None, ExitStack())
    return DelimitedText(",").read(stream, options)


def from_lines(text: bytes, delimiter: str) -> bytes:
    """Return the CSV of the rows with a new column, as ``enrich`` makes it."""
    rows = rows_of(text, replace(_OPTIONS, line_delimiter=delimiter))
    names, out, before = [*rows.schema.names, "new"], io.BytesIO(), 0
    schema = rows.schema.append(pa.field("new", pa.string()))
    sink = CellSink(out, schema, delimiter, rows.in_lines, header=True)
    for batch in rows.batches:
        new = [_NEW[(before + at) % len(_NEW)] for at in range(len(batch))]
        sink.write(pa.record_batch([*batch.columns, pa.array(new, pa.string())], names))
        before += len(batch)
    sink.close()
    return out.getvalue()


def from_columns(text: bytes, delimiter: str) -> bytes:
    """Return the same from columns that Arrow reads, cell by cell."""
    rows = rows_of(text, replace(_OPTIONS, others="typed"))
    records: list[list[str | None]] = [[*rows.schema.names, "new"]]
    for batch in rows.batches:
        for cells in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            records.append([*cells, _NEW[(len(records) - 1) % len(_NEW)]])
    mark = delimiter.encode()
    encoded = ([None if cell is None else cell.encode() for cell in cells] for cells in records)
    return b"".join(line(cells, mark) + b"\n" for cells in encoded)


def outcome(make: Callable[[bytes, str], bytes], text: bytes, delimiter: str) -> bytes | str:
    try:
        return make(text, delimiter)
    except TableFileError as error:
        return str(error)


@example('ip,a\r\n1,"x"y\n2,\n', 9, ",")  # text after a closing quote
@example('a,"i""p",ip\n1,"2\n3",4\n5" pipe,,""', 12, "\t")
@example("ip\n1\n\n2", 4, ",")
@example("a,ip\n1,2\n3\n", 5, ",")
@example('a,ip\n"",', 3, ",")
@given(
    st.builds(
        "".join,
        st.tuples(
            st.sampled_from(["ip\n", "a,ip\n", 'ip,"a\nb"\r\n', "ip,a\r", "\ufeffip,a,a"]),
            st.text(st.sampled_from('x",\n\r\té'), max_size=40),
        ),
    ),
    st.integers(3, 60),
    st.sampled_from([",", "\t"]),
)
def test_lines_are_the_cells_of_all_columns(text: str, block: int, delimiter: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited, "_BLOCK", block)
        pair = [outcome(make, text.encode(), delimiter) for make in (from_lines, from_columns)]
    assert pair[0] == pair[1]


def test_the_keys_beside_lines() -> None:
    text = b'time,a,ip\n"2 ""x""",1,\n,"",""\n\xff,2,8.8.8.8\n'
    rows = rows_of(text, replace(_OPTIONS, keys=("ip", "time")))
    (batch,) = rows.batches
    assert (rows.in_lines, batch.schema.names) == (("time", "a", "ip"), ["time", "ip", LINE])
    time, ip, lines = (column.cast(pa.large_binary()).to_pylist() for column in batch.columns)
    assert (time, ip) == ([b'2 "x"', None, b"\xff"], [None, b"", b"8.8.8.8"])
    assert lines == text.splitlines()[1:]
