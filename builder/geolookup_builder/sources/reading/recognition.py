"""What a file is, by its first and last bytes.

A reader of text calls ``check_text`` before it reads: an error about bytes that are no text would
not name the cause.
"""

from __future__ import annotations

import codecs
import io

from geolookup.errors import BuildError
from geolookup.filesystem.signatures import END_BYTES, START_BYTES, Kind, is_binary, looks_like
from geolookup_builder.sources.reading.inputs import Member

_OPENING_BYTES = 1 << 10


def begins_object(member: Member) -> bool:
    """Return whether the first character of a file that is not a blank begins a JSON object."""
    with member.open() as stream:
        start: bytes = stream.read(_OPENING_BYTES)
    return start.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"{")


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
    """Return what a member looks like; None for a text and for an unknown kind."""
    with member.open() as stream:
        start: bytes = stream.read(START_BYTES)
    return looks_like(start, ending(member) if is_binary(start) else b"")


def check_text(member: Member) -> None:
    """Raise BuildError where a member is of a known kind other than text."""
    kind = recognised(member)
    if kind is not None:
        raise misnamed(member.label, kind)


def misnamed(label: str, kind: Kind) -> BuildError:
    """Return the error for a file of another kind than expected."""
    return BuildError(label, f"this looks like {kind.name}", remedy=kind.remedy)
