"""The products that MMDB files are of: how each is recognised, and the meaning of its keys.

A file is of the first product of the table whose conditions it meets. Keys are paths in a
record, such as ``city.names.en``. A file's metadata decides little: converters write
MaxMind's database types into files of other content.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from geolookup.contract.fields import BY_SOURCE_COLUMN, MAXMIND
from geolookup.contract.schema import Schema
from geolookup_builder.sources.formats import (
    ip2proxy,
    ipinfo_products,
    iplocate,
    maxmind_products,
)
from geolookup_builder.sources.formats.vendor_values import (
    ALPHA2,
    NO_FIELD,
    OFFSET,
    known,
    located,
    registered,
)
from geolookup_builder.sources.reading.products import (
    NO_RANGE,
    Fields,
    Header,
    Offer,
    Offers,
    Product,
    best,
    stated,
)
from geolookup_builder.vendor_columns import COLUMNS, LANGUAGE


@dataclass(frozen=True, slots=True)
class MmdbProducts:
    """Products, and what must occur in the database type or a description of their files."""

    products: tuple[Product, ...]
    kind: re.Pattern[str] | None = None

    def match(self, kinds: Iterable[str], header: Header, schema: Schema) -> Product | None:
        """Return the one of them that a file with these texts and keys is of; None if none."""
        is_kind = self.kind is None or any(map(self.kind.search, kinds))
        return best(header, self.products, schema) if is_kind else None


def matching_product(kinds: Collection[str], header: Header, schema: Schema) -> Product | None:
    """Return the product of a file; None if it is of none.

    ``kinds`` are the database type and the descriptions, ``header`` the keys of the records.
    """
    matches = (entry.match(kinds, header, schema) for entry in PRODUCTS)
    return next(filter(None, matches), None)


def _kind(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _marks(*sets: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(keys.split()) for keys in sets)


def _product(
    name: str,
    values: Mapping[str, Offers],
    *marks: str,
    kind: re.Pattern[str] | None = None,
    refusal: str = "",
    finish: Callable[[pa.RecordBatch, Fields], Fields] | None = located,
    helpers: tuple[str, ...] = (),
) -> MmdbProducts:
    product = Product(
        name,
        NO_RANGE,
        values,
        marks=_marks(*marks),
        helpers=helpers,
        finish=finish,
        refusal=refusal,
    )
    return MmdbProducts((product,), kind)


def _of_csv(
    vendor: str, products: Iterable[Product], kind: re.Pattern[str] | None = None, *marks: str
) -> MmdbProducts:
    """Return products that are also delivered as CSV, with the same keys."""
    return MmdbProducts(
        tuple(
            replace(
                product,
                name=f"{vendor} {product.name}",
                ranges=NO_RANGE,
                values={name: tuple(_of_records(product.offers(name))) for name in product.values},
                marks=_marks(*marks) or product.marks,
            )
            for product in products
        ),
        kind,
    )


def _of_records(offers: Iterable[Offer]) -> Iterator[Offer]:
    """Yield offers with one column each: a file has its columns in all rows, a record need not."""
    for offer in offers:
        *others, last = offer.columns or ("",)
        yield from (replace(offer, columns=(key,), blank="") for key in others)
        yield replace(offer, columns=(last,) if last else ())


_CONTACT = "its country and address belong to a contact, not to the addresses"
_HOLDER = "its country and address belong to the holder in a registry, not to the addresses"
_VENUE = "its place is a venue whose visitors used the address, not the place of the address"

_IPINFO_KIND, _MAXMIND, _DBIP = _kind("^ipinfo "), _kind("^geo(ip2?|lite2)-?"), _kind("^dbip")
_REFUSED = (
    *(
        _product(f"IPinfo {name}", {}, kind=_kind(f"^ipinfo(?: .*)?[ _]{words}"), refusal=refusal)
        for name, words, refusal in (
            ("Abuse Contact", "abuse_", _CONTACT),
            ("WHOIS", "(?:r?whois|rir)", _HOLDER),
            ("Places", "(?:poi|places)", _VENUE),
        )
    ),
    _product(
        "WHOIS records",
        {},
        *("maintainer", "mnt_id", "admin_id", "tech_id", "netname", "id name updated"),
        refusal=_HOLDER,
    ),
    _product(
        "contacts",
        {},
        *("email", "emails.0", "abuse_email", "phone address", "phone_numbers.0"),
        refusal=_CONTACT,
    ),
    _product("points of interest", {}, "ssid", "bssid", "category brand", refusal=_VENUE),
)

_STATED = {field.source_column: path for path, field in MAXMIND.items() if field.source_column}
_TRAITS = {name: path for name, path in _STATED.items() if path.startswith("traits.")}
_REGISTERED = "registered_country.iso_code"
#: Besides "-": for a country or a continent, of DB-IP.
_NO_CODE = "-|ZZ"


def _locate(rows: pa.RecordBatch, fields: Fields) -> Fields:
    return located(rows, registered(fields, rows.column(_REGISTERED)))


#: Of MaxMind, and of the vendors that follow its structure. A flag that is absent is unknown: the
#: files of GeoLite2 have none.
_NESTED: Mapping[str, Offers] = {
    **{name: known(path) for name, path in _STATED.items()},
    # Some editions of DB-IP state plain codes and names.
    "continent_code": (
        known(_STATED["continent_code"], missing=_NO_CODE),
        known("continent", missing=_NO_CODE, form=ALPHA2),
    ),
    "country_code": (
        known(_STATED["country_code"], missing=_NO_CODE),
        known("country", missing=_NO_CODE, form=ALPHA2),
    ),
    "city_name": (known(_STATED["city_name"]), known("city")),
    "time_zone": known(_STATED["time_zone"], missing=f"-|{OFFSET}"),
    "weather_code": known("location.weather_code"),
    "geoname_id": (
        stated("city.geoname_id"),
        stated("subdivisions.1.geoname_id"),
        stated("subdivisions.0.geoname_id"),
        stated("country.geoname_id"),
        stated("continent.geoname_id"),
    ),
    **{
        name: known(path)
        for name, path in {
            "accuracy_radius": "location.accuracy_radius",
            "metro_code": "location.metro_code",
            "average_income": "location.average_income",
            "population_density": "location.population_density",
            "city_geoname_id": "city.geoname_id",
            "region_geoname_id": "subdivisions.0.geoname_id",
            "country_geoname_id": "country.geoname_id",
            "country_confidence": "country.confidence",
            "subdivision_confidence": "subdivisions.0.confidence",
            "city_confidence": "city.confidence",
            "postal_confidence": "postal.confidence",
            "subdivision_2_code": "subdivisions.1.iso_code",
            "subdivision_2_name": "subdivisions.1.names.en",
            "registered_country_code": _REGISTERED,
            "represented_country_code": "represented_country.iso_code",
            "represented_country_type": "represented_country.type",
            "city_name_LANG": "city.names.LANG",
            "region_name_LANG": "subdivisions.0.names.LANG",
            "country_name_LANG": "country.names.LANG",
            "domain": "traits.domain",
            "usage_type": "traits.user_type",
            "mcc": "traits.mobile_country_code",
            "mnc": "traits.mobile_network_code",
            "static_ip_score": "traits.static_ip_score",
            "is_anycast": "traits.is_anycast",
            "is_legitimate_proxy": "traits.is_legitimate_proxy",
            "is_anonymous": "traits.is_anonymous",
            "is_vpn": "traits.is_anonymous_vpn",
            "is_hosting": "traits.is_hosting_provider",
            "is_proxy": "traits.is_public_proxy",
            "is_tor": "traits.is_tor_exit_node",
            "is_residential_proxy": "traits.is_residential_proxy",
        }.items()
    },
}
_NESTED_MARKS = (
    *("country.iso_code", _REGISTERED, "continent.code", "city.names.en", "location.latitude"),
    *_TRAITS.values(),
)


_IPREGISTRY = {
    name: known(path)
    for name, path in {
        "continent_code": "location.continent.code",
        "country_code": "location.country.code",
        "region_code": "location.region.code",
        "region_name": "location.region.name",
        "city_name": "location.city",
        "postal_code": "location.postal",
        "latitude": "location.latitude",
        "longitude": "location.longitude",
        "time_zone": "time_zone.id",
        "asn": "connection.asn",
        "asn_organization": "connection.organization",
        "organization": "company.name",
        "isp": "carrier.name",
        "user_type": "connection.type",
        "asn_domain": "connection.domain",
        "asn_kind": "connection.type",
        "domain": "company.domain",
        "mcc": "carrier.mcc",
        "mnc": "carrier.mnc",
        "is_anonymous": "security.is_anonymous",
        "is_hosting": "security.is_cloud_provider",
        "is_proxy": "security.is_proxy",
        "is_relay": "security.is_relay",
        "is_tor": "security.is_tor",
        "is_vpn": "security.is_vpn",
    }.items()
}

_IPREGISTRY_MARKS = ("location.country.code", "connection.asn", "connection.organization")


def _ipinfo(*names: str) -> list[Product]:
    return [product for product in ipinfo_products.PRODUCTS if product.name in names]


_FLAGS = _ipinfo("Privacy")[0].values
#: Names of the fields themselves, and what other vendors call them.
_FLAT: Mapping[str, Offers] = {
    **{column.name: known(column.name) for column in COLUMNS if LANGUAGE not in column.name},
    **_ipinfo("Core")[0].values,
    **{
        name: tuple(map(known, (name, *others)))
        for name, others in {
            **dict.fromkeys(BY_SOURCE_COLUMN, ()),
            "region_name": ("region", "state1"),
            "city_name": ("city",),
            "postal_code": ("postal", "postcode", "zip_code"),
            "latitude": ("lat",),
            "longitude": ("lng",),
            "time_zone": ("timezone",),
            "asn": ("autonomous_system_number",),
            "asn_organization": ("as_name", "autonomous_system_organization"),
            "isp": ("carrier_name",),
            "asn_kind": ("as_type",),
            "asn_domain": ("as_domain",),
            "accuracy_radius": ("radius",),
            "metro_code": ("dma_code",),
        }.items()
    },
    "continent_code": (
        known("continent_code", missing=_NO_CODE),
        known("continent", missing=_NO_CODE, form=ALPHA2),
    ),
    "country_code": (
        known("country_code", missing=_NO_CODE),
        known("country", missing=_NO_CODE, form=ALPHA2),
    ),
    "user_type": (*_FLAGS["user_type"], known("user_type"), known("as_type")),
    "connection_type": (*_FLAGS["connection_type"], known("connection_type")),
}
_FLAT_MARKS = (
    *("country_code", "country", "city", "asn", "autonomous_system_number", "isp"),
    *("connection_type", "user_type", "city_name", "asn_organization", "organization"),
)

#: In order of precedence; the table of docs/data/sources/mmdb.md lists them too.
PRODUCTS = (
    # What ``geolookup export`` writes as flat: in a dataset, no word stands for "unknown".
    _product(
        "geolookup export",
        {name: stated(name) for name in BY_SOURCE_COLUMN},
        kind=_kind("^geolookup-flat$"),
        finish=None,
    ),
    *_REFUSED,
    _of_csv("IPinfo", ipinfo_products.PRODUCTS, _IPINFO_KIND),
    # Only a carrier's name and country: the addresses may be in another country.
    *(
        _of_csv("IPinfo", [product], _kind("^ipinfo(?: .*)?[ _]carrier"), key)
        for product, key in zip(_ipinfo("Carrier"), ("name", "carrier"), strict=True)
    ),
    # The same, if the metadata is not of IPinfo; other products are flat records below.
    _of_csv("IPinfo", [*_ipinfo("Location")[:1], *_ipinfo("Company", "Carrier", "Privacy")]),
    _product("ipregistry", _IPREGISTRY, *_IPREGISTRY_MARKS),
    *(
        _product(name, _NESTED, *_NESTED_MARKS, kind=kind, finish=_locate, helpers=(_REGISTERED,))
        for name, kind in (
            ("MaxMind or IP2Location", _MAXMIND),
            ("DB-IP", _DBIP),
            ("records in MaxMind's structure", None),
        )
    ),
    _product(
        "MaxMind ASN, ISP or Connection-Type",
        maxmind_products.PROVIDER,
        *("autonomous_system_number", "isp organization", "connection_type"),
        kind=_MAXMIND,
    ),
    _of_csv("IP2Proxy", [ip2proxy.PRODUCT], None, "proxy_type"),
    _of_csv("iplocate", [iplocate.ASN]),
    _of_csv("IPinfo", _ipinfo("ASN"), None, "asn name domain"),
    _product(
        "IPNetDB", {"asn": known("as"), "asn_organization": known("as_entity")}, "as as_entity"
    ),
    _product("flat records", _FLAT, *_FLAT_MARKS),
    _of_csv("MaxMind", (csv for csv in maxmind_products.PRODUCTS if csv.refusal), _MAXMIND),
    _product("hosted domains", {}, "domains total", refusal=NO_FIELD),
    _product("host names", {}, "hostname", refusal=NO_FIELD),
    _of_csv("IPinfo", _ipinfo("Residential Proxy")),
    _product("contacts", {}, "abuse.email", "abuse.address", "abuse.emails.0", refusal=_CONTACT),
)
