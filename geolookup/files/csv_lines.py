"""CSV with line feeds, written by the ``csv`` module: for few rows, without Arrow."""

from __future__ import annotations

import csv
from types import SimpleNamespace
from typing import Any, TextIO

_END = "\r\n"


def csv_writer(stream: TextIO) -> Any:
    """Return a writer of the ``csv`` module whose lines end in a line feed.

    A carriage return in a cell is quoted, because readers take it for a line end. Before Python
    3.13 the module quotes only the characters of its own line end. Its line end is therefore
    CR LF here, and a line feed is written instead.
    """
    lines: Any = SimpleNamespace(write=lambda line: stream.write(line.removesuffix(_END) + "\n"))
    return csv.writer(lines, lineterminator=_END)
