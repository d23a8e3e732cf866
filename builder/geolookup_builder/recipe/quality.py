"""``[quality]``: the demands of a recipe on the dataset; ``demands`` checks them.

::

    [quality]
    expect = [["8.8.8.8", "country", "US"], ["192.0.2.0/24", "city"]]
    min_coverage = { country = "99%", "ipv6.asn" = "90%", "before.city" = "98%" }
    truth = "truth.csv"
    fail_if = ["country_agree < 97%"]

Truth and gates are as for ``geolookup score``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from ipaddress import ip_network
from typing import Any

from geolookup.contract.address import EMBEDDED
from geolookup.contract.fields import Field
from geolookup.contract.paths import resolve_field
from geolookup.contract.schema import Schema
from geolookup.dataset.networks import Network
from geolookup.errors import DiffError
from geolookup.prefixes.condition_values import typed_value
from geolookup_builder.limits import SHARE, Bound, read_bound
from geolookup_builder.recipe.table import Table, recipe_errors

_KEYS = ("expect", "min_coverage", "truth", "fail_if")
_FAMILIES = ("ipv4", "ipv6")
#: Before a field: the share is of the addresses with a value in the earlier dataset.
_BEFORE = "before."
_DOTS = 3  # of the longest key, such as before.ipv6.own.site_id
_FORM = 'write [ADDRESS, FIELD, VALUE], such as ["8.8.8.8", "country", "US"]'
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
        return any(item in self.values for item in (value if isinstance(value, list) else [value]))


@dataclass(frozen=True, slots=True)
class Floor:
    """The least number or share of the addresses of a family that must have a value of a field."""

    text: str
    family: str  # "ipv4" or "ipv6"
    field: Field
    least: Bound
    is_of_before: bool  # a share of the addresses with a value in the earlier dataset


@dataclass(frozen=True, slots=True)
class Quality:
    """``[quality]``; ``truth`` is a file, folder or glob, relative to the recipe."""

    expect: tuple[Expectation, ...] = ()
    min_coverage: tuple[Floor, ...] = ()
    truth: str = ""
    fail_if: tuple[str, ...] = ()


def read_quality(document: Table, schema: Schema) -> Quality:
    """Return the demands of a recipe; BuildError for a malformed one."""
    table = document.table("quality", *_KEYS)
    expect, floors = table.values.get("expect", []), table.values.get("min_coverage", {})
    if not isinstance(expect, list):
        table.refuse("expect", "is not a list", 'write expect = [["8.8.8.8", "country", "US"]]')
    if not isinstance(floors, Mapping):
        table.refuse("min_coverage", "is not a table", 'write min_coverage = { country = "99%" }')
    with recipe_errors(table.recipe, "quality.expect: "):
        expectations = tuple(_expectation(item, schema) for item in expect)
    return Quality(
        expectations,
        tuple(_floor(table, *item, schema) for item in _dotted(floors)),
        *_truth(table, schema),
    )


def _expectation(item: object, schema: Schema) -> Expectation:
    """Read ``[ADDRESS, FIELD, VALUE]``, or ``[ADDRESS, FIELD]`` for an unknown value.

    ADDRESS may be a network. If VALUE is a list, one of its values is expected. Raises DiffError
    or ValueError.
    """
    text = json.dumps(item, ensure_ascii=False, default=str)
    if not isinstance(item, list) or len(item) not in (2, 3):
        raise DiffError(f"malformed expectation {text}", _FORM)
    address, name, *value = item
    values = value[0] if value and isinstance(value[0], list) else value
    if value and (not values or "" in values):
        problem = f"{text} has an empty value"
        raise DiffError(problem, "write [ADDRESS, FIELD] for an unknown value")
    field = resolve_field(name, schema.stored, text)
    try:
        typed = tuple(typed_value(field, value) for value in values)
    except ValueError as error:
        raise DiffError(f"{text}: {error}", _FORM) from error
    return Expectation(text, _network(address, text), field, typed)


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


def _dotted(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield keys and values: TOML reads ``ipv6.country = …`` as a table in a table."""
    for key, value in table.items():
        if isinstance(value, Mapping) and before.count(".") < _DOTS:
            yield from _dotted(value, f"{before}{key}.")
        else:
            yield before + key, value


def _floor(table: Table, key: str, value: object, schema: Schema) -> Floor:
    is_of_before, name = key.startswith(_BEFORE), key.removeprefix(_BEFORE)
    family, _, field_name = name.partition(".")
    if family not in _FAMILIES:
        family, field_name = "ipv4", name
    with recipe_errors(table.recipe):
        field = resolve_field(field_name, schema.stored, "quality.min_coverage")
    least = read_bound(table, f"min_coverage.{key}", value, SHARE)
    return Floor(f"min_coverage {key} = {least}", family, field, least, is_of_before)


def _truth(table: Table, schema: Schema) -> tuple[str, tuple[str, ...]]:
    """Return the truth and its gates: neither is of use without the other."""
    for key, other in (("truth", "fail_if"), ("fail_if", "truth")):
        if key in table and other not in table:
            table.refuse(key, f"needs quality.{other}", f"write both, or drop {key}")
    if "truth" not in table:
        return "", ()
    if "://" in table.text("truth"):
        table.refuse("truth", "is an address", "download the file, and write its path")
    from geolookup.comparison.gates import ALL
    from geolookup.comparison.score import score_metrics

    metrics = score_metrics(field.path for field in schema.own)
    parts = tuple(part for part in metrics.parts if part != ALL)
    return table.text("truth"), table.gates("fail_if", replace(metrics, parts=parts))
