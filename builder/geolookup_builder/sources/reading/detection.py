"""How readers say that a file is theirs, for ``format = "auto"``.

Strategy: the beginning of a file is read once and held in memory; each format judges it by the
checks that its reader makes anyway. Where the content fits several formats, a name that is
the vendor's own counts for more.
"""

from __future__ import annotations

import io
import re
from contextlib import AbstractContextManager
from dataclasses import dataclass

from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.layout import Layout
from geolookup_builder.sources.reading.mask import masked
from geolookup_builder.sources.reading.sniff import ADDRESS, Sample, sample

_START_BYTES = 1 << 17  # no more than the standard CSV reader takes as one cell
_END_BYTES = 1 << 17
_RANGE = re.compile(rf"({ADDRESS.pattern})(/[0-9]+)?|[0-9A-Fa-f]+")


@dataclass(frozen=True, slots=True)
class Claim:
    """That a file is of a format: what of it, and whether its name says so too."""

    reason: str
    named: bool = False


@dataclass(frozen=True, slots=True)
class Opening:
    """A member, and its beginning (whole lines) as a member of its own that is cheap to read."""

    member: Member
    start: Member

    @property
    def first_line(self) -> str:
        """The first line, for messages."""
        with self.start.open() as stream:
            return stream.readline().decode("utf-8-sig", "replace").rstrip("\r\n")


def opening(member: Member) -> Opening:
    """Read the beginning of a member; BuildError where it cannot be read."""
    with member.open() as stream:
        data = stream.read(_START_BYTES)
    if len(data) == _START_BYTES:
        data = data[: data.rfind(b"\n") + 1] or data

    def opener() -> AbstractContextManager[io.BytesIO]:
        return io.BytesIO(data)

    return Opening(member, Member(member.label, opener))


def ending(member: Member) -> bytes:
    """Return the last bytes of a member; what is packed has to be read through."""
    with member.open() as stream:
        if isinstance(stream, io.BufferedReader):
            stream.seek(max(0, stream.seek(0, io.SEEK_END) - _END_BYTES))
        last = b""
        while block := stream.read(_END_BYTES):
            last = (last + block)[-_END_BYTES:]
    return last


def lines_fit(start: Member, layout: Layout, pattern: re.Pattern[str]) -> bool:
    """Return whether the first and most other lines that are rows are as ``pattern`` has them."""
    with start.open() as stream:
        text = masked(stream, layout).read().decode("utf-8-sig", "replace")
    rows = [line for line in text.splitlines() if line.strip()]
    fitting = [pattern.fullmatch(line) is not None for line in rows]
    return fitting[:1] == [True] and 2 * sum(fitting) > len(rows)


def without_header(start: Member) -> Sample | None:
    """Return the first records of a file whose first one is no header but has a range."""
    found = sample(start)
    return found if _RANGE.fullmatch(found.records[0][1][0]) else None
