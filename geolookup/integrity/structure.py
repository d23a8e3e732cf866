"""The columns together: order of intervals, and row numbers in range."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract import fields
from geolookup.contract.special import PRIVATE, ranges_of
from geolookup.contract.tzdatabase import database, is_key, rules
from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import without_nulls
from geolookup.dataset.intervals import Addresses
from geolookup.errors import DatasetError
from geolookup.integrity.tables import Tables, damage

_NO_BYTES = pa.scalar(0, pa.int32())

#: The tables that intervals have rows in.
_ROWS = (fields.LOCATION, fields.NETWORK, fields.OWN)


def structure(tables: Tables) -> Iterator[DatasetError]:
    """Yield the damages that a lookup could meet."""
    for name in (fmt.IPV4, fmt.IPV6):
        yield from _intervals(tables, name)
    yield from _jump(tables)
    yield from _sparse_index(tables)
    yield from tables.outside(fmt.LOCATION, "country", fmt.COUNTRY)
    yield from tables.outside(fmt.LOCATION, "zone", fmt.ZONE)
    yield from _unknown_rows(tables)
    yield from _zones(tables)
    yield from _numbers(tables)
    yield from _texts(tables)
    if tables.manifest.schema.own:
        yield from _special_purpose(tables, fmt.IPV4, 4)
        yield from _special_purpose(tables, fmt.IPV6, 6)
    sources = len(tables.manifest.metadata().sources)
    for name in fmt.PROVENANCE.values():
        yield from _provenance(tables, name, sources)


def _intervals(tables: Tables, name: str) -> Iterator[DatasetError]:
    """Yield the damages of the intervals of one family."""
    yield from _ascending(tables, name)
    rows = [table for table in _ROWS if table in tables.batches[name].schema.names]
    for table in rows:
        yield from tables.outside(name, table, fmt.TABLES[table])
    yield from _distinct_neighbours(tables, name, rows)


def _special_purpose(tables: Tables, name: str, family: int) -> Iterator[DatasetError]:
    """Yield intervals in special-purpose space where an own column is known that is not private."""
    own, starts = tables.batches[fmt.OWN], tables.starts(name)
    is_public = np.zeros(own.num_rows, bool)
    for field in (field for field in tables.manifest.schema.own if not field.private):
        is_public |= own.column(field.column).is_valid().to_numpy(zero_copy_only=False)
    inside = np.zeros(len(starts), bool)
    for ends in ranges_of(family, PRIVATE):
        begin, end = starts.search(Addresses.of(family, ends)) - 1
        inside[begin : end + 1] = True
    rows = np.minimum(tables.numbers(name, fields.OWN), len(is_public) - 1)
    problem = "a value in special-purpose space of a column that is not private"
    yield from tables.bad(name, fields.OWN, inside & is_public[rows], problem)


def _ascending(tables: Tables, name: str) -> Iterator[DatasetError]:
    """Yield starts that are not a partition: the first is 0, and they ascend."""
    starts = tables.starts(name)
    column = tables.start_columns(name)
    bad = np.zeros(len(starts), bool)
    bad[0] = starts.item(0) != 0
    yield from tables.bad(name, column, bad, "the first interval does not begin at 0")
    bad[0] = False
    bad[1:] = ~(starts[:-1] < starts[1:])
    yield from tables.bad(name, column, bad, "not greater than the row before")


def _distinct_neighbours(tables: Tables, name: str, columns: list[str]) -> Iterator[DatasetError]:
    same = np.zeros(tables.rows(name), bool)
    same[1:] = True
    for column in columns:
        values = tables.numbers(name, column)
        same[1:] &= values[1:] == values[:-1]
    return tables.bad(name, ", ".join(columns), same, "as in the row before")


def _jump(tables: Tables) -> Iterator[DatasetError]:
    """Compare every bucket with a search for its first address."""
    stored = tables.numbers(fmt.IPV4_JUMP, "interval")
    # 2^16 + 1 rows: 16 bits.
    bits = (len(stored) - 1).bit_length() - 1
    least, most = fmt.JUMP_BITS
    if not least <= bits <= most or len(stored) != (1 << bits) + 1:
        yield damage(tables.folder / fmt.IPV4_JUMP, f"{len(stored):,} rows are not a jump table")
        return
    # 16 bits: bucket 1 begins at 1 << 16 (0.1.0.0).
    firsts = np.arange(1 << bits, dtype=np.uint64) << np.uint64(32 - bits)
    starts = tables.numbers(fmt.IPV4, "start")
    right = np.searchsorted(starts, firsts.astype(np.uint32), side="right") - 1
    # The last row is a sentinel: the last interval.
    bad = stored != np.append(right, len(starts) - 1)
    yield from tables.bad(fmt.IPV4_JUMP, "interval", bad, "not the interval of its bucket")


def _sparse_index(tables: Tables) -> Iterator[DatasetError]:
    stored = tables.numbers(fmt.IPV6_SPARSE_INDEX, "start_high")
    right = tables.numbers(fmt.IPV6, "start_high")[:: fmt.SPARSE_STRIDE]
    if len(stored) != len(right):
        problem = f"{len(stored):,} rows where {len(right):,} belong"
        yield damage(tables.folder / fmt.IPV6_SPARSE_INDEX, problem)
        return
    yield from tables.bad(
        fmt.IPV6_SPARSE_INDEX, "start_high", stored != right, "not the start of its interval"
    )


def _unknown_rows(tables: Tables) -> Iterator[DatasetError]:
    """Yield values in row 0, the unknown row, and zones without a name in other rows."""
    for name in (name for name in fmt.TABLES.values() if name in tables.batches):
        for column, kind in fmt.columns(name, tables.manifest.schema).items():
            first = tables.batches[name].column(column)[0]
            # In row 0: null where nulls are allowed, else the row 0 of another table.
            if first.is_valid if kind.nullable else column in ("country", "zone") and first.as_py():
                yield damage(tables.folder / name, "not unknown", column, 0)
    has_name = tables.batches[fmt.ZONE].column("zone").is_valid().to_numpy(zero_copy_only=False)
    has_name[0] = True
    yield from tables.bad(fmt.ZONE, "zone", ~has_name, "null")


def _numbers(tables: Tables) -> Iterator[DatasetError]:
    schema = tables.manifest.schema
    for table, name in fmt.TABLES.items():
        if name in tables.batches:
            columns = {field.column: field for field in schema.in_table(table)}
            yield from tables.beyond_limits(name, columns)


def _zones(tables: Tables) -> Iterator[DatasetError]:
    """Yield names that are not of the form of an IANA key, whatever zones this machine knows."""
    names = tables.batches[fmt.ZONE].column("zone").to_pylist()
    bad = np.array([name is not None and not is_key(name) for name in names])
    yield from tables.bad(fmt.ZONE, "zone", bad, "not the name of a time zone")


def known_zones(tables: Tables) -> Iterator[DatasetError]:
    """Yield the zones that the tz database of this machine does not have."""
    names = tables.batches[fmt.ZONE].column("zone").to_pylist()
    bad = np.array([name is not None and rules(name) is None for name in names])
    version = database()
    yield from tables.bad(fmt.ZONE, "zone", bad, f"unknown to the time zones in use, {version}")


def _texts(tables: Tables) -> Iterator[DatasetError]:
    """Yield empty texts that must be null."""
    for name, batch in tables.batches.items():
        for column, kind in fmt.columns(name, tables.manifest.schema).items():
            if column not in batch.schema.names or batch.column(column).null_count == len(batch):
                continue
            if kind.nullable and kind.type in ("string", "dictionary<string>"):
                yield from _empty_texts(tables, name, column, batch.column(column))
            elif kind.type == fields.TEXTS:
                yield from _empty_items(tables, name, column, batch.column(column))


def _empty_texts(
    tables: Tables, name: str, column: str, values: pa.Array
) -> Iterator[DatasetError]:
    if pa.types.is_dictionary(values.type):
        empty = _is_empty(values.dictionary)
        # Without an empty text the mask has the length of the dictionary; it marks nothing.
        bad = empty.take(values.indices) if empty.true_count else empty
    else:
        bad = _is_empty(values)
    marked = without_nulls(bad, False).to_numpy(zero_copy_only=False)
    return tables.bad(name, column, marked, "an empty text")


def _is_empty(texts: pa.Array) -> pa.BooleanArray:
    return pc.equal(pc.binary_length(texts), _NO_BYTES)


def _empty_items(tables: Tables, name: str, column: str, lists: pa.Array) -> Iterator[DatasetError]:
    """Yield lists with an empty or unknown text."""
    empty = without_nulls(_is_empty(lists.flatten()), True)
    bad = np.zeros(len(lists), bool)
    # parents of [[a, ""], [b]] are 0 0 1; the empty text marks row 0.
    bad[pc.list_parent_indices(lists).filter(empty).to_numpy()] = True
    return tables.bad(name, column, bad, "an empty text in a list")


def _provenance(tables: Tables, name: str, sources: int) -> Iterator[DatasetError]:
    """Yield the damages of the deciding sources of one family."""
    yield from _ascending(tables, name)
    schema = tables.manifest.schema
    layers = [layer for layer in schema.layers if layer in tables.batches[name].schema.names]
    for layer in layers:
        numbers = tables.numbers(name, layer)
        yield from tables.bad(name, layer, numbers > sources, f"of {sources} sources")
        if not numbers.any():
            yield damage(tables.folder / name, "a layer that no source decides", layer)
    yield from _distinct_neighbours(tables, name, layers)
