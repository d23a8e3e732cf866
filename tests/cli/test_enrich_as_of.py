"""``geolookup enrich --as-of-column``: files of all formats, logs, counts, and misuse."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

import geolookup
from geolookup.store import pointer
from geolookup.store.pointer import Change
from tests.cli.program import run
from tests.history import pool


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


def test_counts_and_the_rows_without_a_generation(store: Path, tmp_path: Path) -> None:
    """Of a log, whose times have offsets; the second before the first generation has none."""
    source, output = tmp_path / "access.log", tmp_path / "out.jsonl"
    rows = (
        ("05/Jan/2026:10:00:00 +0000", "8.8.8.3"),
        ("31/Dec/2025:23:59:59 +0000", "8.8.8.3"),
        ("01/Jan/2026:00:00:00 +0000", "11.1.1.1"),
        ("01/Feb/2026:01:00:00 +0100", "8.8.8.3"),
        ("31/Jan/2026:23:59:59 +0000", "127.0.0.1"),
        ("01/Feb/2026:00:00:00 +0000", "x"),
    )
    lines = [f'{ip} - - [{when}] "GET / HTTP/1.1" 200 5' for when, ip in rows]
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    options = ("--as-of-column", "time", "--fields", "city", "--dataset", store)
    result = _run(source, "--output", output, *options)
    assert result.returncode == 0, result.stderr
    made = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    cities = []
    for number in (1, 3):
        with geolookup.open(pool.dataset(number)) as engine:
            cities.append(engine.get("8.8.8.3", "city"))
    assert [row["location_city_name"] for row in made] == [
        *(cities[0], None, None, cities[1], None, None)
    ]
    first, closing = result.stderr.splitlines()
    assert first == f"1 row is before 2026-01-01T00:00:00Z, the first generation of {store}"
    assert closing.startswith("6 rows, 1 located, 2 unknown, 1 invalid, 1 private in ")


def test_a_folder_is_up_to_date_until_the_periods_change(store: Path, tmp_path: Path) -> None:
    source, output = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    (source / "a.csv").write_text("ip,t\n8.8.8.3,2026-01-05T10:00:00Z\n", encoding="utf-8")
    options = (source, "--output", output, "--as-of-column", "t", "--dataset", store)
    assert "1 file written" in _run(*options).stderr
    assert "1 up to date" in _run(*options).stderr
