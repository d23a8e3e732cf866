"""IPinfo, both generations: CSV, JSON lines or Parquet, told apart by their first bytes.

Strategy: all three become batches of the same columns, read by name. Of
several columns that may state a field the first that is there does: country
is a code in the older files and a name beside country_code in the newer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import ModuleType

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.errors import BuildError
from geolookup_builder.ranges import ParsedRanges, from_networks, from_pairs
from geolookup_builder.recipe import SourceSpec
from geolookup_builder.sources.formats import mmdb
from geolookup_builder.sources.reading import delimited, jsonlines, parquet
from geolookup_builder.sources.reading.combine import first_known
from geolookup_builder.sources.reading.detection import Claim, Opening
from geolookup_builder.sources.reading.dictionary_cells import Cells, constant, renamed, with_values
from geolookup_builder.sources.reading.inputs import Member, members
from geolookup_builder.sources.reading.layout import Layout
from geolookup_builder.sources.reading.products import Product, header, product_of, shown, tables
from geolookup_builder.sources.reading.reader import Batch, Format, SourceTable

#: In the order of their tables; what has the columns of several is the first of them.
PRODUCTS = (
    Product("Core", frozenset({"city", "asn"})),  # and Plus, which has more columns
    Product("Location", frozenset({"city"})),
    Product("Carrier", frozenset({"name", "mcc"})),
    Product("Privacy", frozenset({"vpn", "hosting"})),
    Product("Company", frozenset({"name", "as_name"})),
    Product("ASN", frozenset({"asn", "name"})),
    Product("Country ASN", frozenset({"country", "continent", "asn"})),  # and Lite
    Product("Country", frozenset({"country", "continent"})),
)
_RANGES = (("network",), ("start_ip", "end_ip"))
_COUNTRY = {
    "country_code": ("country_code", "country"),
    "continent_code": ("continent_code", "continent"),
}
_PLACE = {
    **_COUNTRY,
    "region_code": ("region_code",),
    "region_name": ("region_name", "region"),
    "city_name": ("city",),
    "postal_code": ("postal_code",),
    "latitude": ("latitude", "lat"),
    "longitude": ("longitude", "lng"),
    "time_zone": ("timezone",),
}
_AS = {"asn": ("asn",), "asn_organization": ("as_name",)}
#: For each product and field of ours, the columns that may state it. What is left out here is
#: about something else: the country of a company, of an AS or of a carrier is no location.
_FIELDS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "Core": {**_PLACE, **_AS, "user_type": ("as_type",), "isp": ("carrier_name",)},
    "Location": _PLACE,
    "Carrier": {"isp": ("name",)},
    "Privacy": {},
    "Company": {**_AS, "organization": ("name",), "user_type": ("type",)},
    "ASN": {"asn": ("asn",), "asn_organization": ("name",), "user_type": ("type",)},
    "Country ASN": {**_COUNTRY, **_AS},
    "Country": _COUNTRY,
}
#: What a flag says where it is true, the most telling first.
_FLAGS = {
    "user_type": {
        "is_relay": "consumer_privacy_network",
        "relay": "consumer_privacy_network",
        "is_vpn": "consumer_privacy_network",
        "vpn": "consumer_privacy_network",
        "is_hosting": "hosting",
        "hosting": "hosting",
        "is_mobile": "cellular",
    },
    "connection_type": {"is_mobile": "Mobile", "is_satellite": "Satellite"},
}
_CARRIED = {"user_type": "cellular", "connection_type": "Mobile"}
#: Columns that others have beside the same names.
_FOREIGN = frozenset({"org"})
_REGION_CODE = "^[A-Z0-9]{1,3}$"
_SUFFIXES = (".csv", ".json", ".jsonl", ".ndjson", ".parquet")


@dataclass(frozen=True, slots=True)
class _File:
    """A file whose product is known, and how it is written: a module that reads it."""

    member: Member
    written: ModuleType
    names: tuple[str, ...]
    product: Product


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    if spec.path.lower().endswith((".mmdb", ".mmdb.gz")):
        yield from mmdb.FORMAT.read(spec)
        return
    files = [_identified(member) for member in members(spec.path, spec.base, _SUFFIXES)]
    yield from tables(spec, PRODUCTS, [(each.product, each) for each in files], _batches)


def _identified(member: Member) -> _File:
    with member.open() as stream:
        start = stream.read(64).removeprefix(b"\xef\xbb\xbf").lstrip()
    written: ModuleType = delimited
    if start.startswith(b"PAR1"):
        written, names = parquet, parquet.columns(member)
    elif start.startswith(b"{"):
        written, names = jsonlines, tuple(jsonlines.keys(member))
    else:
        names = header(member)
    product = product_of(names, PRODUCTS)
    if product is None or _range(names) is None:
        problem = f"not an IPinfo file that can be used: {shown(names)}"
        remedy = "name CSV, JSON lines or Parquet of another product"
        raise BuildError(member.label, problem, remedy=remedy)
    return _File(member, written, names, product)


def _range(names: tuple[str, ...]) -> tuple[str, ...] | None:
    return next((columns for columns in _RANGES if set(columns) <= set(names)), None)


def _batches(file: _File) -> Iterator[Batch]:
    stating = {
        field: next(name for name in columns if name in file.names)
        for field, columns in _FIELDS[file.product.name].items()
        if set(columns) & set(file.names)
    }
    flags = {field: set(words) & set(file.names) for field, words in _FLAGS.items()}
    if {"region", "region_name"} <= set(file.names) and "region_code" not in file.names:
        stating |= {"region_code": "region"}
    columns = _range(file.names) or ()
    wanted = frozenset(stating.values()).union(*flags.values())
    layout = Layout(file.names, frozenset(columns), wanted)
    meaning = partial(_meaning, columns=columns, stating=stating, product=file.product.name)
    batches: Iterator[Batch] = file.written.batches(file.member, layout, meaning)
    return batches


def _meaning(
    rows: pa.RecordBatch, columns: tuple[str, ...], stating: Mapping[str, str], product: str
) -> tuple[ParsedRanges, Mapping[str, Cells]]:
    fields = {field: rows.column(name) for field, name in stating.items()}
    if stating.get("region_code") == "region":
        fields["region_code"] = _codes(fields["region_code"])
    for field, words in _FLAGS.items():
        said = [
            _said(rows.column(name), words[name]) for name in words if name in rows.schema.names
        ]
        if said:
            fields[field] = first_known(*said, *([fields[field]] if field in fields else []))
    if product == "Carrier":
        fields |= {field: constant(word, len(rows)) for field, word in _CARRIED.items()}
    ends = [rows.column(name) for name in columns]
    return from_pairs(*ends) if len(ends) > 1 else from_networks(*ends), fields


def _said(flags: Cells, word: str) -> Cells:
    """Return ``word`` where a flag is true."""
    return renamed(flags, {"true": word, "false": None, "1": word, "0": None})


def _codes(regions: Cells) -> Cells:
    """Return the regions that are codes: beside region_name, region is one."""
    texts = regions.dictionary.cast(pa.string())
    codes = pc.match_substring_regex(texts, _REGION_CODE)
    return with_values(regions, pc.if_else(codes, texts, pa.scalar(None, pa.string())))


def _claims(read: Opening) -> Claim | None:
    file = _identified(read.member)
    return None if _FOREIGN & set(file.names) else Claim(file.product.name)


FORMAT = Format("ipinfo", frozenset(), _read, _claims)
