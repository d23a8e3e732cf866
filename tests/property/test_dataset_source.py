"""A build over a dataset gives what a build from the files behind it gives."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import geolookup
from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import read
from tests.conftest import build_at
from tests.oracle import Source
from tests.property.test_previous import partition, rows
from tests.property.test_resolution import TIES, compare
from tests.range_strategies import as_csv, edges, recipe, recipes
from tests.tiers import scaled

_DATASET = '[[source]]\nformat = "dataset"\npath = "{}"\n'
#: Which of the sources lie behind a dataset: the first and the last, as shares of the recipe.
spans = st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted)


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


def says_the_same(one: Path, other: Path) -> None:
    for file in (fmt.IPV4, fmt.IPV6):
        assert partition(one, file) == partition(other, file)
    for file in (fmt.LOCATION, fmt.NETWORK, fmt.COUNTRY, fmt.ZONE):
        assert sorted(map(repr, rows(one, file))) == sorted(map(repr, rows(other, file)))
    for file in fmt.PROVENANCE.values():
        assert decisions(one, file) == decisions(other, file)
    assert coverage(one) == coverage(other)


@example(TIES, [0, 1])
@settings(max_examples=scaled(12, 150), suppress_health_check=list(HealthCheck))
@given(recipes, spans)
def test_a_dataset_replaces_the_files_behind_it(listed: list[Source], span: list[float]) -> None:
    """Sources above it, below it, and those behind it: answers, provenance and coverage agree."""
    begin, end = round(span[0] * len(listed)), round(span[1] * len(listed))
    tables = sections(listed)
    with TemporaryDirectory() as target:
        folder = Path(target)
        whole = build(folder / "files", listed, tables)
        if begin == end:
            behind = _DATASET.format(whole)
            over = build(folder / "over", listed, [behind])
        else:
            base = build(folder / "base", listed, tables[begin:end])
            over = build(
                folder / "over",
                listed,
                [*tables[:begin], _DATASET.format(base), *tables[end:]],
            )
        geolookup.verify(over, deep=True)
        says_the_same(whole, over)
        with geolookup.open(over) as engine:
            compare(engine, listed, edges(listed))


@settings(max_examples=scaled(4, 60), suppress_health_check=list(HealthCheck))
@given(recipes, recipes)
def test_several_datasets_mix(upper: list[Source], lower: list[Source]) -> None:
    both = [*upper, *lower]
    with TemporaryDirectory() as target:
        folder = Path(target)
        whole = build(folder / "files", both, sections(both))
        one = build(folder / "one", both, sections(both)[: len(upper)])
        other = build(folder / "other", both, sections(both)[len(upper) :])
        over = build(folder / "over", [], [_DATASET.format(one), _DATASET.format(other)])
        geolookup.verify(over, deep=True)
        says_the_same(whole, over)
        with geolookup.open(over) as engine:
            compare(engine, both, edges(both))
