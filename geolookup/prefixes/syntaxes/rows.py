"""CSV and JSON: in each line a prefix, and the value of each field that was asked for."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from geolookup.files.column_text import bytes_of, joined, json_texts
from geolookup.files.delimited import CellSink
from geolookup.prefixes.syntaxes.protocol import Lists, Syntax
from geolookup.prefixes.syntaxes.settings import Settings


def _csv(lists: Lists, _settings: Settings) -> Iterator[bytes]:
    """Yield a header, and a line for each row; an unknown value is an empty cell."""
    header = True
    for batch in _batches(lists):
        stream = io.BytesIO()
        CellSink(stream, batch.schema, ",", header=header).write(batch)
        header = False
        yield stream.getvalue()


def _json(lists: Lists, _settings: Settings) -> Iterator[bytes]:
    """Yield an array with an object for each row; an unknown value is null."""
    yield b"["
    begin = 1  # the first object has no comma before it
    for batch in _batches(lists):
        if len(batch):
            yield _objects(batch)[begin:]
            begin = 0
    yield b"\n]\n"


def _batches(lists: Lists) -> Iterator[pa.RecordBatch]:
    for batches in lists.values():
        yield from map(pa.RecordBatch.from_struct_array, batches)


def _objects(batch: pa.RecordBatch) -> bytes:
    """Return an object for each row, with a comma and a line feed before it."""
    parts: list[Any] = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        parts += [b"," if parts else b",\n{", json.dumps(name).encode() + b":"]
        parts.append(json_texts(column).fill_null(b"null"))
    text: bytes = bytes_of(joined(*parts, b"}")).to_pybytes()
    return text


CSV = Syntax("csv", _csv, entries="row")
JSON = Syntax("json", _json, entries="row")
