"""A JSON document that is read whole: one object, with arrays of entries in it.

Such files are small beside tables of ranges. The limits bound the memory that a hostile one takes:
Python's objects take many times the bytes of their text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from geolookup.errors import BuildError
from geolookup_builder.ranges import ParsedRanges
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.reader import (
    REJECT_CHARACTERS,
    Batch,
    RecordNumbers,
    Reject,
)
from geolookup_builder.sources.reading.text import Layout
from geolookup_builder.text_lists import is_text

#: Bytes of a document, and values in it, counted as its commas and opening brackets. As objects
#: the values take at most two gigabytes.
MAX_BYTES = 256 << 20
MAX_VALUES = 16 << 20
_START_BYTES = 1 << 17  # in which keys are looked for
_FETCH_AGAIN = "fetch it again"


def has_keys(member: Member, keys: Iterable[str]) -> bool:
    """Return whether all of these keys are near the beginning of a document."""
    with member.open() as stream:
        start: bytes = stream.read(_START_BYTES)
    return all(f'"{key}"'.encode() in start for key in keys)


def document(member: Member) -> dict[str, Any]:
    """Read a document; BuildError if it is not a JSON object, or beyond the limits."""
    with member.open() as stream:
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        problem = f"a JSON document of more than {MAX_BYTES:,} bytes"
        raise BuildError(member.label, problem, remedy="split it into several files")
    if sum(map(data.count, (b",", b"{", b"["))) > MAX_VALUES:
        problem = f"a JSON document of more than {MAX_VALUES:,} values"
        raise BuildError(member.label, problem, remedy="split it into several files")
    value = _parse(member, data)
    if not isinstance(value, dict):
        raise BuildError(member.label, "not a JSON object", remedy=_FETCH_AGAIN)
    return value


def _parse(member: Member, data: bytes) -> Any:
    try:
        return json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = 1 + data.count(b"\n", 0, error.start)
        raise BuildError(
            member.label, "not UTF-8", line=line, remedy="convert it to UTF-8"
        ) from error
    except json.JSONDecodeError as error:
        problem = f"not JSON ({error.msg})"
        raise BuildError(member.label, problem, line=error.lineno, remedy=_FETCH_AGAIN) from error
    except (ValueError, RecursionError) as error:  # a number of 4,301 digits, or deep nesting
        problem = f"not JSON that can be read ({type(error).__name__})"
        raise BuildError(member.label, problem, remedy=_FETCH_AGAIN) from error


def entries(member: Member, holder: object, key: str) -> list[Any]:
    """Return the array at ``key`` of an object; BuildError if there is none."""
    array = holder.get(key) if isinstance(holder, Mapping) else None
    if not isinstance(array, list):
        raise BuildError(member.label, f"no array {key!r} in it", remedy=_FETCH_AGAIN)
    return array


def value(entry: object, key: str) -> Any:
    """Return the value at ``key`` of an entry; None if it is not an object or lacks the key."""
    return entry.get(key) if isinstance(entry, Mapping) else None


def texts(values: Iterable[object]) -> pa.Array:
    """Return texts and numbers; null for null, and the name of its type for any other value.

    The name is neither an address nor a number, and is counted as such.
    """
    return pa.array([_text(value) for value in values], pa.large_string())


def _text(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, list | dict):
        return type(value).__name__
    text = str(value)
    return text if is_text(text) else text.encode("utf-8", "replace").decode()


def batch(
    member: Member,
    layout: Layout,
    read_entries: Callable[[], Sequence[object]],
    ranges: ParsedRanges,
    fields: Mapping[str, pa.DictionaryArray],
) -> Batch:
    """Return a batch of all entries; ``read_entries`` reads them again, to show those rejected."""

    def find_rejects(file: Member, reasons: dict[int, str]) -> Iterator[Reject]:
        entries = read_entries() if reasons else ()
        for number, reason in sorted(reasons.items()):
            entry = json.dumps(entries[number - 1], ensure_ascii=False)[:REJECT_CHARACTERS]
            # A surrogate cannot be written to the file of rejects.
            text = entry.encode("utf-8", "replace").decode()
            yield Reject(file.label, number, reason, text)

    numbers = RecordNumbers(member, find_rejects, layout.unread, layout.offered)
    return numbers.batch(ranges, fields)
