"""Which generation was in force when: by publications, rollbacks and prunes."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

import geolookup
from tests.internals.contract import timestamp
from tests.internals.history import from_folder, publish_into
from tests.internals.store import (
    Change,
    Publication,
    generation_at,
    in_force,
    periods,
    pointer,
    read_instant,
)
from tests.store.numbered import id_of, published, shared

A, B, C = (digit * 64 for digit in "abc")
DAY = 86_400
MARCH = int(datetime(2026, 3, 1, tzinfo=UTC).timestamp())


def _at(day: int) -> str:
    return timestamp(datetime.fromtimestamp(MARCH + day * DAY, UTC))


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
    pointer.save(tmp_path, [Publication(A, _at(0), _at(0))], [Change(A, "March")])
    with pytest.raises(geolookup.DatasetError, match="in_force"):
        periods(tmp_path)


def _second(second: int) -> str:
    return timestamp(datetime.fromtimestamp(MARCH + second, UTC))


@pytest.mark.parametrize("since", [-1, 0, 1, DAY - 1, DAY, DAY + 1])
def test_a_generation_that_is_put_into_the_past(tmp_path: Path, since: int) -> None:
    """Beside one in force from the second 0, and one from the next day: before, at and after."""
    store = published(tmp_path / "store", 0, 1)
    first, last, new = map(id_of, range(3))
    entries = [Publication(of, *[_second(at)] * 2) for of, at in ((first, 0), (last, DAY))]
    pointer.save(store, entries, [Change(entry.generation, entry.at) for entry in entries])
    before = timestamp()
    publish_into(store, from_folder(shared(2)), since=_second(since))
    [entry] = [entry for entry in pointer.read(store) if entry.generation == new]
    assert (entry.since, entry.at >= before) == (_second(since), True)
    is_current = since >= DAY
    assert pointer.not_withdrawn(pointer.read(store))[-1].generation == (
        new if is_current else last
    )
    for second in (-1, 0, 1, DAY - 1, DAY, DAY + 1):
        begins = {0: first, DAY: last} | {since: new}  # one of the same instant is replaced
        earlier = [begin for begin in begins if begin <= second]
        if earlier:
            assert generation_at(store, MARCH + second) == begins[max(earlier)], second
        else:
            with pytest.raises(geolookup.DatasetError, match="no generation was in force"):
                generation_at(store, MARCH + second)


def test_the_past_ends_now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_force, "timestamp", lambda at=None: timestamp(at) if at else _second(0))
    assert in_force.read_since(MARCH) == _second(0)
    with pytest.raises(ValueError, match="is in the future"):
        in_force.read_since(MARCH + 1)
