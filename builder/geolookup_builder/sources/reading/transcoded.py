"""Text of another encoding, read as UTF-8: for feeds that their makers wrote by hand."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from geolookup.errors import BuildError
from geolookup_builder.recipe import SourceSpec
from geolookup_builder.sources.reading.inputs import Member

_BLOCK_BYTES = 1 << 20


def encoding(spec: SourceSpec) -> str | None:
    """Return the encoding that the recipe states, checked, or None for what the file shows."""
    name = spec.options.get("encoding")
    if name is None:
        return None
    try:
        "".encode(name)
    except (LookupError, ValueError, TypeError) as error:
        problem = f"unknown encoding {name!r}"
        remedy = 'name one such as "utf-16" or "shift_jis"'
        raise BuildError(spec.recipe, problem, remedy=remedy) from error
    return str(name)


def transcoded(member: Member, stated: str | None) -> Member:
    """Return the member as UTF-8; the same where no encoding is stated or marked."""
    name = stated or _marked(member)
    if name is None:
        return member

    @contextmanager
    def opened() -> Iterator[IO[bytes]]:
        with member.open() as stream:
            yield _Recoded(stream, member.label, name)  # type: ignore[misc]

    return Member(member.label, opened)


def _marked(member: Member) -> str | None:
    """Return UTF-16 where a byte order mark says so: no text in UTF-8 begins like that."""
    with member.open() as stream:
        mark = stream.read(2)
    return "utf-16" if mark in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else None


class _Recoded(io.RawIOBase):
    """A stream of UTF-8 made of one in another encoding."""

    def __init__(self, stream: IO[bytes], label: str, encoding: str) -> None:
        super().__init__()
        self._stream, self._label, self._encoding = stream, label, encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._ready, self._line = b"", 1

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        block = b" "
        while block and (size < 0 or len(self._ready) < size):
            block = self._stream.read(_BLOCK_BYTES)
            self._ready += self._recoded(block)
        cut = len(self._ready) if size < 0 else size
        data, self._ready = self._ready[:cut], self._ready[cut:]
        return data

    def _recoded(self, block: bytes) -> bytes:
        try:
            data = self._decoder.decode(block, final=not block).encode()
        except UnicodeError as error:
            remedy = "correct source.encoding in the recipe"
            problem = f"not {self._encoding} after line {self._line:,}"
            raise BuildError(self._label, problem, remedy=remedy) from error
        self._line += data.count(b"\n")
        return data
