"""Contenders take turns, each in its own process on as many cores, on the same addresses.

All answer the first addresses of a list, and the answers are compared. Each goes over the list
once. Then the rounds of all interleave, and the medians count.
"""

from __future__ import annotations

import statistics
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.contenders.answers import CITY_FIELDS, compare
from benchmarks.contenders.opening import Files
from benchmarks.contenders.table import BY_NAME, Contender
from benchmarks.harness import measure
from benchmarks.harness.processes import Child, Result, run_children
from benchmarks.harness.tables import Cell, Number, Ratio, Table

#: Answers of each contender to each list that are compared.
COMPARED = 5_000
#: Lists by their names: the family, and the file of each round; one file is for all rounds.
Lists = Mapping[str, tuple[int, Sequence[Path]]]
Rows = dict[str, Result]


def selected(names: Sequence[str], only: Sequence[str]) -> list[Contender]:
    """Return the contenders of these names; with ``only`` those whose name contains one of it."""
    return [BY_NAME[name] for name in names if not only or any(part in name for part in only)]


def child(contender: Contender, files: Files, threads: int = 1) -> Child:
    """Start the process of a contender."""
    paths = (threads, files.dataset, files.mmdb)
    return Child(
        "benchmarks.harness.worker", contender.name, *paths, environment=contender.environment
    )


def take_turns(
    contenders: Sequence[Contender],
    files: Files,
    lists: Lists,
    rounds: int,
    threads: int = 1,
    fields: Collection[str] = CITY_FIELDS,
) -> tuple[Rows, int]:
    """Return the ns an address of each contender by list, and how many columns are equal.

    Raises UnequalError if two contenders differ in one of ``fields``.
    """
    rows: Rows = {contender.name: {"rounds": {}} for contender in contenders}
    equal = 0
    with run_children(child(one, files, threads) for one in contenders) as children:
        pairs = list(zip(contenders, children, strict=True))
        for name, (family, paths) in lists.items():
            taking_part = [pair for pair in pairs if family in pair[0].families]
            _go_over(taking_part, paths, rounds, name, rows)
            # Afterwards: what comparing leaves in memory is not the contender's.
            equal += compare(list(_digests(taking_part, paths[0], fields)))
        for contender, process in pairs:
            rows[contender.name].update(process.facts)
    return rows, equal


def _digests(
    pairs: Sequence[tuple[Contender, Child]], path: Path, fields: Collection[str]
) -> Iterator[tuple[str, dict[str, str]]]:
    for contender, process in pairs:
        answer = process.ask(do="compare", path=str(path), count=COMPARED)
        digests = answer.get("digests", {})
        yield contender.name, {field: digests[field] for field in digests if field in fields}


def _go_over(
    pairs: Sequence[tuple[Contender, Child]],
    paths: Sequence[Path],
    rounds: int,
    name: str,
    rows: Rows,
) -> None:
    for at in range(rounds + 1):
        for contender, process in pairs:
            if at < len(paths):
                process.ask(do="load", path=str(paths[at]))
            answer = process.ask(do="run")
            if "refused" in answer:
                continue
            if at == 0:
                rows[contender.name].setdefault("memory", answer["memory"])
            else:
                rows[contender.name]["rounds"].setdefault(name, []).append(answer["ns"])


def times_table(title: str, rows: Rows, lists: Sequence[str], form: str = ",.0f") -> Table:
    """Return the medians, a row for each contender that took part."""
    body = [
        [name, *(_median(row["rounds"].get(column), form) for column in lists)]
        for name, row in rows.items()
        if row["rounds"]
    ]
    return Table((title, *lists), body)


def _median(rounds: Sequence[float] | None, form: str) -> Cell:
    return Number(statistics.median(rounds), form) if rounds else "-"


def refusals(rows: Rows) -> Iterator[str]:
    """Yield a remark for each contender that did not take part."""
    for name, row in rows.items():
        if "refused" in row:
            yield f"{name} did not take part: {row['refused']}"


def returns_table(*tables: Rows) -> Table:
    """Return what each contender returns, and its version."""
    rows = {name: row for table in tables for name, row in table.items() if "version" in row}
    body = [(name, row["version"], BY_NAME[name].returns) for name, row in rows.items()]
    return Table(("what each returns", "version", "answer"), body)


def ratio(
    rows: Rows,
    one: str,
    other: str,
    lists: str | tuple[str, str],
    goal: float | None = None,
    *,
    least: bool = False,
) -> Iterator[Ratio]:
    """Yield how many times as long ``one`` takes as ``other``, unless one of them did not run.

    ``lists`` names the list, or the list of each.
    """
    own, peer = (lists, lists) if isinstance(lists, str) else lists
    text = f"{one} / {other}, {own}" if own == peer else f"{one}: {own} / {peer}"
    pair = [
        rows.get(name, {}).get("rounds", {}).get(column)
        for name, column in ((one, own), (other, peer))
    ]
    if all(pair):
        yield Ratio(text, measure.quotient(*pair), goal, least)
