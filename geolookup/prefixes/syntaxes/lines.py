"""Lines of texts: a column of prefixes becomes the bytes of a file in one step.

Strategy: the values of an Arrow column of texts lie one after the other in memory. Once each
has what stands before and after it, that memory is the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc


def lines(before: str, batches: Iterable[pa.Array], after: str = "\n") -> Iterator[bytes]:
    """Yield the bytes of each batch of texts, with ``before`` and ``after`` around each text."""
    for texts in batches:
        yield content(pc.binary_join_element_wise(before, texts, after, ""))


def content(texts: pa.Array) -> bytes:
    """Return the texts of a column without nulls, joined, as UTF-8."""
    _, offsets, values = texts.buffers()
    if values is None:
        return b""
    ends = memoryview(offsets).cast("i")
    first, last = ends[texts.offset], ends[texts.offset + len(texts)]
    joined: bytes = values[first:last].to_pybytes()
    return joined


def parts(batches: Iterable[pa.Array], size: int) -> Iterator[pa.Array]:
    """Yield the texts of all batches in parts of ``size`` texts; the last may be smaller."""
    held = pa.array([], pa.string())
    for texts in batches:
        held = pa.concat_arrays([held, texts])
        while len(held) >= size:
            yield held[:size]
            held = held[size:]
    if len(held):
        yield held
