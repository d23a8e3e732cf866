"""The facts that a country code implies: names, numbers, currency and zone, with their generator.

``CREDITS`` are the sources of these tables and their licences, part of every manifest.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Credit:
    """One source of reference data; ``licence`` is an SPDX identifier if it has one."""

    name: str
    licence: str
    attribution: str
    url: str


CREDITS: tuple[Credit, ...] = (
    Credit(
        "GeoNames",
        "CC-BY-4.0",
        "Continents, capitals, top-level domains, areas, land neighbours and languages of"
        " countries from GeoNames, selected and amended",
        "https://www.geonames.org/",
    ),
    Credit(
        "Unicode CLDR",
        "Unicode-3.0",
        "Country names, populations, official languages and currencies from the Unicode Common"
        " Locale Data Repository, Copyright © 2004-2026 Unicode, Inc.",
        "https://www.unicode.org/license.txt",
    ),
    Credit(
        "The World Factbook",
        "LicenseRef-public-domain",
        "Areas of 31 countries from The World Factbook of 2026",
        "https://www.cia.gov/the-world-factbook/",
    ),
    Credit(
        "libphonenumber",
        "Apache-2.0",
        "Calling codes from libphonenumber, © The Libphonenumber Authors",
        "https://github.com/google/libphonenumber",
    ),
    Credit(
        "iso-codes",
        "LGPL-2.1-or-later",
        "ISO 3166-1 codes from the iso-codes project, by way of pycountry",
        "https://salsa.debian.org/iso-codes-team/iso-codes",
    ),
    Credit(
        "IANA Time Zone Database",
        "LicenseRef-public-domain",
        "Zones of countries from the IANA Time Zone Database",
        "https://www.iana.org/time-zones",
    ),
)
