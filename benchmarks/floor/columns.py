"""Columns of ``enrich`` beside the least that the machine needs for the same rows.

Strategy: the floor reads each text and each array that a row depends on, one element each, and
writes the values, in one loop in C. Its rows are independent, so its time for the arrays shows how
many misses of the cache the machine has in flight. Floor and ``enrich`` take turns on one core.
"""

from __future__ import annotations

import ctypes
import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import geolookup
from benchmarks.floor.steps import compile_library
from benchmarks.harness import reports
from benchmarks.harness.ratios import Ratio, ratio_table
from benchmarks.harness.tables import Cell, Number, Table
from benchmarks.tables import addresses
from benchmarks.tables.contenders import ONE, ONE_FIELD, TEN, TEN_FIELDS
from geolookup import tables
from geolookup.contract.fields import COUNTRY, LOCATION
from geolookup.dataset.files import Dataset
from geolookup.tables.row_tables import row_tables

SOURCE = Path(__file__).with_name("columns.c")
#: Each run does all steps up to one of them.
STEPS = ("texts", "arrays", "values")
#: Family and fields of the columns.
CASES = {
    f"IPv4, {ONE_FIELD}": (4, ONE),
    f"IPv4, {TEN_FIELDS}": (4, TEN),
    f"IPv6, {ONE_FIELD}": (6, ONE),
}
_POINTERS = (
    *("texts", "starts", "rows", "offsets", "ids", "codes"),
    *("jump", "addresses", "locations", "links", "out"),
)
#: Bytes of a row, and of the values of ten fields: two coordinates and eight texts.
_ROW, _TEN_VALUES = 64, 48


class _Columns(ctypes.Structure):
    """``Columns`` of the C source."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in _POINTERS),
        *(
            (name, ctypes.c_uint32)
            for name in ("text_size", "start_size", "jump_shift", "row_size")
        ),
        ("count", ctypes.c_int64),
    )


def measure_columns(
    engine: geolookup.Engine, path: Path, count: int, rounds: int, folder: Path
) -> dict[str, dict[str, list[float]]]:
    """Return nanoseconds a row of the steps and of ``enrich``, by case."""
    library = _library(folder)
    texts = {family: addresses.texts(path, family, count) for family in (4, 6)}
    results = {}
    for name, (family, fields) in CASES.items():
        arrays = _arrays(engine, Dataset(path), texts[family], family, fields == TEN)
        columns = _columns(arrays, family, engine, fields == TEN)
        calls: dict[str, Callable[[], object]] = {
            step: _step(library, columns, number) for number, step in enumerate(STEPS, 1)
        }
        table = pa.table({"ip": texts[family]})
        calls["enrich"] = _enrich(engine, table, fields)
        results[name] = _rounds(calls, count, rounds)
    return results


def measure_threads(
    engine: geolookup.Engine, path: Path, count: int, rounds: int, folder: Path
) -> dict[str, list[float]]:
    """Return how many times as fast two threads are as one: of the floor and of ``enrich``."""
    library = _library(folder)
    family, fields = CASES[f"IPv4, {ONE_FIELD}"]
    texts = addresses.texts(path, family, count)
    steps = []
    for half in np.array_split(np.arange(count), 2):
        arrays = _arrays(engine, Dataset(path), texts.take(pa.array(half)), family, False)
        steps.append(_step(library, _columns(arrays, family, engine, False), len(STEPS)))
    table = pa.table({"ip": texts})
    gains: dict[str, list[float]] = {"floor": [], "enrich": []}
    with ThreadPoolExecutor(2) as pool:
        for _ in range(rounds):
            one = _wall(lambda: [step() for step in steps])
            two = _wall(lambda: list(pool.map(lambda step: step(), steps)))
            gains["floor"].append(one / two)
            times = [_wall(_enrich(engine, table, fields, threads)) for threads in (1, 2)]
            gains["enrich"].append(times[0] / times[1])
    return gains


def _library(folder: Path) -> ctypes.CDLL:
    library = ctypes.CDLL(str(compile_library(SOURCE, folder)))  # releases the interpreter lock
    library.run_columns.argtypes = [ctypes.POINTER(_Columns), ctypes.c_int]
    library.run_columns.restype = ctypes.c_uint64
    return library


def _wall(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def _arrays(
    engine: geolookup.Engine, dataset: Dataset, texts: pa.Array, family: int, with_rows: bool
) -> dict[str, Any]:
    stored = row_tables(dataset)
    ids = tables.locate(engine.snapshot(), texts).to_numpy()
    _, offsets, data = texts.buffers()
    highs = np.asarray(dataset.ipv6_highs)
    code = next(field for field in dataset.schema.columns if field.path == ONE[0])
    addresses_of_rows = np.asarray(dataset.ipv4_starts)[ids] if family == 4 else None
    rows = np.ones(dataset.row_counts()[LOCATION] * _ROW, np.uint8) if with_rows else None
    return {
        "texts": np.concatenate([np.frombuffer(data, np.uint8), np.zeros(_ROW, np.uint8)]),
        "starts": np.asarray(dataset.ipv4_starts) if family == 4 else highs,
        "rows": rows,
        "offsets": np.frombuffer(offsets, np.int32),
        "ids": ids if family == 4 else ids - np.int32(len(dataset.ipv4_starts)),
        "codes": stored.values(COUNTRY, code.column).indices.fill_null(-1).to_numpy(),
        "jump": np.asarray(dataset.jump) if family == 4 else None,
        "addresses": addresses_of_rows,
        "locations": np.asarray(dataset.ipv4_locations if family == 4 else dataset.ipv6_locations),
        "links": stored.values(LOCATION, COUNTRY).to_numpy(),
        "out": np.ones(len(texts) * (_TEN_VALUES if with_rows else 4), np.uint8),
    }


def _columns(
    arrays: dict[str, Any], family: int, engine: geolookup.Engine, with_rows: bool
) -> _Columns:
    columns = _Columns(
        **{name: None if array is None else array.ctypes.data for name, array in arrays.items()},
        text_size=16 if family == 4 else 40,
        start_size=4 if family == 4 else 8,
        jump_shift=engine.snapshot().dataset.jump_shift,
        row_size=_TEN_VALUES if with_rows else 0,
        count=len(arrays["ids"]),
    )
    columns.arrays = arrays  # keeps them alive
    return columns


def _step(library: ctypes.CDLL, columns: _Columns, number: int) -> Callable[[], object]:
    return lambda: library.run_columns(ctypes.byref(columns), number)


def _enrich(
    engine: geolookup.Engine, table: pa.Table, fields: tuple[str, ...], threads: int = 1
) -> Callable[[], object]:
    return lambda: engine.enrich(table, fields, threads=threads)


def _rounds(
    calls: dict[str, Callable[[], object]], count: int, rounds: int
) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        call()
    for _ in range(rounds):
        for name, call in calls.items():
            began = time.thread_time_ns()
            call()
            times[name].append((time.thread_time_ns() - began) / count)
    return times


def lines(
    results: dict[str, dict[str, list[float]]], gains: dict[str, list[float]]
) -> Iterator[reports.Part]:
    """Yield the tables for a terminal."""
    header = ("ns per row of a column", *results)
    columns = [_column(times) for times in results.values()]
    rows: list[list[Cell]] = [
        [name, *(Number(column[name], ",.1f") for column in columns)] for name in columns[0]
    ]
    yield Table("floor-columns", header, rows, unit="ns", ours="geolookup")
    ratios = [
        Ratio(f"geolookup / floor of a row, {name}", _multiple(times), None, unit="x")
        for name, times in results.items()
    ]
    ratios += [
        Ratio(f"one thread / two threads, {name}", statistics.median(values), None, unit="x")
        for name, values in gains.items()
    ]
    yield ratio_table("floor-columns-multiples", "columns", ratios)


def _column(times: dict[str, list[float]]) -> dict[str, float]:
    """Return the medians of a case, each step without those before it."""
    median = {name: statistics.median(values) for name, values in times.items()}
    return {
        "texts, read": median["texts"],
        "arrays, read for many rows at a time": median["arrays"] - median["texts"],
        "values, written": median["values"] - median["arrays"],
        "floor of a row": median["values"],
        "geolookup": median["enrich"],
    }


def _multiple(times: dict[str, list[float]]) -> float:
    pairs = zip(times["enrich"], times["values"], strict=True)
    return statistics.median(ours / least for ours, least in pairs)
