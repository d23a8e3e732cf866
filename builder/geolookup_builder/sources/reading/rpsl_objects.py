"""RPSL dumps: paragraphs of attributes, a line each, read as columns (RFC 2622, section 2).

Strategy: numpy finds the lines of a block of whole objects and the attribute that each begins
with, and no line becomes a Python object. Continuation lines are joined to their attribute
before. Values are decoded as UTF-8, and as Latin-1 if they are not.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup.dataset.intervals import I64, U8
from geolookup.errors import BuildError
from geolookup_builder.sources.reading.inputs import Member

BLOCK_BYTES = 8 << 20
#: Bytes of one object; the largest in use are sets of routes of some hundred kilobytes.
MAX_OBJECT = 32 << 20
_FEED, _SPACE, _HASH = b"\n #"
_CONTINUED = np.isin(np.arange(256), list(b" \t+"))
_COMMENT = np.isin(np.arange(256), list(b"%#"))
_LONGEST = 16  # characters of an attribute's name that are compared


def blocks(member: Member, stream: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield blocks of whole objects, each with the number of its first line."""
    line, pending = 1, stream.read(len(codecs.BOM_UTF8)).removeprefix(codecs.BOM_UTF8)
    while piece := stream.read(BLOCK_BYTES):
        pending = (pending + piece).replace(b"\r\n", b"\n")
        # An empty line ends an object; ``rfind`` returns -1 without one, so 1 is "no end".
        end = pending.rfind(b"\n\n") + 2
        if end > 1:
            yield line, pending[:end]
            line, pending = line + pending.count(b"\n", 0, end), pending[end:]
        elif len(pending) > MAX_OBJECT:
            problem = f"an object of more than {MAX_OBJECT:,} bytes"
            raise BuildError(member.label, problem, line=line, remedy="fetch it again")
    if pending:
        yield line, pending


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a block: where they begin and end, and the object (paragraph) of each."""

    data: U8  # padded: the longest name is compared at any line
    starts: I64
    ends: I64
    paragraph: I64
    hashes: I64

    def of_attribute(self, name: str) -> I64:
        """Return the lines that begin with an attribute's name, in any case, and a colon."""
        # Letter by letter; most lines are gone after the first one.
        lines = np.arange(len(self.starts))
        for at, letter in enumerate(name.encode() + b":"):
            letters = self.data[self.starts[lines] + at]
            same = letters == letter
            if chr(letter).isalpha():
                # The other case: "a" 0x61 and "A" 0x41.
                same |= letters == letter ^ 0x20
            lines = lines[same]
        return lines

    def values(self, lines: I64, name: str) -> pa.Array:
        """Return the values of lines of an attribute, without comment and without blanks around."""
        begin, end = self.starts[lines] + len(name) + 1, self.ends[lines]
        if len(self.hashes):
            at = np.minimum(np.searchsorted(self.hashes, begin), len(self.hashes) - 1)
            first = self.hashes[at]
            # A hash inside the value begins a comment.
            end = np.where((first >= begin) & (first < end), first, end)
        return _with_single_blanks(pc.utf8_trim_whitespace(_texts(self.data, begin, end)))


def lines_of(block: bytes) -> tuple[Lines, I64]:
    """Return the lines of a block, continued lines joined, and the first line of each, from 0."""
    data = np.frombuffer(block + b"\n" + bytes(_LONGEST), np.uint8).copy()
    text = data[: len(block) + 1]
    before = np.flatnonzero(text == _FEED)
    _join(text, before)
    ends = np.flatnonzero(text == _FEED)
    starts = np.append(0, ends[:-1] + 1)
    hashes = np.flatnonzero(text == _HASH)
    # An empty line has no bytes: each one begins the next paragraph.
    lines = Lines(data, starts, ends, np.cumsum(starts == ends), hashes)
    return lines, np.searchsorted(before, starts)


def _join(text: U8, ends: I64) -> None:
    """Join continuation lines to the line before them, replacing line feeds by blanks."""
    starts = np.append(0, ends[:-1] + 1)
    first = text[starts]
    blank = starts == ends
    is_continuation = _CONTINUED[first] & ~blank
    attribute = ~(blank | _COMMENT[first] | is_continuation)
    # A continuation whose line is a comment or an empty one is not part of an attribute.
    # The last line before that is not a continuation.
    head = np.maximum.accumulate(np.where(is_continuation, -1, np.arange(len(starts))))
    continuations = np.flatnonzero(is_continuation & (head >= 0) & attribute[head])
    if not len(continuations):
        return
    _drop_comments(text, ends, np.unique(continuations - 1))
    text[starts[continuations] - 1] = _SPACE
    text[starts[continuations]] = _SPACE


def _drop_comments(text: U8, ends: I64, lines: I64) -> None:
    """Replace the comments of lines that are continued: they end with their line."""
    hashes = np.flatnonzero(text == _HASH)
    # By hash the line that holds it; then the first hash of each line.
    line = np.searchsorted(ends, hashes)
    of_lines = np.flatnonzero(np.isin(line, lines))
    for at in of_lines[np.unique(line[of_lines], return_index=True)[1]].tolist():
        text[hashes[at] : ends[line[at]]] = _SPACE


def _texts(data: U8, begin: I64, end: I64) -> pa.Array:
    """Return the texts between positions, as UTF-8."""
    offsets = np.concatenate([[0], np.cumsum(end - begin)])
    # Texts at 5-7 and 20-21: 0 1 2 3 4 plus 5 5 5 17 17 is 5 6 7 20 21.
    content = data[np.arange(offsets[-1]) + np.repeat(begin - offsets[:-1], end - begin)]
    # Texts with a byte beyond ASCII are decoded one by one.
    high = np.flatnonzero(content > 127)
    foreign = np.unique(np.searchsorted(offsets, high, side="right") - 1)
    replacements = [_decode(data[begin[row] : end[row]].tobytes()) for row in foreign.tolist()]
    content[high] = _SPACE
    texts = pa.Array.from_buffers(
        pa.large_string(), len(begin), [None, pa.py_buffer(offsets), pa.py_buffer(content)]
    )
    if not replacements:
        return texts
    mask = np.zeros(len(begin), bool)
    mask[foreign] = True
    return pc.replace_with_mask(texts, pa.array(mask), pa.array(replacements, pa.large_string()))


def _with_single_blanks(texts: pa.Array) -> pa.Array:
    """Return the texts with one blank for several, as joined lines have them."""
    if not pc.any(pc.match_substring_regex(texts, r"\s\s")).as_py():
        return texts
    return pc.replace_substring_regex(texts, r"\s+", " ")


def _decode(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


@dataclass(frozen=True, slots=True)
class Objects:
    """The objects of a block that have one of the key attributes, in order."""

    lines: Lines
    keys: I64  # the line of each object's key

    def of(self, name: str) -> tuple[I64, I64]:
        """Return the lines of an attribute in these objects, and the object of each, from 0."""
        lines, paragraph = self.lines.of_attribute(name), self.lines.paragraph
        owner = np.searchsorted(self.keys, lines, side="right") - 1
        lines, owner = lines[owner >= 0], owner[owner >= 0]
        inside = paragraph[self.keys[owner]] == paragraph[lines]
        return lines[inside], owner[inside]

    def first(self, name: str) -> pa.Array:
        """Return the first value of an attribute in each object; null if it has none."""
        lines, owner = self.of(name)
        distinct, at = np.unique(owner, return_index=True)
        # By object the position of its value, -1 without one.
        row = np.full(len(self.keys), -1, np.int64)
        row[distinct] = np.arange(len(distinct))
        values = self.lines.values(lines[at], name)
        return values.take(pa.array(row, mask=row < 0))


def objects(lines: Lines, *names: str) -> tuple[Objects, NDArray[np.int64]]:
    """Return the objects with one of these key attributes, and which one each has."""
    lines_of_names = [lines.of_attribute(name) for name in names]
    keys = np.concatenate(lines_of_names)
    kinds = np.repeat(
        np.arange(len(names)), [len(lines_of_name) for lines_of_name in lines_of_names]
    )
    order = np.argsort(keys)
    return Objects(lines, keys[order]), kinds[order]
