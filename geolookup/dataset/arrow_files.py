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
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup.contract import fields
from geolookup.contract.schema import Schema
from geolookup.dataset import layout as fmt
from geolookup.dataset.intervals import Addresses
from geolookup.dataset.manifest import BufferDescription, FileDescription, Manifest
from geolookup.parallel import in_order, threads_for

# Typed: to infer the type of a Python value, Arrow looks for ``dateutil`` each time.
_COMMA = pa.scalar(",", pa.string())
#: The kind of a column of texts, or of lists of them, in the digest of a generation.
_TEXT = "text"
#: Rows that are digested at once: a multiple of 8, for the validity bits.
_ROWS = 1 << 18
#: A part of a column, and what makes its bytes.
_Part = tuple[Callable[[Any], Any], Any]


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

    A thread decodes the next part of a column while one is digested. ``digested`` is called after
    each part.
    """
    digest = hashlib.sha256(manifest.logical())
    parts = (
        part
        for name in sorted(tables)
        for column, values in zip(tables[name].schema.names, tables[name].columns, strict=True)
        for part in _parts_of(f"{name}/{column}", values)
    )
    threads = min(1, threads_for(max(len(table) for table in tables.values())))
    with in_order(_bytes_of, parts, threads) as buffers:
        for buffer in buffers:
            digest.update(buffer)
            digested()
    return digest.hexdigest()


def _parts_of(name: str, values: pa.Array | pa.ChunkedArray) -> Iterator[_Part]:
    """Yield the input of a column's digest: its head, then in parts validity bits and buffers."""
    values = _whole(values)
    is_dictionary = pa.types.is_dictionary(values.type)
    kind = values.type.value_type if is_dictionary else values.type
    # b"location.arrow/city_name:text:3\n", then bits, lengths and bytes.
    yield _head, f"{name}:{_kind(kind)}:{len(values)}\n"
    makers = (_bits, _lengths, _text) if _kind(kind) == _TEXT else (_bits, _numbers)
    if values.null_count == len(values):  # as most fields of most datasets
        makers = (_bits, partial(_zeros, "int64" if _kind(kind) == _TEXT else _kind(kind)))
    for make in makers:
        for begin in range(0, len(values), _ROWS):
            yield make, values.slice(begin, _ROWS)


def _bytes_of(part: _Part) -> Any:
    make, values = part
    return make(values)


def _head(text: str) -> bytes:
    return text.encode()


@cache
def _kind(kind: pa.DataType) -> str:
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_list(kind):
        return _TEXT
    plain = np.uint8 if pa.types.is_boolean(kind) else kind.to_pandas_dtype()
    return str(np.dtype(plain).newbyteorder("<"))


def _bits(values: pa.Array) -> Any:
    """Return the validity bits; the first value is in the highest bit."""
    if not values.null_count:
        return np.packbits(np.ones(len(values), bool))
    if pa.types.is_list(values.type):
        values = _decode(values)
    # Known, known, null is 0b110_00000.
    return np.packbits(values.is_valid().to_numpy(zero_copy_only=False))


def _zeros(kind: str, values: pa.Array) -> Any:
    return np.zeros(len(values), kind)


def _numbers(values: pa.Array) -> Any:
    """Return the values as numpy lays them out, little-endian; null is 0."""
    values = without_dictionary(values)
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.uint8())
    numbers = without_nulls(values, 0).to_numpy(zero_copy_only=False)
    return np.ascontiguousarray(numbers.astype(numbers.dtype.newbyteorder("<"), copy=False))


def _lengths(values: pa.Array) -> Any:
    """Return lengths of texts as little-endian 64-bit integers; null is an empty text."""
    if pa.types.is_dictionary(values.type):
        lengths = pc.binary_length(values.dictionary).take(values.indices)
    else:
        lengths = pc.binary_length(_decode(values))
    return without_nulls(lengths, 0).to_numpy(zero_copy_only=False).astype("<i8")


def _text(values: pa.Array) -> Any:
    """Return the bytes of texts, one after another."""
    values = _decode(values)
    if values.null_count:  # bytes may belong to no value
        values = values.fill_null("")
    _, offsets, data = values.buffers()
    width = np.int32 if pa.types.is_string(values.type) else np.int64
    # A slice shares the buffers of its array; ``offset`` is the row where it begins.
    bounds = np.frombuffer(offsets, width)[values.offset :][: len(values) + 1]
    # "ab", "", "c": bounds 0 2 2 3, text "abc".
    return memoryview(data or b"")[bounds[0] : bounds[-1]]


def _decode(values: pa.Array) -> pa.Array:
    """Decode dictionaries, and write lists as text: only values count."""
    values = without_dictionary(values)
    return pc.binary_join(values, _COMMA) if pa.types.is_list(values.type) else values


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
