"""Rollback, generations and prune beside a plain model of what they mean."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import geolookup
from geolookup.store import pointer
from geolookup.store.generations import generations, prune, rollback
from geolookup.store.publish import publish
from tests.store.numbered import answers_of, id_of, shared
from tests.tiers import scaled


def current(store: Path) -> str:
    (found,) = [each.generation for each in generations(store) if each.current]
    return found


def test_rollback_goes_one_back_each_time(store: Path) -> None:
    publish(shared(2), store)
    assert rollback(store) == id_of(1)
    assert answers_of(store) == answers_of(shared(1))
    assert rollback(store) == id_of(0)
    before = (store / "current").read_bytes()
    with pytest.raises(geolookup.DatasetError, match="no generation before"):
        rollback(store)
    assert (store / "current").read_bytes() == before
    assert [each.withdrawn for each in generations(store)] == [True, True, False]


def test_rollback_refuses_a_damaged_generation(store: Path) -> None:
    (store / "generations" / id_of(0) / "zone.arrow").unlink()
    with pytest.raises(geolookup.DatasetError, match=r"zone.arrow"):
        rollback(store)
    assert answers_of(store) == answers_of(shared(1))


def test_prune_keeps_the_newest_and_the_current_one(store: Path) -> None:
    for each in range(2, 5):
        publish(shared(each), store)
    ids = [id_of(each) for each in range(5)]
    assert set(prune(store, 3)) == {ids[0], ids[1]}
    assert rollback(store) == ids[3]
    assert prune(store, 1) == [ids[2]]
    assert [each.generation for each in generations(store)] == [ids[4], ids[3]]
    assert answers_of(store) == answers_of(shared(3))


def test_prune_keeps_the_one_before_unless_told(store: Path) -> None:
    for each in range(2, 5):
        publish(shared(each), store)
    rollback(store)
    rollback(store)
    ids = [id_of(each) for each in range(5)]
    assert set(prune(store)) == {ids[0]}  # 4 and 3 were published last; 2 answers, 1 came before
    assert set(prune(store, 1)) == {ids[1], ids[3]}


def test_prune_removes_what_never_came_to_be_published(store: Path) -> None:
    other = store / "generations" / id_of(5)
    other.mkdir()
    assert prune(store, 9) == [id_of(5)]


def test_a_removed_generation_still_answers_who_has_it_open(store: Path) -> None:
    with geolookup.open(store) as engine:
        publish(shared(2), store)
        prune(store, 1)
        assert not engine.path.exists()
        assert [engine.lookup_json("8.8.8.8", at=0)] == answers_of(shared(1))[:1]
        assert len(list(engine.networks())) == 4


def test_less_than_one_is_not_kept(store: Path) -> None:
    with pytest.raises(ValueError, match="keep"):
        prune(store, 0)


def test_where_no_store_is(tmp_path: Path) -> None:
    changes: tuple[Callable[[Path], object], ...] = (rollback, prune, generations)
    for change in changes:
        with pytest.raises(geolookup.DatasetError, match="no store here"):
            change(tmp_path)
        assert list(tmp_path.iterdir()) == []


class Model:
    """What a store means, said plainly."""

    def __init__(self) -> None:
        self.published: list[int] = []
        self.withdrawn: set[int] = set()

    @property
    def standing(self) -> list[int]:
        return [each for each in self.published if each not in self.withdrawn]

    def publish(self, number: int) -> None:
        self.published = [*(each for each in self.published if each != number), number]
        self.withdrawn.discard(number)

    def rollback(self) -> None:
        if len(self.standing) > 1:
            self.withdrawn.add(self.standing[-1])

    def prune(self, keep: int) -> None:
        kept = {*self.published[-keep:], *self.standing[-min(keep, 2) :]}
        self.published = [each for each in self.published if each in kept]


@settings(max_examples=scaled(8, 25))
@given(
    st.lists(
        st.tuples(st.just("publish"), st.integers(0, 4))
        | st.tuples(st.just("rollback"), st.just(0))
        | st.tuples(st.just("prune"), st.integers(1, 4)),
        max_size=12,
    )
)
# A rollback does not lead to what was withdrawn; publishing again ends a withdrawal.
@example([("publish", 1), ("rollback", 0), ("publish", 2), ("rollback", 0)])
@example([("publish", 1), ("rollback", 0), ("publish", 1), ("rollback", 0)])
def test_any_sequence_of_changes(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[str, int]]
) -> None:
    store, model = tmp_path_factory.mktemp("any") / "store", Model()
    for change, number in [("publish", 0), *changes]:
        if change == "publish":
            publish(shared(number), store)
            model.publish(number)
        elif change == "prune":
            prune(store, number)
            model.prune(number)
        else:
            try:
                rollback(store)
            except geolookup.DatasetError:
                assert len(model.standing) == 1
            model.rollback()
        ids = [id_of(each) for each in model.published]
        assert [each.generation for each in pointer.read(store)] == ids
        assert {path.name for path in (store / "generations").iterdir()} == set(ids)
        assert current(store) == id_of(model.standing[-1])
        assert geolookup.open(store).generation == current(store)
