"""The Arrow files of a dataset: their types, and what the manifest says of them.

That is where each buffer lies, and what follows from the columns: counts,
known fields and the generation id. The compiler writes it down, and
``verify`` compares it. ``tables`` are Arrow tables or record batches by file
name.
"""

from __future__ import annotations

import hashlib
import mmap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup.contract import fields
from geolookup.contract.schema import Schema
from geolookup.dataset import layout as fmt
from geolookup.dataset.intervals import Addresses
from geolookup.dataset.manifest import Manifest
from geolookup.parallel import in_order, threads_for

if TYPE_CHECKING:
    from geolookup.dataset.manifest import Entry

#: Rows that are digested at once: part of the definition of a generation id.
_ROWS = 1 << 18


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
    values = _whole(table.column(column))
    if pa.types.is_dictionary(values.type):
        distinct = values.dictionary.to_numpy(zero_copy_only=False)
        return np.asarray(distinct[values.indices.to_numpy()])
    return np.asarray(values.to_numpy(zero_copy_only=False))


def _whole(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a column of a table or of a batch as one array; only several chunks are copied."""
    if isinstance(values, pa.Array):
        return values
    return values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()


def starts_of(table: pa.RecordBatch | pa.Table) -> Addresses:
    """Return the first addresses of the intervals in a file of intervals."""
    if "start" in table.schema.names:
        return Addresses(numbers_of(table, "start"))
    return Addresses(numbers_of(table, "start_low"), numbers_of(table, "start_high"))


def describe(path: Path) -> Entry:
    """Return the manifest's entry of a file: size, digest, rows, and where each buffer lies."""
    with path.open("rb") as file:  # read, not mapped: mapped pages count as memory of the process
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    batch, whole = read(path)
    columns = columns_of(batch, whole)
    return {"bytes": whole.size, "sha256": sha256, "rows": batch.num_rows, "columns": columns}


def columns_of(batch: pa.RecordBatch, whole: pa.Buffer) -> dict[str, Any]:
    """Return the type and buffers of each column, as the manifest has them."""
    return {name: _array(batch.column(name), whole.address) for name in batch.schema.names}


def _array(array: pa.Array, base: int) -> dict[str, Any]:
    buffers = [_buffer(buffer, base) for buffer in array.buffers()]
    described: dict[str, Any] = {"type": str(array.type), "buffers": buffers}
    if pa.types.is_dictionary(array.type):
        values = array.dictionary
        described["dictionary"] = {"length": len(values), **_array(values, base)}
    return described


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

    Dictionaries and lists are not decoded, because few forged bytes could decode to gigabytes.
    ``digested`` is called after each part.
    """
    digest = hashlib.sha256(manifest.logical())
    parts = (
        part
        for name in sorted(tables)
        for column, values in zip(tables[name].schema.names, tables[name].columns, strict=True)
        for part in _parts(f"{name}/{column}", _whole(values))
    )
    threads = min(1, threads_for(max(len(table) for table in tables.values())))
    with in_order(_bytes_of, parts, threads) as results:
        for buffers in results:
            for buffer in buffers:
                digest.update(buffer)
            digested()
    return digest.hexdigest()


def _parts(name: str, values: pa.Array) -> Iterator[str | pa.Array]:
    """Yield the head of a column and its values in parts; first those that it refers to."""
    if pa.types.is_dictionary(values.type):
        yield from _parts(f"{name}/values", values.dictionary)
        values = values.indices
    elif pa.types.is_list(values.type):
        yield from _parts(f"{name}/items", values.flatten())
        values = pc.list_value_length(values)
    # "location.arrow/city_name:int8:3", then bits and numbers, or bits, lengths and bytes.
    yield f"{name}:{values.type}:{len(values)}\n"
    for begin in range(0, len(values), _ROWS):
        yield values.slice(begin, _ROWS)


def _bytes_of(part: str | pa.Array) -> list[Any]:
    """Return the bytes of a part: validity bits, the first in the highest bit, and the values."""
    if isinstance(part, str):
        return [part.encode()]
    # Known, known, null is 0b110_00000.
    bits = np.packbits(part.is_valid().to_numpy(zero_copy_only=False))
    if not pa.types.is_string(part.type):
        return [bits, _little_endian(part.cast(pa.uint8()) if part.type == pa.bool_() else part)]
    texts = without_nulls(part, "")  # bytes may belong to no value
    _, offsets, data = texts.buffers()
    # A slice shares the buffers of its array; ``offset`` is the row where it begins.
    bounds = np.frombuffer(offsets, np.int32)[texts.offset :][: len(texts) + 1]
    # "ab", "", "c": bounds 0 2 2 3, lengths 2 0 1, text "abc".
    text = memoryview(data or b"")[bounds[0] : bounds[-1]]
    return [bits, _little_endian(pc.binary_length(texts)), text]


def _little_endian(values: pa.Array) -> Any:
    """Return numbers as numpy lays them out; null is 0."""
    numbers = without_nulls(values, 0).to_numpy(zero_copy_only=False)
    return np.ascontiguousarray(numbers.astype(numbers.dtype.newbyteorder("<"), copy=False))


def without_dictionary(values: pa.Array) -> pa.Array:
    """Return dictionary-encoded values as plain ones, others unchanged."""
    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values


def array_of(values: NDArray[Any], valid: NDArray[np.bool_] | None = None) -> pa.Array:
    """Return integers or Booleans as an Arrow array; null where ``valid`` is false.

    ``pa.array`` first looks for pandas and masked arrays: a cold start would import ``numpy.ma``.
    """
    bits = None if valid is None or valid.all() else _packed(valid)
    if values.dtype == np.bool_:
        return pa.Array.from_buffers(pa.bool_(), len(values), [bits, _packed(values)])
    data = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [bits, data])


def _packed(values: NDArray[np.bool_]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(values, bitorder="little"))


def with_items(lists: pa.Array, items: pa.Array) -> pa.Array:
    """Return lists of the same lengths, of other items than ``lists.flatten()``."""
    lengths = pc.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), items, mask=lists.is_null())


def without_nulls(values: pa.Array, filling: object) -> pa.Array:
    """Return values with nulls replaced; unlike ``fill_null`` copy nothing if there are none."""
    return values.fill_null(filling) if values.null_count else values
