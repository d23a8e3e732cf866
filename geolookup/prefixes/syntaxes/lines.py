"""Lines of texts: a column of prefixes becomes the bytes of a file in one step.

Strategy: the values of an Arrow column of texts lie one after the other in memory. With what stands
before and after each of them, that memory is the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from geolookup.files.column_text import bytes_of, joined


def lines(before: str, batches: Iterable[pa.Array], after: str = "\n") -> Iterator[bytes]:
    """Yield the bytes of each batch of texts, with ``before`` and ``after`` around each text."""
    for texts in batches:
        parts = before.encode(), texts.cast(pa.large_binary()), after.encode()
        yield bytes_of(joined(*parts)).to_pybytes()


def groups(batches: Iterable[pa.Array], size: int) -> Iterator[pa.Array]:
    """Yield the texts of all batches in groups of ``size`` texts; the last may be smaller."""
    held = pa.array([], pa.string())
    for texts in batches:
        held = pa.concat_arrays([held, texts])
        while len(held) >= size:
            yield held[:size]
            held = held[size:]
    if len(held):
        yield held
