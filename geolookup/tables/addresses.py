"""A column of addresses of any kind as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from geolookup.dataset.arrow_files import without_dictionary
from geolookup.dataset.intervals import I64, Addresses, MixedAddresses
from geolookup.kernel.columns import parse, replace_embedded
from geolookup.tables.locate import address_reader, chunks, column_of, locate_chunk


def parse_column(column: pa.ChunkedArray) -> MixedAddresses:
    """Return the addresses of a column; family 0 of a value that is not an address.

    An address that carries an IPv4 address is replaced by it. Raises TypeError if the type of the
    column holds no addresses.
    """
    addresses = column_of(column)
    address_reader(addresses.type)
    parser = _Parser()
    for chunk in chunks(addresses):
        locate_chunk(parser, without_dictionary(chunk))
    none = MixedAddresses(np.empty(0, np.uint8), np.empty(0, np.uint64), np.empty(0, np.uint64))
    parts = [(part.family, part.high, part.low) for part in (none, *parser.parsed)]
    return replace_embedded(MixedAddresses(*map(np.concatenate, zip(*parts, strict=True))))


def of_family(addresses: MixedAddresses, family: int) -> tuple[I64, Addresses]:
    """Return the rows of a family, and their addresses."""
    rows = np.flatnonzero(addresses.family == family)
    low = addresses.low[rows]
    if family == 4:
        return rows, Addresses(low.astype(np.uint32))
    return rows, Addresses(low, addresses.high[rows])


class _Parser:
    """Keeps the addresses of a column, where an engine would locate them."""

    def __init__(self) -> None:
        self.parsed: list[MixedAddresses] = []

    def locate_texts(self, data: Any, offsets: I64, _ids: Any, families: Any) -> None:
        """Keep texts, as a ``Locator`` receives them."""
        parsed = parse(data, offsets[:-1], np.diff(offsets))
        families[:] = parsed.family
        self.parsed.append(parsed)

    def locate_numbers(self, families: Any, highs: Any, lows: Any, _ids: Any) -> None:
        """Keep numbers, as a ``Locator`` receives them."""
        self.parsed.append(MixedAddresses(families.copy(), highs, lows))
