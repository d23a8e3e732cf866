"""What vendors write for "unknown", and the changes to fields that several formats share.

Each is written down once, for CSV, JSON, Parquet and MMDB alike.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from geolookup_builder.sources.reading.dictionary_columns import (
    with_values,
    without_null_island,
)
from geolookup_builder.sources.reading.products import Fields, Offer

#: IP2Location writes an offset with summer time: it identifies no time zone.
OFFSET = "[+-][0-9]{2}:[0-9]{2}"
#: A code, in columns that hold names in some editions of a file.
ALPHA2 = "[A-Za-z]{2}"
#: Why the products of a vendor that locate nothing are refused.
NO_FIELD = "no field of a dataset holds its values"
_NOTHING = pa.scalar(None, pa.string())


def known(*columns: str, missing: str = "-", form: str = "") -> Offer:
    """Return the offer of a column in which cells that match ``missing`` are unknown.

    So are, if it is given, those that do not match ``form``. Both are patterns of whole cells.
    """

    def read(cells: pa.DictionaryArray) -> pa.DictionaryArray:
        texts = cells.dictionary.cast(pa.string())
        is_unknown = pc.match_substring_regex(texts, f"^(?:{missing})$")
        if form:
            is_unknown = pc.or_(
                is_unknown, pc.invert(pc.match_substring_regex(texts, f"^(?:{form})$"))
            )
        return with_values(cells, pc.if_else(is_unknown, _NOTHING, texts))

    return Offer(columns, read)


def located(_rows: pa.RecordBatch, fields: Fields) -> Fields:
    """Return the fields without coordinates of 0,0: most vendors write them for "unknown"."""
    return without_null_island(fields)


def registered(fields: Fields, countries: pa.DictionaryArray) -> Fields:
    """Return the fields, with the country of registration in rows without a location.

    MaxMind's rows without a location have no continent either.
    """
    country, continent = fields["country_code"], fields["continent_code"]
    lacks_location = pc.and_(pc.is_null(country), pc.is_null(continent))
    texts = pc.if_else(lacks_location, countries.cast(pa.string()), country.cast(pa.string()))
    return {**fields, "country_code": texts.dictionary_encode()}
