"""Text for people on standard output: its width, encoding and colours, and tables.

Strategy: cells are aligned in columns if the lines fit the terminal. Columns become wider while
rows arrive, never narrower. If a line does not fit, its row takes several lines.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from geolookup.cli import require_output
from geolookup.errors import line_text
from geolookup.terminal import own_sequence

UNKNOWN = "-"
_LOCALE = ("LC_ALL", "LC_CTYPE", "LANG")  # the first that is set decides (POSIX)
_GAP, _INDENT = "  ", "  "
_UNLIMITED = 1 << 30
#: The most characters of a text that is not an address; the longest addresses have as many.
_LONGEST = 45


def charset() -> str:
    """Return the encoding of standard output.

    Python writes UTF-8 in the locales C and POSIX (PEP 540). A terminal that was told to be one
    of these has ASCII. Without a locale the terminal is unknown: nearly all have UTF-8.
    """
    locale = next((os.environ[name] for name in _LOCALE if os.environ.get(name)), "")
    encoding = os.environ.get("PYTHONIOENCODING") or os.environ.get("PYTHONUTF8")
    if locale in ("C", "POSIX") and not encoding:
        return "ascii"
    return sys.stdout.encoding


def has_flags(encoding: str) -> bool:
    """Return whether flags can be shown; the console of Linux has a font without them."""
    return _can_write("🇺", encoding) and os.environ.get("TERM") not in ("linux", "dumb")


def _can_write(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def in_charset(text: str, encoding: str) -> str:
    """Return text in which letters outside the encoding lose their accents, or become ``?``."""
    from geolookup.contract.display import without_marks

    if _can_write(text, encoding):
        return text
    forms = ((letter, without_marks(letter), "?") for letter in text)
    return "".join([next(form for form in of if _can_write(form, encoding)) for of in forms])


def width_of(text: str) -> int:
    """Return the columns of a terminal that text takes (Unicode Standard Annex 11).

    A flag takes two columns: each of its two regional indicator symbols takes one.
    """
    return len(text) if text.isascii() else sum(map(_width, text))


def _width(letter: str) -> int:
    import unicodedata

    if unicodedata.combining(letter) or unicodedata.category(letter) == "Cf":
        return 0
    return 2 if unicodedata.east_asian_width(letter) in ("W", "F") else 1


def has_colours() -> bool:
    """Return whether the output is a terminal on which colours are wanted (no-color.org)."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stdout is not None and sys.stdout.isatty() and not plain


def style(text: str, **attributes: Any) -> str:
    """Return text with the attributes of ``click.style``, for standard output."""
    import click  # here: a pipe gets no colours

    before = click.style("", reset=False, **attributes)
    # Only the two sequences are ours: a terminal's filter escapes others in the text.
    return own_sequence(before, sys.stdout) + text + own_sequence(click.style(""), sys.stdout)


def value_text(value: Any) -> str:
    """Return a value as text: yes or no, the items of a list, a dash if it is unknown."""
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) if isinstance(value, list) else str(value)


class Table:
    """Rows as lines for standard output, in its encoding, width and colours.

    ``names`` are the names of the columns; empty if the cells explain themselves. Lines that do
    not fit a terminal are folded, unless ``folds`` is false.
    """

    def __init__(self, names: Sequence[str] = (), *, folds: bool = True) -> None:
        self.encoding = charset()
        self._names, self._has_colours = names, has_colours()
        is_limited = folds and sys.stdout.isatty()
        from shutil import get_terminal_size  # its import takes long

        self._limit = get_terminal_size().columns if is_limited else _UNLIMITED
        self._widths = [width_of(name) for name in names]
        self._is_begun = not names

    def encode(self, rows: Iterable[tuple[Sequence[str], bool]]) -> bytes:
        """Return the lines of rows, each with whether it is an error, as bytes."""
        encoded = [(self._encodable(cells), is_error) for cells, is_error in rows]
        for cells, _ in encoded:
            widths = self._widths or [0] * len(cells)
            self._widths = [*map(max, widths, map(width_of, cells))]
        lines = [line for cells, is_error in encoded for line in self._lines(cells, is_error)]
        return "".join([f"{line}\n" for line in lines]).encode(self.encoding, "replace")

    def short_text(self, text: str) -> str:
        """Return a text that was looked up, shortened to the longest address."""
        line = line_text(text)
        return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"

    def _encodable(self, cells: Iterable[str]) -> list[str]:
        return [in_charset(line_text(cell), self.encoding) for cell in cells]

    def _lines(self, cells: list[str], is_error: bool) -> Iterator[str]:
        if sum(self._widths) + len(_GAP) * (len(cells) - 1) <= self._limit:
            if not self._is_begun:
                yield self._style(self._columns(self._names), bold=True)
                self._is_begun = True
            lines = iter([self._columns(cells)])
        else:
            lines = self._flowing(cells)
        if is_error:
            yield from (self._style(line, fg="red") for line in lines)
        else:
            first = next(lines)
            yield self._style(cells[0], bold=True) + first[len(cells[0]) :]
            yield from lines

    def _columns(self, cells: Sequence[str]) -> str:
        padded = (
            cell + " " * (width - width_of(cell))
            for cell, width in zip(cells, self._widths, strict=True)
        )
        return _GAP.join(padded).rstrip()

    def _flowing(self, cells: list[str]) -> Iterator[str]:
        """Yield lines that are filled with cells; those after the first are indented."""
        line, *others = cells
        if self._names:
            others = [f"{name} {cell}" for name, cell in zip(self._names[1:], others, strict=True)]
        for cell in others:
            if width_of(line) + len(_GAP) + width_of(cell) <= self._limit:
                line += _GAP + cell
            else:
                yield line
                line = _INDENT + cell
        yield line

    def _style(self, text: str, **attributes: Any) -> str:
        return style(text, **attributes) if self._has_colours else text


def print_table(rows: Iterable[Sequence[str]], names: Sequence[str] = ()) -> None:
    """Print rows under the names of their columns, a line each."""
    import click  # here: ``geolookup IP`` starts without it

    require_output("the table is written there")
    click.echo(Table(names, folds=False).encode((row, False) for row in rows), nl=False)
