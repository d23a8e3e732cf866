"""Requests as weights: a column of addresses, counted by interval.

Strategy: the file is read batch by batch, and only the sums of a batch are
kept. No address is stored, and no error quotes one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup.comparison.overlay import FAMILIES, special_space
from geolookup.contract.special import PRIVATE
from geolookup.dataset.column_views import EncodedColumn
from geolookup.dataset.intervals import F64, Addresses, overlay
from geolookup.errors import TableFileError
from geolookup.files.table_files import AddressColumn, TableFile, open_addresses, table_files
from geolookup.kernel.columns import INVALID_ID, locate_numbers, parse
from geolookup.tables.locate import chunks, column_of, locate_chunk


@dataclass(frozen=True, slots=True)
class Traffic:
    """A table file of requested addresses, or a folder of such files.

    Any format that ``geolookup enrich`` reads, compressed or not; a ``.txt`` is
    a list of one address a line.
    """

    path: str | PathLike[str]
    column: str = "ip"  # of addresses
    count: str | None = None  # column of the number of requests of each row; None: one
    format: str | None = None  # as of --input-format; None: by suffix
    delimiter: str | None = None  # of CSV; None: the format's own
    header: bool = True  # of CSV: whether the first row names the columns


@dataclass(frozen=True, slots=True)
class Requests:
    """The number of requests, and of these the requests that are not compared."""

    total: int
    private: int
    invalid: int


def count_requests(
    traffic: Traffic, several: Sequence[Mapping[int, Addresses]]
) -> tuple[Requests, list[dict[int, F64]]]:
    """Return the requests of a file, and for each of several partitions their number by interval.

    The partitions are of both families, cut at the ends of special-purpose space; own columns can
    be known there. An IPv6 address that carries an IPv4 address counts as the latter. Raises
    TableFileError for a file or column that cannot be used.
    """
    common = {family: overlay([starts[family] for starts in several]) for family in FAMILIES}
    requests, sums = _count(traffic, {family: starts for family, (starts, _) in common.items()})
    weights: list[dict[int, F64]] = [
        {
            family: np.bincount(at[number], sums[family], len(starts[family])).astype(np.float64)
            for family, (_, at) in common.items()
        }
        for number, starts in enumerate(several)
    ]
    return requests, weights


def _count(traffic: Traffic, starts: Mapping[int, Addresses]) -> tuple[Requests, dict[int, F64]]:
    ends = np.cumsum([len(starts[family]) for family in FAMILIES])
    # After the intervals, since negative ids count from the end: malformed.
    # sums:  IPv4 intervals | IPv6 intervals | -1: malformed
    sums = np.zeros(ends[-1] - INVALID_ID, np.float64)
    locator = _Locator(starts)
    for file in table_files(fspath(traffic.path), traffic.format):
        _add(sums, file, traffic, locator)
    # IPv4 | IPv6 | the sum of malformed addresses; ``zip`` drops it.
    weights = dict(zip(FAMILIES, np.split(sums, ends), strict=False))
    private = sum(weights[family][_is_private(starts[family])].sum() for family in FAMILIES)
    return Requests(int(sums.sum()), int(private), int(sums[INVALID_ID])), weights


def _is_private(starts: Addresses) -> NDArray[np.bool_]:
    """Mark the private intervals of a partition that is cut at the ends of that space."""
    bounds, kinds = special_space(starts.family)
    is_private: NDArray[np.bool_] = kinds[bounds.search(starts) - 1] == PRIVATE
    return is_private


def _add(sums: F64, file: TableFile, traffic: Traffic, locator: _Locator) -> None:
    """Add the requests of one file to the sums by interval."""
    column = AddressColumn(traffic.column, traffic.delimiter, traffic.header)
    more = {} if traffic.count is None else {traffic.count: "--traffic-count"}
    with open_addresses(file, column, more) as table:
        for batch in table.rows.batches:
            counts = None if traffic.count is None else _counts(batch, file.path, traffic.count)
            begin = 0
            for part in chunks(column_of(batch.column(0))):
                ids = locate_chunk(locator, part).ids
                end = begin + len(part)
                # Unlike sums[ids] += 1, it counts an id as often as it occurs.
                np.add.at(sums, ids, 1.0 if counts is None else counts[begin:end])
                begin = end


class _Locator:
    """Locates columns of addresses, private ones too, in two partitions."""

    def __init__(self, starts: Mapping[int, Addresses]) -> None:
        ipv4, ipv6 = (starts[family] for family in FAMILIES)
        self.ipv4_starts = ipv4.low.data
        self.ipv6_highs = np.asarray(ipv6.high).data
        # ``EncodedColumn`` with the indices 0 1 2 ...: the plain lower halves.
        every = np.arange(len(ipv6), dtype=np.int32)
        self.ipv6_lows = EncodedColumn(every.data, ipv6.low.data)

    def locate_texts(self, data: Any, offsets: NDArray[np.int64], ids: Any, families: Any) -> None:
        """Fill in the interval ids and families of the n texts ``data[offset : next offset]``."""
        parsed = parse(data, offsets[:-1], np.diff(offsets))
        families[:] = parsed.family
        self.locate_numbers(parsed.family, parsed.high, parsed.low, ids)

    def locate_numbers(self, families: Any, highs: Any, lows: Any, ids: Any) -> None:
        """Fill in the interval ids of n addresses by family and 64-bit halves."""
        locate_numbers(self, families, highs, lows, ids, with_private=True)


def _counts(batch: pa.RecordBatch, path: str, name: str) -> F64:
    """Return the requests of each row, whole numbers from 0 on; texts of CSV are converted."""
    column = batch.column(name)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = _whole_numbers(column, path, name)
    if not pa.types.is_integer(column.type):
        remedy = "name another by --traffic-count"
        raise TableFileError(path, f"column {name!r} holds no whole numbers", remedy)
    if column.null_count or (len(column) and np.min(column.to_numpy()) < 0):
        raise _no_count(path, name)
    counts: F64 = column.to_numpy().astype(np.float64)
    return counts


def _whole_numbers(texts: pa.Array, path: str, name: str) -> pa.Array:
    try:
        return pc.ascii_trim_whitespace(texts).cast(pa.int64())
    except pa.ArrowInvalid:
        # Arrow's message quotes the cell, perhaps an address.
        raise _no_count(path, name) from None


def _no_count(path: str, name: str) -> TableFileError:
    problem = f"column {name!r} holds a value that is not a count"
    return TableFileError(path, problem, "write whole numbers from 0 on")
