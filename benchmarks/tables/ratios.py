"""The goals for tables, and their measured values: printed, never asserted.

Strategy: a ratio of two contenders is taken round by round, as in ``benchmarks.peers.ratios``.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.harness.ratios import Ratio
from benchmarks.tables.contenders import ONE_FIELD, OWN, TEN_FIELDS
from benchmarks.tables.text_ways import medians

Rows = Mapping[str, Mapping[str, Any]]
_ONE4, _TEN4, _ONE6 = (
    f"{OWN}: IPv{family}, {fields}"
    for family, fields in ((4, ONE_FIELD), (4, TEN_FIELDS), (6, ONE_FIELD))
)
_THREADS = ", 2 threads"
#: The greater, the lesser, and the bound of their ratio.
_RATIOS: tuple[tuple[str, str, float | None, bool], ...] = (
    (f"maxminddb-polars: IPv4, {TEN_FIELDS}", _TEN4, None, True),
    (f"polars-iptools: IPv4, {TEN_FIELDS}", _TEN4, None, True),
    (f"maxminddb, loop: IPv4, {ONE_FIELD}", _ONE4, None, True),
    (f"DuckDB, ASOF join: IPv4, {ONE_FIELD}", _ONE4, None, True),
    (_TEN4, _ONE4, 1.8, False),
    (_ONE6, _ONE4, 1.5, False),
    (_ONE4, _ONE4 + _THREADS, 1.8, True),
    (_TEN4, _TEN4 + _THREADS, 1.8, True),
)
_POLARS = f"maxminddb-polars: IPv4, {ONE_FIELD}"
#: By the least number of rows: how many times as long the MMDB reader must take.
_POLARS_FROM = {0: 8.0, 10_000_000: 11.0}
_NS = ((_ONE4, 30.0), (_TEN4, 150.0))
_PER_SECOND = (("parquet", 2.0), ("spark", 1.0))


def ratios(rows: Rows, ways: Rows, count: int) -> Iterator[Ratio]:
    """Yield all whose contenders took part; ``count`` is the number of rows of the tables."""
    for name, bound in _NS:
        if rounds := rows.get(name, {}).get("rounds"):
            yield Ratio(name, statistics.median(rounds), bound, unit=" ns")
    polars = max(bound for least, bound in _POLARS_FROM.items() if least <= count)
    for greater, lesser, goal, least in ((_POLARS, _ONE4, polars, True), *_RATIOS):
        both: list[Any] = [rows.get(name, {}).get("rounds") for name in (greater, lesser)]
        if all(both):
            quotients = [a / b for a, b in zip(*both, strict=True)]
            yield Ratio(f"{greater} / {lesser}", statistics.median(quotients), goal, least, "x")
    for name, bound in _PER_SECOND:
        if "per_second" in ways.get(name, {}):
            yield Ratio(
                f"{name}, two cores", ways[name]["per_second"] / 1e6, bound, True, " M rows/s"
            )
    for name, run in ways.get("texts", {}).get("runs", {}).items():
        own, peer, ratio = medians(run)
        yield Ratio(f"enrich, {name}", own, None, unit=" s")
        yield Ratio(f"pyarrow reads and writes: {name}", peer, None, unit=" s")
        yield Ratio(f"enrich / pyarrow: {name}", ratio, run["goal"], unit="x")
    for name, way in ways.items():
        if "beyond" in way:
            text = f"{name}: beyond input and output, {way['rows']:,} rows"
            yield Ratio(text, way["beyond"] / 1e6, None, unit=" MB")
