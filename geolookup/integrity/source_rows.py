"""The source rows of a dataset built with ``explain = "full"``.

Strategy: the starts of the tables are checked first; intervals, numbers of values, ranges and lines
rely on it. Values are columns, with the checksum of a JSON object that is not stored: it is
rendered again, ``PART`` rows at a time, after a check that all texts fit into memory.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import without_nulls
from geolookup.dataset.intervals import I64, Addresses, Bools
from geolookup.dataset.runs import run_starts
from geolookup.errors import DatasetError
from geolookup.integrity.tables import Tables, damage
from geolookup.integrity.texts import decoded_bytes, object_sums

_IPV4_LAST = 0xFFFF_FFFF
#: The bytes that the texts of all values may take, as the compiler limits them.
_MAX_BYTES = (1 << 31) - 1


def explanations(tables: Tables) -> Iterator[DatasetError]:
    """Yield numbers out of range, and malformed tables, intervals, ranges and lines."""
    for step in (_tables, _partitions, _numbers, _ranges, _lines, _files):
        whole = True
        for error in step(tables):
            whole = False
            yield error
        if not whole:  # the later steps rely on the earlier ones
            return


def _column(tables: Tables, column: str) -> I64:
    return tables.numbers(fmt.EXPLAINED_TABLES, column).astype(np.int64)


def _tables(tables: Tables) -> Iterator[DatasetError]:
    """Yield tables that are out of order, or that end elsewhere than the intervals."""
    name = fmt.EXPLAINED_TABLES
    rows = _column(tables, "row")
    # Rows 1 4 4 9: table 0 has the source rows 1 to 3, table 1 none, table 2 the rows 4 to 8; the
    # last entry is the end. So equal neighbours are allowed here,
    bad = np.diff(rows, prepend=1) < 0
    bad[0] = rows[0] != 1
    yield from tables.bad(name, "row", bad, "not the first row of its table")
    for family, column in fmt.EXPLAINED_STARTS.items():
        begins, intervals = _column(tables, column), tables.rows(fmt.EXPLAINED[family])
        # but not here: each table has an interval at least, the one that begins at 0.
        bad = np.diff(begins, prepend=-1) < 1
        bad[0] = begins[0] != 0
        bad[-1] |= begins[-1] != intervals
        yield from tables.bad(name, column, bad, f"no table of {fmt.EXPLAINED[family]} begins here")


def _partitions(tables: Tables) -> Iterator[DatasetError]:
    """Yield starts that are not a partition for each table, and rows of other tables."""
    rows = _column(tables, "row")
    for family, name in fmt.EXPLAINED.items():
        firsts = _column(tables, fmt.EXPLAINED_STARTS[family])
        begins = np.zeros(tables.rows(name), bool)
        begins[firsts[:-1]] = True
        starts, column = tables.starts(name), tables.start_columns(name)
        bad = begins & ~starts.equals(Addresses.of(family, [0]))
        yield from tables.bad(name, column, bad, "the table's first interval does not begin at 0")
        bad = np.zeros(len(starts), bool)
        bad[1:] = ~(starts[:-1] < starts[1:])
        yield from tables.bad(name, column, bad & ~begins, "not greater than the row before")
        deciding = tables.numbers(name, "row")
        # For each interval the first row of its table, and the row after its last.
        least, end = (np.repeat(numbers, np.diff(firsts)) for numbers in (rows[:-1], rows[1:]))
        bad = (deciding > 0) & ((deciding < least) | (deciding >= end))
        yield from tables.bad(name, "row", bad, "no row of this table")
        bad = ~run_starts(deciding) & ~begins
        yield from tables.bad(name, "row", bad, "as in the row before")


def _numbers(tables: Tables) -> Iterator[DatasetError]:
    """Yield numbers that are missing, or of values of another layer."""
    name, values = fmt.EXPLAINED_NUMBERS, fmt.EXPLAINED_VALUES
    yield from tables.outside(name, "value", values)
    rows, numbers = _column(tables, "row"), tables.numbers(name, "value")
    states, next_begin = _states(tables), 1
    bad = np.zeros(len(numbers), bool)
    bad[0] = numbers[0] != 0
    begins = {layer: _column(tables, layer) for layer in states}
    for at, size in enumerate(np.diff(rows, append=rows[-1]).tolist()):
        for layer in states:
            begin = int(begins[layer][at])
            # Tables without this layer state 0; the others lie one after another, from row 1 on.
            if begin and (begin != next_begin or begin + size > len(numbers) or not size):
                yield damage(tables.folder / fmt.EXPLAINED_TABLES, f"outside {name}", layer, at)
                return
            if begin:
                next_begin = begin + size
                part = numbers[begin:next_begin]
                # A number beyond the values was reported above; it must not stop numpy here.
                inside = np.minimum(part, len(states[layer]) - 1)
                bad[begin:next_begin] = (part > 0) & ~states[layer][inside]
    yield from tables.bad(name, "value", bad, "of no value of its layer")
    if next_begin != len(numbers):
        yield damage(tables.folder / name, f"{len(numbers):,} rows where {next_begin:,} belong")


def _states(tables: Tables) -> dict[str, Bools]:
    """Mark the values that state a field of each layer."""
    batch, schema = tables.batches[fmt.EXPLAINED_VALUES], tables.manifest.schema
    states = {layer: np.zeros(batch.num_rows, bool) for layer in schema.layers}
    for layer, names in schema.stated.items():
        for name in (name for name in names if name in batch.schema.names):
            states[layer] |= batch.column(name).is_valid().to_numpy(zero_copy_only=False)
    return states


def _ranges(tables: Tables) -> Iterator[DatasetError]:
    """Yield malformed ranges, and rows without one that do not decide exactly one interval."""
    name, total = fmt.EXPLAINED_RANGES, int(_column(tables, "row")[-1])
    yield from _ascending(tables, name, total)
    family = tables.numbers(name, "family")
    first_high, first_low, last_high, last_low = (tables.numbers(name, end) for end in fmt.ENDS)
    bad = (first_high > last_high) | ((first_high == last_high) & (first_low > last_low))
    bad |= (family == 4) & ((last_high > 0) | (last_low > _IPV4_LAST))
    bad[0] = False  # row 0: unknown
    yield from tables.bad(name, ", ".join(fmt.ENDS), bad, "no range")
    bad = (family != 4) & (family != 6)
    bad[0] = family[0] != 0
    yield from tables.bad(name, "family", bad, "neither 4 nor 6")
    decides = np.zeros(total, np.int64)
    for intervals in fmt.EXPLAINED.values():
        # minlength: rows that decide nothing count 0. Row 0 stands for "no source row".
        decides += np.bincount(tables.numbers(intervals, "row"), minlength=total)
    without = decides != 1
    rows = tables.numbers(name, "row")
    without[rows[rows < total]] = False
    if without.any():
        problem = f"row {int(np.argmax(without))} decides not one interval, and has no range"
        yield damage(tables.folder / name, problem, "row")


def _ascending(tables: Tables, name: str, total: int) -> Iterator[DatasetError]:
    """Yield numbers of source rows that do not ascend from 0 to below a total."""
    rows = tables.numbers(name, "row").astype(np.int64)
    yield from tables.bad(name, "row", rows >= total, "outside the tables")
    bad = np.diff(rows, prepend=-1) < 1
    bad[0] = rows[0] != 0
    yield from tables.bad(name, "row", bad, "not greater than the row before")


def _lines(tables: Tables) -> Iterator[DatasetError]:
    name, total = fmt.EXPLAINED_LINES, int(_column(tables, "row")[-1])
    yield from _ascending(tables, name, total)
    yield from tables.outside(name, "file", fmt.EXPLAINED_FILES)
    bad = tables.numbers(name, "file") == 0
    bad[0] = not bad[0]
    # [1:2] instead of [1]: the file may have row 0 only.
    bad[1:2] |= tables.numbers(name, "row")[1:2] != 1
    if total > 1 and len(bad) == 1:
        bad[0] = True
    yield from tables.bad(name, "file", bad, "of no file")
    lines = tables.batches[name].column("line")
    bad = without_nulls(lines, 1).to_numpy() == 0
    bad[0] |= lines[0].is_valid
    yield from tables.bad(name, "line", bad, "no line")


def _files(tables: Tables) -> Iterator[DatasetError]:
    name, sources = fmt.EXPLAINED_FILES, len(tables.manifest.metadata().sources)
    numbers = tables.numbers(name, "source")
    bad = (numbers == 0) | (numbers > sources)
    bad[0] = numbers[0] != 0
    yield from tables.bad(name, "source", bad, f"of {sources} sources")
    unnamed = tables.batches[name].column("file").is_null().to_numpy(zero_copy_only=False)
    unnamed[0] = not unnamed[0]
    yield from tables.bad(name, "file", unnamed, "no name")


def values(tables: Tables) -> Iterator[DatasetError]:
    """Yield values that are not of one layer, are out of range, or have another checksum."""
    name = fmt.EXPLAINED_VALUES
    layers = np.sum([*_states(tables).values()], axis=0)
    bad = layers != 1
    bad[0] = layers[0] != 0
    yield from tables.bad(name, fmt.CHECKSUMS, bad, "not the values of one layer")
    if bad.any():
        return
    stated = tables.manifest.schema.by_source_column
    yield from tables.beyond_limits(name, stated)
    batch = tables.batches[name]
    if decoded_bytes(batch) > _MAX_BYTES:
        yield damage(tables.folder / name, "its texts take more than 2 GiB")
        return
    try:
        sums = object_sums(batch, [name for name in stated if name in batch.schema.names])
    except (pa.ArrowException, MemoryError) as error:
        problem = f"cannot be compared ({(str(error) or 'no memory').splitlines()[0]})"
        yield damage(tables.folder / name, problem)
        return
    bad = tables.numbers(name, fmt.CHECKSUMS) != sums
    yield from tables.bad(name, fmt.CHECKSUMS, bad, "not the checksum of the row's values")
