"""Expected answers: an address or a network, a field, and the value that all its addresses have.

Strategy: the value of the first address is looked up. If it is the expected one, the prefixes of
the network with that value (``Engine.prefixes``) begin there, and end before the first address with
another value.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_network
from os import PathLike
from typing import Any

import geolookup
from geolookup.contract.address import EMBEDDED
from geolookup.contract.fields import Field
from geolookup.contract.paths import resolve_field
from geolookup.dataset.networks import Network
from geolookup.errors import DiffError
from geolookup.prefixes.condition_values import typed_value

Address = IPv4Address | IPv6Address
_FORM = 'write [ADDRESS, FIELD, VALUE], such as ["8.8.8.8", "country", "US"]'
_UNKNOWN = "write [ADDRESS, FIELD] for an unknown value"
_NETWORK = "write one like 8.8.8.8 or 8.8.8.0/24, without host bits"
_CARRIES = "has IPv4 addresses in it (mapped, 6to4 or NAT64), whose values IPv4 networks have"


@dataclass(frozen=True, slots=True)
class Expectation:
    """The value of a field for all addresses of a network: one of ``values``; none is unknown."""

    text: str
    network: Network
    field: Field
    values: tuple[Any, ...]

    def is_met_by(self, value: Any) -> bool:
        """Return whether a value is expected; of a list, one item must be."""
        if value is None:
            return not self.values
        items = value if isinstance(value, list) else [value]
        return any(item in self.values for item in items)


@dataclass(frozen=True, slots=True)
class Other:
    """The first address of an expectation that has another value, and that value."""

    address: str
    value: Any


def read_expectation(item: object, among: Sequence[Field]) -> Expectation:
    """Read ``[ADDRESS, FIELD, VALUE]``, or ``[ADDRESS, FIELD]`` for an unknown value.

    ADDRESS may be a network. If VALUE is a list, one of its values is expected. Raises DiffError.
    """
    text = json.dumps(item, ensure_ascii=False, default=str)
    if not isinstance(item, list) or len(item) not in (2, 3):
        raise DiffError(f"malformed expectation {text}", _FORM)
    address, name, *value = item
    values = value[0] if value and isinstance(value[0], list) else value
    if value and (not values or "" in values):
        raise DiffError(f"{text} has an empty value", _UNKNOWN)
    try:
        field = resolve_field(name, tuple(among), text)
        typed = tuple(_typed(field, value, text) for value in values)
    except ValueError as error:
        problem, _, remedy = str(error).partition("; ")
        raise DiffError(problem, remedy or _FORM) from error
    return Expectation(text, _network(address, text), field, typed)


def _typed(field: Field, value: object, text: str) -> Any:
    try:
        return typed_value(field, value)
    except ValueError as error:
        raise ValueError(f"{text}: {error}") from None


def _network(address: object, text: str) -> Network:
    try:
        # No lookup accepts a zone of RFC 4007, such as fe80::1%eth0.
        network = ip_network(address if isinstance(address, str) and "%" not in address else "")
    except ValueError:
        raise DiffError(f"{text} begins with no address or network", _NETWORK) from None
    first, last = int(network[0]), int(network[-1])
    if network.version == 6 and any(first <= end and begin <= last for begin, end in EMBEDDED):
        raise DiffError(f"{text} {_CARRIES}", "write an IPv4 network, or a smaller IPv6 one")
    return network


def others(
    path: str | PathLike[str], expectations: Iterable[Expectation]
) -> Iterator[tuple[Expectation, Other | None]]:
    """Yield each expectation with the first address of another value; None if it is met.

    Raises DiffError for a value that no answer can have, DatasetError for a damaged dataset.
    """
    with geolookup.open(path) as engine:
        for expectation in expectations:
            try:
                yield expectation, _other(engine, expectation)
            except ValueError as error:
                problem, _, remedy = str(error).removeprefix("prefixes: ").partition("; ")
                raise DiffError(f"{expectation.text}: {problem}", remedy) from error


def _other(engine: geolookup.Engine, expectation: Expectation) -> Other | None:
    network = expectation.network
    address = _first_other(engine, network, expectation)
    return None if address is None else Other(str(address), _value(engine, address, expectation))


def _value(engine: geolookup.Engine, address: Address, expectation: Expectation) -> Any:
    (value,) = engine.get(address, [expectation.field.path])
    return value


def _first_other(
    engine: geolookup.Engine, network: Network, expectation: Expectation
) -> Address | None:
    """Return the first address of a network with another value; None if it has none."""
    if not expectation.is_met_by(_value(engine, network[0], expectation)):
        return network[0]
    if network.num_addresses == 1:
        return None
    path = expectation.field.path
    if not expectation.values:
        prefix = next(engine.prefixes({"not": {path: None}}, within=network), None)
        return None if prefix is None else prefix[0]
    # From 8: prefixes 8-11, 12-13 and 16-19 end at 14. A run is two prefixes of each length at
    # most: later prefixes are not read.
    end = int(network[0])
    for prefix in engine.prefixes({path: list(expectation.values)}, within=network):
        if int(prefix[0]) != end:
            break
        end = int(prefix[-1]) + 1
    return network[end - int(network[0])] if end <= int(network[-1]) else None
