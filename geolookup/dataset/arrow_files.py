"""The Arrow files of a dataset: their types, and what the manifest says of each file.

The compiler writes that down, and ``verify`` compares it.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pyarrow as pa

from geolookup.contract import fields


def type_of(field: fields.Field) -> pa.DataType:
    """Return the Arrow type of a field's values."""
    lists = field.type == fields.TEXTS
    return pa.list_(pa.string()) if lists else pa.type_for_alias(field.type)


def read(path: Path) -> tuple[pa.RecordBatch, pa.Buffer]:
    """Map an Arrow file; return its one record batch, and the bytes in which its buffers lie.

    Raises what Arrow raises, and ValueError where there is more than one batch.
    """
    with pa.memory_map(str(path)) as source:
        whole = source.read_buffer()
    with pa.ipc.open_file(pa.BufferReader(whole)) as reader:
        if reader.num_record_batches != 1:
            raise ValueError(f"{reader.num_record_batches} record batches where one belongs")
        return reader.get_batch(0), whole


def describe(path: Path) -> dict[str, Any]:
    """Return what the manifest says of a file: size, digest, rows, and where each buffer lies."""
    batch, whole = read(path)
    return {
        "bytes": whole.size,
        "sha256": hashlib.sha256(whole).hexdigest(),
        **layout(batch, whole),
    }


def layout(batch: pa.RecordBatch, whole: pa.Buffer) -> dict[str, Any]:
    """Return the rows, and the type and buffers of each column."""
    columns = {name: _array(batch.column(name), whole.address) for name in batch.schema.names}
    return {"rows": batch.num_rows, "columns": columns}


def _array(array: pa.Array, base: int) -> dict[str, Any]:
    described: dict[str, Any] = {
        "type": str(array.type),
        "buffers": [_buffer(buffer, base) for buffer in array.buffers()],
    }
    if pa.types.is_dictionary(array.type):
        described["dictionary"] = {
            "length": len(array.dictionary),
            **_array(array.dictionary, base),
        }
    return described


def _buffer(buffer: pa.Buffer | None, base: int) -> list[int] | None:
    """Return offset and length; an empty buffer lies nowhere in the file, so it gets offset 0."""
    if buffer is None:
        return None
    return [buffer.address - base, buffer.size] if buffer.size else [0, 0]
