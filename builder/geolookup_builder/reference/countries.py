"""The reference tables of countries and continents, read from CSV.

The packaged ``countries.csv`` is used unless a recipe names another one. Its columns are the
fields of the country table, by the types of their entries. An invalid cell stops the build with
its line and the expected form.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from geolookup.contract.fields import BOOLEAN, COUNTRY, REAL, TEXTS, in_table
from geolookup.contract.tzdatabase import zone_file
from geolookup.errors import BuildError
from geolookup_builder.reference import read_table

_HERE = Path(__file__).parent
_REGIONAL_INDICATOR_A = 0x1F1E6
_TYPES = {field.column: field.type for field in in_table(COUNTRY)}
#: continents.csv states the names of continents; the flag follows from the code.
_DERIVED = ("continent_name", "country_flag_emoji")
COLUMNS = (*(name for name in _TYPES if name not in _DERIVED), "time_zone")


class Country(SimpleNamespace):
    """One country, with an attribute for each column of ``COLUMNS`` and ``continent_name``.

    None is unknown, an empty tuple means no neighbours. ``country_calling_code`` is the E.164
    country code only (``+1`` for the whole North American plan, ``+44`` for Guernsey);
    ``time_zone`` is set if the country has a single zone.
    """

    @property
    def country_flag_emoji(self) -> str:
        """The flag: the country code in Unicode's regional indicator symbols."""
        # "SE" -> U+1F1F8 U+1F1EA.
        return "".join(chr(_REGIONAL_INDICATOR_A + ord(c) - ord("A")) for c in self.country_code)


def load_countries(path: Path | None = None) -> Mapping[str, Country]:
    """Return the countries by alpha-2 code, in the file's order; ``None``: the packaged table.

    Raises ``BuildError`` for the first error in the file.
    """
    return _packaged_countries() if path is None else _read_countries(path)


@cache
def _packaged_countries() -> Mapping[str, Country]:
    return _read_countries(_HERE / "countries.csv")


def _read_countries(source: Path) -> Mapping[str, Country]:
    continents = load_continents()
    countries: dict[str, Country] = {}
    for line, row in read_table(source, COLUMNS):
        values = {column: _value(source, line, column, row[column]) for column in COLUMNS}
        code, continent = values["country_code"], values["continent_code"]
        if continent not in (None, *continents):
            problem = f"unknown continent {continent!r}"
            remedy = f"write one of {' '.join(continents)}"
            raise BuildError(source, problem, line=line, remedy=remedy)
        if code in countries:
            raise BuildError(source, f"{code} occurs twice", line=line, remedy="keep one row of it")
        countries[code] = Country(continent_name=continents.get(continent), **values)
    if not countries:
        raise BuildError(source, "no country in it", remedy="add a row for each country")
    return countries


@cache
def load_continents() -> Mapping[str, str]:
    """Return the English names of the seven continents by code."""
    rows = read_table(_HERE / "continents.csv", ("continent_code", "continent_name"))
    return {row["continent_code"]: row["continent_name"] for _, row in rows}


#: The pattern of the cells of a column, or of the words in a list, and the form that a remedy
#: states. Any text is a name.
_FORMS = {
    "country_code": ("[A-Z]{2}", "two capital letters"),
    "country_code_iso3": ("[A-Z]{3}", "three capital letters"),
    "country_tld": (r"\.[a-z][a-z0-9-]*", "a domain such as .se"),
    "country_calling_code": (r"\+[1-9][0-9]{0,6}", "digits after a plus, such as +46"),
    "country_languages": ("[a-z]{2,3}", "distinct codes with one space between: de fr"),
    # At most 15 digits in all: a float represents them exactly.
    "country_area_km2": (r"[0-9]{1,9}(\.[0-9]{1,6})?", "a plain number such as 1580 or 0.44"),
    "country_population": ("[0-9]{1,12}", "a plain whole number"),
    "country_neighbors": ("[A-Z]{2}", "distinct codes with one space between: NO FI"),
    "country_is_eu": ("true|false", "true, false or nothing"),
    "currency_code": ("[A-Z]{3}", "three capital letters"),
    "time_zone": (".*", "a zone of the IANA database such as Europe/Paris"),
}
#: Columns whose empty cell is a value, or an error.
_NEVER_UNKNOWN = ("country_code", "country_neighbors")


def _value(source: Path, line: int, column: str, cell: str) -> Any:
    if not cell and column not in _NEVER_UNKNOWN:
        return None
    pattern, form = _FORMS.get(column, (".*", ""))
    kind = _TYPES.get(column)
    # An empty cell of neighbours is an island: no words, where "".split(" ") has one empty word.
    words = (cell.split(" ") if cell else []) if kind == TEXTS else [cell]
    is_form = len({*words}) == len(words) and all(re.fullmatch(pattern, word) for word in words)
    if not is_form or (column == "time_zone" and zone_file(cell) is None):
        raise BuildError(source, f"bad {column} {cell!r}", line=line, remedy=f"write {form}")
    if kind == REAL:
        number = float(cell)
        # 1580.0 is written as 1580.
        return int(number) if number.is_integer() else number
    if kind == BOOLEAN:
        return cell == "true"
    return tuple(words) if kind == TEXTS else int(cell) if kind == "int64" else cell
