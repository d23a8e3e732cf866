"""What each path of an answer means: its type, unit and meaning, as ``docs/contract.md`` has them.

Not part of ``fields``: a lookup does not need these texts.
"""

from __future__ import annotations

from typing import NamedTuple

from geolookup.contract.fields import FIELDS, GROUPS
from geolookup.contract.types import FieldPath


class FieldInfo(NamedTuple):
    """A path of an answer.

    ``type`` is that of JSON: ``string``, ``number``, ``integer``, ``boolean``, ``strings`` (a list
    of them) or ``object``. ``unit`` is empty where there is none.
    """

    path: FieldPath
    type: str
    unit: str
    meaning: str


#: Unit and meaning of each path, in contract order.
_MEANINGS: dict[FieldPath, tuple[str, str]] = {
    "ip": ("", "the address: IPv4 as given, IPv6 as RFC 5952 writes it"),
    "ip_type": ("", "`ipv4` or `ipv6`: the family of the address"),
    "location": ("", "continent, country and place"),
    "location.continent_code": ("", "two-letter code of the continent: `NA`"),
    "location.continent_name": ("", "English name of the continent"),
    "location.country_code": ("", "ISO 3166-1 alpha-2: `US`"),
    "location.country_code_iso3": ("", "ISO 3166-1 alpha-3: `USA`"),
    "location.country_name": ("", "English name of the country"),
    "location.country_capital": ("", "English name of the capital"),
    "location.country_tld": ("", "top-level domain, with its dot: `.us`"),
    "location.country_calling_code": ("", "ITU-T E.164, with a plus sign: `+1`"),
    "location.country_flag_emoji": ("", "flag: two regional indicator symbols of Unicode"),
    "location.country_languages": ("", "short codes of the primary or official languages"),
    "location.country_area_km2": ("km²", "area of the country"),
    "location.country_population": ("people", "population of the country"),
    "location.country_neighbors": ("", "alpha-2 codes of the neighbours by land; `[]` for none"),
    "location.country_is_eu": ("", "whether the country belongs to the European Union"),
    "location.region_code": ("", "code of the region, without the country"),
    "location.region_name": ("", "name of the region: state or province"),
    "location.city_name": ("", "name of the city"),
    "location.postal_code": ("", "postal code"),
    "location.latitude": ("degrees", "WGS 84; north is positive"),
    "location.longitude": ("degrees", "WGS 84; east is positive"),
    "location.weather_code": ("", "code of a weather station"),
    "time": ("", "local time, at the instant of the lookup"),
    "time.zone": ("", "IANA name: `America/Los_Angeles`"),
    "time.abbr": ("", "abbreviation of the time in use: `PST`"),
    "time.utc_offset": ("", "offset from UTC: `-08:00`"),
    "time.utc_offset_seconds": ("seconds", "`-28800`; west of UTC is negative"),
    "time.current_time": ("", "ISO 8601 with offset: `2026-11-20T00:23:07-08:00`"),
    "time.current_timestamp": ("seconds", "Unix time; never null"),
    "time.is_dst": ("", "whether daylight saving is in use"),
    "currency": ("", "currency of the country"),
    "currency.code": ("", "ISO 4217: `USD`"),
    "currency.name": ("", "English name"),
    "currency.symbol": ("", "symbol: `$`"),
    "network": ("", "who announces and uses the network"),
    "network.asn": ("", "number of the autonomous system; absent when unknown"),
    "network.asn_organization": ("", "organization that the autonomous system is registered for"),
    "network.isp": ("", "Internet service provider"),
    "network.organization": ("", "organization that uses the network"),
    "network.connection_type": (
        "",
        "`Corporate`, `Residential`, `Mobile`, `Satellite` or `Dialup`",
    ),
    "network.user_type": (
        "",
        (
            "`business`, `cafe`, `cellular`, `college`, `consumer_privacy_network`, "
            "`content_delivery_network`, `government`, `hosting`, `library`, `military`, "
            "`residential`, `router`, `school`, `search_engine_spider` or `traveler`"
        ),
    ),
}
#: JSON types by the name of the Arrow type of the column.
_TYPES = {
    "string": "string",
    "list<item: string>": "strings",
    "double": "number",
    "int64": "integer",
    "int32": "integer",
    "uint32": "integer",
    "bool": "boolean",
}


def fields() -> tuple[FieldInfo, ...]:
    """Return every path of an answer, with its type, unit and meaning, in contract order.

    A group (``"location"``) comes before its members (``"location.city_name"``). ``get``,
    ``get_many``, ``take`` and ``enrich`` take these paths. Raises no error.
    """
    types = {field.path: _TYPES[field.type] for field in FIELDS} | dict.fromkeys(GROUPS, "object")
    return tuple(FieldInfo(path, types[path], *_MEANINGS[path]) for path in _MEANINGS)
