"""Files of changes: which ones a store has, and what a history must not believe."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

import geolookup
from geolookup.errors import DatasetError
from tests.conftest import build_at
from tests.history import pool
from tests.internals.comparison import diff_table, rows_in_file
from tests.internals.history import changes_path, remove_others, timeline, write_missing
from tests.internals.store import pointer
from tests.skips import needs, optional

duckdb = optional("duckdb")
_IPV4 = 4, 0, 2**32 - 1


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Generations 0, 1, 2, and again 0 and 1, with their files."""
    store = tmp_path / "store"
    for number in (0, 1, 2, 0, 1):
        geolookup.publish(pool.dataset(number), store)
    assert write_missing(store, _kept(store)) == []
    return store


def _kept(store: Path) -> set[str]:
    return {entry.generation for entry in pointer.read(store)}


def _file(store: Path, old: int, new: int) -> Path:
    return changes_path(store, pool.id_of(old), pool.id_of(new))


def _histories(store: Path) -> list[Any]:
    with geolookup.open(store) as engine:
        return [engine.history(ip) for ip in ("8.8.8.4", "8.8.8.0/28", "2a00::/124")]


def test_a_file_for_each_two_that_follow_each_other(store: Path) -> None:
    def files() -> dict[Path, int]:
        return {path: path.stat().st_ino for path in (store / "changes").iterdir()}

    written = files()
    assert written.keys() == {_file(store, *pair) for pair in ((0, 1), (1, 2), (2, 0))}
    assert write_missing(store, _kept(store)) == []
    remove_others(store, _kept(store))
    assert files() == written
    ours = store / "changes" / "notes.parquet"
    ours.write_text("not of the store")
    kept = _kept(store) - {pool.id_of(2)}
    assert write_missing(store, kept) == []
    remove_others(store, kept)
    assert files().keys() == {ours, _file(store, 0, 1), _file(store, 1, 0)}


@needs("duckdb")
def test_other_readers_of_parquet_read_them(store: Path) -> None:
    rows = duckdb.sql(f"from '{_file(store, 0, 1)}'")
    expected = diff_table(pool.dataset(0), pool.dataset(1)).read_all()
    assert (rows.columns, len(rows)) == (expected.column_names, len(expected))


def test_no_byte_of_a_file_can_change(store: Path) -> None:
    path, ids = _file(store, 0, 1), (pool.id_of(0), pool.id_of(1))
    data = path.read_bytes()
    assert rows_in_file(path, ids, *_IPV4)
    for at in sorted({*range(0, len(data), 211), *range(len(data) - 500, len(data))}):
        for damaged in (data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :], data[:at]):
            path.write_bytes(damaged)
            assert rows_in_file(path, ids, *_IPV4) is None, at


def _forged(table: pa.Table) -> bytes:
    """Return a file as the store writes it: before the footer the digest of the other bytes."""
    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink)
    data: bytes = sink.getvalue().to_pybytes()
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    return data[:footer] + hashlib.sha256(data).digest() + data[footer:]


def test_missing_files_and_others_of_their_name(store: Path) -> None:
    expected, path = _histories(store), _file(store, 0, 1)
    assert all(history.changes for history in expected)
    table = parquet.read_table(path)
    about = json.loads(table.schema.metadata[b"geolookup"])
    path.write_bytes(_forged(table))
    assert rows_in_file(path, (pool.id_of(0), pool.id_of(1)), *_IPV4)
    for data in (
        *(b"", b"PAR1", b"PAR1" * 20, _file(store, 1, 2).read_bytes()),
        *(
            _forged(table.drop_columns([name]))
            for name in ("first_ipv4", "location_city_name_after")
        ),
        _forged(table.set_column(2, "last_ipv4", table["last_ipv4"].cast(pa.string()))),
        *(
            _forged(table.replace_schema_metadata(metadata and {"geolookup": metadata}))
            for metadata in (None, "[", "[]", json.dumps({**about, "fields": ["x"]}))
        ),
    ):
        path.write_bytes(data)
        assert _histories(store) == expected
    path.unlink()
    assert _histories(store) == expected
    os.mkfifo(path)
    assert _histories(store) == expected
    shutil.rmtree(store / "changes")
    (store / "changes").write_text("no folder")
    warnings = write_missing(store, _kept(store))
    assert [str(store / "changes") in text for text in warnings] == [True] * 3
    remove_others(store, _kept(store))
    assert _histories(store) == expected


def test_no_past_generation_is_opened(store: Path) -> None:
    expected = _histories(store)
    for number in (0, 2):
        shutil.rmtree(pointer.folder_of(store, pool.id_of(number)), ignore_errors=True)
        Path(pointer.archive_of(store, pool.id_of(number))).unlink(missing_ok=True)
        assert not pointer.is_kept(store, pool.id_of(number))
    assert _histories(store) == expected
    _file(store, 0, 1).unlink()
    with pytest.raises(DatasetError):
        _histories(store)


def test_a_store_that_is_pruned_meanwhile(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        timeline, "rows_in_file", lambda *_where: geolookup.prune(store, 1) and None
    )
    assert _histories(store)[0].changes == ()


def test_values_are_those_of_answers(tmp_path: Path) -> None:
    """1 is another value than true, but not than 1.0; whole numbers are integers."""
    cells = (("integer", "1"), ("real", "1"), ("boolean", "true"), ("real", "2.5e300"))
    store = tmp_path / "store"
    for number, (kind, cell) in enumerate(cells):
        folder = tmp_path / str(number)
        folder.mkdir()
        files: dict[str, str | bytes] = {"a.csv": f"network,own.flag\n8.8.8.0/24,{cell}\n"}
        recipe = f'[dataset]\nname = "d"\n[columns]\nflag = "{kind}"\n'
        recipe += '[[source]]\nformat = "csv"\npath = "a.csv"\n'
        geolookup.publish(build_at(folder, files, recipe)[0], store)
    for _ in range(2):
        history = _histories(store)[0]
        pairs = [change.fields["own.flag"] for change in history.changes]
        assert json.dumps(pairs) == "[[true, 2.5e+300], [1, true]]"
        assert json.dumps(history.first.fields) == '{"own.flag": 1}'
        assert write_missing(store, _kept(store)) == []
