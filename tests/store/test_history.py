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


def test_rollback_refuses_a_damaged_generation(store: Path) -> None:
    (store / "generations" / id_of(0) / "zone.arrow").unlink()
    with pytest.raises(geolookup.DatasetError, match=r"zone.arrow"):
        rollback(store)
    assert answers_of(store) == answers_of(shared(1))


def test_a_removed_generation_still_answers_who_has_it_open(store: Path) -> None:
    with geolookup.open(store) as engine:
        publish(shared(2), store)
        prune(store, 1)
        assert not engine.path.exists()
        assert [engine.lookup_json("8.8.8.8", at=0)] == answers_of(shared(1))[:1]
        assert len(list(engine.networks())) == 4


def test_changes_that_cannot_be(store: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="keep"):
        prune(store, 0)
    (store / "generations" / id_of(5)).mkdir()  # never came to be published
    assert prune(store, 9) == [id_of(5)]
    (tmp_path / "empty").mkdir()
    changes: tuple[Callable[[Path], object], ...] = (rollback, prune, generations)
    for change in changes:
        with pytest.raises(geolookup.DatasetError, match="no store here"):
            change(tmp_path / "empty")
        assert list((tmp_path / "empty").iterdir()) == []


@settings(max_examples=scaled(8, 25))
@given(
    st.lists(
        st.tuples(st.just("publish"), st.integers(0, 4))
        | st.tuples(st.just("rollback"), st.just(0))
        | st.tuples(st.just("prune"), st.integers(0, 4)),
        max_size=12,
    )
)
# A rollback does not lead to what was withdrawn; publishing again ends a withdrawal.
@example([("publish", 1), ("rollback", 0), ("publish", 2), ("rollback", 0)])
@example([("publish", 1), ("rollback", 0), ("publish", 1), ("rollback", 0), ("rollback", 0)])
# 4 and 3 were published last; 2 answers, and 1 came before: 0 goes, and then 1 and 3.
@example(
    [*(("publish", n) for n in (1, 2, 3, 4)), *[("rollback", 0)] * 2, ("prune", 0), ("prune", 1)]
)
def test_any_sequence_of_changes(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[str, int]]
) -> None:
    """Beside a plain model: the numbers in the order of publication, and which are withdrawn."""
    store = tmp_path_factory.mktemp("any") / "store"
    published: list[int] = []
    withdrawn: set[int] = set()
    for change, number in [("publish", 0), *changes]:
        standing = [each for each in published if each not in withdrawn]
        if change == "publish":
            publish(shared(number), store)
            published = [*(each for each in published if each != number), number]
            withdrawn.discard(number)
        elif change == "prune":
            keep = number or 2  # 0: the default
            kept = {*published[-keep:], *standing[-min(keep, 2) :]}
            gone = prune(store, number) if number else prune(store)
            assert set(gone) == {id_of(each) for each in published if each not in kept}
            published = [each for each in published if each in kept]
        elif len(standing) > 1:
            assert rollback(store) == id_of(standing[-2])
            withdrawn.add(standing[-1])
        else:
            before = (store / "current").read_bytes()
            with pytest.raises(geolookup.DatasetError, match="no generation before"):
                rollback(store)
            assert (store / "current").read_bytes() == before
        ids, listed = [id_of(each) for each in published], generations(store)
        standing = [each for each in published if each not in withdrawn]
        assert [each.generation for each in pointer.read(store)] == ids
        assert {path.name for path in (store / "generations").iterdir()} == set(ids)
        assert {each.generation for each in listed} == set(ids)
        assert {each.generation for each in listed if each.withdrawn} == {
            id_of(each) for each in published if each in withdrawn
        }
        assert [each.generation for each in listed if each.current] == [id_of(standing[-1])]
        assert answers_of(store) == answers_of(shared(standing[-1]))
