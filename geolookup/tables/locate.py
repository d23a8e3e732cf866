"""Address columns of every kind to interval ids, through the kernel; with ``clean`` also texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup.contract.cleaning import NODE, clean_text
from geolookup.dataset.arrow_files import without_dictionary
from geolookup.dataset.intervals import I64, U8, Addresses, MixedAddresses
from geolookup.kernel.columns import INVALID_ID, PRIVATE_ID, parse, replace_embedded

if TYPE_CHECKING:
    from geolookup.kernel import State

#: Rows of a chunk: its columns fit into a core's cache.
CHUNK = 1 << 16
_TEXT = pa.large_string()


@dataclass(frozen=True, slots=True)
class AddressIntervals:
    """n addresses: interval ids (see ``kernel.python_state``) and families as written."""

    ids: NDArray[np.int32]
    families: NDArray[np.uint8]  # 4, 6; 0 without an address


@dataclass(frozen=True, slots=True)
class _Texts:
    """n texts: ``data[offsets[i] : offsets[i + 1]]``."""

    data: U8
    offsets: I64


def column_of(values: pa.Array | pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of the storage type."""
    column = values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
    if isinstance(column.type, pa.BaseExtensionType):
        kind = column.type.storage_type
        return pa.chunked_array([chunk.storage for chunk in column.chunks], kind)
    return column


def chunks(column: pa.ChunkedArray) -> Iterator[pa.Array]:
    """Slice a column into arrays of at most CHUNK rows."""
    for array in column.iterchunks():
        for begin in range(0, len(array), CHUNK):
            yield array.slice(begin, CHUNK)


def locate_chunk(state: State, array: pa.Array, *, with_private: bool = False) -> AddressIntervals:
    """Locate one array of addresses; ``kernel.python_state.State`` describes ``with_private``.

    Raises TypeError for a type that holds no addresses. Null is an invalid address.
    """
    if pa.types.is_dictionary(array.type):
        return _of_dictionary(state, array, with_private=with_private)
    source = _read(array)
    ids = np.empty(len(array), np.int32)
    if isinstance(source, _Texts):
        families = np.empty(len(array), np.uint8)
        state.locate_texts(source.data, source.offsets, ids, families, with_private)
    else:
        families = source.family
        state.locate_numbers(families, source.high, source.low, ids, with_private)
    if array.null_count:
        absent = _absent(array)
        ids[absent], families[absent] = INVALID_ID, 0
    return AddressIntervals(ids, families)


def _of_dictionary(
    state: State, array: pa.DictionaryArray, *, with_private: bool
) -> AddressIntervals:
    """Locate the values of the dictionary, or the rows if there are fewer."""
    if len(array.dictionary) > len(array):
        return locate_chunk(state, array.dictionary_decode(), with_private=with_private)
    values = locate_chunk(state, array.dictionary, with_private=with_private)
    # A null row takes the last entry, an invalid address.
    at = array.indices.fill_null(len(values.ids)).to_numpy(zero_copy_only=False)
    return AddressIntervals(
        np.append(values.ids, np.int32(INVALID_ID))[at], np.append(values.families, np.uint8(0))[at]
    )


def parse_chunk(array: pa.Array) -> MixedAddresses:
    """Return one array of addresses as numbers; family 0 of a value that is not an address.

    Raises TypeError for a type that holds no addresses.
    """
    array = without_dictionary(array)
    source = _read(array)
    if isinstance(source, _Texts):
        source = parse(source.data, source.offsets[:-1], np.diff(source.offsets))
    source.family[_absent(array)] = 0
    return source


def parse_column(column: pa.ChunkedArray) -> MixedAddresses:
    """Return the addresses of a column; family 0 of a value that is not an address.

    An address that carries an IPv4 address is replaced by it. Raises TypeError if the type of the
    column holds no addresses.
    """
    addresses = column_of(column)
    nothing = parse_chunk(pa.nulls(0, addresses.type))
    parts = [
        (part.family, part.high, part.low)
        for part in (nothing, *map(parse_chunk, chunks(addresses)))
    ]
    return replace_embedded(MixedAddresses(*map(np.concatenate, zip(*parts, strict=True))))


def of_family(addresses: MixedAddresses, family: int) -> tuple[I64, Addresses]:
    """Return the rows of a family, and their addresses."""
    rows = np.flatnonzero(addresses.family == family)
    low = addresses.low[rows]
    if family == 4:
        return rows, Addresses(low.astype(np.uint32))
    return rows, Addresses(low, addresses.high[rows])


def with_private(state: State, array: pa.Array, intervals: AddressIntervals) -> NDArray[np.int32]:
    """Return the interval ids of n addresses for ``State.take_own_rows``, of private ones too.

    ``intervals`` are of ``array``. It is not changed.
    """
    private = intervals.ids == PRIVATE_ID
    if not private.any():
        return intervals.ids
    ids = intervals.ids.copy()
    addresses = without_views(array).filter(pa.array(private))
    ids[private] = locate_chunk(state, addresses, with_private=True).ids
    return ids


def without_views(array: pa.Array) -> pa.Array:
    """Return an array that Arrow can filter and take from: it cannot from views."""
    if pa.types.is_string_view(array.type):
        return array.cast(_TEXT)
    return array.cast(pa.large_binary()) if pa.types.is_binary_view(array.type) else array


def _absent(array: pa.Array) -> NDArray[np.bool_]:
    absent: NDArray[np.bool_] = array.is_null().to_numpy(zero_copy_only=False)
    return absent


def _read(array: pa.Array) -> _Texts | MixedAddresses:
    reader = address_reader(array.type)
    # An array without rows may have no buffers.
    return reader(array) if len(array) else _read_nothing(array)


def _read_texts(array: pa.Array) -> _Texts:
    plain = without_views(array)
    width = np.int64 if pa.types.is_large_string(plain.type) else np.int32
    _, offsets, data = plain.buffers()
    # A sliced array begins at ``offset``: its first bound is that many items into the buffer.
    bounds = np.frombuffer(offsets, width, len(plain) + 1, plain.offset * np.dtype(width).itemsize)
    return _Texts(np.frombuffer(data or b"", np.uint8), bounds.astype(np.int64, copy=False))


def _read_numbers(array: pa.Array) -> MixedAddresses:
    lows = array.fill_null(0).to_numpy(zero_copy_only=False).astype(np.uint64)
    return MixedAddresses(np.full(len(lows), 4, np.uint8), np.zeros_like(lows), lows)


def _read_bytes(array: pa.Array) -> MixedAddresses:
    """Read addresses in network byte order: 4 bytes are IPv4, 16 are IPv6."""
    plain = array.cast(pa.large_binary())
    _, offsets, data = plain.buffers()
    bounds = np.frombuffer(offsets, np.int64, len(plain) + 1, plain.offset * 8)
    first, lengths = bounds[0], np.diff(bounds)
    used = np.frombuffer(data or b"", np.uint8)[first : bounds[-1]]
    padded = np.concatenate([used, np.zeros(16, np.uint8)])  # 16 bytes from every offset
    families = np.where(lengths == 4, 4, np.where(lengths == 16, 6, 0)).astype(np.uint8)
    # 16 bytes from the start of each address, as two numbers. Of IPv4 the first 4 bytes are the
    # upper 32 bits of the first number; the bytes after them belong to the next address.
    halves = padded[(bounds[:-1, None] - first) + np.arange(16)].view(">u8").astype(np.uint64)
    ipv4 = families == 4
    highs = np.where(ipv4, np.uint64(0), halves[:, 0])
    lows = np.where(ipv4, halves[:, 0] >> np.uint64(32), halves[:, 1])
    return MixedAddresses(families, highs, lows)


def _read_nothing(array: pa.Array) -> MixedAddresses:
    halves = np.zeros(len(array), np.uint64)
    return MixedAddresses(np.zeros(len(array), np.uint8), halves, halves)


def _is_bytes(kind: pa.DataType) -> bool:
    is_fixed = pa.types.is_fixed_size_binary(kind) and kind.byte_width in (4, 16)
    is_binary = pa.types.is_binary(kind) or pa.types.is_large_binary(kind)
    return bool(is_fixed or is_binary or pa.types.is_binary_view(kind))


def is_text(kind: pa.DataType) -> bool:
    """Return whether an Arrow type is one of text, not of a dictionary."""
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def address_reader(kind: pa.DataType) -> Callable[[pa.Array], _Texts | MixedAddresses]:
    """Return the reader of addresses of an Arrow type; TypeError for any other type."""
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if is_text(kind):
        return _read_texts
    if pa.types.is_uint32(kind):
        return _read_numbers
    if _is_bytes(kind):
        return _read_bytes
    if pa.types.is_null(kind):
        return _read_nothing
    types = "text, uint32 (IPv4), or binary of 4 or 16 bytes"
    raise TypeError(f"a column of {kind} holds no addresses; their type is {types}")


def clean_column(
    state: State, array: pa.Array, intervals: AddressIntervals
) -> tuple[pa.Array, AddressIntervals]:
    """Return a column of addresses after ``clean_text``, and the intervals of the clean addresses.

    ``intervals`` has the intervals of the column before. Columns of other types are returned
    unchanged. Only rows that the kernel refused are cleaned. Arrow matches the pattern of one
    address for all of them; ``clean_text`` cleans the distinct other texts, such as lists.
    """
    if not _holds_texts(array.type):
        return array, intervals
    refused = intervals.ids == INVALID_ID
    if not refused.any():
        return array, intervals
    rows = pa.array(refused)
    texts = without_dictionary(array).cast(_TEXT)
    addresses = _cleaned_texts(texts.filter(rows))
    again = locate_chunk(state, addresses)
    intervals.ids[refused], intervals.families[refused] = again.ids, again.families
    return pc.replace_with_mask(texts, rows, addresses), intervals


def _holds_texts(kind: pa.DataType) -> bool:
    return is_text(kind.value_type if pa.types.is_dictionary(kind) else kind)


def _cleaned_texts(texts: pa.Array) -> pa.Array:
    """Return the result of ``clean_text`` for each text, or another malformed text."""
    trimmed = pc.ascii_trim_whitespace(texts)
    nodes = _nodes(trimmed)
    other = pc.and_(nodes.is_null(), trimmed.is_valid())
    return pc.replace_with_mask(nodes, other, _one_by_one(trimmed.filter(other)))


def _nodes(texts: pa.Array) -> pa.Array:
    """Return the addresses of texts that are one node, null for other texts."""
    groups = pc.extract_regex(texts, NODE)
    parts = [pc.struct_field(groups, [at]) for at in range(groups.type.num_fields)]
    # A group that took no part is empty; so are the rows of other texts.
    addresses = pc.binary_join_element_wise(*parts, pa.scalar("", _TEXT))
    return pc.if_else(groups.is_valid(), addresses, pa.scalar(None, _TEXT)).cast(_TEXT)


def _one_by_one(texts: pa.Array) -> pa.Array:
    """Clean the distinct texts; a text that is not UTF-8 holds no address."""
    # Bytes: large_binary takes texts that are not UTF-8.
    distinct = texts.cast(pa.large_binary()).dictionary_encode()
    addresses = [
        clean_text(text.decode("ascii", "replace")) for text in distinct.dictionary.to_pylist()
    ]
    values = pa.array(addresses, _TEXT)
    return values.take(distinct.indices) if len(values) else pa.nulls(len(texts), _TEXT)
