"""Random files of every name in the layout, and edited copies of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tests.internals.dataset import canonical, describe
from tests.internals.dataset import layout as fmt

Rng = np.random.Generator
_WORDS = ("", "a", "Ö", "Gävle", "a\nb", "x" * 300, "null", "Newtown")
#: Index types by the most values that they number here.
_INDICES = {100: pa.int8(), 20_000: pa.int16(), 1 << 31: pa.int32()}


def table(name: str, rng: Rng, rows: int) -> pa.Table:
    columns = {item: _column(kind, rng, rows) for item, kind in fmt.COLUMNS[name].items()}
    return _sorted(name, pa.table(columns), rng)


def edited(name: str, rows: pa.Table, rng: Rng, changes: int) -> pa.Table:
    """The table with about so many rows deleted, as many inserted, and as many cells changed."""
    kept = np.ones(len(rows), bool)
    if len(rows) > 1:
        kept[rng.integers(1, len(rows), min(changes, len(rows) - 1))] = False
    remainder = rows.filter(pa.array(kept))
    at = int(rng.integers(0, len(remainder) + 1))
    fresh = table(name, rng, changes + 1).slice(1)
    together = pa.concat_tables([remainder.slice(0, at), fresh, remainder.slice(at)])
    result = _sorted(name, together.unify_dictionaries().combine_chunks(), rng)
    return _with_changes(result, rng, changes)


def write(folder: Path, tables: Mapping[str, pa.Table]) -> None:
    """Write the tables as files, and a manifest that describes them and no more."""
    folder.mkdir()
    files = {}
    for name, rows in tables.items():
        batch = pa.record_batch([_whole(column) for column in rows.columns], rows.schema.names)
        with (
            (folder / name).open("wb") as stream,
            pa.ipc.new_file(stream, batch.schema) as writer,
        ):
            writer.write_batch(batch)
        files[name] = describe(folder / name).members
    stated = {"format": fmt.FORMAT, "format_version": fmt.FORMAT_VERSION, "files": files}
    (folder / fmt.MANIFEST).write_bytes(canonical({**stated, "generation": "0" * 64}))


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)


def _column(column: fmt.Column, rng: Rng, rows: int) -> pa.Array:
    if not column.type.startswith("dictionary<"):
        return _plain(column.type, rng, rows, nullable=column.nullable)
    kind = column.type.removeprefix("dictionary<").removesuffix(">")
    values = _plain(kind, rng, rows + 1, nullable=False).unique()
    index = next(index for most, index in _INDICES.items() if len(values) < most)
    numbers = rng.integers(0, len(values), rows)
    mask = rng.random(rows) < 0.1 * column.nullable
    return pa.DictionaryArray.from_arrays(pa.array(numbers, index, mask=mask), values)


def _plain(kind: str, rng: Rng, rows: int, *, nullable: bool) -> pa.Array:
    mask = rng.random(rows) < 0.1 * nullable
    return pa.array(_values(kind, rng, rows), type=_arrow(kind), mask=mask)


def _values(kind: str, rng: Rng, rows: int) -> Any:
    words = [
        _WORDS[number] + str(number) * (number % 3) for number in rng.integers(0, len(_WORDS), rows)
    ]
    if kind == "string":
        return np.array([f"{word}{number % 7}" for number, word in enumerate(words)], object)
    if kind.startswith("list"):
        lists = np.empty(rows, object)
        lists[:] = [[word] * (len(word) % 3) for word in words]
        return lists
    if kind == "bool":
        return rng.random(rows) < 0.5
    if kind == "double":
        return rng.choice([0.0, -0.0, 1.5, 59.3293, np.inf], rows)
    bits = int(kind.lstrip("uint"))
    return rng.integers(0, 1 << min(bits, 63), rows, dtype=np.uint64).astype(kind)


def _arrow(kind: str) -> pa.DataType:
    return pa.list_(pa.string()) if kind.startswith("list") else pa.type_for_alias(kind)


def _sorted(name: str, rows: pa.Table, rng: Rng) -> pa.Table:
    """Order the intervals of a table, from address 0, in one to three partitions."""
    starts = [item for item in rows.schema.names if item.startswith("start")]
    if name in (fmt.IPV6_SPARSE_INDEX, fmt.IPV4_JUMP) or not starts or not len(rows):
        return rows
    high = _ascending(
        rows[starts[0]].to_numpy().copy(), rng if name in fmt.EXPLAINED.values() else None
    )
    rows = rows.set_column(0, starts[0], pa.array(high))
    if len(starts) == 1:
        return rows
    halves = pa.array((rng.random(len(rows)) < 0.2) & (high > 0)).cast(pa.int8())
    low = pa.DictionaryArray.from_arrays(halves, pa.array([0, 1 << 63], pa.uint64()))
    return rows.set_column(1, starts[1], low)


def _ascending(values: Any, rng: Rng | None) -> Any:
    cuts = [0] if rng is None else sorted({0, *rng.integers(0, len(values), 2).tolist()})
    for begin, end in zip(cuts, [*cuts[1:], len(values)], strict=True):
        values[begin:end] = np.sort(values[begin:end])
        values[begin] = 0
    return values


def _with_changes(rows: pa.Table, rng: Rng, changes: int) -> pa.Table:
    """Replace cells of columns that are not starts by cells of other rows."""
    for number, name in enumerate(rows.schema.names):
        if len(rows) and not name.startswith("start"):
            source = np.arange(len(rows))
            source[rng.integers(0, len(rows), changes)] = int(rng.integers(0, len(rows)))
            rows = rows.set_column(number, name, rows[name].take(pa.array(source)))
    return rows
