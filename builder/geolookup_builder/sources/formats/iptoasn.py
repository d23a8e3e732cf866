"""iptoasn.com: tab-separated ranges, as text or integers, with the AS that announces them.

All four files have one layout. Quotes in descriptions are plain characters. The
country is where the AS holder is registered; it is read as a location only with
``countries = true``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from geolookup.errors import BuildError
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.formats.headerless import END, TABS, Catalogue, Edition
from geolookup_builder.sources.formats.vendor_values import known
from geolookup_builder.sources.reading import sniffing
from geolookup_builder.sources.reading.product_files import offered_columns
from geolookup_builder.sources.reading.products import Product, stated
from geolookup_builder.sources.reading.reader import SourceFormat, SourceTable

_RANGE = ("range_start", "range_end")
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
_CATALOGUE = Catalogue(
    _PRODUCT,
    {"asn": (("AS_number", "country_code", "AS_description"),)},
    (Edition(_RANGE, (END, END)),),
    {"AS_number": sniffing.AS_NUMBER, "country_code": sniffing.ALPHA2},
    "name one of its .tsv files",
    label="a file of iptoasn",
    missing=("None",),
    layout=TABS,
)


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    countries = spec.options.get("countries", False)
    if not isinstance(countries, bool):
        problem = "source.countries is neither true nor false"
        raise BuildError(spec.recipe, problem, remedy="write countries = true")
    values = {**_PRODUCT.values, **({"country_code": _COUNTRY} if countries else {})}
    return replace(_CATALOGUE, product=replace(_PRODUCT, values=values)).read(spec, ".tsv")


FORMAT = SourceFormat(
    "iptoasn",
    frozenset({"countries"}),
    _read,
    _CATALOGUE.detect,
    offers=offered_columns([_PRODUCT]),
)
