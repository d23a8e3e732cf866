"""The age of data: which date counts, what is done about old data, and the notice about them."""

from __future__ import annotations

import datetime as dt
import logging
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import geolookup
from geolookup import publish
from tests.cli.program import python, run
from tests.conftest import Build
from tests.damage import copied
from tests.datasets import once
from tests.internals.dataset import Dataset, data_age, manifest, metadata
from tests.internals.history import rollback
from tests.internals.store import requirements
from tests.store.numbered import named, number, shared

TODAY = dt.date(2026, 11, 21)


def days_before(days: int) -> str:
    return (TODAY - dt.timedelta(days=days)).isoformat()


def aged(days: int) -> Path:
    """A dataset that is so many days old on TODAY; nobody may change it."""

    def make(folder: Path) -> None:
        named(folder, "aged", days, date=days_before(days))

    return once(f"store-aged-{days}", make) / "dataset"


@pytest.fixture
def _today(monkeypatch: pytest.MonkeyPatch) -> None:
    noon = dt.datetime.combine(TODAY, dt.time(12), dt.UTC).timestamp()
    clock = SimpleNamespace(time=lambda: noon, gmtime=time.gmtime, strftime=time.strftime)
    monkeypatch.setattr(manifest, "time", clock)
    monkeypatch.setattr(metadata, "data_age", partial(data_age, today=TODAY))


def test_the_oldest_date_counts() -> None:
    cases: list[tuple[list[tuple[str, str | None]], int | None, str | None, tuple[str, ...]]] = [
        ([("a", "2026-11-21")], 0, "a", ()),
        ([("a", "2026-11-20"), ("b", "2026-10-21"), ("c", None)], 31, "b", ("c",)),
        ([("a", "2026-11-22")], -1, "a", ()),
        ([("a", "2026-10")], 51, "a", ()),
        ([("a", "20261020")], 32, "a", ()),
        ([("a", "2026-11-20T23:59:59Z")], 1, "a", ()),
        ([("a", "November"), ("b", "")], None, None, ("a", "b")),
        ([("a", "2026")], None, None, ("a",)),
        ([], None, None, ()),
    ]
    for sources, days, source, undated in cases:
        age = data_age(sources, TODAY)
        assert (age.days, age.source, age.undated) == (days, source, undated), sources
        assert age.exceeds(dt.timedelta(days=30)) is (days is None or days > 30), sources


def test_limits() -> None:
    limits: dict[Any, float] = {30: 30, 0.5: 0.5, "30": 30, "30d": 30, "4w": 28, "36h": 1.5}
    limits |= {dt.timedelta(hours=36): 1.5, 999_999_999: 999_999_999}
    for max_age, days in limits.items():
        assert metadata.age_limit(max_age) == dt.timedelta(days=days), max_age
    for max_age in ("", "d", "30m", "-1d", "1.5d", "٣d", "0d", 0, -1):
        with pytest.raises(ValueError, match="max_age"):
            geolookup.open(max_age=max_age)
    many: tuple[Any, ...] = ("99999999999d", "9" * 5000, 10**12, float("inf"), float("nan"))
    for max_age in (*many, "999999999w"):
        with pytest.raises(ValueError, match=r"^max_age is not a number of days up to 999,999,999"):
            geolookup.open(max_age=max_age)
        with pytest.raises(ValueError, match=r"^if_older is not a number of days"):
            geolookup.update(if_older=max_age)
    with pytest.raises(ValueError, match="on_stale"):
        geolookup.open(on_stale="shrug")  # type: ignore[arg-type]


@pytest.mark.usefixtures("_today")
def test_a_source_that_decides_nothing_does_not_age(build: Build) -> None:
    source = '[[source]]\nformat = "csv"\npath = "{0}.csv"\nname = "{0}"\n{1}\n'
    dates = {"a": 'date = "2026-11-18"', "b": 'date = "2026-08-20"', "own": ""}
    recipe = '[dataset]\nname = "t"\n' + "".join(source.format(*item) for item in dates.items())
    row = "network,isp\n8.8.8.0/24,A\n"
    files: dict[str, str | bytes] = {"a.csv": row, "b.csv": row, "own.csv": row}
    for other, expected in (("8.8.8.0", (3, "a")), ("9.9.9.0", (93, "b"))):
        files["b.csv"] = row.replace("8.8.8.0", other)
        with geolookup.open(build(files, recipe)[0]) as engine:
            age = engine.metadata.age
        assert (age.days, age.source, age.undated) == (*expected, ())


@pytest.mark.usefixtures("_today")
def test_a_limit(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Warned of once, not at each look; a reload is refused as an opening is."""
    with geolookup.open(aged(40), max_age="30d") as engine:
        engine.check_age()
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("geolookup", logging.WARNING)
    assert f"{aged(40)}: the age of the data is 40 days (a.csv, 2026-10-12)" in caplog.text
    for days, max_age, stale in ((40, 39, True), (40, 40, False), (40, None, False)):
        with geolookup.open(aged(days), max_age=max_age, on_stale="tag") as engine:
            assert engine.stale is stale
    assert len(caplog.records) == 1
    for dataset, limit, problem in (
        (aged(40), "36h", r"40 days.* above max_age of 1\.5 days"),
        (shared(0), "10000d", "unknown: no deciding source has an ISO 8601 date"),
    ):
        with pytest.raises(geolookup.DatasetError, match=problem):
            geolookup.open(dataset, max_age=limit, on_stale="refuse")
    store = tmp_path / "store"
    publish(aged(40), store)
    publish(aged(5), store)
    with geolookup.open(store, max_age=30, on_stale="refuse") as engine:
        rollback(store)
        with pytest.raises(geolookup.DatasetError, match="above max_age"):
            engine.reload()
        assert number(engine) == 5


NOTICE = "GEOLOOKUP_AGE_NOTICE"


@pytest.fixture(autouse=True)
def _switched_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NOTICE)
    monkeypatch.setattr(requirements, "noticed", {})


@pytest.mark.usefixtures("_today")
def test_one_line_on_standard_error() -> None:
    """Not of commands that describe data."""
    old = aged(4000)
    lookup = ("lookup", "8.8.8.8", "9.9.9.9", "--local-time-at", "0", "--dataset", str(old))
    told, silent = run(*lookup), run(*lookup, env={NOTICE: "0"})
    assert told.stderr == (
        f"geolookup: {old}: the age of the data is 4000 days (a.csv, {days_before(4000)}); "
        "publish newer data ('geolookup update' for the default dataset), "
        f"or set {NOTICE}=0 to hide this notice\n"
    )
    assert (told.returncode, silent.returncode, silent.stderr) == (0, 0, "")
    assert told.stdout == silent.stdout
    for command in ("info", "store verify"):
        assert run(*command.split(), str(old)).stderr == ""


@pytest.mark.usefixtures("_today")
def test_which_data_are_old(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    path = copied(aged(4000), tmp_path / "dated") / "manifest.json"
    text = path.read_text("utf-8")
    last = days_before(181)
    dates = {last: True, f"{last}T23:59:59Z": True, last.replace("-", ""): True, "2026-04": True}
    dates |= dict.fromkeys((days_before(180), "2026-06", days_before(-3), "", "last spring"), False)
    for date, is_old in dates.items():
        caplog.clear()
        requirements.noticed.clear()
        path.write_text(text.replace(days_before(4000), date), encoding="utf-8")
        dataset = Dataset(str(path.parent))
        assert dataset.manifest.metadata().age.is_old is is_old, date
        requirements.Requirements().check(dataset)
        assert [record.levelname for record in caplog.records] == ["INFO"] * is_old, date


@pytest.mark.usefixtures("_today")
def test_once_per_process_and_not_with_a_limit(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = aged(4000)
    caplog.set_level(logging.INFO)
    geolookup.open(old, max_age="10000d").close()
    monkeypatch.setenv(NOTICE, "off")
    geolookup.open(old).close()
    assert not caplog.records
    monkeypatch.delenv(NOTICE)
    for dataset in (old, aged(300)):
        with geolookup.open(dataset) as engine:
            engine.check_age()
    assert len(caplog.records) == 1
    assert "4000 days" in caplog.text


def test_a_program_that_asks_for_no_log_prints_nothing(tmp_path: Path) -> None:
    """Warnings are errors there; only old data cost the import of logging."""
    recent = copied(aged(5), tmp_path / "recent")
    manifest = recent / "manifest.json"
    text = manifest.read_text("utf-8").replace("2026-11-16", "2999-01-01")
    manifest.write_text(text, encoding="utf-8")
    code = (
        "import sys, geolookup; geolookup.open(sys.argv[1]).lookup('8.8.8.8'); "
        "print({'logging', 'dataclasses'} & set(sys.modules) != set())"
    )
    environment = {"PYTHONWARNINGS": "error", NOTICE: None}
    for dataset, loads in ((aged(4000), "True\n"), (recent, "False\n")):
        done = python(code, str(dataset), **environment)
        assert (done.stdout, done.stderr) == (loads, "")
