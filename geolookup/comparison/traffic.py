"""Requests as weights: a column of addresses, counted by interval.

Strategy: the file is read batch by batch, and only the sums of a batch are
kept. No address is stored, and no error quotes one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.comparison.joint_intervals import FAMILIES, special_space
from geolookup.contract.special import PRIVATE
from geolookup.dataset.intervals import F64, Addresses, MixedAddresses, join_intervals
from geolookup.errors import TableFileError
from geolookup.files.row_streams import column_at
from geolookup.files.table_files import AddressColumn, TableFile, open_addresses, table_files
from geolookup.tables.locate import of_family, parse_column


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
    common = {family: join_intervals([starts[family] for starts in several]) for family in FAMILIES}
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
    weights = {family: np.zeros(len(intervals)) for family, intervals in starts.items()}
    invalid = 0.0
    for file in table_files(fspath(traffic.path), traffic.format):
        for addresses, counts in _requests(file, traffic):
            for family, intervals in starts.items():
                rows, requested = of_family(addresses, family)
                at = intervals.search(requested) - 1
                # Unlike weights[at] += counts, it counts an interval as often as it occurs.
                np.add.at(weights[family], at, counts[rows])
            invalid += counts[addresses.family == 0].sum()
    private = 0.0
    for family, intervals in starts.items():
        # Each interval lies in one part of that space: the partition is cut at its ends.
        bounds, kinds = special_space(family)
        private += weights[family][kinds[bounds.search(intervals) - 1] == PRIVATE].sum()
    total = invalid + sum(counts.sum() for counts in weights.values())
    return Requests(int(total), int(private), int(invalid)), weights


def _requests(file: TableFile, traffic: Traffic) -> Iterator[tuple[MixedAddresses, F64]]:
    """Yield the addresses of a file in batches, with the number of requests of each."""
    column = AddressColumn(traffic.column, traffic.delimiter, traffic.header)
    more = {} if traffic.count is None else {traffic.count: "--traffic-count"}
    with open_addresses(file, column, more) as rows:
        for batch in rows.batches():
            addresses = parse_column(pa.chunked_array([column_at(batch, traffic.column)]))
            counts = np.ones(len(batch))
            if traffic.count is not None:
                counts = _counts(batch, file.path, traffic.count)
            yield addresses, counts


def _counts(batch: pa.RecordBatch, path: str, name: str) -> F64:
    """Return the requests of each row, whole numbers from 0 on; texts of CSV are converted."""
    column = column_at(batch, name)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = pc.ascii_trim_whitespace(column)
    try:
        counts: F64 = column.cast(pa.int64()).to_numpy().astype(np.float64)
        is_count = bool(np.min(counts, initial=0) >= 0)
    except pa.ArrowException:  # its text quotes the cell, perhaps an address
        is_count = False
    if not is_count:
        problem = f"column {name!r} holds a value that is not a count"
        raise TableFileError(path, problem, "write whole numbers from 0 on")
    return counts
