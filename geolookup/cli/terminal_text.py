"""Text on a terminal: its width in columns, and the characters that it can show."""

from __future__ import annotations

import os
import sys
from typing import Any

from geolookup.terminal import own_sequence

_UTF_8 = "utf-8"
_UNKNOWN = "-"
_LOCALE = ("LC_ALL", "LC_CTYPE", "LANG")  # the first that is set decides (POSIX)


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
    return _is_utf_8(encoding) and os.environ.get("TERM") not in ("linux", "dumb")


def in_charset(text: str, encoding: str) -> str:
    """Return text in which letters outside the encoding lose their accents, or become ``?``."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join([_in_charset(letter, encoding) for letter in text])
    return text


def _in_charset(letter: str, encoding: str) -> str:
    from geolookup.contract.display import without_marks

    for plain in (letter, without_marks(letter)):
        try:
            plain.encode(encoding)
        except UnicodeEncodeError:
            continue
        return plain
    return "?"


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


def pad(text: str, width: int) -> str:
    """Return text with spaces after it, up to a width."""
    return text + " " * (width - width_of(text))


def shorten(text: str, width: int, encoding: str) -> str:
    """Return text that fits a width; an ellipsis marks the cut."""
    if width_of(text) <= width:
        return text
    ellipsis = "…" if _is_utf_8(encoding) else "..."
    while text and width_of(text) + len(ellipsis) > width:
        text = text[:-1]
    return text.rstrip() + ellipsis


def _is_utf_8(encoding: str) -> bool:
    return encoding.casefold().replace("_", "-") in (_UTF_8, "utf8")


def has_colours() -> bool:
    """Return whether the output is a terminal on which colours are wanted (no-color.org)."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stdout.isatty() and not plain


def style(text: str, **attributes: Any) -> str:
    """Return text with the attributes of ``click.style``, for standard output."""
    import click  # here: a pipe gets no colours

    before = click.style("", reset=False, **attributes)
    # Only the two sequences are ours: a terminal's filter escapes others in the text.
    return own_sequence(before, sys.stdout) + text + own_sequence(click.style(""), sys.stdout)


def value_text(value: Any) -> str:
    """Return a value as text: yes or no, the items of a list, a dash if it is unknown."""
    if value is None:
        return _UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) if isinstance(value, list) else str(value)
