"""Columns of texts with more than the address: rows without one are cleaned and located again.

Strategy: only rows that the kernel refused are cleaned. Arrow matches the pattern of one address
for all of them; the function of ``contract.cleaning`` cleans the distinct texts that remain,
such as lists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.cleaning import NODE, clean_text
from geolookup.kernel.columns import INVALID_ID
from geolookup.tables.locate import Located, is_text, locate_chunk

if TYPE_CHECKING:
    from geolookup.kernel.protocol import Locator

_TEXT = pa.large_string()


def cleaned(locator: Locator, array: pa.Array, located: Located) -> tuple[pa.Array, Located]:
    """Return a column of addresses as ``clean_text`` leaves it, and where they are.

    ``located`` is where the column's own values are. Columns that are no text stay as they are.
    """
    if not _is_text(array.type):
        return array, located
    refused = located.ids == INVALID_ID
    if not refused.any():
        return array, located
    rows = pa.array(refused)
    texts = (array.dictionary_decode() if pa.types.is_dictionary(array.type) else array).cast(_TEXT)
    found = _cleaned_texts(texts.filter(rows))
    again = locate_chunk(locator, found)
    located.ids[refused], located.families[refused] = again.ids, again.families
    return pc.replace_with_mask(texts, rows, found), located


def _is_text(kind: pa.DataType) -> bool:
    return _is_text(kind.value_type) if pa.types.is_dictionary(kind) else is_text(kind)


def _cleaned_texts(texts: pa.Array) -> pa.Array:
    """Return what ``clean_text`` returns for each text, or a text that is as malformed."""
    trimmed = pc.ascii_trim_whitespace(texts)
    nodes = _nodes(trimmed)
    other = pc.and_(nodes.is_null(), trimmed.is_valid())
    return pc.replace_with_mask(nodes, other, _one_by_one(trimmed.filter(other)))


def _nodes(texts: pa.Array) -> pa.Array:
    """Return the addresses of texts that are one node, null elsewhere."""
    groups = pc.extract_regex(texts, NODE)
    parts = [pc.struct_field(groups, [at]) for at in range(groups.type.num_fields)]
    # A group that took no part is empty; so are the rows of other texts.
    found = pc.binary_join_element_wise(*parts, pa.scalar("", _TEXT))
    return pc.if_else(groups.is_valid(), found, pa.scalar(None, _TEXT)).cast(_TEXT)


def _one_by_one(texts: pa.Array) -> pa.Array:
    """Clean the distinct texts; texts that are not UTF-8 hold no address."""
    distinct = texts.cast(pa.large_binary()).dictionary_encode()
    found = [
        clean_text(each.decode("ascii", "replace")) for each in distinct.dictionary.to_pylist()
    ]
    values = pa.array(found, _TEXT)
    return values.take(distinct.indices) if len(values) else pa.nulls(len(texts), _TEXT)
