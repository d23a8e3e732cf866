"""iplocate.io: ip-to-country and ip-to-asn, zipped or plain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from geolookup.errors import BuildError
from geolookup_builder.ranges import ParsedRanges, from_networks
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.reading.delimited import batches
from geolookup_builder.sources.reading.dictionary_columns import first_known
from geolookup_builder.sources.reading.inputs import Member, members
from geolookup_builder.sources.reading.own_values import (
    NO_OFFERS,
    Offers,
    OwnRequest,
    own_request,
    stated,
)
from geolookup_builder.sources.reading.reader import Meaning, SourceFormat, SourceTable
from geolookup_builder.sources.reading.sniffing import Detection, Opening
from geolookup_builder.sources.reading.text import Layout
from geolookup_builder.sources.reading.vendor_files import (
    Product,
    header,
    header_text,
    product_of,
    tables,
)

_COUNTRY = Product("Country", frozenset({"network", "continent_code", "country_code"}))
_ASN = Product("ASN", frozenset({"network", "asn", "name", "org"}))
PRODUCTS = (_COUNTRY, _ASN)
_OWN = frozenset({"country_name", "org"})  # columns that the generic CSV lacks
OFFERS: Offers = {"asn_domain": stated("domain"), "asn_country_code": stated("country_code")}
_COLUMNS = frozenset({"continent_code", "country_code", "asn", "name", "org"})


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    own = own_request(spec)
    products = [_identify(member) for member in members(spec.path, spec.base, (".csv",))]
    files = [(name, _plan(name, member, own)) for name, member in products]
    own.check()
    yield from tables(
        spec, [product.name for product in PRODUCTS], files, lambda plan: batches(*plan)
    )


def _identify(member: Member) -> tuple[str, Member]:
    names = header(member)
    product = product_of(names, PRODUCTS)
    if product is None:
        problem = f"not a file of iplocate: {header_text(names)}"
        remedy = "name ip-to-country or ip-to-asn, as zip or csv"
        raise BuildError(member.label, problem, line=1, remedy=remedy)
    return product.name, member


def _plan(product: str, member: Member, own: OwnRequest) -> tuple[Member, Layout, Meaning]:
    layout = Layout(header(member), frozenset({"network"}), _COLUMNS)
    if product == _COUNTRY.name:
        return member, *own.extend(layout, _locations, NO_OFFERS)
    return member, *own.extend(layout, _networks, OFFERS)


def _locations(rows: pa.RecordBatch) -> tuple[ParsedRanges, Mapping[str, pa.DictionaryArray]]:
    fields = {name: rows.column(name) for name in ("continent_code", "country_code")}
    return from_networks(rows.column("network")), fields


def _networks(rows: pa.RecordBatch) -> tuple[ParsedRanges, Mapping[str, pa.DictionaryArray]]:
    """Return the ranges with AS number and the holder's full name, else its handle.

    The country in the file is where the holder is registered, so it is not read.
    """
    holder = first_known(rows.column("org"), rows.column("name"))
    fields = {"asn": rows.column("asn"), "asn_organization": holder}
    return from_networks(rows.column("network")), fields


def _detect(opening: Opening) -> Detection | None:
    product, _ = _identify(opening.start)
    return Detection(product) if _OWN & set(header(opening.start)) else None


FORMAT = SourceFormat("iplocate", frozenset(), _read, _detect, offers=frozenset(OFFERS))
