"""Columns of distinct addresses: any interval that is known, then any address in it.

Strategy: numbers are drawn for all rows at once, repeated ones and such as
are not public are dropped, and more are drawn until there are enough.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from socket import AF_INET6, inet_ntop

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

import geolookup
from benchmarks.harness import workload
from geolookup import tables

_BATCH = 1 << 20
_LAST = np.uint64((1 << 64) - 1)
Halves = NDArray[np.uint64]  # (n, 2): the high and the low half
Draw = Callable[[np.random.Generator, int], Halves]


def write(dataset: Path, targets: Sequence[Path], family: int, count: int) -> None:
    """Write Arrow files of ``count`` public addresses each, as text in the column ``ip``.

    An address is in one of the files, once.
    """
    values = distinct(dataset, family, count * len(targets))
    for at, target in enumerate(targets):
        _write(target, family, values[at * count : (at + 1) * count])


def texts(dataset: Path, family: int, count: int) -> pa.Array:
    """Return distinct public addresses as text, the same in each run."""
    return _TEXTS[family](distinct(dataset, family, count))


def _write(target: Path, family: int, values: Halves) -> None:
    with pa.OSFile(str(target), "wb") as sink, pa.ipc.new_file(sink, _SCHEMA) as writer:
        for begin in range(0, len(values), _BATCH):
            texts = _TEXTS[family](values[begin : begin + _BATCH])
            writer.write_batch(pa.record_batch([texts], schema=_SCHEMA))


_SCHEMA = pa.schema([("ip", pa.string())])


def distinct(dataset: Path, family: int, count: int) -> Halves:
    """Return distinct addresses in random order; the same arguments give the same."""
    rng = np.random.default_rng(workload.SEED)
    rows = workload.table(dataset, family)
    draw = _from_ipv4(rows) if family == 4 else _from_ipv6(rows)
    values = np.empty((0, 2), np.uint64)
    with geolookup.open(dataset) as engine:
        state = engine.snapshot()
        while len(values) < count:
            draws = draw(rng, count - len(values) + count // 10 + 1000)
            public = tables.locate(state, _pack(draws, family)).to_numpy() >= 0
            values = np.concatenate([values, draws[public]])
            values = values[_first_of_each(values)]
    return rng.permutation(values)[:count]


def _first_of_each(values: Halves) -> NDArray[np.int64]:
    """Return where distinct addresses are; a few are lost where two have one key."""
    key = values[:, 0] * np.uint64(0x9E3779B97F4A7C15) + values[:, 1]
    first: NDArray[np.int64] = np.unique(key, return_index=True)[1]
    return first


def _pack(values: Halves, family: int) -> pa.Array:
    if family == 4:
        return pa.array(values[:, 1].astype(np.uint32))
    data = pa.py_buffer(np.ascontiguousarray(values.astype(">u8")))
    return pa.Array.from_buffers(pa.binary(16), len(values), [None, data])


def _from_ipv4(rows: pa.Table) -> Draw:
    begins = rows["start"].to_numpy().astype(np.uint64)
    ends = np.append(begins[1:], np.uint64(1 << 32))
    intervals = np.flatnonzero(rows["location"].to_numpy() > 0)

    def draw(rng: np.random.Generator, count: int) -> Halves:
        at = rng.choice(intervals, count)
        low = begins[at] + (rng.random(count) * (ends[at] - begins[at])).astype(np.uint64)
        return np.column_stack([np.zeros_like(low), low])

    return draw


def _from_ipv6(rows: pa.Table) -> Draw:
    """Draw the high half between the bounds' halves, and any low half that stays inside."""
    highs, lows = (rows[name].to_numpy() for name in ("start_high", "start_low"))
    next_highs, next_lows = np.append(highs[1:], _LAST), np.append(lows[1:], _LAST)
    intervals = np.flatnonzero(rows["location"].to_numpy() > 0)

    def draw(rng: np.random.Generator, count: int) -> Halves:
        at = rng.choice(intervals, count)
        high = highs[at] + (rng.random(count) * (next_highs[at] - highs[at])).astype(np.uint64)
        least = np.where(high == highs[at], lows[at], 0)
        most = np.where(high == next_highs[at], next_lows[at], _LAST)
        low = least + (rng.random(count) * (most - least)).astype(np.uint64)
        return np.column_stack([high, low])

    return draw


def _ipv4_texts(values: Halves) -> pa.Array:
    octets = [
        pa.array(values[:, 1] >> np.uint64(shift) & np.uint64(255)) for shift in (24, 16, 8, 0)
    ]
    return pc.binary_join_element_wise(*(octet.cast(pa.string()) for octet in octets), ".")


def _ipv6_texts(values: Halves) -> pa.Array:
    data = values.astype(">u8").tobytes()  # the C library's texts are canonical, and faster
    texts = [inet_ntop(AF_INET6, data[at : at + 16]) for at in range(0, len(data), 16)]
    return pa.array(texts, pa.string())


_TEXTS: dict[int, Callable[[Halves], pa.Array]] = {4: _ipv4_texts, 6: _ipv6_texts}
