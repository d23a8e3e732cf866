"""ip2region's source text: cells separated by pipes, no quotes, ``0`` for unknown.

There are two layouts of the same width: the newer ends with country codes, the older
with providers. The first rows show which one a file has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.formats.headerless import TABS, headerless_tables
from geolookup_builder.sources.formats.vendor_values import known
from geolookup_builder.sources.reading import sniffing
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.plans import Planner, Reading
from geolookup_builder.sources.reading.products import Header, Product
from geolookup_builder.sources.reading.reader import SourceFormat, SourceTable
from geolookup_builder.sources.reading.sniffing import Detection, Opening

_RANGE = ("start", "end")
_NEW = (*_RANGE, "country", "province", "city", "ISP", "alpha2")
_OLD = (*_RANGE, "country", "area", "province", "city", "ISP")
_MISSING = "0"
_PRODUCT = Product(
    "regions",
    (_RANGE,),
    {
        "country_code": known("alpha2", missing=_MISSING),
        "region_name": known("province", missing=_MISSING),
        "city_name": known("city", missing=_MISSING),
        "isp": known("ISP", missing=_MISSING),
    },
    unread=("country", "area"),
)
_CONTENT = {"start": sniffing.ADDRESS, "end": sniffing.ADDRESS}


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    return headerless_tables(spec, (".txt",), (_PRODUCT.name,), _plan)


def _plan(member: Member, planner: Planner) -> tuple[str, Reading]:
    header = Header(member.label, _names(member))
    return _PRODUCT.name, planner.plan(header, _PRODUCT, replace(TABS, delimiter="|"))


def _names(member: Member) -> tuple[str, ...]:
    """Return the columns of a file; BuildError if its first rows are of neither layout."""
    rows = sniffing.sample(member, "|", quoted=False)
    label, remedy = "ip2region's source text", "name its text file, not the .xdb made from it"
    sniffing.check_width(rows, len(_NEW), label, remedy)
    sniffing.check_content(rows, _NEW, _CONTENT, label)
    has_codes = sniffing.mismatch(rows, _NEW, {"alpha2": sniffing.ALPHA2}, _MISSING) is None
    return _NEW if has_codes else _OLD


def _detect(opening: Opening) -> Detection | None:
    has_codes = _names(opening.start) == _NEW
    return Detection("with country codes" if has_codes else "without country codes")


FORMAT = SourceFormat("ip2region", frozenset(), _read, _detect)
