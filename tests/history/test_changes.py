"""Files of changes: which the store has, plain Parquet, and what a history must not believe."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

import geolookup
from tests.conftest import build_at
from tests.history import pool
from tests.internals.comparison import diff_table, rows_in_file
from tests.internals.history import changes_path, remove_others, write_missing
from tests.internals.store import pointer
from tests.skips import needs, optional

duckdb = optional("duckdb")
_ASKED = ("8.8.8.4", "8.8.8.0/28", "2a00::/124")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Generations 0, 1, 2, and again 0 and 1, with their files."""
    store = tmp_path / "store"
    for number in (0, 1, 2):
        geolookup.publish(pool.dataset(number), store)
    for number in (0, 1):
        geolookup.publish(pool.dataset(number), store)
    assert write_missing(store, _kept(store)) == []
    return store


def _kept(store: Path) -> set[str]:
    return {entry.generation for entry in pointer.read(store)}


def _file(store: Path, old: int, new: int) -> Path:
    return changes_path(store, pool.id_of(old), pool.id_of(new))


def _histories(store: Path) -> list[Any]:
    with geolookup.open(store) as engine:
        return [engine.history(ip) for ip in _ASKED]


def test_a_file_for_each_two_that_follow_each_other(store: Path) -> None:
    def files() -> dict[str, int]:
        return {path.name: path.stat().st_ino for path in (store / "changes").iterdir()}

    written = files()
    pairs = ((0, 1), (1, 2), (2, 0))
    assert written.keys() == {_file(store, *pair).name for pair in pairs}
    assert write_missing(store, _kept(store)) == []
    remove_others(store, _kept(store))
    assert files() == written
    ours = store / "changes" / "notes.parquet"
    ours.write_text("not of the store")
    kept = _kept(store) - {pool.id_of(2)}
    assert write_missing(store, kept) == []
    remove_others(store, kept)
    assert files().keys() == {ours.name, _file(store, 0, 1).name, _file(store, 1, 0).name}


@needs("duckdb")
def test_other_readers_of_parquet_read_them(store: Path) -> None:
    path = _file(store, 0, 1)
    rows = duckdb.sql(f"from '{path}'").arrow().read_all()
    expected = diff_table(pool.dataset(0), pool.dataset(1)).read_all()
    assert rows.column_names == expected.column_names
    assert rows.num_rows == expected.num_rows > 0
    assert set(rows["last_ipv4"].to_pylist()) == set(expected["last_ipv4"].to_pylist())


def test_no_byte_of_a_file_can_change(store: Path) -> None:
    path, ids = _file(store, 0, 1), (pool.id_of(0), pool.id_of(1))
    where = 4, 0, 2**32 - 1
    data = path.read_bytes()
    assert rows_in_file(path, ids, *where)
    ends = {*range(100), *range(len(data) - 3000, len(data))}
    for at in sorted(ends | {*range(0, len(data), 211)}):
        damaged = bytearray(data)
        damaged[at] ^= 1 << at % 8
        path.write_bytes(damaged)
        assert rows_in_file(path, ids, *where) is None, at
        if at % 7 == 0:
            path.write_bytes(data[:at])
            assert rows_in_file(path, ids, *where) is None, at


def _with_digest(table: pa.Table) -> bytes:
    """Return a file as the store writes it: the digest of the others before the footer."""
    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink)
    data: bytes = sink.getvalue().to_pybytes()
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    return data[:footer] + hashlib.sha256(data).digest() + data[footer:]


def _about(table: pa.Table, **members: object) -> pa.Table:
    about = json.loads(table.schema.metadata[b"geolookup"])
    return table.replace_schema_metadata({"geolookup": json.dumps({**about, **members})})


_FORGED: dict[str, Callable[[pa.Table], pa.Table]] = {
    "no metadata": lambda table: table.replace_schema_metadata(None),
    "other metadata": lambda table: table.replace_schema_metadata({"geolookup": "[]"}),
    "no JSON": lambda table: table.replace_schema_metadata({"geolookup": "["}),
    "other generations": lambda table: _about(table, old={"generation": pool.id_of(3)}),
    "other fields": lambda table: _about(table, fields=["location.x"]),
    "no own columns": lambda table: _about(table, own=None),
    "no first": lambda table: table.drop_columns(["first_ipv4"]),
    "texts": lambda table: table.set_column(2, "last_ipv4", table["last_ipv4"].cast(pa.string())),
    "no values": lambda table: table.drop_columns(["location_city_name_before"]),
}


@pytest.mark.parametrize("forge", _FORGED.values(), ids=_FORGED)
def test_files_with_other_content_are_not_used(
    forge: Callable[[pa.Table], pa.Table], store: Path
) -> None:
    expected, path = _histories(store), _file(store, 0, 1)
    table = parquet.read_table(path)
    path.write_bytes(_with_digest(table))
    assert rows_in_file(path, (pool.id_of(0), pool.id_of(1)), 4, 0, 2**32 - 1)
    path.write_bytes(_with_digest(forge(table)))
    assert _histories(store) == expected


def test_missing_files_and_others_of_their_name(store: Path) -> None:
    expected, path = _histories(store), _file(store, 0, 1)
    assert all(history.changes for history in expected)
    for data in (b"", b"PAR1", b"PAR1" * 20, _file(store, 1, 2).read_bytes()):
        path.write_bytes(data)
        assert _histories(store) == expected
    path.unlink()
    assert _histories(store) == expected
    os.mkfifo(path)
    assert _histories(store) == expected
    shutil.rmtree(store / "changes")
    assert _histories(store) == expected


def test_no_past_generation_is_opened(store: Path) -> None:
    expected = _histories(store)
    for number in (0, 2):
        shutil.rmtree(pointer.folder_of(store, pool.id_of(number)), ignore_errors=True)
        Path(pointer.archive_of(store, pool.id_of(number))).unlink(missing_ok=True)
        assert not pointer.is_kept(store, pool.id_of(number))
    assert _histories(store) == expected


def test_a_file_that_cannot_be_written_is_a_warning(store: Path) -> None:
    expected = _histories(store)
    shutil.rmtree(store / "changes")
    (store / "changes").write_text("a file")
    warnings = write_missing(store, _kept(store))
    assert len(warnings) == 3
    assert all("changes" in text for text in warnings)
    remove_others(store, _kept(store))
    assert _histories(store) == expected


def test_values_are_those_of_answers(tmp_path: Path) -> None:
    """1 is another value than true, but not than 1.0; whole numbers are integers."""
    cells = (("integer", "1"), ("real", "1"), ("boolean", "true"), ("real", "2.5e300"))
    store, seen = tmp_path / "store", []
    for number, (kind, cell) in enumerate(cells):
        folder = tmp_path / str(number)
        folder.mkdir()
        files: dict[str, str | bytes] = {"a.csv": f"network,own.flag\n8.8.8.0/24,{cell}\n"}
        recipe = f'[dataset]\nname = "d"\n[columns]\nflag = "{kind}"\n'
        dataset = build_at(folder, files, f'{recipe}[[source]]\nformat="csv"\npath="a.csv"\n')[0]
        with geolookup.open(dataset) as engine:
            seen.append((engine.own("8.8.8.8") or {})["flag"])
        geolookup.publish(dataset, store)
    for _ in range(2):
        with geolookup.open(store) as engine:
            history = engine.history("8.8.8.8")
        pairs = [change.fields["own.flag"] for change in history.changes]
        texts = [json.dumps(pair) for pair in pairs]
        assert texts == [json.dumps(seen[at : at + 2]) for at in (2, 1)]
        assert json.dumps(history.first.fields) == '{"own.flag": 1}'
        assert write_missing(store, _kept(store)) == []
