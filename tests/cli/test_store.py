"""The commands of a store as a shell runs them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.program import run
from tests.store.numbered import generation, numbered


@pytest.fixture(scope="module")
def datasets(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("numbered")
    return [numbered(folder / str(number), number, date="2026-11-20") for number in range(3)]


def town(store: Path) -> str:
    done = run("lookup", "--dataset", str(store), "8.8.8.8")
    return str(json.loads(done.stdout)["data"]["location"]["city_name"])


def test_publish_roll_back_list_and_prune(tmp_path: Path, datasets: list[Path]) -> None:
    store, ids = tmp_path / "store", [generation(each) for each in datasets]
    for number, dataset in enumerate(datasets):
        done = run("publish", str(dataset), str(store))
        assert (done.returncode, done.stdout) == (0, f"generation {ids[number]}\n")
        assert town(store) == f"Town {number}"
    assert run("rollback", str(store)).stdout == f"generation {ids[1]}\n"
    assert town(store) == "Town 1"

    listed = run("generations", str(store)).stdout.splitlines()
    states = [re.fullmatch(r"([0-9a-f]{64})  \S{20}(?:  (\w+))?", line) for line in listed]
    assert [state.groups() for state in states if state] == [
        (ids[2], "withdrawn"),
        (ids[1], "current"),
        (ids[0], None),
    ]
    described = json.loads(run("generations", str(store), "--json").stdout)
    assert [each["generation"] for each in described] == ids[::-1]
    assert [each["current"] for each in described] == [False, True, False]

    assert run("prune", str(store), "--keep", "1").stdout == f"removed {ids[0]}\n"
    assert run("prune", str(store), "--keep", "1").stdout == ""
    assert town(store) == "Town 1"
    assert run("info", str(store)).stdout.splitlines()[2] == f"generation  {ids[1]}"


def test_the_users_store_is_the_default(datasets: list[Path], tmp_path: Path) -> None:
    user = {"GEOLOOKUP_STORE": str(tmp_path / "user"), "GEOLOOKUP_DATASET": ""}
    folder = str(tmp_path / "user")
    ids = [run("publish", str(each), folder).stdout.split()[1] for each in datasets[:2]]
    assert run("generations", env=user).stdout.split()[0] == ids[1]
    assert run("rollback", env=user).stdout == f"generation {ids[0]}\n"
    assert run("prune", "--keep", "1", env=user).returncode == 0
    named = run("info", env=user).stdout.splitlines()[0]
    assert named == f"path        {tmp_path / 'user' / 'generations' / ids[0]}"


def test_the_age_is_said(datasets: list[Path]) -> None:
    text = run("info", str(datasets[0])).stdout
    age = json.loads(run("info", str(datasets[0]), "--json").stdout)["age"]
    assert (age["date"], age["source"], age["undated"]) == ("2026-11-20", "a.csv", [])
    assert re.search(
        rf"^age         {age['days']} days? \(a\.csv, 2026-11-20\)$", text, re.MULTILINE
    )


def test_copy(tmp_path: Path, datasets: list[Path]) -> None:
    run("publish", str(datasets[0]), str(tmp_path / "store"), "--copy")
    copied = tmp_path / "store" / "generations" / generation(datasets[0]) / "zone.arrow"
    assert copied.stat().st_nlink == 1


def test_misuse_is_status_2_with_one_clear_text(tmp_path: Path, datasets: list[Path]) -> None:
    store = tmp_path / "store"
    run("publish", str(datasets[0]), str(store))
    for args in (
        ("publish", "/nowhere", str(store)),
        ("publish", "README.md", str(store)),
        ("publish", str(datasets[0]), "tests"),
        ("publish", str(datasets[0]), str(datasets[1])),
        ("publish", str(datasets[0])),
        ("rollback", str(store)),
        ("rollback", "/nowhere"),
        ("generations", "/nowhere"),
        ("generations", str(datasets[0])),
        ("prune", "/nowhere"),
        ("prune", str(store), "--keep", "0"),
    ):
        done = run(*args)
        assert (done.returncode, done.stdout) == (2, ""), args
        assert done.stderr.strip()
    assert town(store) == "Town 0"
