"""IP2Location's CSV files: DB1 to DB26 and ASN, IPv4 and IPv6, all editions of the range.

Several databases have the same number of columns, so the database comes from the
recipe or the file name, and every column is checked against the first rows. The IPv4
space that an IPv6 file repeats as IPv4-mapped addresses is folded by the compiler.
The time zone column is an offset that includes summer time; it identifies no zone and
is not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.errors import BuildError
from geolookup_builder.ranges import ParsedRanges, from_hexadecimal_pairs, from_networks, from_pairs
from geolookup_builder.recipe import SourceSpec
from geolookup_builder.reference.csv_table import read_table
from geolookup_builder.sources.formats.ip2location_layouts import (
    CONTENT,
    DATABASES,
    EDITIONS,
    Edition,
    named,
)
from geolookup_builder.sources.reading import sniffing
from geolookup_builder.sources.reading.dictionary_columns import (
    looked_up,
    without,
    without_null_island,
)
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.reader import Format, SourceTable
from geolookup_builder.sources.reading.sniffing import Detection, Opening, sample_without_header
from geolookup_builder.sources.reading.text import Layout
from geolookup_builder.sources.reading.vendor_files import Plan, planned_tables, stated_fields

_FIELDS = {
    "country_code": "country_code",
    "region": "region_name",
    "city": "city_name",
    "latitude": "latitude",
    "longitude": "longitude",
    "zip": "postal_code",
    "isp": "isp",
    "net_speed": "connection_type",
    "weather_station_code": "weather_code",
    "usage_type": "user_type",
    "asn": "asn",
    "as": "asn_organization",
}
_MISSING = "-"
#: What distinguishes these files from others of the same width: names, countries in words.
_NAMED = re.compile(r"IP2LOCATION|(?<![A-Z0-9])DB[0-9]{1,2}(?![0-9])|^IP-COUNTRY", re.IGNORECASE)
_DETECTED = {**CONTENT, "country_name": re.compile(r"(?![A-Za-z]{2}-).{4,}")}
_REGION_COLUMNS = ("country_code", "subdivision_name", "code")
_SEPARATOR = "\n"


@dataclass(frozen=True, slots=True)
class _Regions:
    """Region codes by ``country_code``, a line break and the name of the region."""

    keys: pa.Array
    codes: pa.Array


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    database, regions = _database_option(spec), _regions(spec)
    yield from planned_tables(
        spec, (".csv",), tuple(DATABASES), lambda member: _plan(member, database, regions)
    )


def _database_option(spec: SourceSpec) -> str | None:
    """Return the database that the recipe states: ``db = 11`` or ``db = "ASN"``."""
    stated_db = spec.options.get("db")
    if stated_db is None:
        return None
    name = f"DB{stated_db}" if type(stated_db) is int else str(stated_db).upper()
    if name not in DATABASES:
        problem = f"source.db is {stated_db!r}"
        raise BuildError(spec.recipe, problem, remedy='write a number from 1 to 26, or "ASN"')
    return name


def _regions(spec: SourceSpec) -> _Regions | None:
    """Read the vendor's table of ISO 3166-2 codes, without the country prefix of a code."""
    path = spec.options.get("regions")
    if path is None:
        return None
    if not isinstance(path, str) or not path:
        raise BuildError(
            spec.recipe, "source.regions is not a file name", remedy="write a file name"
        )
    codes = {}
    for _, row in read_table(spec.base / path, _REGION_COLUMNS):
        country, name, code = (row[column] for column in _REGION_COLUMNS)
        if code not in ("", _MISSING):
            codes[country + _SEPARATOR + name] = code.removeprefix(f"{country}-")
    return _Regions(pa.array(list(codes), pa.string()), pa.array(list(codes.values()), pa.string()))


def _plan(member: Member, database: str | None, regions: _Regions | None) -> Plan:
    found = sniffing.sample(member)
    table = database or named(member.file_names)
    if table is None:
        raise _unnamed(found)
    columns = DATABASES[table]
    edition = _edition(found, table)
    names = (*edition.columns, *columns)
    sniffing.check_content(found, names, CONTENT, table, _MISSING)
    layout = Layout(names, frozenset(edition.columns), frozenset(_FIELDS), header=False)
    return Plan(
        table, layout, partial(_meaning, ranges=_range_reader(found, edition), regions=regions)
    )


def _edition(found: sniffing.Sample, table: str) -> Edition:
    """Return how the range is written; BuildError where the columns do not fit the database."""
    extra = found.width - len(DATABASES[table])
    of_width = [edition for edition in EDITIONS if len(edition.columns) == extra]
    if not of_width:
        problem = f"{found.width} columns, but {table} has {len(DATABASES[table]) + 2}"
        remedy = f"correct db in the recipe{_fitting(found)}"
        raise BuildError(found.member.label, problem, line=1, remedy=remedy)
    for edition in of_width:
        if sniffing.mismatch(found, edition.columns, edition.content) is None:
            return edition
    problem = f"no range of addresses in the first {extra} of the columns of {table}"
    remedy = f"correct db in the recipe{_fitting(found)}"
    raise BuildError(found.member.label, problem, line=1, remedy=remedy)


def _unnamed(found: sniffing.Sample) -> BuildError:
    remedy = f'write db = … in the recipe: 1 to 26, or "ASN"{_fitting(found)}'
    return BuildError(found.member.label, "the file name states no database", remedy=remedy)


def _fitting(found: sniffing.Sample) -> str:
    """Return, as the end of a remedy, the databases that fit the first rows."""
    fitting = _fitting_databases(found, CONTENT)
    return f" (it looks like {' or '.join(fitting)})" if fitting else ""


def _fitting_databases(found: sniffing.Sample, content: Mapping[str, re.Pattern[str]]) -> list[str]:
    fitting = [
        table
        for table, columns in DATABASES.items()
        for edition in EDITIONS
        if len(edition.columns) + len(columns) == found.width
        and not sniffing.mismatch(found, edition.columns, edition.content)
        and not sniffing.mismatch(found, (*edition.columns, *columns), content, _MISSING)
    ]
    return list(dict.fromkeys(fitting))


_Ranges = Callable[[pa.RecordBatch], ParsedRanges]


def _range_reader(found: sniffing.Sample, edition: Edition) -> _Ranges:
    """Return the parser of the range columns; appended columns repeat the range and are ignored."""
    if edition.name == "networks":
        return lambda rows: from_networks(rows.column("cidr"))
    if edition.name == "hexadecimal":
        family = 6 if len(found.column(1)[0][1]) > 8 else 4
        return lambda rows: from_hexadecimal_pairs(
            rows.column("ip_from"), rows.column("ip_to"), family
        )
    family = sniffing.integer_family(found)
    return lambda rows: from_pairs(rows.column("ip_from"), rows.column("ip_to"), family)


def _meaning(
    rows: pa.RecordBatch, ranges: _Ranges, regions: _Regions | None
) -> tuple[ParsedRanges, Mapping[str, pa.DictionaryArray]]:
    fields = {
        name: without(column, _MISSING) for name, column in stated_fields(rows, _FIELDS).items()
    }
    if regions is not None and "region_name" in fields:
        keys = pc.binary_join_element_wise(
            *(fields[name].cast(pa.string()) for name in ("country_code", "region_name")),
            _SEPARATOR,
        )
        fields["region_code"] = looked_up(keys, regions.keys, regions.codes)
    return ranges(rows), without_null_island(fields)


def _detect(opening: Opening) -> Detection | None:
    found, names = sample_without_header(opening.start), opening.member.file_names
    fitting, database = _fitting_databases(found, _DETECTED) if found else [], named(names)
    if database in fitting and any(map(_NAMED.search, names)):
        return Detection(database, named=True)
    return Detection(" or ".join(fitting)) if fitting else None


FORMAT = Format("ip2location", frozenset({"db", "regions"}), _read, _detect)
