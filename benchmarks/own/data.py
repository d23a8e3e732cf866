"""Recipes with own columns: of some sites, and of every second interval of a dataset.

The intervals stay the same with own columns: both datasets differ only in these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks.build.over import sites
from benchmarks.data.records import I64, join, pick, text, words
from benchmarks.harness import workload
from benchmarks.harness.workload import Intervals

_SEED = 20_260
#: Distinct records of own values, draws by Zipf's law.
_RECORDS = 50_000
_SITE = '[columns]\nsite_id = "text"\n'
_COLUMNS = """[columns]
site_id = { type = "text", group = "site", private = true }
owner = { type = "text", group = "site", private = true }
risk_score = { type = "integer", group = "risk" }
confidence = { type = "real", group = "risk" }
category = { type = "text", group = "risk" }
reasons = { type = "texts", group = "risk" }
is_vpn = { type = "boolean", group = "threat" }
is_proxy = { type = "boolean", group = "threat" }
is_tor = { type = "boolean", group = "threat" }
last_seen = { type = "text", group = "threat" }
"""
_HEADER = (
    "first,last,site_id,owner,risk_score,confidence,category,reasons,is_vpn,is_proxy,is_tor,"
    "last_seen\n"
)
_DATASET = '[[source]]\nformat = "dataset"\npath = "{}"\n'
#: Decides nothing of the contract, and its networks are private.
_PRIVATE = "".join(
    f"10.{at >> 8}.{at & 255}.0,10.{at >> 8}.{at & 255}.255,Branch {at},Sales,,,,,,,,\n"
    for at in range(1_000)
)


def sites_recipe(folder: Path, dataset: Path, *, own: bool) -> Path:
    """Write the recipe of a few thousand sites over a dataset, with an own column if wanted."""
    header, *rows = sites().splitlines()
    if own:
        header += ",site_id"
        rows = [f"{row},S{at}" for at, row in enumerate(rows)]
    csv = _write(folder / f"sites{own:d}.csv", "\n".join([header, *rows, ""]))
    columns = _SITE if own else ""
    sources = f'[[source]]\nformat = "csv"\npath = "{csv.name}"\n{_DATASET.format(dataset)}'
    return _write(folder / f"sites{own:d}.toml", f'[dataset]\nname = "over"\n{columns}{sources}')


def own_recipe(folder: Path, recipe: Path, dataset: Path) -> Path:
    """Write a recipe of a source and ten own columns; ``dataset`` is of the source without them."""
    csv = folder / "own.csv"
    rng = np.random.default_rng(_SEED)
    with csv.open("w", encoding="utf-8") as stream:
        stream.write(_HEADER + _PRIVATE)
        for family in (4, 6):
            intervals = workload.read(dataset, family)
            records = _records(rng, max(2, min(_RECORDS, len(intervals.starts) // 10)))
            stream.writelines(_lines(rng, intervals, records))
    source = recipe.read_text(encoding="utf-8").replace(
        'path = "', f'path = "{recipe.parent.as_posix()}/'
    )
    own = f'[[source]]\nformat = "csv"\npath = "{csv.name}"\n'
    return _write(folder / "own.toml", f"{source}\n{own}\n{_COLUMNS}")


def own_intervals(dataset: Path) -> Intervals:
    """Return the IPv4 intervals of a dataset; known are public ones with own columns."""
    rows = workload.table(dataset, 4)
    known: NDArray[np.bool_] = (rows["own"].to_numpy() > 0) & (rows["location"].to_numpy() > 0)
    return replace(workload.read(dataset, 4), is_known=known)


def _lines(rng: np.random.Generator, intervals: Intervals, records: pa.Array) -> Iterator[str]:
    numbers = np.flatnonzero(intervals.is_known)[::2].tolist()
    size = len(records)
    draws = np.minimum((size + 1.0) ** rng.random(len(numbers)), size).astype(np.int64) - 1
    for number, record in zip(numbers, records.take(pa.array(draws)).to_pylist(), strict=True):
        first, last = intervals.span(number)
        yield f"{first},{last},{record}\n"


def _records(rng: np.random.Generator, count: int) -> pa.Array:
    number: I64 = np.arange(count)
    flags = [_values_at(["true", "false", ""], rng.integers(0, 3, count)) for _ in range(3)]
    return join(
        words(number, " Site"),
        words(number // 3, " GmbH"),
        text(rng.integers(0, 101, count)),
        text(rng.integers(0, 1000, count) / 1000),
        _values_at(["hosting", "residential", "education", ""], number),
        _values_at(["scan;spam", "spam", "botnet;scan;proxy", ""], rng.integers(0, 4, count)),
        *flags,
        _values_at([f"2026-11-{day:02}" for day in range(1, 29)], number),
        between=",",
    )


def _values_at(values: list[str], number: I64) -> pa.Array:
    return pick([values], np.zeros(len(number), np.int64), number)


def _write(path: Path, content: str) -> Path:
    path.write_text(content, encoding="utf-8")
    return path
