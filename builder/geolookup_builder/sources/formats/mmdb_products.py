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
    names_of_fields,
    stated,
)
from geolookup_builder.vendor_columns import COLUMNS, LANGUAGE


@dataclass(frozen=True, slots=True)
class MmdbProducts:
    """Products, and what must occur in the database type or a description of their files."""

    products: tuple[Product, ...]
    kind: re.Pattern[str] | None = None

    def match(self, kinds: Iterable[str], header: Header, schema: Schema) -> Product | None:
        """Return the one of them that a file with these texts and keys is of; None if none.

        Without a kind, a product does not fit that reads a field from another key than the one with
        the field's name.
        """
        if self.kind:
            is_kind = any(map(self.kind.search, kinds))
            return best(header, self.products, schema) if is_kind else None
        fields = names_of_fields(schema)
        return best(
            header,
            (
                product
                for product in self.products
                if product.refusal
                or not any(
                    offer.in_file(header)
                    for name in product.foreign(header.names, schema)
                    for offer in product.offers(fields[name])
                )
            ),
            schema,
        )


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
    *marks: str,
    values: Mapping[str, Offers] | None = None,
    kind: re.Pattern[str] | None = None,
    refusal: str = "",
    finish: Callable[[pa.RecordBatch, Fields], Fields] | None = located,
    helpers: tuple[str, ...] = (),
) -> MmdbProducts:
    product = Product(
        name,
        NO_RANGE,
        values or {},
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

_IPINFO_KIND, _MAXMIND = _kind("^ipinfo "), _kind("^geo(ip2?|lite2)-?")
_REFUSED = (
    _product("IPinfo Abuse Contact", kind=_kind("^ipinfo(?: .*)?[ _]abuse_"), refusal=_CONTACT),
    _product("IPinfo WHOIS", kind=_kind("^ipinfo(?: .*)?[ _](?:r?whois|rir)"), refusal=_HOLDER),
    _product("IPinfo Places", kind=_kind("^ipinfo(?: .*)?[ _](?:poi|places)"), refusal=_VENUE),
    _product(
        "WHOIS records",
        *("maintainer", "mnt_id", "admin_id", "tech_id", "netname", "id name updated"),
        refusal=_HOLDER,
    ),
    _product(
        "contacts",
        *("email", "emails.0", "abuse_email", "phone address", "phone_numbers.0"),
        refusal=_CONTACT,
    ),
    _product("points of interest", "ssid", "bssid", "category brand", refusal=_VENUE),
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
    "geoname_id": tuple(
        stated(f"{place}.geoname_id")
        for place in ("city", "subdivisions.1", "subdivisions.0", "country", "continent")
    ),
    **{
        name: known(f"location.{name}")
        for name in ("accuracy_radius", "metro_code", "average_income", "population_density")
    },
    **{
        f"{name}_{part}": known(f"{place}.{key}")
        for name, place in (("city", "city"), ("region", "subdivisions.0"), ("country", "country"))
        for part, key in (("geoname_id", "geoname_id"), ("name_LANG", "names.LANG"))
    },
    **{
        f"{name}_confidence": known(f"{place}.confidence")
        for name, place in (
            *(("country", "country"), ("subdivision", "subdivisions.0")),
            *(("city", "city"), ("postal", "postal")),
        )
    },
    "subdivision_2_code": known("subdivisions.1.iso_code"),
    "subdivision_2_name": known("subdivisions.1.names.en"),
    "registered_country_code": known(_REGISTERED),
    "represented_country_code": known("represented_country.iso_code"),
    "represented_country_type": known("represented_country.type"),
    "static_ip_score": known("traits.static_ip_score"),
    # Below ``traits``, with the names of the CSV. There a flag that is blank is false.
    **{
        name: known(f"traits.{offer.columns[0]}") for name, offer in maxmind_products.TRAITS.items()
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
        "asn_domain": "connection.domain",
        "asn_kind": "connection.type",
        "user_type": "connection.type",
        "organization": "company.name",
        "domain": "company.domain",
        "isp": "carrier.name",
        "mcc": "carrier.mcc",
        "mnc": "carrier.mnc",
        "is_hosting": "security.is_cloud_provider",
        **{
            name: f"security.{name}"
            for name in ("is_anonymous", "is_proxy", "is_relay", "is_tor", "is_vpn")
        },
    }.items()
}
_IPREGISTRY_MARKS = ("location.country.code", "connection.asn", "connection.organization")


def _ipinfo(*names: str) -> list[Product]:
    return [product for product in ipinfo_products.PRODUCTS if product.name in names]


_FLAGS = _ipinfo("Privacy")[0]
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
            "mcc": ("mobile_country_code",),
            "mnc": ("mobile_network_code",),
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
    "user_type": (*_FLAGS.offers("user_type"), known("user_type"), known("as_type")),
    "connection_type": (*_FLAGS.offers("connection_type"), known("connection_type")),
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
        values={name: stated(name) for name in BY_SOURCE_COLUMN},
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
    _product("ipregistry", *_IPREGISTRY_MARKS, values=_IPREGISTRY),
    _product(
        "MaxMind's structure",
        *_NESTED_MARKS,
        values=_NESTED,
        finish=_locate,
        helpers=(_REGISTERED,),
    ),
    _of_csv("IP2Proxy", [ip2proxy.PRODUCT], None, "proxy_type"),
    _of_csv("iplocate", [iplocate.ASN]),
    _of_csv("IPinfo", _ipinfo("ASN"), None, "asn name domain"),
    _product(
        "IPNetDB",
        "as as_entity",
        values={"asn": known("as"), "asn_organization": known("as_entity")},
    ),
    _product("flat records", *_FLAT_MARKS, values=_FLAT),
    _of_csv("MaxMind", (csv for csv in maxmind_products.PRODUCTS if csv.refusal), _MAXMIND),
    _product("hosted domains", "domains total", refusal=NO_FIELD),
    _product("host names", "hostname", refusal=NO_FIELD),
    _of_csv("IPinfo", _ipinfo("Residential Proxy")),
    _product("contacts", "abuse.email", "abuse.address", "abuse.emails.0", refusal=_CONTACT),
)
