"""Engines as of an instant: they answer as a full copy of the generation in force then."""

from __future__ import annotations

import pickle
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import geolookup
from geolookup import publish
from geolookup.errors import DatasetError
from tests.history.past import DATES, past_store, set_periods
from tests.internals.history import prune
from tests.internals.store import Change, Publication, pointer
from tests.signing import keys
from tests.skips import needs
from tests.store.numbered import answers, answers_of, id_of, number, numbered, shared

MID_MONTH = tuple(day[:-2] + "15" for day in DATES)


def reopened(pickled: bytes) -> geolookup.Engine:
    engine = pickle.loads(pickled)  # noqa: S301 - ours
    assert isinstance(engine, geolookup.Engine)
    return engine


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose periods a test may change."""
    return past_store(tmp_path_factory.mktemp("periods") / "store")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return past_store(tmp_path / "store")


def test_answers_are_as_of_a_full_copy(store: Path) -> None:
    current = geolookup.open(store)
    for of, day in enumerate(MID_MONTH):
        expected = answers_of(shared(of))
        with geolookup.open(store, as_of=day) as engine, current.as_of(day) as other:
            assert answers(engine) == answers(other) == expected
            assert engine.generation == other.generation == id_of(of)
    assert answers(current) == answers_of(shared(4))


def test_a_history_ends_with_the_generation_of_the_instant(store: Path) -> None:
    with geolookup.open(store) as current:
        changes = current.history("8.8.8.8").changes
        assert len(changes) == len(DATES) - 1
        for of, days in enumerate(zip(DATES, MID_MONTH, strict=True)):
            for day in days:
                with current.as_of(day) as engine:
                    assert engine.history("8.8.8.8").changes == changes[len(changes) - of :], day


def test_each_kind_of_instant(store: Path) -> None:
    second = int(datetime(2026, 2, 1, tzinfo=UTC).timestamp())
    offset = datetime(2026, 2, 1, 2, tzinfo=UTC).astimezone()
    for instant in ("2026-02-01", date(2026, 2, 1), second, float(second), offset):
        assert number(geolookup.open(store, as_of=instant)) == 1
    for instant in ("2026-01-31T23:59Z", "2026-02-01T00:59+01:00", second - 1):
        assert number(geolookup.open(store, as_of=instant)) == 0
    assert number(geolookup.open(store, as_of="2100-01-01")) == 4
    with pytest.raises(ValueError, match="has no offset from UTC"):
        geolookup.open(store, as_of="2026-02-01T00:00")
    with pytest.raises(TypeError):
        geolookup.open(store, as_of=b"2026-02-01")  # type: ignore[arg-type]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # the cache stays
@given(
    numbers=st.lists(st.integers(0, 4), min_size=1, max_size=6),
    days=st.lists(st.integers(0, 400), min_size=6, max_size=6, unique=True).map(sorted),
    asked=st.integers(0, 420),
)
def test_any_history_beside_the_plain_rule(
    numbers: list[int], days: list[int], asked: int, shared_store: Path
) -> None:
    dates = [date(2026, 1, 1) + timedelta(day) for day in days]
    set_periods(shared_store, *((of, str(day)) for of, day in zip(numbers, dates, strict=False)))
    instant = date(2026, 1, 1) + timedelta(asked)
    in_force = [of for of, day in zip(numbers, dates, strict=False) if day <= instant]
    if in_force:
        with geolookup.open(shared_store, as_of=instant) as engine:
            assert answers(engine) == answers_of(shared(in_force[-1]))
    else:
        with pytest.raises(DatasetError, match="no generation was in force"):
            geolookup.open(shared_store, as_of=instant)


def test_what_has_no_generation_is_named(store: Path, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="first is in force since 2026-01-01T00:00:00Z"):
        geolookup.open(store, as_of="2025-12-31")
    for path in (shared(0), tmp_path / "missing"):
        with pytest.raises(DatasetError, match="not a store: only a store keeps the generations"):
            geolookup.open(path, as_of="2026-03-01")
    prune(store, 3)
    with pytest.raises(DatasetError, match="first is in force since 2026-03-01"):
        geolookup.open(store, as_of=MID_MONTH[1])
    # In between: a generation that was never published again after a rollback.
    changes = [Change(id_of(of), f"{DATES[of]}T00:00:00Z") for of in (2, 0, 4)]
    changes[1] = Change(id_of(0), f"{DATES[3]}T00:00:00Z")
    entries = [Publication(id_of(of), *[f"{DATES[of]}T00:00:00Z"] * 2) for of in (2, 3, 4)]
    pointer.save(store, entries, changes)
    with pytest.raises(DatasetError, match=f"generation {id_of(0)} is no longer kept"):
        geolookup.open(store, as_of=MID_MONTH[3])


def test_the_age_is_at_the_instant(tmp_path: Path) -> None:
    old = numbered(tmp_path / "old", 1, date="2020-01-01")
    store = tmp_path / "dated"
    publish(old, store)
    generation = pointer.read(store)[0].generation
    at = "2020-02-01T00:00:00Z"
    pointer.save(store, [Publication(generation, at, at)], [Change(generation, at)])
    options = {"max_age": timedelta(days=40), "on_stale": "refuse"}
    geolookup.open(store, as_of="2020-02-05", **options)  # type: ignore[arg-type]
    with pytest.raises(DatasetError, match="the age of the data is 46 days"):
        geolookup.open(store, as_of="2020-02-16", **options)  # type: ignore[arg-type]
    engine = geolookup.open(store, as_of="2020-02-16", max_age="40d", on_stale="tag")
    assert engine.stale
    assert not engine.as_of("2020-02-05").stale


def test_the_overlay_is_above_the_past(store: Path, tmp_path: Path) -> None:
    sites = tmp_path / "sites.csv"
    sites.write_text("network,city_name\n8.8.8.8,Site\n", encoding="utf-8")
    engine = geolookup.open(store, overlay=sites, as_of=MID_MONTH[1])
    assert engine.get("8.8.8.8", "city") == "Site"
    assert engine.get("9.9.9.9", "city") == "Town 1"
    assert engine.as_of(MID_MONTH[2]).get_many(["8.8.8.8", "9.9.9.9"], "city") == ["Site", "Town 2"]
    again = reopened(pickle.dumps(engine))
    assert answers(again) == answers(engine)
    sites.write_text("network,city_name\n8.8.8.8,Other\n", encoding="utf-8")
    assert engine.reload() is True
    assert engine.get_many(["8.8.8.8", "9.9.9.9"], "city") == ["Other", "Town 1"]


@needs("cryptography")
def test_the_past_is_signed_by_a_trusted_key(tmp_path: Path) -> None:
    store, (ours, theirs, _) = tmp_path / "signed", keys.private_keys()
    trusted = keys.public(keys.key_files()[0])
    for of in range(3):
        publish(shared(of), store)
        geolookup.sign(store, [theirs] if of == 1 else [ours])
    prune(store, 3)
    entries = pointer.read(store)
    changes = [
        Change(entry.generation, f"{day}T00:00:00Z")
        for entry, day in zip(entries, DATES[:3], strict=True)
    ]
    pointer.save(store, entries, changes)
    current = geolookup.open(store, trusted_keys=trusted)
    # Its serial is lower than the current one's: that rule is for reloads.
    past = current.as_of(MID_MONTH[0])
    assert number(past) == 0
    assert number(reopened(pickle.dumps(past))) == 0
    with pytest.raises(DatasetError, match="trusted"):
        current.as_of("2026-02-15").close()
