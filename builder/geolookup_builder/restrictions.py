"""The part of a source that its keys ``only``, ``families`` and ``within`` keep.

Conditions are evaluated on the answers of the source by itself, as rows of tables: a dataset has
them, other sources are interned for that. The space outside becomes unknown in all layers, and
lower sources show through.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from geolookup.contract.address import MAX
from geolookup.contract.fields import Field
from geolookup.contract.schema import Schema
from geolookup.contract.special import Range
from geolookup.dataset import layout as fmt
from geolookup.dataset.intervals import count_addresses, cut_at
from geolookup.errors import BuildError
from geolookup.prefixes.condition_values import absent_values, check_values
from geolookup.prefixes.conditions import Condition, conditions_of
from geolookup.prefixes.select import marked, meeting
from geolookup_builder.build_report import BuildReport, SourceReport
from geolookup_builder.columns import ROW, Partition
from geolookup_builder.layers import restrict
from geolookup_builder.recipe.table import Table, recipe_errors

if TYPE_CHECKING:
    from geolookup_builder.recipe.document import SourceSpec

KEYS = ("only", "families", "within")
_FAMILIES = (4, 6)
_Network = ipaddress.IPv4Network | ipaddress.IPv6Network
#: The report of a table, and by family the intervals with their deciding rows.
Counted = tuple[SourceReport, Mapping[int, Partition]]


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
    networks = _items(table.values["within"]) if "within" in table else None
    return Restriction(
        conditions,
        _families(table),
        None if networks is None else tuple(_network(table, text) for text in networks),
    )


def _items(value: object) -> list[Any]:
    """Return the items of a list, or the one value."""
    return list(value) if isinstance(value, list | tuple) else [value]


def _families(table: Table) -> tuple[int, ...]:
    families = _items(table.values.get("families", _FAMILIES))
    # True is 1, not a family; 4.0 is a float.
    are_right = all(type(family) is int and family in _FAMILIES for family in families)
    if not families or not are_right:
        table.refuse("families", "is not a list of 4 and 6", "write families = [4]")
    return tuple(sorted(set(families)))


def _network(table: Table, text: object) -> _Network:
    try:
        # A number would be an address.
        return ipaddress.ip_network(text if isinstance(text, str) else "")
    except ValueError:
        problem = f"source.within: {text!r} is not a network without host bits"
        remedy = 'write within = "8.0.0.0/8", for example'
        raise BuildError(table.recipe, problem, remedy=remedy) from None


class Rows:
    """The row tables of the answers of a source, by the field that they hold."""

    def __init__(self, files: Mapping[str, pa.RecordBatch | pa.Table]) -> None:
        self._files = files
        self.counts = {
            table: files[name].num_rows for table, name in fmt.TABLES.items() if name in files
        }

    def column(self, field: Field) -> pa.Array:
        """Return the values of a stored field, one for each row of the table that stores it."""
        column = self.values(field.table, field.column)
        if pa.types.is_dictionary(column.type):
            # Predicates number null after the last value: an index of 8 bits may be too narrow.
            indices = column.indices.cast(pa.int32())
            return pa.DictionaryArray.from_arrays(indices, column.dictionary)
        return column

    def values(self, table: str, column: str) -> pa.Array:
        """Return a column of a table; the links of locations are columns too."""
        values = self._files[fmt.TABLES[table]].column(column)
        return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values


def kept_space(
    spec: SourceSpec,
    name: str,
    rows: Rows,
    families: Mapping[int, Partition],
    tables: Iterable[Counted],
    report: BuildReport,
) -> dict[int, Partition]:
    """Return by family the space that is kept.

    ``families`` are the intervals of the source, by their rows. Rows that are left out of a table
    are counted in its report. Raises BuildError for a value of ``only`` that no answer can have. A
    value that no answer of the source has is a warning.
    """
    restriction, kept = spec.restriction, dict[int, Partition]()
    with recipe_errors(spec.recipe):
        check_values(rows, restriction.conditions)
    absent = absent_values(rows, restriction.conditions)
    report.warnings.extend(f"{name}: {line}" for line in absent)
    masks = meeting(rows, restriction.conditions)
    for family, part in families.items():
        numbers = {table: of.view(np.uint32) for table, of in part.numbers.items()}
        marks = marked(masks, numbers)
        starts, is_inside = cut_at(family, restriction.inside(family))
        inside = Partition(starts, {ROW: is_inside})
        kept[family] = restrict(Partition(part.starts, {ROW: marks}), inside)
    for of_table, deciding in tables:
        result = {family: restrict(part, kept[family]) for family, part in deciding.items()}
        count = _owners(deciding) - _owners(result)
        of_table.used -= count
        of_table.rows["left out"] += count
        of_table.addresses["left out"] += _addresses(deciding) - _addresses(result)
    return kept


def _addresses(table: Mapping[int, Partition]) -> int:
    return sum(count_addresses(part.starts, part.numbers[ROW] > 0) for part in table.values())


def _owners(table: Mapping[int, Partition]) -> int:
    """Return how many rows own an interval, of either family."""
    owners = np.concatenate([part.numbers[ROW] for part in table.values()])
    return int(np.count_nonzero(np.bincount(owners)[1:]))
