"""What ``peers`` prints: a table of times, of processes, of returns, and the ratios."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Any

from benchmarks.harness import reports
from benchmarks.harness.ratios import ratio_table
from benchmarks.harness.tables import Cell, Number, Table
from benchmarks.peers.ratios import ratios

_LONGEST = 40


def lines(result: dict[str, Any]) -> Iterator[reports.Part]:
    """Yield the tables for a terminal."""
    rows, sizes = result["rows"], result["file_bytes"]
    for threads in result["threads"]:
        names = [name for name in result["workloads"] if ("threads" in name) == (threads > 1)]
        yield _times(rows, names, threads)
    yield _processes(rows, sizes)
    yield _returns(rows)
    title = "ratios, IPv4 hits on one thread where nothing else is said"
    yield ratio_table("peers-ratios", title, ratios(rows))
    yield _conditions(result)


def _times(rows: dict[str, Any], names: list[str], threads: int) -> Table:
    heads = [workload.partition(",")[0].replace("IPv", "v") for workload in names]
    title = "ns per lookup, " + ("one thread" if threads == 1 else f"{threads} threads")
    first = ["first pass"] if threads == 1 else []  # of the process, over the list of zipf v4 hits
    body = [
        [
            name,
            *(Number(row["first_pass"]) for _ in first),
            *(_median(row["rounds"].get(workload)) for workload in names),
        ]
        for name, row in rows.items()
        if row.get("rounds")
    ]
    header = (title, *first, *heads)
    return Table(f"peers-threads-{threads}", header, body, unit="ns", ours="geolookup")


def _median(rounds: list[float] | None) -> Cell:
    return Number(statistics.median(rounds)) if rounds else "-"


def _processes(rows: dict[str, Any], sizes: dict[str, int]) -> Table:
    body: list[tuple[Cell, ...]] = []
    for name, row in rows.items():
        start, memory = row.get("start"), row.get("memory", {})
        if start or memory:
            body.append(
                (
                    name,
                    Number(start["median_ms"], ".1f") if start else "-",
                    " ".join(start["loads"]) or "no" if start else "-",
                    *(_megabytes(memory.get(key)) for key in _MEMORY),
                    _megabytes(sizes.get(row.get("reads", ""))),
                )
            )
    head = ("whole process", "start ms", "numpy, pyarrow", "own MB", "mapped MB", "file MB")
    return Table("peers-processes", head, body, ours="geolookup")


def _megabytes(size: int | None) -> Cell:
    return "-" if size is None else Number(size / 1e6, ",.1f")


_MEMORY = ("RssAnon", "RssFile")


def _returns(rows: dict[str, Any]) -> Table:
    """Return what each returns, or why it did not take part."""
    cells = [
        (
            f"{name} {row.get('version', '')}".strip(),
            f"did not take part: {row['refused']}" if "refused" in row else row["returns"],
        )
        for name, row in rows.items()
        if "returns" in row
    ]
    return Table("peers-returns", ("what each returns", ""), cells)


def _conditions(result: dict[str, Any]) -> str:
    counts = ", ".join(f"{n:,} {name.replace('_', ' ')}" for name, n in result["counts"].items())
    return "\n".join(
        (
            (
                f"median of {result['rounds']} rounds of {result['addresses']:,} addresses;"
                f" zipf with exponent {result['exponent']:g} over the intervals; {counts}"
            ),
            (
                "first pass: the first of its process, over the zipf v4 hits;"
                f" {result['compared']:,} answers of MMDB and dataset compared, all equal;"
                f" start: median of {result['starts']}; memory: growth over opening and"
                f" {result['addresses']:,} zipf lookups"
            ),
        )
    )
