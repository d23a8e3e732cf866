"""IP2Location's CSV files: DB1 to DB26 and ASN, IPv4 and IPv6, all editions of the range.

The IPv4 space that an IPv6 file repeats as IPv4-mapped addresses is folded by the compiler.
The time zone column is an offset that includes summer time; it identifies no zone and
is not read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from threading import Lock

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.errors import BuildError
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.recipe.names import file_option
from geolookup_builder.reference.csv_table import read_table
from geolookup_builder.sources.formats.headerless import Catalogue
from geolookup_builder.sources.formats.ip2location_layouts import CONTENT, DATABASES, EDITIONS
from geolookup_builder.sources.formats.vendor_values import known, located
from geolookup_builder.sources.reading.dictionary_columns import look_up, without_rows
from geolookup_builder.sources.reading.plans import Reading
from geolookup_builder.sources.reading.product_files import offered_columns
from geolookup_builder.sources.reading.products import Fields, Product
from geolookup_builder.sources.reading.reader import SourceFormat, SourceTable

MISSING = "-"
_REGION_COLUMNS = ("country_code", "subdivision_name", "code")
_SEPARATOR = "\n"
_COUNTRY, _REGION, _ELEVATION = "country_code", "region_name", "elevation"
#: A count of the build report: in rows without a location it is no value, as 0,0 is no position.
_NO_ELEVATION = "elevation 0 without a country"
#: Batches are parsed in several threads.
_LOCK = Lock()
_PRODUCT = Product(
    "IP2Location",
    (),
    {
        **{
            field: known(column)
            for field, column in {
                "country_code": "country_code",
                "region_name": "region",
                "city_name": "city",
                "latitude": "latitude",
                "longitude": "longitude",
                "postal_code": "zip",
                "isp": "isp",
                "connection_type": "net_speed",
                "weather_code": "weather_station_code",
                "user_type": "usage_type",
                "asn": "asn",
                "asn_organization": "as",
            }.items()
        },
        **{
            name: known(name)
            for name in (
                *("domain", "mcc", "mnc", "mobile_brand", "usage_type", "address_type"),
                *("category", "district", "area_code", "weather_station_name", "elevation"),
            )
        },
    },
    unread=("country_name", "time_zone", "idd_code", "cidr", "appended_from", "appended_to"),
    helpers=(_COUNTRY,),
)


def _database_in(name: str) -> str | None:
    """Return the database that a file name states: DB11, or the AS file."""
    if re.search(r"IP2LOCATION.*[^A-Z0-9]ASN(?![A-Z0-9])", name.upper()):
        return "ASN"
    return numbered(name, "DB")


def numbered(name: str, prefix: str) -> str | None:
    """Return the database in a file name: "IP2LOCATION-LITE-DB11.CSV" has DB11, "MYDB11" none."""
    match = re.search(rf"(?<![A-Z0-9]){prefix}([0-9]{{1,2}})(?![0-9])", name.upper())
    return f"{prefix}{int(match[1])}" if match else None


_CATALOGUE = Catalogue(
    _PRODUCT,
    DATABASES,
    EDITIONS,
    CONTENT,
    'write db in the recipe, a number from 1 to 26, or "ASN"',
    # Other vendors have codes beside codes; these files have countries in words.
    detected={"country_name": re.compile(r"(?![A-Za-z]{2}-).{4,}")},
    missing=(MISSING,),
    table_in=_database_in,
)


def read_databases(spec: SourceSpec, catalogue: Catalogue, prefix: str) -> Iterator[SourceTable]:
    """Yield the tables of a source of IP2Location or IP2Proxy.

    The recipe may state the database, ``db = 11`` or ``db = "ASN"``, and a table of region codes.
    """
    stated_db, database = spec.options.get("db"), None
    if stated_db is not None:
        # ``type(...) is int``: true would be the database "DB1".
        database = f"{prefix}{stated_db}" if type(stated_db) is int else str(stated_db).upper()
        if database not in catalogue.tables:
            problem = f"source.db is {stated_db!r}"
            raise BuildError(spec.recipe, problem, remedy=catalogue.choice)
    codes = _region_codes(spec)
    emptied = {name: Counter[str]() for name in catalogue.tables}

    def complete(table: str, reading: Reading) -> Reading:
        finish = partial(
            _finish,
            codes=codes,
            emptied=emptied[table],
            elevations=[
                column
                for column, offers in reading.values.items()
                if any(offer.columns == (_ELEVATION,) for offer in offers)
            ],
        )
        return replace(reading, product=replace(reading.product, finish=finish))

    return catalogue.read(spec, table=database, complete=complete, emptied=emptied)


def _finish(
    rows: pa.RecordBatch,
    fields: Fields,
    codes: Mapping[str, str] | None,
    emptied: Counter[str],
    elevations: list[str],
) -> Fields:
    """Return the fields with region codes, without what the vendor writes in rows without a place.

    ``elevations`` are the own columns that hold the elevation.
    """
    changed = dict(located(rows, fields))
    if elevations:
        country, cells = rows.column(_COUNTRY).cast(pa.string()), rows.column(_ELEVATION)
        is_none = pc.is_in(country, pa.array([MISSING, None]))
        bad = pc.and_(is_none, pc.equal(cells.cast(pa.string()), "0")).fill_null(False)
        changed |= {name: without_rows(fields[name], bad) for name in elevations}
        with _LOCK:
            emptied[_NO_ELEVATION] += bad.true_count
    if codes is not None and _REGION in fields:
        names = (fields[name].cast(pa.string()) for name in (_COUNTRY, _REGION))
        keys = pc.binary_join_element_wise(*names, _SEPARATOR)
        columns = (pa.array(texts, pa.string()) for texts in (codes, codes.values()))
        changed["region_code"] = look_up(keys, *columns)
    return changed


def _region_codes(spec: SourceSpec) -> Mapping[str, str] | None:
    """Read the vendor's table of ISO 3166-2 codes: "CA" by "US", a line break and "California"."""
    path = file_option(spec, "regions")
    if path is None:
        return None
    codes = {}
    for _, row in read_table(spec.base / path, _REGION_COLUMNS):
        country, name, code = (row[column] for column in _REGION_COLUMNS)
        if code not in ("", MISSING):
            codes[country + _SEPARATOR + name] = code.removeprefix(f"{country}-")
    return codes


FORMAT = SourceFormat(
    "ip2location",
    frozenset({"db", "regions"}),
    partial(read_databases, catalogue=_CATALOGUE, prefix="DB"),
    _CATALOGUE.detect,
    offers=offered_columns([_PRODUCT]),
)
