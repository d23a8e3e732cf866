"""Whoever answers from data older than 180 days is told once per process, and can switch it off."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import geolookup
from geolookup.store import requirements
from tests.cli.program import run
from tests.conftest import ROOT, Build
from tests.store.numbered import numbered
from tests.store.test_age import days_ago
from tests.tiers import few

NOTICE = "GEOLOOKUP_AGE_NOTICE"
Aged = Callable[[str], Path]


@pytest.fixture(autouse=True)
def _switched_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NOTICE)
    monkeypatch.setattr(requirements, "_noticed", {})


@pytest.fixture
def aged(tmp_path: Path) -> Aged:
    """Return a function that builds a dataset whose only source has a date."""
    return lambda date: numbered(tmp_path / "aged", 1, date=date)


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return numbered(tmp_path_factory.mktemp("old") / "data", 7, date=days_ago(200))


def arguments_of(name: str, folder: Path) -> tuple[str, ...]:
    """Return arguments for a command that answers from a dataset and ends."""
    table = folder / "visits.csv"
    table.write_text("ip\n8.8.8.8\n")
    return {
        "lookup": ("8.8.8.8", "9.9.9.9", "--compact"),
        "explain": ("8.8.8.8",),
        "summarize": (str(table), "--json", "--ip-column", "ip", "--input-format", "csv"),
        "enrich": (str(table), "--output", str(folder / "out.csv"), "--force"),
    }[name]


@pytest.mark.parametrize("name", few(["lookup", "explain", "summarize", "enrich"], 4))
def test_one_line_on_standard_error(tmp_path: Path, old: Path, name: str) -> None:
    arguments = (name, *arguments_of(name, tmp_path), "--dataset", str(old))
    told = run(*arguments)
    (line,) = (each for each in told.stderr.splitlines() if "age of the data" in each)
    assert line == (
        f"geolookup: {old}: the age of the data is 200 days (a.csv, {days_ago(200)}); "
        f"run 'geolookup update', or set {NOTICE}=0 to hide this notice"
    )
    assert "age of the data" not in told.stdout
    assert told.returncode == 0
    for silent in (run(*arguments, "--no-age-notice"), run(*arguments, env={NOTICE: "0"})):
        assert "age of the data" not in silent.stderr
        assert silent.returncode == 0


@pytest.mark.parametrize(
    ("date", "told"),
    [
        (days_ago(181), True), (f"{days_ago(181)}T23:59:59Z", True), (days_ago(220)[:7], True),
        (days_ago(181).replace("-", ""), True), (days_ago(180), False), (days_ago(170), False),
        (days_ago(140)[:7], False), (days_ago(-3), False), ("", False), ("last spring", False),
    ],
)  # fmt: skip
def test_which_data_are_old(
    aged: Aged, caplog: pytest.LogCaptureFixture, date: str, told: bool
) -> None:
    caplog.set_level(logging.INFO)
    dataset = aged(date)
    with geolookup.open(dataset) as engine:
        assert engine.metadata.age.is_old is told
    records = [(record.name, record.levelname) for record in caplog.records]
    assert records == ([("geolookup", "INFO")] if told else [])
    assert ("age of the data" in run("lookup", "--dataset", str(dataset), "8.8.8.8").stderr) is told


def test_the_oldest_deciding_source_counts(build: Build, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    source = '[[source]]\nformat = "csv"\npath = "{}.csv"\n{}'
    dates = {"a": f'date = "{days_ago(3)}"\n', "b": f'date = "{days_ago(400)}"\n', "own": ""}
    recipe = '[dataset]\nname = "t"\n' + "".join(
        source.format(name, date) for name, date in dates.items()
    )
    row = "network,isp\n8.8.8.0/24,A\n"
    files: dict[str, str | bytes] = {"a.csv": row, "b.csv": row, "own.csv": row}
    with geolookup.open(build(files, recipe)[0]):
        assert not caplog.records  # b decides nothing
    files["b.csv"] = "network,isp\n9.9.9.0/24,B\n"
    with geolookup.open(build(files, recipe)[0]):
        assert "400 days (b.csv" in caplog.text


def test_once_per_process_and_not_with_a_limit(
    old: Path, aged: Aged, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO)
    geolookup.open(old, max_age="1000d").close()
    monkeypatch.setenv(NOTICE, "off")
    geolookup.open(old).close()
    assert not caplog.records
    monkeypatch.delenv(NOTICE)
    for dataset in (old, old, aged(days_ago(300))):
        with geolookup.open(dataset) as engine:
            engine.check_age()
    assert len(caplog.records) == 1


def test_a_program_that_asks_for_no_log_prints_nothing(old: Path, aged: Aged) -> None:
    """Warnings are errors there; only old data cost the import of logging."""
    code = (
        "import sys, geolookup; geolookup.open(sys.argv[1]).lookup('8.8.8.8'); "
        "print({'logging', 'dataclasses'} & set(sys.modules) != set())"
    )
    environment = {name: text for name, text in os.environ.items() if name != NOTICE}
    for dataset, loads in ((old, "True\n"), (aged(days_ago(170)), "False\n")):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code, str(dataset)],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert (done.stdout, done.stderr) == (loads, "")


def test_commands_that_describe_data_do_not_tell(old: Path) -> None:
    for arguments in (("info", str(old)), ("info", str(old), "--json"), ("verify", str(old))):
        done = run(*arguments)
        assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(run("info", str(old), "--json").stdout)["age"]["days"] == 200


def test_a_damaged_list_of_sources_gives_no_notice(aged: Aged) -> None:
    dataset = aged(days_ago(200))
    path = dataset / "manifest.json"
    path.write_text(path.read_text().replace('"coverage"', '"coverages"'))
    done = run("lookup", "--dataset", str(dataset), "8.8.8.8")
    assert (done.returncode, done.stderr) == (0, "")
