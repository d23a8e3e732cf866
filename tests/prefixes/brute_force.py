"""Prefixes by answer written plainly: each network of the dataset, asked condition by condition."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from ipaddress import IPv4Network, IPv6Network, collapse_addresses
from typing import Any

Network = IPv4Network | IPv6Network


def meeting(
    networks: Iterable[tuple[Network, dict[str, Any]]], where: Mapping[str, Any]
) -> list[Network]:
    """Return the networks whose records meet all conditions of a mapping."""
    return [network for network, record in networks if meets(record, where)]


def collapsed(networks: Iterable[Network]) -> list[Network]:
    """Return the fewest networks that cover the same addresses, IPv4 first."""
    listed: Any = list(networks)
    families = ([network for network in listed if network.version == family] for family in (4, 6))
    return [network for of_family in families for network in collapse_addresses(of_family)]


def value(record: Mapping[str, Any], path: str) -> Any:
    """Return a value of a record; None where it is unknown or left out."""
    group, _, member = path.partition(".")
    return record[group].get(member)


def meets(record: Mapping[str, Any], where: Mapping[str, Any]) -> bool:
    """Return whether a record meets all conditions of a mapping, keyed by paths."""
    for key, wanted in where.items():
        if key == "not":
            if any(meets(record, {item: unwanted}) for item, unwanted in wanted.items()):
                return False
        elif not _meets_one(record, key, wanted):
            return False
    return True


def _meets_one(record: Mapping[str, Any], key: str, wanted: Any) -> bool:
    path = key.rstrip("=<>^~")
    if key.endswith("~"):
        return _is_at(record, wanted)
    result = value(record, path)
    listed = wanted if isinstance(wanted, list) else [wanted]
    values = result if isinstance(result, list) else [result]
    if key.endswith("^="):
        return any(item is not None and item.startswith(tuple(listed)) for item in values)
    if key == path:
        return any(item in listed for item in values)
    compare = {">=": float.__ge__, "<=": float.__le__, ">": float.__gt__, "<": float.__lt__}
    return result is not None and compare[key.removeprefix(path)](float(result), float(wanted))


def _is_at(record: Mapping[str, Any], wanted: tuple[float, ...]) -> bool:
    latitude, longitude = (value(record, f"location.{text}") for text in ("latitude", "longitude"))
    if latitude is None or longitude is None:
        return False
    if len(wanted) == 3:
        return _kilometres(latitude, longitude, *wanted[:2]) <= wanted[2]
    south, west, north, east = wanted
    across = west <= longitude <= east if west <= east else not east < longitude < west
    return south <= latitude <= north and across


def _kilometres(
    latitude: float, longitude: float, to_latitude: float, to_longitude: float
) -> float:
    """Return a distance by the spherical law of cosines; the product uses another formula."""
    one, other = math.radians(latitude), math.radians(to_latitude)
    turn = math.cos(math.radians(to_longitude - longitude))
    cosine = math.sin(one) * math.sin(other) + math.cos(one) * math.cos(other) * turn
    return 6371.0088 * math.acos(max(-1.0, min(1.0, cosine)))
