"""The facts that a country code implies: names, numbers, currency and zone.

``geolookup_builder.reference.generators`` has the scripts that make the tables.

``credits.csv`` has the sources of these tables and their licences: of the table of countries, which
is part of every dataset, and of each field that ``enrichment`` fills.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from geolookup.errors import BuildError, near_match
from geolookup.filesystem import open_regular
from geolookup.filesystem.unpacking import reading_errors

Row = dict[str, str]
_CREDITS = ("table", "name", "licence", "attribution", "url")


@cache
def credits_of(table: str) -> list[Row]:
    """Return the credits of ``countries``, or of the field that a finder fills."""
    rows = [row for _, row in read_table(Path(__file__).with_name("credits.csv"), _CREDITS)]
    return [{name: row[name] for name in _CREDITS[1:]} for row in rows if row["table"] == table]


def read_table(source: Path, columns: Sequence[str]) -> Iterator[tuple[int, Row]]:
    """Yield line and cells of each row of a UTF-8 CSV file with these columns, in any order.

    Nothing is interpreted: an empty cell is an empty string, ``NA`` is a text (Namibia, North
    America). Raises ``BuildError`` with the line for a file that is not such a table.
    """
    reader = csv.reader(io.StringIO(_text(source), newline=""), strict=True)
    try:
        header = next(reader, [])
        _check_header(source, header, columns)
        for cells in reader:
            yield reader.line_num, _row(source, reader.line_num, header, cells)
    except csv.Error as error:
        problem, remedy = f"not CSV: {error}", "quote cells with quotes in them"
        raise BuildError(source, problem, line=reader.line_num, remedy=remedy) from error


def _text(source: Path) -> str:
    with reading_errors(str(source)), open_regular(source) as stream:
        content = stream.read()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise BuildError(source, "not UTF-8", line=line, remedy="save it as UTF-8") from error


def _check_header(source: Path, header: list[str], columns: Sequence[str]) -> None:
    for name in header:
        if name not in columns:
            remedy = near_match(name, columns)
            raise BuildError(source, f"unknown column {name!r}", line=1, remedy=remedy)
    if sorted(header) != sorted(columns):
        remedy = f"write each of {','.join(columns)} once, with empty cells if unknown"
        raise BuildError(source, "missing or repeated columns", line=1, remedy=remedy)


def _row(source: Path, line: int, header: list[str], cells: list[str]) -> Row:
    if len(cells) != len(header):
        problem = f"{len(cells)} cells under {len(header)} columns"
        raise BuildError(source, problem, line=line, remedy="quote cells with commas in them")
    row = dict(zip(header, cells, strict=True))
    for column, cell in row.items():
        # Not str.isprintable(): CLDR's symbol of the CFA franc contains a no-break space.
        if cell != cell.strip() or any(character < " " for character in cell):
            problem = f"spaces around, or control characters in, {column} {cell!r}"
            raise BuildError(source, problem, line=line, remedy="remove them")
    return row
