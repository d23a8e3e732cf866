"""The age of data: which date counts, and what is done about data that are too old."""

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
from geolookup.dataset import manifest, metadata
from geolookup.dataset.metadata import data_age
from geolookup.store.generations import rollback
from geolookup.store.publish import publish
from tests.conftest import Build
from tests.datasets import once
from tests.store.numbered import generation, named, number, shared
from tests.store.test_watch import SOON, eventually

TODAY = dt.date(2026, 11, 21)


def days_ago(days: int) -> str:
    return (dt.datetime.now(dt.UTC).date() - dt.timedelta(days=days)).isoformat()


def days_before(days: int) -> str:
    """Return the day so many days before TODAY."""
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
    recipe = '[dataset]\nname = "t"\n' + "".join(source.format(*each) for each in dates.items())
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
    with pytest.raises(geolookup.DatasetError, match="unknown, for no source states a date"):
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
        assert eventually(lambda: len(caplog.records) > 0)
        assert engine.stale
    (record,) = caplog.records
    assert "31 days" in record.getMessage()
