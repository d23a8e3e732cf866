"""A column of texts over that of its base: lengths and bytes of those that differ or are new.

The others are copied from the base, adjacent ones at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup.archives.delta.alignment import I64, Alignment, Bools, gaps_of, positions_in
from geolookup.archives.delta.parts import Bytes, Texts
from geolookup.archives.delta.streams import PatchError, Streams, written

_LITERAL, _CHANGES = range(2)


@dataclass(frozen=True, slots=True)
class Column:
    """``offsets`` (n + 1,) of n texts, int32, and their bytes: views of a file."""

    offsets: NDArray[np.int32]
    data: Bytes

    @classmethod
    def of(cls, part: Texts, whole: Bytes) -> Column:
        """Return the column of a part of a file."""
        return cls(part.offsets.of(whole).view(np.int32), part.data.of(whole))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def is_plain(self) -> bool:
        """Whether the texts follow each other without gaps, from the first byte to the last."""
        ends = self.offsets[0] == 0 and self.offsets[-1] == len(self.data)
        return bool(ends and (self.offsets[1:] >= self.offsets[:-1]).all())

    @property
    def lengths(self) -> I64:
        """The bytes of each text."""
        return np.diff(self.offsets).astype(np.int64)

    def array(self) -> pa.BinaryArray:
        """Return the texts as Arrow has them."""
        buffers = [None, pa.py_buffer(self.offsets), pa.py_buffer(self.data)]
        return pa.Array.from_buffers(pa.binary(), len(self), buffers)


#: That of a file which does not have it.
EMPTY = Column(np.zeros(1, np.int32), np.zeros(0, np.uint8))


def texts_text(texts: Column, former: Column, alignment: Alignment) -> bytes:
    """Write the texts (n,) of a column; ``former`` (m,) are those of the base."""
    if not (former.is_plain and texts.is_plain):
        # The compiler writes none; another writer of Arrow files may leave bytes between texts.
        return bytes([_LITERAL]) + written(texts.offsets.view(np.uint32)) + written(texts.data)
    kept, keeping = former.array(), texts.array()
    kept, keeping = kept.filter(alignment.kept), keeping.filter(alignment.keeping)
    rows = np.flatnonzero(pc.not_equal(kept, keeping).to_numpy(zero_copy_only=False))
    fresh = _fresh(alignment, rows)
    data = np.frombuffer(texts.array().filter(fresh).buffers()[2] or b"", np.uint8)
    lengths = texts.lengths[fresh]
    return b"".join(
        (
            bytes([_CHANGES]) + gaps_of(rows),
            written(lengths.astype(np.uint32)),
            written(data[: lengths.sum()]),
        )
    )


def read_texts(streams: Streams, texts: Column, former: Column, alignment: Alignment) -> None:
    """Fill ``texts`` as written; PatchError for what does not fit in."""
    method = streams.byte()
    if method == _LITERAL:
        texts.offsets[:] = streams.exactly(np.uint32, len(texts.offsets)).view(np.int32)
        texts.data[:] = streams.exactly(np.uint8, len(texts.data))
    elif method == _CHANGES and former.is_plain:
        _read_changes(streams, texts, former, alignment)
    else:
        raise PatchError(f"a column of texts written in way {method}")


def _read_changes(streams: Streams, texts: Column, former: Column, alignment: Alignment) -> None:
    rows = positions_in(streams, int(np.count_nonzero(alignment.kept)))
    fresh = _fresh(alignment, rows)
    given = streams.exactly(np.uint32, int(np.count_nonzero(fresh))).astype(np.int64)
    data = streams.next(np.uint8, len(texts.data))
    lengths = np.empty(len(texts), np.int64)
    lengths[alignment.keeping] = alignment.of(former.lengths)
    lengths[fresh] = given
    # Sums of fewer than 2^32 lengths below 2^32 fit.
    if given.sum() != len(data) or lengths.sum() != len(texts.data):
        raise PatchError("the lengths of texts are not those of their bytes")
    starts = np.empty(len(texts), np.int64)  # in ``data``, or in the base's, after each other
    starts[alignment.keeping] = alignment.of(former.offsets[:-1])
    starts[fresh] = len(former.data) + np.cumsum(given) - given
    texts.offsets[0] = 0
    texts.offsets[1:] = np.cumsum(lengths)
    _copy(np.append(former.data, data), starts, lengths, texts.data)


def _fresh(alignment: Alignment, changed: I64) -> Bools:
    """Mark the rows of the file that are inserted, or kept with another text."""
    kept = np.flatnonzero(alignment.keeping)
    fresh = ~alignment.keeping
    fresh[kept[changed]] = True
    return fresh


def _copy(source: Bytes, starts: I64, lengths: I64, data: Bytes) -> None:
    """Fill ``data`` with the texts of ``source``, those that are adjacent in it at once."""
    some = lengths > 0
    starts, lengths = starts[some], lengths[some]
    begins = np.flatnonzero(
        np.append(True, starts[1:] != starts[:-1] + lengths[:-1])[: len(starts)]
    )
    sizes = np.add.reduceat(lengths, begins) if len(begins) else lengths
    at = 0
    for start, size in zip(starts[begins].tolist(), sizes.tolist(), strict=True):
        data[at : at + size] = source[start : start + size]
        at += size
