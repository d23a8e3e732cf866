"""Text with a tag after each of its addresses; without the tags it has the same bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from geolookup.dataset.intervals import I64, U8
from geolookup.inline.scanner import Part, Scanner, rows_of
from geolookup.kernel import copy_texts

if TYPE_CHECKING:
    from geolookup.inline.tags import Tags
    from geolookup.kernel.protocol import State

#: The empty block, which ends a text.
_END = b""


def annotated(state: State, blocks: Iterable[bytes], tags: Tags) -> Iterator[U8]:
    """Yield the bytes of a text with a tag after each address, a block at a time.

    An empty block ends a text; the next one begins another.
    """
    scanner = Scanner()
    for block in chain(blocks, [_END]):
        part = scanner.part(block)
        yield with_texts(part, part.ends, tags.of(part, rows_of(state, part)))


def with_texts(part: Part, places: I64, texts: Sequence[bytes]) -> U8:
    """Return the bytes of a part with a text inserted at each of the places, which ascend."""
    if not texts:
        return part.data[part.begin : part.end]
    inserted = b"".join(texts)
    data = np.concatenate([part.data, np.frombuffer(inserted, np.uint8)])
    starts, lengths = np.empty((2, 2 * len(texts) + 1), np.int64)
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    starts[0], starts[2::2] = part.begin, places
    lengths[0::2] = np.append(places, part.end) - starts[0::2]
    starts[1::2], lengths[1::2] = len(part.data) + np.cumsum(sizes) - sizes, sizes
    out = np.empty(part.end - part.begin + len(inserted), np.uint8)
    copy_texts(data, starts, lengths, out)
    return out
