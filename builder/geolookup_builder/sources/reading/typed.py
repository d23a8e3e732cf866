"""Typed columns (of JSON, of Parquet) to the texts that readers of CSV see."""

from __future__ import annotations

import pyarrow as pa

from geolookup_builder.sources.reading.layout import Layout


def as_texts(rows: pa.Table, layout: Layout) -> pa.RecordBatch:
    """Return the columns of ``layout``: texts as they are, the others dictionary-encoded.

    Columns that are not there are null throughout. Raises ArrowInvalid for
    texts that are not UTF-8.
    """
    columns = {}
    for name in sorted(layout.texts | layout.wanted):
        column = pa.nulls(len(rows), pa.string())
        if name in rows.schema.names:
            column = rows.column(name).cast(pa.large_string()).combine_chunks()
            column.validate(full=True)
        plain = name in layout.texts
        columns[name] = column.cast(pa.large_string()) if plain else _encoded(column)
    return pa.RecordBatch.from_pydict(columns)


def _encoded(column: pa.Array) -> pa.DictionaryArray:
    encoded = column.dictionary_encode()
    return pa.DictionaryArray.from_arrays(encoded.indices, encoded.dictionary.cast(pa.string()))
