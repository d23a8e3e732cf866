"""Which generation was in force when: by publications, rollbacks and prunes."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

import geolookup
from geolookup.contract.gregorian import timestamp
from geolookup.history.generations import rollback
from geolookup.store import pointer
from geolookup.store.in_force import generation_at, periods, read_instant
from geolookup.store.pointer import Change, Publication
from tests.store.numbered import generation, published, shared

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
