"""When answers changed: the generations of a store, each compared with the one before.

Strategy: the changes of the current generation (``in_force``) are read from the newest back. The
answers of each two neighbours are compared where the question lies. The answers of an older
generation are today's with all later changes undone: it is not opened for them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from geolookup.contract.address import canonical
from geolookup.contract.gregorian import timestamp
from geolookup.contract.paths import names_of, resolve_fields
from geolookup.errors import DatasetError, PrivateAddressError
from geolookup.history.differences import Difference, LayerChange, OpenGeneration, between, selected
from geolookup.history.later_answers import LaterAnswers
from geolookup.history.question import Question, read_question
from geolookup.history.unpacked import open_unpacked
from geolookup.store import pointer
from geolookup.store.in_force import Period, periods
from geolookup.store.requirements import Requirements
from geolookup.store.resolve import fingerprint


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
            generations = _Generations(store, requirements)
            return _history(generations, known, question, names_of(names))
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
    newest = generations.generation(known[0].generation)
    paths = None
    if names:
        paths = {field.path for field in resolve_fields(names, newest.schema.stored, "history")}
    answers = LaterAnswers(newest, question)
    changes = [
        _change(before, after, difference)
        for after, before in pairwise(known)
        for difference in generations.differences(before, after, question, answers, paths)
    ]
    if question.is_private and not changes and not newest.schema.private_layers:
        raise PrivateAddressError(question.address)
    fields = None if question.is_prefix else _first_values(answers, question, paths)
    first = FirstAnswer(_text(known[-1].begin), known[-1].generation, fields)
    return History(question.text, tuple(changes), first)


def _first_values(
    answers: LaterAnswers, question: Question, paths: Collection[str] | None
) -> dict[str, Any]:
    """Return the known values of an address, all changes undone."""
    [(_, _, values)] = answers.pieces(question.first, question.last)
    return {
        path: value
        for path, value in values.items()
        if value is not None and (paths is None or path in paths)
    }


class _Generations:
    """The generations of a store, opened when they are needed."""

    def __init__(self, store: str, requirements: Requirements) -> None:
        self._store, self._requirements = store, requirements
        self._open: dict[str, OpenGeneration] = {}

    def generation(self, generation: str) -> OpenGeneration:
        """Open a generation; its own files, or unpacked into the cache."""
        if generation not in self._open:
            dataset = open_unpacked(self._store, generation)
            self._requirements.check_signed(dataset, None, 0)
            self._open[generation] = OpenGeneration(dataset)
        return self._open[generation]

    def differences(
        self,
        before: Period,
        after: Period,
        question: Question,
        later: LaterAnswers,
        paths: Collection[str] | None,
    ) -> list[Difference]:
        """Return where the answers of two periods differ in some fields (None: in all).

        ``later`` are the answers of the later period; afterwards they are of the earlier one.
        """
        old, new = before.generation, after.generation
        if old == new:  # another one between them is pruned
            return []
        differences = list(self._all(old, new, question, later))
        later.undo(differences)
        return selected(differences, paths)

    def _all(
        self, old: str, new: str, question: Question, later: LaterAnswers
    ) -> Iterable[Difference]:
        """Compare two generations: by lookups if both are unpacked, else by their file."""
        # Files of former answers are not signed.
        are_unpacked = all(pointer.is_unpacked(self._store, name) for name in (old, new))
        if not (self._requirements.keys or are_unpacked):
            from geolookup.history.file_differences import (
                differences_in_file,  # imports Arrow: slow
            )

            in_file = differences_in_file(Path(self._store), old, new, question, later)
            if in_file is not None:
                return in_file
        return between(self.generation(old), self.generation(new), question)


def _change(before: Period, after: Period, difference: Difference) -> Change:
    first, last = (canonical(difference.family, end) for end in (difference.first, difference.last))
    return Change(
        since=_text(after.begin),
        generation=after.generation,
        before_generation=before.generation,
        before_until=_text(after.begin if before.end is None else before.end),
        first=first,
        last=last,
        layers=difference.layers,
    )


def _text(second: int) -> str:
    return timestamp(datetime.fromtimestamp(second, UTC))
