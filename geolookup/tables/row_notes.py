"""Notes of errors that state the row of a table: the error itself contains no cell."""

from __future__ import annotations

from typing import Self


class RowNote(str):
    """A note of an error that states the row of a table: ``row``, counted from 0."""

    __slots__ = ("row",)

    row: int

    def __new__(cls, row: int) -> Self:
        """Return the note for a row."""
        note = super().__new__(cls, f"in row {row}, counted from 0")
        note.row = row
        return note


def row_of(error: Exception) -> int | None:
    """Return the row that a note of an error states, or None."""
    notes = (note for note in getattr(error, "__notes__", ()) if isinstance(note, RowNote))
    return next((note.row for note in notes), None)
