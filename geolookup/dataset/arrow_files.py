"""The Arrow files of a dataset: their types, and what the manifest says of them.

That is where each buffer lies, and what follows from the columns: counts,
known fields and the generation id. The compiler writes it down, and
``verify`` compares it. ``tables`` are Arrow tables or record batches by file
name.
"""

from __future__ import annotations

import hashlib
import mmap
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup.contract import fields
from geolookup.contract.schema import Schema
from geolookup.dataset import layout as fmt
from geolookup.dataset.intervals import Addresses, Bools
from geolookup.dataset.manifest import BufferDescription, FileDescription, Manifest
from geolookup.parallel import in_order, threads_for

# Typed: to infer the type of a Python value, Arrow looks for ``dateutil`` each time.
_COMMA = pa.scalar(",", pa.string())


def type_of(field: fields.Field) -> pa.DataType:
    """Return the Arrow type of a field's values."""
    lists = field.type == fields.TEXTS
    return pa.list_(pa.string()) if lists else pa.type_for_alias(field.type)


def map_file(path: Path) -> mmap.mmap:
    """Map a file; ValueError if it is empty."""
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def read(path: Path) -> tuple[pa.RecordBatch, pa.Buffer]:
    """Map an Arrow file and return its content; see ``content``."""
    return content(map_file(path))


def content(file: mmap.mmap) -> tuple[pa.RecordBatch, pa.Buffer]:
    """Return the one record batch of an Arrow file, and the bytes in which its buffers lie.

    Raises what Arrow raises, and ValueError if there is more than one batch.
    """
    whole = pa.py_buffer(file)
    with pa.ipc.open_file(pa.BufferReader(whole)) as reader:
        if reader.num_record_batches != 1:
            raise ValueError(f"{reader.num_record_batches} record batches where one belongs")
        return reader.get_batch(0), whole


def numbers_of(table: pa.RecordBatch | pa.Table, column: str) -> NDArray[Any]:
    """Return a column of numbers without nulls; of a dictionary, the value of each row."""
    values = table.column(column)
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if pa.types.is_dictionary(values.type):
        distinct = values.dictionary.to_numpy(zero_copy_only=False)
        return np.asarray(distinct[values.indices.to_numpy()])
    return np.asarray(values.to_numpy(zero_copy_only=False))


def starts_of(table: pa.RecordBatch | pa.Table) -> Addresses:
    """Return the first addresses of the intervals in a file of intervals."""
    if "start" in table.schema.names:
        return Addresses(numbers_of(table, "start"))
    return Addresses(numbers_of(table, "start_low"), numbers_of(table, "start_high"))


def describe(path: Path) -> FileDescription:
    """Return the manifest's entry of a file: size, digest, rows, and where each buffer lies."""
    with path.open("rb") as file:  # read, not mapped: mapped pages count as memory of the process
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    batch, whole = read(path)
    return FileDescription.of(whole.size, sha256, batch.num_rows, columns_of(batch, whole))


def columns_of(batch: pa.RecordBatch, whole: pa.Buffer) -> dict[str, BufferDescription]:
    """Return the type and buffers of each column."""
    return {name: _array(batch.column(name), whole.address) for name in batch.schema.names}


def _array(array: pa.Array, base: int) -> BufferDescription:
    buffers = [_buffer(buffer, base) for buffer in array.buffers()]
    if not pa.types.is_dictionary(array.type):
        return BufferDescription.of(str(array.type), buffers)
    values = array.dictionary
    return BufferDescription.of(str(array.type), buffers, _array(values, base), len(values))


def _buffer(buffer: pa.Buffer | None, base: int) -> list[int] | None:
    """Return offset and length; an empty buffer lies nowhere in the file, so it gets offset 0."""
    if buffer is None:
        return None
    # All buffers are views of the mapped file: the difference of addresses is the place in it.
    return [buffer.address - base, buffer.size] if buffer.size else [0, 0]


def counts(tables: Mapping[str, Any]) -> dict[str, int]:
    """Return the numbers of intervals and rows, without the unknown rows."""
    return {
        "ipv4_intervals": tables[fmt.IPV4].num_rows,
        "ipv6_intervals": tables[fmt.IPV6].num_rows,
        "locations": tables[fmt.LOCATION].num_rows - 1,
        "networks": tables[fmt.NETWORK].num_rows - 1,
        "countries": tables[fmt.COUNTRY].num_rows - 1,
        "zones": tables[fmt.ZONE].num_rows - 1,
        **({"own": tables[fmt.OWN].num_rows - 1} if fmt.OWN in tables else {}),
    }


def known_fields(tables: Mapping[str, Any], schema: Schema) -> list[str]:
    """Return the paths that are known for some address."""
    paths = []
    for field in schema.fields:
        # The rest of the time follows from the zone, but the instant is known without one.
        table = tables[fmt.TABLES[field.table or fields.ZONE]]
        column = table[field.column or "zone"]
        if field.group and (column.null_count < table.num_rows or not field.nullable):
            paths.append(field.path)
    return sorted(paths)


def generation(
    manifest: Manifest, tables: Mapping[str, Any], digested: Callable[[], None] = lambda: None
) -> str:
    """Return the SHA-256 over a manifest's logical part and the columns that it describes.

    A thread decodes the next column while one is digested. ``digested`` is called after each.
    """
    digest = hashlib.sha256(manifest.logical())
    named_columns = (
        (f"{name}/{column}", values)
        for name in sorted(tables)
        for column, values in zip(tables[name].schema.names, tables[name].columns, strict=True)
    )
    threads = min(1, threads_for(max(len(table) for table in tables.values())))
    with in_order(_parts_of, named_columns, threads) as columns:
        for parts in columns:
            for part in parts:
                digest.update(part)
            digested()
    return digest.hexdigest()


def _parts_of(named_column: tuple[str, pa.Array | pa.ChunkedArray]) -> list[Any]:
    """Return the input of a column's digest: its head, validity bits, buffers."""
    name, values = named_column
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if values.null_count == len(values):  # as most fields of most datasets
        valid = np.zeros(len(values), bool)
        kind, buffers = _nulls(values)
    else:
        values = _decode(values)
        valid = _valid(values)
        kind, buffers = _text(values, valid) if _is_text(values.type) else _numbers(values)
    # b"location.arrow/city_name:text:3\n", then bits, lengths and bytes.
    head = f"{name}:{kind}:{len(values)}\n".encode()
    # The first value is in the highest bit: known, known, null is 0b110_00000.
    return [head, np.packbits(valid), *buffers]


def _decode(values: pa.Array) -> pa.Array:
    """Decode dictionaries, and write lists as text: only values count."""
    values = without_dictionary(values)
    return pc.binary_join(values, _COMMA) if pa.types.is_list(values.type) else values


def without_dictionary(values: pa.Array) -> pa.Array:
    """Return dictionary-encoded values as plain ones, others unchanged."""
    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values


def with_items(lists: pa.Array, items: pa.Array) -> pa.Array:
    """Return lists of the same lengths, of other items than ``lists.flatten()``."""
    lengths = pc.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), items, mask=lists.is_null())


def without_nulls(values: pa.Array, filling: object) -> pa.Array:
    """Return values with nulls replaced; unlike ``fill_null`` copy nothing if there are none."""
    return values.fill_null(filling) if values.null_count else values


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _valid(values: pa.Array) -> Bools:
    if not values.null_count:
        return np.ones(len(values), bool)
    return np.asarray(values.is_valid().to_numpy(zero_copy_only=False), bool)


def _text(values: pa.Array, valid: Bools) -> tuple[str, list[Any]]:
    """Return lengths as little-endian 64-bit integers, and all bytes; null is an empty text."""
    _, offsets, data = values.buffers()
    width = np.int32 if pa.types.is_string(values.type) else np.int64
    # A slice shares the buffers of its array; ``offset`` is the row where it begins.
    bounds = np.frombuffer(offsets, width)[values.offset :][: len(values) + 1]
    lengths = np.subtract(bounds[1:], bounds[:-1])
    if values.null_count and lengths[~valid].any():  # bytes that belong to no value
        return _text(values.fill_null(""), np.ones_like(valid))
    # "ab", "", "c": bounds 0 2 2 3, lengths 2 0 1, text "abc".
    text = memoryview(data or b"")[bounds[0] : bounds[-1]]
    return "text", [lengths.astype("<i8"), text]


def _numbers(values: pa.Array) -> tuple[str, list[Any]]:
    """Return the values as numpy lays them out, little-endian; null is 0."""
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.uint8())
    return _little_endian(without_nulls(values, 0).to_numpy(zero_copy_only=False))


def _nulls(values: pa.Array) -> tuple[str, list[Any]]:
    """Return the same for a column of nulls, without decoding it."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if _is_text(kind) or pa.types.is_list(kind):
        return "text", [np.zeros(len(values), "<i8")]
    is_boolean = pa.types.is_boolean(kind)
    return _little_endian(np.zeros(len(values), np.uint8 if is_boolean else kind.to_pandas_dtype()))


def _little_endian(numbers: NDArray[Any]) -> tuple[str, list[Any]]:
    little = numbers.astype(numbers.dtype.newbyteorder("<"), copy=False)
    return _name(little.dtype), [np.ascontiguousarray(little)]


@cache
def _name(kind: np.dtype[Any]) -> str:
    return str(kind)  # which numpy composes anew each time
