"""A build over datasets gives what a build from the files behind them gives."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import geolookup
from tests.conftest import build_at
from tests.internals.dataset import layout as fmt
from tests.internals.dataset import read
from tests.oracle import Source
from tests.property.compiled import same_answers
from tests.property.test_resolution import TIES
from tests.range_strategies import as_csv, recipe, recipes
from tests.tiers import scaled


def sections(listed: list[Source]) -> list[str]:
    """Return the tables of a recipe, one of each source."""
    _, *tables = recipe(listed).split("[[source]]\n")
    return [f"[[source]]\n{table}" for table in tables]


def build(folder: Path, listed: list[Source], tables: list[str]) -> Path:
    folder.mkdir()
    files: dict[str, str | bytes] = {f"{n}.csv": as_csv(item) for n, item in enumerate(listed)}
    return build_at(folder, files, '[dataset]\nname = "test"\n' + "".join(tables))[0]


def decisions(dataset: Path, file: str) -> list[dict[str, Any]]:
    """Return the intervals of provenance, with the name of each source."""
    with geolookup.open(dataset) as engine:
        names = [None, *(source.name for source in engine.metadata.sources)]
    result = []
    for row in read(dataset / file)[0].to_pylist():
        starts = {name: value for name, value in row.items() if name.startswith("start")}
        decided = {name: names[value] for name, value in row.items() if name not in starts}
        result.append(starts | {name: source for name, source in decided.items() if source})
    return result


def coverage(dataset: Path) -> dict[str, Any]:
    with geolookup.open(dataset) as engine:
        return {s.name: s.coverage for s in engine.metadata.sources if s.coverage}


@example(TIES, [], [0, 0])
@example(TIES, TIES[1:], [0, 1, 1])
@settings(max_examples=scaled(2, 30), suppress_health_check=list(HealthCheck))
@given(recipes, recipes, st.lists(st.sampled_from((0, 0, 1, None)), min_size=6, max_size=6))
def test_datasets_replace_the_files_behind_them(
    upper: list[Source], lower: list[Source], places: list[int | None]
) -> None:
    """Neighbours with the same number are behind one dataset, those of None are files.

    Rows, intervals, provenance and coverage agree, which ``test_resolution`` compares with the
    oracle.
    """
    listed = [*upper, *lower]
    tables = sections(listed)
    with TemporaryDirectory() as target:
        folder = Path(target)
        whole = build(folder / "files", listed, tables)
        over: list[str] = []
        for at, (place, of_place) in enumerate(
            groupby(zip(places, tables, strict=False), itemgetter(0))
        ):
            behind = [table for _, table in of_place]
            if place is not None:
                dataset = build(folder / str(at), listed, behind)
                behind = [f'[[source]]\nformat = "dataset"\npath = "{dataset}"\n']
            over += behind
        dataset = build(folder / "over", listed, over)
        geolookup.verify(dataset)
        same_answers(whole, dataset)
        for file in fmt.PROVENANCE.values():
            assert decisions(whole, file) == decisions(dataset, file)
        assert coverage(whole) == coverage(dataset)
