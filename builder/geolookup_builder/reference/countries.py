"""The reference tables of countries and continents, read from CSV.

The packaged ``countries.csv`` is used unless a recipe names another one. Its columns are the
fields of the country table, by the types of their entries. An invalid cell stops the build with
its line and the expected form. This needs the standard library only; the libraries of the
packaged table are used by ``generate``.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from geolookup.contract.fields import BOOLEAN, COUNTRY, REAL, TEXTS, in_table
from geolookup.contract.tzdatabase import rules, zone_names
from geolookup.errors import BuildError
from geolookup_builder.reference.csv_table import Row, read_table

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


def load_countries(path: Path | None = None) -> dict[str, Country]:
    """Return the countries by alpha-2 code, in the file's order; ``None``: the packaged table.

    Raises ``BuildError`` for the first error in the file.
    """
    return dict(_packaged_countries()) if path is None else _read_countries(path)


@cache
def _packaged_countries() -> dict[str, Country]:
    """Return the packaged table, read once in a process; callers get a copy."""
    return _read_countries(_HERE / "countries.csv")


def _read_countries(source: Path) -> dict[str, Country]:
    continents = load_continents()
    countries: dict[str, Country] = {}
    for line, row in read_table(source, COLUMNS):
        country = _country(source, line, row, continents)
        if country.country_code in countries:
            problem = f"{country.country_code} occurs twice"
            raise BuildError(source, problem, line=line, remedy="keep one row a country")
        countries[country.country_code] = country
    if not countries:
        raise BuildError(source, "no country in it", remedy="add a row for each country")
    return countries


def load_continents() -> dict[str, str]:
    """Return the English names of the seven continents by code."""
    return dict(_packaged_continents())


@cache
def _packaged_continents() -> dict[str, str]:
    rows = read_table(_HERE / "continents.csv", ("continent_code", "continent_name"))
    return {row["continent_code"]: row["continent_name"] for _, row in rows}


def load_time_zones() -> list[str]:
    """Return the names of the IANA time zones that lookups on this machine can answer, sorted."""
    return sorted(zone_names())


def _country(source: Path, line: int, row: Row, continents: dict[str, str]) -> Country:
    values = {column: _value(source, line, column, row[column]) for column in COLUMNS}
    continent = values["continent_code"]
    if continent is not None and continent not in continents:
        problem, remedy = f"unknown continent {continent!r}", f"write one of {' '.join(continents)}"
        raise BuildError(source, problem, line=line, remedy=remedy)
    return Country(continent_name=continents.get(continent), **values)


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
    is_zone = column != "time_zone" or rules(cell) is not None
    if (
        not is_zone
        or len({*words}) < len(words)
        or not all(re.fullmatch(pattern, w) for w in words)
    ):
        raise BuildError(source, f"bad {column} {cell!r}", line=line, remedy=f"write {form}")
    return tuple(words) if kind == TEXTS else _convert(cell, kind)


def _convert(cell: str, kind: str | None) -> object:
    if kind == BOOLEAN:
        return cell == "true"
    if kind == REAL:
        number = float(cell)
        # 1580.0 is written as 1580.
        return int(number) if number.is_integer() else number
    return int(cell) if kind == "int64" else cell
