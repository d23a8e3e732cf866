"""IP2Location's CSV files: DB1 to DB26 and ASN, IPv4 and IPv6, all editions of the range.

Several databases have the same number of columns, so the database comes from the
recipe or the file name, and every column is checked against the first rows. The IPv4
space that an IPv6 file repeats as IPv4-mapped addresses is folded by the compiler.
The time zone column is an offset that includes summer time; it identifies no zone and
is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial

import pyarrow as pa

from geolookup_builder.ranges import ParsedRanges
from geolookup_builder.recipe import SourceSpec
from geolookup_builder.sources.formats.ip2location_files import (
    MISSING,
    Catalogue,
    Ranges,
    Regions,
)
from geolookup_builder.sources.formats.ip2location_layouts import CONTENT, DATABASES, named
from geolookup_builder.sources.reading import sniffing
from geolookup_builder.sources.reading.dictionary_columns import without, without_null_island
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.reader import Format, SourceTable
from geolookup_builder.sources.reading.sniffing import Detection, Opening, sample_without_header
from geolookup_builder.sources.reading.vendor_files import Plan, stated_fields

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
#: What distinguishes these files from others of the same width: names, countries in words.
_NAMED = re.compile(r"IP2LOCATION|(?<![A-Z0-9])DB[0-9]{1,2}(?![0-9])|^IP-COUNTRY", re.IGNORECASE)
_DETECTED = {**CONTENT, "country_name": re.compile(r"(?![A-Za-z]{2}-).{4,}")}
_CATALOGUE = Catalogue("DB", 'a number from 1 to 26, or "ASN"', DATABASES, CONTENT)


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    return _CATALOGUE.tables(spec, _plan)


def _plan(member: Member, database: str | None, codes: Regions | None) -> Plan:
    found = sniffing.sample(member)
    table = database or named(member.file_names)
    if table is None:
        raise _CATALOGUE.unnamed(found)
    layout, ranges = _CATALOGUE.layout(found, table, frozenset(_FIELDS))
    return Plan(table, layout, partial(_meaning, ranges=ranges, codes=codes))


def _meaning(
    rows: pa.RecordBatch, ranges: Ranges, codes: Regions | None
) -> tuple[ParsedRanges, Mapping[str, pa.DictionaryArray]]:
    fields = {
        name: without(column, MISSING) for name, column in stated_fields(rows, _FIELDS).items()
    }
    if codes is not None and "region_name" in fields:
        fields["region_code"] = codes.of(fields)
    return ranges(rows), without_null_island(fields)


def _detect(opening: Opening) -> Detection | None:
    found, names = sample_without_header(opening.start), opening.member.file_names
    fitting, database = _CATALOGUE.fitting(found, _DETECTED) if found else [], named(names)
    if database in fitting and any(map(_NAMED.search, names)):
        return Detection(database, named=True)
    return Detection(" or ".join(fitting)) if fitting else None


FORMAT = Format("ip2location", frozenset({"db", "regions"}), _read, _detect)
