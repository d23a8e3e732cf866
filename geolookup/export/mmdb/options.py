"""The options of the format ``mmdb``; imports nothing heavy, for ``--help``."""

from __future__ import annotations

from geolookup.export.format import FIELDS, Option

FLAT = "flat"
OPTIONS = (
    Option(
        "schema",
        "Structure of the records: that of the databases that geoip2 reads, or flat, which"
        " `geolookup build` reads. [default: flat]",
        choices=("city", "country", "asn", "isp", "enterprise", FLAT),
    ),
    FIELDS,
    Option(
        "languages",
        "Languages of names; a dataset has each name once, as en. [default: en]",
        metavar="LANGUAGE,...",
        several=True,
    ),
)
