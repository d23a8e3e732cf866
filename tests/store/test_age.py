"""The age of data: which date counts, what is done about old data, and the notice about them."""

from __future__ import annotations

import datetime as dt
import json
import logging
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import geolookup
from geolookup import publish
from geolookup.dataset import manifest, metadata
from geolookup.dataset.files import Dataset
from geolookup.dataset.metadata import data_age
from geolookup.history.generations import rollback
from geolookup.store import requirements
from tests.cli.program import python, run
from tests.conftest import Build
from tests.damage import copied
from tests.datasets import once
from tests.servers import until
from tests.store.numbered import generation, named, number, shared
from tests.store.test_reload import SOON
from tests.tiers import scaled

TODAY = dt.date(2026, 11, 21)


def days_ago(days: int) -> str:
    return (dt.datetime.now(dt.UTC).date() - dt.timedelta(days=days)).isoformat()


def days_before(days: int) -> str:
    return (TODAY - dt.timedelta(days=days)).isoformat()


def aged(days: int) -> Path:
    """A dataset that is so many days old on TODAY; nobody may change it."""
    return once(f"store-aged-{days}", partial(_aged, days)) / "dataset"


def _aged(days: int, folder: Path) -> None:
    named(folder, "aged", days, date=days_before(days))


def be_today(today: dt.date, monkeypatch: pytest.MonkeyPatch) -> None:
    noon = dt.datetime.combine(today, dt.time(12), dt.UTC).timestamp()
    clock = SimpleNamespace(time=lambda: noon, gmtime=time.gmtime, strftime=time.strftime)
    monkeypatch.setattr(manifest, "time", clock)
    monkeypatch.setattr(metadata, "data_age", partial(data_age, today=today))


@pytest.fixture
def _today(monkeypatch: pytest.MonkeyPatch) -> None:
    be_today(TODAY, monkeypatch)


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
def test_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    with geolookup.open(aged(40), max_age="30d") as engine:
        assert number(engine) == 40
        assert engine.stale
        engine.check_age()
    (record,) = caplog.records  # once, not at each look
    assert (record.name, record.levelno) == ("geolookup", logging.WARNING)
    assert "40 days (a.csv, 2026-10-12)" in record.getMessage()
    assert str(aged(40)) in record.getMessage()
    for days, max_age, stale in (
        (40, 30, True),
        (5, 30, False),
        (40, 40, False),
        (40, None, False),
    ):
        with geolookup.open(aged(days), max_age=max_age, on_stale="tag") as engine:
            assert engine.stale is stale
    assert len(caplog.records) == 1


@pytest.mark.usefixtures("_today")
def test_refused(tmp_path: Path) -> None:
    with pytest.raises(geolookup.DatasetError, match=r"40 days.* above max_age of 30 days"):
        geolookup.open(aged(40), max_age=30, on_stale="refuse")
    with pytest.raises(geolookup.DatasetError, match=r"above max_age of 1\.5 days"):
        geolookup.open(aged(40), max_age="36h", on_stale="refuse")
    with pytest.raises(
        geolookup.DatasetError, match="unknown: no deciding source has an ISO 8601 date"
    ):
        geolookup.open(shared(0), max_age=10_000, on_stale="refuse")
    store = tmp_path / "store"
    publish(aged(40), store)
    publish(aged(5), store)
    with geolookup.open(store, max_age=30, on_stale="refuse") as engine:
        engine.check_age()
        rollback(store)
        with pytest.raises(geolookup.DatasetError, match="above max_age"):
            engine.reload()
        assert engine.generation == generation(aged(5))


@pytest.mark.usefixtures("_today")
def test_who_watches_is_told_when_data_grow_too_old(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    with geolookup.open(aged(5), max_age=30, watch=SOON) as engine:
        be_today(TODAY + dt.timedelta(days=26), monkeypatch)
        until(lambda: caplog.records)
        assert engine.stale
    (record,) = caplog.records
    assert "31 days" in record.getMessage()


NOTICE = "GEOLOOKUP_AGE_NOTICE"


@pytest.fixture(autouse=True)
def _switched_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NOTICE)
    monkeypatch.setattr(requirements, "_noticed", {})


@pytest.fixture
def old() -> Path:
    """A dataset that is old today, and on each later day."""
    return aged(4000)


def commands(folder: Path) -> list[tuple[str, ...]]:
    table = folder / "visits.csv"
    table.write_text("ip\n8.8.8.8\n", encoding="utf-8")
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
        "publish newer data ('geolookup update' for the default dataset), "
        f"or set {NOTICE}=0 to hide this notice"
    )


@pytest.mark.usefixtures("_today")
def test_one_line_on_standard_error(tmp_path: Path, old: Path) -> None:
    for command in commands(tmp_path)[: scaled(1, 4)]:
        arguments = (*command, "--dataset", str(old))
        told = run(*arguments)
        (line,) = (line for line in told.stderr.splitlines() if "age of the data" in line)
        assert line == notice_of(old)
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
    path.write_text(path.read_text("utf-8").replace('"coverage"', '"coverages"'), encoding="utf-8")
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
        dataset = Dataset(str(aged(4000)))
        dataset.manifest._document["sources"][0]["date"] = date
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
    assert "4000 days" in caplog.text


def test_a_program_that_asks_for_no_log_prints_nothing(old: Path, tmp_path: Path) -> None:
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
    for dataset, loads in ((old, "True\n"), (recent, "False\n")):
        done = python(code, str(dataset), **environment)
        assert (done.stdout, done.stderr) == (loads, "")
