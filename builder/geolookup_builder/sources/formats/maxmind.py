"""MaxMind GeoLite2 and GeoIP2 CSV: Blocks files, joined to their Locations and providers.

Each file is identified by its columns. These are read by name, since their order has
changed over the years. Ids are looked up per distinct id of a batch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.errors import BuildError
from geolookup_builder.ranges import ParsedRanges, from_hexadecimal_pairs, from_networks, from_pairs
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.formats.maxmind_joins import (
    JOINED,
    LOCATION_FIELDS,
    PROVIDER_FIELDS,
    Joins,
)
from geolookup_builder.sources.formats.maxmind_products import IGNORED, OFFERS, PRODUCTS
from geolookup_builder.sources.reading.delimited import batches
from geolookup_builder.sources.reading.dictionary_columns import mark, take, with_values
from geolookup_builder.sources.reading.inputs import Member, members
from geolookup_builder.sources.reading.own_values import (
    NO_OFFERS,
    Offer,
    Offers,
    OwnRequest,
    declaration_hint,
    offered,
    own_request,
)
from geolookup_builder.sources.reading.reader import Meaning, SourceFormat, SourceTable
from geolookup_builder.sources.reading.sniffing import Detection, Opening
from geolookup_builder.sources.reading.text import Layout
from geolookup_builder.sources.reading.vendor_files import (
    KeyedTable,
    Product,
    header,
    header_text,
    product_of,
    tables,
)

#: The columns of a range, the usual one first; the others are written by geoip2-csv-converter.
RANGES = (
    ("network",),
    ("network_start_ip", "network_last_ip"),
    ("network_start_integer", "network_last_integer"),
    ("network_start_hex", "network_last_hex"),
)
#: The field of each column that needs no join.
FIELDS = {
    "postal_code": "postal_code",
    "latitude": "latitude",
    "longitude": "longitude",
    **PROVIDER_FIELDS,
}
_COUNTRIES = {
    "registered_country_code": "registered_country_geoname_id",
    "represented_country_code": "represented_country_geoname_id",
}
_IDS = ("geoname_id", "registered_country_geoname_id", "isp_id")
#: Columns of Blocks that no other format has.
_OWN = frozenset(
    {
        *("registered_country_geoname_id", "autonomous_system_number", "is_anonymous_vpn"),
        *("ip_risk", "static_ip_score", "ipv4_24", "anonymizer_confidence"),
    }
)
_NAMED = re.compile("geoip2|geoip-|geolite2", re.IGNORECASE)
_FAMILY = re.compile(r"ipv([46])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Blocks:
    """A file of ranges, with the tables that its ids refer to."""

    member: Member
    names: tuple[str, ...]
    locations: KeyedTable | None
    providers: KeyedTable | None
    offered: tuple[str, ...]  # the own columns that these tables have


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    own = own_request(spec)
    joins, blocks_files, ignored = Joins(_locale(spec), own), [], dict[str, tuple[str, ...]]()
    for member in members(spec.path, spec.base, (".csv",)):
        names = header(member)
        columns = _range(names)
        product = product_of(names, (*PRODUCTS, *IGNORED))
        if columns is None:
            joins.add(member, names)
        elif product is None:
            problem = f"no MaxMind product has the columns {header_text(names)}"
            raise BuildError(member.label, problem, line=1, remedy="name other files")
        elif product in PRODUCTS or own.choose(
            _offers(product, None), names, {*names} - {*columns}
        ):
            blocks_files.append((product, member, names))
        else:
            ignored[product.name] = tuple(offered(_offers(product, None), names))
    notes = [f"{name} ignored: no field holds it" for name in ignored]
    if not blocks_files:
        problem = "; ".join(["no Blocks file that can be used", *notes])
        hint = declaration_hint(chain.from_iterable(ignored.values()))
        raise BuildError(spec.base / spec.path, problem, remedy=f"name other files{hint}")
    blocks = [(product, _join(member, names, joins)) for product, member, names in blocks_files]
    if any("isp_id" in file.names and file.providers is None for _, file in blocks):
        notes.append("Enterprise without its ISP file: providers are unknown")
    plans = [(product.name, _plan(product, file, own)) for product, file in blocks]
    own.check()
    order = list(dict.fromkeys(product.name for product in (*PRODUCTS, *IGNORED)))
    yield from tables(spec, order, plans, lambda plan: batches(*plan), notes)


def _join(member: Member, names: tuple[str, ...], joins: Joins) -> _Blocks:
    has_locations = "geoname_id" in names
    locations = joins.locations(member, cities="latitude" in names) if has_locations else None
    providers = joins.providers(member) if "isp_id" in names else None
    offers = joins.offers(locations=has_locations, providers="isp_id" in names)
    return _Blocks(member, names, locations, providers, offers)


def _locale(spec: SourceSpec) -> str:
    locale = spec.options.get("locale", "en")
    if not isinstance(locale, str) or not locale:
        raise BuildError(
            spec.recipe,
            f"source.locale is {locale!r}",
            remedy='write a language code, such as locale = "en"',
        )
    return locale


def _range(names: tuple[str, ...]) -> tuple[str, ...] | None:
    return next((columns for columns in RANGES if set(columns) <= set(names)), None)


def _plan(product: Product, blocks: _Blocks, own: OwnRequest) -> tuple[Member, Layout, Meaning]:
    columns = _range(blocks.names) or ()
    layout = Layout(blocks.names, frozenset(columns), frozenset([*FIELDS, *_IDS]))
    parse = partial(_ranges, columns=columns, family=_family(blocks.member))
    meaning = partial(_meaning, parse=parse, blocks=blocks)
    layout, meaning_with_own = own.extend(layout, meaning, _offers(product, blocks.locations))
    layout = replace(layout, offered=(*layout.offered, *blocks.offered))
    return blocks.member, layout, meaning_with_own


def _offers(product: Product, locations: KeyedTable | None) -> Offers:
    """Return the own columns of Blocks; countries are known by the ids of their locations."""
    offers = OFFERS.get(product.name, NO_OFFERS)
    if locations is None:
        return offers
    country_of = partial(_country_of, locations=locations)
    return {**offers, **{name: Offer((ids,), country_of) for name, ids in _COUNTRIES.items()}}


def _country_of(ids: pa.DictionaryArray, locations: KeyedTable) -> pa.DictionaryArray:
    at = locations.index.rows(ids.dictionary.cast(pa.string()))
    return with_values(ids, locations.columns["country_iso_code"].take(at))


def _family(member: Member) -> int | None:
    """Return the family in the file's name: ranges in integers do not show it."""
    match = _FAMILY.search(re.split(r"[/\\!]", member.label)[-1])
    return int(match[1]) if match else None


def _ranges(rows: pa.RecordBatch, columns: tuple[str, ...], family: int | None) -> ParsedRanges:
    if columns == RANGES[0]:
        return from_networks(rows.column("network"))
    first, last = (rows.column(name) for name in columns)
    if columns == RANGES[3]:
        return from_hexadecimal_pairs(first, last, family)
    return from_pairs(first, last, family)


def _meaning(
    rows: pa.RecordBatch, parse: partial[ParsedRanges], blocks: _Blocks
) -> tuple[ParsedRanges, Mapping[str, pa.DictionaryArray]]:
    fields = {FIELDS[name]: rows.column(name) for name in rows.schema.names if name in FIELDS}
    if blocks.locations is not None:
        fields |= _locations(rows, blocks.locations)
    if blocks.providers is not None:
        fields |= _providers(rows.column("isp_id"), blocks.providers)
    return parse(rows), fields


def _locations(rows: pa.RecordBatch, locations: KeyedTable) -> dict[str, pa.DictionaryArray]:
    """Return the location of each row, or the country of registration if it states none.

    An id that is in no Locations file becomes an invalid country: the location is nulled and
    counted like other bad values.
    """
    ids = rows.column("geoname_id")
    has_id, at = pc.is_valid(ids), locations.rows(ids)
    if "registered_country_geoname_id" in rows.schema.names:
        country_ids = rows.column("registered_country_geoname_id")
        # Row by row: geoname_id if present, else the id of the registered country.
        at = pc.if_else(has_id, at, locations.rows(country_ids))
        has_id = pc.or_(has_id, pc.is_valid(country_ids))
    encoded = at.dictionary_encode()  # once for all columns
    fields = {
        LOCATION_FIELDS.get(key, key): take(column, encoded)
        for key, column in locations.columns.items()
    }
    orphans = pc.and_(has_id, pc.is_null(at))
    if pc.any(orphans).as_py():
        fields["country_code"] = mark(fields["country_code"], orphans, "unknown geoname_id")
    return fields


def _providers(ids: pa.DictionaryArray, providers: KeyedTable) -> dict[str, pa.DictionaryArray]:
    """Return the provider of each row; an unknown id becomes an invalid AS number."""
    at = providers.rows(ids)
    fields = {
        PROVIDER_FIELDS.get(key, key): take(column, at) for key, column in providers.columns.items()
    }
    # An id of 0 is "no provider".
    none = pc.is_in(ids.dictionary, pa.array(["0"])).take(ids.indices)
    orphans = pc.and_(pc.and_not(pc.is_valid(ids), none), pc.is_null(at))
    if pc.any(orphans).as_py():
        fields["asn"] = mark(fields["asn"], orphans, "unknown isp_id")
    return fields


def _detect(opening: Opening) -> Detection | None:
    """Return a detection for columns that no other vendor has, or for this vendor's file names."""
    names = header(opening.start)
    has_name = any(map(_NAMED.search, opening.member.file_names))
    if _range(names) is None:
        is_joined_table = {"geoname_id", "locale_code"} <= set(names) or names[:1] == ("isp_id",)
        return Detection("tables of Blocks", has_name) if is_joined_table else None
    product = product_of(names, (*PRODUCTS, *IGNORED))
    own = _OWN & set(names) or _range(names) != RANGES[0]
    return Detection(f"{product.name} blocks", has_name) if product and (own or has_name) else None


_OFFERED = JOINED.union(_COUNTRIES, *OFFERS.values())
FORMAT = SourceFormat("maxmind", frozenset({"locale"}), _read, _detect, offers=_OFFERED)
