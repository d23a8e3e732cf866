"""Whoever answers from data older than 180 days is told once per process, and can switch it off."""

from __future__ import annotations

import datetime as dt
import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

import geolookup
from geolookup.dataset.files import Dataset
from geolookup.store import requirements
from tests.cli.program import run
from tests.conftest import ROOT
from tests.damage import copied
from tests.store.test_age import _today as _today  # noqa: PLC0414 - a fixture
from tests.store.test_age import aged, days_before
from tests.tiers import scaled

NOTICE = "GEOLOOKUP_AGE_NOTICE"


@pytest.fixture(autouse=True)
def _switched_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NOTICE)
    monkeypatch.setattr(requirements, "_noticed", {})


@pytest.fixture
def old() -> Path:
    """A dataset that is old today, and on each later day."""
    return aged(400)


def commands(folder: Path) -> list[tuple[str, ...]]:
    table = folder / "visits.csv"
    table.write_text("ip\n8.8.8.8\n")
    return [
        ("lookup", "8.8.8.8", "9.9.9.9", "--compact"),
        ("explain", "8.8.8.8"),
        ("summarize", str(table), "--json", "--ip-column", "ip", "--input-format", "csv"),
        ("enrich", str(table), "--output", str(folder / "out.csv"), "--force"),
    ]


def notice_of(dataset: Path) -> str:
    with geolookup.open(dataset) as engine:
        age = engine.metadata.age
    assert age.is_old
    return (
        f"geolookup: {dataset}: the age of the data is {age}; "
        f"run 'geolookup update', or set {NOTICE}=0 to hide this notice"
    )


def test_one_line_on_standard_error(tmp_path: Path, old: Path) -> None:
    for command in commands(tmp_path)[: scaled(1, 4)]:
        arguments = (*command, "--dataset", str(old))
        before, told, after = notice_of(old), run(*arguments), notice_of(old)  # midnight may pass
        (line,) = (line for line in told.stderr.splitlines() if "age of the data" in line)
        assert line in (before, after)
        assert "age of the data" not in told.stdout
        assert told.returncode == 0
        silent = run(*arguments, "--no-age-notice")
        assert (silent.returncode, "age of the data" in silent.stderr) == (0, False)
    for arguments in (("info", str(old), "--json"), ("verify", str(old))):  # they describe data
        done = run(*arguments)
        assert (done.returncode, done.stderr) == (0, "")
        assert arguments[0] == "verify" or json.loads(done.stdout)["age"]["days"] >= 400


def test_how_the_notice_is_switched_off(
    old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = Dataset(str(old))
    for value, is_told in (("", True), ("1", True), ("0", False), ("FALSE", False), ("no", False)):
        monkeypatch.setenv(NOTICE, value)
        assert (requirements.age_notice(dataset) is not None) is is_told, value
    monkeypatch.delenv(NOTICE)
    path = copied(old, tmp_path / "damaged") / "manifest.json"  # in its list of sources
    path.write_text(path.read_text().replace('"coverage"', '"coverages"'))
    assert requirements.age_notice(Dataset(str(path.parent))) is None
    geolookup.open(path.parent).close()


@pytest.mark.usefixtures("_today")
def test_which_data_are_old(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    for date, is_told in (
        (days_before(181), True), (f"{days_before(181)}T23:59:59Z", True), ("2026-04", True),
        (days_before(181).replace("-", ""), True), (days_before(180), False), ("2026-06", False),
        (days_before(-3), False), ("", False), ("last spring", False),
    ):  # fmt: skip
        caplog.clear()
        requirements._noticed.clear()
        dataset = Dataset(str(aged(400)))
        dataset.manifest._stated["sources"][0]["date"] = date
        assert dataset.manifest.metadata().age.is_old is is_told, date
        requirements.Requirements().check(dataset)
        records = [(record.name, record.levelname) for record in caplog.records]
        assert records == ([("geolookup", "INFO")] if is_told else []), date


@pytest.mark.usefixtures("_today")
def test_once_per_process_and_not_with_a_limit(
    old: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO)
    geolookup.open(old, max_age="10000d").close()
    monkeypatch.setenv(NOTICE, "off")
    geolookup.open(old).close()
    assert not caplog.records
    monkeypatch.delenv(NOTICE)
    for dataset in (old, old, aged(300)):
        with geolookup.open(dataset) as engine:
            engine.check_age()
    assert len(caplog.records) == 1
    assert "400 days" in caplog.text


def test_a_program_that_asks_for_no_log_prints_nothing(old: Path, tmp_path: Path) -> None:
    """Warnings are errors there; only old data cost the import of logging."""
    recent = copied(aged(5), tmp_path / "recent")
    manifest, today = recent / "manifest.json", dt.datetime.now(dt.UTC).date().isoformat()
    manifest.write_text(manifest.read_text().replace("2026-11-16", today))
    code = (
        "import sys, geolookup; geolookup.open(sys.argv[1]).lookup('8.8.8.8'); "
        "print({'logging', 'dataclasses'} & set(sys.modules) != set())"
    )
    environment = {name: text for name, text in os.environ.items() if name != NOTICE}
    for dataset, loads in ((old, "True\n"), (recent, "False\n")):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code, str(dataset)],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert (done.stdout, done.stderr) == (loads, "")
