"""Where two generations differ, by their file of former answers: neither is opened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from geolookup.comparison.former_answers import FormerAnswer, FormerAnswers, read_former_answers
from geolookup.errors import TableFileError
from geolookup.history.differences import Difference, Side, changed_layers, differing
from geolookup.history.former_files import former_answers_path
from geolookup.history.later_answers import LaterAnswers
from geolookup.history.question import Question


def differences_in_file(
    store: Path, old: str, new: str, question: Question, later: LaterAnswers
) -> list[Difference] | None:
    """Return where the answers of two generations differ, in address order.

    ``later`` are the answers of ``new``. None without a file, and for one that is damaged or of
    other generations.
    """
    path = former_answers_path(store, old, new)
    try:
        file = read_former_answers(path, question.family, question.first, question.last)
    except TableFileError:
        return None
    if (file.old, file.new) != (old, new):
        return None
    return [difference for row in file.rows for difference in _differences(file, row, later)]


def _differences(
    file: FormerAnswers, row: FormerAnswer, later: LaterAnswers
) -> Iterator[Difference]:
    before = Side(_values(row.values), row.sources_before, file.layers[0])
    for first, last, values in later.pieces(row.first, row.last):
        after = Side(values, row.sources_after, file.layers[1])
        if paths := differing(before.values, values):
            layers = changed_layers(paths, before, after)
            yield Difference(row.family, first, last, layers, before)


def _values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values as answers have them: integral numbers are integers."""
    return {path: _number(value) for path, value in values.items()}


def _number(value: Any) -> Any:
    return int(value) if type(value) is float and value.is_integer() else value
