"""The facts that a country code implies: names, numbers, currency and zone.

``geolookup_builder.reference.generators`` has the scripts that make the tables.

``credits.csv`` has the sources of these tables and their licences: of the table of countries, which
is part of every dataset, and of each field that ``enrichment`` fills.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from geolookup_builder.reference.csv_table import Row, read_table

_COLUMNS = ("table", "name", "licence", "attribution", "url")
_FILE = Path(__file__).with_name("credits.csv")


@cache
def credits_of(table: str) -> list[Row]:
    """Return the credits of ``countries``, or of the field that a finder fills."""
    rows = [row for _, row in read_table(_FILE, _COLUMNS)]
    return [{name: row[name] for name in _COLUMNS[1:]} for row in rows if row["table"] == table]
