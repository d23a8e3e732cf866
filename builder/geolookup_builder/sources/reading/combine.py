"""Cells made of several columns: the first known one, or what a keyed table holds for them."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from geolookup_builder.sources.reading.dictionary_cells import Cells


def first_known(*columns: Cells) -> Cells:
    """Return, row by row, the first cell that is not empty."""
    texts = [each.dictionary.cast(pa.string()).take(each.indices) for each in columns]
    filled = [pc.if_else(pc.equal(each, ""), pa.scalar(None, pa.string()), each) for each in texts]
    return pc.coalesce(*filled).dictionary_encode()


def at(places: pa.Array, column: pa.Array) -> Cells:
    """Return the cells at ``places`` (null: nothing known) of a long column of texts.

    The dictionary holds what these rows use and no more, for each of its
    values is cleaned in every batch.
    """
    used = places.dictionary_encode()
    values = column.take(used.dictionary).dictionary_encode()
    return pa.DictionaryArray.from_arrays(values.indices.take(used.indices), values.dictionary)


def marked(cells: Cells, rows: pa.Array, word: str) -> Cells:
    """Return the cells with ``word`` in the rows that are true."""
    values = pa.concat_arrays([cells.dictionary.cast(pa.string()), pa.array([word])])
    added = pa.scalar(len(values) - 1, cells.indices.type)
    return pa.DictionaryArray.from_arrays(pc.if_else(rows, added, cells.indices), values)
