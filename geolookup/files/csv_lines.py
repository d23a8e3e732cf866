"""CSV with line feeds, written by the ``csv`` module: for few rows, without Arrow."""

from __future__ import annotations

import csv
from typing import Any, TextIO


def csv_writer(stream: TextIO) -> Any:
    """Return a writer of the ``csv`` module whose lines end in a line feed.

    A carriage return in a cell is quoted, because readers take it for a line end. Before Python
    3.13 the module quotes only the characters of its own line end. Its line end is therefore
    CR LF here, and ``_Lines`` writes a line feed instead.
    """
    return csv.writer(_Lines(stream), lineterminator=_END)


_END = "\r\n"


class _Lines:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, line: str) -> int:
        """Write a line; the writer calls this once for each."""
        return self._stream.write(line.removesuffix(_END) + "\n")
