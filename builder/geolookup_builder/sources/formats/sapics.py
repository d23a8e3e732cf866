"""The ip-location-db collection of sapics: no header, ranges as text or (``-num``) integers.

The number of columns tells country, AS and city files apart. City files have their
columns in one of two orders: the one in which the coordinates have a fraction is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial

import pyarrow as pa

from geolookup.errors import BuildError
from geolookup_builder.ranges import ParsedRanges, from_pairs
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.reading import sniffing
from geolookup_builder.sources.reading.dictionary_columns import without_null_island
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.own_values import Offers, stated
from geolookup_builder.sources.reading.reader import SourceFormat, SourceTable
from geolookup_builder.sources.reading.sniffing import Detection, Opening, sample_without_header
from geolookup_builder.sources.reading.text import Layout
from geolookup_builder.sources.reading.vendor_files import (
    Plan,
    columns_option,
    planned_tables,
    stated_fields,
)

_RANGE = ("start", "end")
_CITY_ORDERS = (
    # As in the files, and as on the collection's own page.
    ("country_code", "state1", "state2", "city", "postcode", "latitude", "longitude", "timezone"),
    ("country_code", "city", "state1", "state2", "latitude", "longitude", "postcode", "timezone"),
)
#: The tables in their order, with the columns after the range.
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
_OFFERS: Offers = {"subdivision_2_name": stated("state2")}
_END = re.compile(rf"{sniffing.ADDRESS.pattern}|{sniffing.INTEGER.pattern}")
_CONTENT = {
    "start": _END,
    "end": _END,
    "country_code": sniffing.ALPHA2,
    "asn": sniffing.AS_NUMBER,
    "latitude": sniffing.DEGREES,
    "longitude": sniffing.DEGREES,
}
#: What distinguishes these files from others of the same width: names, zones of the IANA database.
_NAMED = re.compile(r"-ipv[46](-num)?(?![a-z0-9-])", re.IGNORECASE)
#: "Europe/Paris".
_ZONE = {"timezone": re.compile(r"[A-Z][A-Za-z_]+/.+")}
#: "52.3740": neither postcodes nor names are numbers with a fraction.
_FRACTION = re.compile(r"[+-]?[0-9]{1,3}\.[0-9]+")


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    columns = columns_option(spec, (*_RANGE, *_FIELDS, "state2"), _RANGE)
    order = (*_LAYOUTS, "columns")
    yield from planned_tables(
        spec, (".csv",), order, lambda member: _plan(member, columns), _OFFERS
    )


def _plan(member: Member, columns: tuple[str, ...] | None) -> Plan:
    rows = sniffing.sample(member)
    table = "columns" if columns else _table(rows)
    names = columns or (*_RANGE, *(_city_order(rows) if table == "city" else _LAYOUTS[table]))
    sniffing.check_width(rows, len(names), table, "correct columns in the recipe")
    sniffing.check_content(rows, names, _CONTENT, f"a {table} file of sapics")
    layout = Layout(names, frozenset(_RANGE), frozenset(_FIELDS), header=False)
    return Plan(table, layout, partial(_meaning, family=sniffing.integer_family(rows)))


def _table(rows: sniffing.Sample) -> str:
    widths = {len(_RANGE) + len(names): table for table, names in _LAYOUTS.items()}
    if rows.width not in widths:
        choices = ", ".join(f"{width} ({table})" for width, table in sorted(widths.items()))
        problem = f"{rows.width} columns, but files of sapics have {choices}"
        raise BuildError(rows.member.label, problem, line=1, remedy="name another file")
    return widths[rows.width]


def _city_order(rows: sniffing.Sample) -> tuple[str, ...]:
    """Return the column order of a city file: the one in which coordinates have a fraction."""
    scores = [_coordinates(rows, names) for names in _CITY_ORDERS]
    if scores[0] == scores[1]:
        problem = "the order of the city columns cannot be determined"
        raise BuildError(rows.member.label, problem, remedy="state it with columns = […]")
    return _CITY_ORDERS[scores.index(max(scores))]


def _coordinates(rows: sniffing.Sample, names: tuple[str, ...]) -> int:
    """Count the rows that have coordinates in the columns of ``names``."""
    at = [len(_RANGE) + names.index(name) for name in ("latitude", "longitude")]
    pairs = zip(*(rows.column(index) for index in at), strict=True)
    return sum(all(_FRACTION.fullmatch(cell) for _, cell in pair) for pair in pairs)


def _meaning(
    rows: pa.RecordBatch, family: int
) -> tuple[ParsedRanges, Mapping[str, pa.DictionaryArray]]:
    ranges = from_pairs(rows.column("start"), rows.column("end"), family)
    return ranges, without_null_island(stated_fields(rows, _FIELDS))


def _detect(opening: Opening) -> Detection | None:
    plan, rows = _plan(opening.start, None), sample_without_header(opening.start)
    if rows is None or sniffing.mismatch(rows, plan.layout.names, _ZONE):
        return None
    return Detection(plan.table, any(map(_NAMED.search, opening.member.file_names)))


FORMAT = SourceFormat("sapics", frozenset({"columns"}), _read, _detect, offers=frozenset(_OFFERS))
