"""Cells of a source to typed values, by what ``contract.fields`` says of their field.

Cells are dictionary-encoded, so only distinct values are cleaned. A value has one meaning in every
format: a whole number may be a float, as pandas and JSON write it. An invalid cell is null.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.fields import BOOLEAN, COUNTRY_ALIASES, LIMITS, REAL, TEXT, TEXTS, Field
from geolookup.contract.tzdatabase import zone_names
from geolookup.dataset.arrow_files import type_of
from geolookup.dataset.intervals import Bools
from geolookup_builder.reference.countries import Country, load_continents, load_countries
from geolookup_builder.vocabulary import NO_WORD, translate

#: "12.5", ".5", "5.", "1e3"; not "nan", "inf" or "0x1".
_FLOAT = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_INTEGER = r"^-?[0-9]{1,19}$"  # the digits of 64 bits
#: "AS64500" and "64500".
_ASN = r"^([Aa][Ss])?[0-9]{1,10}$"
#: "AS1.10" (asdot of RFC 5396), but not "AS1.0": most such texts are a float behind "AS".
_ASDOT = r"^[Aa][Ss](?P<high>[0-9]{1,5})\.(?P<low>[1-9][0-9]{0,4})$"
#: "BE", "DE-BE" and "11", but no name; GeoNames has codes such as "ESYE31" and "10630003".
_REGION = "^([A-Z]{2}-)?([A-Z0-9]{1,3}|[A-Z]{0,7}[0-9][A-Z0-9]{0,7})$"
#: Control characters but tab and line breaks: terminals obey them, and NUL ends texts in C.
_CONTROLS = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
_BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
# Typed: to infer the type of a Python value, Arrow looks for ``dateutil`` each time.
_EMPTY, _ZERO = pa.scalar("", pa.string()), pa.scalar(0.0, pa.float64())
_WIDE = pa.decimal128(19)
#: Floats below hold every integer.
_EXACT = pa.scalar(2.0**53, pa.float64())

#: Cells that mean nothing in many files. The generic formats read them as texts, unless a recipe
#: has them in ``empty``.
EMPTY_WORDS = frozenset(
    {r"\N", "-", "--", "?", "N/A", "n/a", "#N/A", "NULL", "Null", "null", "(null)"}
    | {"None", "none", "NaN", "nan"}
)


@dataclass(frozen=True, slots=True)
class Reference:
    """The tables that values are checked against."""

    countries: Mapping[str, Country]
    continents: Mapping[str, str]
    zones: Sequence[str]

    @property
    def aliases(self) -> dict[str, str]:
        """The codes that are read as another: UK as GB, unless the table has a country UK."""
        words = self.countries
        return {
            word: code
            for word, code in COUNTRY_ALIASES.items()
            if code in words and word not in words
        }


def load_reference(countries: Path | None = None) -> Reference:
    """Return the tables; ``countries`` replaces the packaged table of countries."""
    return Reference(load_countries(countries), load_continents(), sorted(zone_names()))


#: Takes cells that are not empty; an invalid one is null.
Cleaner = Callable[[pa.Array, Field, Reference], pa.Array]


def clean(field: Field, cells: pa.Array, reference: Reference) -> tuple[pa.Array, Bools]:
    """Clean the distinct cells (string array) of a field; also mark the invalid ones."""
    texts = pc.utf8_trim_whitespace(cells)
    texts = _only(texts, pc.not_equal(texts, _EMPTY))
    read, _ = _RULES[_kind(field)]
    values = read(texts, field, reference)
    invalid = pc.and_(pc.is_valid(texts), pc.is_null(values)).to_numpy(zero_copy_only=False)
    if (none := _NONE.get(_kind(field))) is not None:
        values = _only(values, pc.not_equal(values, pa.scalar(none, values.type)))
    return values, np.asarray(invalid, bool)


def _only(values: pa.Array, mask: pa.Array) -> pa.Array:
    """Return the values that a mask marks; the others are null."""
    return pc.if_else(mask, values, pa.scalar(None, values.type))


def _kind(field: Field) -> str:
    kind = "words" if field.words else field.check or field.type
    return kind if kind in _RULES else "integer"


def reason_of(field: Field) -> str:
    """Return the reason for an invalid value of a field: "is not an AS number"."""
    _, reason = _RULES[_kind(field)]
    if (field.least, field.most) == LIMITS["int64"]:
        return "is not an integer of 64 bits"
    if (field.least, field.most) == LIMITS[REAL]:
        return "is not a finite number"
    return reason.format(least=f"{field.least:g}", most=f"{field.most:g}")


def value_type(field: Field) -> pa.DataType:
    """Return the Arrow type of the cleaned values of a field; a list of texts is its JSON text."""
    return pa.string() if field.type == TEXTS else type_of(field)


def _text(cells: pa.Array, field: Field, _reference: Reference) -> pa.Array:
    if field.source_column == "postal_code":
        cells = _code(cells)
    return _only(cells, pc.invert(pc.match_substring_regex(cells, _CONTROLS)))


def _texts(cells: pa.Array, _field: Field, _reference: Reference) -> pa.Array:
    """Return lists as compact JSON texts: so equal lists are equal until the tables are written.

    A cell is a JSON list of texts, as Parquet and JSON lines have it, or texts separated by ``;``.
    Items are trimmed, and empty ones are dropped; a list without an item is unknown.
    """
    return pa.array(map(_compact, cells.to_pylist()), pa.string())


def _compact(cell: str | None) -> str | None:
    if cell is None:
        return None
    items = _items(cell) if cell.startswith("[") else cell.split(";")
    known = [item for item in map(str.strip, items or ()) if item]
    if items is None or any(re.search(_CONTROLS, item) for item in known):
        return None
    return json.dumps(known, ensure_ascii=False, separators=(",", ":"))


def lists(texts: pa.Array) -> pa.Array:
    """Return the lists that JSON texts hold."""
    return pa.array(
        (text and json.loads(text) for text in texts.to_pylist()), pa.list_(pa.string())
    )


def _items(text: str) -> list[str] | None:
    """Return the texts and numbers of a JSON list; None for any other text."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(values, list) or any(isinstance(value, list | dict) for value in values):
        return None
    known = (value for value in values if value is not None)
    items = [value if isinstance(value, str) else json.dumps(value) for value in known]
    return items if all(map(is_text, items)) else None


def is_text(text: str) -> bool:
    """Return whether a string of JSON has no lone surrogate: no column can hold one."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _region(cells: pa.Array, _field: Field, _reference: Reference) -> pa.Array:
    """Return codes of regions, perhaps behind a country; names are invalid."""
    upper = _code(pc.utf8_upper(cells))
    return _only(upper, pc.match_substring_regex(upper, _REGION))


def _code(cells: pa.Array) -> pa.Array:
    """Return codes with whole floats as integers: ``8064.0`` as ``8064``; ``0123`` stays."""
    return pc.replace_substring_regex(cells, r"^([0-9]+)\.0$", r"\1")


def _match(cells: pa.Array, field: Field, reference: Reference) -> pa.Array:
    """Return the values of words in any case."""
    three = {entry.country_code_iso3: code for code, entry in reference.countries.items()}
    three.pop(None, None)
    tables: dict[str, Mapping[str, object]] = {
        "continent": {code: code for code in reference.continents},
        "country": {**reference.aliases, **three, **{code: code for code in reference.countries}},
        BOOLEAN: _BOOLEANS,
    }
    words = tables[_kind(field)]
    # "nl" -> "NL": compared in lower case.
    lower = pa.array([word.lower() for word in words], pa.string())
    cells = whole_texts(cells) if field.type == BOOLEAN else cells
    return pa.array(words.values(), type_of(field)).take(pc.index_in(pc.utf8_lower(cells), lower))


def _zone(cells: pa.Array, _field: Field, reference: Reference) -> pa.Array:
    return _only(cells, pc.is_in(cells, pa.array(reference.zones, pa.string())))


def _real(cells: pa.Array, field: Field, _reference: Reference) -> pa.Array:
    numbers = _floats(cells)
    inside = _only(numbers, _between(numbers, field.least, field.most))
    return pc.add(inside, _ZERO)  # turns -0.0 into 0.0


def _between(numbers: pa.Array, least: float, most: float) -> pa.Array:
    """Return which numbers lie between two others, both included; not NaN."""
    lowest, highest = pa.scalar(least, numbers.type), pa.scalar(most, numbers.type)
    return pc.and_(pc.greater_equal(numbers, lowest), pc.less_equal(numbers, highest))


def _floats(cells: pa.Array) -> pa.Array:
    """Return decimal numbers; any other text is null, or a float that is not finite."""
    try:
        return cells.cast(pa.float64())
    except pa.ArrowInvalid:  # the error does not name the cell: find the numbers first (slower)
        return _only(cells, pc.match_substring_regex(cells, _FLOAT)).cast(pa.float64())


def _integer(cells: pa.Array, field: Field, _reference: Reference) -> pa.Array:
    numbers = _written(cells, _INTEGER, whole_texts)
    try:
        numbers = numbers.cast(pa.int64())
    except pa.ArrowInvalid:  # 19 digits can exceed 64 bits
        numbers = numbers.cast(_WIDE)
    least = _NONE.get(_kind(field), int(field.least))
    return _only(numbers, _between(numbers, least, int(field.most))).cast(type_of(field))


def whole_texts(cells: pa.Array) -> pa.Array:
    """Return the texts with whole floats as integers: ``5.0`` as ``5``, ``1e3`` as ``1000``."""
    numbers = _floats(cells)
    is_whole = pc.and_(pc.equal(pc.floor(numbers), numbers), pc.less(pc.abs(numbers), _EXACT))
    integers = _only(numbers, is_whole).cast(pa.int64())
    return pc.coalesce(integers.cast(pa.string()), cells)


def _asn(cells: pa.Array, field: Field, reference: Reference) -> pa.Array:
    digits = pc.replace_substring_regex(_written(cells, _ASN, _asplain), "^[Aa][Ss]", "")
    return _integer(digits, field, reference)


def _written(cells: pa.Array, pattern: str, rewrite: Callable[[pa.Array], pa.Array]) -> pa.Array:
    """Return the cells that a pattern matches, perhaps after ``rewrite``; the others are null."""
    is_written = pc.match_substring_regex(cells, pattern)
    if not pc.all(is_written).as_py():
        cells = rewrite(cells)
        is_written = pc.match_substring_regex(cells, pattern)
    return _only(cells, is_written)


def _asplain(cells: pa.Array) -> pa.Array:
    """Return whole floats as integers, numbers of two halves as one: ``AS1.10`` as ``65546``."""
    texts = whole_texts(cells)
    parts = pc.extract_regex(texts, _ASDOT)
    high, low = (pc.struct_field(parts, name).cast(pa.int64()) for name in ("high", "low"))
    number = pc.add(pc.shift_left(high, 16), low)
    fits = pc.and_(_between(high, 0, 0xFFFF), _between(low, 0, 0xFFFF))
    return pc.coalesce(_only(number, fits).cast(pa.string()), texts)


#: By the check of a field, or its type: how its cells are read, and why one is invalid.
_RULES: dict[str, tuple[Cleaner, str]] = {
    "continent": (_match, "is not a code of a continent"),
    "country": (_match, "is not a country code of ISO 3166-1"),
    "zone": (_zone, "is not a time zone of the IANA database"),
    "asn": (_asn, "is not an AS number"),
    "region": (_region, "is not the code of a region of its country"),
    "words": (translate, "is not a word of the vocabulary"),
    TEXT: (_text, "has control characters, or was a number that no float holds"),
    TEXTS: (_texts, "is not a JSON list of texts without control characters"),
    REAL: (_real, "is not a number from {least} to {most}"),
    "integer": (_integer, "is not an integer from {least} to {most}"),
    BOOLEAN: (_match, "is neither true nor false"),
}
#: The value that means "none". Several vendors write AS 0 (RFC 7607 reserves it).
_NONE: dict[str, Any] = {"asn": 0, "words": NO_WORD, TEXTS: "[]"}
