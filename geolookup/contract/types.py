"""The envelope, its members and the paths to them as types, for mypy and Pyright.

At run time an answer is a plain ``dict``; ``docs/contract.md`` describes each member. ``X | Any``
stands where a value may be None, but asking each time would only get in the way: type checkers
accept ``answer["data"]["location"]["city_name"]``, and know the members of ``data``. The
annotations are evaluated, so that ``__optional_keys__`` is right.
"""

from collections.abc import Iterable
from typing import Any, Literal, NotRequired, TypedDict

#: Paths by the type of their values. Those of ``AddressPath`` and ``InstantPath`` are never None.
# --- written by python -m docs.fields: paths
StringPath = Literal[
    "location.continent_code",
    "location.continent_name",
    "location.country_code",
    "location.country_code_iso3",
    "location.country_name",
    "location.country_capital",
    "location.country_tld",
    "location.country_calling_code",
    "location.country_flag_emoji",
    "location.region_code",
    "location.region_name",
    "location.city_name",
    "location.postal_code",
    "location.weather_code",
    "time.zone",
    "time.abbr",
    "time.utc_offset",
    "time.current_time",
    "currency.code",
    "currency.name",
    "currency.symbol",
    "network.asn_organization",
    "network.isp",
    "network.organization",
    "network.connection_type",
    "network.user_type",
]
StringsPath = Literal["location.country_languages", "location.country_neighbors"]
NumberPath = Literal["location.country_area_km2", "location.latitude", "location.longitude"]
IntegerPath = Literal["location.country_population", "time.utc_offset_seconds", "network.asn"]
BooleanPath = Literal["location.country_is_eu", "time.is_dst"]
AddressPath = Literal["ip", "ip_type"]
InstantPath = Literal["time.current_timestamp"]
GroupPath = Literal["location", "time", "currency", "network"]
# --- end of what it wrote
#: Every path that ``get`` and ``get_many`` take; ``contract.fields`` has the same list.
FieldPath = (
    AddressPath
    | GroupPath
    | StringPath
    | StringsPath
    | NumberPath
    | IntegerPath
    | BooleanPath
    | InstantPath
)
#: What ``enrich`` can add to a table.
ColumnPath = FieldPath | Literal["error_code"]
#: One path or several. Lists and tuples may hold any text: they often come from settings.
FieldPaths = FieldPath | Iterable[FieldPath] | list[str] | tuple[str, ...]
ColumnPaths = ColumnPath | Iterable[ColumnPath] | list[str] | tuple[str, ...]
#: What ``enrich`` does with a row that has no answer.
OnInvalid = Literal["null", "raise"]


# --- written by python -m docs.fields: objects


class Location(TypedDict):
    """Where an address is: continent, country and place. None: unknown."""

    continent_code: str | None
    continent_name: str | None
    country_code: str | None
    country_code_iso3: str | None
    country_name: str | None
    country_capital: str | None
    country_tld: str | None
    country_calling_code: str | None
    country_flag_emoji: str | None
    country_languages: list[str] | None
    country_area_km2: float | None
    country_population: int | None
    country_neighbors: list[str] | None
    country_is_eu: bool | None
    region_code: str | None
    region_name: str | None
    city_name: str | None
    postal_code: str | None
    latitude: float | None
    longitude: float | None
    weather_code: str | None


class Time(TypedDict):
    """The local time of an address. None: the zone is unknown."""

    zone: str | None
    abbr: str | None
    utc_offset: str | None
    utc_offset_seconds: int | None
    current_time: str | None
    current_timestamp: int
    is_dst: bool | None


class Currency(TypedDict):
    """The currency of the country. None: unknown."""

    code: str | None
    name: str | None
    symbol: str | None


class Network(TypedDict):
    """Who announces and uses the network of an address. None: unknown; so is an absent ``asn``."""

    asn: NotRequired[int]
    asn_organization: str | None
    isp: str | None
    organization: str | None
    connection_type: str | None
    user_type: str | None


# --- end of what it wrote


class Data(TypedDict):
    """What is known of an address."""

    ip: str
    ip_type: Literal["ipv4", "ipv6"]
    location: Location
    time: Time
    currency: Currency
    network: Network


class Envelope(TypedDict):
    """An answer: ``data``, or the code and the message of an error."""

    success: bool
    data: Data | Any
    error: bool
    error_code: int | None
    error_message: str | None
