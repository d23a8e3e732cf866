"""The ip-location-db collection of sapics: no header, ranges as text or (``-num``) integers.

The number of columns tells country, AS and city files apart. City files have their
columns in one of two orders: the one in which the coordinates have a fraction is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from geolookup.errors import BuildError
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.recipe.mapping import columns_option
from geolookup_builder.sources.formats.headerless import COMMAS, END, headerless_tables
from geolookup_builder.sources.formats.vendor_values import located
from geolookup_builder.sources.reading import sniffing
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.plans import Planner, Reading, parse_range
from geolookup_builder.sources.reading.product_files import offered_columns
from geolookup_builder.sources.reading.products import Header, Product, stated
from geolookup_builder.sources.reading.reader import SourceFormat, SourceTable
from geolookup_builder.sources.reading.sniffing import Detection, Opening, sample_without_header

_RANGE = ("start", "end")
_CITY_ORDERS = (
    # As in the files, and as on the collection's own page.
    ("country_code", "state1", "state2", "city", "postcode", "latitude", "longitude", "timezone"),
    ("country_code", "city", "state1", "state2", "latitude", "longitude", "postcode", "timezone"),
)
#: The tables in their order, with the columns after the range.
_LAYOUTS = {"city": _CITY_ORDERS[0], "country": ("country_code",), "asn": ("asn", "organisation")}
_PRODUCT = Product(
    "sapics",
    (_RANGE,),
    {
        "country_code": stated("country_code"),
        "region_name": stated("state1"),
        "city_name": stated("city"),
        "postal_code": stated("postcode"),
        "latitude": stated("latitude"),
        "longitude": stated("longitude"),
        "time_zone": stated("timezone"),
        "asn": stated("asn"),
        "asn_organization": stated("organisation"),
        "subdivision_2_name": stated("state2"),
    },
    finish=located,
)
_CONTENT = {
    "start": END,
    "end": END,
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
    choices = (*_RANGE, *_CITY_ORDERS[0], *_LAYOUTS["asn"])
    columns = columns_option(spec, choices, _RANGE)

    def plan(member: Member, planner: Planner) -> tuple[str, Reading]:
        rows = sniffing.sample(member)
        table, names = ("columns", columns) if columns else _layout(rows)
        sniffing.check_width(rows, len(names), table, "correct columns in the recipe")
        _check(rows, table, names)
        product = replace(
            _PRODUCT, parse=partial(parse_range, family=sniffing.integer_family(rows))
        )
        return table, planner.plan(Header(member.label, names), product, COMMAS)

    return headerless_tables(spec, (".csv",), (*_LAYOUTS, "columns"), plan)


def _check(rows: sniffing.Sample, table: str, names: tuple[str, ...]) -> None:
    sniffing.check_content(rows, names, _CONTENT, f"a {table} file of sapics")


def _layout(rows: sniffing.Sample) -> tuple[str, tuple[str, ...]]:
    """Return the table of a file, and its columns."""
    widths = {len(_RANGE) + len(names): table for table, names in _LAYOUTS.items()}
    if rows.width not in widths:
        choices = ", ".join(f"{width} ({table})" for width, table in sorted(widths.items()))
        problem = f"{rows.width} columns, but files of sapics have {choices}"
        raise BuildError(rows.member.label, problem, line=1, remedy="name another file")
    table = widths[rows.width]
    return table, (*_RANGE, *(_city_order(rows) if table == "city" else _LAYOUTS[table]))


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


def _detect(opening: Opening) -> Detection | None:
    table, names = _layout(sniffing.sample(opening.start))
    rows = sample_without_header(opening.start)
    if rows is None or sniffing.mismatch(rows, names, _ZONE):
        return None
    _check(rows, table, names)
    return Detection(table, any(map(_NAMED.search, opening.member.file_names)))


FORMAT = SourceFormat(
    "sapics", frozenset({"columns"}), _read, _detect, offers=offered_columns([_PRODUCT])
)
