"""A build with a previous dataset gives the answers of one without, and keeps its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings

import geolookup
from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import read
from geolookup.dataset.manifest import read_manifest
from tests.conftest import build_at
from tests.oracle import OwnColumn, Source
from tests.range_strategies import as_csv, recipe, recipes

#: What a table refers to: rows of these tables, by column.
LINKS = {fmt.LOCATION: {"country": fmt.COUNTRY, "zone": fmt.ZONE}}
INTERVALS = {"location": fmt.LOCATION, "network": fmt.NETWORK, "own": fmt.OWN}


def built(
    folder: Path,
    listed: list[Source],
    previous: Path | None = None,
    keys: str = "",
    columns: Sequence[OwnColumn] = (),
) -> Path:
    """Compile the sources in a folder of their own; the name of the folder is in no byte.

    ``keys`` are lines of ``[dataset]``.
    """
    folder.mkdir()
    files: dict[str, str | bytes] = {f"{n}.csv": as_csv(item) for n, item in enumerate(listed)}
    text = recipe(listed, columns).replace("\n", f"\n{keys}\n", 1)
    return build_at(folder, files, text, previous=previous)[0]


@contextmanager
def opened(listed: list[Source], keys: str = "") -> Iterator[geolookup.Engine]:
    with TemporaryDirectory() as folder:
        dataset = built(Path(folder) / "sources", listed, keys=keys)
        with geolookup.open(dataset) as engine:
            yield engine


def content(dataset: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in dataset.iterdir()}


def rows(dataset: Path, file: str) -> list[dict[str, Any]]:
    """The rows of a table; references are the values that they lead to."""
    result: list[dict[str, Any]] = read(dataset / file)[0].to_pylist()
    for column, target in (LINKS.get(file) or {}).items():
        referred = rows(dataset, target)
        result = [{**row, column: referred[row[column]]} for row in result]
    return result


def partition(dataset: Path, file: str) -> list[dict[str, Any]]:
    """The intervals of a file, with the values of their rows."""
    tables = {
        column: rows(dataset, target)
        for column, target in INTERVALS.items()
        if (dataset / target).exists()
    }
    return [
        {name: tables[name][value] if name in tables else value for name, value in row.items()}
        for row in read(dataset / file)[0].to_pylist()
    ]


def says_the_same(one: Path, other: Path) -> None:
    for file in (fmt.IPV4, fmt.IPV6):
        assert partition(one, file) == partition(other, file)
    for file in (fmt.LOCATION, fmt.NETWORK, fmt.COUNTRY, fmt.ZONE):
        assert sorted(map(repr, rows(one, file))) == sorted(map(repr, rows(other, file)))
    for file in (*fmt.PROVENANCE.values(), fmt.IPV4_JUMP, fmt.IPV6_SPARSE_INDEX):
        assert read(one / file)[0].to_pylist() == read(other / file)[0].to_pylist()
    assert read_manifest(one).logical() == read_manifest(other).logical()
    for part in geolookup.diff(one, other).parts.values():
        for field in part.fields.values():
            assert not field.null_gained + field.null_lost + field.changed


def keeps_numbers(previous: Path, dataset: Path) -> None:
    """A row keeps its number, unless the table has become too short for it."""
    for file in (fmt.LOCATION, fmt.NETWORK, fmt.ZONE):
        before, after = ([*map(repr, rows(item, file))] for item in (previous, dataset))
        for number, row in enumerate(before[: len(after)]):
            assert after[number] == row or row not in after
    for file in (fmt.IPV6, fmt.LOCATION, fmt.NETWORK, fmt.PROVENANCE[6]):
        for one, other in zip(read(previous / file)[0], read(dataset / file)[0], strict=False):
            if pa.types.is_dictionary(one.type) and pa.types.is_dictionary(other.type):
                before, after = one.dictionary.to_pylist(), other.dictionary.to_pylist()
                for number, value in enumerate(before[: len(after)]):
                    assert after[number] == value or value not in after


@pytest.mark.long
@pytest.mark.parametrize("keys", ["", "explain = 'full'"])
@settings(max_examples=15, suppress_health_check=list(HealthCheck))
@given(old=recipes, new=recipes)
def test_a_previous_dataset_changes_only_numbers(
    keys: str, old: list[Source], new: list[Source]
) -> None:
    """The same sources again give the previous dataset to the byte, with its manifest."""
    with TemporaryDirectory() as target:
        folder = Path(target)
        previous = built(folder / "previous", old, keys=keys)
        alone = built(folder / "alone", new, keys=keys)
        dataset = built(folder / "next", new, previous, keys)
        geolookup.verify(dataset, deep=True)
        says_the_same(alone, dataset)
        keeps_numbers(previous, dataset)
        for file in fmt.EXPLAINING if keys else ():
            assert read(alone / file)[0].to_pylist() == read(dataset / file)[0].to_pylist()
        assert content(built(folder / "again", new, previous, keys)) == content(dataset)
        assert content(built(folder / "same", old, previous, keys)) == content(previous)
        assert content(built(folder / "after", new, dataset, keys)) == content(dataset)
