"""What vendors write for "unknown", and what several formats do with fields.

Each is written down once, for CSV, JSON, Parquet and MMDB alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from geolookup_builder.sources.reading.dictionary_columns import with_values, without_rows
from geolookup_builder.sources.reading.products import (
    Fields,
    Offer,
    Offers,
    Product,
    flag,
    stated,
    words,
)

#: A code, in columns that hold names in some editions of a file.
ALPHA2 = "[A-Za-z]{2}"
#: The code of a region, perhaps behind its country, in columns that hold names in some files.
REGION_CODE = "([A-Z]{2}-)?[A-Z0-9]{1,3}"
#: Why the products of a vendor that locate nothing are refused.
NO_FIELD = "no field of a dataset holds its values"
# 0, -0, +0.000 and " 0. ".
_ZERO = r"^ *[+-]?0+(\.0*)? *$"
_COORDINATES = ("latitude", "longitude")
_NOTHING = pa.scalar(None, pa.string())


def known(*columns: str, missing: str = "-", form: str = "") -> Offer:
    """Return the offer of a column in which cells that match ``missing`` are unknown.

    So are, if it is given, those that do not match ``form``. Both are patterns of whole cells.
    """

    def read(cells: pa.DictionaryArray) -> pa.DictionaryArray:
        texts = cells.dictionary.cast(pa.string())
        is_known = pc.invert(pc.match_substring_regex(texts, f"^(?:{missing})$"))
        if form:
            is_known = pc.and_(is_known, pc.match_substring_regex(texts, f"^(?:{form})$"))
        return with_values(cells, pc.if_else(is_known, texts, _NOTHING))

    return Offer(columns, read)


def offers(
    table: str, offer: Callable[..., Offer] = stated, below: str = ""
) -> dict[str, tuple[Offer, ...]]:
    """Return the offers that a table states in words: ``asn=number|as city=town,place domain``.

    Here ``asn`` is read from ``number``, or from ``as`` if a file lacks that; ``city`` row by row
    from the first of two columns with a value; ``domain`` from the column of its name. Of
    ``a=b? c=d?word e='word'``, ``b`` is a flag that is false if blank, ``c`` is a word where the
    flag ``d`` is true, and ``e`` is a word in all rows. ``offer`` makes the offers of other
    columns, ``below`` is the beginning of all columns.
    """

    def parsed(source: str) -> Offer:
        columns, mark, word = source.partition("?")
        names = [below + column for column in columns.split("|")]
        if source.startswith("'"):
            return Offer(constant=source.strip("'"))
        if word:
            return words(names[0], {"true": word, "1": word, "false": None, "0": None})
        return flag(*names) if mark else offer(*names)

    entries = (word.partition("=") for word in table.split())
    return {name: tuple(map(parsed, (sources or name).split(","))) for name, _, sources in entries}


def product(
    name: str,
    marks: str,
    *values: str | Mapping[str, Offers],
    ranges: tuple[tuple[str, ...], ...],
    unread: str = "",
    **more: Any,
) -> Product:
    """Return a product by texts: columns, and ``values`` as for ``offers``; later ones win.

    ``;`` separates alternatives of ``marks``. ``more`` are further members of the product.
    """
    tables = (offers(part) if isinstance(part, str) else part for part in values)
    fields = {field: offer for table in tables for field, offer in table.items()}
    sets = tuple(frozenset(columns.split()) for columns in marks.split(";"))
    return Product(name, ranges, fields, tuple(unread.split()), sets, **more)


def located(_rows: pa.RecordBatch, fields: Fields) -> Fields:
    """Return the fields without coordinates of 0,0: most vendors write them for "unknown"."""
    if not all(name in fields for name in _COORDINATES):
        return fields
    is_zero = (
        pc.match_substring_regex(column.dictionary, _ZERO).take(column.indices).fill_null(False)
        for column in map(fields.__getitem__, _COORDINATES)
    )
    origin = pc.and_(*is_zero)
    return {**fields, **{name: without_rows(fields[name], origin) for name in _COORDINATES}}
