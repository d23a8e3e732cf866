"""Default routes in tables of prefixes and origins: they say nothing about an address.

The AS number of a default route is made invalid, so that the compiler nulls and counts it.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from geolookup.contract.address import MAX
from geolookup.dataset.intervals import Addresses, Bools
from geolookup_builder.ranges import ParsedRanges
from geolookup_builder.sources.reading.dictionary_columns import marked

_DEFAULT_ROUTE = "default route"


def without_default_routes(ranges: ParsedRanges, asn: pa.DictionaryArray) -> pa.DictionaryArray:
    """Return the AS numbers of ranges, with those of default routes invalid."""
    defaults = _default_routes(ranges)
    return marked(asn, pa.array(defaults), _DEFAULT_ROUTE) if defaults.any() else asn


def _default_routes(ranges: ParsedRanges) -> Bools:
    found: Bools = np.zeros(len(ranges.family), bool)
    for family in (4, 6):
        ends = Addresses.of(6, [0, MAX[family]])
        whole = ranges.first.equals(ends[:1]) & ranges.last.equals(ends[1:])
        found |= (ranges.family == family) & whole
    return found
