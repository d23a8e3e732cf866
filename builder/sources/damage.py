"""Where a text file is damaged: the line behind an error that Arrow reports without one."""

from __future__ import annotations

import codecs

import pyarrow as pa

from builder.errors import BuildError
from builder.inputs import Member

_CHUNK = 1 << 20


def arrow_failure(member: Member, error: pa.ArrowInvalid) -> BuildError:
    """Return the error to raise for what Arrow could not parse."""
    line = _first_bad_line(member)
    if line is not None:
        return BuildError(member.label, "not UTF-8", line=line, remedy="convert it to UTF-8")
    problem = f"not CSV ({str(error).splitlines()[0]})"
    return BuildError(member.label, problem, remedy="check that the file is whole")


def _first_bad_line(member: Member) -> int | None:
    """Return the line of the first byte that is not UTF-8, or None."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    line = 1
    with member.open() as stream:
        while chunk := stream.read(_CHUNK):
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError as error:
                return line + error.object[: error.start].count(b"\n")
            line += chunk.count(b"\n")
        try:
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return line
    return None
