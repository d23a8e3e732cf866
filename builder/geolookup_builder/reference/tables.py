"""The reference tables of countries and continents, read from CSV.

The packaged ``countries.csv`` is used unless a recipe names another one. Each column has a
parser; an invalid cell stops the build with its line and what to write instead. This needs
the standard library only; the libraries of the packaged table are used by ``generate``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from geolookup.contract.tzdatabase import rules, zone_names
from geolookup.errors import BuildError
from geolookup_builder.reference.csv_table import Row, read_table

if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.resources.abc import Traversable
    from pathlib import Path

REGIONAL_INDICATOR_A = 0x1F1E6


@dataclass(frozen=True, slots=True)
class Country:
    """One country; ``None`` is unknown, an empty tuple means no neighbours.

    ``country_calling_code`` is the E.164 country code alone (``+1`` for the whole North American
    plan, ``+44`` for Guernsey); ``time_zone`` is set where the country has a single zone.
    """

    continent_code: str | None
    continent_name: str | None
    country_code: str
    country_code_iso3: str | None
    country_name: str | None
    country_capital: str | None
    country_tld: str | None
    country_calling_code: str | None
    country_languages: tuple[str, ...] | None
    country_area_km2: int | float | None
    country_population: int | None
    country_neighbors: tuple[str, ...]
    country_is_eu: bool | None
    currency_code: str | None
    currency_name: str | None
    currency_symbol: str | None
    time_zone: str | None

    @property
    def country_flag_emoji(self) -> str:
        """The flag: the country code in Unicode's regional indicator symbols."""
        return "".join(chr(REGIONAL_INDICATOR_A + ord(c) - ord("A")) for c in self.country_code)


# continents.csv states the names of continents.
COLUMNS = tuple(field.name for field in fields(Country) if field.name != "continent_name")


def load_countries(path: Path | None = None) -> dict[str, Country]:
    """Return the countries by alpha-2 code, in the file's order; ``None``: the packaged table.

    Raises ``BuildError`` for the first error in the file.
    """
    return dict(_packaged_countries()) if path is None else _read_countries(path)


@cache
def _packaged_countries() -> dict[str, Country]:
    """Return what is read once in a process; callers get a copy."""
    return _read_countries(_packaged("countries.csv"))


def _read_countries(source: Path | Traversable) -> dict[str, Country]:
    continents = load_continents()
    countries: dict[str, Country] = {}
    for line, row in read_table(source, COLUMNS):
        country = _country(source, line, row, continents)
        if country.country_code in countries:
            problem = f"{country.country_code} is stated twice"
            raise BuildError(str(source), problem, line=line, remedy="keep one row a country")
        countries[country.country_code] = country
    if not countries:
        raise BuildError(str(source), "no country in it", remedy="add a row for each country")
    return countries


def load_continents() -> dict[str, str]:
    """Return the English names of the seven continents by code."""
    return dict(_packaged_continents())


@cache
def _packaged_continents() -> dict[str, str]:
    rows = read_table(_packaged("continents.csv"), ("continent_code", "continent_name"))
    return {row["continent_code"]: row["continent_name"] for _, row in rows}


def load_time_zones() -> list[str]:
    """Return the names of the IANA time zones that lookups on this machine can answer, sorted."""
    return sorted(zone_names())


def _packaged(name: str) -> Traversable:
    return files("geolookup_builder.reference").joinpath(name)


def _country(
    source: Path | Traversable, line: int, row: Row, continents: dict[str, str]
) -> Country:
    values = {column: _value(source, line, column, row[column]) for column in COLUMNS}
    continent = values["continent_code"]
    if continent is not None and continent not in continents:
        problem, remedy = f"unknown continent {continent!r}", f"write one of {' '.join(continents)}"
        raise BuildError(str(source), problem, line=line, remedy=remedy)
    return Country(continent_name=continents.get(continent), **values)


def _value(source: Path | Traversable, line: int, column: str, cell: str) -> Any:
    if not cell and column not in ("country_code", "country_neighbors"):
        return None
    parse, form = PARSERS[column]
    try:
        return parse(cell)
    except ValueError as error:
        problem = f"bad {column} {cell!r}"
        raise BuildError(str(source), problem, line=line, remedy=f"write {form}") from error


def _matching(pattern: str) -> Callable[[str], str]:
    def parse(cell: str) -> str:
        if re.fullmatch(pattern, cell) is None:
            raise ValueError(pattern)
        return cell

    return parse


def _listing(pattern: str) -> Callable[[str], tuple[str, ...]]:
    parse_one = _matching(pattern)

    def parse(cell: str) -> tuple[str, ...]:
        codes = tuple(parse_one(code) for code in cell.split(" ")) if cell else ()
        if len(set(codes)) < len(codes):
            raise ValueError(cell)
        return codes

    return parse


def _area(cell: str) -> int | float:
    # At most 15 digits in all, which a float represents exactly.
    area = float(_matching(r"[0-9]{1,9}(\.[0-9]{1,6})?")(cell))
    return int(area) if area.is_integer() else area


def _population(cell: str) -> int:
    return int(_matching(r"[0-9]{1,12}")(cell))


def _boolean(cell: str) -> bool:
    return _matching("true|false")(cell) == "true"


def _zone(cell: str) -> str:
    if rules(cell) is None:
        raise ValueError(cell)
    return cell


#: By column: the parser of its cells, and the expected form (for the remedy).
PARSERS: dict[str, tuple[Callable[[str], object], str]] = {
    "continent_code": (str, "two capital letters"),
    "country_code": (_matching("[A-Z]{2}"), "two capital letters"),
    "country_code_iso3": (_matching("[A-Z]{3}"), "three capital letters"),
    "country_name": (str, "text"),
    "country_capital": (str, "text"),
    "country_tld": (_matching(r"\.[a-z][a-z0-9-]*"), "a domain such as .se"),
    "country_calling_code": (_matching(r"\+[1-9][0-9]{0,6}"), "digits after a plus, such as +46"),
    "country_languages": (_listing("[a-z]{2,3}"), "distinct codes with one space between: de fr"),
    "country_area_km2": (_area, "a plain number such as 1580 or 0.44"),
    "country_population": (_population, "a plain whole number"),
    "country_neighbors": (_listing("[A-Z]{2}"), "distinct codes with one space between: NO FI"),
    "country_is_eu": (_boolean, "true, false or nothing"),
    "currency_code": (_matching("[A-Z]{3}"), "three capital letters"),
    "currency_name": (str, "text"),
    "currency_symbol": (str, "text"),
    "time_zone": (_zone, "a zone of the IANA database such as Europe/Paris"),
}
