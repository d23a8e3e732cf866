"""Address columns of every kind to interval ids, through the kernel; with ``clean`` also texts."""

from __future__ import annotations

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


def column_of(values: pa.Array | pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of the storage type."""
    column = values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
    if isinstance(column.type, pa.BaseExtensionType):
        kind = column.type.storage_type
        return pa.chunked_array([chunk.storage for chunk in column.chunks], kind)
    return column


def locate_chunk(state: State, array: pa.Array, *, with_private: bool = False) -> AddressIntervals:
    """Locate one array of addresses; ``kernel.python_state.State`` describes ``with_private``.

    Raises TypeError for a type that holds no addresses. Null is an invalid address.
    """
    if pa.types.is_dictionary(array.type):
        return _of_dictionary(state, array, with_private=with_private)
    ids = np.empty(len(array), np.int32)
    if is_text(array.type):
        families = np.empty(len(array), np.uint8)
        state.locate_texts(*_bytes_of(array), ids, families, with_private)
    else:
        numbers = _numbers_of(array)
        families = numbers.family
        state.locate_numbers(families, numbers.high, numbers.low, ids, with_private)
    if array.null_count:
        absent = array.is_null().to_numpy(zero_copy_only=False)
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
    if is_text(array.type):
        data, bounds = _bytes_of(array)
        numbers = parse(data, bounds[:-1], np.diff(bounds))
    else:
        numbers = _numbers_of(array)
    numbers.family[array.is_null().to_numpy(zero_copy_only=False)] = 0
    return numbers


def parse_column(column: pa.ChunkedArray) -> MixedAddresses:
    """Return the addresses of a column; family 0 of a value that is not an address.

    An address that carries an IPv4 address is replaced by it. Raises TypeError if the type of the
    column holds no addresses.
    """
    addresses = column_of(column)
    batches = pa.table([addresses], ["addresses"]).to_batches(CHUNK)
    arrays = [pa.nulls(0, addresses.type), *(batch.column(0) for batch in batches)]
    parts = [(part.family, part.high, part.low) for part in map(parse_chunk, arrays)]
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


def _bytes_of(array: pa.Array) -> tuple[U8, I64]:
    """Return the bytes of n texts or binaries, and their bounds: ``data[bounds[i]:bounds[i+1]]``.

    Not a cast: Arrow's from a slice also converts the bounds before the slice.
    """
    plain = without_views(array)
    begin, count = plain.offset, len(plain) + 1
    *_, offsets, data = plain.buffers()
    if pa.types.is_fixed_size_binary(plain.type):
        bounds = np.arange(begin, begin + count, dtype=np.int64) * plain.type.byte_width
    elif len(plain):
        width = np.dtype("i8" if plain.type in (_TEXT, pa.large_binary()) else "i4")
        bounds = np.frombuffer(offsets, width, count, begin * width.itemsize)
    else:  # there may be no buffers
        bounds = np.zeros(1, np.int64)
    return np.frombuffer(data or b"", np.uint8), bounds.astype(np.int64, copy=False)


def _numbers_of(array: pa.Array) -> MixedAddresses:
    """Return addresses that are not texts as numbers; bytes are in network byte order."""
    check_type(array.type)
    if pa.types.is_uint32(array.type) or pa.types.is_null(array.type):
        numbers = array.cast(pa.uint32()).fill_null(0).to_numpy(zero_copy_only=False)
        lows = numbers.astype(np.uint64)
        return MixedAddresses(np.full(len(lows), 4, np.uint8), np.zeros_like(lows), lows)
    data, bounds = _bytes_of(array)
    lengths = np.diff(bounds)
    families = np.where(lengths == 4, 4, np.where(lengths == 16, 6, 0)).astype(np.uint8)
    # 16 bytes from the start of each address, as two numbers. Of IPv4 the first 4 bytes are the
    # upper 32 bits of the first number; the bytes after them belong to the next address.
    padded = np.concatenate([data[bounds[0] : bounds[-1]], np.zeros(16, np.uint8)])
    starts = bounds[:-1, None] - bounds[0]
    halves = padded[starts + np.arange(16)].view(">u8").astype(np.uint64)
    ipv4 = families == 4
    highs = np.where(ipv4, np.uint64(0), halves[:, 0])
    lows = np.where(ipv4, halves[:, 0] >> np.uint64(32), halves[:, 1])
    return MixedAddresses(families, highs, lows)


def _is_bytes(kind: pa.DataType) -> bool:
    is_fixed = pa.types.is_fixed_size_binary(kind) and kind.byte_width in (4, 16)
    is_binary = pa.types.is_binary(kind) or pa.types.is_large_binary(kind)
    return bool(is_fixed or is_binary or pa.types.is_binary_view(kind))


def is_text(kind: pa.DataType) -> bool:
    """Return whether an Arrow type is one of text, not of a dictionary."""
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _values_type(kind: pa.DataType) -> pa.DataType:
    """Return the type of the values of an extension type or a dictionary."""
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def check_type(kind: pa.DataType) -> None:
    """Raise TypeError for an Arrow type that holds no addresses."""
    kind = _values_type(kind)
    is_number = pa.types.is_uint32(kind) or pa.types.is_null(kind)
    if not (is_text(kind) or is_number or _is_bytes(kind)):
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
    refused = intervals.ids == INVALID_ID
    if not is_text(_values_type(array.type)) or not refused.any():
        return array, intervals
    rows, texts = pa.array(refused), without_views(without_dictionary(array))
    addresses = _cleaned_texts(texts.filter(rows).cast(_TEXT))
    again = locate_chunk(state, addresses)
    intervals.ids[refused], intervals.families[refused] = again.ids, again.families
    return pc.replace_with_mask(texts, rows, addresses.cast(texts.type)), intervals


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
