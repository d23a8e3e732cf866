"""The products that MMDB files are of: how each is recognised, and the meaning of its keys.

A file is of the first product of the table whose conditions it meets. Keys are paths in a
record, such as ``city.names.en``. A file's metadata decides little: converters write
MaxMind's database types into files of other content.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.fields import BY_SOURCE_COLUMN, MAXMIND
from geolookup.contract.schema import Schema
from geolookup_builder.recipe.names import COLUMNS, LANGUAGE
from geolookup_builder.sources.formats.ip2location import PROXIES
from geolookup_builder.sources.formats.ipinfo_products import FLAGS, IPINFO, IPLOCATE
from geolookup_builder.sources.formats.maxmind import OWN_PRODUCTS, TRAITS
from geolookup_builder.sources.formats.vendor_values import ALPHA2, known, located, offers, product
from geolookup_builder.sources.reading.products import (
    NO_RANGE,
    Fields,
    Header,
    Offer,
    Offers,
    Product,
    best,
    names_of_fields,
)

#: Products, and what must occur in the database type or a description of their files.
_Entry = tuple[tuple[Product, ...], str]


def matching_product(kinds: Collection[str], header: Header, schema: Schema) -> Product | None:
    """Return the product of a file; None if it is of none.

    ``kinds`` are the database type and the descriptions, ``header`` the keys of the records.
    """
    for products, kind in PRODUCTS:
        is_kind = not kind or any(re.search(kind, text, re.IGNORECASE) for text in kinds)
        fitting = [p for p in products if kind or p.refusal or not _hides(p, header, schema)]
        if is_kind and (product := best(header, fitting, schema)):
            return product
    return None


def _hides(product: Product, header: Header, schema: Schema) -> bool:
    """Return whether a product reads a field from another key than the one with its name."""
    fields = names_of_fields(schema)
    names = product.foreign(header.names, schema)
    return any(offer.in_file(header) for n in names for offer in product.offers(fields[n]))


def _product(
    name: str, marks: str, *values: Mapping[str, Offers], kind: str = "", **more: Any
) -> _Entry:
    """Return a product of files with one of ``marks``; ``more`` are further members of it."""
    more.setdefault("finish", located)
    return (product(name, marks, *values, ranges=NO_RANGE, **more),), kind


def _ipinfo(*names: str) -> list[Product]:
    return [product for product in IPINFO if product.name in names]


def _of_csv(vendor: str, products: Iterable[Product], kind: str = "", marks: str = "") -> _Entry:
    """Return products that are also delivered as CSV, with the same keys."""
    of_records = (
        replace(
            product,
            name=f"{vendor} {product.name}",
            ranges=NO_RANGE,
            values={name: tuple(_of_records(product.offers(name))) for name in product.values},
            marks=(frozenset(marks.split()),) if marks else product.marks,
        )
        for product in products
    )
    return tuple(of_records), kind


def _of_records(offers: Iterable[Offer]) -> Iterator[Offer]:
    """Yield offers with one column each: a file has its columns in all rows, a record need not."""
    for offer in offers:
        *others, last = offer.columns or ("",)
        yield from (replace(offer, columns=(key,), blank="") for key in others)
        yield replace(offer, columns=(last,) if last else ())


_CONTACT = "its country and address belong to a contact, not to the addresses"
_HOLDER = "its country and address belong to the holder in a registry, not to the addresses"
_VENUE = "its place is a venue whose visitors used the address, not the place of the address"
_REFUSED = (
    _product("IPinfo Abuse Contact", "", kind="^ipinfo(?: .*)?[ _]abuse_", refusal=_CONTACT),
    _product("IPinfo WHOIS", "", kind="^ipinfo(?: .*)?[ _](?:r?whois|rir)", refusal=_HOLDER),
    _product("IPinfo Places", "", kind="^ipinfo(?: .*)?[ _](?:poi|places)", refusal=_VENUE),
    _product(
        "WHOIS records",
        "maintainer;mnt_id;admin_id;tech_id;netname;id name updated",
        refusal=_HOLDER,
    ),
    _product(
        "contacts", "email;emails.0;abuse_email;phone address;phone_numbers.0", refusal=_CONTACT
    ),
    _product("points of interest", "ssid;bssid;category brand", refusal=_VENUE),
)

_STATED = {field.source_column: path for path, field in MAXMIND.items() if field.source_column}
_REGISTERED = "registered_country.iso_code"
#: Of the most specific place that has one.
_GEONAME_IDS = (
    "city.geoname_id,subdivisions.1.geoname_id,subdivisions.0.geoname_id,country.geoname_id,"
    "continent.geoname_id"
)


def _codes(name: str, path: str, plain: str) -> dict[str, tuple[Offer, ...]]:
    """Return the offers of a country or continent: a code, or a word that may be one.

    DB-IP writes ZZ, and some editions of it plain codes and names.
    """
    missing = "-|ZZ"
    return {name: (known(path, missing=missing), known(plain, missing=missing, form=ALPHA2))}


#: Of MaxMind, and of the vendors that follow its structure. A flag that is absent is unknown: the
#: files of GeoLite2 have none.
_NESTED: Mapping[str, Offers] = {
    **{name: known(path) for name, path in _STATED.items()},
    **_codes("continent_code", "continent.code", "continent"),
    **_codes("country_code", "country.iso_code", "country"),
    "city_name": (known(_STATED["city_name"]), known("city")),
    # IP2Location writes an offset with summer time: it identifies no time zone.
    "time_zone": known(_STATED["time_zone"], missing="-|[+-][0-9]{2}:[0-9]{2}"),
    **offers(
        f"""
        geoname_id={_GEONAME_IDS} weather_code=location.weather_code
        accuracy_radius=location.accuracy_radius metro_code=location.metro_code
        average_income=location.average_income population_density=location.population_density
        city_geoname_id=city.geoname_id city_name_LANG=city.names.LANG
        region_geoname_id=subdivisions.0.geoname_id region_name_LANG=subdivisions.0.names.LANG
        country_geoname_id=country.geoname_id country_name_LANG=country.names.LANG
        country_confidence=country.confidence subdivision_confidence=subdivisions.0.confidence
        city_confidence=city.confidence postal_confidence=postal.confidence
        subdivision_2_code=subdivisions.1.iso_code subdivision_2_name=subdivisions.1.names.en
        registered_country_code={_REGISTERED}
        represented_country_code=represented_country.iso_code
        represented_country_type=represented_country.type
        """,
        known,
    ),
    # With the names of the CSV. There a flag that is blank is false.
    **offers(f"static_ip_score {TRAITS}", known, "traits."),
}


def _locate(rows: pa.RecordBatch, fields: Fields) -> Fields:
    """Return the fields, with the country of registration in records without a location.

    MaxMind's records without a location have no continent either.
    """
    country, continent = fields["country_code"], fields["continent_code"]
    lacks_location = pc.and_(pc.is_null(country), pc.is_null(continent))
    registered = rows.column(_REGISTERED).cast(pa.string())
    codes = pc.if_else(lacks_location, registered, country.cast(pa.string()))
    return located(rows, {**fields, "country_code": codes.dictionary_encode()})


_IPREGISTRY = offers(
    """
    continent_code=location.continent.code country_code=location.country.code
    region_code=location.region.code region_name=location.region.name city_name=location.city
    postal_code=location.postal latitude=location.latitude longitude=location.longitude
    time_zone=time_zone.id asn=connection.asn asn_organization=connection.organization
    asn_domain=connection.domain asn_kind=connection.type user_type=connection.type
    organization=company.name domain=company.domain isp=carrier.name mcc=carrier.mcc
    mnc=carrier.mnc is_hosting=security.is_cloud_provider is_anonymous=security.is_anonymous
    is_proxy=security.is_proxy is_relay=security.is_relay is_tor=security.is_tor
    is_vpn=security.is_vpn
    """,
    known,
)


_USES = offers(FLAGS)
#: Names of the fields themselves, and what other vendors call them.
_FLAT: Mapping[str, Offers] = {
    **offers(" ".join(name for name in COLUMNS if LANGUAGE not in name), known),
    **_ipinfo("Core")[-1].values,
    **offers(" ".join(BY_SOURCE_COLUMN), known),
    **offers(
        """
        region_name=region_name,region,state1 city_name=city_name,city
        postal_code=postal_code,postal,postcode,zip_code latitude=latitude,lat
        longitude=longitude,lng time_zone=time_zone,timezone asn=asn,autonomous_system_number
        asn_organization=asn_organization,as_name,autonomous_system_organization
        isp=isp,carrier_name asn_kind=asn_kind,as_type asn_domain=asn_domain,as_domain
        accuracy_radius=accuracy_radius,radius metro_code=metro_code,dma_code
        mcc=mcc,mobile_country_code mnc=mnc,mobile_network_code
        """,
        known,
    ),
    **_codes("continent_code", "continent_code", "continent"),
    **_codes("country_code", "country_code", "country"),
    "user_type": (*_USES["user_type"], known("user_type"), known("as_type")),
    "connection_type": (*_USES["connection_type"], known("connection_type")),
}

#: In order of precedence; the table of docs/data/sources/files.md lists them too.
PRODUCTS = (
    # What ``geolookup export`` writes as flat: in a dataset, no word stands for "unknown".
    _product(
        "geolookup export",
        "",
        offers(" ".join(BY_SOURCE_COLUMN)),
        kind="^geolookup-flat$",
        finish=None,
    ),
    *_REFUSED,
    _of_csv("IPinfo", IPINFO, "^ipinfo "),
    # Only a carrier's name and country: the addresses may be in another country.
    *(
        _of_csv("IPinfo", [product], "^ipinfo(?: .*)?[ _]carrier", key)
        for product, key in zip(_ipinfo("Carrier"), ("name", "carrier"), strict=True)
    ),
    # The same, if the metadata is not of IPinfo; other products are flat records below.
    _of_csv("IPinfo", [*_ipinfo("Location")[:1], *_ipinfo("Company", "Carrier", "Privacy")]),
    _product(
        "ipregistry",
        "location.country.code;connection.asn;connection.organization",
        _IPREGISTRY,
    ),
    _product(
        "MaxMind's structure",
        f"country.iso_code;{_REGISTERED};continent.code;city.names.en;location.latitude;"
        + ";".join(path for path in _STATED.values() if path.startswith("traits.")),
        _NESTED,
        finish=_locate,
        helpers=(_REGISTERED,),
    ),
    _of_csv("IP2Proxy", [PROXIES], marks="proxy_type"),
    _of_csv("iplocate", IPLOCATE[1:]),
    _of_csv("IPinfo", _ipinfo("ASN"), marks="asn name domain"),
    _product("IPNetDB", "as as_entity", offers("asn=as asn_organization=as_entity", known)),
    _product(
        "flat records",
        "country_code;country;city;asn;autonomous_system_number;isp;connection_type;user_type;"
        "city_name;asn_organization;organization",
        _FLAT,
    ),
    _of_csv("MaxMind", OWN_PRODUCTS, "^geo(ip2?|lite2)-?"),
    _of_csv("IPinfo", _ipinfo("Residential Proxy")),
    _product("contacts", "abuse.email;abuse.address;abuse.emails.0", refusal=_CONTACT),
)
