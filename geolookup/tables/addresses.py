"""A column of addresses of any kind as numbers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from geolookup.dataset.intervals import I64, Addresses, MixedAddresses
from geolookup.kernel.columns import replace_embedded
from geolookup.tables.locate import chunks, column_of, parse_chunk


def parse_column(column: pa.ChunkedArray) -> MixedAddresses:
    """Return the addresses of a column; family 0 of a value that is not an address.

    An address that carries an IPv4 address is replaced by it. Raises TypeError if the type of the
    column holds no addresses.
    """
    addresses = column_of(column)
    nothing = parse_chunk(pa.nulls(0, addresses.type))
    parts = [
        (part.family, part.high, part.low)
        for part in (nothing, *map(parse_chunk, chunks(addresses)))
    ]
    return replace_embedded(MixedAddresses(*map(np.concatenate, zip(*parts, strict=True))))


def of_family(addresses: MixedAddresses, family: int) -> tuple[I64, Addresses]:
    """Return the rows of a family, and their addresses."""
    rows = np.flatnonzero(addresses.family == family)
    low = addresses.low[rows]
    if family == 4:
        return rows, Addresses(low.astype(np.uint32))
    return rows, Addresses(low, addresses.high[rows])
