"""ip2region's source text: pipes, no quotes, ``0`` for what is unknown.

Strategy: two layouts of one width; the newer ends in country codes, the older in providers,
which the first rows show.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from geolookup_builder.ranges import ParsedRanges, from_pairs
from geolookup_builder.recipe import SourceSpec
from geolookup_builder.sources.reading import sniff
from geolookup_builder.sources.reading.detection import Claim, Opening
from geolookup_builder.sources.reading.dictionary_cells import without
from geolookup_builder.sources.reading.headerless import Plan, stated, tables
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.layout import Layout
from geolookup_builder.sources.reading.reader import Format, SourceTable

_RANGE = ("start", "end")
_NEW = (*_RANGE, "country", "province", "city", "ISP", "alpha2")
_OLD = (*_RANGE, "country", "area", "province", "city", "ISP")
_FIELDS = {
    "alpha2": "country_code",
    "province": "region_name",
    "city": "city_name",
    "ISP": "isp",
}
_CONTENT = {"start": sniff.ADDRESS, "end": sniff.ADDRESS}
_MISSING = "0"


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    yield from tables(spec, (".txt",), ("regions",), _plan)


def _plan(member: Member) -> Plan:
    found = sniff.sample(member, "|", quoted=False)
    shown, remedy = "ip2region's source text", "name its text file, not the .xdb made from it"
    sniff.check_width(found, len(_NEW), shown, remedy)
    sniff.check_content(found, _NEW, _CONTENT, shown)
    coded = sniff.mismatch(found, _NEW, {"alpha2": sniff.ALPHA2}, _MISSING) is None
    layout = Layout(
        _NEW if coded else _OLD,
        frozenset(_RANGE),
        frozenset(_FIELDS),
        header=False,
        delimiter="|",
        quoted=False,
    )
    return Plan("regions", layout, _meaning)


def _meaning(rows: pa.RecordBatch) -> tuple[ParsedRanges, dict[str, pa.DictionaryArray]]:
    fields = {name: without(cells, _MISSING) for name, cells in stated(rows, _FIELDS).items()}
    return from_pairs(rows.column("start"), rows.column("end")), fields


def _claims(read: Opening) -> Claim | None:
    coded = "alpha2" in _plan(read.start).layout.names
    return Claim("with country codes" if coded else "without country codes")


FORMAT = Format("ip2region", frozenset(), _read, _claims)
