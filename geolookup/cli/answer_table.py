"""The table of ``geolookup lookup``: answers for people.

Strategy: cells are aligned in columns if the lines fit the terminal. Columns become wider while
answers arrive, never narrower. If a line does not fit, its answer takes several lines.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from geolookup.cli.answer_formats import parse
from geolookup.cli.terminal_text import (
    charset,
    has_colours,
    has_flags,
    in_charset,
    pad,
    shorten,
    style,
    value_text,
    width_of,
)
from geolookup.contract.display import network_name, place_name
from geolookup.contract.fields import value_in
from geolookup.errors import line_text

if TYPE_CHECKING:
    from geolookup.cli.address_input import Block
    from geolookup.contract.fields import Field
    from geolookup.engine import Engine

_GAP, _INDENT = "  ", "  "
_UNLIMITED = 1 << 30
_UNKNOWN = "-"
#: Makes the cells of an answer's data.
Cells = Callable[[dict[str, Any]], list[str]]


class Table:
    """Answers as lines of text.

    ``cells`` returns the cells of an answer's data, the address first, in any encoding. ``names``
    are the names of the columns; empty if the cells explain themselves.
    """

    def __init__(self, cells: Cells, names: Sequence[str]) -> None:
        self._cells, self._names = cells, names
        self._encoding, self._has_colours = charset(), has_colours()
        is_terminal = sys.stdout.isatty()
        self._limit = shutil.get_terminal_size().columns if is_terminal else _UNLIMITED
        self._widths = [width_of(name) for name in names]
        self._is_begun = not names

    def __call__(self, answers: bytes, block: Block) -> bytes:
        """See ``answer_formats.Format``."""
        rows = list(self._rows(answers, block))
        self._widen([row for row in rows if not isinstance(row, str)])
        lines = [line for row in rows for line in self._lines(row)]
        return "".join([line + "\n" for line in lines]).encode(self._encoding, "replace")

    def tells(self, _block: Block) -> bool:
        """See ``answer_formats.Format``: a line of the table names the error."""
        return False

    def _rows(self, answers: bytes, block: Block) -> Iterator[list[str] | str]:
        """Yield the cells of each answer, or the line of an error."""
        for envelope, position in zip(parse(answers), block.positions(), strict=False):
            if envelope["data"] is None:
                yield f"{position}: {envelope['error_message']}"
            else:
                cells = map(line_text, self._cells(envelope["data"]))
                yield [in_charset(cell, self._encoding) for cell in cells]

    def _widen(self, rows: Sequence[list[str]]) -> None:
        for cells in rows:
            widths = self._widths or [0] * len(cells)
            self._widths = [
                max(width, width_of(cell)) for width, cell in zip(widths, cells, strict=True)
            ]

    def _lines(self, row: list[str] | str) -> Iterator[str]:
        if isinstance(row, str):
            yield self._style(shorten(row, self._limit, self._encoding), fg="red")
        elif sum(self._widths) + len(_GAP) * (len(row) - 1) <= self._limit:
            yield from self._align(row)
        else:
            first, *others = self._list_cells(row) if self._names else self._flowing(row)
            yield self._emphasize(first, row[0])
            yield from others

    def _align(self, cells: list[str]) -> Iterator[str]:
        if not self._is_begun:
            yield self._style(self._columns(self._names), bold=True)
            self._is_begun = True
        yield self._emphasize(self._columns(cells), cells[0])

    def _columns(self, cells: Sequence[str]) -> str:
        return _GAP.join(map(pad, cells, self._widths)).rstrip()

    def _list_cells(self, cells: list[str]) -> Iterator[str]:
        """Yield a line for the address, then one for each named cell."""
        width = max(map(width_of, self._names))
        yield cells[0]
        for name, cell in zip(self._names[1:], cells[1:], strict=True):
            yield self._short(f"{_INDENT}{pad(name, width)}{_GAP}{cell}")

    def _flowing(self, cells: list[str]) -> Iterator[str]:
        """Yield lines that are filled with cells; those after the first are indented."""
        line, *others = cells
        for cell in others:
            if width_of(line) + len(_GAP) + width_of(cell) <= self._limit:
                line += _GAP + cell
            else:
                yield line
                line = self._short(_INDENT + cell)
        yield line

    def _short(self, line: str) -> str:
        return shorten(line, self._limit, self._encoding)

    def _emphasize(self, line: str, first: str) -> str:
        return self._style(first, bold=True) + line[len(first) :]

    def _style(self, text: str, **attributes: Any) -> str:
        return style(text, **attributes) if self._has_colours else text


def overview(engine: Engine) -> Cells:
    """Return a function to the cells of data: address, place, local time, network, prefix."""
    with_flag = has_flags(charset())

    def cells(data: dict[str, Any]) -> list[str]:
        return [
            data["ip"],
            _place_text(data["location"], with_flag=with_flag),
            _local_time(data["time"]),
            network_name(data["network"]) or _UNKNOWN,
            str(engine.answer(data["ip"]).prefix),
        ]

    return cells


def values(fields: tuple[Field, ...]) -> Cells:
    """Return a function to the cells of data: the address, then the values of fields."""

    def cells(data: dict[str, Any]) -> list[str]:
        return [data["ip"], *(value_text(value_in(data, field)) for field in fields)]

    return cells


def _place_text(location: dict[str, Any], *, with_flag: bool) -> str:
    flag = location["country_flag_emoji"] if with_flag else None
    name = place_name(location) or "location unknown"
    return f"{flag} {name}" if flag else name


def _local_time(time: dict[str, Any]) -> str:
    """Return date, time to the minute, and the zone by its abbreviation, or by its offset."""
    if time["current_time"] is None:
        return _UNKNOWN
    date, _, clock = time["current_time"].partition("T")
    abbr = time["abbr"] if time["abbr"].isalpha() else f"UTC{time['utc_offset']}"
    return f"{date} {clock[:5]} {abbr}"
