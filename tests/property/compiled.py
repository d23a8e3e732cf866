"""Random sources, compiled: the dataset, its bytes, and the values of its intervals and rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import geolookup
from tests.conftest import build_at
from tests.internals.dataset import layout as fmt
from tests.internals.dataset import read
from tests.oracle import OwnColumn, Source
from tests.range_strategies import as_csv, recipe

#: What a table refers to: rows of these tables, by column.
LINKS = {fmt.LOCATION: {"country": fmt.COUNTRY, "zone": fmt.ZONE}}
INTERVALS = {"location": fmt.LOCATION, "network": fmt.NETWORK, "own": fmt.OWN}


def built(
    folder: Path,
    listed: list[Source],
    keys: str = "",
    columns: Sequence[OwnColumn] = (),
) -> Path:
    """Compile the sources in a folder of their own; the name of the folder is in no byte.

    ``keys`` are lines of ``[dataset]``.
    """
    folder.mkdir()
    files: dict[str, str | bytes] = {f"{n}.csv": as_csv(item) for n, item in enumerate(listed)}
    text = recipe(listed, columns).replace("\n", f"\n{keys}\n", 1)
    return build_at(folder, files, text)[0]


@contextmanager
def opened(
    listed: list[Source], keys: str = "", columns: Sequence[OwnColumn] = ()
) -> Iterator[geolookup.Engine]:
    with TemporaryDirectory() as folder:
        dataset = built(Path(folder) / "sources", listed, keys=keys, columns=columns)
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


def same_answers(one: Path, other: Path) -> None:
    """Both have the same values of each interval, and the same rows, numbered in any order."""
    for file in (fmt.IPV4, fmt.IPV6):
        assert partition(one, file) == partition(other, file)
    for file in (fmt.LOCATION, fmt.NETWORK, fmt.COUNTRY, fmt.ZONE):
        assert sorted(map(repr, rows(one, file))) == sorted(map(repr, rows(other, file)))
