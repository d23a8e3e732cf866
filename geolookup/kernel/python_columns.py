"""The functions of the Python kernel for whole columns; see ``protocol.Implementation``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from geolookup.contract.address import parse_text
from geolookup.dataset import checksums as sums_of_texts
from geolookup.errors import InvalidAddressError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from geolookup.dataset.intervals import I64, U8, U64
    from geolookup.kernel.columns import I32, U32

_LOW = (1 << 64) - 1


def checksums(data: U8, offsets: I32, sums: U32) -> None:
    """Fill in the CRC-32C of the texts; see ``protocol.Implementation``."""
    sums_of_texts.checksums(data, offsets, sums)


def gather(
    table: U8, rows: U32, lanes: list[tuple[int, int, int]], values: list[U8], validity: list[U8]
) -> int:
    """Copy columns of a row-major table; see ``protocol.Implementation``."""
    from geolookup.kernel import columns

    return columns.gather(table, rows, lanes, values, validity)


def split_log_lines(
    data: U8, starts: I64, lengths: I64, combined: bool, parts: NDArray[np.int64]
) -> None:
    """Split lines of a log into fields; see ``protocol.Implementation``."""
    from geolookup.kernel import python_logs

    python_logs.split_log_lines(data, starts, lengths, combined, parts)


def copy_texts(data: U8, starts: I64, lengths: I64, out: U8) -> None:
    """Copy texts one after the other; see ``protocol.Implementation``."""
    from geolookup.kernel import python_logs

    python_logs.copy_texts(data, starts, lengths, out)


def find_addresses(
    data: U8, begin: int, end: int, starts: I64, ends: I64, families: U8, highs: U64, lows: U64
) -> int:
    """Find the addresses in a text; see ``protocol.Implementation``."""
    from geolookup.kernel import python_scan

    return python_scan.find_addresses(data, begin, end, starts, ends, families, highs, lows)


def parse_texts(data: U8, starts: I64, lengths: I64, families: U8, highs: U64, lows: U64) -> None:
    """Parse the texts ``data[start : start + length]``; see ``protocol.Implementation``."""
    if any(len(column) != len(starts) for column in (lengths, families, highs, lows)):
        raise ValueError("the columns differ in length")
    text, size = data.data, len(data)
    out_families, out_highs, out_lows = families.data, highs.data, lows.data
    for at, (start, length) in enumerate(zip(starts.tolist(), lengths.tolist(), strict=True)):
        family = value = 0
        if 0 <= start <= size and 0 <= length <= size - start:
            family, value = _parsed(text[start : start + length])
        out_families[at], out_highs[at], out_lows[at] = family, value >> 64, value & _LOW


def _parsed(text: memoryview) -> tuple[int, int]:
    """Return family and integer of a UTF-8 text; (0, 0) if it is malformed."""
    try:
        # Latin-1 decodes any bytes; no address contains a non-ASCII character.
        return parse_text(str(text, "latin-1"))
    except InvalidAddressError:
        return 0, 0


def count_nodes(highs: U64, lows: U64) -> int:
    """Return the number of nodes of a search tree; see ``protocol.Implementation``."""
    from geolookup.kernel import python_tree

    return python_tree.count_nodes(highs, lows)


def fill_nodes(highs: U64, lows: U64, values: U32, nodes: U32) -> None:
    """Fill in the nodes of a search tree; see ``protocol.Implementation``."""
    from geolookup.kernel import python_tree

    python_tree.fill_nodes(highs, lows, values, nodes)
