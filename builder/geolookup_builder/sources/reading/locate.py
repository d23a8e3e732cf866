"""Where rejected rows stand in a delimited file: a second pass, over the files that have any.

Strategy: quoted line breaks are followed by the standard CSV reader, which
skips whole records in C.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import islice
from typing import Literal

from geolookup_builder.sources.reading.damage import unlimited_cells
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.layout import Layout
from geolookup_builder.sources.reading.mask import masked
from geolookup_builder.sources.reading.reader import Reject


def locate(member: Member, wanted: dict[int, str], *, layout: Layout) -> Iterator[Reject]:
    """Find records by number, with line and text; the first behind a header is 1."""
    with member.open() as stream, unlimited_cells():
        lines = _Lines(
            io.TextIOWrapper(masked(stream, layout), "utf-8-sig", errors="replace", newline="")
        )
        quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if layout.quoted else csv.QUOTE_NONE
        rows = csv.reader(lines, delimiter=layout.delimiter, quoting=quoting)
        records = filter(None, rows)  # Arrow passes over empty lines too
        passed = 0 if layout.header else 1
        for number, reason in sorted(wanted.items()):
            if number > passed:
                next(islice(records, number - passed - 1, number - passed), None)
            lines.keep()
            next(records, None)
            passed = number + 1
            line, text = lines.kept()
            yield Reject(member.label, line, reason, text)


class _Lines:
    """Lines on their way to the CSV reader: counted, and kept while a wanted record is read."""

    def __init__(self, stream: io.TextIOWrapper) -> None:
        self._stream = stream
        self._count = 0
        self._kept: list[str] | None = None

    def __iter__(self) -> Iterator[str]:
        for line in self._stream:
            self._count += 1
            if self._kept is not None:
                self._kept.append(line)
            yield line

    def keep(self) -> None:
        self._kept = []

    def kept(self) -> tuple[int, str]:
        """Return the first line number and the text of the record, without empty lines before."""
        lines, self._kept = self._kept or [], None
        first = self._count - len(lines) + 1
        blank = next((at for at, line in enumerate(lines) if line.strip("\r\n")), 0)
        return first + blank, "".join(lines[blank:]).rstrip("\r\n")
