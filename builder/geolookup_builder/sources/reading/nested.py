"""Columns of typed tables by path: members of structs, items of lists, values of maps.

A path is names and positions (from 0), joined with dots: ``subdivisions.0.iso_code``. Names may
contain dots themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc

#: How a column is reached: the names and positions of its path.
Steps = tuple[str | int, ...]
_POSITION_DIGITS = 6


def leaves(fields: Iterable[pa.Field], before: str = "") -> Iterator[str]:
    """Yield the paths of the columns that are no structs; those of lists and maps as they are."""
    for each in fields:
        if pa.types.is_struct(each.type):
            yield from leaves(each.type, f"{before}{each.name}.")
        else:
            yield before + each.name


def steps_to(fields: Iterable[pa.Field], path: str) -> Steps | None:
    """Return how a path is reached; None where the fields do not have it."""
    for each in fields:
        if each.name == path:
            return (path,)
        if path.startswith(f"{each.name}."):
            below = _steps_within(each.type, path[len(each.name) + 1 :])
            if below is not None:
                return each.name, *below
    return None


def _steps_within(kind: pa.DataType, path: str) -> Steps | None:
    if pa.types.is_struct(kind):
        return steps_to(kind, path)
    if pa.types.is_map(kind):
        return (path,)
    position, _, rest = path.partition(".")
    if not _is_list(kind) or not _is_position(position):
        return None
    below = _steps_within(kind.value_type, rest) if rest else ()
    return None if below is None else (int(position), *below)


def _is_list(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    )


def _is_position(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _POSITION_DIGITS


def type_at(schema: pa.Schema, steps: Steps) -> pa.DataType:
    """Return the type of the column that the steps reach."""
    kind = schema.field(steps[0]).type
    for step in steps[1:]:
        if pa.types.is_struct(kind):
            kind = kind.field(step).type
        else:
            kind = kind.item_type if pa.types.is_map(kind) else kind.value_type
    return kind


def stored_name(schema: pa.Schema, steps: Steps) -> tuple[str, bool]:
    """Return what the structs of a path are called in a file, and whether there is more below."""
    fields, names = schema, []
    for step in steps:
        names.append(str(step))
        kind = fields.field(step).type
        if not pa.types.is_struct(kind):
            break
        fields = kind
    return ".".join(names), len(names) < len(steps)


def column_at(rows: pa.RecordBatch, steps: Steps) -> pa.Array:
    """Return the column that the steps reach; null where a row has no such item."""
    found = rows.column(steps[0])
    if isinstance(found, pa.ExtensionArray):
        found = found.storage
    for step in steps[1:]:
        if pa.types.is_struct(found.type):
            found = pc.struct_field(found, step)
        elif pa.types.is_map(found.type):
            found = pc.map_lookup(found, step, "first")
        else:
            at = int(step)
            padded = pc.list_slice(found, at, at + 1, return_fixed_size_list=True)
            found = pc.list_element(padded, 0)
    return found


def only(fields: Iterable[pa.Field], chosen: Mapping[Steps, pa.DataType]) -> list[pa.Field]:
    """Return the fields that lead to the chosen steps, with the types that are stated for them."""
    kept = []
    for each in fields:
        below = {steps[1:]: kind for steps, kind in chosen.items() if steps[0] == each.name}
        if below:
            kept.append(pa.field(each.name, _only_within(each.type, below)))
    return kept


def _only_within(kind: pa.DataType, chosen: Mapping[Steps, pa.DataType]) -> pa.DataType:
    if () in chosen:
        return chosen[()]
    if pa.types.is_struct(kind):
        return pa.struct(only(kind, chosen))
    items: dict[Steps, pa.DataType] = {steps[1:]: each for steps, each in chosen.items()}
    return pa.list_(_only_within(kind.value_type, items))
