"""What identifies content: canonical texts, CRC-32C of the texts of rows, digests of files.

``crc32c`` (Castagnoli) is the reference implementation. ``layout`` holds the polynomial. The
compiled kernel computes the same, by the processor's instruction if it has one
(``kernel/_crc32c.h``). A checksum is the remainder of a division of polynomials over bits, the
least significant bit first. The remainder of each byte is in a table, so a step takes a byte:
of "123456789" the checksum is 0xE3069283.

References: RFC 3720, sections 12.1 and B.4; Castagnoli, Braeuer and Herrmann, Optimization of
cyclic redundancy-check codes with 24 and 32 parity bits, 1993.
"""

from __future__ import annotations

import json
import os
from functools import cache

from geolookup.dataset.layout import POLYNOMIAL
from geolookup.dataset.manifest import read_manifest
from geolookup.errors import REBUILD, DatasetError
from geolookup.filesystem import opener

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from geolookup.dataset.files import Dataset
    from geolookup.dataset.manifest import Entry, Manifest

_ONES = 0xFFFF_FFFF
#: Texts whose checksums are computed together, and the most bytes that such a text has.
_PART, _LONG = 1 << 15, 512
_THREADS = 2
#: Bytes of files that are worth a second thread.
LARGE = 1 << 20


def canonical(document: Mapping[str, object]) -> bytes:
    """Return the canonical text of a JSON object: sorted keys, UTF-8, one item a line."""
    text = json.dumps(document, ensure_ascii=False, indent=1, sort_keys=True)
    return (text + "\n").encode()


def crc32c(data: Iterable[int]) -> int:
    """Return the CRC-32C of bytes."""
    table, crc = _table(), _ONES
    for byte in data:
        # The byte goes into the lowest 8 bits. They leave; their remainder replaces them.
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ _ONES


def checksums(
    data: NDArray[np.uint8], offsets: NDArray[np.int32], sums: NDArray[np.uint32]
) -> None:
    """Fill in the CRC-32C of n texts; see ``kernel.protocol.Implementation``."""
    import numpy as np

    bounds = offsets.astype(np.int64)
    lengths = bounds[1:] - bounds[:-1]
    if len(bounds) != len(sums) + 1:
        raise ValueError("the columns differ in length")
    if bounds[0] < 0 or bounds[-1] > len(data) or (lengths < 0).any():
        raise ValueError("a text is outside the data")
    for begin in range(0, len(sums), _PART):
        part = slice(begin, begin + _PART)
        sums[part] = _sums(data, bounds[:-1][part], np.minimum(lengths[part], _LONG))
    for row in np.flatnonzero(lengths > _LONG):
        sums[row] = crc32c(data[bounds[row] : bounds[row + 1]].tobytes())


def _sums(
    data: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> NDArray[np.uint32]:
    """Return the checksums of texts: one step for the first byte of all, one for the second, ..."""
    import numpy as np

    table = np.array(_table(), np.uint32)
    longest_first = np.argsort(-lengths)
    starts, crc = starts[longest_first], np.full(len(starts), _ONES, np.uint32)
    # How many texts have a byte at each position: those at the beginning of the order.
    # Of the lengths 3, 1, 2: 3 texts have a first byte, 2 a second, 1 a third.
    counts = len(lengths) - np.cumsum(np.bincount(lengths))
    for at, count in enumerate(counts[:-1].tolist()):
        before = crc[:count]
        crc[:count] = table[(before ^ data[starts[:count] + at]) & 0xFF] ^ before >> np.uint32(8)
    sums = np.empty_like(crc)
    sums[longest_first] = crc ^ np.uint32(_ONES)
    return sums


@cache
def _table() -> tuple[int, ...]:
    """Return the remainder of each byte; computed when the first row is checked."""
    return tuple(map(_of_byte, range(256)))


def _of_byte(crc: int) -> int:
    for _ in range(8):
        crc = crc >> 1 ^ (POLYNOMIAL if crc & 1 else 0)
    return crc


def wrong_files(folder: Path, manifest: Manifest) -> Iterator[tuple[Path, str]]:
    """Yield the files that are missing, or whose size or digest differs from the manifest.

    With each file comes its problem.
    """
    from geolookup.parallel import in_order

    paths = [folder / name for name in manifest.files]
    files = zip(paths, manifest.files.values(), strict=True)
    total_bytes = sum(entry["bytes"] for entry in manifest.files.values())
    with in_order(_problem, files, _THREADS if total_bytes > LARGE else 0) as problems:
        for path, problem in zip(paths, problems, strict=True):
            if problem:
                yield path, problem


def check_digests(dataset: Dataset) -> None:
    """Raise DatasetError unless all files have the size and digest in the manifest."""
    from pathlib import Path

    for path, problem in wrong_files(Path(dataset.path), dataset.manifest):
        raise DatasetError(path, problem, REBUILD)


def is_whole(folder: Path) -> bool:
    """Return whether a folder has a dataset, and its files the digests in the manifest."""
    try:
        return not any(wrong_files(folder, read_manifest(folder)))
    except DatasetError:
        return False


def _problem(file: tuple[Path, Entry]) -> str:
    import hashlib

    path, entry = file
    try:
        with open(path, "rb", opener=opener) as stream:
            size = os.fstat(stream.fileno()).st_size
            # A wrong size needs no digest.
            if size != entry["bytes"]:
                return f"{size:,} bytes, but the manifest says {entry['bytes']:,}"
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except FileNotFoundError:
        return "missing"
    except OSError as error:
        return f"cannot be read ({error.strerror or error})"
    return "" if digest == entry.get("sha256") else "its digest differs from the manifest"
