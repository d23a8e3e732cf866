"""Histories: the files of changes, what must not be believed of them, and forms of addresses."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

import geolookup
from geolookup.errors import InvalidAddressError, PrivateAddressError
from tests.conftest import build_at
from tests.history import pool
from tests.internals.comparison import diff_table
from tests.internals.history import rows_in_file
from tests.internals.store import pointer
from tests.skips import needs, optional
from tests.store.numbered import published
from tests.tiers import scaled

duckdb = optional("duckdb")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Generations 0, 1, 2, and again 0 and 1, with their files."""
    store = tmp_path / "store"
    for number in (0, 1, 2, 0, 1):
        geolookup.publish(pool.dataset(number), store)
    return store


def _file(store: Path, old: int, new: int) -> Path:
    return Path(pointer.changes_of(store, pool.id_of(old), pool.id_of(new)))


def _histories(store: Path) -> list[Any]:
    with geolookup.open(store) as engine:
        return [engine.history(ip) for ip in ("8.8.8.4", "8.8.8.0/28", "2a00::/124")]


def test_a_file_for_each_two_that_follow_each_other(store: Path) -> None:
    def files() -> dict[Path, int]:
        return {path: path.stat().st_ino for path in (store / "changes").iterdir()}

    written = files()
    assert written.keys() == {_file(store, *pair) for pair in ((0, 1), (1, 2), (2, 0))}
    geolookup.prune(store, 3)
    assert files() == written
    ours = store / "changes" / "notes.parquet"
    ours.write_text("not of the store")
    geolookup.prune(store, 2)
    assert files().keys() == {ours, _file(store, 0, 1), _file(store, 1, 0)}


@needs("duckdb")
def test_other_readers_of_parquet_read_them(store: Path) -> None:
    rows = duckdb.sql(f"from '{_file(store, 0, 1)}'").arrow().read_all()
    expected = diff_table(pool.dataset(0), pool.dataset(1), "all").read_all()
    assert rows.column_names == expected.column_names
    assert rows.num_rows == expected.num_rows > 0
    assert set(rows["last_ipv4"].to_pylist()) == set(expected["last_ipv4"].to_pylist())


def test_no_byte_of_a_file_can_change(store: Path) -> None:
    path, question = _file(store, 0, 1), ((pool.id_of(0), pool.id_of(1)), 4, 0, 2**32 - 1)
    data = path.read_bytes()
    assert rows_in_file(path, *question)
    ends = {*range(100), *range(len(data) - scaled(300, 3000), len(data))}
    for at in sorted(ends | {*range(0, len(data), 211)}):
        damaged = bytearray(data)
        damaged[at] ^= 1 << at % 8
        for text in (damaged, data[:at]):
            path.write_bytes(text)
            assert rows_in_file(path, *question) is None, at


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


def test_other_files_of_the_name_are_not_used(store: Path) -> None:
    expected, path = _histories(store), _file(store, 0, 1)
    assert all(history.changes for history in expected)
    table, other = parquet.read_table(path), _file(store, 1, 2).read_bytes()
    path.write_bytes(_with_digest(table))
    assert rows_in_file(path, (pool.id_of(0), pool.id_of(1)), 4, 0, 2**32 - 1)
    forged = {name: _with_digest(forge(table)) for name, forge in _FORGED.items()}
    for name, data in (forged | {"empty": b"", "no footer": b"PAR1" * 20, "other": other}).items():
        path.write_bytes(data)
        assert _histories(store) == expected, name
    path.unlink()
    os.mkfifo(path)
    assert _histories(store) == expected


def test_the_changes_and_the_generations_replace_each_other(
    store: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """With the files no past generation is opened; one that cannot be written is a warning."""
    expected = _histories(store)
    copy = shutil.copytree(store, tmp_path / "copy")
    for number in (0, 2):
        shutil.rmtree(pointer.folder_of(copy, pool.id_of(number)), ignore_errors=True)
        Path(pointer.archive_of(copy, pool.id_of(number))).unlink(missing_ok=True)
        assert not pointer.is_kept(copy, pool.id_of(number))
    assert _histories(copy) == expected
    shutil.rmtree(store / "changes")
    assert _histories(store) == expected
    (store / "changes").write_text("a file")
    warnings = geolookup.prune(store, 3).warnings
    assert len(warnings) == 3
    assert all(f"{store}/changes" in text and text in caplog.text for text in warnings)
    assert _histories(store) == expected


def test_values_are_those_of_answers(tmp_path: Path) -> None:
    """1 is another value than true, but not than 1.0; whole numbers are integers."""
    cells = (("integer", "1"), ("real", "1"), ("boolean", "true"), ("real", "2.5e300"))
    store, seen = tmp_path / "store", []
    recipe = (
        '[dataset]\nname = "d"\n[columns]\nflag = "{}"\n[[source]]\nformat="csv"\npath="a.csv"\n'
    )
    for number, (kind, cell) in enumerate(cells):
        folder = tmp_path / str(number)
        folder.mkdir()
        files: dict[str, str | bytes] = {"a.csv": f"network,own.flag\n8.8.8.0/24,{cell}\n"}
        dataset = build_at(folder, files, recipe.format(kind))[0]
        with geolookup.open(dataset) as engine:
            seen.append((engine.own("8.8.8.8") or {})["flag"])
        geolookup.publish(dataset, store)
    for folder in (store / "changes", store / "none"):
        with geolookup.open(store) as engine:
            history = engine.history("8.8.8.8")
        texts = [json.dumps(change.fields["own.flag"]) for change in history.changes]
        assert texts == [json.dumps(seen[at : at + 2]) for at in (2, 1)]
        assert json.dumps(history.first.fields) == '{"own.flag": 1}'
        shutil.rmtree(folder, ignore_errors=True)  # then by the generations


def test_forms_of_addresses(store: Path) -> None:
    form: Any
    with geolookup.open(store) as engine:
        plain, prefix = engine.history("8.8.8.8"), engine.history("8.8.8.8/30")
        assert plain.changes
        assert plain.first.fields is not None
        assert prefix.first.fields is None
        for form in (ip_address("8.8.8.8"), "::ffff:8.8.8.8", "2002:808:808::1"):
            assert engine.history(form).changes == plain.changes, form
        assert engine.history("2002:808:808::1").ip == "2002:808:808::1"
        for form in (ip_network("8.8.8.8/30"), "::ffff:8.8.8.8/126", "2002:808:808::/46"):
            assert engine.history(form).changes == prefix.changes, form
        for form in ("2002::/15", "::/80"):  # only one end is in space that carries IPv4
            assert engine.history(form).changes == (), form
        for form in ("[::ffff:8.8.8.8]:443", " 8.8.8.8 ", "8.8.8.8, 10.0.0.1"):
            assert engine.history(form, clean=True).changes == plain.changes, form
            with pytest.raises(InvalidAddressError):
                engine.history(form)
        for form in ("8.8.8.8/24", "8.8.8.0/33", "8.8.8.0/255.255.255.0", "x/8", None, b"8.8.8.8"):
            with pytest.raises(InvalidAddressError):
                engine.history(form, clean=True)


def test_private_space_without_private_columns(tmp_path: Path) -> None:
    with geolookup.open(published(tmp_path / "store", 0, 1)) as engine:
        for private in ("10.0.0.1", "10.0.0.0/8", "::ffff:10.0.0.1", "fd00::/8"):
            with pytest.raises(PrivateAddressError):
                engine.history(private)
        assert len(engine.history("0.0.0.0/0").changes) == 3
        assert engine.history("10.0.0.0/7").changes == ()  # 11.0.0.0/8 is public
