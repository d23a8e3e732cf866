"""Typed columns, of Parquet or JSON, as formats read them: ranges, and dictionary-encoded texts.

Numbers, packed addresses and texts of a range keep their types; all other values become texts as
a CSV would state them. Not-a-number counts as unknown: tables without nulls have it for null.

A column is reached by a path: names of struct members, keys of maps and positions in lists
(from 0), joined with dots: ``subdivisions.0.iso_code``. Names may contain dots themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.errors import BuildError
from geolookup.files.column_text import cell_texts, is_bytes, is_list
from geolookup_builder.sources.reading.dictionary_columns import trim
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.text import Layout

#: How a column is reached: the names and positions of its path.
Steps = tuple[str | int, ...]
_POSITION_DIGITS = 6
#: No text of a range is longer. A longer one in a dictionary may stand in very many rows.
_RANGE_BYTES = 100
_SHOWN = 50  # characters of a type, in messages
#: Floats below hold every integer.
_EXACT = pa.scalar(2.0**53, pa.float64())


def steps_of(member: Member, schema: pa.Schema, layout: Layout) -> dict[str, Steps]:
    """Return how each column of a layout is reached, without those that the file does not have.

    Raises BuildError for a column that holds neither texts nor numbers, or occurs twice.
    """
    paths = {name: steps_to(schema, name) for name in sorted(layout.texts | layout.fields)}
    present = {name: steps for name, steps in paths.items() if steps is not None}
    for name, steps in present.items():
        if schema.names.count(steps[0]) > 1:
            raise BuildError(member.label, f"column {steps[0]!r} twice", remedy="drop one")
        kind = type_at(schema, steps)
        if pa.types.is_nested(kind) and not (name in layout.lists and _is_flat_list(kind)):
            problem = f"column {name!r} holds no values, but {str(kind)[:_SHOWN]}"
            raise BuildError(member.label, problem, remedy="name a column of texts or numbers")
    return present


def _is_flat_list(kind: pa.DataType) -> bool:
    return is_list(kind) and not pa.types.is_nested(kind.value_type)


def as_columns(rows: pa.RecordBatch, layout: Layout, steps: Mapping[str, Steps]) -> pa.RecordBatch:
    """Return the columns of a layout; those without steps are null.

    Raises ArrowInvalid for texts that are not UTF-8.
    """
    columns = {}
    for name in sorted(layout.texts | layout.fields):
        column = column_at(rows, steps[name]) if name in steps else pa.nulls(len(rows), pa.string())
        columns[name] = _range_column(column) if name in layout.texts else _encode(column)
    return pa.RecordBatch.from_pydict(columns)


def _range_column(column: pa.Array) -> pa.Array:
    """Return integers and bytes unchanged, anything else as texts."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        values = _range_column(column.dictionary)
        if pa.types.is_large_string(values.type):
            values = pc.utf8_slice_codeunits(values, 0, _RANGE_BYTES)
        elif pa.types.is_large_binary(values.type):
            values = pc.binary_slice(values, 0, _RANGE_BYTES)
        return values.take(column.indices)
    if pa.types.is_integer(kind):
        return column
    if is_bytes(kind):
        return column.cast(pa.large_binary())
    return _validate(column.cast(pa.large_string()))


def _encode(column: pa.Array) -> pa.DictionaryArray:
    if is_list(column.type):
        column = _list_texts(column)
    kind = column.type
    if pa.types.is_floating(kind):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, kind), column)
    if not pa.types.is_dictionary(kind):
        if not _is_encodable(kind):
            column = column.cast(pa.string())
        column = column.dictionary_encode()
    values = _validate(_texts(column.dictionary))
    return trim(pa.DictionaryArray.from_arrays(column.indices.cast(pa.int32()), values))


def _texts(values: pa.Array) -> pa.Array:
    """Return distinct values as texts; whole numbers that a float holds exactly are integers."""
    if pa.types.is_float64(values.type):
        # Arrow writes 10000000000.0 as 1e+10, and 9999999999.0 as 9999999999.
        is_whole = pc.and_(pc.equal(pc.floor(values), values), pc.less(pc.abs(values), _EXACT))
        integers = pc.if_else(is_whole, values, pa.scalar(None, values.type)).cast(pa.int64())
        return pc.coalesce(integers.cast(pa.string()), values.cast(pa.string()))
    return values.cast(pa.string())


def _list_texts(lists: pa.Array) -> pa.Array:
    """Return lists as JSON, as a CSV would state them; texts must be UTF-8."""
    _validate(lists)
    return cell_texts(lists).cast(pa.large_string())


def _is_encodable(kind: pa.DataType) -> bool:
    """Return whether values are encoded before they become texts (faster)."""
    return bool(
        pa.types.is_integer(kind)
        or kind in (pa.float32(), pa.float64(), pa.string(), pa.large_string())
    )


def _validate(texts: pa.Array) -> pa.Array:
    texts.validate(full=True)
    return texts


def leaves(fields: Iterable[pa.Field], before: str = "") -> Iterator[str]:
    """Yield the paths of the columns that are not structs; a list or a map is one column."""
    for field in fields:
        if pa.types.is_struct(field.type):
            yield from leaves(field.type, f"{before}{field.name}.")
        else:
            yield before + field.name


def unread_leaves(schema: pa.Schema, layout: Layout) -> tuple[str, ...]:
    """Return the paths of the columns that a layout does not read, nor a part of them."""
    paths = [f"{path}." for path in layout.texts | layout.fields]
    return tuple(
        leaf for leaf in leaves(schema) if not any(path.startswith(f"{leaf}.") for path in paths)
    )


def steps_to(fields: Iterable[pa.Field], path: str) -> Steps | None:
    """Return how a path is reached; None if the fields do not have it."""
    for field in fields:
        # The whole path first: a column may be named "a.b" itself.
        if field.name == path:
            return (path,)
        if path.startswith(f"{field.name}."):
            below = _steps_within(field.type, path[len(field.name) + 1 :])
            if below is not None:
                return field.name, *below
    return None


def _steps_within(kind: pa.DataType, path: str) -> Steps | None:
    if pa.types.is_struct(kind):
        return steps_to(kind, path)
    if pa.types.is_map(kind):
        # A key of a map may have dots: it is all that is left of the path.
        return (path,)
    position, _, remainder = path.partition(".")
    # "subdivisions.0.iso_code" within a list: position "0", remainder "iso_code".
    if not is_list(kind) or not _is_position(position):
        return None
    below = _steps_within(kind.value_type, remainder) if remainder else ()
    return None if below is None else (int(position), *below)


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
    """Return the name of the structs of a path in a file, and whether there is more below."""
    fields, names = schema, []
    for step in steps:
        names.append(str(step))
        kind = fields.field(step).type
        if not pa.types.is_struct(kind):
            break
        fields = kind
    return ".".join(names), len(names) < len(steps)


def column_at(rows: pa.RecordBatch, steps: Steps) -> pa.Array:
    """Return the column that the steps reach; null if a row has no such item."""
    column = rows.column(steps[0])
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    for step in steps[1:]:
        if pa.types.is_struct(column.type):
            column = pc.struct_field(column, step)
        elif pa.types.is_map(column.type):
            column = pc.map_lookup(column, step, "first")
        else:
            at = int(step)
            # Of fixed size: shorter lists are padded with null; ``list_element`` would fail.
            items = pc.list_slice(column, at, at + 1, return_fixed_size_list=True)
            column = pc.list_element(items, 0)
    return column


def only(fields: Iterable[pa.Field], types: Mapping[Steps, pa.DataType]) -> list[pa.Field]:
    """Return the fields that lead to the chosen steps, with their stated types."""
    selection = []
    for field in fields:
        below = {steps[1:]: kind for steps, kind in types.items() if steps[0] == field.name}
        if below:
            selection.append(pa.field(field.name, _only_within(field.type, below)))
    return selection


def _only_within(kind: pa.DataType, types: Mapping[Steps, pa.DataType]) -> pa.DataType:
    if () in types:
        return types[()]
    if pa.types.is_struct(kind):
        return pa.struct(only(kind, types))
    items: dict[Steps, pa.DataType] = {steps[1:]: item_type for steps, item_type in types.items()}
    return pa.list_(_only_within(kind.value_type, items))
