"""Engines as of an instant: they answer as a full copy of the generation in force then."""

from __future__ import annotations

import pickle
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import geolookup
from geolookup.errors import DatasetError
from tests.damage import copied
from tests.history.past import DATES
from tests.internals.contract import timestamp
from tests.internals.store import Change, in_force, periods, pointer, read_instant
from tests.signing import keys
from tests.skips import needs
from tests.store.numbered import answers, id_of, number, numbered, shared

MID_MONTH = tuple(day[:-2] + "15" for day in DATES)
FEBRUARY = datetime(2026, 2, 1, tzinfo=UTC)


def test_a_history_ends_with_the_generation_of_the_instant(store: Path) -> None:
    with geolookup.open(store) as current:
        changes = current.history("8.8.8.8").changes
        assert len(changes) == len(DATES) - 1
        for of, days in enumerate(zip(DATES, MID_MONTH, strict=True)):
            for day in days:
                with current.as_of(day) as engine:
                    assert engine.generation == id_of(of)
                    assert engine.history("8.8.8.8").changes == changes[len(changes) - of :], day


def test_instants(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    second = FEBRUARY.timestamp()
    texts = "2026-02-01", "2026-02-01T01:00+01:00"
    for instant in (*texts, FEBRUARY.date(), FEBRUARY.astimezone(), int(second), second + 0.5):
        assert read_instant(instant) == second, instant
    monkeypatch.setattr(
        in_force, "timestamp", lambda at=None: timestamp(at) if at else "2026-02-01T00:00:00Z"
    )
    assert in_force.read_since(FEBRUARY) == "2026-02-01T00:00:00Z"
    wrong: tuple[tuple[Any, type[Exception], str], ...] = (
        ("March", ValueError, "'March' is not an instant; write a date such as 2026-03-01"),
        ("2026-13-01", ValueError, "write a date such as 2026-03-01"),
        ("2026-03-01T09:30", ValueError, "has no offset from UTC"),
        (FEBRUARY.replace(tzinfo=None), TypeError, "since must be an aware datetime"),
        (b"2026-02-01", TypeError, "since"),
        (1e30, ValueError, "since must be from 0001-01-02"),
        (second + 1, ValueError, "is in the future"),
    )
    for instant, error, problem in wrong:
        with pytest.raises(error, match=problem):
            geolookup.publish(shared(0), store, since=instant)
    with pytest.raises(TypeError, match="as_of"):
        geolookup.open(store, as_of=FEBRUARY.replace(tzinfo=None))


def test_what_has_no_generation_is_named(store: Path, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="first is in force since 2026-01-01T00:00:00Z"):
        geolookup.open(store, as_of="2025-12-31")
    for path in (shared(0), tmp_path / "missing"):
        with pytest.raises(DatasetError, match="not a store: only a store keeps the generations"):
            geolookup.open(path, as_of="2026-03-01")
    content = pointer.read(store)
    content.changes = [Change(id_of(4), "March")]
    pointer.save(store, content)
    before = sorted(store.rglob("*"))
    for dry_run in (True, False):
        with pytest.raises(DatasetError, match="in_force"):
            geolookup.prune(store, keep_for="1y", dry_run=dry_run)
    assert sorted(store.rglob("*")) == before
    with pytest.raises(DatasetError, match="in_force"):
        periods(store)


def test_the_age_is_at_the_instant(tmp_path: Path) -> None:
    old = numbered(tmp_path / "old", 1, date="2020-01-01")
    store = tmp_path / "dated"
    geolookup.publish(old, store, since="2020-02-01")
    options: dict[str, Any] = {"max_age": timedelta(days=40), "on_stale": "refuse"}
    geolookup.open(store, as_of="2020-02-05", **options)
    with pytest.raises(DatasetError, match="the age of the data is 46 days"):
        geolookup.open(store, as_of="2020-02-16", **options)
    engine = geolookup.open(store, as_of="2020-02-16", max_age="40d", on_stale="tag")
    assert engine.stale
    assert not engine.as_of("2020-02-05").stale


def test_the_overlay_is_above_the_past(store: Path, tmp_path: Path) -> None:
    sites = tmp_path / "sites.csv"
    sites.write_text("network,city_name\n8.8.8.8,Site\n", encoding="utf-8")
    engine = geolookup.open(store, overlay=sites, as_of=MID_MONTH[1])
    assert engine.get_many(["8.8.8.8", "9.9.9.9"], "city") == ["Site", "Town 1"]
    assert engine.as_of(MID_MONTH[2]).get_many(["8.8.8.8", "9.9.9.9"], "city") == ["Site", "Town 2"]
    again: geolookup.Engine = pickle.loads(pickle.dumps(engine))  # noqa: S301 - ours
    assert answers(again) == answers(engine)
    sites.write_text("network,city_name\n8.8.8.8,Other\n", encoding="utf-8")
    assert engine.reload() is True
    assert engine.get_many(["8.8.8.8", "9.9.9.9"], "city") == ["Other", "Town 1"]


@needs("cryptography")
def test_the_past_is_signed_by_a_trusted_key(tmp_path: Path) -> None:
    """Its serial is lower than the current one's: that rule is for reloads."""
    store, (ours, theirs, _) = tmp_path / "signed", keys.private_keys()
    for of, key in enumerate((ours, theirs, ours)):
        dataset = copied(shared(of), tmp_path / "dataset")
        geolookup.sign(dataset, [key])
        geolookup.publish(dataset, store, since=DATES[of])
    current = geolookup.open(store, trusted_keys=ours.public)
    past = current.as_of(MID_MONTH[0])
    assert number(past) == number(pickle.loads(pickle.dumps(past))) == 0  # noqa: S301 - ours
    with pytest.raises(DatasetError, match="trusted"):
        current.as_of(MID_MONTH[1])
