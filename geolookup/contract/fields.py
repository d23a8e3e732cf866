"""The fields of an answer: path, type, and the table and column that store each.

Envelope, kernels, tables, comparison, integrity and compiler derive their lists of fields
from this module. Fields are in contract order, and so are the columns of a table.
"""

from __future__ import annotations

from geolookup.errors import near_match

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from geolookup.contract.types import FieldPath

#: Names of Arrow types.
TEXT, TEXTS = "string", "list<item: string>"
#: The tables of a dataset that store fields.
COUNTRY, LOCATION, ZONE, NETWORK = "country", "location", "zone", "network"


class Field:
    """A member of an answer that is not an object; one instance for each path.

    Not a dataclass: importing dataclasses takes several milliseconds of a cold start.
    """

    __slots__ = (
        "column",
        "group",
        "layer",
        "member",
        "name",
        "nullable",
        "optional",
        "path",
        "table",
        "type",
    )

    def __init__(
        self,
        path: str,
        type: str,  # noqa: A002 - the name of the attribute
        table: str = "",
        layer: str = "",
        *,
        column: str = "",
        nullable: bool = True,
        optional: bool = False,
    ) -> None:
        self.path = path  # "location.country_code"
        #: the object that contains it ("": data itself), and its name in that object
        self.group, _, self.member = path.rpartition(".")
        self.name = path.replace(".", "_")  # of its column in an enriched table
        self.type = type  # the name of an Arrow type
        #: the table and the column that store its values; "" if they derive from the
        #: address, or from zone and instant
        self.table, self.column = table, column or (table and self.member)
        self.layer = layer  # one source decides all fields of a layer; "" if no table stores it
        self.nullable = nullable  # null if unknown
        self.optional = optional  # left out of the answer if unknown

    def __repr__(self) -> str:
        return f"Field({self.path!r})"


#: The fields of data.
FIELDS = (
    Field("ip", TEXT, nullable=False),
    Field("ip_type", TEXT, nullable=False),
    Field("location.continent_code", TEXT, COUNTRY, "location"),
    Field("location.continent_name", TEXT, COUNTRY, "location"),
    Field("location.country_code", TEXT, COUNTRY, "location"),
    Field("location.country_code_iso3", TEXT, COUNTRY, "location"),
    Field("location.country_name", TEXT, COUNTRY, "location"),
    Field("location.country_capital", TEXT, COUNTRY, "location"),
    Field("location.country_tld", TEXT, COUNTRY, "location"),
    Field("location.country_calling_code", TEXT, COUNTRY, "location"),
    Field("location.country_flag_emoji", TEXT, COUNTRY, "location"),
    Field("location.country_languages", TEXTS, COUNTRY, "location"),
    Field("location.country_area_km2", "double", COUNTRY, "location"),
    Field("location.country_population", "int64", COUNTRY, "location"),
    Field("location.country_neighbors", TEXTS, COUNTRY, "location"),
    Field("location.country_is_eu", "bool", COUNTRY, "location"),
    Field("location.region_code", TEXT, LOCATION, "location"),
    Field("location.region_name", TEXT, LOCATION, "location"),
    Field("location.city_name", TEXT, LOCATION, "location"),
    Field("location.postal_code", TEXT, LOCATION, "location"),
    Field("location.latitude", "double", LOCATION, "location"),
    Field("location.longitude", "double", LOCATION, "location"),
    Field("location.weather_code", TEXT, LOCATION, "location"),
    Field("time.zone", TEXT, ZONE, "location"),
    Field("time.abbr", TEXT),
    Field("time.utc_offset", TEXT),
    Field("time.utc_offset_seconds", "int32"),
    Field("time.current_time", TEXT),
    Field("time.current_timestamp", "int64", nullable=False),
    Field("time.is_dst", "bool"),
    Field("currency.code", TEXT, COUNTRY, "location", column="currency_code"),
    Field("currency.name", TEXT, COUNTRY, "location", column="currency_name"),
    Field("currency.symbol", TEXT, COUNTRY, "location", column="currency_symbol"),
    Field("network.asn", "uint32", NETWORK, "asn", optional=True),
    Field("network.asn_organization", TEXT, NETWORK, "asn"),
    Field("network.isp", TEXT, NETWORK, "isp"),
    Field("network.organization", TEXT, NETWORK, "organization"),
    Field("network.connection_type", TEXT, NETWORK, "connection_type"),
    Field("network.user_type", TEXT, NETWORK, "user_type"),
)
#: A member of the envelope, not of data. Only tables have it as a column, and only on request.
ERROR_CODE = Field("error_code", "int32")

#: What an enriched table can have as columns.
COLUMNS = (*FIELDS, ERROR_CODE)

#: In each layer one source decides all fields; ``docs/recipe.md`` lists the fields of each.
LAYERS = tuple(dict.fromkeys(field.layer for field in FIELDS if field.layer))
#: The greatest absolute value of coordinates, in degrees.
DEGREES = {"latitude": 90.0, "longitude": 180.0}
#: The objects of data.
GROUPS = tuple(dict.fromkeys(field.group for field in FIELDS if field.group))
#: The paths that ``Engine.get`` accepts: members and groups of data, in contract order.
PATHS: tuple[FieldPath, ...] = (  # a test compares them with the type
    *(field.path for field in FIELDS if not field.group),  # type: ignore[arg-type]
    *GROUPS,  # type: ignore[arg-type]
    *(field.path for field in FIELDS if field.group),  # type: ignore[arg-type]
)


def in_table(table: str) -> tuple[Field, ...]:
    """Return the fields that a table of the dataset stores, in the order of its columns."""
    return tuple(field for field in FIELDS if field.table == table)


def members(fields: Iterable[Field], group: str) -> tuple[str, ...]:
    """Return the member names of those fields that are in a group."""
    return tuple(field.member for field in fields if field.group == group)


COUNTRY_MEMBERS = members(in_table(COUNTRY), "location")
#: The members of location that depend on the place within the country.
PLACE_MEMBERS = members(in_table(LOCATION), "location")
LOCATION_MEMBERS = members(FIELDS, "location")
TIME_MEMBERS = members(FIELDS, "time")
CURRENCY_MEMBERS = members(FIELDS, "currency")
NETWORK_MEMBERS = members(FIELDS, "network")
#: The members of a network object whose ``asn`` is unknown.
NETWORK_MEMBERS_WITHOUT_ASN = members((each for each in FIELDS if not each.optional), "network")
#: The fields that a source row may state in each layer; the others follow from them.
STATED = {
    layer: tuple(field.member for field in FIELDS if field.layer == layer) for layer in LAYERS
} | {"location": ("continent_code", "country_code", *PLACE_MEMBERS, "time_zone")}


def value_in(data: Mapping[str, Any], field: Field) -> Any:
    """Return the value of a field in data; None if it is unknown or absent."""
    return (data[field.group] if field.group else data).get(field.member)


def expanded(paths: Iterable[str], known: tuple[Field, ...]) -> tuple[Field, ...]:
    """Return the fields that paths name, groups expanded, each once, in the order given.

    Raises ValueError for a path that names none of those ``known``.
    """
    chosen: dict[Field, None] = {}
    for path in paths:
        found = [field for field in known if path in (field.path, field.group) and path]
        if not found:
            raise unknown_path(path, *(field.path for field in known if field.path not in PATHS))
        chosen.update(dict.fromkeys(found))
    return tuple(chosen)


def unknown_path(path: object, *more: str) -> ValueError:
    """Return the error for a path that is neither in ``PATHS`` nor in ``more``.

    Arguments in the wrong order make an address the path: the text does not contain it.
    """
    if not isinstance(path, str) and hasattr(path, "__iter__"):
        return ValueError("no field or group: get takes one path, get_many takes several")
    from geolookup.contract.other_names import path_called

    known = "write location, time, currency, network or a member, such as location.country_code"
    if is_address_or_network(path):
        return ValueError(f"no field or group, but an address; {known}")
    called = path_called(str(path))
    hint = near_match(called or path, (called,) if called else (*PATHS, *more), fallback=known)
    return ValueError(f"no field or group {path!r}; {hint}")


def is_address_or_network(value: object) -> bool:
    """Return whether a value is an address or a network, also as ``clean=True`` reads it.

    Such a value stands in no message.
    """
    from geolookup.contract.address import is_address
    from geolookup.contract.cleaning import clean_text

    return is_address(str(clean_text(str(value).partition("/")[0])))
