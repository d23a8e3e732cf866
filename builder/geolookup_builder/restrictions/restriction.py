"""The keys of a source that leave out a part of it: ``only``, ``families`` and ``within``."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from geolookup.contract.address import MAX
from geolookup.contract.schema import Schema
from geolookup.contract.special import Range
from geolookup.errors import BuildError
from geolookup.prefixes.conditions import Condition, conditions_of
from geolookup_builder.recipe.table import Table, recipe_errors

KEYS = ("only", "families", "within")
_FAMILIES = (4, 6)
_Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class Restriction:
    """What a source keeps: answers that meet all conditions, in a family and a network.

    Without ``networks``, any network is kept.
    """

    conditions: tuple[Condition, ...] = ()
    families: tuple[int, ...] = _FAMILIES
    networks: tuple[_Network, ...] | None = None

    def __bool__(self) -> bool:
        return bool(self.conditions) or self.networks is not None or self.families != _FAMILIES

    def inside(self, family: int) -> list[Range]:
        """Return the ranges of a family that may be kept, sorted and disjoint."""
        if family not in self.families:
            return []
        if self.networks is None:
            return [(0, MAX[family])]
        networks = [network for network in self.networks if network.version == family]
        joined = ipaddress.collapse_addresses(networks)  # type: ignore[type-var]
        return [(int(network[0]), int(network[-1])) for network in joined]


def read_restriction(table: Table, fields: frozenset[str], schema: Schema) -> Restriction:
    """Return the restriction of a ``[[source]]``; ``fields`` are the fields that it keeps.

    Raises BuildError for a malformed value, and for a condition on fields that are not kept.
    """
    for key, example in (("only", '"country=DE,AT"'), ("within", '"8.0.0.0/8"')):
        if table.values.get(key, key) in ("", [], {}):
            table.refuse(key, "is empty", f"write {key} = {example}, or drop it")
    with recipe_errors(table.recipe):
        conditions = conditions_of(table.values.get("only"), "source.only", schema)
    for condition in conditions:
        field = condition.fields[0]
        if not fields.intersection(schema.stated[field.layer]):
            problem = f"source.only names {field.path}, but source.fields drops it"
            remedy = "add it to source.fields; dataset.fields drops it from the whole dataset"
            raise BuildError(table.recipe, problem, remedy=remedy)
    return Restriction(conditions, _families(table), _networks(table))


def _families(table: Table) -> tuple[int, ...]:
    value = table.values.get("families", _FAMILIES)
    families = [value] if isinstance(value, int) else value
    is_list = isinstance(families, list | tuple) and len(families) > 0
    # True is 1, not a family; 4.0 is a float.
    if not is_list or not all(type(family) is int and family in _FAMILIES for family in families):
        table.refuse("families", "is not a list of 4 and 6", "write families = [4]")
    return tuple(sorted(set(families)))


def _networks(table: Table) -> tuple[_Network, ...] | None:
    if "within" not in table:
        return None
    value = table.values["within"]
    return tuple(_network(table, text) for text in (value if isinstance(value, list) else [value]))


def _network(table: Table, text: object) -> _Network:
    try:
        # A number would be an address.
        return ipaddress.ip_network(text if isinstance(text, str) else "")
    except ValueError:
        problem = f"source.within: {text!r} is not a network without host bits"
        remedy = 'write within = "8.0.0.0/8", for example'
        raise BuildError(table.recipe, problem, remedy=remedy) from None
