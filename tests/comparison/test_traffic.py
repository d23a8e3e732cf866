"""Traffic files: every form counts alike, and no error tells an address."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from geolookup import comparison as diff
from geolookup.errors import DiffError

ADDRESSES = ["8.8.8.129", "8.8.8.1", "2a00::1", "10.0.0.1", "8.8.8.129", "nonsense", None]
COUNTS = [3, 1, 4, 1, 5, 9, 2]


def _csv(columns: dict[str, list[Any]]) -> str:
    rows = zip(*columns.values(), strict=True)
    lines = [",".join("" if cell is None else str(cell) for cell in row) for row in rows]
    return "\n".join([",".join(columns), *lines, ""])


def _arrow(path: Path, table: pa.Table) -> None:
    with pa.ipc.new_file(str(path), table.schema) as file:
        file.write_table(table, max_chunksize=3)


COLUMNS: dict[str, list[Any]] = {"status": [200] * 7, "client": ADDRESSES, "hits": COUNTS}
WRITERS: dict[str, Callable[[Path], object]] = {
    "t.csv": lambda path: path.write_text(_csv(COLUMNS), encoding="utf-8"),
    "t.csv.gz": lambda path: path.write_bytes(gzip.compress(_csv(COLUMNS).encode())),
    "t.parquet": lambda path: pa_parquet.write_table(pa.table(COLUMNS), path),
    "t.arrow": lambda path: _arrow(path, pa.table(COLUMNS)),
    "t.feather": lambda path: _arrow(
        path,
        pa.table({**COLUMNS, "client": pa.array(ADDRESSES).dictionary_encode()}),
    ),
}


def _counted(pair: tuple[Path, Path], traffic: diff.Traffic) -> dict[str, Any]:
    comparison = diff.compare(*pair, traffic)
    return {"requests": comparison.requests, "parts": asdict(comparison)["parts"]}


@pytest.mark.parametrize("name", WRITERS)
def test_every_form_counts_alike(pair: tuple[Path, Path], tmp_path: Path, name: str) -> None:
    WRITERS[name](tmp_path / name)
    listed = [a or "" for a, n in zip(ADDRESSES, COUNTS, strict=True) for _ in range(n)]
    (tmp_path / "list").write_text("\r\n".join(each or "-" for each in listed), encoding="utf-8")
    expected = _counted(pair, diff.Traffic(tmp_path / "list"))
    assert _counted(pair, diff.Traffic(tmp_path / name, "client", "hits")) == expected
    assert expected["requests"] == diff.Requests(total=25, private=1, invalid=11)
    assert expected["parts"]["all"]["moved"]["country"] == {"count": 8, "of": 13, "share": 8 / 13}


def test_without_counts_each_row_is_one(pair: tuple[Path, Path], tmp_path: Path) -> None:
    WRITERS["t.parquet"](tmp_path / "t.parquet")
    found = _counted(pair, diff.Traffic(tmp_path / "t.parquet", "client"))
    assert found["requests"] == diff.Requests(total=7, private=1, invalid=2)


def test_no_requests_at_all(pair: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("address\n", encoding="utf-8")
    comparison = diff.compare(*pair, diff.Traffic(tmp_path / "t.csv"))
    assert comparison.requests == diff.Requests(0, 0, 0)
    assert not any(comparison.parts["all"].metrics.values())


@pytest.mark.parametrize(
    ("name", "content", "count", "told"),
    [
        ("t.csv", "8.8.8.8\n8.8.4.4\n", None, "must have 'address'"),
        ("t.csv", "address,n\n8.8.8.8,1\n", "hits", "must have 'address' and 'hits'"),
        ("t.csv", "address,n\n8.8.8.8,8.8.4.4\n", "n", "column 'address' and 'n'"),
        ("t.csv", "address,n\n8.8.8.8,-1\n", "n", "no count"),
        ("t.csv", "address,n\n8.8.8.8,\n", "n", "no count"),
        ("t.csv", "address,n\n8.8.8.8,1\n8.8.8.8,8.8.4.4,3\n", "n", "cannot be read"),
        ("t.txt", "8.8.8.8\n", "n", "no columns"),
        ("t.parquet", "8.8.8.8\n", None, "cannot be read"),
        ("t.arrow", "8.8.8.8\n", None, "cannot be read"),
        ("missing/t.csv", None, None, "No such file"),
        ("missing/t.txt", None, None, "No such file"),
    ],
)
def test_what_cannot_be_counted_is_told_without_an_address(
    pair: tuple[Path, Path],
    tmp_path: Path,
    name: str,
    content: str | None,
    count: str | None,
    told: str,
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(DiffError) as raised:
        diff.compare(*pair, diff.Traffic(path, count=count))
    assert str(raised.value).startswith(f"{path}: ")
    assert told in str(raised.value)
    assert "8.8." not in str(raised.value)
    assert "\n" not in str(raised.value)


def test_columns_of_other_types_are_told(pair: tuple[Path, Path], tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    columns = {"number": [1, 2], "address": ["8.8.8.8", "8.8.4.4"], "share": [1.5, 2.0]}
    pa_parquet.write_table(pa.table(columns), path)
    with pytest.raises(DiffError, match="column 'share' holds no whole numbers"):
        diff.compare(*pair, diff.Traffic(path, "address", "share"))
    with pytest.raises(DiffError, match="column 'number' holds no texts"):
        diff.compare(*pair, diff.Traffic(path, "number"))
