"""When answers changed: the generations of a store, each compared with the one before.

Strategy: the changes of the current generation (``in_force``) are read from the newest back, the
rows of each two neighbours from their file (``changes``). The first answer is the one before the
oldest change, so no past generation is opened.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from geolookup.contract.address import canonical
from geolookup.contract.gregorian import timestamp
from geolookup.contract.paths import names_of, resolve_fields
from geolookup.dataset.files import Dataset
from geolookup.errors import DatasetError, PrivateAddressError
from geolookup.history.change_files import ChangedRow, rows_between, rows_in_file
from geolookup.history.changes import changes_path
from geolookup.history.question import Question, read_question
from geolookup.history.unpacked import open_unpacked
from geolookup.kernel import State
from geolookup.store import pointer
from geolookup.store.in_force import Period, periods
from geolookup.store.requirements import Requirements
from geolookup.store.resolve import fingerprint

#: A value before and after.
Pair = tuple[Any, Any]


@dataclass(frozen=True, slots=True)
class LayerChange:
    """A layer whose values differ; each pair is of before and after, None is unknown."""

    fields: dict[str, Pair]  # by path, the values that differ
    sources: Pair  # the names of the sources that decided


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the answers for adjacent addresses."""

    since: str  # when the generation came into force, ISO 8601 in UTC
    generation: str  # its id
    before_generation: str  # the one that was in force before
    before_until: str  # until when; earlier than ``since`` if the generations between are pruned
    first: str  # the addresses, both ends included
    last: str
    layers: Mapping[str, LayerChange]  # those with fields that differ

    @property
    def fields(self) -> dict[str, tuple[Any, Any]]:
        """The value before and after of each field that differs, by path; None is unknown."""
        layers = self.layers.values()
        return {path: pair for layer in layers for path, pair in layer.fields.items()}


@dataclass(frozen=True, slots=True)
class FirstAnswer:
    """The answer in the first known generation."""

    since: str  # when the generation came into force, ISO 8601 in UTC
    generation: str
    fields: Mapping[str, Any] | None  # by path, the known values; None for a prefix


@dataclass(frozen=True, slots=True)
class History:
    """How the answer for an address or a prefix changed."""

    ip: str  # the address or the prefix
    changes: tuple[Change, ...]  # the newest first
    first: FirstAnswer


def history(
    store: str,
    ip: object,
    names: tuple[object, ...] = (),
    *,
    clean: bool,
    requirements: Requirements,
) -> History:
    """Return the history of an address or a prefix in a store; see ``Engine.history``.

    As of the instant of the requirements, it ends with the generation in force then. With trusted
    keys, each generation must be signed.
    """
    question = read_question(ip, clean=clean)
    while True:
        # The same fingerprint after an error: no generation was removed meanwhile.
        seen = fingerprint(store)
        try:
            known = _known_periods(store, requirements.instant)
            return _history(_Generations(store, requirements), known, question, names_of(names))
        except DatasetError:
            if fingerprint(store) == seen:
                raise


def _known_periods(store: str, until: int | None) -> list[Period]:
    """Return the periods whose generation the store keeps, the newest first."""
    kept = {entry.generation for entry in pointer.read(store)}
    known = [
        period
        for period in reversed(periods(store))
        if period.generation in kept and (until is None or period.begin <= until)
    ]
    if not known:
        problem = "no generation of that time is kept"
        raise DatasetError(store, problem, "name a later date")
    return known


def _history(
    generations: _Generations,
    known: list[Period],
    question: Question,
    names: tuple[object, ...],
) -> History:
    newest = generations.opened(known[0].generation)
    stored = newest.schema.stored
    paths = {field.path for field in resolve_fields(names, stored, "history")} if names else None
    changes: list[Change] = []
    values = _values(newest, question.address)
    for after, before in pairwise(known):
        rows = generations.rows(before.generation, after.generation, question)
        changes += _changes(before, after, question.family, rows, paths)
        for row in rows[:1]:
            values = {path: field.values[0] for path, field in row.fields.items()}
    if question.is_private and not changes and not newest.schema.private_layers:
        raise PrivateAddressError(question.address)
    fields = {
        path: value
        for path, value in values.items()
        if value is not None and (paths is None or path in paths)
    }
    first = known[-1]
    answer = FirstAnswer(
        timestamp(first.begin), first.generation, None if question.is_prefix else fields
    )
    return History(question.text, tuple(changes), answer)


def _values(dataset: Dataset, address: str) -> dict[str, Any]:
    """Return the values of all stored fields by path; None if unknown."""
    paths = tuple(field.path for field in dataset.schema.stored)
    return dict(zip(paths, State(dataset).values([address], paths, 0)[0], strict=True))


class _Generations:
    """The generations of a store, opened when they are needed."""

    def __init__(self, store: str, requirements: Requirements) -> None:
        self._store, self._requirements = store, requirements
        self._opened: dict[str, Dataset] = {}

    def opened(self, generation: str) -> Dataset:
        """Return a generation that meets the requirements."""
        if generation not in self._opened:
            check = self._requirements.signature_check()
            self._opened[generation] = open_unpacked(self._store, generation, check)
        return self._opened[generation]

    def rows(self, old: str, new: str, question: Question) -> list[ChangedRow]:
        """Return where the answers of two generations differ, in address order."""
        if old == new:  # another one between them is pruned
            return []
        where = question.family, question.first, question.last
        rows = None
        if not self._requirements.keys:  # the files are not signed
            rows = rows_in_file(changes_path(Path(self._store), old, new), (old, new), *where)
        return rows_between(self.opened(old), self.opened(new), *where) if rows is None else rows


def _changes(
    before: Period,
    after: Period,
    family: int,
    rows: Iterable[ChangedRow],
    paths: Collection[str] | None,
) -> list[Change]:
    """Return the changes in some fields (None: in all); neighbours that changed alike are one."""
    until = after.begin if before.end is None else before.end
    times = timestamp(after.begin), after.generation, before.generation, timestamp(until)
    changes: list[Change] = []
    end = -1  # of the last change
    for row in rows:
        layers = _layers(row, paths)
        if not layers:
            continue
        first, last = canonical(family, row.first), canonical(family, row.last)
        if changes and row.first == end + 1 and changes[-1].layers == layers:
            changes[-1] = replace(changes[-1], last=last)
        else:
            changes.append(Change(*times, first, last, layers))
        end = row.last
    return changes


def _layers(row: ChangedRow, paths: Collection[str] | None) -> dict[str, LayerChange]:
    """Return the layers in which some fields differ (None: any)."""
    layers: dict[str, LayerChange] = {}
    for path, field in row.fields.items():
        old, new = field.values
        # 1 is another value than true, but not than 1.0.
        differs = old != new or (type(old) is bool) != (type(new) is bool)
        if differs and (paths is None or path in paths):
            layer = layers.setdefault(field.layer, LayerChange({}, field.sources))
            layer.fields[path] = field.values
    return layers
