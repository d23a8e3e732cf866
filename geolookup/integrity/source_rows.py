"""The source rows of a dataset built with ``explain = "full"``."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from geolookup.contract import fields
from geolookup.dataset import layout as fmt
from geolookup.dataset.intervals import Addresses, Bools
from geolookup.dataset.rows import VALUES
from geolookup.errors import DatasetError
from geolookup.integrity.tables import Tables, damaged
from geolookup.integrity.texts import PART, checksums

_IPV4_LAST = 0xFFFF_FFFF


def explained(tables: Tables) -> Iterator[DatasetError]:
    """Yield row numbers out of range, and malformed ranges and intervals."""
    for name in fmt.EXPLAINED.values():
        yield from tables.outside(name, "row", fmt.EXPLAINED_ROWS)
        yield from _partitions(tables, name)
    last = {int(tables.numbers(name, "table")[-1]) for name in fmt.EXPLAINED.values()}
    if len(last) > 1:
        name = fmt.EXPLAINED[6]
        yield damaged(tables.folder / name, "not as many tables as for IPv4", "table")
    yield from _rows(tables)
    yield from _files(tables)


def said(tables: Tables) -> Iterator[DatasetError]:
    """Yield the values of rows that are not JSON objects of fields in canonical form."""
    name = fmt.EXPLAINED_VALUES
    yield from checksums(tables, name)
    stored = tables.batches[name].column("json")
    parts = (stored.slice(begin, PART) for begin in range(0, len(stored), PART))
    bad = np.concatenate([_not_objects(part) for part in parts])
    bad[0] = stored[0].as_py() != ""
    yield from tables.bad(name, "json", bad, "not the values of a row")


def _not_objects(texts: pa.Array) -> Bools:
    return np.array([not VALUES[0].has_value(text) for text in texts.to_pylist()], bool)


def _partitions(tables: Tables, name: str) -> Iterator[DatasetError]:
    """Yield tables that are not numbered from 1, and starts that are not a partition."""
    numbers = tables.numbers(name, "table").astype(np.int64)
    first = np.diff(numbers, prepend=0)
    yield from tables.bad(name, "table", (first < 0) | (first > 1), "a table is left out")
    begins = first > 0
    starts = tables.starts(name)
    column = tables.start_columns(name)
    bad = begins & ~starts.equals(Addresses.of(starts.family, [0]))
    bad[0] |= not begins[0]
    yield from tables.bad(name, column, bad, "the table's first interval does not begin at 0")
    bad = np.zeros(len(starts), bool)
    bad[1:] = ~(starts[:-1] < starts[1:])
    yield from tables.bad(name, column, bad & ~begins, "not greater than the row before")
    rows = tables.numbers(name, "row")
    bad[1:] = rows[1:] == rows[:-1]
    bad[0] = False
    yield from tables.bad(name, "row", bad & ~begins, "as in the row before")


def _rows(tables: Tables) -> Iterator[DatasetError]:
    name = fmt.EXPLAINED_ROWS
    yield from tables.outside(name, "file", fmt.EXPLAINED_FILES)
    for layer in fields.LAYERS:
        yield from tables.outside(name, layer, fmt.EXPLAINED_VALUES)
    family = tables.numbers(name, "family")
    first_high, first_low, last_high, last_low = (tables.numbers(name, each) for each in fmt.ENDS)
    bad = (first_high > last_high) | ((first_high == last_high) & (first_low > last_low))
    bad |= (family == 4) & ((last_high > 0) | (last_low > _IPV4_LAST))
    bad[0] = False  # row 0: unknown
    yield from tables.bad(name, "last_low", bad, "no range")
    bad = (family != 4) & (family != 6)
    bad[0] = family[0] != 0
    yield from tables.bad(name, "family", bad, "neither 4 nor 6")
    bad = tables.numbers(name, "file") == 0
    bad[0] = not bad[0]
    yield from tables.bad(name, "file", bad, "of no file")


def _files(tables: Tables) -> Iterator[DatasetError]:
    name, sources = fmt.EXPLAINED_FILES, len(tables.manifest.metadata().sources)
    numbers = tables.numbers(name, "source")
    bad = (numbers == 0) | (numbers > sources)
    bad[0] = numbers[0] != 0
    yield from tables.bad(name, "source", bad, f"of {sources} sources")
    unnamed = tables.batches[name].column("file").is_null().to_numpy(zero_copy_only=False)
    unnamed[0] = not unnamed[0]
    yield from tables.bad(name, "file", unnamed, "no name")
