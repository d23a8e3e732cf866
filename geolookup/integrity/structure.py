"""The columns together: order of intervals, and row numbers in range."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract import fields
from geolookup.contract.address import MAX
from geolookup.contract.special import PRIVATE, ranges_of
from geolookup.contract.tzdatabase import database, is_key, zone_file
from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import numbers_of, starts_of, without_nulls
from geolookup.dataset.intervals import Addresses, Bools
from geolookup.dataset.runs import run_starts
from geolookup.errors import DatasetError
from geolookup.integrity.tables import PART, Tables, damage

#: Buckets of a jump table that are checked at once: their intervals may be 64 times as many.
_BUCKETS = 1 << 16
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
    own = tables.batches[fmt.OWN]
    is_public = np.zeros(own.num_rows, bool)
    for field in (field for field in tables.manifest.schema.own if not field.private):
        is_public |= own.column(field.column).is_valid().to_numpy(zero_copy_only=False)
    ranges = [Addresses.of(family, ends) for ends in ranges_of(family, PRIVATE)]

    def mark(part: slice) -> Bools:
        # With the row after the part: it shows which ranges begin beyond.
        starts = starts_of(tables.part(name, slice(part.start, part.stop + 1)))
        inside = np.zeros(part.stop - part.start, bool)
        for ends in ranges:
            begin, end = starts.search(ends).tolist()
            inside[max(begin - 1, 0) : end] = True
        own = numbers_of(tables.part(name, part), fields.OWN)
        return np.asarray(inside & is_public[np.minimum(own, len(is_public) - 1)], bool)

    problem = "a value in special-purpose space of a column that is not private"
    yield from tables.bad_in_parts(name, fields.OWN, problem, mark)


def _ascending(tables: Tables, name: str) -> Iterator[DatasetError]:
    """Yield starts that are not a partition: the first is 0, and they ascend."""
    column = tables.start_columns(name)
    bad = np.zeros(1, bool)
    bad[0] = starts_of(tables.part(name, slice(0, 1))).item(0) != 0
    yield from tables.bad(name, column, bad, "the first interval does not begin at 0")

    def mark(part: slice) -> Bools:
        starts = starts_of(tables.part(name, _with_before(part)))
        return _after_first(part, ~(starts[:-1] < starts[1:]))

    yield from tables.bad_in_parts(name, column, "not greater than the row before", mark)


def _with_before(part: slice) -> slice:
    """Return a part with the row before it, if there is one."""
    return slice(max(part.start - 1, 0), part.stop)


def _after_first(part: slice, pairs: Bools) -> Bools:
    """Return a mark for each row of a part from marks of neighbours; the first row has none."""
    return pairs if part.start else np.append(False, pairs)


def _distinct_neighbours(tables: Tables, name: str, columns: list[str]) -> Iterator[DatasetError]:
    def mark(part: slice) -> Bools:
        rows = tables.part(name, _with_before(part))
        values = (numbers_of(rows, column) for column in columns)
        starts = run_starts(*values, size=rows.num_rows)
        return _after_first(part, ~starts[1:])

    return tables.bad_in_parts(name, ", ".join(columns), "as in the row before", mark)


def _jump(tables: Tables) -> Iterator[DatasetError]:
    """Compare every bucket with a search for its first address."""
    stored = tables.numbers(fmt.IPV4_JUMP, "interval")
    # 2^16 + 1 rows: 16 bits.
    bits = (len(stored) - 1).bit_length() - 1
    least, most = fmt.JUMP_BITS
    if not least <= bits <= most or len(stored) != (1 << bits) + 1:
        yield damage(tables.folder / fmt.IPV4_JUMP, f"{len(stored):,} rows are not a jump table")
        return
    starts = tables.numbers(fmt.IPV4, "start")

    def mark(part: slice) -> Bools:
        # 16 bits: bucket 1 begins at 1 << 16 (0.1.0.0).
        firsts = np.arange(part.start, part.stop, dtype=np.uint64) << np.uint64(32 - bits)
        # The last row is a sentinel: the last interval.
        firsts = np.minimum(firsts, np.uint64(MAX[4])).astype(np.uint32)
        intervals = np.searchsorted(starts, firsts, side="right") - 1
        return np.asarray(stored[part] != intervals, bool)

    problem = "not the interval of its bucket"
    yield from tables.bad_in_parts(fmt.IPV4_JUMP, "interval", problem, mark, _BUCKETS)


def _sparse_index(tables: Tables) -> Iterator[DatasetError]:
    stored = tables.numbers(fmt.IPV6_SPARSE_INDEX, "start_high")
    highs = tables.numbers(fmt.IPV6, "start_high")[:: fmt.SPARSE_STRIDE]
    if len(stored) != len(highs):
        problem = f"{len(stored):,} rows where {len(highs):,} belong"
        yield damage(tables.folder / fmt.IPV6_SPARSE_INDEX, problem)
        return

    def mark(part: slice) -> Bools:
        return np.asarray(stored[part] != highs[part], bool)

    name, problem = fmt.IPV6_SPARSE_INDEX, "not the start of its interval"
    yield from tables.bad_in_parts(name, "start_high", problem, mark, PART // fmt.SPARSE_STRIDE)


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
    bad = np.array([name is not None and zone_file(name) is None for name in names])
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
        numbers, is_decided = tables.numbers(name, layer), np.zeros(1, bool)

        def mark(part: slice) -> Bools:
            is_decided[0] |= numbers[part].any()  # noqa: B023
            return np.asarray(numbers[part] > sources, bool)  # noqa: B023

        yield from tables.bad_in_parts(name, layer, f"of {sources} sources", mark)
        if not is_decided[0]:
            yield damage(tables.folder / name, "a layer that no source decides", layer)
    yield from _distinct_neighbours(tables, name, layers)
