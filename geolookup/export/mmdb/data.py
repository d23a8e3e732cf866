"""The data section of an MMDB file: values that several parents have are written once.

Strategy: a value has a *reference*, which its parents contain: a pointer to where it is written,
or the value itself where pointers to it would not save bytes. Those with most parents are written
first: pointers to them are the shortest, and what readers need often lies together.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.dataset.intervals import I64
from geolookup.export.mmdb.encoding import BINARY, placed_bytes, pointers, strings

#: The bytes of most pointers of a large file; those of small files and to frequent values are less.
_POINTER = 4


class DataSection:
    """The bytes of the section so far."""

    def __init__(self) -> None:
        self.size = 0
        self.parts: list[pa.Array] = []

    def keys(self, names: list[str]) -> dict[str, bytes]:
        """Write the keys of maps; return the reference of each."""
        positions = self.append(strings(pa.array(names, pa.string())))
        return dict(zip(names, pointers(positions).to_pylist(), strict=True))

    def share(self, values: pa.Array, uses: I64) -> pa.Array:
        """Return the reference of each of n encoded values, which has so many parents."""
        distinct, codes = _pooled(values)
        count = len(distinct)
        parents = np.bincount(codes, uses, count).astype(np.int64)
        lengths = pc.binary_length(distinct).to_numpy(zero_copy_only=False)
        shared = np.flatnonzero(lengths * parents > lengths + _POINTER * parents)
        shared = shared[np.argsort(-parents[shared], kind="stable")]
        references = np.full(count, -1)
        references[shared] = np.arange(len(shared)) + count
        references[references < 0] = np.flatnonzero(references < 0)
        written = pointers(self.append(distinct.take(pa.array(shared))))
        return pa.concat_arrays([distinct, written]).take(pa.array(references[codes]))

    def append(self, values: pa.Array) -> I64:
        """Write encoded values one after the other; return the position of each."""
        lengths = pc.binary_length(values).to_numpy(zero_copy_only=False)
        ends = np.cumsum(lengths, dtype=np.int64)
        positions: I64 = self.size + ends - lengths
        self.parts.append(values)
        self.size += int(lengths.sum())
        return positions

    def chunks(self) -> list[memoryview]:
        """Return the bytes of the section in their order."""
        return [placed_bytes(part).data for part in self.parts]


def _pooled(values: pa.Array) -> tuple[pa.Array, I64]:
    """Return the distinct values, and for each value which of them it is."""
    pooled = values.cast(BINARY).dictionary_encode()
    return pooled.dictionary, pooled.indices.to_numpy(zero_copy_only=False).astype(np.int64)
