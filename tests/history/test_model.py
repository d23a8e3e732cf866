"""Any sequence of changes of a store, beside a model that has a full copy of each generation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import geolookup
from geolookup.errors import DatasetError
from tests.history import slow
from tests.history.pool import SIZE, dataset, id_of
from tests.internals.contract import gregorian, timestamp
from tests.internals.history import generations_in, prune, rollback, update_changes
from tests.internals.store import in_force, pointer
from tests.own_random import addresses
from tests.tiers import scaled

_FIRST, _SECOND = datetime(2026, 1, 1, tzinfo=UTC), 1 / 86_400
_SAMPLE = list(addresses())[::18]
_PREFIXES = (
    *("8.8.8.0/28", "8.8.8.4/30", "9.255.255.248/29", "9.255.255.248/32"),
    *("2a00::/124", "100.127.255.240/28"),
)
KINDS = ("publish", "since", "rollback", "prune", "keep_for", "publish and prune")
Change = tuple[str, int, int]


def at(day: float) -> datetime:
    return _FIRST + timedelta(days=day)


@dataclass
class Model:
    """The numbers in the order of publication, those withdrawn, and who was in force since when."""

    day: int = 99
    published: list[int] = field(default_factory=list)
    withdrawn: set[int] = field(default_factory=set)
    in_force: list[tuple[float, int]] = field(default_factory=list)
    days: dict[int, float] = field(default_factory=dict)

    @property
    def stack(self) -> list[int]:
        return [number for number in self.published if number not in self.withdrawn]

    def publish_now(self, number: int) -> None:
        if [number] != self.stack[-1:]:
            self.publish(number, self.day)

    def publish(self, number: int, day: float) -> None:
        if number in self.published:
            self.published.remove(number)
        self.published.append(number)
        self.withdrawn.discard(number)
        self.days[number] = day
        self._follow(day)

    def _follow(self, day: float) -> None:
        if not self.in_force or self.in_force[-1][1] != self.stack[-1]:
            self.in_force.append((day, self.stack[-1]))

    def since(self, number: int, day: float) -> None:
        if not self.in_force or day >= self.in_force[-1][0]:
            self.publish(number, day)
            return
        if number not in self.published:
            current = self.published.index(self.stack[-1])
            later = [n for n, other in enumerate(self.published) if self.days[other] > day]
            self.published.insert(min([current, *later]), number)
            self.days[number] = day
        self.in_force = [entry for entry in self.in_force if entry[0] != day]
        self.in_force = sorted([*self.in_force, (day, number)])
        pairs = zip([None, *self.in_force], self.in_force, strict=False)
        self.in_force = [new for old, new in pairs if old is None or old[1] != new[1]]

    def rollback(self) -> None:
        self.withdrawn.add(self.stack[-1])
        self._follow(self.day)

    def prune(self, keep: int, keep_for: int | None) -> None:
        kept = {*self.published[-keep:], *self.stack[-min(keep, 2) :]}
        if keep_for is not None:
            ends = [*(day for day, _ in self.in_force[1:]), float("inf")]
            begin = self.day - keep_for
            kept |= {
                number for (_, number), end in zip(self.in_force, ends, strict=True) if end > begin
            }
        self.published = [number for number in self.published if number in kept]
        while self.in_force[0][1] not in self.published:
            del self.in_force[0]

    def on(self, day: float) -> int | None:
        before = [number for since, number in self.in_force if since <= day]
        return before[-1] if before else None

    def copies(self) -> list[slow.Copy]:
        """The known generations in force, the oldest first."""
        begins = [timestamp(at(day)) for day, _ in self.in_force]
        return [
            slow.Copy(dataset(number), begin, end)
            for (_, number), begin, end in zip(
                self.in_force, begins, [*begins[1:], ""], strict=True
            )
            if number in self.published
        ]


@contextmanager
def clock(model: Model) -> Iterator[None]:
    """Let it be the day of the model; each change takes a day."""

    def now(instant: datetime | None = None) -> str:
        return timestamp(instant or at(model.day))

    with pytest.MonkeyPatch.context() as patch:
        for module in (gregorian, in_force):
            patch.setattr(module, "timestamp", now)
        yield


def change(store: Path, model: Model, kind: str, number: int, amount: int) -> None:
    """Do a change, in store and model; a rollback that cannot be is refused."""
    if kind == "publish":
        geolookup.publish(dataset(number), store)
        model.publish_now(number)
    elif kind == "publish and prune":
        geolookup.publish(dataset(number), store, keep=amount % 4 + 1)
        model.publish_now(number)
        model.prune(amount % 4 + 1, None)
    elif kind == "since":
        day = min(amount, model.day)
        geolookup.publish(dataset(number), store, since=at(day))
        model.since(number, day)
    elif kind == "rollback" and len(model.stack) > 1:
        assert rollback(store).generation == id_of(model.stack[-2])
        model.rollback()
    elif kind == "rollback":
        before = (store / pointer.CURRENT).read_bytes()
        with pytest.raises(DatasetError, match="no generation before"):
            rollback(store)
        assert (store / pointer.CURRENT).read_bytes() == before
    elif kind == "prune":
        keep = number + 1
        listed = {*model.published}
        gone = prune(store) if keep == 2 else prune(store, keep)  # 2: the default
        model.prune(keep, None)
        assert {*gone.removed} == {*map(id_of, listed - {*model.published})}
    elif kind == "keep_for":
        prune(store, keep_for=amount)
        model.prune(2, amount)
    model.day += 1


def check(store: Path, model: Model) -> None:
    entries = [
        (item.generation, item.since, item.withdrawn) for item in pointer.read(store).published
    ]
    assert entries == [
        (id_of(number), timestamp(at(model.days[number])), number in model.withdrawn)
        for number in model.published
    ]
    assert [(changed.generation, changed.since) for changed in pointer.read(store).changes] == [
        (id_of(number), timestamp(at(day))) for day, number in model.in_force
    ]
    with geolookup.open(store) as engine:
        assert engine.generation == id_of(model.stack[-1])
    assert generations_in(store) == sorted(map(id_of, model.published))
    folders = {path.name for path in (store / "generations").iterdir()}
    # Others are archives, but for the one that a rollback has just withdrawn.
    assert folders <= {*map(id_of, [*model.stack[-2:], *model.withdrawn])}


def check_past(store: Path, model: Model) -> None:
    """Each generation has its bytes, and answers at the begin of its period until the next."""
    for begin, _ in model.in_force:
        for day in (begin - _SECOND, begin):
            if (number := model.on(day)) in model.published:
                with geolookup.open(store, as_of=at(day)) as engine:
                    for path in dataset(number).iterdir():
                        assert (engine.path / path.name).read_bytes() == path.read_bytes(), path
            else:
                problem = "no generation was in force" if number is None else "no longer kept"
                with pytest.raises(DatasetError, match=problem):
                    geolookup.open(store, as_of=at(day))


@settings(max_examples=scaled(1, 20))
@given(
    st.lists(
        st.tuples(
            st.sampled_from([*KINDS, "publish", "since"]),
            st.integers(0, SIZE - 1),
            st.integers(1, 120),
        ),
        max_size=10,
    ),
    st.lists(st.sampled_from(list(addresses())), min_size=1, max_size=8),
    st.lists(st.sampled_from(_PREFIXES), max_size=2),
)
@example([("publish", number, 0) for number in range(1, SIZE)], _SAMPLE, _PREFIXES)
# An archive is published again; rollbacks to archives, and one that cannot be; publication ends a
# withdrawal, and a rollback does not lead to what was withdrawn.
@example(
    [
        *(("publish", number, 0) for number in (1, 2, 3)),
        ("prune", 3, 0),
        ("publish", 0, 0),
        *[("rollback", 0, 0)] * 4,
        ("prune", 2, 0),
        ("publish", 5, 0),
        ("rollback", 0, 0),
        ("prune", 1, 0),
        ("publish and prune", 4, 3),
        ("prune", 0, 0),
    ],
    _SAMPLE,
    (),
)
# Beside a rollback and at its instant; the past, the oldest last, the oldest first, and again.
@example(
    [
        ("publish", 1, 0),
        ("rollback", 0, 0),
        ("since", 2, 100),
        ("since", 3, 101),
        ("since", 1, 60),
        ("since", 2, 59),
        ("since", 3, 61),
        ("since", 4, 60),
        ("since", 2, 3),
        ("keep_for", 0, 45),
        ("publish", 2, 0),
        ("keep_for", 0, 45),
    ],
    _SAMPLE,
    (),
)
def test_any_sequence_of_changes(
    tmp_path_factory: pytest.TempPathFactory,
    changes: list[Change],
    asked: list[slow.Address],
    prefixes: list[str],
) -> None:
    store, model = tmp_path_factory.mktemp("any") / "store", Model()
    with clock(model):
        change(store, model, "publish", 0, 0)
        for item in changes:
            change(store, model, *item)
            check(store, model)
        check_past(store, model)
        slow.check(store, model.copies(), asked, prefixes)
        assert update_changes(store, pointer.read(store)) == []
        slow.check(store, model.copies(), asked, prefixes)  # all of it from files
