"""Formats without a header: DB-IP, sapics, iptoasn, ip2region, each a catalogue of tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from geolookup.errors import BuildError
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.formats.headerless import END, TABS, Catalogue
from geolookup_builder.sources.formats.vendor_values import known, located, offers
from geolookup_builder.sources.reading import sniffing
from geolookup_builder.sources.reading.products import Product, stated
from geolookup_builder.sources.reading.reader import SourceTable

_RANGE = ("start", "end")
_ADDRESSES = dict.fromkeys(_RANGE, sniffing.ADDRESS)
_ENDS = dict.fromkeys(_RANGE, END)
_POSITION = ("latitude", "longitude")
_BY_POSITION = 'or read it as format = "csv" with header = false and columns by position'


# DB-IP, Lite and paid. ``ZZ`` and coordinates of 0,0 mean "unknown".
_PLACE = "district city zipcode latitude longitude geoname_id"
_ZONE = "timezone_offset timezone_name weather_code"
_DBIP_TABLES = {
    "location-isp": f"continent country stateprov {_PLACE} {_ZONE} "
    "isp_name as_number connection_type organization_name",
    "location": f"continent country stateprov_code stateprov {_PLACE} {_ZONE}",
    "city-lite": "continent country stateprov city latitude longitude",
    "isp": "continent country isp_name as_number usage_type connection_type organization_name",
    "country": "continent country",
    "country-lite": "country",
    "asn-lite": "as_number as_organization",
}
_DBIP = Catalogue(
    Product(
        "DB-IP",
        (_RANGE,),
        {
            "continent_code": known("continent", missing="ZZ"),
            "country_code": known("country", missing="ZZ"),
            **offers(
                """
                region_code=stateprov_code region_name=stateprov city_name=city postal_code=zipcode
                latitude longitude time_zone=timezone_name weather_code isp=isp_name asn=as_number
                asn_organization=as_organization organization=organization_name connection_type
                user_type=usage_type usage_type district
                """
            ),
            "geoname_id": known("geoname_id", missing="0"),
        },
        unread=("timezone_offset",),
        finish=located,
    ),
    _DBIP_TABLES,
    (_ADDRESSES,),
    {
        "continent": sniffing.ALPHA2,
        "country": sniffing.ALPHA2,
        **dict.fromkeys(_POSITION, sniffing.DEGREES),
        "as_number": sniffing.AS_NUMBER,
    },
    f'write layout = "…" in the recipe, one of {", ".join(_DBIP_TABLES)}, {_BY_POSITION}',
    # The lookahead refuses dbip-country-foo-2026 but not dbip-country-2026-01.
    named=re.compile(rf"dbip-({'|'.join(_DBIP_TABLES)})(?![a-z-]*[a-z])", re.IGNORECASE),
    detected={"continent": re.compile("AF|AN|AS|EU|NA|OC|SA|ZZ")},
    option="layout",
)

# The ip-location-db collection of sapics. The number of columns tells country, AS and city files
# apart. City files have their columns in one of two orders, as in the files and as on the page of
# the collection: the one in which the coordinates have a fraction is used.
#: "52.3740": neither postcodes nor names are numbers with a fraction.
_FRACTION = re.compile(r"[+-]?[0-9]{1,3}\.[0-9]+")
_SAPICS = Catalogue(
    Product(
        "sapics",
        (_RANGE,),
        offers(
            """
            country_code region_name=state1 city_name=city postal_code=postcode latitude longitude
            time_zone=timezone asn asn_organization=organisation subdivision_2_name=state2
            """
        ),
        finish=located,
    ),
    {
        "city": "country_code state1 state2 city postcode latitude longitude timezone;"
        "country_code city state1 state2 latitude longitude postcode timezone",
        "country": "country_code",
        "asn": "asn organisation",
    },
    (_ENDS,),
    {
        "country_code": sniffing.ALPHA2,
        "asn": sniffing.AS_NUMBER,
        **dict.fromkeys(_POSITION, _FRACTION),
    },
    f"name a country, asn or city file, {_BY_POSITION}",
    # These and zones of IANA's database distinguish the files from others of the same width.
    named=re.compile(r"-ipv[46](?:-num)?(?![a-z0-9-])", re.IGNORECASE),
    detected={"timezone": re.compile(r"[A-Z][A-Za-z_]+/.+")},  # "Europe/Paris"
)
# iptoasn.com. Quotes in descriptions are plain characters. The country is where the holder of the
# AS is registered; it is read as a location only with ``countries = true``.
_HOLDER = known("country_code", missing="None")
_IPTOASN = Catalogue(
    Product(
        "iptoasn",
        (_RANGE,),
        {
            "asn": stated("AS_number"),
            "asn_organization": known("AS_description", missing="Not routed"),
            "asn_country_code": _HOLDER,
        },
    ),
    {"asn": "AS_number country_code AS_description"},
    (_ENDS,),
    {"AS_number": sniffing.AS_NUMBER, "country_code": sniffing.ALPHA2},
    "name one of its .tsv files",
    missing=("None",),
    layout=TABS,
    suffix=".tsv",
)


def _read_iptoasn(spec: SourceSpec) -> Iterator[SourceTable]:
    countries = spec.options.get("countries", False)
    if not isinstance(countries, bool):
        problem = "source.countries is neither true nor false"
        raise BuildError(spec.recipe, problem, remedy="write countries = true")
    product, location = _IPTOASN.product, {"country_code": _HOLDER} if countries else {}
    product = replace(product, values={**product.values, **location})
    return replace(_IPTOASN, product=product).read(spec)


# ip2region's source text: pipes, ``0`` for unknown. The newer layout ends with country codes, the
# older with providers.
_IP2REGION = Catalogue(
    Product(
        "ip2region",
        (_RANGE,),
        offers(
            "country_code=alpha2 region_name=province city_name=city isp=ISP",
            partial(known, missing="0"),
        ),
        unread=("country", "area"),
    ),
    {"regions": "country province city ISP alpha2;country area province city ISP"},
    (_ADDRESSES,),
    {"alpha2": sniffing.ALPHA2, "ISP": re.compile("(?![A-Za-z]{2}$).*")},
    "name its text file, not the .xdb made from it",
    missing=("0",),
    layout=replace(TABS, delimiter="|"),
    suffix=".txt",
)

DBIP = _DBIP.source_format("dbip")
SAPICS = _SAPICS.source_format("sapics")
IPTOASN = replace(
    _IPTOASN.source_format("iptoasn"), options=frozenset({"countries"}), read=_read_iptoasn
)
IP2REGION = _IP2REGION.source_format("ip2region")
