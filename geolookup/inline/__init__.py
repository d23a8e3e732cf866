"""The addresses of a text that arrives in blocks, wherever the blocks are cut, and their rows.

Strategy: the possible beginning of an address at the end of a block is held until the next
block, 64 bytes at most. Of the text before, 64 bytes are kept as context. So the memory that is
needed does not depend on the text or its lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from geolookup.contract.fields import LOCATION, NETWORK, OWN
from geolookup.dataset.intervals import I64, U8, U64, Bools
from geolookup.files.byte_streams import STANDARD, explain_errors, open_input
from geolookup.filesystem.unpacking import compression
from geolookup.kernel import find_addresses

if TYPE_CHECKING:
    from geolookup.kernel import State

#: The most bytes that are read at a time; few enough for a cache of the processor.
BLOCK = 1 << 19
#: Bytes before and after the first byte of an address that decide about it.
_CONTEXT = 64
#: Bytes of an address, and those that must not surround it.
_TOKEN = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_.:-"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a text, ``data[begin:end]``, and the n addresses in it.

    ``starts`` and ``ends`` are positions in ``data``, in ascending order. ``addresses`` are arrays
    of their families and the halves of their integers.
    """

    data: bytes
    begin: int
    end: int
    starts: I64
    ends: I64
    addresses: tuple[U8, U64, U64]


def blocks_of(path: str) -> Iterator[bytes]:
    """Yield the bytes of a file, or of standard input without waiting for more than there are.

    A suffix such as ``.gz`` names the compression; of standard input, the first bytes show it.
    Raises TableFileError for a file that cannot be read, also if it is damaged.
    """
    with open_input(path, compression(path)) as stream, explain_errors(path, "a file"):
        read = stream.plain.read1 if path == STANDARD else stream.plain.read
        yield from iter(lambda: read(BLOCK), b"")


def parts(blocks: Iterable[bytes]) -> Iterator[Part]:
    """Yield a part for each block, without the tail that the next block may continue.

    The last part is the rest of the text.
    """
    before = pending = b""
    for block in chain(blocks, [b""]):
        data = before + pending + block
        # "from 203.0." + "113.7 to": the block ends in "203.0.": it is held for the next one.
        tail = data[-_CONTEXT:] if block else b""
        held = len(tail) - len(tail.rstrip(_TOKEN))
        # A held tail of 64 bytes of _TOKEN is longer than any address.
        part = _part(data, len(before), max(len(data) - held, len(before)))
        yield part
        before = data[max(part.end - _CONTEXT, 0) : part.end]
        pending = data[part.end :]


def _part(data: bytes, begin: int, end: int) -> Part:
    """Return the part with the addresses that begin in it; it ends after the last one."""
    records = np.frombuffer(find_addresses(data, begin, end), np.int64).reshape(-1, 5).T.copy()
    starts, ends, families, high, low = records
    addresses = families.astype(np.uint8), high.view(np.uint64), low.view(np.uint64)
    return Part(data, begin, max([end, *ends[-1:].tolist()]), starts, ends, addresses)


def rows_of(
    state: State, part: Part, tables: Sequence[str]
) -> tuple[dict[str, NDArray[np.uint32]], Bools]:
    """Return the rows of the addresses of a part in tables, as ``layout.row_tables`` has them.

    The second item marks addresses with an answer: public ones, and private ones with a known row
    of own columns. The other rows of a private address are 0.
    """
    ids = np.empty(len(part.starts), np.int32)
    rows = {table: np.zeros(len(ids), np.uint32) for table in tables}
    state.locate_numbers(*part.addresses, ids)
    state.take_rows(ids, rows[LOCATION], rows[NETWORK])
    has_answer: Bools = ids >= 0
    if OWN in rows:
        state.locate_numbers(*part.addresses, ids, with_private=True)
        state.take_own_rows(ids, rows[OWN])
        has_answer |= rows[OWN] > 0
    return rows, has_answer


def with_texts(part: Part, places: I64, texts: Sequence[bytes]) -> bytes:
    """Return the bytes of a part with a text inserted at each of the places, in ascending order."""
    pieces = [b""] * (2 * len(texts) + 1)
    bounds = [part.begin, *places.tolist(), part.end]
    pieces[::2] = [part.data[begin:end] for begin, end in pairwise(bounds)]
    pieces[1::2] = texts
    return b"".join(pieces)
