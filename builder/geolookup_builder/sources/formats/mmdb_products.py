"""The products that MMDB files are of: how each is recognised, and the meaning of its keys.

A file is of the first product of the table whose conditions it meets. Keys are paths in a
record, such as ``city.names.en``. A file's metadata decides little: converters write
MaxMind's database types into files of other content.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeAlias

from geolookup.contract.fields import BY_SOURCE_COLUMN, MAXMIND
from geolookup_builder.sources.formats import (
    ip2proxy,
    iplocate,
    maxmind_products,
    mmdb_ipinfo,
    mmdb_offers,
)
from geolookup_builder.sources.reading.own_values import NO_OFFERS, Offers

#: The keys that may state each field, in order of preference.
Paths: TypeAlias = Mapping[str, Sequence[str]]
#: For each field, the keys whose texts stand for values; None if a text states nothing.
Words: TypeAlias = Mapping[str, Mapping[str, Mapping[str, str | None]]]
NO_WORDS: Mapping[str, str | None] = MappingProxyType({})
#: Besides the fields: the country of registration, for records without a location.
REGISTERED = "registered_country_code"


@dataclass(frozen=True, slots=True)
class Product:
    """A product: its conditions, and the meaning of its keys, or why it is refused.

    Where stated, ``kind`` must occur in the database type or in a description of the file, and
    its records must have all keys of one set of ``marks``. True ``flags`` take precedence over
    the keys of a field; ``constants`` are what every record states. ``is_own``: the values come
    from a dataset, in which no word stands for "unknown". ``offers`` are the own columns that the
    records may have, ``own`` those that the recipe asks for; all keys of one are read.
    """

    name: str
    kind: re.Pattern[str] | None
    marks: tuple[frozenset[str], ...]
    fields: Paths = field(default_factory=dict)
    words: Words = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    refusal: str = ""
    is_own: bool = False
    offers: Offers = field(default_factory=dict)
    own: Offers = field(default_factory=dict)

    def with_own(self, own: Offers) -> Product:
        """Return the product with own columns among its fields."""
        words = {name: dict.fromkeys(offer.columns, NO_WORDS) for name, offer in own.items()}
        constants = {name: offer.constant for name, offer in own.items() if not offer.columns}
        return replace(
            self,
            words={**self.words, **words},
            constants={**self.constants, **constants},
            own=own,
        )

    def matching_marks(
        self, kinds: Collection[str], keys: Collection[str]
    ) -> frozenset[str] | None:
        """Return the marks of the product in a file; None if it is of another product."""
        if self.kind is not None and not any(map(self.kind.search, kinds)):
            return None
        if not self.marks:
            return frozenset()
        return next((marks for marks in self.marks if marks.issubset(keys)), None)


def matching_product(
    kinds: Collection[str], keys: Collection[str]
) -> tuple[Product, frozenset[str]] | None:
    """Return the product of a file, and the keys that decided; None if it is of none.

    ``kinds`` are the database type and the descriptions, ``keys`` the keys of the records.
    """
    for product in PRODUCTS:
        marks = product.matching_marks(kinds, keys)
        if marks is not None:
            return product, marks
    return None


def _kind(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _marks(*sets: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(keys.split()) for keys in sets)


_CONTACT = "its country and address belong to a contact, not to the addresses"
_HOLDER = "its country and address belong to the holder in a registry, not to the addresses"
_VENUE = "its place is a venue whose visitors used the address, not the place of the address"
_NO_FIELD = "no field of a dataset holds its values"

_IPINFO, _MAXMIND, _DBIP = _kind("^ipinfo "), _kind("^geo(ip2?|lite2)-?"), _kind("^dbip")
_REFUSED = (
    Product("IPinfo Abuse Contact", _kind("^ipinfo(?: .*)?[ _]abuse_"), (), refusal=_CONTACT),
    Product("IPinfo WHOIS", _kind("^ipinfo(?: .*)?[ _](?:r?whois|rir)"), (), refusal=_HOLDER),
    Product("IPinfo Places", _kind("^ipinfo(?: .*)?[ _](?:poi|places)"), (), refusal=_VENUE),
    Product(
        "WHOIS records",
        None,
        _marks("maintainer", "mnt_id", "admin_id", "tech_id", "netname", "id name updated"),
        refusal=_HOLDER,
    ),
    Product(
        "contacts",
        None,
        _marks("email", "emails.0", "abuse_email", "phone address", "phone_numbers.0"),
        refusal=_CONTACT,
    ),
    Product("points of interest", None, _marks("ssid", "bssid", "category brand"), refusal=_VENUE),
)

_STATED = {field.source_column: path for path, field in MAXMIND.items() if field.source_column}
_TRAITS = {name: path for name, path in _STATED.items() if path.startswith("traits.")}
#: Of MaxMind, and of the vendors that follow its structure.
_NESTED: Paths = {
    **{name: (path,) for name, path in _STATED.items()},
    REGISTERED: ("registered_country.iso_code",),
    # Some editions of DB-IP state plain codes and names.
    "continent_code": (_STATED["continent_code"], "continent"),
    "country_code": (_STATED["country_code"], "country"),
    "city_name": (_STATED["city_name"], "city"),
    "weather_code": ("location.weather_code",),
}
_NESTED_MARKS = _marks(
    "country.iso_code",
    "registered_country.iso_code",
    "continent.code",
    "city.names.en",
    "location.latitude",
    *_TRAITS.values(),
)
_PROVIDER: Paths = {name: (path.removeprefix("traits."),) for name, path in _TRAITS.items()}
_PROVIDER_MARKS = _marks("autonomous_system_number", "isp organization", "connection_type")

_FLAGS: Words = {
    name: {key: mmdb_ipinfo.flag_words(word) for key, word in flags.items()}
    for name, flags in mmdb_ipinfo.FLAGS.items()
}
_IPINFO_LOCATION = mmdb_ipinfo.FIELDS["Location"]


def _ipinfo(name: str, kind: re.Pattern[str] | None, *marks: str) -> Product:
    """Return a product of IPinfo with the fields of its CSV."""
    return Product(
        f"IPinfo {name}",
        kind,
        _marks(*marks),
        mmdb_ipinfo.FIELDS[name],
        _FLAGS,
        mmdb_ipinfo.CONSTANTS.get(name, {}),
        offers=mmdb_ipinfo.OFFERS[name],
    )


_IPINFO_PRODUCTS = (
    Product(
        "IPinfo Location, extended",
        None,
        _marks("city region region_name"),
        {**_IPINFO_LOCATION, "region_code": ("region",), "region_name": ("region_name",)},
        _FLAGS,
        offers=mmdb_ipinfo.OFFERS["Location"],
    ),
    *(_ipinfo(csv.name, _IPINFO, " ".join(csv.marks)) for csv in mmdb_ipinfo.PRODUCTS),
    # Only a carrier's name and country: the addresses may be in another country.
    _ipinfo("Carrier", _kind("^ipinfo(?: .*)?[ _]carrier"), "name", "carrier"),
    # The same, if the metadata is not of IPinfo; other products are flat records below.
    _ipinfo("Company", None, "name as_name"),
    _ipinfo("Carrier", None, "name mcc", "carrier mcc"),
    _ipinfo("Privacy", None, "vpn hosting"),
)

_IPREGISTRY = Product(
    "ipregistry",
    None,
    _marks("location.country.code", "connection.asn", "connection.organization"),
    {
        "continent_code": ("location.continent.code",),
        "country_code": ("location.country.code",),
        "region_code": ("location.region.code",),
        "region_name": ("location.region.name",),
        "city_name": ("location.city",),
        "postal_code": ("location.postal",),
        "latitude": ("location.latitude",),
        "longitude": ("location.longitude",),
        "time_zone": ("time_zone.id",),
        "asn": ("connection.asn",),
        "asn_organization": ("connection.organization",),
        "organization": ("company.name",),
        "isp": ("carrier.name",),
        "user_type": ("connection.type",),
    },
    offers=mmdb_offers.IPREGISTRY,
)

_PROXIES = Product(
    "IP2Proxy",
    None,
    _marks("proxy_type"),
    {
        **{name: (key,) for key, name in ip2proxy.FIELDS.items()},
        # As converters write them.
        "region_name": ("region", "region_name"),
        "city_name": ("city", "city_name"),
    },
    {"user_type": {"proxy_type": ip2proxy.USER_TYPES}},
    offers=ip2proxy.OFFERS,
)

#: Names of the fields themselves, and what other vendors call them.
_FLAT: Paths = {
    name: (name, *others)
    for name, others in {
        **dict.fromkeys(BY_SOURCE_COLUMN, ()),
        "continent_code": ("continent",),
        "country_code": ("country",),
        "region_name": ("region", "state1"),
        "city_name": ("city",),
        "postal_code": ("postal", "postcode", "zip_code"),
        "latitude": ("lat",),
        "longitude": ("lng",),
        "time_zone": ("timezone",),
        "asn": ("autonomous_system_number",),
        "asn_organization": ("as_name", "autonomous_system_organization"),
        "isp": ("carrier_name",),
        "user_type": ("as_type",),
    }.items()
}
_FLAT_MARKS = _marks(
    *("country_code", "country", "city", "asn", "autonomous_system_number", "isp"),
    *("connection_type", "user_type", "city_name", "asn_organization", "organization"),
)

#: Products of MaxMind that the reader of its CSV ignores too.
_MAXMIND_IGNORED = tuple(
    Product(
        f"MaxMind {csv.name}",
        _MAXMIND,
        (csv.marks,),
        refusal=_NO_FIELD,
        offers=maxmind_products.OFFERS.get(csv.name, NO_OFFERS),
    )
    for csv in maxmind_products.IGNORED
)

#: What ``geolookup export`` writes as flat.
_OWN = Product(
    "geolookup export",
    _kind("^geolookup-flat$"),
    (),
    {name: (name,) for name in BY_SOURCE_COLUMN},
    is_own=True,
)

#: In order of precedence; the table of docs/data/sources/mmdb.md lists them too.
PRODUCTS = (
    _OWN,
    *_REFUSED,
    *_IPINFO_PRODUCTS,
    _IPREGISTRY,
    *(
        Product(name, kind, _NESTED_MARKS, _NESTED, offers=mmdb_offers.NESTED)
        for name, kind in (
            ("MaxMind or IP2Location", _MAXMIND),
            ("DB-IP", _DBIP),
            ("records in MaxMind's structure", None),
        )
    ),
    Product(
        "MaxMind ASN, ISP or Connection-Type",
        _MAXMIND,
        _PROVIDER_MARKS,
        _PROVIDER,
        offers=maxmind_products.MOBILE,
    ),
    _PROXIES,
    # The country of an AS is where it is registered, not where the address is.
    Product(
        "iplocate ASN",
        None,
        _marks("asn name org"),
        {"asn": ("asn",), "asn_organization": ("org", "name")},
        offers=iplocate.OFFERS,
    ),
    _ipinfo("ASN", None, "asn name domain"),
    Product(
        "IPNetDB",
        None,
        _marks("as as_entity"),
        {"asn": ("as",), "asn_organization": ("as_entity",)},
    ),
    Product("flat records", None, _FLAT_MARKS, _FLAT, _FLAGS, offers=mmdb_offers.FLAT),
    *_MAXMIND_IGNORED,
    Product("hosted domains", None, _marks("domains total"), refusal=_NO_FIELD),
    Product("host names", None, _marks("hostname"), refusal=_NO_FIELD),
    Product(
        "residential proxies",
        None,
        _marks("service percent_days_seen"),
        refusal=_NO_FIELD,
        offers=mmdb_offers.RESIDENTIAL_PROXIES,
    ),
    Product(
        "contacts", None, _marks("abuse.email", "abuse.address", "abuse.emails.0"), refusal=_CONTACT
    ),
)
#: The own columns of all products.
OFFERED = frozenset(name for product in PRODUCTS for name in product.offers)
