"""Where two generations differ, by the file of their changes: none of them is opened."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from geolookup.comparison.change_files import ChangedRow, ChangeFile, read_changes
from geolookup.errors import TableFileError
from geolookup.history.differences import Difference, Side, changed_layers, differing
from geolookup.history.kept_rows import rows_path
from geolookup.history.question import Question


def kept_differences(
    store: Path, old: str, new: str, question: Question
) -> list[Difference] | None:
    """Return where the answers of two generations differ, in address order.

    A file of the changes from ``new`` to ``old`` serves, too: a rollback undoes them. None without
    a file, and for one that is damaged or of other generations.
    """
    for pair in ((old, new), (new, old)):
        with suppress(TableFileError):
            path = rows_path(store, *pair)
            file = read_changes(path, question.family, question.first, question.last)
            if (file.old, file.new) == pair:
                return [_difference(file, row, undone=pair[0] == new) for row in file.rows]
    return None


def _difference(file: ChangeFile, row: ChangedRow, *, undone: bool) -> Difference:
    sides = [
        Side(_values(row.before), row.sources_before, file.layers[0]),
        Side(_values(row.after), row.sources_after, file.layers[1]),
    ]
    if undone:
        sides.reverse()
    paths = differing(sides[0].values, sides[1].values)
    return Difference(row.family, row.first, row.last, changed_layers(paths, *sides))


def _values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values as answers have them: integral numbers are integers."""
    return {path: _number(value) for path, value in values.items()}


def _number(value: Any) -> Any:
    return int(value) if type(value) is float and value.is_integer() else value
