"""Default routes in tables of prefixes and origins.

A default route says nothing about an address. Its AS number is made invalid, so that it is nulled
and counted.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from geolookup_builder.sources.reading.dictionary_columns import marked

_DEFAULT_ROUTES = ["0.0.0.0/0", "::/0"]
_DEFAULT_ROUTE = "default route"


def without_default_routes(network: pa.Array, asn: pa.DictionaryArray) -> pa.DictionaryArray:
    """Return the AS numbers, with those of the default routes among ``network`` invalid."""
    defaults = pc.is_in(network, pa.array(_DEFAULT_ROUTES, network.type))
    return marked(asn, defaults, _DEFAULT_ROUTE) if pc.any(defaults).as_py() else asn
