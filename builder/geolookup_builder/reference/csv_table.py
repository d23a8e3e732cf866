"""A strict reader of small CSV tables with a fixed set of columns.

Nothing is interpreted: an empty cell is an empty string, ``NA`` is a text (Namibia, North
America). Any error names its line.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import IO, TYPE_CHECKING

from geolookup.errors import BuildError, near_match
from geolookup.filesystem import open_regular

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from importlib.resources.abc import Traversable

Row = dict[str, str]


def read_table(source: Path | Traversable, columns: Sequence[str]) -> Iterator[tuple[int, Row]]:
    """Yield line and cells of each row of a UTF-8 CSV file with these columns, in any order.

    Raises ``BuildError`` for a file that is not such a table.
    """
    reader = csv.reader(io.StringIO(_text(source), newline=""), strict=True)
    header: list[str] | None = None
    try:
        for cells in reader:
            if header is None:
                header = _header(source, cells, columns)
            else:
                yield reader.line_num, _row(source, reader.line_num, header, cells)
    except csv.Error as error:
        problem, remedy = f"not CSV: {error}", "quote cells with quotes in them"
        raise BuildError(str(source), problem, line=reader.line_num, remedy=remedy) from error
    if header is None:
        raise BuildError(str(source), "empty file", remedy=f"write the header {','.join(columns)}")


def _text(source: Path | Traversable) -> str:
    try:
        with _open(source) as stream:
            content = stream.read()
    except (OSError, ValueError) as error:  # ValueError: NUL in the name
        problem = getattr(error, "strerror", None) or str(error)
        remedy = "check its name and permissions"
        raise BuildError(str(source), f"cannot be read: {problem}", remedy=remedy) from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise BuildError(str(source), "not UTF-8", line=line, remedy="save it as UTF-8") from error


def _open(source: Path | Traversable) -> IO[bytes]:
    return open_regular(source) if isinstance(source, Path) else source.open("rb")


def _header(source: Path | Traversable, cells: list[str], columns: Sequence[str]) -> list[str]:
    for position, name in enumerate(cells):
        if name not in columns:
            remedy = near_match(name, columns)
            raise BuildError(str(source), f"unknown column {name!r}", line=1, remedy=remedy)
        if name in cells[:position]:
            raise BuildError(str(source), f"repeated column {name}", line=1, remedy="keep one")
    if missing := [name for name in columns if name not in cells]:
        problem = f"missing column {', '.join(missing)}"
        raise BuildError(str(source), problem, line=1, remedy="add it, with empty cells if unknown")
    return cells


def _row(source: Path | Traversable, line: int, header: list[str], cells: list[str]) -> Row:
    if len(cells) != len(header):
        problem = f"{len(cells)} cells under {len(header)} columns"
        raise BuildError(str(source), problem, line=line, remedy="quote cells with commas in them")
    row = dict(zip(header, cells, strict=True))
    for column, cell in row.items():
        # Not str.isprintable(): CLDR's symbol of the CFA franc contains a no-break space.
        if cell != cell.strip() or any(character < " " for character in cell):
            problem = f"spaces around, or control characters in, {column} {cell!r}"
            raise BuildError(str(source), problem, line=line, remedy="remove them")
    return row
