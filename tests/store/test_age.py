"""The age of data: which date counts, and what is done about data that are too old."""

from __future__ import annotations

import datetime as dt
import logging
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import geolookup
from geolookup.dataset import metadata
from geolookup.store.generations import rollback
from geolookup.store.publish import publish
from tests.conftest import Build
from tests.store.numbered import generation, number, numbered
from tests.store.test_watch import SOON, eventually

TODAY = dt.date(2026, 11, 21)


def days_ago(days: int) -> str:
    return (dt.datetime.now(dt.UTC).date() - dt.timedelta(days=days)).isoformat()


@pytest.mark.parametrize(
    ("sources", "days", "source", "undated"),
    [
        ([("a", "2026-11-21")], 0, "a", ()),
        ([("a", "2026-11-20"), ("b", "2026-10-21"), ("c", None)], 31, "b", ("c",)),
        ([("a", "2026-11-22")], -1, "a", ()),
        ([("a", "2026-10")], 51, "a", ()),
        ([("a", "2026-11-20T23:59:59Z")], 1, "a", ()),
        ([("a", "November"), ("b", "")], None, None, ("a", "b")),
        ([("a", "2026")], None, None, ("a",)),
        ([], None, None, ()),
    ],
)
def test_the_oldest_date_counts(
    sources: list[tuple[str, str | None]],
    days: int | None,
    source: str | None,
    undated: tuple[str, ...],
) -> None:
    found = metadata.data_age(sources, TODAY)
    assert (found.days, found.source, found.undated) == (days, source, undated)


@pytest.mark.parametrize(
    ("max_age", "days"),
    [(30, 30), (0.5, 0.5), ("30", 30), ("30d", 30), ("4w", 28), (dt.timedelta(hours=36), 1.5)],
)
def test_limits(max_age: Any, days: float) -> None:
    assert metadata.age_limit(max_age) == dt.timedelta(days=days)


@pytest.mark.parametrize("max_age", ["", "d", "30m", "-1d", "1.5d", "٣d", "0d", 0, -1])
def test_what_is_no_limit(max_age: Any) -> None:
    with pytest.raises(ValueError, match="max_age"):
        geolookup.open(max_age=max_age)


@pytest.mark.parametrize(
    "max_age", ["99999999999d", "9" * 5000, 10**12, float("inf"), float("nan"), "999999999w"]
)
def test_more_days_than_there_are(max_age: Any) -> None:
    with pytest.raises(ValueError, match=r"^max_age is not a number of days up to 999,999,999$"):
        geolookup.open(max_age=max_age)
    with pytest.raises(ValueError, match=r"^if_older is not a number of days"):
        geolookup.update(if_older=max_age)
    assert metadata.age_limit(999_999_999).days == 999_999_999


def test_what_is_no_answer_to_stale_data() -> None:
    with pytest.raises(ValueError, match="on_stale"):
        geolookup.open(on_stale="shrug")  # type: ignore[arg-type]


def test_a_source_that_decides_nothing_does_not_age(build: Build) -> None:
    source = '[[source]]\nformat = "csv"\npath = "{}.csv"\nname = "{}"\ndate = "{}"\n'
    recipe = '[dataset]\nname = "t"\n' + "".join(
        source.format(name, name, date) for name, date in (("a", days_ago(3)), ("b", days_ago(90)))
    )
    row = "network,isp\n8.8.8.0/24,A\n"
    with geolookup.open(build({"a.csv": row, "b.csv": row}, recipe)[0]) as engine:
        found = engine.metadata.age
    assert (found.days, found.source, found.undated) == (3, "a", ())


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return numbered(tmp_path / "old", 40, date=days_ago(40))


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    return numbered(tmp_path / "fresh", 5, date=days_ago(5))


def test_warned_of(old: Path, caplog: pytest.LogCaptureFixture) -> None:
    with geolookup.open(old, max_age="30d") as engine:
        assert number(engine) == 40
        assert engine.stale
        engine.check_age()
    (record,) = caplog.records  # once, not at each look
    assert (record.name, record.levelno) == ("geolookup", logging.WARNING)
    assert f"40 days (a.csv, {days_ago(40)})" in record.getMessage()
    assert str(old) in record.getMessage()


def test_refused(old: Path, fresh: Path) -> None:
    with pytest.raises(geolookup.DatasetError, match=r"40 days.* above max_age of 30 days"):
        geolookup.open(old, max_age=30, on_stale="refuse")
    with geolookup.open(fresh, max_age=30, on_stale="refuse") as engine:
        engine.check_age()


def test_tagged(old: Path, fresh: Path, caplog: pytest.LogCaptureFixture) -> None:
    for dataset, max_age, stale in ((old, 30, True), (fresh, 30, False), (old, 40, False)):
        with geolookup.open(dataset, max_age=max_age, on_stale="tag") as engine:
            assert engine.stale is stale
    with geolookup.open(old) as engine:
        assert not engine.stale
    assert not caplog.records


def test_an_unknown_age_is_too_old(datasets: list[Path]) -> None:
    with pytest.raises(geolookup.DatasetError, match="unknown, for no source states a date"):
        geolookup.open(datasets[0], max_age=10_000, on_stale="refuse")


def test_a_reload_minds_the_age(tmp_path: Path, old: Path, fresh: Path) -> None:
    store = tmp_path / "store"
    publish(old, store)
    publish(fresh, store)
    with geolookup.open(store, max_age=30, on_stale="refuse") as engine:
        rollback(store)
        with pytest.raises(geolookup.DatasetError, match="above max_age"):
            engine.reload()
        assert engine.generation == generation(fresh)


def test_who_watches_is_told_when_data_grow_too_old(
    fresh: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    with geolookup.open(fresh, max_age=30, watch=SOON) as engine:
        later = dt.datetime.now(dt.UTC).date() + dt.timedelta(days=26)
        monkeypatch.setattr(metadata, "data_age", partial(metadata.data_age, today=later))
        assert eventually(lambda: len(caplog.records) > 0)
        assert engine.stale
    (record,) = caplog.records
    assert "31 days" in record.getMessage()
