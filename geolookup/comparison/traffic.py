"""Requests as weights: a column of addresses, counted by joint interval.

Strategy: the file is read batch by batch, and of each batch nothing is kept
but its sums. Addresses are never named, in no error either.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet
from numpy.typing import NDArray

from geolookup.comparison.overlay import FAMILIES, Joints
from geolookup.errors import DiffError
from geolookup.kernel.columns import INVALID_ID, PRIVATE_ID, locate_numbers, parse

_BLOCK = 16 << 20
_TEXTS = (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary())
_Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True, slots=True)
class Traffic:
    """A file of requested addresses.

    Parquet (``.parquet``), Arrow IPC (``.arrow``, ``.feather``), CSV with a
    header (``.csv``, ``.csv.gz``); any other is a list, one address a line.
    """

    path: Path
    address: str = "address"  # column of addresses as texts
    count: str | None = None  # column of how many requests each row stands for; None: one


@dataclass(frozen=True, slots=True)
class Requests:
    """How many requests there were, and of these those that no dataset is asked about."""

    total: int
    private: int
    invalid: int


def count_requests(
    traffic: Traffic, joints: Joints
) -> tuple[Requests, dict[int, NDArray[np.float64]]]:
    """Return how many requests a file has, and by family how many fall into each joint interval.

    An IPv6 address that carries an IPv4 address counts as that.
    """
    ends = np.cumsum([len(joints.families[family].starts) for family in FAMILIES])
    # Behind the intervals, for rows below 0 count from the end: the private, then the invalid.
    sums = np.zeros(ends[-1] - min(PRIVATE_ID, INVALID_ID), np.float64)
    with _clear_errors(traffic):
        for batch in _batches(traffic):
            np.add.at(sums, _located(traffic, batch, joints), _counts(traffic, batch))
    requests = Requests(int(sums.sum()), int(sums[PRIVATE_ID]), int(sums[INVALID_ID]))
    weights = np.split(sums, ends)
    return requests, dict(zip(FAMILIES, weights, strict=False))


def _located(traffic: Traffic, batch: pa.RecordBatch, joints: Joints) -> NDArray[np.int32]:
    """Return the joint intervals of a batch's addresses."""
    texts = batch.column(traffic.address)
    if pa.types.is_dictionary(texts.type):
        texts = texts.dictionary_decode()
    if texts.type not in _TEXTS:
        raise DiffError(f"{traffic.path}: column {traffic.address!r} holds no texts")
    # A null is as long as nothing, which is no address.
    texts = texts.cast(pa.large_binary()).fill_null(b"")
    _, offsets, data = texts.buffers()
    bounds = np.frombuffer(offsets, np.int64, len(texts) + 1, texts.offset * 8)
    found = parse(np.frombuffer(data or b"", np.uint8), bounds[:-1], np.diff(bounds))
    ids = np.empty(len(texts), np.int32)
    locate_numbers(joints, found.family, found.high, found.low, ids)
    return ids


def _counts(traffic: Traffic, batch: pa.RecordBatch) -> Any:
    if traffic.count is None:
        return 1.0
    counts = batch.column(traffic.count)
    if not pa.types.is_integer(counts.type):
        raise DiffError(f"{traffic.path}: column {traffic.count!r} holds no whole numbers")
    if counts.null_count or (len(counts) and np.min(counts.to_numpy()) < 0):
        problem = f"column {traffic.count!r} holds what is no count"
        raise DiffError(f"{traffic.path}: {problem}; write whole numbers from 0 on")
    return counts.to_numpy().astype(np.float64)


def _batches(traffic: Traffic) -> _Batches:
    name = traffic.path.name.lower()
    for suffix, reader in _READERS.items():
        if name.endswith(suffix):
            return reader(traffic, [traffic.address, *filter(None, [traffic.count])])
    return _lines(traffic)


def _parquet(traffic: Traffic, columns: list[str]) -> _Batches:
    with pa_parquet.ParquetFile(traffic.path) as file:
        yield from file.iter_batches(columns=columns)


def _arrow(traffic: Traffic, _columns: list[str]) -> _Batches:
    with pa.memory_map(str(traffic.path)) as stream, pa.ipc.open_file(stream) as file:
        for number in range(file.num_record_batches):
            batch = file.get_batch(number)
            batch.validate(full=True)
            yield batch


def _csv(traffic: Traffic, columns: list[str]) -> _Batches:
    types = {traffic.address: pa.binary(), **({traffic.count: pa.int64()} if traffic.count else {})}
    with pa_csv.open_csv(
        str(traffic.path),
        read_options=pa_csv.ReadOptions(block_size=_BLOCK),
        convert_options=pa_csv.ConvertOptions(column_types=types, include_columns=columns),
    ) as reader:
        yield from reader


def _lines(traffic: Traffic) -> _Batches:
    if traffic.count is not None:
        raise DiffError(f"{traffic.path}: a list has no columns; name a .csv, .parquet or .arrow")
    with pa_csv.open_csv(
        str(traffic.path),
        read_options=pa_csv.ReadOptions(block_size=_BLOCK, column_names=[traffic.address]),
        # Of what no list of addresses holds; Arrow takes no NUL.
        parse_options=pa_csv.ParseOptions(delimiter="\x01", quote_char=False),
        convert_options=pa_csv.ConvertOptions(column_types={traffic.address: pa.binary()}),
    ) as reader:
        yield from reader


_READERS: dict[str, Callable[[Traffic, list[str]], _Batches]] = {
    ".parquet": _parquet,
    ".arrow": _arrow,
    ".feather": _arrow,
    ".csv": _csv,
    ".csv.gz": _csv,
}


@contextmanager
def _clear_errors(traffic: Traffic) -> Iterator[None]:
    """Turn what Arrow raises into one line without what a cell holds: it may be an address.

    Nor does it hold a name of a column that was not asked for: a file without a
    header would have addresses there.
    """
    wanted = " and ".join(repr(name) for name in (traffic.address, traffic.count) if name)
    try:
        yield
    except OSError as error:
        problem = error.strerror or "unreadable"
        raise DiffError(f"{traffic.path}: {problem}; check its name and form") from None
    except KeyError:
        raise DiffError(f"{traffic.path}: a column is missing; it must have {wanted}") from None
    except (pa.ArrowException, ValueError) as error:
        row = re.search(r"Row #(\d+)", str(error))
        place = f" in row {row[1]}" if row else ""
        problem = f"cannot be read{place}; check its form, and column {wanted}"
        raise DiffError(f"{traffic.path}: {problem}") from None
