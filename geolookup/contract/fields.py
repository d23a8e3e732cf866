"""The fields of an answer: one entry says everything about a field.

Envelope, kernels, tables, comparison, integrity and compiler derive their lists of fields from
``ENTRIES`` when they are imported. Types, tables of pages and the JSON Schema are texts;
``python -m docs.fields`` writes them from the entries. Entries are in contract order, and so are
the columns of a table.

To add a field: write its entry, run ``python -m docs.fields``, build the kernel, compile the
bundled dataset again. ``tests/contract/test_new_field.py`` does that.

The columns that a user declares in a recipe are fields too, in the group ``OWN``. They are known at
run time only: ``schema.Schema`` has the fields of a dataset.
"""

from __future__ import annotations

from sys import float_info

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from geolookup.contract.types import FieldName

#: The types of values are names of Arrow types; an entry with members has ``OBJECT``.
TEXT, TEXTS, REAL, BOOLEAN, OBJECT = "string", "list<item: string>", "double", "bool", ""
#: The types of numbers: ``REAL`` and integers of several sizes, with the least and the most.
LIMITS = {
    REAL: (-float_info.max, float_info.max),
    "int32": (-(1 << 31), (1 << 31) - 1),
    "int64": (-(1 << 63), (1 << 63) - 1),
    "uint32": (0, (1 << 32) - 1),
}
#: The tables of a dataset that store fields; ``OWN`` is also the group of a dataset's own columns.
COUNTRY, LOCATION, ZONE, NETWORK, OWN = "country", "location", "zone", "network", "own"
#: Before the name of an own column, in its path and its layer.
OWN_PREFIX = f"{OWN}."


class Field:
    """A path of an answer; one instance for each.

    Not a dataclass: importing dataclasses takes several milliseconds of a cold start.
    """

    __slots__ = (
        "check",
        "column",
        "example",
        "group",
        "layer",
        "least",
        "maxmind",
        "meaning",
        "member",
        "most",
        "name",
        "nullable",
        "optional",
        "other_names",
        "path",
        "private",
        "short_name",
        "source_column",
        "table",
        "type",
        "unit",
        "words",
    )

    def __init__(
        self,
        path: str,
        type: str,  # noqa: A002 - the name of the attribute
        meaning: str,
        example: object = None,
        *,
        table: str = "",
        layer: str = "",
        column: str = "",
        source_column: str | None = None,
        nullable: bool = True,
        optional: bool = False,
        private: bool = False,
        check: str = "",
        words: tuple[str, ...] = (),
        least: float | None = None,
        most: float | None = None,
        unit: str = "",
        short_name: str = "",
        other_names: str = "",
        maxmind: str = "",
    ) -> None:
        self.path = path  # "location.country_code"
        #: the object that contains it ("": data itself), and its name in that object
        self.group, _, self.member = path.rpartition(".")
        self.name = path.replace(".", "_")  # of its column in an enriched table
        #: the shortest name that calls and options accept
        self.short_name = short_name or self.member
        self.type = type
        #: the table and the column that store its values; "" if they derive from the
        #: address, or from zone and instant
        # table "" -> column ""; else the stated column, else the member's name.
        self.table, self.column = table, column or (table and self.member)
        self.layer = layer  # one source decides all fields of a layer; "" if no table stores it
        #: the column of a source with its values; "" if they follow from others
        self.source_column = source_column or ""
        if source_column is None and table in (LOCATION, NETWORK):
            self.source_column = self.member
        self.nullable = nullable  # null if unknown
        self.optional = optional  # left out of the answer if unknown; only the first of a table
        self.private = private  # known in special-purpose space too
        #: how the compiler reads a cell, if not by the type: a function of its ``values``
        self.check = check
        self.words = words  # the only values, if there are a few
        #: the limits of a number
        lowest, highest = LIMITS.get(type, (0, 0))
        self.least = lowest if least is None else least
        self.most = highest if most is None else most
        self.meaning, self.unit = meaning, unit
        self.example = example  # a value, as JSON has it
        #: in other products and tables, in lower case and without separators ("countrycode"),
        #: from the models of geoip2, the JSON of ipinfo, ip-api and ipapi, IP2Location, geoip2fast
        self.other_names = other_names
        self.maxmind = maxmind  # the path of its key in records of MaxMind's structure

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the field in calls and options, the path first.

        The member is one, unless it is clear only within its group: ``code`` is not,
        ``currency_code`` is. So is the column of sources: ``time_zone`` is ``time.zone``.
        """
        is_clear = not self.short_name.endswith(f"_{self.member}")
        member = [self.member] if is_clear else []
        column = [self.source_column] if self.source_column else []
        return tuple(dict.fromkeys((self.path, *member, *column, self.short_name)))

    def __repr__(self) -> str:
        return f"Field({self.path!r})"


def _country(member: str, *about: Any, **more: Any) -> Field:
    return Field(f"location.{member}", *about, table=COUNTRY, layer="location", **more)


def _location(member: str, *about: Any, **more: Any) -> Field:
    return Field(f"location.{member}", *about, table=LOCATION, layer="location", **more)


def _currency(member: str, *about: Any, **more: Any) -> Field:
    column = f"currency_{member}"
    return Field(
        f"currency.{member}", *about, table=COUNTRY, layer="location", column=column, **more
    )


def _network(member: str, *about: Any, layer: str = "", **more: Any) -> Field:
    return Field(f"network.{member}", *about, table=NETWORK, layer=layer or member, **more)


_USER_TYPES = (
    *("business", "cafe", "cellular", "college", "consumer_privacy_network"),
    *("content_delivery_network", "government", "hosting", "library", "military"),
    *("residential", "router", "school", "search_engine_spider", "traveler"),
)

#: All paths of an answer; an object comes before its members.
# fmt: off
ENTRIES = (
    Field("ip", TEXT, "the address: IPv4 as given, IPv6 as RFC 5952 writes it", "8.8.8.8",
        nullable=False, other_names="address ipaddress query host"),
    Field("ip_type", TEXT, "the family of the address", "ipv4", nullable=False,
        words=("ipv4", "ipv6"), other_names="version ipversion family type"),
    Field("location", OBJECT, "continent, country and place", other_names="geo place"),
    _country("continent_code", TEXT, "two-letter code of the continent", "NA",
        source_column="continent_code", check="continent", short_name="continent",
        maxmind="continent.code"),
    _country("continent_name", TEXT, "English name of the continent", "North America",
        maxmind="continent.names.en"),
    _country("country_code", TEXT, "ISO 3166-1 alpha-2", "US", source_column="country_code",
        check="country",
        short_name="country", other_names="iso isocode countryiso countryisocode countryshort cc "
            "registeredcountry registeredcountryisocode",
        maxmind="country.iso_code"),
    _country("country_code_iso3", TEXT, "ISO 3166-1 alpha-3", "USA",
        other_names="iso3 countryiso3 isoalpha3"),
    _country("country_name", TEXT, "English name of the country", "United States",
        other_names="countrylong countrynamesen countryfullname", maxmind="country.names.en"),
    _country("country_capital", TEXT, "English name of the capital", "Washington",
        other_names="capital"),
    _country("country_tld", TEXT, "top-level domain, with its dot", ".us", other_names="tld"),
    _country("country_calling_code", TEXT, "ITU-T E.164, with a plus sign", "+1",
        other_names="callingcode dialcode phonecode iddcode"),
    _country("country_flag_emoji", TEXT, "flag: two regional indicator symbols of Unicode",
        "\U0001f1fa\U0001f1f8", other_names="flag emoji emojiflag"),
    _country("country_languages", TEXTS, "short codes of the primary or official languages", ["en"],
        other_names="language languages"),
    _country("country_area_km2", REAL, "area of the country", 9833517, least=0.0, unit="km²",
        other_names="area countryarea"),
    _country("country_population", "int64", "population of the country", 341963000, least=0,
        unit="people", other_names="population"),
    _country("country_neighbors", TEXTS, "alpha-2 codes of the neighbours by land; `[]` for none",
        ["CA", "MX"], other_names="neighbors neighbours borders"),
    _country("country_is_eu", BOOLEAN, "whether the country belongs to the European Union", False,
        other_names="eu iseu ineu isineuropeanunion countryisineuropeanunion",
        maxmind="country.is_in_european_union"),
    _location("region_code", TEXT, "code of the region, without the country", "CA",
        check="region",
        other_names="state statecode subdivisioncode province provincecode",
        maxmind="subdivisions.0.iso_code"),
    _location("region_name", TEXT, "name of the region: state or province", "California",
        short_name="region", other_names="statename subdivision subdivisions provincename",
        maxmind="subdivisions.0.names.en"),
    _location("city_name", TEXT, "name of the city", "San Francisco",
        short_name="city", other_names="town citynamesen citynames", maxmind="city.names.en"),
    _location("postal_code", TEXT, "postal code", "94107",
        short_name="postal", other_names="zip zipcode postcode postalzip", maxmind="postal.code"),
    _location("latitude", REAL, "WGS 84, north is positive", 37.7697, least=-90.0, most=90.0,
        unit="degrees", short_name="lat", maxmind="location.latitude"),
    _location("longitude", REAL, "WGS 84, east is positive", -122.3933, least=-180.0, most=180.0,
        unit="degrees", short_name="lon", other_names="lng long", maxmind="location.longitude"),
    _location("weather_code", TEXT, "code of a weather station", "USCA0987",
        other_names="weather weatherstationcode weatherstation"),
    Field("time", OBJECT, "local time, at the instant of the lookup",
        other_names="localtime datetime"),
    Field("time.zone", TEXT, "IANA name", "America/Los_Angeles", table=ZONE, layer="location",
        source_column="time_zone", check="zone",
        short_name="timezone", other_names="tz timezonename timezoneid tzname",
        maxmind="location.time_zone"),
    Field("time.abbr", TEXT, "abbreviation of the time in use", "PST"),
    Field("time.utc_offset", TEXT, "offset from UTC", "-08:00",
        other_names="offset gmtoffset timezoneoffset"),
    Field("time.utc_offset_seconds", "int32", "offset from UTC; west of UTC is negative", -28800,
        unit="seconds", other_names="offsetseconds"),
    Field("time.current_time", TEXT, "ISO 8601 with offset", "2026-11-20T00:23:07-08:00"),
    Field("time.current_timestamp", "int64", "Unix time; never null", 1795162987, nullable=False,
        unit="seconds"),
    Field("time.is_dst", BOOLEAN, "whether daylight saving is in use", False,
        other_names="dst daylightsaving"),
    Field("currency", OBJECT, "currency of the country"),
    _currency("code", TEXT, "ISO 4217", "USD", short_name="currency_code"),
    _currency("name", TEXT, "English name", "US Dollar", short_name="currency_name"),
    _currency("symbol", TEXT, "symbol", "$", short_name="currency_symbol"),
    Field("network", OBJECT, "who announces and uses the network"),
    _network("asn", "uint32", "number of the autonomous system, never 0", 13335,
        optional=True, check="asn", least=1,  # AS 0 is reserved (RFC 7607)
        other_names="as asnumber autonomoussystemnumber",
        maxmind="traits.autonomous_system_number"),
    _network("asn_organization", TEXT, "organization that the autonomous system is registered for",
        "Cloudflare, Inc.", layer="asn",
        other_names="asname asorg asorganization autonomoussystemorganization aso",
        maxmind="traits.autonomous_system_organization"),
    _network("isp", TEXT, "Internet service provider", "Cloudflare, Inc.",
        other_names="provider carrier internetserviceprovider", maxmind="traits.isp"),
    _network("organization", TEXT, "organization that uses the network", "Cloudflare DNS",
        other_names="org company companyname organisation organizationname",
        maxmind="traits.organization"),
    _network("connection_type", TEXT, "kind of line", "Corporate",
        words=("Corporate", "Residential", "Mobile", "Satellite", "Dialup"),
        other_names="connectiontype connection netspeed nettype speed",
        maxmind="traits.connection_type"),
    _network("user_type", TEXT, "kind of user", "hosting", words=_USER_TYPES,
        other_names="usertype usagetype usage hosting", maxmind="traits.user_type"),
)
# fmt: on
#: A member of the envelope, not of data. Only tables have it as a column, and only on request.
ERROR_CODE = Field("error_code", "int32", "code of the error")


def by_layer(fields: Iterable[Field]) -> dict[str, tuple[str, ...]]:
    """Return the source columns of each layer, for the fields that source rows may state."""
    columns: dict[str, tuple[str, ...]] = {}
    for field in fields:
        if field.source_column:
            columns[field.layer] = (*columns.get(field.layer, ()), field.source_column)
    return columns


#: The fields of data: its members that are not objects.
FIELDS = tuple(entry for entry in ENTRIES if entry.type != OBJECT)
#: The objects of data.
GROUPS = tuple(entry.path for entry in ENTRIES if entry.type == OBJECT)
#: The fields that a table of the dataset stores: not the fields of the address and the instant.
STORED = tuple(field for field in FIELDS if field.table)
#: The columns that an enriched table can have.
COLUMNS = (*FIELDS, ERROR_CODE)
#: The columns of each layer that a source row may state; other fields follow from them.
#: In each layer one source decides all fields; ``docs/data/recipe.md`` lists the fields of each.
STATED = by_layer(FIELDS)
LAYERS = tuple(STATED)
#: The field by its column in sources.
BY_SOURCE_COLUMN = {field.source_column: field for field in FIELDS if field.source_column}
#: The field at each path in records of MaxMind's structure; a digit is a position in a list.
MAXMIND = {field.maxmind: field for field in FIELDS if field.maxmind}
#: Country codes in use that ISO 3166 does not assign: UK is reserved for the United Kingdom,
#: and the European Union writes both (Interinstitutional Style Guide, section 7.1).
COUNTRY_ALIASES = {"UK": "GB", "EL": "GR"}
#: The greatest absolute value of coordinates, in degrees.
DEGREES = {field.member: float(field.most) for field in FIELDS if field.unit == "degrees"}
#: The paths that ``Engine.get`` accepts: members and groups of data, in contract order.
PATHS: tuple[FieldName, ...] = (  # a test compares them with the type
    *(entry.path for entry in ENTRIES if not entry.group),  # type: ignore[arg-type]
    *(entry.path for entry in ENTRIES if entry.group),  # type: ignore[arg-type]
)


def _names() -> dict[str, str]:
    names = {group: group for group in GROUPS}
    for field in FIELDS:
        # setdefault: of equal members the first field in contract order has the name.
        for name in field.names:
            names.setdefault(name, field.path)
    return names


#: The path of each name of a field or group: ``city``, ``city_name``, ``location.city_name``.
NAMES = _names()


def in_table(table: str) -> tuple[Field, ...]:
    """Return the fields that a table of the dataset stores, in the order of its columns."""
    return tuple(field for field in FIELDS if field.table == table)


def members(fields: Iterable[Field], group: str) -> tuple[str, ...]:
    """Return the member names of those fields that are in a group."""
    return tuple(field.member for field in fields if field.group == group)


COUNTRY_MEMBERS = members(in_table(COUNTRY), "location")
#: The members of location that depend on the place within the country.
PLACE_MEMBERS = members(in_table(LOCATION), "location")
TIME_MEMBERS = members(FIELDS, "time")
CURRENCY_MEMBERS = members(FIELDS, "currency")
NETWORK_MEMBERS = members(FIELDS, "network")


def value_in(data: Mapping[str, Any], field: Field) -> Any:
    """Return the value of a field in data; None if it is unknown or absent."""
    return (data[field.group] if field.group else data).get(field.member)
