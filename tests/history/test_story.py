"""The whole feature as a user has it: six generations, each answer as of a full copy."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Sequence
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from geolookup.store import pointer
from tests.cli.program import run
from tests.history import pool, slow
from tests.own_random import addresses

#: The dataset of each period, and when it began; the last two begin now.
_DAYS = ("2020-01-01", "2020-02-01", "2020-03-01", "2020-04-01")
_NUMBERS = (0, 1, 2, 3, 4, 5, 4)  # 5 is rolled back
_PREFIX = "8.8.8.0/28"
_ASKED = [str(address) for address in addresses()][::8]
_FIELDS = ("country", "asn", "isp", "own.site")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of six generations, of which the older are deltas, made by commands."""
    folder = tmp_path_factory.mktemp("story")
    store = folder / "store"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GEOLOOKUP_CACHE", str(folder / "cache"))
        for number in _NUMBERS[:-1]:
            since = ("--since", _DAYS[number]) if number < len(_DAYS) else ()
            done = run("publish", str(pool.dataset(number)), "--store", str(store), *since)
            assert done.returncode == 0, done.stderr
        assert run("rollback", str(store)).stdout == f"generation {pool.id_of(4)}\n"
        assert run("prune", str(store), "--keep", "6").stdout == ""
    return store


def _periods(store: Path) -> list[tuple[Path, str, str]]:
    """Return the full copy of each period, its begin and its end."""
    begins = [change.since for change in pointer.read_changes(store)]
    copies = [pool.dataset(number) for number in _NUMBERS]
    return list(zip(copies, begins, [*begins[1:], ""], strict=True))


def test_generations_lists_all(store: Path) -> None:
    listed = json.loads(run("generations", str(store), "--json").stdout)
    assert [entry["generation"] for entry in listed] == [
        pool.id_of(number) for number in (5, 4, 3, 2, 1, 0)
    ]
    assert len(list((store / pointer.HISTORY).glob("*.tar.zst"))) >= 3


def test_answers_as_of_each_day(store: Path) -> None:
    for number, day in enumerate(_DAYS):
        options = ("--compact", "--local-time-at", "0")
        past = run("lookup", *_ASKED, "-d", str(store), "--as-of", day, *options)
        copy = run("lookup", *_ASKED, "-d", str(pool.dataset(number)), *options)
        assert (past.stdout, past.returncode) == (copy.stdout, copy.returncode), day


def test_rows_of_a_file_as_of_their_instants(store: Path, tmp_path: Path) -> None:
    rows = [(address, day) for day in ("2019-12-31", *_DAYS) for address in _ASKED]
    events, output = tmp_path / "events.csv", tmp_path / "enriched.jsonl"
    lines = "".join(f"{address},{day}T12:00:00Z\n" for address, day in rows)
    events.write_text(f"ip,event_time\n{lines}", encoding="utf-8")
    options = ("--as-of-column", "event_time", "-f", ",".join(_FIELDS), "-o", str(output))
    done = run("enrich", str(events), "-d", str(store), *options)
    assert f"{len(_ASKED)} rows" in done.stdout + done.stderr
    enriched = map(json.loads, output.read_text(encoding="utf-8").splitlines())
    paths = ("location.country_code", "network.asn", "network.isp", "own.site")
    for (address, day), row in zip(rows, enriched, strict=True):
        number = bisect_right(_DAYS, day) - 1
        values = slow.answer_of(pool.dataset(number), ip_address(address)).values
        expected = [values.get(path) if number >= 0 else None for path in paths]
        assert [row[path.replace(".", "_")] for path in paths] == expected, (day, address)


def test_history_of_addresses_and_a_prefix(store: Path) -> None:
    copies = [slow.Copy(*period) for period in _periods(store)]
    asked: list[tuple[str, Sequence[slow.Address]]] = [
        *((address, [ip_address(address)]) for address in _ASKED),
        (_PREFIX, list(ip_network(_PREFIX))),
    ]
    done = run("history", *(text for text, _ in asked), "-d", str(store), "--json")
    assert done.returncode == 0, done.stderr
    for (text, listed), line in zip(asked, done.stdout.splitlines(), strict=True):
        history = json.loads(line)
        assert history["first"]["generation"] == pool.id_of(0)
        shown = [
            (change["generation"], change["first"], change["last"], _fields(change))
            for change in history["changes"]
        ]
        assert shown == [
            (change.after, change.first, change.last, dict(change.fields))
            for change in slow.changes(copies, listed)
        ], text


def _fields(change: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    layers = change["layers"].values()
    return {path: tuple(pair) for layer in layers for path, pair in layer["fields"].items()}


def test_changes_as_rows(store: Path, tmp_path: Path) -> None:
    file = tmp_path / "changes.parquet"
    done = run("diff", str(store), "--as-of", _DAYS[1], "--rows", str(file), "-f", "isp,own.site")
    assert done.returncode == 0, done.stderr
    rows = parquet.read_table(file).to_pylist()
    old, new = pool.dataset(1), pool.dataset(4)
    for address in addresses():
        before, after = (slow.answer_of(copy, address).values for copy in (old, new))
        paths = ("network.isp", "own.site")
        holding = [row for row in rows if _holds(row, address)]
        if all(before[path] == after[path] for path in paths):
            assert holding == []
            continue
        (row,) = holding
        for path in paths:
            name = path.replace(".", "_")
            assert (row[f"{name}_before"], row[f"{name}_after"]) == (before[path], after[path])


def _holds(row: dict[str, Any], address: slow.Address) -> bool:
    first, last = (row[f"{end}_ipv{address.version}"] for end in ("first", "last"))
    if first is None:
        return False
    if address.version == 6:
        first, last = int.from_bytes(first), int.from_bytes(last)
    return bool(first <= int(address) <= last)
