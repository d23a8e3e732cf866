"""``geolookup enrich --as-of-column``: files of all formats, logs, counts, and misuse."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

import geolookup
from geolookup.store import pointer
from geolookup.store.pointer import Change
from tests.cli.program import run
from tests.history import pool

ROWS = [("2026-01-05T10:00:00Z", 1), ("2025-12-31T23:59:59Z", None), ("2026-02-01T00:00:00Z", 3)]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("as-of") / "store"
    for number in (1, 3):
        geolookup.publish(pool.dataset(number), folder)
    changes = [
        Change(pool.id_of(number), f"2026-0{month}-01T00:00:00Z")
        for month, number in enumerate((1, 3), 1)
    ]
    pointer.write(folder, pointer.read(folder), changes)
    return folder


def _run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return run("enrich", *map(str, arguments))


def _wanted() -> list[Any]:
    values: list[Any] = []
    for _, number in ROWS:
        if number is None:
            values.append(None)
            continue
        with geolookup.open(pool.dataset(number)) as engine:
            values.append(engine.get("8.8.8.3", "city"))
    return values


def _values(path: Path) -> list[Any]:
    text = path.read_text(encoding="utf-8") if path.suffix in (".csv", ".jsonl") else ""
    name = "location_city_name"
    if path.suffix == ".csv":
        return [line.rpartition(",")[2] or None for line in text.splitlines()[1:]]
    if path.suffix == ".jsonl":
        return [json.loads(line)[name] for line in text.splitlines()]
    if path.suffix == ".parquet":
        return list(parquet.read_table(path)[name].to_pylist())
    opened = pa.ipc.open_file if path.suffix == ".arrow" else pa.ipc.open_stream
    with opened(str(path)) as reader:
        return list(reader.read_all()[name].to_pylist())


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet", "arrow", "arrows"])
def test_each_format(store: Path, tmp_path: Path, suffix: str) -> None:
    source, output = tmp_path / "in.csv", tmp_path / f"out.{suffix}"
    lines = [f"{when},8.8.8.3" for when, _ in ROWS]
    source.write_text("\n".join(["event_time,ip", *lines]) + "\n", encoding="utf-8")
    options = ("--as-of-column", "event_time", "--fields", "city", "--dataset", store)
    result = _run(source, "--output", output, *options)
    assert result.returncode == 0, result.stderr
    assert _values(output) == _wanted()
    first, closing = result.stderr.splitlines()
    assert first == f"1 row is before 2026-01-01T00:00:00Z, the first generation of {store}"
    assert "3 rows" in closing


def test_the_time_of_a_log(store: Path, tmp_path: Path) -> None:
    source, output = tmp_path / "access.log", tmp_path / "out.jsonl"
    times = (
        "05/Jan/2026:10:00:00 +0000",
        "31/Dec/2025:23:59:59 +0000",
        "01/Feb/2026:01:00:00 +0100",
    )
    lines = [f'8.8.8.3 - - [{when}] "GET / HTTP/1.1" 200 5' for when in times]
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    options = ("--as-of-column", "time", "--fields", "city", "--dataset", store)
    result = _run(source, "--output", output, *options)
    assert result.returncode == 0, result.stderr
    assert _values(output) == _wanted()


def test_misuse(store: Path, tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    source.write_text("event_time,ip\n2026-01-05 10:00,8.8.8.3\n", encoding="utf-8")
    options = (source, "--output", "-", "--as-of-column", "event_time")
    cases = {
        (*options, "--dataset", pool.dataset(1)): "not a store",
        (*options, "--dataset", store): "pass --time-zone, such as UTC",
        (*options, "--dataset", store, "--as-of", "2026-01-05"): "--as-of is for all rows",
        (
            *options[:-1],
            "event_tim",
            "--dataset",
            store,
        ): "did you mean --as-of-column 'event_time'?",
    }
    for arguments, message in cases.items():
        result = _run(*arguments)
        assert result.returncode == 2, result.stderr
        assert message in result.stderr
    assert _run(*options, "--time-zone", "UTC", "--dataset", store).returncode == 0
