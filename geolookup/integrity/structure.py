"""The columns together: intervals in order, row numbers in their tables, indexes of a search."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow.compute as pc

from geolookup.contract import fields
from geolookup.contract.tzdatabase import is_key
from geolookup.dataset import layout as fmt
from geolookup.dataset.intervals import Bools, jump_table, sparse_index
from geolookup.dataset.rows import SEPARATOR
from geolookup.errors import DatasetError, count_text
from geolookup.integrity.tables import DatasetTables, damage


def structure(tables: DatasetTables) -> Iterator[DatasetError]:
    """Yield the damages that would change an answer."""
    for name in (*fmt.INTERVALS.values(), *fmt.PROVENANCE.values()):
        yield from _ascending(tables, name)
    for name, column, target in _row_numbers(tables):
        yield from _below(tables, name, column, tables.rows(target), f"outside {target}")
    sources = len(tables.manifest.metadata().sources)
    outside = f"of {count_text(sources, 'source')}"
    for name in fmt.PROVENANCE.values():
        stored = tables.batches[name].schema.names
        for layer in (layer for layer in tables.manifest.schema.layers if layer in stored):
            yield from _below(tables, name, layer, sources + 1, outside)
    yield from _jump(tables)
    yield from _sparse_index(tables)
    yield from _unknown_rows(tables)
    yield from _texts(tables)
    yield from _zones(tables)


def _ascending(tables: DatasetTables, name: str) -> Iterator[DatasetError]:
    """Yield starts that are not a partition: the first is 0, and they ascend."""
    stored = tables.batches[name].schema.names
    columns = ", ".join(column for column in stored if column.startswith("start"))
    if tables.starts(name, slice(0, 1)).item(0) != 0:
        problem = "the first interval does not begin at 0"
        yield damage(tables.folder / name, problem, columns, 0)

    def mark(part: slice) -> Bools:
        # With the row before the part, if there is one: the first row of a file has none.
        starts = tables.starts(name, slice(max(part.start - 1, 0), part.stop))
        bad = ~(starts[:-1] < starts[1:])
        return bad if part.start else np.append(False, bad)

    problem = "not greater than the row before"
    yield from tables.bad_in_parts(name, columns, problem, mark)


def _row_numbers(tables: DatasetTables) -> Iterator[tuple[str, str, str]]:
    """Yield the columns that number rows: their file and name, and the file of the rows."""
    for name in fmt.INTERVALS.values():
        for table in fmt.row_tables(tables.manifest.schema.own):
            yield name, table, fmt.TABLES[table]
    for link in fmt.LINKS:
        yield fmt.LOCATION, link, fmt.TABLES[link]


def _below(
    tables: DatasetTables, name: str, column: str, end: int, problem: str
) -> Iterator[DatasetError]:
    numbers = tables.numbers(name, column)
    yield from tables.bad_in_parts(name, column, problem, lambda part: numbers[part] >= end)


def _jump(tables: DatasetTables) -> Iterator[DatasetError]:
    """Compare every bucket with a search for its first address."""
    name, stored = fmt.IPV4_JUMP, tables.numbers(fmt.IPV4_JUMP, "interval")
    bits = fmt.jump_bits(len(stored))
    if bits is None:
        yield damage(tables.folder / name, f"{len(stored):,} rows are not a jump table")
    else:
        right = jump_table(tables.numbers(fmt.IPV4, "start"), tables.release, bits)
        yield from tables.bad(name, "interval", stored != right, "not the interval of its bucket")


def _sparse_index(tables: DatasetTables) -> Iterator[DatasetError]:
    name, column = fmt.IPV6_SPARSE_INDEX, "start_high"
    stored, right = tables.numbers(name, column), sparse_index(tables.numbers(fmt.IPV6, column))
    if len(stored) != len(right):
        problem = f"{count_text(len(stored), 'row')} where {len(right):,} belong"
        yield damage(tables.folder / name, problem)
    else:
        yield from tables.bad(name, column, stored != right, "not the start of its interval")


def _unknown_rows(tables: DatasetTables) -> Iterator[DatasetError]:
    """Yield values in row 0: intervals about which nothing is known have it."""
    for name in (name for name in fmt.TABLES.values() if name in tables.batches):
        for column, kind in fmt.columns(name, tables.manifest.schema).items():
            first = tables.batches[name].column(column)[0]
            # In row 0: null where nulls are allowed, else the row 0 of another table.
            if first.is_valid if kind.nullable else column in fmt.LINKS and first.as_py():
                yield damage(tables.folder / name, "not unknown", column, 0)


def _texts(tables: DatasetTables) -> Iterator[DatasetError]:
    """Yield rows without a JSON text of each field."""
    for table, name in fmt.TABLES.items():
        if table != fields.ZONE and name in tables.batches:
            expected = len(tables.manifest.schema.in_table(table))
            texts = (
                1 + pc.count_substring(tables.batches[name].column("json"), SEPARATOR).to_numpy()
            )
            yield from tables.bad(name, "json", texts != expected, f"not {expected} texts")


def _zones(tables: DatasetTables) -> Iterator[DatasetError]:
    """Yield names that are not of the form of an IANA key, whatever zones this machine knows."""
    names = tables.batches[fmt.ZONE].column(fields.ZONE).to_pylist()
    bad = np.array([False, *(name is None or not is_key(name) for name in names[1:])])
    yield from tables.bad(fmt.ZONE, fields.ZONE, bad, "not the name of a time zone")
