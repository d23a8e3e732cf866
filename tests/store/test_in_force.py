"""Which generation was in force when: by publications, rollbacks and prunes."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

import geolookup
from geolookup.contract.gregorian import timestamp
from geolookup.history import past
from geolookup.history.adding import add
from geolookup.history.generations import rollback
from geolookup.store import pointer, retention
from geolookup.store.in_force import generation_at, periods, read_instant
from geolookup.store.incoming import from_folder
from geolookup.store.pointer import Change, Publication
from tests.store.numbered import generation, id_of, published, shared

A, B, C = (digit * 64 for digit in "abc")
DAY = 86_400
MARCH = int(datetime(2026, 3, 1, tzinfo=UTC).timestamp())


def _at(day: int) -> str:
    return timestamp(datetime.fromtimestamp(MARCH + day * DAY, UTC))


def test_the_generation_of_each_period(tmp_path: Path) -> None:
    entries = [Publication(A, _at(0)), Publication(B, _at(7)), Publication(C, _at(14))]
    changes = [Change(entry.generation, entry.at) for entry in entries]
    pointer.write(tmp_path, entries, changes)
    cases = {0: A, 6.99: A, 7: B, 13.5: B, 14: C, 400: C}
    for day, expected in cases.items():
        assert generation_at(tmp_path, MARCH + day * DAY) == expected, day
    with pytest.raises(geolookup.DatasetError, match="first is in force since 2026-03-01"):
        generation_at(tmp_path, MARCH - 1)
    # A pruned generation leaves its period, unless nothing is known before it.
    pointer.write(tmp_path, [entries[0], entries[2]])
    assert [period.generation for period in periods(tmp_path)] == [A, B, C]
    pointer.write(tmp_path, entries[1:])
    assert [period.generation for period in periods(tmp_path)] == [B, C]


def test_a_rollback_is_a_change(tmp_path: Path) -> None:
    store = published(tmp_path / "store", 0, 1)
    rollback(store)
    geolookup.publish(shared(2), store)
    ids = [generation(shared(number)) for number in range(3)]
    assert [change.generation for change in pointer.read_changes(store)] == [
        *ids[:2],
        ids[0],
        ids[2],
    ]
    times = [change.since for change in pointer.read_changes(store)]
    assert times == sorted(times)
    assert generation_at(store, datetime.now(UTC)) == ids[2]
    geolookup.publish(shared(2), store)  # it is current already
    assert len(pointer.read_changes(store)) == 4


def test_instants() -> None:
    aware = datetime(2026, 3, 1, tzinfo=UTC)
    for as_of in (
        "2026-03-01",
        "2026-03-01T01:00+01:00",
        date(2026, 3, 1),
        aware,
        MARCH,
        MARCH + 0.5,
    ):
        assert read_instant(as_of) == MARCH, as_of
    for wrong in ("March", "2026-03-01T09:30", "2026-13-01"):
        with pytest.raises(ValueError, match="write a date such as 2026-03-01"):
            read_instant(wrong)
    with pytest.raises(TypeError, match="as_of must be an aware datetime"):
        read_instant(datetime(2026, 3, 1))  # noqa: DTZ001 - naive
    with pytest.raises(ValueError, match="since must be from 0001-01-02"):
        read_instant(1e30, "since")


def test_a_damaged_time(tmp_path: Path) -> None:
    pointer.write(tmp_path, [Publication(A, _at(0))], [Change(A, "March")])
    with pytest.raises(geolookup.DatasetError, match="in_force"):
        periods(tmp_path)


def _second(second: int) -> str:
    return timestamp(datetime.fromtimestamp(MARCH + second, UTC))


@pytest.mark.parametrize("since", [-1, 0, 1, DAY - 1, DAY, DAY + 1])
def test_a_generation_that_is_put_into_the_past(tmp_path: Path, since: int) -> None:
    """Beside one in force from the second 0, and one from the next day: before, at and after."""
    store = published(tmp_path / "store", 0, 1)
    first, last, new = map(id_of, range(3))
    entries = [Publication(first, _second(0)), Publication(last, _second(DAY))]
    pointer.write(store, entries, [Change(entry.generation, entry.at) for entry in entries])
    add(store, from_folder(shared(2)), _second(since))
    is_current = since >= DAY
    assert pointer.not_withdrawn(pointer.read(store))[-1].generation == (
        new if is_current else last
    )
    for second in (-1, 0, 1, DAY - 1, DAY, DAY + 1):
        begins = {0: first, DAY: last} | {since: new}  # one of the same instant is replaced
        before = [begin for begin in begins if begin <= second]
        if before:
            assert generation_at(store, MARCH + second) == begins[max(before)], second
        else:
            with pytest.raises(geolookup.DatasetError, match="no generation was in force"):
                generation_at(store, MARCH + second)


def test_the_past_ends_now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(past, "timestamp", lambda at=None: timestamp(at) if at else _second(0))
    assert past.read_since(MARCH) == _second(0)
    with pytest.raises(ValueError, match="is in the future"):
        past.read_since(MARCH + 1)


def test_what_was_in_force_within_a_time_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a generation whose period ended just when that time begins."""
    now = datetime.fromtimestamp(MARCH + 7 * DAY, UTC)
    monkeypatch.setattr(retention, "datetime", SimpleNamespace(now=lambda _zone: now))
    entries = [Publication(digit * 64, _second(0)) for digit in "abcd"]
    for end, is_kept in ((-1, False), (0, False), (1, True)):
        seconds = (-DAY, end, end + DAY, end + 2 * DAY)
        changes = [
            Change(entry.generation, _second(second))
            for entry, second in zip(entries, seconds, strict=True)
        ]
        kept = retention.Retention(keep_for=timedelta(days=7)).kept(entries, changes)
        assert kept == (entries if is_kept else entries[1:]), end
