"""Dictionary-encoded columns: changes made on their distinct values, and columns made from others.

Formats use these to translate a vendor's words. A null is "unknown". ``Cells`` is how in-house
files write theirs, ``[source.cells]``: words for nothing, decimal commas, netmasks.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Network, IPv6Network

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.recipe.table import Table
from geolookup_builder.sources.reading.text import prefix_texts

#: The option of a source.
OPTION = "cells"
#: The length of a prefix by its netmask, of both families.
LENGTHS = {
    str(network((0, length)).netmask): str(length)
    for network, bits in ((IPv6Network, 128), (IPv4Network, 32))
    for length in range(bits + 1)
}
#: A prefix whose length is written as an address: 10.0.0.0/255.255.0.0.
_MASKED = r"^(?P<address>[^/]*)/(?P<netmask>[^/]*[.:][^/]*)$"


def translate(column: pa.DictionaryArray, names: Mapping[str, str | None]) -> pa.DictionaryArray:
    """Return the column with each key of ``names`` (exactly) replaced by its value; None: null."""
    values = column.dictionary.cast(pa.string())
    at = pc.index_in(values, pa.array(list(names), pa.string()))
    translations = pa.array(list(names.values()), pa.string()).take(at)
    return with_values(column, pc.if_else(pc.is_valid(at), translations, values))


def with_values(column: pa.DictionaryArray, values: pa.Array) -> pa.DictionaryArray:
    """Return the column with other distinct values, one for one; values may be null."""
    return pa.DictionaryArray.from_arrays(column.indices, values)


def trim(column: pa.DictionaryArray) -> pa.DictionaryArray:
    """Return the column without blanks around its values; a value of only blanks is null."""
    values = column.dictionary.cast(pa.string())
    bare = pc.utf8_trim_whitespace(values)
    return column if bare.equals(values) else translate(with_values(column, bare), {"": None})


def constant(value: str, size: int) -> pa.DictionaryArray:
    """Return a column of ``size`` rows with one value."""
    indices = pa.repeat(pa.scalar(0, pa.int32()), size)
    return pa.DictionaryArray.from_arrays(indices, pa.array([value], pa.string()))


def take(values: pa.Array, rows: pa.Array) -> pa.DictionaryArray:
    """Return ``values`` (many texts) at ``rows``; these may be null, and dictionary-encoded.

    The dictionary holds only what these rows use: each of its values is
    cleaned in every batch.
    """
    # Rows 5 5 9: the values 5 and 9 are taken once each.
    codes = rows.dictionary_encode()
    distinct = values.take(codes.dictionary).dictionary_encode()
    return pa.DictionaryArray.from_arrays(distinct.indices.take(codes.indices), distinct.dictionary)


def first_known(*columns: pa.DictionaryArray) -> pa.DictionaryArray:
    """Return, row by row, the first value that is neither null nor empty."""
    texts = [column.dictionary.cast(pa.string()).take(column.indices) for column in columns]
    values = [
        pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column) for column in texts
    ]
    return pc.coalesce(*values).dictionary_encode()


def mark(column: pa.DictionaryArray, rows: pa.Array, word: str) -> pa.DictionaryArray:
    """Return the column with ``word`` in the rows that are true."""
    values = pa.concat_arrays([column.dictionary.cast(pa.string()), pa.array([word])])
    # The word is the last value.
    index = pa.scalar(len(values) - 1, column.indices.type)
    return pa.DictionaryArray.from_arrays(pc.if_else(rows, index, column.indices), values)


def without_rows(column: pa.DictionaryArray, rows: pa.BooleanArray) -> pa.DictionaryArray:
    """Return the column with null in the rows that are true."""
    indices = pc.if_else(rows, pa.scalar(None, pa.int32()), column.indices)
    return pa.DictionaryArray.from_arrays(indices, column.dictionary)


class Cells:
    """The option ``cells`` of a source; ``emptied`` are counts of cells without a value, by word.

    Threads append to it, each for its batch.

    Raises BuildError for a malformed option.
    """

    def __init__(self, spec: SourceSpec) -> None:
        table = Table(spec.recipe, "source", spec.options)
        cells = table.table(OPTION, "empty", "decimal", "netmasks")
        words = cells.values.get("empty", [])
        if not isinstance(words, list) or not all(isinstance(w, str) and w.strip() for w in words):
            cells.refuse("empty", "is not a list of words", 'write empty = ["N/A", "-"]')
        self._empty = [word.strip() for word in words]
        decimal = cells.values.get("decimal", ".")
        if decimal not in (".", ","):
            cells.refuse("decimal", f"is {decimal!r}", 'write decimal = ","')
        self.has_commas = decimal == ","
        self.has_netmasks = cells.switch("netmasks")
        self.emptied = list[Mapping[str, int]]()

    def read(self, column: pa.DictionaryArray, *, is_real: bool) -> pa.DictionaryArray:
        """Return a column as other files would state it; ``is_real``: of real numbers in texts."""
        if self._empty:
            column = self._without_words(column)
        return _with_points(column) if is_real and self.has_commas else column

    def _without_words(self, column: pa.DictionaryArray) -> pa.DictionaryArray:
        words = pc.index_in(column.dictionary.cast(pa.string()), pa.array(self._empty, pa.string()))
        if words.null_count == len(words):
            return column
        of_rows = words.take(column.indices).drop_null()
        counts = np.bincount(of_rows.to_numpy(), minlength=len(self._empty)).tolist()
        self.emptied.append(dict(zip(self._empty, counts, strict=True)))
        return translate(column, dict.fromkeys(self._empty))

    def network(self, column: pa.Array) -> pa.Array:
        """Return networks with lengths for netmasks."""
        is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        if not is_text:
            return column
        parts = pc.extract_regex(column, _MASKED)
        address, netmask = (pc.struct_field(parts, name) for name in ("address", "netmask"))
        return pc.coalesce(masked_networks(address, netmask), column.cast(pa.large_string()))


def masked_networks(addresses: pa.Array, netmasks: pa.Array) -> pa.Array:
    """Return 10.0.0.0/16 for 10.0.0.0 and 255.255.0.0; another netmask stays, to be refused."""
    words = trim(netmasks.cast(pa.string()).dictionary_encode())
    lengths = translate(words, LENGTHS).dictionary_decode().cast(pa.large_string())
    return prefix_texts(addresses.cast(pa.large_string()), lengths)


def _with_points(column: pa.DictionaryArray) -> pa.DictionaryArray:
    """Return numbers with points for commas; one with a point may be 1.234: it becomes invalid."""
    texts = column.dictionary.cast(pa.string())
    has_point = pc.match_substring(texts, ".")
    refused = pc.binary_join_element_wise(texts, "with a decimal point", " ")
    return with_values(
        column, pc.if_else(has_point, refused, pc.replace_substring(texts, ",", "."))
    )
