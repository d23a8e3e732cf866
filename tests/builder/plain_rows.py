"""A source in any format, and its rows as a few lines of plain Python read them.

Strategy: the plain rows are written as generic CSV, a file for each table, and read; the source
itself must give the same intervals. Nothing of its readers takes part in the plain rows.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.builder.building import recipe
from tests.builder.sources.readings import read_at

#: ``network``, or ``first`` and ``last``, and the fields that are known.
Row = Mapping[str, object]


def check_rows(
    folder: Path, files: dict[str, str | bytes], text: str, *tables: Iterable[Row]
) -> None:
    """Read files by a recipe, and tables of plain rows, and compare the intervals."""
    (folder / "stated").mkdir(exist_ok=True)
    (folder / "plain").mkdir(exist_ok=True)
    stated = read_at(folder / "stated", files, text)
    for number, rows in enumerate(tables):
        _write(list(rows), folder / "plain" / f"{number}.csv")
    sources = [f'path = "{number}.csv"' for number in range(len(tables))]
    plain = read_at(folder / "plain", {}, recipe(*sources))
    assert stated.intervals() == plain.intervals(), text
    assert len(plain.intervals()) > 2


def _write(rows: list[Row], path: Path) -> None:
    names = sorted({name for row in rows for name in row})
    with path.open("w", encoding="utf-8", newline="") as stream:
        out = csv.DictWriter(stream, names)
        out.writeheader()
        out.writerows(dict(row) for row in rows)
