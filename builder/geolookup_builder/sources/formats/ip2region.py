"""ip2region's source text: cells separated by pipes, no quotes, ``0`` for unknown.

There are two layouts of the same width: the newer ends with country codes, the older
with providers. The first rows show which one a file has.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from geolookup_builder.ranges import ParsedRanges, from_pairs
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.reading import sniffing
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.reader import SourceFormat, SourceTable
from geolookup_builder.sources.reading.sniffing import Detection, Opening
from geolookup_builder.sources.reading.text import Layout
from geolookup_builder.sources.reading.vendor_files import Plan, planned_tables, stated_fields

_RANGE = ("start", "end")
_NEW = (*_RANGE, "country", "province", "city", "ISP", "alpha2")
_OLD = (*_RANGE, "country", "area", "province", "city", "ISP")
_FIELDS = {
    "alpha2": "country_code",
    "province": "region_name",
    "city": "city_name",
    "ISP": "isp",
}
_CONTENT = {"start": sniffing.ADDRESS, "end": sniffing.ADDRESS}
_MISSING = "0"


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    yield from planned_tables(spec, (".txt",), ("regions",), _plan)


def _plan(member: Member) -> Plan:
    rows = sniffing.sample(member, "|", quoted=False)
    label, remedy = "ip2region's source text", "name its text file, not the .xdb made from it"
    sniffing.check_width(rows, len(_NEW), label, remedy)
    sniffing.check_content(rows, _NEW, _CONTENT, label)
    has_codes = sniffing.mismatch(rows, _NEW, {"alpha2": sniffing.ALPHA2}, _MISSING) is None
    layout = Layout(
        _NEW if has_codes else _OLD,
        frozenset(_RANGE),
        frozenset(_FIELDS),
        header=False,
        delimiter="|",
        quoted=False,
    )
    return Plan("regions", layout, _meaning)


def _meaning(rows: pa.RecordBatch) -> tuple[ParsedRanges, dict[str, pa.DictionaryArray]]:
    fields = stated_fields(rows, _FIELDS, _MISSING)
    return from_pairs(rows.column("start"), rows.column("end")), fields


def _detect(opening: Opening) -> Detection | None:
    has_codes = "alpha2" in _plan(opening.start).layout.names
    return Detection("with country codes" if has_codes else "without country codes")


FORMAT = SourceFormat("ip2region", frozenset(), _read, _detect)
