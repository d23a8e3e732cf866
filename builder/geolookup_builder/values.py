"""Cells of a source to typed values: one cleaner for each field.

Cells are dictionary-encoded, so only distinct values are cleaned. A cleaner returns
typed values, null for unknown, and marks invalid ones. An invalid value nulls its layer
in its rows and is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.fields import DEGREES
from geolookup.dataset.intervals import Bools
from geolookup_builder.reference.tables import Country
from geolookup_builder.vocabulary import VOCABULARY, Words, translated

_FLOAT = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_ASN = r"^([Aa][Ss])?[0-9]{1,10}$"
# Of a stated type: to find that of a Python value, Arrow looks for ``dateutil`` each time.
_EMPTY, _NO_TEXT = (pa.scalar(text, pa.string()) for text in ("", None))
_ZERO, _NO_NUMBER = (pa.scalar(number, pa.float64()) for number in (0.0, None))
_ASN_MAX, _NO_INTEGER = (pa.scalar(number, pa.uint64()) for number in ((1 << 32) - 1, None))
_AS_0, _NO_ASN = (pa.scalar(number, pa.uint32()) for number in (0, None))


@dataclass(frozen=True, slots=True)
class Known:
    """The tables that values are checked against."""

    countries: Mapping[str, Country]
    continents: Mapping[str, str]
    zones: Sequence[str]


@dataclass(frozen=True, slots=True)
class Cleaned:
    """Distinct values of a field: typed, null for unknown, and which were invalid."""

    values: pa.Array
    invalid: Bools


Cleaner = Callable[[pa.Array, Known], Cleaned]


def clean(field: str, cells: pa.Array, known: Known) -> Cleaned:
    """Clean the distinct cells (string array) of a field."""
    trimmed = pc.utf8_trim_whitespace(cells)
    present = pc.if_else(pc.equal(trimmed, _EMPTY), _NO_TEXT, trimmed)
    return _CLEANERS.get(field, _text)(present, known)


def value_type(field: str) -> pa.DataType:
    """Return the Arrow type of a field's cleaned values."""
    if field in ("latitude", "longitude"):
        return pa.float64()
    return pa.uint32() if field == "asn" else pa.string()


def _text(cells: pa.Array, _known: Known) -> Cleaned:
    return Cleaned(cells, np.zeros(len(cells), bool))


def _listed(cells: pa.Array, words: Sequence[str]) -> Cleaned:
    """Return the words that are in a list, in any case, in the list's spelling."""
    found = pc.index_in(
        pc.utf8_lower(cells), pa.array([word.lower() for word in words], pa.string())
    )
    values = pa.array(words, pa.string()).take(found)
    return Cleaned(values, _lost(cells, values))


def _country(cells: pa.Array, known: Known) -> Cleaned:
    return _listed(cells, list(known.countries))


def _continent(cells: pa.Array, known: Known) -> Cleaned:
    return _listed(cells, list(known.continents))


def _zone(cells: pa.Array, known: Known) -> Cleaned:
    found = pc.is_in(cells, pa.array(known.zones, pa.string()))
    values = pc.if_else(found, cells, _NO_TEXT)
    return Cleaned(values, _lost(cells, values))


def _words(cells: pa.Array, _known: Known, *, words: Words) -> Cleaned:
    """Translate a vendor's words into those of the contract."""
    values, known = translated(cells, words)
    unknown = pc.and_not(pc.is_valid(cells), known)
    return Cleaned(values, np.asarray(unknown.to_numpy(zero_copy_only=False), bool))


def _degrees(cells: pa.Array, _known: Known, *, limit: float) -> Cleaned:
    degrees = _floats(cells)
    inside = pc.less_equal(pc.abs(degrees), pa.scalar(limit, pa.float64()))
    # Adding zero turns -0.0 into 0.0.
    values = pc.add(pc.if_else(inside, degrees, _NO_NUMBER), _ZERO)
    return Cleaned(values, _lost(cells, values))


def _floats(cells: pa.Array) -> pa.Array:
    """Return decimal numbers; any other text is null, or a float that is not finite."""
    try:
        return cells.cast(pa.float64())
    except pa.ArrowInvalid:  # it does not state the cell: find the numbers first, which is slower
        number = pc.match_substring_regex(cells, _FLOAT)
        return pc.if_else(number, cells, _NO_TEXT).cast(pa.float64())


def _asn(cells: pa.Array, _known: Known) -> Cleaned:
    number = pc.match_substring_regex(cells, _ASN)
    digits = pc.replace_substring_regex(cells, "^[Aa][Ss]", "")
    numbers = pc.if_else(number, digits, _NO_TEXT).cast(pa.uint64())
    fits = pc.less_equal(numbers, _ASN_MAX)
    values = pc.if_else(fits, numbers, _NO_INTEGER).cast(pa.uint32())
    invalid = _lost(cells, values)
    # Several vendors write AS 0 for "none" (RFC 7607 reserves it).
    return Cleaned(pc.if_else(pc.equal(values, _AS_0), _NO_ASN, values), invalid)


def _lost(cells: pa.Array, values: pa.Array) -> Bools:
    lost = pc.and_(pc.is_valid(cells), pc.is_null(values))
    return np.asarray(lost.to_numpy(zero_copy_only=False), bool)


_CLEANERS: dict[str, Cleaner] = {
    "continent_code": _continent,
    "country_code": _country,
    "latitude": partial(_degrees, limit=DEGREES["latitude"]),
    "longitude": partial(_degrees, limit=DEGREES["longitude"]),
    "time_zone": _zone,
    "asn": _asn,
    **{field: partial(_words, words=words) for field, words in VOCABULARY.items()},
}
