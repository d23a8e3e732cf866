"""The cells of an answer in a table: an overview, or chosen fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from geolookup.cli.terminal_text import charset, has_flags
from geolookup.contract.display import network_name, place_name
from geolookup.contract.fields import value_in

if TYPE_CHECKING:
    from geolookup.contract.fields import Field
    from geolookup.engine import Engine

_UNKNOWN = "-"
#: Makes the cells of an answer's data.
Cells = Callable[[dict[str, Any]], list[str]]


def overview(engine: Engine) -> Cells:
    """Return a function to the cells of data: address, place, local time, network, prefix."""
    with_flag = has_flags(charset())

    def cells(data: dict[str, Any]) -> list[str]:
        return [
            data["ip"],
            _place(data["location"], with_flag=with_flag),
            _local_time(data["time"]),
            network_name(data["network"]) or _UNKNOWN,
            str(engine.network(data["ip"])),
        ]

    return cells


def values(fields: tuple[Field, ...]) -> Cells:
    """Return a function to the cells of data: the address, then the values of fields."""

    def cells(data: dict[str, Any]) -> list[str]:
        return [data["ip"], *(shown(value_in(data, field)) for field in fields)]

    return cells


def _place(location: dict[str, Any], *, with_flag: bool) -> str:
    flag = location["country_flag_emoji"] if with_flag else None
    name = place_name(location) or "location unknown"
    return f"{flag} {name}" if flag else name


def _local_time(time: dict[str, Any]) -> str:
    """Return date, time to the minute, and the zone by its abbreviation, or by its offset."""
    if time["current_time"] is None:
        return _UNKNOWN
    date, _, clock = time["current_time"].partition("T")
    abbr = time["abbr"] if time["abbr"].isalpha() else f"UTC{time['utc_offset']}"
    return f"{date} {clock[:5]} {abbr}"


def shown(value: Any) -> str:
    """Return a value as text: yes or no, the items of a list, a dash if it is unknown."""
    if value is None:
        return _UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) if isinstance(value, list) else str(value)
