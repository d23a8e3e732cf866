"""Many addresses at once: reads them in chunks; a kernel's state answers each chunk.

Strategy: between two chunks the interpreter may switch threads and handle signals. One call
answers from one state, so from one generation. ``Engine`` documents the calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from geolookup.contract.localtime import instant

if TYPE_CHECKING:
    from geolookup.contract.types import Envelope
    from geolookup.kernel import State

#: Values and texts that a kernel makes at a time.
CHUNK = 256
#: Envelopes that it makes at a time, in about 3 ms: the garbage collector visits them after each.
ENVELOPES = 1024
#: Lines of a block. Their 55 kB are below the least size that malloc maps: a block of mapped memory
#: would be new pages, and these take longer than the lines.
LINES = 64
#: Addresses, and the Unix second of all of them or of each.
Chunk = tuple[list[object], int | list[int]]


def lookup_many(state: State, ips: Iterable[object], at: Any, clean: bool) -> list[Envelope]:
    """Return the envelopes."""
    envelopes: list[Envelope] = []
    for chunk, seconds in _chunks(ips, _resolve_instant(at), clean, ENVELOPES):
        envelopes += state.envelopes(chunk, seconds)
    return envelopes


def lookup_many_json(state: State, ips: Iterable[object], at: Any, clean: bool) -> list[bytes]:
    """Return the envelopes as JSON."""
    envelopes: list[bytes] = []
    for chunk, seconds in _chunks(ips, _resolve_instant(at), clean):
        envelopes += state.envelopes_json(chunk, seconds)
    return envelopes


def json_lines(state: State, ips: Iterable[object], at: Any, clean: bool) -> Iterator[bytes]:
    """Return an iterator over the envelopes as JSON lines, a chunk at a time."""
    if type(ips) is list and at is None and not clean and len(ips) <= LINES:
        return _block(state, ips)
    return _blocks(state, _chunks(ips, at if at is None else _resolve_instant(at), clean, LINES))


def get_many(
    state: State,
    ips: Iterable[object],
    names: str | tuple[object, ...],
    default: object,
    at: Any,
    clean: bool,
) -> list[Any]:
    """Return the value of one field for each address, or a tuple of the values of several."""
    values = state.values([], names, 0)  # raises for an unknown field
    for chunk, seconds in _chunks(ips, _resolve_instant(at), clean):
        values += state.values(chunk, names, seconds, default)
    return values


def _block(state: State, ips: list[object]) -> Iterator[bytes]:
    """Yield the block of a short list; for a few lines, chunks cost too much."""
    if ips:
        lines = state.lines()
        lines.add(list(ips), instant(None))
        yield lines.take()


def _blocks(state: State, chunks: Iterator[Chunk]) -> Iterator[bytes]:
    lines = state.lines()
    for chunk, seconds in chunks:
        lines.add(chunk, seconds)
        yield lines.take()


def _resolve_instant(at: Any) -> Any:
    """Return the Unix second of a whole call; return instants of single addresses unchanged."""
    return at if _is_many(at) else instant(at)


def _is_many(at: Any) -> bool:
    if isinstance(at, str | bytes | datetime):
        return False
    try:
        iter(at)  # an array of no dimensions is of an iterable type and a number
    except TypeError:
        return False
    return True


def _chunks(ips: Iterable[object], at: Any, clean: bool, size: int = CHUNK) -> Iterator[Chunk]:
    """Return an iterator over the addresses; checks the types before the first chunk is read."""
    if isinstance(ips, str | bytes):
        raise TypeError("ips is one text; pass a list of addresses")
    if clean:
        from geolookup.contract.cleaning import clean_text  # imports re: a lookup does not need it

        ips = map(clean_text, ips)
    remaining = iter(ips)
    return _pair(remaining, iter(at), size) if _is_many(at) else _together(remaining, at, size)


def _together(remaining: Iterator[object], at: Any, size: int) -> Iterator[Chunk]:
    while chunk := list(islice(remaining, size)):
        yield chunk, instant(at)


def _pair(remaining: Iterator[object], instants: Iterator[Any], size: int) -> Iterator[Chunk]:
    nothing = object()
    while chunk := list(islice(remaining, size)):
        seconds = [instant(at) for at in islice(instants, len(chunk))]
        if len(seconds) < len(chunk):
            raise ValueError("at has fewer instants than there are addresses")
        yield chunk, seconds
    if next(instants, nothing) is not nothing:
        raise ValueError("at has more instants than there are addresses")
