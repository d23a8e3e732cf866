"""The ip-location-db collection of sapics: no header, ranges as text or (``-num``) integers.

Strategy: the width tells country, AS and city files apart. City files exist with their
columns in two orders; the one whose coordinates are numbers with a fraction is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial

import pyarrow as pa

from geolookup.errors import BuildError
from geolookup_builder.ranges import ParsedRanges, from_pairs
from geolookup_builder.recipe import SourceSpec
from geolookup_builder.sources.reading import sniff
from geolookup_builder.sources.reading.coordinates import without_origin
from geolookup_builder.sources.reading.detection import Claim, Opening, without_header
from geolookup_builder.sources.reading.headerless import (
    Plan,
    columns_option,
    file_names,
    stated,
    tables,
)
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.layout import Layout
from geolookup_builder.sources.reading.reader import Format, SourceTable

_RANGE = ("start", "end")
_CITY_ORDERS = (
    # As the data are, and as the collection's own page lists them.
    ("country_code", "state1", "state2", "city", "postcode", "latitude", "longitude", "timezone"),
    ("country_code", "city", "state1", "state2", "latitude", "longitude", "postcode", "timezone"),
)
#: The tables in their order, with the columns behind the range.
_LAYOUTS = {"city": _CITY_ORDERS[0], "country": ("country_code",), "asn": ("asn", "organisation")}
_FIELDS = {
    "country_code": "country_code",
    "state1": "region_name",
    "city": "city_name",
    "postcode": "postal_code",
    "latitude": "latitude",
    "longitude": "longitude",
    "timezone": "time_zone",
    "asn": "asn",
    "organisation": "asn_organization",
}
_END = re.compile(rf"{sniff.ADDRESS.pattern}|{sniff.INTEGER.pattern}")
_CONTENT = {
    "start": _END,
    "end": _END,
    "country_code": sniff.ALPHA2,
    "asn": sniff.AS_NUMBER,
    "latitude": sniff.DEGREES,
    "longitude": sniff.DEGREES,
}
#: What tells these files from others of the same width: their names, and zones that are names.
_NAMED = re.compile(r"-ipv[46](-num)?(?![a-z0-9-])", re.IGNORECASE)
_ZONE = {"timezone": re.compile(r"[A-Z][A-Za-z_]+/.+")}
_FRACTION = re.compile(r"[+-]?[0-9]{1,3}\.[0-9]+")
_SEVEN_ZIP = b"7z\xbc\xaf\x27\x1c"


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    columns = columns_option(spec, (*_RANGE, *_FIELDS, "state2"), _RANGE)
    order = (*_LAYOUTS, "columns")
    yield from tables(spec, (".csv",), order, lambda member: _plan(member, columns))


def _plan(member: Member, columns: tuple[str, ...] | None) -> Plan:
    _refuse_seven_zip(member)
    found = sniff.sample(member)
    table = "columns" if columns else _table(found)
    names = columns or (*_RANGE, *(_city_order(found) if table == "city" else _LAYOUTS[table]))
    sniff.check_width(found, len(names), table, "correct columns in the recipe")
    sniff.check_content(found, names, _CONTENT, f"a {table} file of sapics")
    layout = Layout(names, frozenset(_RANGE), frozenset(_FIELDS), header=False)
    return Plan(table, layout, partial(_meaning, family=sniff.integer_family(found)))


def _refuse_seven_zip(member: Member) -> None:
    with member.open() as stream:
        if stream.read(len(_SEVEN_ZIP)) == _SEVEN_ZIP:
            remedy = "unpack it, or take the .csv.gz"
            raise BuildError(member.label, "7-Zip archives are not read", remedy=remedy)


def _table(found: sniff.Sample) -> str:
    widths = {len(_RANGE) + len(names): table for table, names in _LAYOUTS.items()}
    if found.width not in widths:
        listed = ", ".join(f"{width} ({table})" for width, table in sorted(widths.items()))
        problem = f"{found.width} columns, but files of sapics have {listed}"
        raise BuildError(found.member.label, problem, line=1, remedy="name another file")
    return widths[found.width]


def _city_order(found: sniff.Sample) -> tuple[str, ...]:
    """Return the columns of a city file by where the numbers with a fraction are."""
    scores = [_coordinates(found, names) for names in _CITY_ORDERS]
    if scores[0] == scores[1]:
        problem = "the order of the city columns cannot be seen"
        raise BuildError(found.member.label, problem, remedy="state it with columns = […]")
    return _CITY_ORDERS[scores.index(max(scores))]


def _coordinates(found: sniff.Sample, names: tuple[str, ...]) -> int:
    """Count the rows with coordinates where ``names`` has them."""
    at = [len(_RANGE) + names.index(name) for name in ("latitude", "longitude")]
    pairs = zip(*(found.column(each) for each in at), strict=True)
    return sum(all(_FRACTION.fullmatch(cell) for _, cell in pair) for pair in pairs)


def _meaning(
    rows: pa.RecordBatch, family: int
) -> tuple[ParsedRanges, Mapping[str, pa.DictionaryArray]]:
    ranges = from_pairs(rows.column("start"), rows.column("end"), family)
    return ranges, without_origin(stated(rows, _FIELDS))


def _claims(read: Opening) -> Claim | None:
    plan, found = _plan(read.start, None), without_header(read.start)
    if found is None or sniff.mismatch(found, plan.layout.names, _ZONE):
        return None
    return Claim(plan.table, any(map(_NAMED.search, file_names(read.member))))


FORMAT = Format("sapics", frozenset({"columns"}), _read, _claims)
