"""What a file is that a text was expected in, and the end of a file.

A reader of text calls ``check_text`` before it reads: whatever it made of other bytes, its error
would not name the cause.
"""

from __future__ import annotations

import io

from geolookup.errors import BuildError
from geolookup.filesystem.signatures import END_BYTES, START_BYTES, Kind, is_binary, looks_like
from geolookup_builder.sources.reading.inputs import Member


def ending(member: Member) -> bytes:
    """Return the last bytes of a member; a compressed one is read through."""
    with member.open() as stream:
        if isinstance(stream, io.BufferedReader):
            stream.seek(max(0, stream.seek(0, io.SEEK_END) - END_BYTES))
        last = b""
        while block := stream.read(END_BYTES):
            last = (last + block)[-END_BYTES:]
    return last


def recognised(member: Member) -> Kind | None:
    """Return what a member looks like; None for a text, and for what is not known."""
    with member.open() as stream:
        start: bytes = stream.read(START_BYTES)
    return looks_like(start, ending(member) if is_binary(start) else b"")


def check_text(member: Member) -> None:
    """Raise BuildError where a member is no text, but of a known kind."""
    kind = recognised(member)
    if kind is not None:
        raise misnamed(member.label, kind)


def misnamed(label: str, kind: Kind) -> BuildError:
    """Return the error for a file of another kind than expected."""
    return BuildError(label, f"this looks like {kind.name}", remedy=kind.remedy)
