"""The table of ``geolookup lookup``: answers for people.

Strategy: cells are aligned in columns if the lines fit the terminal. Columns become wider while
answers arrive, never narrower. If a line does not fit, its answer takes several lines.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from geolookup.cli.answer_formats import parse, value
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
from geolookup.contract.fields import OWN
from geolookup.errors import line_text

if TYPE_CHECKING:
    from geolookup.cli.address_input import Block
    from geolookup.cli.answer_formats import Reader
    from geolookup.contract.fields import Field
    from geolookup.engine import Engine

_GAP, _INDENT = "  ", "  "
_UNLIMITED = 1 << 30
_UNKNOWN = "-"
#: The most characters of a text that is not an address; the longest addresses have as many.
_LONGEST = 45
#: Makes the cells of an envelope and of the address that was looked up.
Cells = Callable[[dict[str, Any], str], list[str]]


class Table:
    """Answers as lines of text.

    ``cells`` returns the cells of an envelope, the address first, in any encoding. ``names`` are
    the names of the columns; empty if the cells explain themselves. Errors are rows too.
    """

    def __init__(self, cells: Cells, names: Sequence[str], read: Reader = parse) -> None:
        self._cells, self._names, self._read = cells, names, read
        self._encoding, self._has_colours = charset(), has_colours()
        is_terminal = sys.stdout.isatty()
        self._limit = shutil.get_terminal_size().columns if is_terminal else _UNLIMITED
        self._widths = [width_of(name) for name in names]
        self._is_begun = not names

    def __call__(self, answers: bytes, block: Block) -> bytes:
        """See ``answer_formats.Format``."""
        rows = list(self._rows(answers, block))
        self._widen([cells for cells, _ in rows])
        lines = [line for cells, is_error in rows for line in self._lines(cells, is_error)]
        return "".join([line + "\n" for line in lines]).encode(self._encoding, "replace")

    def tells(self, _block: Block) -> bool:
        """See ``answer_formats.Format``: a line of the table names the error."""
        return False

    def _rows(self, answers: bytes, block: Block) -> Iterator[tuple[list[str], bool]]:
        """Yield the cells of each answer, and whether it is an error."""
        # Of a damaged dataset there are fewer answers.
        for envelope, text in zip(self._read(answers, block), block.addresses(), strict=False):
            address = shorten(line_text(str(text)), _LONGEST, self._encoding)
            yield [*map(self._line, self._cells(envelope, address))], envelope["error"]

    def _line(self, text: str) -> str:
        return in_charset(line_text(text), self._encoding)

    def _widen(self, rows: Sequence[list[str]]) -> None:
        for cells in rows:
            widths = self._widths or [0] * len(cells)
            self._widths = [
                max(width, width_of(cell)) for width, cell in zip(widths, cells, strict=True)
            ]

    def _lines(self, cells: list[str], is_error: bool) -> Iterator[str]:
        if sum(self._widths) + len(_GAP) * (len(cells) - 1) <= self._limit:
            if not self._is_begun:
                yield self._style(self._columns(self._names), bold=True)
                self._is_begun = True
            lines = iter([self._columns(cells)])
        else:
            lines = self._list_cells(cells) if self._names else self._flowing(cells)
        if is_error:
            yield from (self._style(line, fg="red") for line in lines)
        else:
            first = next(lines)
            yield self._style(cells[0], bold=True) + first[len(cells[0]) :]
            yield from lines

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

    def _style(self, text: str, **attributes: Any) -> str:
        return style(text, **attributes) if self._has_colours else text


def overview(engine: Engine) -> Cells:
    """Return a function to cells: address, place, local time, network, prefix, own columns."""
    with_flag = has_flags(charset())

    def cells(envelope: dict[str, Any], address: str) -> list[str]:
        data, own = envelope["data"], [own_text(envelope)] if OWN in envelope else []
        if data is None:
            return [address, envelope["error_message"], *[_UNKNOWN] * 3, *own]
        return [
            data["ip"],
            _place_text(data["location"], with_flag=with_flag),
            _local_time(data["time"]),
            network_name(data["network"]) or _UNKNOWN,
            str(engine.answer(data["ip"]).prefix),
            *own,
        ]

    return cells


def values(fields: tuple[Field, ...]) -> Cells:
    """Return a function to cells: the address, then the values of fields."""

    def cells(envelope: dict[str, Any], address: str) -> list[str]:
        # Own columns are known for private addresses too.
        if envelope["data"] is None and not envelope.get(OWN):
            message, others = envelope["error_message"], [_UNKNOWN] * (len(fields) - 1)
            return [address, message, *others] if fields else [f"{address}: {message}"]
        address = (envelope["data"] or envelope)["ip"]
        return [address, *(value_text(value(envelope, field)) for field in fields)]

    return cells


def own_text(envelope: dict[str, Any]) -> str:
    """Return the own columns that are known, under their heading."""
    known = {name: item for name, item in (envelope[OWN] or {}).items() if item is not None}
    texts = [f"{name} {value_text(item)}" for name, item in known.items()]
    return f"own: {', '.join(texts) or _UNKNOWN}"


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
