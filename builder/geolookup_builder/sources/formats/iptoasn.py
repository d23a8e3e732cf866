"""iptoasn.com: tab-separated ranges, as text or integers, with the AS that announces them.

All four files have one layout. Quotes in descriptions are plain characters. The
country is where the AS holder is registered; it is read as a location only with
``countries = true``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from geolookup.errors import BuildError
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.formats.headerless import END, TABS, headerless_tables
from geolookup_builder.sources.formats.vendor_values import known
from geolookup_builder.sources.reading import sniffing
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.plans import Planner, Reading, parse_range
from geolookup_builder.sources.reading.product_files import offered_columns
from geolookup_builder.sources.reading.products import Header, Product, stated
from geolookup_builder.sources.reading.reader import SourceFormat, SourceTable
from geolookup_builder.sources.reading.sniffing import Detection, Opening

_RANGE = ("range_start", "range_end")
_NAMES = (*_RANGE, "AS_number", "country_code", "AS_description")
_COUNTRY = known("country_code", missing="None")
_PRODUCT = Product(
    "asn",
    (_RANGE,),
    {
        "asn": stated("AS_number"),
        "asn_organization": known("AS_description", missing="Not routed"),
        "asn_country_code": _COUNTRY,
    },
)
_CONTENT = {
    "range_start": END,
    "range_end": END,
    "AS_number": sniffing.AS_NUMBER,
    "country_code": sniffing.ALPHA2,
}


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    countries = spec.options.get("countries", False)
    if not isinstance(countries, bool):
        problem = "source.countries is neither true nor false"
        raise BuildError(spec.recipe, problem, remedy="write countries = true")
    values = {**_PRODUCT.values, **({"country_code": _COUNTRY} if countries else {})}

    def plan(member: Member, planner: Planner) -> tuple[str, Reading]:
        parse = partial(parse_range, family=sniffing.integer_family(_rows(member)))
        product = replace(_PRODUCT, values=values, parse=parse)
        return product.name, planner.plan(Header(member.label, _NAMES), product, TABS)

    return headerless_tables(spec, (".tsv",), (_PRODUCT.name,), plan)


def _rows(member: Member) -> sniffing.Sample:
    """Return the first rows of a file; BuildError if they are not of the layout."""
    rows = sniffing.sample(member, "\t", quoted=False)
    label, remedy = "a file of iptoasn", "name one of its .tsv files"
    sniffing.check_width(rows, len(_NAMES), label, remedy)
    sniffing.check_content(rows, _NAMES, _CONTENT, label, "None")
    return rows


def _detect(opening: Opening) -> Detection | None:
    _rows(opening.start)
    return Detection(_PRODUCT.name)


FORMAT = SourceFormat(
    "iptoasn", frozenset({"countries"}), _read, _detect, offers=offered_columns([_PRODUCT])
)
