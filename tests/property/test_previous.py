"""A build with a previous dataset gives the answers of one without, and keeps its numbers."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import geolookup
from tests.internals.dataset import layout as fmt
from tests.internals.dataset import read, read_manifest
from tests.oracle import OwnColumn, Source
from tests.property.compiled import built, content, rows, same_answers
from tests.range_strategies import own_recipes, recipes
from tests.tiers import scaled

Recipe = tuple[list[OwnColumn], list[Source]]
of_any_columns: st.SearchStrategy[Recipe] = recipes.map(lambda listed: ([], listed)) | own_recipes()


@pytest.mark.long
@settings(max_examples=scaled(3, 6), suppress_health_check=list(HealthCheck))
@given(of_any_columns, of_any_columns, st.sampled_from(("", "explain = 'full'")))
def test_a_previous_dataset_changes_only_numbers(old: Recipe, new: Recipe, keys: str) -> None:
    """Own columns may differ. The same sources again give the previous dataset to the byte."""
    with TemporaryDirectory() as target:
        folder = Path(target)
        previous = built(folder / "previous", old[1], None, keys, old[0])
        alone = built(folder / "alone", new[1], None, keys, new[0])
        dataset = built(folder / "next", new[1], previous, keys, new[0])
        geolookup.verify(dataset, deep=True)
        same_answers(alone, dataset)
        assert read_manifest(alone).logical() == read_manifest(dataset).logical()
        for file in (*fmt.PROVENANCE.values(), *(fmt.EXPLAINING if keys else ())):
            assert read(alone / file)[0].to_pylist() == read(dataset / file)[0].to_pylist()
        keeps_numbers(previous, dataset)
        assert content(built(folder / "same", old[1], previous, keys, old[0])) == content(previous)
        assert content(built(folder / "after", new[1], dataset, keys, new[0])) == content(dataset)


def keeps_numbers(previous: Path, dataset: Path) -> None:
    """A row keeps its number, unless the table has become too short for it."""
    for file in (fmt.LOCATION, fmt.NETWORK, fmt.ZONE):
        before, after = ([*map(repr, rows(item, file))] for item in (previous, dataset))
        for number, row in enumerate(before[: len(after)]):
            assert after[number] == row or row not in after
