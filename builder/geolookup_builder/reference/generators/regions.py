"""Generates ``region_names.csv``: English names of regions that ISO 3166-2 does not state.

They are of Unicode CLDR (Unicode-3.0), by the npm package cldr-subdivisions-full, and of
``region_overrides.csv``: names in use that neither has. Names of codes that ISO has withdrawn are
left out, and those by which ISO calls a region itself.
Run ``python -m geolookup_builder.reference.generators.regions`` with npm and the extra
``reference``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pycountry

from geolookup.contract.display import fold
from geolookup_builder.enrichment import COLUMNS, FILE, names_of
from geolookup_builder.reference import read_table
from geolookup_builder.reference.generators import json_files, write_table

PACKAGE = "cldr-subdivisions-full@48.2.0"
OVERRIDES = Path(__file__).with_name("region_overrides.csv")
#: Countries whose regions ISO has numbered anew (2020, 2015): CLDR has names by the old numbers.
_OUTDATED = {"IR", "MA"}


def main() -> None:
    """Rewrite the packaged file."""
    overrides = {tuple(row[name] for name in COLUMNS) for _, row in read_table(OVERRIDES, COLUMNS)}
    write_table(FILE, COLUMNS, sorted({*_of_cldr(), *overrides}))


def _of_cldr() -> Iterator[tuple[str, ...]]:
    """Yield country, code and name of the regions that CLDR names otherwise than ISO."""
    [content] = json_files(PACKAGE, "subdivisions/en/en.json")
    known = {region.code for region in pycountry.subdivisions}
    of_iso: defaultdict[str, set[str]] = defaultdict(set)
    for region in pycountry.subdivisions:
        of_iso[region.country_code] |= {fold(text) for text in names_of(region.name)}
    for key, name in content["subdivisions"]["localeDisplayNames"]["subdivisions"].items():
        # "usca" -> US and CA.
        country, code = key[:2].upper(), key[2:].upper()
        is_current = f"{country}-{code}" in known and country not in _OUTDATED
        if is_current and fold(name) not in of_iso[country]:
            yield country, code, name


if __name__ == "__main__":
    main()
