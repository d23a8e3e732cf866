"""What ``peers`` prints: a table of times, of processes, of returns, and the ratios."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Any

from benchmarks.harness import reports
from benchmarks.peers.ratios import ratios

_LONGEST = 40


def lines(result: dict[str, Any]) -> Iterator[str]:
    """Yield the parts of the table for a terminal."""
    rows, sizes = result["rows"], result["file_bytes"]
    for threads in result["threads"]:
        names = [each for each in result["workloads"] if ("threads" in each) == (threads > 1)]
        yield _times(rows, names, threads)
    yield _processes(rows, sizes)
    yield _returns(rows)
    yield reports.ratio_table(
        "ratios, IPv4 hits on one thread where nothing else is said", ratios(rows)
    )
    yield _conditions(result)


def _times(rows: dict[str, Any], names: list[str], threads: int) -> str:
    heads = [each.partition(",")[0].replace("IPv", "v") for each in names]
    title = "ns per lookup, " + ("one thread" if threads == 1 else f"{threads} threads")
    first = ["first pass"] if threads == 1 else []  # of the process, over the list of zipf v4 hits
    body = [
        [
            name,
            *(f"{row['first_pass']:,.0f}" for _ in first),
            *(_median(row["rounds"].get(each)) for each in names),
        ]
        for name, row in rows.items()
        if row.get("rounds")
    ]
    return reports.table((title, *first, *heads), body)


def _median(rounds: list[float] | None) -> str:
    return f"{statistics.median(rounds):,.0f}" if rounds else "-"


def _processes(rows: dict[str, Any], sizes: dict[str, int]) -> str:
    body = []
    for name, row in rows.items():
        start, memory = row.get("start"), row.get("memory", {})
        if start or memory:
            body.append(
                (
                    name,
                    f"{start['median_ms']:.1f}" if start else "-",
                    " ".join(start["loads"]) or "no" if start else "-",
                    *(f"{memory[each] / 1e6:,.1f}" if memory else "-" for each in _MEMORY),
                    f"{sizes[row['reads']] / 1e6:,.1f}" if row.get("reads") in sizes else "-",
                )
            )
    head = ("whole process", "start ms", "numpy, pyarrow", "own MB", "mapped MB", "file MB")
    return reports.table(head, body)


_MEMORY = ("RssAnon", "RssFile")


def _returns(rows: dict[str, Any]) -> str:
    """Say what each returns, or why it did not take part; to the left, for it is prose."""
    said = {
        f"{name} {row.get('version', '')}".strip(): f"did not take part: {row['refused']}"
        if "refused" in row
        else row.get("returns", "")
        for name, row in rows.items()
        if "returns" in row
    }
    width = max(map(len, said))
    return "\n".join(
        ["what each returns", *(f"{name:{width}}  {is_}" for name, is_ in said.items())]
    )


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
            f"{reports.machine_line(result['machine'])}; load before: {result['load']:.1f}",
        )
    )
