"""How a delimited text file is cut into rows and cells."""

from __future__ import annotations

import re
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Layout:
    """A delimited file: its columns in order, and its punctuation.

    ``texts`` are the columns read as plain text (ranges, keys of joins); the
    other columns of ``wanted`` are dictionary-encoded, and what is in neither
    is not read. ``mask`` matches, in bytes, the lines that are no rows
    (comments, summaries), each with its line break; they read as empty lines,
    so that line numbers stay. ``not_utf8`` is the remedy for another encoding.
    """

    names: tuple[str, ...]
    texts: frozenset[str]
    wanted: frozenset[str]
    header: bool = True
    delimiter: str = ","
    quoted: bool = True
    mask: re.Pattern[bytes] | None = field(default=None)
    not_utf8: str = "convert it to UTF-8"
