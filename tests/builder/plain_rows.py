"""A source in any format, and its rows as a few lines of plain Python read them.

Strategy: the plain rows are written as generic CSV, a file for each table, and compiled; the
compiler must make the same tables of the source itself. Nothing of its readers takes part in
the plain rows.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path

import pyarrow.ipc

from tests.builder.building import recipe
from tests.conftest import build_at

#: ``network``, or ``first`` and ``last``, and the fields that are known.
Row = Mapping[str, object]


def check_rows(
    folder: Path, files: dict[str, str | bytes], text: str, *tables: Iterable[Row]
) -> None:
    """Compile files by a recipe, and tables of plain rows, and compare the datasets."""
    (folder / "stated").mkdir()
    (folder / "plain").mkdir()
    stated, _ = build_at(folder / "stated", files, text)
    for number, rows in enumerate(tables):
        _write(list(rows), folder / "plain" / f"{number}.csv")
    sources = [f'path = "{number}.csv"' for number in range(len(tables))]
    plain, _ = build_at(folder / "plain", {}, recipe(*sources))
    for name in ("ipv4.arrow", "ipv6.arrow", "location.arrow", "network.arrow"):
        found, wanted = _table(stated / name), _table(plain / name)
        assert found.equals(wanted), f"{name}: {found.to_pylist()} is not {wanted.to_pylist()}"
    assert _table(stated / "ipv4.arrow").num_rows + _table(stated / "ipv6.arrow").num_rows > 2


def _table(path: Path) -> pyarrow.Table:
    with pyarrow.ipc.open_file(path) as reader:
        return reader.read_all()


def _write(rows: list[Row], path: Path) -> None:
    names = sorted({name for row in rows for name in row})
    with path.open("w", encoding="utf-8", newline="") as stream:
        out = csv.DictWriter(stream, names)
        out.writeheader()
        out.writerows(dict(row) for row in rows)
